//! WebAssembly's vectors of 128 bits, for the loops that predictions spend their
//! time in. The same integers as the loops that they stand in for: the golden
//! models are replayed with and without.
//!
//! Written out because the loops would only be vectorised at optimisation levels
//! that double the size of everything else.

use core::arch::wasm32::{
    i8x16_shuffle, i16x8, i16x8_add, i16x8_mul, i16x8_q15mulr_sat, i16x8_shl, i16x8_shr,
    i16x8_shuffle, i16x8_splat, i16x8_sub, i32x4_add, i32x4_dot_i16x8, i32x4_extract_lane,
    i32x4_splat, u8x16, u8x16_shr, u8x16_splat, u16x8_extend_high_u8x16, u16x8_extend_low_u8x16,
    u16x8_shr, u64x2, v128, v128_and, v128_xor,
};

use bytemuck::cast;

/// The Walsh-Hadamard transform of a block of at least 8, in place. The stages
/// may be taken in any order: here those within a vector come first.
pub(crate) fn walsh_hadamard(block: &mut [i16]) {
    let (eights, _) = block.as_chunks_mut::<8>();
    for eight in eights.iter_mut() {
        let mut x = cast(*eight);
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
        *eight = cast(x);
    }
    let mut half = 1;
    while half < eights.len() {
        for pair in eights.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let (x, y) = (cast(*a), cast(*b));
                (*a, *b) = (cast(i16x8_add(x, y)), cast(i16x8_sub(x, y)));
            }
        }
        half *= 2;
    }
}

/// `x` where `mask` is 0, −x where it is −1.
#[inline]
fn negated(x: v128, mask: v128) -> v128 {
    i16x8_sub(v128_xor(x, mask), mask)
}

/// [`cos`](crate::numerics::cos) of eight phases: its rounding multiply is one
/// instruction.
pub(crate) fn cos(phases: [i16; 8]) -> [i16; 8] {
    let p: v128 = cast(phases);
    let t = v128_xor(p, i16x8_shr(p, 15));
    let s = i16x8_sub(i16x8_splat(32767), i16x8_shl(t, 1));
    let s2 = i16x8_q15mulr_sat(s, s);
    let inner = i16x8_add(i16x8_splat(-10516), i16x8_q15mulr_sat(s2, i16x8_splat(1170)));
    let series = i16x8_add(i16x8_splat(25728), i16x8_q15mulr_sat(s2, inner));
    cast(i16x8_shl(i16x8_q15mulr_sat(s, series), 1))
}

/// Σ φ of a run of at most 256 whose length is a multiple of 16.
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
