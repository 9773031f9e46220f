//! The head: packed weights times features, summed exactly.
//!
//! Bank by bank and output by output, weights lie in rows of whole bytes. A
//! code u stands for the weight 2·(u − 2^(bits−1)) + odd, so
//! Σ weight·φ = 2·Σ u·φ − (2^bits − odd)·Σ φ: unpacking needs no sign, and
//! Σ φ is shared by all outputs.

use crate::bank::{Bank, Width};
use crate::families::FEATURE_ONE;
use crate::format::{u16_at, u32_at};
use crate::model::Model;

/// Features per partial sum: 256·255·32767 < 2^31.
const RUN: usize = 256;

/// Adds a bank's features, weighted, to the accumulators of all outputs.
pub(crate) struct Head<'m, 's> {
    width: Width,
    /// The bank's weights, from its first output on.
    weights: &'m [u8],
    row_bytes: usize,
    /// The bank's multipliers, u16 each; absent where all are 1.
    multipliers: &'m [u8],
    sums: &'s mut [i64],
    /// Σ φ of the bank so far.
    total: i64,
}

impl<'m, 's> Head<'m, 's> {
    pub(crate) fn new(
        model: &Model<'m>,
        bank: &Bank<'m>,
        weights: &'m [u8],
        sums: &'s mut [i64],
    ) -> Self {
        let multipliers = model.multipliers(bank.index);
        Self {
            width: bank.width,
            weights,
            row_bytes: bank.row_bytes(),
            multipliers,
            sums,
            total: 0,
        }
    }

    /// Adds `weigh` of every output's weights from byte `start` on, times twice the
    /// multiplier, and 256 times more for a `high` byte, to the output's accumulator.
    fn each(&mut self, start: usize, run: &[i16], weigh: Weigh, high: bool) {
        let mut rest = self.weights;
        for (sum, multiplier) in self.sums.iter_mut().zip(multipliers(self.multipliers)) {
            let Some((row, others)) = rest.split_at_checked(self.row_bytes) else { return };
            rest = others;
            let weighed = weigh(row.get(start..).unwrap_or(&[]), run);
            let mut weighed = 2 * product(weighed, multiplier);
            if high {
                weighed <<= 8;
            }
            // Modulo 2^64 on the way; what comes out at the end fits.
            *sum = sum.wrapping_add(weighed);
        }
    }

    fn add(&mut self, first: usize, run: &[i16]) {
        let bits = self.width.bits;
        let start = first * usize::from(bits) / 8;
        match bits {
            2 => self.each(start, run, packed::<2>, false),
            3 => self.each(start, run, packed::<3>, false),
            4 => self.each(start, run, nibbles, false),
            8 => self.each(start, run, bytes::<1>, false),
            _ => {
                // A byte of the codes at a time, so that every sum fits an i32.
                self.each(start, run, bytes::<2>, false);
                self.each(start + 1, run, bytes::<2>, true);
            }
        }
    }

    /// Takes off what the codes are too high by: (2^bits − odd)·Σ φ.
    pub(crate) fn finish(&mut self) {
        let excess = (1 << self.width.bits) - i64::from(self.width.odd);
        for (sum, multiplier) in self.sums.iter_mut().zip(multipliers(self.multipliers)) {
            let factor = excess * i64::from(multiplier);
            *sum = sum.wrapping_sub(self.total.wrapping_mul(factor));
        }
    }

    /// Adds features and their sum: see [`Sink::run`](crate::sink::Sink::run).
    pub(crate) fn run(&mut self, first: usize, run: &[i16], total: i32) {
        self.total += i64::from(total);
        for (number, part) in run.chunks(RUN).enumerate() {
            self.add(first + number * RUN, part);
        }
    }

    /// Adds the feature of `column`, which is fully on.
    pub(crate) fn one_hot(&mut self, column: usize) {
        // A bank has features. Said here so that no panic is linked.
        let rows = self.weights.chunks_exact(self.row_bytes.max(1));
        let outputs = self.sums.iter_mut().zip(multipliers(self.multipliers));
        for ((sum, multiplier), row) in outputs.zip(rows) {
            let weight = self.width.value(code_at(self.width, row, column));
            *sum = sum.wrapping_add(product(weight * i32::from(FEATURE_ONE), multiplier));
        }
    }
}

/// Σ u·φ of codes and a run.
type Weigh = fn(&[u8], &[i16]) -> i32;

/// The multipliers of a bank; ones where there are none.
fn multipliers(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let mut pairs = bytes.as_chunks::<2>().0.iter();
    core::iter::repeat_with(move || pairs.next().map_or(1, |&pair| u16::from_le_bytes(pair)))
}

/// A 48-bit product from two of 32 bits, all that a small core multiplies to.
#[inline]
fn product(weighted: i32, multiplier: u16) -> i64 {
    let high = (weighted >> 16) * i32::from(multiplier);
    let low = (weighted as u32 & 0xffff) * u32::from(multiplier);
    (i64::from(high) << 16) + i64::from(low)
}

/// Code `index` of a packed row.
#[inline]
pub(crate) const fn code_at(width: Width, row: &[u8], index: usize) -> u32 {
    let bits = width.bits as usize;
    if bits == 16 {
        return u16_at(row, 2 * index) as u32;
    }
    let at = index * bits;
    let pair = u16_at(row, at / 8) as u32;
    (pair >> (at % 8)) & ((1 << bits) - 1)
}

/// Σ u·φ over a run for codes of 4 bits, the usual width: sixteen at a time,
/// without a branch, every shift a constant.
fn nibbles(codes: &[u8], run: &[i16]) -> i32 {
    let (groups, features) = run.as_chunks::<16>();
    #[cfg(target_feature = "simd128")]
    let mut sum = crate::simd::dot4(codes, groups);
    #[cfg(not(target_feature = "simd128"))]
    let mut sum = 0;
    #[cfg(not(target_feature = "simd128"))]
    for (codes, features) in codes.as_chunks::<8>().0.iter().zip(groups) {
        sum += sixteen(codes, features);
    }
    if !features.is_empty() {
        let (mut last_codes, mut last_features) = ([0; 8], [0; 16]);
        let rest = codes.get(groups.len() * 8..).unwrap_or(&[]);
        last_codes.iter_mut().zip(rest).for_each(|(place, &byte)| *place = byte);
        last_features.iter_mut().zip(features).for_each(|(place, &phi)| *place = phi);
        sum += sixteen(&last_codes, &last_features);
    }
    sum
}

#[inline(always)]
fn sixteen(codes: &[u8; 8], features: &[i16; 16]) -> i32 {
    let &[a, b, c, d, e, f, g, h] = codes;
    let pair = |i: usize, byte: u8| {
        i32::from(byte & 15) * i32::from(features[i])
            + i32::from(byte >> 4) * i32::from(features[i + 1])
    };
    let half = pair(0, a) + pair(2, b) + pair(4, c) + pair(6, d);
    half + pair(8, e) + pair(10, f) + pair(12, g) + pair(14, h)
}

/// The same for other codes of less than a byte: eight of `BITS` bits in as many
/// bytes.
fn packed<const BITS: usize>(codes: &[u8], run: &[i16]) -> i32 {
    #[cfg(not(target_feature = "simd128"))]
    let mut sum = 0;
    #[cfg(target_feature = "simd128")]
    let (mut sum, codes, run) = if BITS == 2 {
        let (sixteens, rest) = run.as_chunks::<16>();
        let left = codes.get(4 * sixteens.len()..).unwrap_or(&[]);
        (crate::simd::dot2(codes, sixteens), left, rest)
    } else {
        (0, codes, run)
    };
    for (codes, features) in codes.chunks(BITS).zip(run.chunks(8)) {
        let mut word = u32_at(codes, 0);
        for &phi in features {
            sum += (word & ((1 << BITS) - 1)) as i32 * i32::from(phi);
            word >>= BITS;
        }
    }
    sum
}

/// The same for codes of a byte, `STEP` bytes apart.
fn bytes<const STEP: usize>(codes: &[u8], run: &[i16]) -> i32 {
    #[cfg(not(target_feature = "simd128"))]
    let sum = 0;
    #[cfg(target_feature = "simd128")]
    let (sum, codes, run) = if STEP == 1 {
        let (sixteens, rest) = run.as_chunks::<16>();
        let left = codes.get(16 * sixteens.len()..).unwrap_or(&[]);
        (crate::simd::dot8(codes, sixteens), left, rest)
    } else {
        (0, codes, run)
    };
    let codes = codes.iter().step_by(STEP).map(|&code| i32::from(code));
    sum + codes.zip(run).map(|(code, &phi)| code * i32::from(phi)).sum::<i32>()
}

/// Turns accumulators into scores: divided by 2^shift with rounding, plus the
/// bias, saturated to i32.
pub(crate) fn finish(model: &Model<'_>, sums: &[i64], scores: &mut [i32]) {
    let shift = model.score_shift();
    let half = (1i64 << shift) >> 1;
    for (output, (score, &sum)) in scores.iter_mut().zip(sums).enumerate() {
        let rounded = (sum + half) >> (shift & 63);
        let bounded = rounded.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        *score = bounded.saturating_add(model.bias(output));
    }
}
