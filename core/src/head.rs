//! The head: packed weights times features, summed exactly.
//!
//! Bank by bank and output by output, weights lie in rows of whole bytes. A
//! code u stands for the weight 2·(u − 2^(bits−1)) + odd, so
//! Σ weight·φ = 2·Σ u·φ − (2^bits − odd)·Σ φ: unpacking needs no sign, and
//! Σ φ is shared by all outputs.

use crate::bank::{Bank, Width};
use crate::families::{FEATURE_ONE, Sink};
use crate::format::{byte_at, u16_at};
use crate::model::Model;

/// Features per partial sum: 256·255·32767 < 2^31.
const RUN: usize = 256;

/// Adds a bank's features, weighted, to the accumulators of all outputs.
pub(crate) struct Head<'m, 's> {
    model: &'m Model<'m>,
    bank: Bank<'m>,
    /// The bank's weights, from its first output on.
    weights: &'m [u8],
    row_bytes: usize,
    sums: &'s mut [i64],
}

impl<'m, 's> Head<'m, 's> {
    pub(crate) fn new(
        model: &'m Model<'m>,
        bank: Bank<'m>,
        weights: &'m [u8],
        sums: &'s mut [i64],
    ) -> Self {
        Self { model, bank, weights, row_bytes: bank.row_bytes(), sums }
    }

    /// The outputs' rows of weights.
    #[inline]
    fn rows(&self) -> impl Iterator<Item = &'m [u8]> + use<'m> {
        // A bank has features. Said here so that no panic is linked.
        self.weights.chunks_exact(self.row_bytes.max(1))
    }

    #[inline]
    fn add(&mut self, first: usize, run: &[i16]) {
        let width = self.bank.width;
        let total: i32 = run.iter().map(|&phi| i32::from(phi)).sum();
        let correction = i64::from(total) * ((1i64 << width.bits) - i64::from(width.odd));
        let start = first * usize::from(width.bits) / 8;
        let rows = self.rows();
        for (output, (sum, row)) in self.sums.iter_mut().zip(rows).enumerate() {
            let Some(codes) = row.get(start..) else { return };
            let weighted = 2 * dot(width.bits, codes, run) - correction;
            *sum += weighted * i64::from(self.model.multiplier(self.bank.index, output));
        }
    }
}

impl Sink for Head<'_, '_> {
    fn run(&mut self, first: usize, run: &[i16]) {
        for (number, part) in run.chunks(RUN).enumerate() {
            self.add(first + number * RUN, part);
        }
    }

    fn one_hot(&mut self, column: usize, _slots: usize) {
        let rows = self.rows();
        for (output, (sum, row)) in self.sums.iter_mut().zip(rows).enumerate() {
            let weight = self.bank.width.value(code_at(self.bank.width, row, column));
            *sum += i64::from(weight)
                * i64::from(FEATURE_ONE)
                * i64::from(self.model.multiplier(self.bank.index, output));
        }
    }
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

/// Σ u·φ over a run; `codes` starts at the run's first code.
#[inline]
fn dot(bits: u8, codes: &[u8], run: &[i16]) -> i64 {
    match bits {
        2 => i64::from(packed::<4>(codes, run, |byte, i| i32::from(byte >> (2 * i)) & 3)),
        4 => i64::from(packed::<2>(codes, run, |byte, i| i32::from(byte >> (4 * i)) & 15)),
        8 => i64::from(packed::<1>(codes, run, |byte, _| i32::from(byte))),
        3 => i64::from(dot3(codes, run)),
        _ => {
            let pairs = codes.chunks_exact(2).zip(run);
            pairs.map(|(code, &phi)| i64::from(u16_at(code, 0)) * i64::from(phi)).sum()
        }
    }
}

/// Codes that divide a byte: `EACH` of them in each.
#[inline]
fn packed<const EACH: usize>(codes: &[u8], run: &[i16], unpack: impl Fn(u8, usize) -> i32) -> i32 {
    let mut sum = 0i32;
    let (whole, rest) = run.as_chunks::<EACH>();
    let mut bytes = codes.iter();
    for (group, &byte) in whole.iter().zip(&mut bytes) {
        for (i, &phi) in group.iter().enumerate() {
            sum += unpack(byte, i) * i32::from(phi);
        }
    }
    if let Some(&byte) = bytes.next() {
        for (i, &phi) in rest.iter().enumerate() {
            sum += unpack(byte, i) * i32::from(phi);
        }
    }
    sum
}

/// Three-bit codes: eight of them in three bytes.
#[inline]
fn dot3(codes: &[u8], run: &[i16]) -> i32 {
    let mut sum = 0i32;
    for (group, bytes) in run.chunks(8).zip(codes.chunks(3)) {
        let mut word = u32::from(byte_at(bytes, 0))
            | u32::from(byte_at(bytes, 1)) << 8
            | u32::from(byte_at(bytes, 2)) << 16;
        for &phi in group {
            sum += (word & 7) as i32 * i32::from(phi);
            word >>= 3;
        }
    }
    sum
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
