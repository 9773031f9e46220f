//! Packed codes of weights times features: Σ u·φ.

use core::cell::Cell;

use bytemuck::try_cast_slice;

use crate::bytes::{byte_at, u32_at};
use crate::needs::{Needs, Profile, SMALLEST, rolled, serves};
use crate::sink::MAX_RUN;

/// Features of a run, laid out for [`weigh`]: of each eight in order features 4 + i, and i in
/// the high half, for i = 0…3.
///
/// A 32-bit product of two pairs of 16 bits, (a + b·2^16)(d + c·2^16), has a·d in its low
/// half and a·c + b·d above: two products of codes and features in one, where the features'
/// pairs lie the other way round. As a number modulo 2^32 it is a sum that goes on over
/// several such products while both halves fit 16 bits with their signs; what the low half
/// is is then known, and taken off.
pub(crate) type Pairs = [[u32; 4]; MAX_RUN / 8];

/// Two features as a pair.
#[inline(always)]
pub(crate) fn pair(high: i32, low: i32) -> u32 {
    (high << 16).wrapping_add(low) as u32
}

/// The high and the low one of a pair.
#[inline(always)]
fn parts(pair: u32) -> [i32; 2] {
    let low = i32::from(pair as i16);
    [(pair as i32).wrapping_sub(low) >> 16, low]
}

/// Lays out the features of a run in its memory; gives Σ φ.
#[inline(never)]
pub(crate) fn lay_out(run: &mut Pairs) -> i32 {
    let words = Cell::from_mut(run.as_flattened_mut()).as_slice_of_cells();
    let bytes = words.get(words.len() / 2..).unwrap_or_default();
    let mut sum = 0u32;
    // What is written was read before.
    for ([a, b, c, d], [first, second]) in words.as_chunks::<4>().0.iter().zip(bytes.as_chunks().0)
    {
        let (first, second) = (u32::from_le(first.get()), u32::from_le(second.get()));
        let mut set = |place: &Cell<u32>, up: u32| {
            let pair = pair((first << up) as i32 >> 24, (second << up) as i32 >> 24);
            place.set(pair);
            sum = sum.wrapping_add(pair);
        };
        set(a, 24);
        set(b, 16);
        set(c, 8);
        set(d, 0);
    }
    of_both(sum)
}

/// The sum of both halves, in each of which are 16 features.
#[inline(always)]
fn of_both(sum: u32) -> i32 {
    let [high, low] = parts(sum);
    high + low
}

/// Feature `index` of runs that are laid out.
pub(crate) fn laid_feature(runs: &[Pairs], index: usize) -> i8 {
    let pair = runs.as_flattened().get(index / 8).and_then(|eight| eight.get(index % 4));
    let [high, low] = parts(pair.copied().unwrap_or(0));
    (if index % 8 < 4 { high } else { low }) as i8
}

/// Eight features in a row, from those that are laid out together.
#[inline(always)]
pub(crate) fn laid_eight(eight: &[u32; 4]) -> [i16; 8] {
    let [a, b, c, d] = eight.map(|pair| parts(pair).map(|phi| i16::from(phi as i8)));
    [a[0], b[0], c[0], d[0], a[1], b[1], c[1], d[1]]
}

/// Zeros for the features from number `length` on.
#[inline(never)]
pub(crate) fn clear_behind(pairs: &mut [[u32; 4]], length: usize) {
    for (number, eight) in pairs.iter_mut().enumerate().skip(length / 8) {
        for (index, place) in eight.iter_mut().enumerate() {
            let index = 8 * number + index;
            let [high, low] = parts(*place);
            *place = pair(
                if index < length { high } else { 0 },
                if index + 4 < length { low } else { 0 },
            );
            rolled();
        }
    }
}

/// Σ φ of a run that is laid out.
#[inline(never)]
pub(crate) fn total(run: &Pairs) -> i32 {
    let four = |&[a, b, c, d]: &[u32; 4]| a.wrapping_add(b).wrapping_add(c).wrapping_add(d);
    let [p, q, r, s] = run;
    let sum = four(p).wrapping_add(four(q)).wrapping_add(four(r)).wrapping_add(four(s));
    of_both(sum)
}

/// The high half of a sum of products.
#[inline(always)]
fn high(sum: u32) -> i32 {
    parts(sum)[0]
}

/// Adds Σ u·φ of the pairs of eight features and as many codes, in the high half, where
/// `lanes` has codes 0 to 3 of them from bit 0 on, and codes 4 to 7 from bit 16 on. Written
/// out, and step by step: small cores have few registers.
#[inline(always)]
fn add<const BITS: u32>(mut sum: u32, lanes: u32, &[a, b, c, d]: &[u32; 4]) -> u32 {
    let mask = ((1u32 << BITS) - 1) * 0x1_0001;
    sum = (lanes & mask).wrapping_mul(a).wrapping_add(sum);
    sum = (lanes >> BITS & mask).wrapping_mul(b).wrapping_add(sum);
    sum = (lanes >> (2 * BITS) & mask).wrapping_mul(c).wrapping_add(sum);
    (lanes >> (3 * BITS) & mask).wrapping_mul(d).wrapping_add(sum)
}

/// Four bits: sums of at most 16·15·128 in the high half.
#[inline(never)]
fn fours<W: Word>(codes: &[W; 4], [p, q, r, s]: &Pairs) -> i32 {
    let [i, j, k, l] = codes;
    let first = high(add::<4>(add::<4>(0, i.word(), p), j.word(), q));
    first + high(add::<4>(add::<4>(0, k.word(), r), l.word(), s))
}

/// Three bits.
#[inline(never)]
fn threes<W: Word>(codes: &[W; 3], [p, q, r, s]: &Pairs) -> i32 {
    let lanes = |word: u32| word & 0xfff | word << 4 & 0xfff_0000;
    let [i, j, k] = codes;
    let (i, j) = (i.word(), j.word());
    let sum = add::<3>(add::<3>(0, lanes(i), p), lanes(i >> 24 | j << 8), q);
    let k = k.word();
    high(add::<3>(add::<3>(sum, lanes(j >> 16 | k << 16), r), lanes(k >> 8), s))
}

/// Two bits.
#[inline(never)]
fn twos<W: Word>(codes: &[W; 2], run: &Pairs) -> i32 {
    high(add_twos(0, codes, run))
}

/// Two bits, of two runs: sums of at most 64·3·128 in the high half.
#[inline(never)]
fn twos_of_two<W: Word>(codes: &[W; 4], [first, second]: &[Pairs; 2]) -> i32 {
    let ([codes, later], _) = codes.as_chunks::<2>() else { return 0 };
    high(add_twos(add_twos(0, codes, first), later, second))
}

#[inline(always)]
fn add_twos<W: Word>(sum: u32, [i, j]: &[W; 2], [p, q, r, s]: &Pairs) -> u32 {
    let lanes = |word: u32| word & 0xffff | word << 8;
    let (i, j) = (i.word(), j.word());
    let sum = add::<2>(add::<2>(sum, lanes(i), p), lanes(i >> 16), q);
    add::<2>(add::<2>(sum, lanes(j), r), lanes(j >> 16), s)
}

/// Four bytes of codes.
trait Word {
    fn word(&self) -> u32;
}

/// Where they lie.
impl Word for [u8; 4] {
    #[inline(always)]
    fn word(&self) -> u32 {
        u32::from_le_bytes(*self)
    }
}

/// At a whole word.
impl Word for u32 {
    #[inline(always)]
    fn word(&self) -> u32 {
        Self::from_le(*self)
    }
}

/// Whether words are read at whole words only.
const STRICT: bool = SMALLEST || cfg!(target_arch = "riscv32");

/// Calls with the codes of a run where they lie, as words if they lie at whole words and that
/// makes a difference; else with a copy, with zeros for what is missing.
#[inline(always)]
fn in_words<const N: usize>(
    codes: &[u8],
    apart: impl Fn(&[[u8; 4]; N]) -> i32,
    whole: impl Fn(&[u32; N]) -> i32,
) -> i32 {
    if let Some(codes) = codes.as_chunks::<4>().0.first_chunk::<N>() {
        if STRICT
            && let Ok(words) = try_cast_slice::<_, u32>(codes)
            && let Some(words) = words.first_chunk()
        {
            return whole(words);
        }
        // Where bytes of code are fewest there is nothing that reads codes elsewhere.
        if !SMALLEST {
            return apart(codes);
        }
    }
    with_copy(codes, apart, whole)
}

/// A function of its own for its memory.
#[inline(never)]
fn with_copy<const N: usize>(
    codes: &[u8],
    apart: impl Fn(&[[u8; 4]; N]) -> i32,
    whole: impl Fn(&[u32; N]) -> i32,
) -> i32 {
    // No routine that copies or clears memory.
    let mut copy = [core::hint::black_box(0); N];
    for (place, &four) in copy.iter_mut().zip(codes.as_chunks::<4>().0) {
        *place = u32::from_ne_bytes(four);
        core::hint::black_box(());
    }
    if STRICT { whole(&copy) } else { apart(&copy.map(u32::to_ne_bytes)) }
}

/// Codes of a byte, `step` bytes apart.
#[inline(never)]
fn bytes(codes: &[u8], run: &Pairs, step: usize) -> i32 {
    let (mut sum, mut at) = (0, 0);
    for eight in run {
        for &pair in eight {
            let [high, low] = parts(pair);
            sum += i32::from(byte_at(codes, at)) * high;
            sum += i32::from(byte_at(codes, at + 4 * step)) * low;
            at += step;
        }
        at += 4 * step;
    }
    sum
}

/// Σ u·φ over a run for codes of `bits` bits, of 16 the bytes that `codes` starts with. `codes`
/// goes on behind the last feature by eight bytes at least.
#[inline(always)]
pub(crate) fn weigh<P: Profile>(bits: u8, codes: &[u8], run: &Pairs) -> i32 {
    match bits {
        2 if serves::<P>(Needs::BITS_2) => in_words(codes, |c| twos(c, run), |c| twos(c, run)),
        3 if serves::<P>(Needs::BITS_3) => in_words(codes, |c| threes(c, run), |c| threes(c, run)),
        4 if serves::<P>(Needs::BITS_4) => in_words(codes, |c| fours(c, run), |c| fours(c, run)),
        8 if serves::<P>(Needs::BITS_8) => bytes(codes, run, 1),
        16 if serves::<P>(Needs::BITS_16) => bytes(codes, run, 2),
        _ => 0,
    }
}

/// The same over two runs for codes of two bits.
#[inline(always)]
pub(crate) fn weigh_two(codes: &[u8], runs: &[Pairs; 2]) -> i32 {
    in_words(codes, |c| twos_of_two(c, runs), |c| twos_of_two(c, runs))
}

/// The same for features that are not laid out, in the small form.
#[inline(always)]
pub(crate) fn weigh_small(bits: u8, codes: &[u8], features: &[i8]) -> i32 {
    any(bits, codes, features)
}

/// Codes of all widths in one loop.
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
        rolled();
    }
    sum
}

/// Code `index` of a packed row, behind whose last byte there must be three more.
#[inline]
#[must_use]
pub fn code_at(bits: u8, row: &[u8], index: usize) -> u32 {
    let at = index.saturating_mul(bits.into());
    let word = u32_at(row, at / 8) >> (at % 8);
    word & ((1 << (bits & 31)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Stream;
    use crate::needs::Any;
    use crate::sink::{RUN, features, features_mut};
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
            for length in (1..=MAX_RUN).step_by(if cfg!(miri) { 11 } else { 1 }) {
                for kind in 0..4 {
                    let byte = |i: u64| stream.draw(1000 * kind + i) as u8;
                    // Of the features and eight bytes behind them, at every alignment.
                    let needed = (length * usize::from(bits)).div_ceil(8) + 8;
                    let codes: Vec<u8> = (0..needed as u64 + 4)
                        .map(|i| if kind == 1 { 255 } else { byte(i) })
                        .collect();
                    let codes = &codes[length % 4..][..needed];
                    let mut run = [0; RUN];
                    for (i, phi) in features_mut(&mut run)[..length].iter_mut().enumerate() {
                        *phi = match kind {
                            0 => byte(500 + i as u64) as i8,
                            1 => i8::MIN,
                            2 => i8::MAX,
                            _ if byte(i as u64) < 128 => i8::MIN,
                            _ => i8::MAX,
                        };
                    }
                    let expected = naive(bits, codes, features(&run));
                    assert_eq!(any(bits, codes, features(&run)), expected, "{bits}");
                    let phis: Vec<i8> = features(&run).to_vec();
                    let run = run.as_chunks_mut().0.first_chunk_mut().unwrap();
                    assert_eq!(lay_out(run), total(run));
                    assert_eq!(total(run), phis.iter().map(|&phi| i32::from(phi)).sum());
                    let laid = (0..MAX_RUN).map(|i| laid_feature(&[*run], i));
                    assert_eq!(laid.collect::<Vec<_>>(), phis);
                    let eights = run.iter().flat_map(laid_eight);
                    assert!(eights.eq(phis.iter().map(|&phi| i16::from(phi))));
                    assert_eq!(weigh::<Any>(bits, codes, run), expected, "{bits}");
                }
            }
        }
    }

    #[test]
    fn two_runs_together_are_both() {
        let stream = Stream::new(6, 0);
        for kind in 0..3u64 {
            let byte = |i: u64| if kind == 1 { 255 } else { stream.draw(100 * kind + i) as u8 };
            let codes: Vec<u8> = (0..20).map(byte).collect();
            let mut runs = [[[0; 4]; MAX_RUN / 8]; 2];
            for (number, run) in runs.iter_mut().enumerate() {
                let phis = features_mut(run.as_flattened_mut()).iter_mut().enumerate();
                let phi = |i: usize| byte((50 + 40 * number + i) as u64) as i8;
                phis.for_each(|(i, place)| *place = if kind == 1 { i8::MIN } else { phi(i) });
                lay_out(run);
            }
            for start in 0..4 {
                let codes = &codes[start..][..16];
                let each =
                    weigh::<Any>(2, codes, &runs[0]) + weigh::<Any>(2, &codes[8..], &runs[1]);
                assert_eq!(weigh_two(codes, &runs), each);
            }
        }
    }
}
