//! The tables of the specification, computed from their formulas in `f64` when first
//! used. No entry lies so near to a half that the last bits of an `f64` could matter.

use std::f64::consts::{PI, SQRT_2, TAU};
use std::sync::LazyLock;

/// 256 entries.
pub type Table = LazyLock<[i64; 256]>;

/// One turn of the cosine, 127 = 1.
pub static COSINE: Table =
    LazyLock::new(|| table(|i| 127.0 * (TAU * (i as f64 + 0.5) / 256.0).cos()));

/// Quantiles of the standard normal law, 44 = 1.
pub static NORMAL: Table = LazyLock::new(|| {
    let below = |x: f64| 0.5 * (1.0 + libm::erf(x / SQRT_2));
    table(|i| 44.0 * quantile(below, probability(i), [-9.0, 9.0]))
});

/// Quantiles of the standard Cauchy law, 200 = 1.
pub static CAUCHY: Table = LazyLock::new(|| table(|i| 200.0 * (PI * (probability(i) - 0.5)).tan()));

/// Reciprocals of the quantiles of the law with density δ·e^−δ, 4096 = 1.
pub static RECIPROCAL_GAMMA2: Table = LazyLock::new(|| {
    let below = |x: f64| 1.0 - (1.0 + x) * (-x).exp();
    table(|i| 4096.0 / quantile(below, probability(i), [0.0, 50.0]))
});

/// The sigmoid of v/16 for v in −127..=127, at v + 127; ±127 = ±1.
static SIGMOID: LazyLock<[i64; 255]> = LazyLock::new(|| {
    std::array::from_fn(|place| {
        let v = place as f64 - 127.0;
        (254.0 * (1.0 / (1.0 + (-v / 16.0).exp()) - 0.5)).round() as i64
    })
});

/// SIGMOID of `v`.
///
/// # Panics
/// Beyond −127..=127: that is where `v` is saturated.
#[must_use]
pub fn sigmoid(v: i64) -> i64 {
    assert!(v.abs() <= 127, "{v} is no argument of the sigmoid");
    SIGMOID[(v + 127) as usize]
}

/// The tables' names and bytes, as their checksums are over.
#[must_use]
pub fn table_bytes() -> Vec<(&'static str, Vec<u8>)> {
    let bytes = |table: &[i64]| table.iter().map(|&entry| entry as u8).collect::<Vec<_>>();
    let words = |table: &[i64]| {
        table.iter().flat_map(|&entry| (entry as u16).to_le_bytes()).collect::<Vec<_>>()
    };
    vec![
        ("NORMAL", bytes(&*NORMAL)),
        ("CAUCHY", words(&*CAUCHY)),
        ("RECIPROCAL_GAMMA2", words(&*RECIPROCAL_GAMMA2)),
        ("COSINE", bytes(&*COSINE)),
        ("SIGMOID", bytes(&*SIGMOID)),
    ]
}

/// The entries, rounded to the nearest integers, halves away from zero.
fn table(entry: impl Fn(usize) -> f64) -> [i64; 256] {
    std::array::from_fn(|i| entry(i).round() as i64)
}

/// Where entry `i` stands in its law.
fn probability(i: usize) -> f64 {
    (i as f64 + 0.5) / 256.0
}

/// Where an increasing function is `p`, by bisection.
fn quantile(below: impl Fn(f64) -> f64, p: f64, [mut low, mut high]: [f64; 2]) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if below(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use koan::numerics;

    use super::*;

    fn equal<T: Copy + Into<i64>>(core: &[T], reference: &[i64]) {
        let core: Vec<i64> = core.iter().map(|&entry| entry.into()).collect();
        assert_eq!(core, reference);
    }

    #[test]
    fn the_cores_tables_are_these() {
        equal(&numerics::NORMAL, &*NORMAL);
        equal(&numerics::CAUCHY, &*CAUCHY);
        equal(&numerics::RECIPROCAL_GAMMA2, &*RECIPROCAL_GAMMA2);
        equal(&numerics::COSINE, &*COSINE);
        for v in -127..=127i8 {
            assert_eq!(i64::from(numerics::sigmoid(v)), sigmoid(v.into()));
        }
        assert_eq!(numerics::sigmoid(i8::MIN), -127);
        for byte in 0..=255u8 {
            let exact = 256.0 * (2.0 * probability(byte.into()) - 1.0);
            assert_eq!(f64::from(numerics::uniform(byte)), exact);
        }
    }

    #[test]
    fn reciprocals_are_within_their_bound() {
        let below = |x: f64| 1.0 - (1.0 + x) * (-x).exp();
        for (i, &entry) in RECIPROCAL_GAMMA2.iter().enumerate() {
            let exact = 4096.0 / quantile(below, probability(i), [0.0, 50.0]);
            assert!((entry as f64 / exact - 1.0).abs() <= 0.0011, "entry {i}");
        }
    }

    #[test]
    fn cosines_are_within_their_bounds_everywhere() {
        let (mut worst, mut squares) = (0.0f64, 0.0);
        for phase in 0..=u16::MAX {
            let exact = (TAU * f64::from(phase) / 65536.0).cos();
            let error = COSINE[usize::from(phase >> 8)] as f64 / 127.0 - exact;
            worst = worst.max(error.abs());
            squares += error * error / 65536.0;
        }
        assert!(worst <= 0.0162 && squares.sqrt() <= 0.0058, "{worst}, {}", squares.sqrt());
    }

    #[test]
    fn no_entry_is_near_a_half() {
        let far = |exact: f64| assert!((exact.fract().abs() - 0.5).abs() > 1e-9, "{exact}");
        for i in 0..256 {
            far(127.0 * (TAU * (i as f64 + 0.5) / 256.0).cos());
            far(200.0 * (PI * (probability(i) - 0.5)).tan());
        }
        for v in -127..=127 {
            // The other form of the same function, too.
            let exact = 127.0 * (f64::from(v) / 32.0).tanh();
            far(exact);
            assert_eq!(exact.round() as i64, sigmoid(v.into()));
        }
    }
}
