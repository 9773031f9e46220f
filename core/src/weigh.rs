//! Packed codes of weights times features: Σ u·φ.

use bytemuck::try_cast_slice;

use crate::bytes::{byte_at, u32_at};
use crate::needs::{Needs, Profile, serves};
use crate::sink::{MAX_RUN, PADDED};

/// Features that one sum of products is taken over.
const PART: usize = PADDED;

/// Features of a run, laid out for [`weigh`].
///
/// A 32-bit product of two pairs of 16 bits, (a + b·2^16)(d + c·2^16), has a·d in its low
/// half and a·c + b·d above: two products of codes and features in one, where the features'
/// pairs lie the other way round. As a number modulo 2^32 it is a sum that goes on over
/// several such products while both halves fit 16 bits with their signs; what the low half
/// is is then known, and taken off.
pub(crate) struct Operands<'o> {
    /// Of each eight features in order: features 4 + i, and i in the high half, for
    /// i = 0…3. Zeros up to a whole part.
    pairs: &'o mut [u32],
    parts: usize,
}

/// Words of [`operand_memory`].
const WORDS: usize = MAX_RUN / 2 + if cfg!(target_feature = "simd128") { 8 } else { 0 };

/// Memory for [`Operands`].
#[inline(always)]
pub(crate) fn operand_memory() -> [u32; WORDS] {
    // Zeros that the compiler does not know: no routine that clears memory.
    [core::hint::black_box(0); WORDS]
}

impl<'o> Operands<'o> {
    /// Of no features, in memory of [`operand_memory`]; without any where none are taken.
    pub(crate) fn new(pairs: &'o mut [u32]) -> Self {
        Self { pairs, parts: 0 }
    }

    /// Lays out a run of whole parts; gives Σ φ.
    #[inline(never)]
    pub(crate) fn set(&mut self, run: &[i8]) -> i32 {
        self.parts = run.len() / PART;
        let places = self.pairs.as_chunks_mut::<4>().0;
        // Of 32 features in each half.
        let mut sum = 0u32;
        for (&eight, place) in run.as_chunks::<8>().0.iter().zip(places) {
            let [a, b, c, d] = pairs(eight);
            sum = sum.wrapping_add(a).wrapping_add(b).wrapping_add(c).wrapping_add(d);
            *place = [a, b, c, d];
        }
        high(sum) + i32::from(sum as i16)
    }

    #[inline]
    fn parts(&self) -> &[[u32; PART / 2]] {
        self.pairs.as_chunks().0.get(..self.parts).unwrap_or_default()
    }
}

/// The pairs of eight features.
#[inline(always)]
fn pairs([a, b, c, d, e, f, g, h]: [i8; 8]) -> [u32; 4] {
    let pair = |high, low| (i32::from(high) << 16).wrapping_add(i32::from(low)) as u32;
    [pair(a, e), pair(b, f), pair(c, g), pair(d, h)]
}

/// Adds Σ u·φ of the pairs of eight features from `$at` on and as many codes, in the high
/// half, where `$lanes` has codes 0 to 3 of them from bit 0 on, each `$bits` after the
/// other, and codes 4 to 7 from bit 16 on. Step by step: small cores have few registers.
macro_rules! add_eight {
    ($sum:ident, $lanes:expr, $pairs:ident, $at:literal, $bits:literal) => {
        let lanes: u32 = $lanes;
        let mask = ((1u32 << $bits) - 1) * 0x1_0001;
        $sum = (lanes & mask).wrapping_mul($pairs[$at]).wrapping_add($sum);
        $sum = (lanes >> $bits & mask).wrapping_mul($pairs[$at + 1]).wrapping_add($sum);
        $sum = (lanes >> (2 * $bits) & mask).wrapping_mul($pairs[$at + 2]).wrapping_add($sum);
        $sum = (lanes >> (3 * $bits) & mask).wrapping_mul($pairs[$at + 3]).wrapping_add($sum);
    };
}

/// The high half of a sum of products.
#[inline(always)]
fn high(sum: u32) -> i32 {
    let sum = sum as i32;
    sum.wrapping_sub(i32::from(sum as i16)) >> 16
}

/// Four bits: a sum of at most 16·15·128 in the high half.
#[inline(always)]
fn four([first, second]: [u32; 2], pairs: &[u32; PART / 2]) -> i32 {
    let mut sum = 0u32;
    add_eight!(sum, first, pairs, 0, 4);
    add_eight!(sum, second, pairs, 4, 4);
    high(sum)
}

#[inline(never)]
fn fours(codes: &[u8], parts: &[[u32; PART / 2]]) -> i32 {
    let codes = codes.as_chunks::<8>().0;
    // Small cores read a word at once where it lies at a whole one. Elsewhere the compiler
    // knows that this is the same.
    let words = try_cast_slice::<_, [u32; 2]>(codes).unwrap_or_default();
    let mut total = 0;
    for (place, (pairs, &[a, b, c, d, e, f, g, h])) in parts.iter().zip(codes).enumerate() {
        let two = match words.get(place) {
            Some(two) => two.map(u32::from_le),
            None => [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])],
        };
        total += four(two, pairs);
    }
    total
}

/// Three bits.
#[inline(never)]
fn threes(codes: &[u8], parts: &[[u32; PART / 2]]) -> i32 {
    let lanes = |a, b, c| {
        let word = u32::from_le_bytes([a, b, c, 0]);
        word & 0xfff | word >> 12 << 16
    };
    let mut total = 0;
    for (pairs, &[a, b, c, d, e, f]) in parts.iter().zip(codes.as_chunks::<6>().0) {
        let mut sum = 0u32;
        add_eight!(sum, lanes(a, b, c), pairs, 0, 3);
        add_eight!(sum, lanes(d, e, f), pairs, 4, 3);
        total += high(sum);
    }
    total
}

/// Two bits.
#[inline(never)]
fn twos(codes: &[u8], parts: &[[u32; PART / 2]]) -> i32 {
    let lanes = |a, b| u32::from(a) | u32::from(b) << 16;
    let mut total = 0;
    for (pairs, &[a, b, c, d]) in parts.iter().zip(codes.as_chunks::<4>().0) {
        let mut sum = 0u32;
        add_eight!(sum, lanes(a, b), pairs, 0, 2);
        add_eight!(sum, lanes(c, d), pairs, 4, 2);
        total += high(sum);
    }
    total
}

/// Codes of a byte, `step` bytes apart.
#[inline(never)]
fn bytes(codes: &[u8], run: &[i8], step: usize) -> i32 {
    let mut sum = 0;
    let mut at = 0;
    for &phi in run {
        sum += i32::from(byte_at(codes, at)) * i32::from(phi);
        at += step;
    }
    sum
}

/// Σ u·φ over a run for codes of `bits` bits, of 16 the bytes that `codes` starts with.
/// `codes` goes on behind the run, by eight bytes at least.
#[inline]
pub(crate) fn weigh<P: Profile>(
    bits: u8,
    codes: &[u8],
    run: &[i8],
    operands: &Operands<'_>,
) -> i32 {
    #[cfg(target_feature = "simd128")]
    if P::SMALL {
        return crate::simd::weigh(bits, codes, operands.pairs, run.len());
    }
    if P::SMALL {
        return any(bits, codes, run);
    }
    match bits {
        2 if serves::<P>(Needs::BITS_2) => twos(codes, operands.parts()),
        3 if serves::<P>(Needs::BITS_3) => threes(codes, operands.parts()),
        4 if serves::<P>(Needs::BITS_4) => fours(codes, operands.parts()),
        8 if serves::<P>(Needs::BITS_8) => bytes(codes, run, 1),
        16 if serves::<P>(Needs::BITS_16) => bytes(codes, run, 2),
        _ => 0,
    }
}

/// Makes a run ready for [`weigh`] with codes of `bits` bits; gives Σ φ.
#[inline]
pub(crate) fn lay_out<P: Profile>(bits: u8, run: &[i8], operands: &mut Operands<'_>) -> i32 {
    #[cfg(target_feature = "simd128")]
    if P::SMALL {
        return crate::simd::lay_out(bits, run, operands.pairs);
    }
    if !P::SMALL && bits < 8 {
        operands.set(run)
    } else {
        run.iter().map(|&phi| i32::from(phi)).sum()
    }
}

/// The same for codes of all widths in one loop.
#[inline(never)]
fn any(width: u8, mut codes: &[u8], run: &[i8]) -> i32 {
    let bits = u32::from(width.min(8));
    let (mut sum, mut word, mut left) = (0, 0u32, 0);
    for &phi in run {
        if left < bits
            && let Some((&byte, rest)) = codes.split_first()
        {
            word |= u32::from(byte) << (left & 31);
            left += 8;
            codes = if width == 16 { rest.get(1..).unwrap_or_default() } else { rest };
        }
        sum += (word & ((1 << bits) - 1)) as i32 * i32::from(phi);
        word >>= bits;
        left = left.saturating_sub(bits);
    }
    sum
}

/// Code `index` of a packed row.
#[inline]
pub(crate) fn code_at(bits: u8, row: &[u8], index: usize) -> u32 {
    let at = index.saturating_mul(bits.into());
    let word = u32_at(row, at / 8) >> (at % 8);
    word & ((1 << (bits & 31)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Stream;
    use crate::needs::{Any, Small};
    use std::vec::Vec;

    /// The definition, code by code.
    fn naive(bits: u8, codes: &[u8], run: &[i8]) -> i32 {
        let mask = if bits == 16 { 255 } else { !0 };
        let product =
            |(k, &phi): (usize, &i8)| (code_at(bits, codes, k) & mask) as i32 * i32::from(phi);
        run.iter().enumerate().map(product).sum()
    }

    #[test]
    fn every_width_in_both_forms_is_the_definition() {
        let stream = Stream::new(5, 0);
        for bits in [2, 3, 4, 8, 16] {
            for length in (1..=MAX_RUN).step_by(if cfg!(miri) { 21 } else { 1 }) {
                for kind in 0..4 {
                    let byte = |i: u64| stream.draw(1000 * kind + i) as u8;
                    let codes: Vec<u8> =
                        (0..200).map(|i| if kind == 1 { 255 } else { byte(i) }).collect();
                    let run: Vec<i8> = (0..length as u64)
                        .map(|i| match kind {
                            0 => byte(500 + i) as i8,
                            1 => i8::MIN,
                            2 => i8::MAX,
                            _ => {
                                if byte(i) < 128 {
                                    i8::MIN
                                } else {
                                    i8::MAX
                                }
                            }
                        })
                        .collect();
                    let mut memory = operand_memory();
                    let mut operands = Operands::new(&mut memory);
                    operands.set(&[1; MAX_RUN]);
                    let mut run = run;
                    run.resize(length.next_multiple_of(PADDED), 0);
                    let total: i32 = run.iter().map(|&phi| i32::from(phi)).sum();
                    assert_eq!(operands.set(&run), total);
                    assert_eq!(lay_out::<Any>(bits, &run, &mut operands), total);
                    let expected = naive(bits, &codes, &run);
                    assert_eq!(weigh::<Any>(bits, &codes, &run, &operands), expected, "{bits}");
                    assert_eq!(weigh::<Small>(bits, &codes, &run, &operands), expected, "{bits}");
                }
            }
        }
    }
}
