//! The Walsh-Hadamard transform.

use core::arch::wasm32::{
    i16x8, i16x8_add, i16x8_eq, i16x8_mul, i16x8_shuffle, i16x8_splat, i16x8_sub, i32x4, i32x4_add,
    i32x4_extend_high_i16x8, i32x4_extend_low_i16x8, i32x4_extmul_high_i16x8,
    i32x4_extmul_low_i16x8, i32x4_mul, i32x4_shr, i32x4_shuffle, i32x4_sub, v128, v128_and,
    v128_xor,
};

use bytemuck::{Pod, cast, try_cast_slice_mut};

use super::{Bytes, eight};
use crate::families::hadamard::ones;
use crate::generator::Draws;
use crate::numerics::Scale;

/// The inputs with their signs, folded to the length of `block`, a transform or a part of
/// one, and the transform: what the loops of the small form do. `kept`: bits of a scaled
/// input that are not cleared. Numbers are of 16 or 32 bits.
pub(crate) fn transform<T: Pod>(
    draws: Draws,
    first: usize,
    scale: Scale,
    kept: i32,
    q: &[i16],
    block: &mut [T],
) {
    let vectors = try_cast_slice_mut(block).unwrap_or_default();
    of_vectors(draws, first, scale, kept, q, vectors, size_of::<T>() > 2);
}

/// The same for numbers of both widths: once in the program.
#[inline(never)]
fn of_vectors(
    mut draws: Draws,
    first: usize,
    scale: Scale,
    kept: i32,
    q: &[i16],
    vectors: &mut [Bytes],
    wide: bool,
) {
    vectors.fill([0; 16]);
    // Vectors of eight inputs.
    let each = 1 + usize::from(wide);
    let mask = (vectors.len() / each).wrapping_sub(1);
    let mut signs = 0;
    for (number, values) in q.chunks(8).enumerate() {
        signs = if number % 8 == 0 { draws.next() } else { signs << 8 };
        let flips = (signs >> 56) as i16 ^ ones(first & (8 * number)) as i16;
        let inputs = v128_and(scaled(eight(values), scale), i16x8_splat(kept as i16));
        let mut inputs = signed(inputs, flips);
        let Some([place, rest @ ..]) = vectors.get_mut((number & mask) * each..) else { return };
        if wide {
            let Some(next) = rest.first_mut() else { return };
            *next = cast(i32x4_add(cast(*next), i32x4_extend_high_i16x8(inputs)));
            inputs = i32x4_extend_low_i16x8(inputs);
        }
        *place = cast(add(cast(*place), inputs, wide));
    }
    for vector in &mut *vectors {
        let v = cast(*vector);
        *vector = cast(if wide { within_four(v) } else { within_eight(v) });
    }
    let length = vectors.len();
    between(vectors, length, wide);
}

#[inline(always)]
fn add(a: v128, b: v128, wide: bool) -> v128 {
    if wide { i32x4_add(a, b) } else { i16x8_add(a, b) }
}

#[inline(always)]
fn sub(a: v128, b: v128, wide: bool) -> v128 {
    if wide { i32x4_sub(a, b) } else { i16x8_sub(a, b) }
}

/// The stages within a vector of eight numbers.
#[inline(always)]
pub(super) fn within_eight(v: v128) -> v128 {
    let swapped = i16x8_shuffle::<1, 0, 3, 2, 5, 4, 7, 6>(v, v);
    let v = i16x8_add(swapped, i16x8_mul(v, i16x8(1, -1, 1, -1, 1, -1, 1, -1)));
    let swapped = i16x8_shuffle::<2, 3, 0, 1, 6, 7, 4, 5>(v, v);
    let v = i16x8_add(swapped, i16x8_mul(v, i16x8(1, 1, -1, -1, 1, 1, -1, -1)));
    let swapped = i16x8_shuffle::<4, 5, 6, 7, 0, 1, 2, 3>(v, v);
    i16x8_add(swapped, i16x8_mul(v, i16x8(1, 1, 1, 1, -1, -1, -1, -1)))
}

/// The stages within a vector of four numbers.
#[inline(always)]
fn within_four(v: v128) -> v128 {
    let v = i32x4_add(i32x4_shuffle::<1, 0, 3, 2>(v, v), i32x4_mul(v, i32x4(1, -1, 1, -1)));
    i32x4_add(i32x4_shuffle::<2, 3, 0, 1>(v, v), i32x4_mul(v, i32x4(1, 1, -1, -1)))
}

/// The low halves of products, shifted.
#[inline(always)]
pub(super) fn scaled(eight: v128, scale: Scale) -> v128 {
    if scale == Scale::ONE {
        return eight;
    }
    let (mult, shift) = (i16x8_splat(scale.mult.into()), scale.shift.into());
    let low = i32x4_shr(i32x4_extmul_low_i16x8(eight, mult), shift);
    let high = i32x4_shr(i32x4_extmul_high_i16x8(eight, mult), shift);
    i16x8_shuffle::<0, 2, 4, 6, 8, 10, 12, 14>(low, high)
}

/// The numbers with the signs of the bits of a byte, the highest first.
#[inline(always)]
pub(super) fn signed(eight: v128, signs: i16) -> v128 {
    let bits = i16x8(0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1);
    let flips = i16x8_eq(v128_and(i16x8_splat(signs), bits), bits);
    i16x8_sub(v128_xor(eight, flips), flips)
}

/// The stages between vectors, of transforms of `each` vectors.
#[inline(never)]
pub(super) fn between(vectors: &mut [Bytes], each: usize, wide: bool) {
    let mut half = 1;
    while 2 * half <= each {
        let mut rest = &mut *vectors;
        while let Some((low, others)) = rest.split_at_mut_checked(half)
            && let Some((high, others)) = others.split_at_mut_checked(half)
        {
            for (a, b) in low.iter_mut().zip(high) {
                let (p, q) = (cast(*a), cast(*b));
                (*a, *b) = (cast(add(p, q, wide)), cast(sub(p, q, wide)));
            }
            rest = others;
        }
        half *= 2;
    }
}
