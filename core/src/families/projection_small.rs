//! What `projection.rs` does, where bytes count more than time: one loop for every
//! law, and a transform of one stage a pass.

use crate::bank::{Bank, Law};
use crate::generator::{Draws, Purpose, Stream, bank_stream};
use crate::numerics::{Scale, cauchy, normal};

/// Dense projections of one quantised row: see `projection.rs`.
pub(super) struct Dense<'b> {
    stream: Stream,
    /// Weights from one draw, as a power of two.
    per_draw: u32,
    bank: &'b Bank<'b>,
}

impl<'b> Dense<'b> {
    pub(super) fn new(bank: &'b Bank<'b>, _: usize) -> Self {
        let per_draw = if matches!(bank.law, Law::Sign) { 6 } else { 3 };
        Self { stream: bank_stream(bank, Purpose::Weights), per_draw, bank }
    }

    /// Projection `k`, modulo 2^32, before the bank's scale.
    pub(super) fn project(&self, k: usize, q: &[i16]) -> i32 {
        self.sum(k, q, false)
    }

    /// The phase of Fourier feature `k`: the sum over groups of the group's
    /// projection times the group's scale.
    pub(super) fn phase(&self, k: usize, q: &[i16]) -> i16 {
        self.sum(k, q, true) as i16
    }

    #[inline(never)]
    fn sum(&self, k: usize, q: &[i16], scaled: bool) -> i32 {
        let mask = (1 << self.per_draw) - 1;
        let mut index = k as u64 * ((q.len() + mask) >> self.per_draw) as u64;
        let (mut total, mut used, mut draw, mut rest) = (0i32, 0, 0, q);
        for group in self.bank.groups() {
            let Some((mine, others)) = rest.split_at_checked(usize::from(group.inputs)) else {
                break;
            };
            rest = others;
            let mut z = 0i32;
            for &value in mine {
                if used & mask == 0 {
                    draw = self.stream.draw(index);
                    index += 1;
                }
                used += 1;
                let mut byte = draw as u8;
                if self.per_draw == 6 {
                    // One bit a weight, the highest first.
                    byte = (draw >> 56) as u8;
                    draw <<= 1;
                } else {
                    draw >>= 8;
                }
                let weight = match group.law {
                    Law::Gaussian => normal(byte),
                    Law::Cauchy => cauchy(byte),
                    Law::Sign => 1 - 2 * i32::from(byte >> 7),
                    _ => 0,
                };
                z = z.wrapping_add(weight.wrapping_mul(i32::from(value)));
            }
            total = total.wrapping_add(if scaled { group.scale.apply_wrapping(z) } else { z });
        }
        total
    }
}

/// Integers that wrap: i16 for phases, i32 for exact projections.
pub(super) trait Wrapping: Copy + Default {
    /// An input, modulo the type's range.
    fn from_input(value: i32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
}

macro_rules! wrapping {
    ($($integer:ty),*) => {$(
        impl Wrapping for $integer {
            #[inline]
            fn from_input(value: i32) -> Self {
                value as Self
            }
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}

wrapping!(i16, i32);

/// Hadamard projections, block after block: see `projection.rs`.
pub(super) struct Hadamard {
    draws: Draws,
}

impl Hadamard {
    /// Those from block `number` of `inputs` inputs on.
    pub(super) fn from_block(bank: &Bank<'_>, number: usize, inputs: usize) -> Self {
        let first = (number * inputs.div_ceil(64)) as u64;
        Self { draws: bank_stream(bank, Purpose::Weights).draws(first) }
    }

    /// Fills `block` with the next projections as phases: scaled before the
    /// transform, so that the block itself is i16 and its low bits are the phase.
    #[cfg(not(target_feature = "simd128"))]
    pub(super) fn phases(&mut self, scale: Scale, q: &[i16], block: &mut [i16]) {
        self.transform(scale, q, block);
    }

    /// The same in vectors.
    #[cfg(target_feature = "simd128")]
    pub(super) fn phases(&mut self, scale: Scale, q: &[i16], block: &mut [i16]) {
        let (mut left, mut signs) = (q, 0);
        let eights = block.as_chunks_mut::<8>().0;
        for (number, place) in eights.iter_mut().enumerate() {
            if number % 8 == 0 && !left.is_empty() {
                signs = self.draws.next();
            }
            *place = crate::simd::load(left, scale, (signs >> 56) as u8);
            signs <<= 8;
            left = left.get(8..).unwrap_or(&[]);
        }
        crate::simd::walsh_hadamard(eights);
    }

    /// Fills `block` (a power of two, at least 8 and as long as `q`) with the
    /// next projections of scaled inputs.
    pub(super) fn transform<T: Wrapping>(&mut self, scale: Scale, q: &[i16], block: &mut [T]) {
        let (mut left, mut signs) = (q, 0u64);
        for (number, place) in block.iter_mut().enumerate() {
            *place = T::default();
            let Some((&value, others)) = left.split_first() else { continue };
            left = others;
            if number % 64 == 0 {
                signs = self.draws.next();
            }
            let value = T::from_input(scale.apply_wrapping(value.into()));
            *place = if signs >> 63 == 0 { value } else { place.sub(value) };
            signs <<= 1;
        }
        let mut half = 1;
        while half < block.len() {
            let mut rest = &mut *block;
            while let Some((low, others)) = rest.split_at_mut_checked(half)
                && let Some((high, others)) = others.split_at_mut_checked(half)
            {
                for (a, b) in low.iter_mut().zip(high) {
                    (*a, *b) = (a.add(*b), a.sub(*b));
                }
                rest = others;
            }
            half *= 2;
        }
    }
}
