//! The head: packed weights times features, summed exactly.
//!
//! Bank by bank and output by output, weights lie in rows of whole bytes. A
//! code u stands for the weight 2·(u − 2^(bits−1)) + odd, so
//! Σ weight·φ = 2·Σ u·φ − (2^bits − odd)·Σ φ: unpacking needs no sign, and
//! Σ φ is shared by all outputs.

use core::cell::Cell;
use core::marker::PhantomData;

use crate::bytes::u16_at;
use crate::format::bank::Bank;
use crate::format::family::{Family, Width};
use crate::format::model::Model;
use crate::needs::{Needs, Only, Profile, serves};
use crate::sink::{FEATURE_ONE, MAX_RUN, RUN, SMALL_RUN, Sink, features, features_mut, run_memory};
use crate::weigh::{Pairs, code_at, lay_out, total, weigh, weigh_small, weigh_two};

/// Adds a bank's features, weighted, to the accumulators of all outputs.
pub(crate) struct Head<'m, 's, P> {
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
    /// Whether the sums are those of codes times features, not yet times the multiplier:
    /// of the first bank, where features and codes are bytes at most.
    plain: bool,
    profile: PhantomData<P>,
}

/// Sums of offsets wrap: in 32 bits those of a model that was not checked may.
impl<'m, 's, P: Profile> Head<'m, 's, P> {
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
            plain: false,
            profile: PhantomData,
        }
    }

    /// Starts with the next bank.
    pub(crate) fn start(&mut self, bank: &Bank<'_>) {
        self.row_bytes = bank.row_bytes();
        self.width = bank.width;
        self.total = 0;
        self.plain = is_plain(bank);
    }

    /// Whether the bank's sums are plain, a constant for the compiler where there is one bank.
    #[inline]
    fn plain(&self) -> bool {
        match const { P::ONLY } {
            Some(Only { banks: [bank], .. }) => is_plain(bank),
            _ => self.plain,
        }
    }

    /// The bits of a weight, a constant for the compiler where all have the same.
    #[inline]
    fn bits(&self) -> u8 {
        match const { P::NEEDS.only_bits() } {
            Some(bits) => bits,
            None => self.width.bits,
        }
    }

    /// The multiplier of an output.
    #[inline]
    fn multiplier(&self, index: usize) -> u16 {
        if self.multipliers_at == 0 {
            return 1;
        }
        u16_at(self.model.blob, self.multipliers_at.wrapping_add(2 * index))
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
        let excess = (1 << (self.bits() & 31)) - i32::from(self.width.odd);
        let excess = i64::from(self.total).wrapping_mul(i64::from(-excess));
        for index in 0..self.sums.len() {
            let multiplier = self.multiplier(index);
            let mut added = excess.wrapping_mul(i64::from(multiplier));
            if self.plain()
                && let Some(sum) = self.sums.get_mut(index)
            {
                added = added.wrapping_add(product(sum[0], multiplier) << 1);
                *sum = [0; 2];
            }
            self.accumulate(index, added);
        }
        if self.multipliers_at > 0 {
            self.multipliers_at = self.multipliers_at.wrapping_add(2 * self.sums.len());
        }
        let bytes = self.row_bytes.wrapping_mul(self.sums.len());
        self.weights_at = self.weights_at.wrapping_add(bytes);
    }

    /// Adds features times weights times 2^shift.
    #[inline(never)]
    #[cfg_attr(not(target_feature = "simd128"), allow(unused_variables))]
    fn add(&mut self, first: usize, run: &mut [u32], length: usize, shift: u32) {
        #[cfg(target_feature = "simd128")]
        if P::SMALL {
            let (bits, length) = (self.bits(), length.next_multiple_of(16));
            let run = features(run).get(..length).unwrap_or_default();
            let mut laid_out = [0; crate::simd::LAID_OUT];
            let total = crate::simd::lay_out(bits, run, &mut laid_out);
            let weigh = |codes: &[u8]| crate::simd::weigh(bits, codes, &laid_out, length);
            self.add_all(first, total, shift, weigh);
            return;
        }
        if P::SMALL {
            let run = features(run).get(..length).unwrap_or_default();
            let bits = self.bits();
            let total = run.iter().map(|&phi| i32::from(phi)).sum();
            self.add_all(first, total, shift, |codes| weigh_small(bits, codes, run));
        } else if let Some(run) = run.as_chunks_mut().0.first_chunk_mut() {
            let total = lay_out(run);
            self.add_laid_out(first, run, total, shift);
        }
    }

    /// The same for features that are laid out. `total`: Σ φ.
    #[inline(never)]
    fn add_laid_out(&mut self, first: usize, run: &Pairs, total: i32, shift: u32) {
        let bits = self.bits();
        self.add_all(first, total, shift, |codes| weigh::<P>(bits, codes, run));
    }

    /// The same for two runs and codes of two bits.
    #[inline(never)]
    fn add_two(&mut self, first: usize, runs: &[Pairs; 2]) {
        let [one, two] = runs;
        self.add_all(first, total(one) + total(two), 0, |codes| weigh_two(codes, runs));
    }

    /// The same for all outputs. `total`: Σ φ.
    #[inline(always)]
    fn add_all(&mut self, first: usize, total: i32, shift: u32, weigh: impl Fn(&[u8]) -> i32) {
        self.total = self.total.wrapping_add(total << shift);
        let bits = self.bits();
        // Features in front of a run are whole bytes of codes. Behind the weights there always
        // are digest and checksum, eight bytes.
        let at = self.weights_at.wrapping_add(first / 8 * usize::from(bits));
        let mut codes = self.model.blob.get(at..).unwrap_or_default();
        let row_bytes = self.row_bytes;
        let plain = self.plain();
        for index in 0..self.sums.len() {
            let weighted = weigh(codes);
            if plain {
                if let Some(sum) = self.sums.get_mut(index) {
                    sum[0] = sum[0].wrapping_add(weighted);
                }
            } else {
                let multiplier = self.multiplier(index);
                let mut weighted = product(weighted, multiplier);
                if bits == 16 && serves::<P>(Needs::BITS_16) {
                    // A byte of the codes at a time.
                    let codes = codes.get(1..).unwrap_or_default();
                    weighted += product(weigh(codes), multiplier) << 8;
                }
                // Modulo 2^64 on the way; what comes out at the end fits.
                self.accumulate(index, weighted << (shift + 1));
            }
            let Some(rest) = codes.get(row_bytes..) else { return };
            codes = rest;
        }
    }

    fn wide_run_in<const WORDS: usize>(&mut self, first: usize, run: &[i16]) {
        for part in [8, 1] {
            let mut bytes = run_memory::<WORDS>();
            for (byte, &phi) in features_mut(&mut bytes).iter_mut().zip(run) {
                *byte = if part == 8 { (phi >> 8) as i8 } else { (phi as u8 >> 1) as i8 };
            }
            self.add(first, &mut bytes, run.len(), part);
        }
    }
}

impl<P: Profile> Sink for Head<'_, '_, P> {
    fn run(&mut self, first: usize, run: &mut [u32], length: usize) {
        // The trait's table has it in any case.
        if may_come::<P>(false) {
            self.add(first, run, length, 0);
        }
    }

    fn laid_out(&mut self, first: usize, runs: &[Pairs], _: usize) {
        if may_come::<P>(true) {
            let (mut first, mut rest) = (first, runs);
            // Of two runs the small codes are weighed together.
            while serves::<P>(Needs::BITS_2)
                && self.bits() == 2
                && let Some((two, others)) = rest.split_first_chunk()
            {
                self.add_two(first, two);
                (first, rest) = (first + 2 * MAX_RUN, others);
            }
            for run in rest {
                self.add_laid_out(first, run, total(run), 0);
                first += MAX_RUN;
            }
        }
    }

    /// In bytes: the high ones, and the low ones, halved, as their lowest bits are 0.
    fn wide_run(&mut self, first: usize, run: &[i16]) {
        // Called for the family linear alone, but the trait's table has it in any case.
        if !serves::<P>(Needs::LINEAR) {
            return;
        }
        if P::SMALL {
            self.wide_run_in::<SMALL_RUN>(first, run);
        } else {
            self.wide_run_in::<RUN>(first, run);
        }
    }

    /// Adds the feature of `column`, which is fully on.
    fn one_hot(&mut self, column: usize, _: usize) {
        // Called by bins and ferns alone, but the trait's table has it in any case.
        if !serves::<P>(Needs::BIN) && !serves::<P>(Needs::FERN) {
            return;
        }
        let width = Width { bits: self.bits(), ..self.width };
        let mut row = self.weights_at;
        for index in 0..self.sums.len() {
            let codes = self.model.blob.get(row..).unwrap_or_default();
            row = row.wrapping_add(self.row_bytes);
            let weight = width.value(code_at(width.bits, codes, column));
            let weighted = product(weight * i32::from(FEATURE_ONE), self.multiplier(index));
            self.accumulate(index, weighted);
        }
    }
}

/// Whether there may be banks whose features come laid out, or others.
const fn may_come<P: Profile>(laid_out: bool) -> bool {
    let Some(only) = P::ONLY else {
        let transforms = Needs::FOURIER.and(Needs::HADAMARD);
        return !laid_out || !P::SMALL && serves::<P>(transforms);
    };
    let mut number = 0;
    while number < only.banks.len() {
        if only.banks[number].is_laid_out(P::FORM) == laid_out {
            return true;
        }
        number += 1;
    }
    false
}

/// Whether the sums of a bank are first of codes times features: 65,535 features times
/// 255·127 fit an i32; those of 16 bits do not.
const fn is_plain(bank: &Bank<'_>) -> bool {
    let bytes = !matches!(bank.family, Family::Linear) && bank.family.slot_bits().is_none();
    bank.index == 0 && bytes && bank.width.bits <= 8
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

/// Turns accumulators into scores, which take their place: divided by 2^shift, plus
/// the bias, saturated to i32. An accumulator is Σ multiplier·weight·φ of an output, its low
/// 32 bits and its high ones.
#[inline(never)]
pub fn finish<'s>(model: &Model<'_>, sums: &'s mut [[i32; 2]]) -> &'s [i32] {
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
