//! WebAssembly's vectors of 128 bits, for the loops that predictions spend their
//! time in. The same integers as the loops that they stand in for: the golden
//! models are replayed with and without.
//!
//! Written out because the loops would only be vectorised at optimisation levels
//! that double the size of everything else.

use core::arch::wasm32::{
    i8x16_shuffle, i16x8, i16x8_add, i16x8_eq, i16x8_mul, i16x8_q15mulr_sat, i16x8_shl, i16x8_shr,
    i16x8_shuffle, i16x8_splat, i16x8_sub, i32x4_add, i32x4_dot_i16x8, i32x4_extmul_high_i16x8,
    i32x4_extmul_low_i16x8, i32x4_extract_lane, i32x4_shr, i32x4_splat, u8x16, u8x16_shr,
    u8x16_splat, u16x8_extend_high_u8x16, u16x8_extend_low_u8x16, u16x8_shr, u64x2, v128, v128_and,
    v128_xor,
};

use bytemuck::cast;

use crate::numerics::Scale;

/// Eight inputs, scaled modulo 2^16, negated where the bit of `signs` is set (the
/// highest belongs to the first), with the first three stages of the transform
/// behind them.
pub(crate) fn load(values: [i16; 8], scale: Scale, signs: u8) -> [i16; 8] {
    let mut x = cast(values);
    if scale != Scale::ONE {
        let mult = i16x8_splat(scale.mult.into());
        let shift = scale.shift.into();
        let low = i32x4_shr(i32x4_extmul_low_i16x8(x, mult), shift);
        let high = i32x4_shr(i32x4_extmul_high_i16x8(x, mult), shift);
        // The low halves.
        x = i16x8_shuffle::<0, 2, 4, 6, 8, 10, 12, 14>(low, high);
    }
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
/// first three stages behind it; two stages a pass.
pub(crate) fn walsh_hadamard(block: &mut [[i16; 8]]) {
    let length = block.len();
    let mut quarter = 1;
    while 4 * quarter <= length {
        for four in block.chunks_exact_mut(4 * quarter) {
            let (low, high) = four.split_at_mut(2 * quarter);
            let (a, b) = low.split_at_mut(quarter);
            let (c, d) = high.split_at_mut(quarter);
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                let (ab, a_b) = stage(*a, *b);
                let (cd, c_d) = stage(*c, *d);
                (*a, *c) = stage(ab, cd);
                (*b, *d) = stage(a_b, c_d);
            }
        }
        quarter *= 4;
    }
    if length.trailing_zeros() % 2 == 1 {
        let (low, high) = block.split_at_mut(length / 2);
        for (a, b) in low.iter_mut().zip(high) {
            (*a, *b) = stage(*a, *b);
        }
    }
}

/// a + b and a − b.
#[inline]
fn stage(a: [i16; 8], b: [i16; 8]) -> ([i16; 8], [i16; 8]) {
    let (a, b) = (cast(a), cast(b));
    (cast(i16x8_add(a, b)), cast(i16x8_sub(a, b)))
}

/// Cosines of phases and offsets, in place: number k has the offset
/// `offset` + `step`·k + `growth`·k(k − 1)/2, modulo 2^16.
pub(crate) fn cosines(phases: &mut [[i16; 8]], offset: i16, step: i16, growth: i16) {
    let growth = i16x8_splat(growth);
    let steps = i16x8_add(i16x8_splat(step), i16x8_mul(growth, i16x8(0, 1, 2, 3, 4, 5, 6, 7)));
    let mut offsets = i16x8_add(
        i16x8_add(i16x8_splat(offset), i16x8_mul(i16x8_splat(step), i16x8(0, 1, 2, 3, 4, 5, 6, 7))),
        i16x8_mul(growth, i16x8(0, 0, 1, 3, 6, 10, 15, 21)),
    );
    // What eight steps add, and what eight steps add to that.
    let mut leap = i16x8_add(i16x8_shl(steps, 3), i16x8_mul(growth, i16x8_splat(28)));
    let growth = i16x8_shl(growth, 6);
    for eight in phases {
        *eight = cast(cos(i16x8_add(cast(*eight), offsets)));
        offsets = i16x8_add(offsets, leap);
        leap = i16x8_add(leap, growth);
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

/// Σ φ of a run of at most 65,536.
pub(crate) fn sum(run: &[[i16; 16]]) -> i32 {
    let one = i16x8_splat(1);
    let sums = run.iter().fold(i32x4_splat(0), |sums, &sixteen| {
        let [low, high]: [v128; 2] = cast(sixteen);
        i32x4_add(i32x4_add(sums, i32x4_dot_i16x8(low, one)), i32x4_dot_i16x8(high, one))
    });
    total(sums)
}

/// Σ u·φ over sixteens of features, at most 256 in all, for codes of 2 bits.
pub(crate) fn dot2(codes: &[u8], run: &[[i16; 16]]) -> i32 {
    let (fours, _) = codes.as_chunks::<4>();
    let sums = fours.iter().zip(run).fold(i32x4_splat(0), |sums, (&four, sixteen)| {
        let bytes = u64x2(u64::from(u32::from_le_bytes(four)), 0);
        // Each byte four times, of which every copy keeps other two bits.
        let copies = i8x16_shuffle::<0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3>(bytes, bytes);
        let bits = u8x16(3, 12, 48, 192, 3, 12, 48, 192, 3, 12, 48, 192, 3, 12, 48, 192);
        let kept = v128_and(copies, bits);
        // Shifts that differ from lane to lane: multiplied up to the same place.
        let up = i16x8(64, 16, 4, 1, 64, 16, 4, 1);
        let low = u16x8_shr(i16x8_mul(u16x8_extend_low_u8x16(kept), up), 6);
        let high = u16x8_shr(i16x8_mul(u16x8_extend_high_u8x16(kept), up), 6);
        add_products(sums, low, high, sixteen)
    });
    total(sums)
}

/// The same for codes of 4 bits.
pub(crate) fn dot4(codes: &[u8], run: &[[i16; 16]]) -> i32 {
    let (eights, _) = codes.as_chunks::<8>();
    let sums = eights.iter().zip(run).fold(i32x4_splat(0), |sums, (&eight, sixteen)| {
        let bytes = u64x2(u64::from_le_bytes(eight), 0);
        let (even, odd) = (v128_and(bytes, u8x16_splat(15)), u8x16_shr(bytes, 4));
        let codes =
            i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(even, odd);
        add_bytes(sums, codes, sixteen)
    });
    total(sums)
}

/// The same for codes of 8 bits.
pub(crate) fn dot8(codes: &[u8], run: &[[i16; 16]]) -> i32 {
    let (sixteens, _) = codes.as_chunks::<16>();
    let sums = sixteens
        .iter()
        .zip(run)
        .fold(i32x4_splat(0), |sums, (&codes, sixteen)| add_bytes(sums, cast(codes), sixteen));
    total(sums)
}

#[inline]
fn add_bytes(sums: v128, codes: v128, features: &[i16; 16]) -> v128 {
    let (low, high) = (u16x8_extend_low_u8x16(codes), u16x8_extend_high_u8x16(codes));
    add_products(sums, low, high, features)
}

/// A lane adds at most 2·64·255·32767 in 256 features: below 2^31.
#[inline]
fn add_products(sums: v128, low: v128, high: v128, features: &[i16; 16]) -> v128 {
    let [first, second]: [v128; 2] = cast(*features);
    i32x4_add(i32x4_add(sums, i32x4_dot_i16x8(low, first)), i32x4_dot_i16x8(high, second))
}

fn total(sums: v128) -> i32 {
    i32x4_extract_lane::<0>(sums)
        + i32x4_extract_lane::<1>(sums)
        + i32x4_extract_lane::<2>(sums)
        + i32x4_extract_lane::<3>(sums)
}
