//! A naive implementation of the whole model, written from `docs/format.md`.
//!
//! It shares nothing with the core but the types [`Law`](koan::Law) and
//! [`Task`](koan::Task): tables and functions are its own, from their formulas. Where
//! the core saves work or memory, this one writes the definition down: explicit
//! matrices, weights unpacked bit by bit, sums in wide integers with a modulo exactly
//! where the specification has one.

mod banks;
pub mod conv;
pub mod features;
pub(crate) mod generator;
mod head;
mod input;
pub(crate) mod log;
mod parse;
pub mod series;
pub mod tables;
mod work;

pub use banks::{Bank, Conv, Family, Group, Scale, Series};
pub use features::{bank_codes, bank_features};
pub use generator::Stream;
pub use head::crc32;
pub use log::{signed_log, signed_log_by};
pub use parse::{Head, Map, Reference, Sections};
pub use tables::table_bytes;

impl Reference {
    /// The integers that a row becomes.
    #[must_use]
    pub fn quantise(&self, row: &[f32]) -> Vec<i64> {
        assert_eq!(row.len(), self.inputs);
        let map = |i: usize| &self.maps[i % self.maps.len()];
        row.iter().enumerate().map(|(i, &x)| map(i).quantise(x, self.limit)).collect()
    }

    /// All features of a row, bank by bank.
    #[must_use]
    pub fn features(&self, row: &[f32]) -> Vec<i64> {
        let q = self.quantise(row);
        self.banks.iter().flat_map(|bank| bank_features(bank, self.seed, &q)).collect()
    }

    /// All codes of a row, bank by bank.
    #[must_use]
    pub fn codes(&self, row: &[f32]) -> Vec<u16> {
        let q = self.quantise(row);
        self.banks.iter().flat_map(|bank| bank_codes(bank, self.seed, &q)).collect()
    }

    /// The exact scores of a row; none for a model without outputs.
    #[must_use]
    pub fn scores(&self, row: &[f32]) -> Vec<i32> {
        self.scores_of(&self.quantise(row))
    }

    /// The class of a row, for a classification.
    #[must_use]
    pub fn class(&self, row: &[f32]) -> usize {
        let scores = self.scores(row);
        if scores.len() == 1 {
            return usize::from(scores[0] > 0);
        }
        let highest = scores.iter().max().expect("a classification has outputs");
        scores.iter().position(|score| score == highest).expect("it is one of them")
    }
}
