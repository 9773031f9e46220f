//! What `projection.rs` does, where bytes count more than time: one loop for every
//! law, and a transform of one stage a pass.

use crate::bank::{Bank, Law};
use crate::format::hadamard_block;
use crate::generator::{Purpose, Stream, bank_draw, bank_stream};
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
    /// Whether a bank's scale applies to inputs.
    const SCALED: bool;
    /// An input, modulo the type's range.
    fn from_input(value: i32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
}

macro_rules! wrapping {
    ($($integer:ty, $scaled:literal;)*) => {$(
        impl Wrapping for $integer {
            const SCALED: bool = $scaled;
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

wrapping!(i16, true; i32, false;);

/// Hadamard projections in order: see `projection.rs`.
pub(super) struct Hadamard<'b> {
    bank: &'b Bank<'b>,
    /// The number of the next one.
    next: usize,
}

impl<'b> Hadamard<'b> {
    /// Those from projection `first` on.
    #[inline]
    pub(super) fn from(bank: &'b Bank<'b>, first: usize, _: usize) -> Self {
        Self { bank, next: first }
    }

    /// Fills `block` with the next projections as phases.
    pub(super) fn phases(&mut self, q: &[i16], block: &mut [i16]) {
        let mut part = Part { bank: self.bank, next: self.next, at: 0, q, block };
        part.phases();
        self.next += part.block.len();
    }

    /// Fills `block` with the next projections, of scaled inputs where they are phases.
    #[inline(never)]
    pub(super) fn transform<T: Wrapping>(&mut self, q: &[i16], block: &mut [T]) {
        let mut part = Part { bank: self.bank, next: self.next, at: 0, q, block };
        part.fill();
        self.next += part.block.len();
    }
}

/// A transform, or, where the block is a smaller power of two, of at least 8, a part of
/// one.
///
/// Row r + s of H, r a multiple of the block's length and s less, is row s of the small
/// matrix, again and again, each time with the sign of r and the column. So the inputs
/// of a part are folded up with these signs, and go through a small transform.
///
/// In one place of memory, to which the steps refer: what a step is given by value is kept
/// once more by its caller.
pub(super) struct Part<'p, T> {
    pub(super) bank: &'p Bank<'p>,
    /// The number of the block's first projection.
    pub(super) next: usize,
    /// The next input.
    pub(super) at: usize,
    pub(super) q: &'p [i16],
    pub(super) block: &'p mut [T],
}

impl Part<'_, i16> {
    /// Fills the block with the phases of projections: scaled before the transform, so
    /// that the block itself is i16 and its low bits are the phase.
    #[cfg(not(target_feature = "simd128"))]
    #[inline(always)]
    pub(super) fn phases(&mut self) {
        self.fill();
    }

    /// The same in vectors, whole transforms only.
    #[cfg(target_feature = "simd128")]
    pub(super) fn phases(&mut self) {
        self.at = 0;
        let mut signs = 0;
        for index in 0..self.block.len() / 8 {
            let left = self.q.get(8 * index..).unwrap_or(&[]);
            if index % 8 == 0 && !left.is_empty() {
                self.at = 8 * index;
                signs = self.signs();
            }
            if let Some(place) = self.block.as_chunks_mut::<8>().0.get_mut(index) {
                *place = crate::simd::load(left, self.bank.scale, (signs >> 56) as u8);
            }
            signs <<= 8;
        }
        crate::simd::walsh_hadamard(self.block.as_chunks_mut::<8>().0);
    }
}

impl<T: Wrapping> Part<'_, T> {
    /// Fills the block with the projections from `next` on, of scaled inputs where they
    /// are phases.
    #[inline(always)]
    fn fill(&mut self) {
        self.clear();
        while self.at < self.q.len() {
            let signs = self.signs();
            self.fold(signs);
        }
        walsh_hadamard(self.block);
    }

    #[inline(never)]
    fn clear(&mut self) {
        self.at = 0;
        for place in &mut *self.block {
            // A zero that the compiler does not know: no routine that clears memory.
            *place = core::hint::black_box(T::default());
        }
    }

    /// The signs of 64 inputs from the next one on.
    #[inline(never)]
    fn signs(&self) -> u64 {
        bank_draw(self.bank, Purpose::Weights, self.draw_number())
    }

    #[inline(never)]
    fn draw_number(&self) -> u32 {
        let inputs = self.q.len();
        let log = hadamard_block(inputs as u16).trailing_zeros() & 31;
        ((self.next >> log) * inputs.div_ceil(64) + self.at / 64) as u32
    }

    /// Adds up to 64 inputs from the next one on, the highest bit of their signs first.
    #[inline(never)]
    fn fold(&mut self, mut signs: u64) {
        let eights = self.block.as_chunks_mut::<8>().0;
        let mask = eights.len().wrapping_sub(1);
        for _ in 0..8 {
            let Some(places) = eights.get_mut((self.at / 8) & mask) else { break };
            let values = self.q.get(self.at..).unwrap_or(&[]);
            let flip = ones(self.next & self.at);
            let scale = if T::SCALED { self.bank.scale } else { Scale::ONE };
            add_eight(places, values, (signs >> 32) as u32 ^ flip, scale);
            signs <<= 8;
            self.at += 8;
        }
    }
}

/// All bits set where the number of ones in the low 16 bits is odd, else none.
#[inline]
fn ones(bits: usize) -> u32 {
    let byte = bits ^ (bits >> 8);
    // Bit n: whether the four bits of n have an odd number.
    let odd = 0x6996u32 >> ((byte ^ (byte >> 4)) & 15) & 1;
    odd.wrapping_neg()
}

/// Adds up to eight scaled inputs with their signs, the highest bits first.
#[inline(never)]
fn add_eight<T: Wrapping>(places: &mut [T; 8], values: &[i16], mut signs: u32, scale: Scale) {
    for (place, &value) in places.iter_mut().zip(values) {
        let value = T::from_input(scale.apply_wrapping(value.into()));
        *place = if signs >> 31 == 0 { place.add(value) } else { place.sub(value) };
        signs <<= 1;
    }
}

/// The Walsh-Hadamard transform in place, natural order.
#[inline(never)]
fn walsh_hadamard<T: Wrapping>(block: &mut [T]) {
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
