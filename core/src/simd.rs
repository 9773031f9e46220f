//! WebAssembly's vectors of 128 bits, for the loops that predictions spend their
//! time in. The same integers as the loops that they stand in for: the golden
//! models are replayed with and without.
//!
//! Written out because the loops would only be vectorised at optimisation levels
//! that double the size of everything else.

use core::arch::wasm32::{
    i8x16_swizzle, i16x8, i16x8_add, i16x8_eq, i16x8_mul, i16x8_q15mulr_sat, i16x8_shl, i16x8_shr,
    i16x8_shuffle, i16x8_splat, i16x8_sub, i32x4_add, i32x4_dot_i16x8, i32x4_extmul_high_i16x8,
    i32x4_extmul_low_i16x8, i32x4_extract_lane, i32x4_shr, i32x4_splat, u16x8_shr, v128, v128_and,
    v128_xor,
};

use bytemuck::cast;

use crate::numerics::Scale;

/// Up to eight inputs and zeros, scaled modulo 2^16, negated where the bit of `signs` is set (the
/// highest belongs to the first), with the first three stages of the transform
/// behind them.
pub(crate) fn load(values: &[i16], scale: Scale, signs: u8) -> [i16; 8] {
    let mut x = cast(window::<i16, 8>(values));
    let (mult, shift) = (i16x8_splat(scale.mult.into()), scale.shift.into());
    let low = i32x4_shr(i32x4_extmul_low_i16x8(x, mult), shift);
    let high = i32x4_shr(i32x4_extmul_high_i16x8(x, mult), shift);
    // The low halves.
    x = i16x8_shuffle::<0, 2, 4, 6, 8, 10, 12, 14>(low, high);
    let bits = i16x8(128, 64, 32, 16, 8, 4, 2, 1);
    x = negated(x, i16x8_eq(v128_and(i16x8_splat(signs.into()), bits), bits));
    x = i16x8_add(
        i16x8_shuffle::<1, 0, 3, 2, 5, 4, 7, 6>(x, x),
        negated(x, i16x8(0, -1, 0, -1, 0, -1, 0, -1)),
    );
    x = i16x8_add(
        i16x8_shuffle::<2, 3, 0, 1, 6, 7, 4, 5>(x, x),
        negated(x, i16x8(0, 0, -1, -1, 0, 0, -1, -1)),
    );
    x = i16x8_add(
        i16x8_shuffle::<4, 5, 6, 7, 0, 1, 2, 3>(x, x),
        negated(x, i16x8(0, 0, 0, 0, -1, -1, -1, -1)),
    );
    cast(x)
}

/// `x` where `mask` is 0, −x where it is −1.
#[inline]
fn negated(x: v128, mask: v128) -> v128 {
    i16x8_sub(v128_xor(x, mask), mask)
}

/// The Walsh-Hadamard transform in place, natural order, of a block that has its
/// first three stages behind it.
pub(crate) fn walsh_hadamard(block: &mut [[i16; 8]]) {
    let mut half = 1;
    while half < block.len() {
        let mut rest = &mut *block;
        while let Some((low, others)) = rest.split_at_mut_checked(half)
            && let Some((high, others)) = others.split_at_mut_checked(half)
        {
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = stage(*a, *b);
            }
            rest = others;
        }
        half *= 2;
    }
}

/// a + b and a − b.
#[inline]
fn stage(a: [i16; 8], b: [i16; 8]) -> ([i16; 8], [i16; 8]) {
    let (a, b) = (cast(a), cast(b));
    (cast(i16x8_add(a, b)), cast(i16x8_sub(a, b)))
}

/// The offsets of Fourier features in order, eight at a time: number k has
/// o + a·k + c·k(k − 1)/2, modulo 2^16.
pub(crate) struct Offsets {
    offsets: v128,
    /// What the next eight steps add, and what is added to that.
    leap: v128,
    growth: v128,
}

impl Offsets {
    /// From o, a and c.
    pub(crate) fn new(offset: i16, step: i16, growth: i16) -> Self {
        let (step, growth) = (i16x8_splat(step), i16x8_splat(growth));
        let k = i16x8(0, 1, 2, 3, 4, 5, 6, 7);
        let pairs = i16x8(0, 0, 1, 3, 6, 10, 15, 21);
        let walked = i16x8_add(i16x8_mul(step, k), i16x8_mul(growth, pairs));
        // In eight steps k(k − 1)/2 grows by 8k + 28.
        let more = i16x8_add(i16x8_shl(k, 3), i16x8_splat(28));
        Self {
            offsets: i16x8_add(i16x8_splat(offset), walked),
            leap: i16x8_add(i16x8_shl(step, 3), i16x8_mul(growth, more)),
            growth: i16x8_shl(growth, 6),
        }
    }

    /// Phases to features in place; eights only.
    pub(crate) fn cosines(&mut self, phases: &mut [i16]) {
        for eight in phases.as_chunks_mut::<8>().0 {
            *eight = cast(cos(i16x8_add(cast(*eight), self.offsets)));
            self.offsets = i16x8_add(self.offsets, self.leap);
            self.leap = i16x8_add(self.leap, self.growth);
        }
    }
}

/// [`cos`](crate::numerics::cos) of eight phases.
///
/// The rounding multiply is one instruction. With P = a·b, r = ⌊P/2^15⌉ and b bit 14
/// of P, ⌊P/2^15⌋ = r − b and ⌊P/2^14⌋ = 2r − b. The square of −32768 saturates to
/// 32767 instead of 32768; the series is 16383 for both.
#[inline]
fn cos(phases: v128) -> v128 {
    let mirrored = v128_xor(i16x8_shl(phases, 1), i16x8_shr(phases, 15));
    let s = v128_xor(mirrored, i16x8_splat(32767));
    let s2 = i16x8_sub(i16x8_q15mulr_sat(s, s), bit14(i16x8_mul(s, s)));
    let inner = i16x8_add(i16x8_splat(-10506), i16x8_q15mulr_sat(s2, i16x8_splat(1164)));
    let series = i16x8_add(i16x8_splat(25725), i16x8_q15mulr_sat(s2, inner));
    let halved = i16x8_q15mulr_sat(s, series);
    i16x8_sub(i16x8_shl(halved, 1), bit14(i16x8_mul(s, series)))
}

#[inline]
fn bit14(x: v128) -> v128 {
    u16x8_shr(i16x8_shl(x, 1), 15)
}

/// How codes of some width become lanes.
///
/// A lane's code lies in the two bytes from the one on in which it starts: moved
/// there by a swizzle, up to the lane's highest bit by a product, and down by a
/// shift that all lanes share. One loop serves every width.
pub(crate) struct Weigher {
    bits: usize,
    pairs: v128,
    up: v128,
    down: u32,
}

impl Weigher {
    /// For codes of `bits` bits; of 16 one byte is taken, the first of each pair.
    pub(crate) fn new(bits: u8) -> Self {
        let bits = usize::from(bits);
        let kept = bits.min(8);
        let (mut pairs, mut up) = ([0u16; 8], [0u16; 8]);
        for (lane, (pair, up)) in pairs.iter_mut().zip(&mut up).enumerate() {
            let at = lane * bits;
            *pair = at as u16 / 8 * 257 + 256;
            *up = 1 << ((16 - kept - at % 8) & 15);
        }
        Self { bits, pairs: cast(pairs), up: cast(up), down: 16 - kept as u32 }
    }

    /// Σ u·φ over a run of at most 256; `codes` may go on beyond it.
    pub(crate) fn weigh(&self, mut codes: &[u8], run: &[i16]) -> i32 {
        let mut sums = i32x4_splat(0);
        for eight in run.chunks(8) {
            let bytes = cast(window::<u8, 16>(codes));
            let lanes = u16x8_shr(i16x8_mul(i8x16_swizzle(bytes, self.pairs), self.up), self.down);
            // A lane adds at most 2·32·255·32767 in 256 features: below 2^31.
            sums = i32x4_add(sums, i32x4_dot_i16x8(lanes, cast(window::<i16, 8>(eight))));
            codes = codes.get(self.bits..).unwrap_or(&[]);
        }
        total(sums)
    }
}

/// Σ φ of a run of at most 65,536.
pub(crate) fn sum(run: &[i16]) -> i32 {
    total(run.chunks(8).fold(i32x4_splat(0), |sums, eight| {
        i32x4_add(sums, i32x4_dot_i16x8(cast(window::<i16, 8>(eight)), i16x8_splat(1)))
    }))
}

fn total(sums: v128) -> i32 {
    i32x4_extract_lane::<0>(sums)
        + i32x4_extract_lane::<1>(sums)
        + i32x4_extract_lane::<2>(sums)
        + i32x4_extract_lane::<3>(sums)
}

/// The vector at the start of a slice, zeros beyond its end.
#[inline(always)]
fn window<T: Copy + Default, const N: usize>(slice: &[T]) -> [T; N] {
    // Not `unwrap_or_else`: it becomes a call for every vector.
    match slice.first_chunk() {
        Some(&whole) => whole,
        None => last(slice),
    }
}

#[cold]
#[inline(never)]
fn last<T: Copy + Default, const N: usize>(slice: &[T]) -> [T; N] {
    let mut last = [T::default(); N];
    last.iter_mut().zip(slice).for_each(|(place, &value)| *place = value);
    last
}
