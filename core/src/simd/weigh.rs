//! The head: packed codes of weights times features.

use core::arch::wasm32::{
    i8x16, i8x16_add, i8x16_splat, i8x16_swizzle, i16x8_add, i16x8_extend_high_i8x16,
    i16x8_extend_low_i8x16, i16x8_mul, i16x8_splat, i32x4_add, i32x4_dot_i16x8, i32x4_extract_lane,
    i32x4_shr, i32x4_splat, v128, v128_and,
};

use bytemuck::{cast, try_cast_slice, try_cast_slice_mut};

use super::Bytes;

/// Binary places that products are higher by.
const LOG: u32 = 7;

/// Lays out a run of features, whole sixteens, for [`weigh`] with codes of `bits` bits; gives
/// Σ φ.
///
/// The code of a lane lies in the two bytes from the one on in which it starts. A swizzle
/// brings them to the lane and a mask leaves the code, as many places too high as it starts
/// within its byte. Features are higher by as many places as are missing to [`LOG`].
#[inline(never)]
pub(crate) fn lay_out(bits: u8, run: &[i8], memory: &mut [u32]) -> i32 {
    let [mut places, mut mask, mut up] = [[0i16; 8]; 3];
    let lanes = places.iter_mut().zip(&mut mask).zip(&mut up);
    for (lane, ((places, mask), up)) in lanes.enumerate() {
        let start = lane * usize::from(bits);
        let at = start & 7;
        *places = (start / 8 * 0x101 + 0x100) as i16;
        *mask = ((1 << bits.min(8)) - 1) << at;
        *up = 1 << (LOG as usize - at);
    }
    let up = cast(up);
    let [bytes, masks, features @ ..] = try_cast_slice_mut::<_, Bytes>(memory).unwrap_or_default()
    else {
        return 0;
    };
    (*bytes, *masks) = (cast(places), cast(mask));
    let mut sums = i32x4_splat(0);
    for (two, &sixteen) in features.as_chunks_mut::<2>().0.iter_mut().zip(run.as_chunks::<16>().0) {
        let sixteen = cast(sixteen);
        let (low, high) = (i16x8_extend_low_i8x16(sixteen), i16x8_extend_high_i8x16(sixteen));
        sums = i32x4_add(sums, i32x4_dot_i16x8(i16x8_add(low, high), i16x8_splat(1)));
        *two = [i16x8_mul(low, up), i16x8_mul(high, up)].map(cast);
    }
    total(sums)
}

/// Σ u·φ over the run of `length` features that is laid out, at most 256, for codes of `bits`
/// bits, of 16 the bytes that `codes` starts with. `codes` may go on behind the run.
#[inline(never)]
pub(crate) fn weigh(bits: u8, codes: &[u8], memory: &[u32], length: usize) -> i32 {
    let mut few = [0; 16];
    let codes = padded(codes, &mut few);
    let [bytes, masks, features @ ..] = try_cast_slice(memory).unwrap_or_default() else {
        return 0;
    };
    let (bytes, masks) = (cast(*bytes), cast::<Bytes, v128>(*masks));
    let (mut sums, mut at) = (i32x4_splat(0), 0);
    for &feature in features.iter().take(length / 8) {
        let lanes = v128_and(i8x16_swizzle(window(codes, at), bytes), masks);
        // Of 256 features a lane adds at most 64·255·128·2^7.
        sums = i32x4_add(sums, i32x4_dot_i16x8(lanes, cast::<Bytes, v128>(feature)));
        at += usize::from(bits);
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
fn padded<'b>(bytes: &'b [u8], few: &'b mut Bytes) -> &'b [u8] {
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
