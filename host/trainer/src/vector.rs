//! Hot loops for the vector units of the processor that they run on.

use std::ops::{AddAssign, Mul};

use faer::traits::ComplexField;
pub(crate) use pulp::NullaryFnOnce as Work;

/// What `work` makes, compiled for the widest vectors that the processor has (AVX2 on x86-64), or else
/// as everything is. Its `call` must be `#[inline(always)]`, and so must be what takes time of what it
/// calls: a closure would be compiled by itself. Sums are added up in the order that is written, and
/// no product is fused with a sum: the bits are the same.
pub(crate) fn wide<W: Work>(work: W) -> W::Output {
    if cfg!(target_family = "wasm") {
        // What is compiled for it has its vectors already.
        work.call()
    } else {
        pulp::Arch::new().dispatch(work)
    }
}

/// A real number that vectors and matrices are made of.
pub(crate) trait Number:
    ComplexField + Copy + Default + AddAssign + Mul<Output = Self>
{
}

impl Number for f32 {}
impl Number for f64 {}

/// Sums of a dot product that are added up side by side.
const LANES: usize = 16;

/// Σ a·b of two slices of one length.
#[inline(always)]
pub(crate) fn dot<N: Number>(a: &[N], b: &[N]) -> N {
    let (a, rest_of_a) = a.as_chunks::<LANES>();
    let (b, rest_of_b) = b.as_chunks::<LANES>();
    let mut sums = [N::default(); LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    for ((sum, &a), &b) in sums.iter_mut().zip(rest_of_a).zip(rest_of_b) {
        *sum += a * b;
    }
    let mut half = LANES / 2;
    while half > 0 {
        let (low, high) = sums[..2 * half].split_at_mut(half);
        low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
        half /= 2;
    }
    sums[0]
}

/// Where x·log₂e is added to this, the lowest bits are the nearest whole number.
const WHOLE: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²
/// ln 2 in two parts, the first of so few bits that a whole number times it is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// 1/n!, from the last term that matters where |x| ≤ ln 2 / 2 to the first.
const SERIES: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
    1.0,
    1.0,
];

/// exp(x) to two units in the last place for x of −708 to 709; below and above, that of the nearer
/// end. A series by Cody and Waite's reduction (1980): sums and products alone, so that loops of it
/// become vectors, and the bits are the same on every machine, in browsers too.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = x.clamp(-708.0, 709.0);
    let shifted = x * std::f64::consts::LOG2_E + WHOLE;
    let whole = shifted - WHOLE;
    let rest = (x - whole * LN_2[0]) - whole * LN_2[1];
    let power = SERIES.iter().fold(0.0, |sum, term| sum * rest + term);
    // 2 to the whole number, by the exponent's bits.
    power * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Sum<'a>(&'a [f64]);

    impl Work for Sum<'_> {
        type Output = u64;

        #[inline(always)]
        fn call(self) -> u64 {
            self.0.iter().fold(0.0, |sum, &x| sum + 0.1 * exp(x)).to_bits()
        }
    }

    #[test]
    fn powers_at_the_ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e9), exp(-708.0));
        assert!(exp(-708.0) > 0.0 && exp(709.0).is_finite());
        assert!(exp(f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn powers_are_those_of_the_library(x in -708.0..709.0f64) {
            let (made, known) = (exp(x), libm::exp(x));
            prop_assert!((made / known - 1.0).abs() <= 2.0 * f64::EPSILON, "{x}: {made} {known}");
        }

        #[test]
        fn products_are_added_up(all in proptest::collection::vec(-100..100i32, 0..40)) {
            let a: Vec<f64> = all.iter().map(|&x| f64::from(x)).collect();
            let b: Vec<f64> = (0..all.len()).map(|place| place as f64 - 7.0).collect();
            let sum: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            prop_assert_eq!(dot(&a, &b), sum);
        }

        #[test]
        fn wide_loops_have_the_same_bits(all in proptest::collection::vec(-50.0..50.0f64, 0..40)) {
            prop_assert_eq!(wide(Sum(&all)), Sum(&all).call());
        }
    }
}
