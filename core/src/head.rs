//! The head: packed weights times features, summed exactly.
//!
//! Bank by bank and output by output, weights lie in rows of whole bytes. A
//! code u stands for the weight 2·(u − 2^(bits−1)) + odd, so
//! Σ weight·φ = 2·Σ u·φ − (2^bits − odd)·Σ φ: unpacking needs no sign, and
//! Σ φ is shared by all outputs.

use core::cell::Cell;

use crate::bank::{Bank, Width};
use crate::families::FEATURE_ONE;
use crate::format::{slice_at, u16_at};
use crate::model::Model;
#[cfg(target_feature = "simd128")]
use crate::simd::Weigher;
use crate::sink::Sink;

#[cfg(not(target_feature = "simd128"))]
#[cfg_attr(any(feature = "small", target_family = "wasm"), path = "head/weigher_small.rs")]
mod weigher;
#[cfg(not(target_feature = "simd128"))]
use weigher::Weigher;

/// Adds a bank's features, weighted, to the accumulators of all outputs.
pub(crate) struct Head<'m, 's> {
    model: &'m Model<'m>,
    /// Where the bank's multipliers are, u16 each; 0 where all are 1.
    multipliers_at: usize,
    /// Where the bank's weights are, from its first output on.
    weights_at: usize,
    row_bytes: usize,
    width: Width,
    sums: &'s mut [[i32; 2]],
    /// Σ φ of the bank so far: of 65,535 features at most.
    total: i32,
}

impl<'m, 's> Head<'m, 's> {
    /// The head of the model, before its first bank.
    pub(crate) fn new(model: &'m Model<'m>, sums: &'s mut [[i32; 2]]) -> Self {
        // A zero that the compiler does not know: no routine that clears memory.
        let zero = core::hint::black_box(0);
        for sum in &mut *sums {
            *sum = [zero; 2];
        }
        let one = model.multiplier_count() == 0;
        Self {
            model,
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

    /// The multiplier of an output.
    #[inline]
    fn multiplier(&self, index: usize) -> u16 {
        if self.multipliers_at == 0 {
            return 1;
        }
        u16_at(self.model.blob, self.multipliers_at + 2 * index)
    }

    #[inline]
    fn accumulate(&mut self, index: usize, weighted: i64) {
        if let Some(sum) = self.sums.get_mut(index) {
            *sum = halves(number(sum).wrapping_add(weighted));
        }
    }

    /// The scores, after the last bank.
    pub(crate) fn scores(self) -> &'s [i32] {
        finish(self.model, self.sums)
    }

    /// Ends the bank: takes off what its codes are too high by, (2^bits − odd)·Σ φ.
    #[inline(never)]
    pub(crate) fn finish(&mut self) {
        let width = self.width.built();
        let excess = (1 << width.bits) - i32::from(width.odd);
        let excess = i64::from(self.total).wrapping_mul(i64::from(-excess));
        for index in 0..self.sums.len() {
            let multiplier = self.multiplier(index);
            self.accumulate(index, excess.wrapping_mul(i64::from(multiplier)));
        }
        if self.multipliers_at > 0 {
            self.multipliers_at += 2 * self.sums.len();
        }
        self.weights_at += self.row_bytes * self.sums.len();
    }
}

impl Sink for Head<'_, '_> {
    fn run(&mut self, first: usize, run: &[i16], total: i32) {
        self.total += total;
        let bits = self.width.built().bits;
        let weigher = Weigher::new(bits);
        let mut row = self.weights_at + first * usize::from(bits) / 8;
        for index in 0..self.sums.len() {
            let codes = slice_at(self.model.blob, row, self.row_bytes);
            row += self.row_bytes;
            let multiplier = self.multiplier(index);
            let mut weighted = 2 * product(weigher.weigh(codes, run), multiplier);
            if bits == 16 {
                // A byte of the codes at a time, so that every sum fits an i32.
                let codes = codes.get(1..).unwrap_or(&[]);
                weighted += product(weigher.weigh(codes, run), multiplier) << 9;
            }
            // Modulo 2^64 on the way; what comes out at the end fits.
            self.accumulate(index, weighted);
        }
    }

    /// Adds the feature of `column`, which is fully on.
    fn one_hot(&mut self, column: usize, _: usize) {
        // Called by bins alone, but the trait's table has it in any case.
        if !cfg!(feature = "bin") {
            return;
        }
        let mut row = self.weights_at;
        for index in 0..self.sums.len() {
            let codes = slice_at(self.model.blob, row, self.row_bytes);
            row += self.row_bytes;
            let width = self.width.built();
            let weight = width.value(code_at(width, codes, column));
            let weighted = product(weight * i32::from(FEATURE_ONE), self.multiplier(index));
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

/// Turns accumulators into scores, which take their place: divided by 2^shift, plus
/// the bias, saturated to i32.
#[inline(never)]
fn finish<'s>(model: &Model<'_>, sums: &'s mut [[i32; 2]]) -> &'s [i32] {
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
