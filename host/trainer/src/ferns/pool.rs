//! The ferns that a model's may be chosen from, and their codes.
//!
//! A pool has up to 65,535 ferns. Their codes for all rows are never stored: rows are kept as
//! the places of their inputs among the thresholds, from which a fern's code is a few
//! comparisons of numbers that lie beside each other. What an input is compared with, the core
//! says ([`koan::steps::comparisons`]).

use std::ops::Range;

use koan::steps::{comparisons, quantise};
use koan::{Any, Family, Model};

use crate::Error;
use crate::blob::{BankSpec, ModelSpec};
use crate::parallel;
use crate::problem::Problem;

/// Ferns that a thread goes through at once.
pub(super) const RUN: usize = 4096;
/// Ferns of a pool, if it is not told.
pub const POOL: u16 = u16::MAX;

/// A comparison: an input, and the number of its threshold among all of them.
#[derive(Clone, Copy)]
pub(super) struct Question {
    pub input: usize,
    pub threshold: u16,
}

/// The ferns that may be chosen.
pub(super) struct Pool {
    /// Of all ferns, one after the other.
    questions: Vec<Question>,
    /// Comparisons of a fern.
    pub depth: u8,
    /// Thresholds that some fern has.
    pub thresholds: usize,
}

/// Rows that ferns are chosen by.
pub(super) struct Sample {
    /// How many thresholds each input of each row lies above: inputs × rows.
    above: Vec<u16>,
    /// Their numbers in the table.
    pub numbers: Vec<usize>,
}

impl Pool {
    /// That of bank `number`, and `rows` of the table.
    pub fn new(
        problem: &Problem<'_>,
        spec: &ModelSpec,
        number: usize,
        rows: Vec<usize>,
        candidates: Option<u16>,
    ) -> Result<(Self, Sample), Error> {
        let BankSpec { family: Family::Fern { depth }, features, .. } = spec.banks[number] else {
            return Err(Error::Impossible("the bank has no ferns".into()));
        };
        let ferns = candidates.unwrap_or(POOL);
        if ferns < features {
            let message = format!("{ferns} candidates for {features} ferns");
            return Err(Error::parameter("candidates", message));
        }
        // The number of a bank is that of its draws.
        let mut banks = spec.banks[..=number].to_vec();
        for bank in &mut banks {
            (bank.features, bank.kept) = (1, Some(vec![0]));
        }
        let blob =
            ModelSpec::features(spec.seed, spec.inputs, spec.maps.clone(), banks).encode()?;
        let model = Model::parse(&blob)?;
        let inputs = model.inputs();
        let bank = model.banks().last().ok_or_else(|| Error::Impossible("no bank".into()))?;
        let of_fern = |fern| comparisons(&bank, fern, inputs).into_iter().take(depth.into());
        let of_run = |ferns: Range<usize>| ferns.flat_map(of_fern).collect::<Vec<_>>();
        let all = parallel::in_runs(ferns.into(), RUN, of_run).concat();
        let mut thresholds: Vec<i32> = all.iter().map(|its| its.threshold).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        let below = |value: i32| thresholds.partition_point(|&threshold| threshold < value) as u16;
        let questions = all
            .iter()
            .map(|its| Question { input: its.input, threshold: below(its.threshold) })
            .collect();
        let mut above = vec![0; inputs * rows.len()];
        let mut q = vec![0; inputs];
        for (place, &row) in rows.iter().enumerate() {
            quantise::<Any, f32>(&model, problem.table.row(row), &mut q);
            for (input, &q) in q.iter().enumerate() {
                above[input * rows.len() + place] = below(q.into());
            }
        }
        let pool = Self { questions, depth, thresholds: thresholds.len() };
        Ok((pool, Sample { above, numbers: rows }))
    }

    pub fn ferns(&self) -> usize {
        self.questions.len() / usize::from(self.depth)
    }

    /// The comparisons of a fern, the lowest bit first.
    pub fn questions(&self, fern: usize) -> &[Question] {
        let depth = usize::from(self.depth);
        &self.questions[fern * depth..][..depth]
    }

    /// What the comparisons of each fern gain, added up; of those of one input the best. `alone`:
    /// what each comparison gains alone, inputs × thresholds.
    pub fn promises(&self, alone: &[f32]) -> Vec<f32> {
        let of_run = |ferns: Range<usize>| -> Vec<f32> {
            match self.depth {
                1 => ferns.map(|fern| self.promise::<1>(fern, alone)).collect(),
                2 => ferns.map(|fern| self.promise::<2>(fern, alone)).collect(),
                3 => ferns.map(|fern| self.promise::<3>(fern, alone)).collect(),
                _ => ferns.map(|fern| self.promise::<4>(fern, alone)).collect(),
            }
        };
        parallel::in_runs(self.ferns(), RUN, of_run).concat()
    }

    /// That of a fern of `D` comparisons.
    fn promise<const D: usize>(&self, fern: usize, alone: &[f32]) -> f32 {
        let (mut gains, mut inputs) = ([0.0f32; D], [usize::MAX; D]);
        for (place, question) in self.questions(fern).iter().take(D).enumerate() {
            let at = question.input * self.thresholds + usize::from(question.threshold);
            (gains[place], inputs[place]) = (alone[at], question.input);
        }
        let mut sum = 0.0;
        for (place, &gain) in gains.iter().enumerate() {
            // Whether another one of its input gains more, or as much and comes first: without
            // branches, which nothing could predict.
            let mut less = false;
            for (other, &others) in gains.iter().enumerate() {
                let more = (others > gain) | ((others == gain) & (other < place));
                less |= more & (inputs[other] == inputs[place]);
            }
            sum += if less { 0.0 } else { gain };
        }
        sum
    }

    /// Codes of a fern for as many rows as there are places, from `first` on.
    #[inline(always)]
    pub fn codes(&self, fern: usize, sample: &Sample, first: usize, codes: &mut [u8]) {
        codes.fill(0);
        for (bit, question) in self.questions(fern).iter().enumerate() {
            let column = &sample.column(question.input)[first..][..codes.len()];
            for (code, &above) in codes.iter_mut().zip(column) {
                *code |= u8::from(above > question.threshold) << bit;
            }
        }
    }

    /// Codes of a fern for all rows.
    pub fn codes_of_all(&self, fern: usize, sample: &Sample) -> Vec<u8> {
        let mut codes = vec![0; sample.count()];
        self.codes(fern, sample, 0, &mut codes);
        codes
    }
}

impl Sample {
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    pub fn inputs(&self) -> usize {
        self.above.len() / self.count().max(1)
    }

    /// How many thresholds an input lies above, row by row.
    pub fn column(&self, input: usize) -> &[u16] {
        &self.above[input * self.count()..][..self.count()]
    }

    /// Those of the rows that are in `places`.
    pub fn select(&self, places: &[usize]) -> Self {
        let of_input = |input: usize| {
            let column = self.column(input);
            places.iter().map(|&place| column[place])
        };
        Self {
            above: (0..self.inputs()).flat_map(of_input).collect(),
            numbers: places.iter().map(|&place| self.numbers[place]).collect(),
        }
    }

    /// All of them, as places.
    pub fn all(&self) -> Range<usize> {
        0..self.count()
    }
}
