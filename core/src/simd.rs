//! WebAssembly's vectors of 128 bits, for the loop that the browser's predictions spend their
//! time in: the head. The same integers as the loop that it stands in for: the golden models
//! are replayed with and without.
//!
//! Written out because the loop would only be vectorised at optimisation levels that double
//! the size of everything else.

use core::arch::wasm32::{
    i8x16, i8x16_add, i8x16_splat, i8x16_swizzle, i16x8, i16x8_add, i16x8_extend_high_i8x16,
    i16x8_extend_low_i8x16, i16x8_mul, i16x8_splat, i32x4_add, i32x4_dot_i16x8, i32x4_extract_lane,
    i32x4_shr, i32x4_splat, u16x8_shr, v128, v128_and, v128_or,
};

use bytemuck::cast;

/// Σ u·φ over a run of at most 256, a multiple of sixteen, for codes of `bits` bits, of 16
/// the bytes that `codes` starts with. `codes` may go on behind the run.
///
/// The code of a lane lies in the two bytes from the one on in which it starts: moved there by
/// a swizzle, up to a place that all lanes share by a product, and masked.
#[inline(never)]
pub(crate) fn weigh(bits: u8, codes: &[u8], run: &[i8]) -> i32 {
    const LOG: u32 = 7;
    let start = i16x8_mul(i16x8(0, 1, 2, 3, 4, 5, 6, 7), i16x8_splat(bits.into()));
    let byte = i16x8_mul(u16x8_shr(start, 3), i16x8_splat(257));
    let first = i16x8_add(byte, i16x8_splat(256));
    // Sixteen codes are in one vector, or in two.
    let second = if bits > 8 { first } else { i8x16_add(first, i8x16_splat(bits as i8)) };
    let powers = i8x16(-128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    // The high bytes are looked up where there is nothing.
    let place = v128_or(v128_and(start, i16x8_splat(7)), i16x8_splat(0x800));
    let up = i8x16_swizzle(powers, place);
    let mask = i16x8_splat(((1 << bits.min(8)) - 1) << LOG);
    // Through memory: some engines would compute them anew for every vector.
    let [first, second, up, mask] = core::hint::black_box([first, second, up, mask]);
    let lanes = |bytes, pairs| v128_and(i16x8_mul(i8x16_swizzle(bytes, pairs), up), mask);
    let mut few = [0; 16];
    let codes = padded(codes, &mut few);
    let (mut sums, mut at) = (i32x4_splat(0), 0);
    for &sixteen in run.as_chunks::<16>().0 {
        let sixteen = cast(sixteen);
        let mut bytes = window(codes, at);
        let low = i32x4_dot_i16x8(lanes(bytes, first), i16x8_extend_low_i8x16(sixteen));
        if bits > 8 {
            bytes = window(codes, at + 16);
        }
        let high = i32x4_dot_i16x8(lanes(bytes, second), i16x8_extend_high_i8x16(sixteen));
        // Of 256 features a lane adds at most 64·255·128·2^7.
        sums = i32x4_add(sums, i32x4_add(low, high));
        at += 2 * usize::from(bits);
    }
    total(i32x4_shr(sums, LOG))
}

fn total(sums: v128) -> i32 {
    i32x4_extract_lane::<0>(sums)
        + i32x4_extract_lane::<1>(sums)
        + i32x4_extract_lane::<2>(sums)
        + i32x4_extract_lane::<3>(sums)
}

const PLACES: v128 = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

/// The bytes from place `by` on, modulo 256; zeros where there are none.
#[inline]
fn moved(bytes: v128, by: usize) -> v128 {
    i8x16_swizzle(bytes, i8x16_add(PLACES, i8x16_splat(by as i8)))
}

/// The bytes; where they are fewer than sixteen, with zeros behind them, in `few`.
#[inline(never)]
fn padded<'b>(bytes: &'b [u8], few: &'b mut [u8; 16]) -> &'b [u8] {
    if bytes.len() >= 16 {
        return bytes;
    }
    few.iter_mut().zip(bytes).for_each(|(place, &byte)| *place = byte);
    few
}

/// The sixteen bytes from `at` on of at least sixteen, with zeros behind the last.
#[inline(always)]
fn window(bytes: &[u8], at: usize) -> v128 {
    let from = at.min(bytes.len().wrapping_sub(16));
    match bytes.get(from..).and_then(|rest| rest.first_chunk::<16>()) {
        Some(&whole) if from == at => cast(whole),
        // No call: vectors would have to leave their registers for it.
        Some(&whole) => moved(cast(whole), at - from),
        None => i8x16_splat(0),
    }
}
