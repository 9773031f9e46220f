//! The head: packed weights times features, summed exactly.
//!
//! Bank by bank and output by output, weights lie in rows of whole bytes. A
//! code u stands for the weight 2·(u − 2^(bits−1)) + odd, so
//! Σ weight·φ = 2·Σ u·φ − (2^bits − odd)·Σ φ: unpacking needs no sign, and
//! Σ φ is shared by all outputs.

use core::cell::Cell;

use crate::bank::{Bank, Width};
use crate::families::FEATURE_ONE;
#[cfg(not(target_feature = "simd128"))]
use crate::format::{byte_at, u32_at};
use crate::format::{slice_at, u16_at};
use crate::model::Model;
#[cfg(target_feature = "simd128")]
use crate::simd::Weigher;
use crate::sink::Sink;

/// Features per partial sum: 256·255·32767 < 2^31.
const RUN: usize = 256;

/// Adds a bank's features, weighted, to the accumulators of all outputs.
pub(crate) struct Head<'m, 's> {
    blob: &'m [u8],
    /// Where the bank's multipliers are, u16 each; 0 where all are 1.
    multipliers_at: usize,
    /// Where the bank's weights are, from its first output on.
    weights_at: usize,
    row_bytes: usize,
    width: Width,
    sums: &'s mut [[i32; 2]],
    /// Σ φ of the bank so far.
    total: i64,
}

impl<'m, 's> Head<'m, 's> {
    /// The head of the model, before its first bank.
    pub(crate) fn new(model: &Model<'m>, sums: &'s mut [[i32; 2]]) -> Self {
        // A zero that the compiler does not know: no routine that clears memory.
        let zero = core::hint::black_box(0);
        for sum in &mut *sums {
            *sum = [zero; 2];
        }
        let one = model.multiplier_count() == 0;
        Self {
            blob: model.blob,
            multipliers_at: if one { 0 } else { model.multipliers_at() },
            weights_at: model.weights_at(),
            row_bytes: 0,
            width: Width { bits: 2, odd: false },
            sums,
            total: 0,
        }
    }

    /// Starts with the next bank.
    pub(crate) fn start(&mut self, bank: &Bank<'_>) {
        self.row_bytes = bank.row_bytes();
        self.width = bank.width;
        self.total = 0;
    }

    /// The multiplier that lies at `at`, 0 for none, and where the next one does.
    #[inline]
    fn multiplier(&self, at: &mut usize) -> u16 {
        if *at == 0 {
            return 1;
        }
        *at += 2;
        u16_at(self.blob, *at - 2)
    }

    /// Adds the features of at most [`RUN`] of the bank's codes, which start at byte
    /// `start` of every row; 256 times more for a `high` byte.
    #[inline(never)]
    fn add(&mut self, start: usize, run: &[i16], high: bool) {
        let weigher = Weigher::new(self.width.built().bits);
        let mut at = self.multipliers_at;
        let mut row = self.weights_at + start;
        for index in 0..self.sums.len() {
            let codes = slice_at(self.blob, row, self.row_bytes);
            row += self.row_bytes;
            let weighted = weigher.weigh(codes, run);
            let mut weighted = 2 * product(weighted, self.multiplier(&mut at));
            if high {
                weighted <<= 8;
            }
            // Modulo 2^64 on the way; what comes out at the end fits.
            self.accumulate(index, weighted);
        }
    }

    #[inline]
    fn accumulate(&mut self, index: usize, weighted: i64) {
        if let Some(sum) = self.sums.get_mut(index) {
            *sum = halves(number(sum).wrapping_add(weighted));
        }
    }

    /// Ends the bank: takes off what its codes are too high by, (2^bits − odd)·Σ φ.
    #[inline(never)]
    pub(crate) fn finish(&mut self) {
        let width = self.width.built();
        let excess = (1 << width.bits) - i32::from(width.odd);
        let excess = self.total.wrapping_mul(i64::from(-excess));
        let mut at = self.multipliers_at;
        for index in 0..self.sums.len() {
            let multiplier = self.multiplier(&mut at);
            self.accumulate(index, excess.wrapping_mul(i64::from(multiplier)));
        }
        self.multipliers_at = at;
        self.weights_at += self.row_bytes * self.sums.len();
    }
}

impl Sink for Head<'_, '_> {
    fn run(&mut self, first: usize, mut run: &[i16], total: i32) {
        self.total += i64::from(total);
        let bits = usize::from(self.width.built().bits);
        let mut start = first * bits / 8;
        while !run.is_empty() {
            let (part, rest) = run.split_at_checked(RUN).unwrap_or((run, &[]));
            self.add(start, part, false);
            if bits == 16 {
                // A byte of the codes at a time, so that every sum fits an i32.
                self.add(start + 1, part, true);
            }
            start += RUN / 8 * bits;
            run = rest;
        }
    }

    /// Adds the feature of `column`, which is fully on.
    fn one_hot(&mut self, column: usize, _: usize) {
        // Called by bins alone, but the trait's table has it in any case.
        if !cfg!(feature = "bin") {
            return;
        }
        let mut at = self.multipliers_at;
        let mut row = self.weights_at;
        for index in 0..self.sums.len() {
            let codes = slice_at(self.blob, row, self.row_bytes);
            row += self.row_bytes;
            let width = self.width.built();
            let weight = width.value(code_at(width, codes, column));
            let weighted = product(weight * i32::from(FEATURE_ONE), self.multiplier(&mut at));
            self.accumulate(index, weighted);
        }
    }
}

/// The accumulator as a number.
#[inline]
fn number(&[low, high]: &[i32; 2]) -> i64 {
    i64::from(high) << 32 | i64::from(low as u32)
}

#[inline]
fn halves(number: i64) -> [i32; 2] {
    [number as i32, (number >> 32) as i32]
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

/// Σ u·φ over a run of at most [`RUN`], for codes of `bits` bits (of 16, the bytes
/// that `codes` starts with).
#[cfg(not(target_feature = "simd128"))]
struct Weigher(u8);

#[cfg(not(target_feature = "simd128"))]
impl Weigher {
    #[inline]
    fn new(bits: u8) -> Self {
        Self(bits)
    }

    #[inline]
    fn weigh(&self, codes: &[u8], run: &[i16]) -> i32 {
        match self.0 {
            4 => nibbles(codes, run),
            8 | 16 => bytes(codes, run, usize::from(self.0 / 8)),
            bits => packed(bits, codes, run),
        }
    }
}

/// Σ u·φ for codes of 4 bits, the usual width: sixteen at a time, without a branch,
/// every shift a constant.
#[cfg(not(target_feature = "simd128"))]
#[inline(never)]
fn nibbles(codes: &[u8], run: &[i16]) -> i32 {
    let (groups, features) = run.as_chunks::<16>();
    let mut sum = 0;
    for (codes, features) in codes.as_chunks::<8>().0.iter().zip(groups) {
        sum += sixteen(codes, features);
    }
    if !features.is_empty() {
        sum += packed(4, codes.get(groups.len() * 8..).unwrap_or(&[]), features);
    }
    sum
}

#[cfg(not(target_feature = "simd128"))]
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

/// The same for any codes of less than a byte, eight of `bits` bits in as many bytes.
#[cfg(not(target_feature = "simd128"))]
#[inline(never)]
fn packed(bits: u8, codes: &[u8], run: &[i16]) -> i32 {
    let (mut sum, mut codes) = (0, codes);
    let mask = (1 << bits) - 1;
    for features in run.chunks(8) {
        let mut word = u32_at(codes, 0);
        for &phi in features {
            sum += (word & mask) as i32 * i32::from(phi);
            word >>= bits;
        }
        codes = codes.get(usize::from(bits)..).unwrap_or(&[]);
    }
    sum
}

/// The same for codes of a byte, `step` bytes apart.
#[cfg(not(target_feature = "simd128"))]
#[inline(never)]
fn bytes(codes: &[u8], run: &[i16], step: usize) -> i32 {
    let mut sum = 0;
    let mut at = 0;
    for &phi in run {
        sum += i32::from(byte_at(codes, at)) * i32::from(phi);
        at += step;
    }
    sum
}

/// Turns accumulators into scores, which take their place: divided by 2^shift, plus
/// the bias, saturated to i32.
#[inline(never)]
pub(crate) fn finish<'s>(model: &Model<'_>, sums: &'s mut [[i32; 2]]) -> &'s [i32] {
    let outputs = sums.len();
    let shift = model.score_shift();
    let words = sums.as_flattened_mut();
    let cells = Cell::from_mut(&mut *words).as_slice_of_cells();
    // Score n is written where accumulator n/2 was, which has been read by then.
    let pairs = cells.as_chunks::<2>().0.iter().zip(cells);
    for (output, ([low, high], score)) in pairs.enumerate() {
        let mut rounded = number(&[low.get(), high.get()]);
        if shift > 0 {
            // Rounded by the last place that is dropped.
            rounded = ((rounded >> ((shift - 1) & 63)) + 1) >> 1;
        }
        let mut bounded = rounded as i32;
        if i64::from(bounded) != rounded {
            bounded = (rounded >> 63) as i32 ^ i32::MAX;
        }
        score.set(bounded.saturating_add(model.bias(output)));
    }
    words.get(..outputs).unwrap_or(&[])
}
