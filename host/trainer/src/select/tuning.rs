//! Frequencies, laws of stumps and dense projections: a grid of them, and steps from its best.

use koan::{Family, Law};

use super::Chooser;
use crate::Error;
use crate::normalise::Normaliser;
use crate::plan::BankPlan;
use crate::validation::Sample;

/// Dense projections instead of a transform must lower the squared error by
/// this share.
const WORTH_DENSE: f64 = 0.04;
/// Inputs up to which dense projections are compared with the transform.
const DENSE_INPUTS: usize = 128;

/// What is tuned: one factor on all frequencies, the law of stumps, and whether
/// transforms are replaced by dense projections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    pub frequency: f64,
    pub threshold: Option<Law>,
    pub dense: bool,
}

impl Tuning {
    pub fn apply(&self, banks: &[BankPlan]) -> Vec<BankPlan> {
        banks
            .iter()
            .map(|bank| BankPlan {
                frequency: bank.frequency * self.frequency,
                law: match (bank.family, self.threshold, bank.law) {
                    (Family::Stump, Some(law), _) if bank.groups.is_empty() => law,
                    _ if self.dense && may_be_dense(bank) => Law::Gaussian,
                    _ => bank.law,
                },
                ..bank.clone()
            })
            .collect()
    }
}

/// Whether a bank has a transform that dense projections can replace.
fn may_be_dense(bank: &BankPlan) -> bool {
    bank.law == Law::Hadamard && Law::Gaussian.suits(bank.family, false)
}

impl Chooser<'_> {
    /// Best of a wide grid; `thorough` also over the frequencies of dense
    /// projections, instead of at the transform's best one.
    pub(super) fn coarse(
        &self,
        banks: &[BankPlan],
        normaliser: &Normaliser,
        sample: &[Sample],
        thorough: bool,
    ) -> Result<(f64, Tuning), Error> {
        let grid = |dense: bool| -> Result<(f64, Tuning), Error> {
            let mut best = (f64::INFINITY, Tuning { frequency: 1.0, threshold: None, dense });
            for threshold in self.thresholds(banks) {
                for frequency in self.grid(banks) {
                    let tuning = Tuning { frequency, threshold, dense };
                    let error = self.error(banks, normaliser, sample, tuning)?;
                    if error < best.0 || best.0.is_infinite() {
                        best = (error, tuning);
                    }
                }
            }
            Ok(best)
        };
        let transformed = grid(false)?;
        if !self.may_be_dense(banks) {
            return Ok(transformed);
        }
        // Few inputs that matter make many rows of a transform nearly equal.
        let dense = if thorough {
            grid(true)?
        } else {
            let tuning = Tuning { dense: true, ..transformed.1 };
            (self.error(banks, normaliser, sample, tuning)?, tuning)
        };
        let worth = transformed.0 * (1.0 - WORTH_DENSE);
        Ok(if dense.0 < worth { dense } else { transformed })
    }

    /// Whether dense projections are an alternative to a transform.
    pub(super) fn may_be_dense(&self, banks: &[BankPlan]) -> bool {
        self.options.projection.is_none()
            && self.options.frequency.is_none()
            && self.problem.table.inputs <= DENSE_INPUTS
            && banks.iter().any(may_be_dense)
    }

    /// Climbs from a tuning in ever smaller steps.
    pub(super) fn refine(
        &self,
        banks: &[BankPlan],
        normaliser: &Normaliser,
        sample: &[Sample],
        start: Tuning,
    ) -> Result<(f64, Tuning), Error> {
        let mut best = (self.error(banks, normaliser, sample, start)?, start);
        if self.grid(banks).len() < 2 {
            return Ok(best);
        }
        for factor in [std::f64::consts::SQRT_2, 1.19] {
            for factor in [factor, 1.0 / factor] {
                for _ in 0..4 {
                    let tuning = Tuning { frequency: best.1.frequency * factor, ..best.1 };
                    let error = self.error(banks, normaliser, sample, tuning)?;
                    if error >= best.0 {
                        break;
                    }
                    best = (error, tuning);
                }
            }
        }
        Ok(best)
    }

    pub(super) fn grid(&self, banks: &[BankPlan]) -> Vec<f64> {
        let tuned = banks.iter().any(|bank| {
            !matches!(bank.family, Family::Linear | Family::Maxout { .. } | Family::Series(_))
        });
        if self.options.frequency.is_some() || !tuned {
            return vec![1.0];
        }
        let thresholds =
            |bank: &BankPlan| matches!(bank.family, Family::Stump | Family::Fern { .. });
        if banks.iter().all(thresholds) {
            return vec![0.5, 0.7, 1.0, 1.4];
        }
        if banks.iter().all(|bank| matches!(bank.family, Family::Bin { .. })) {
            return vec![0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
        }
        if banks.iter().all(|bank| matches!(bank.family, Family::Conv(_))) {
            return vec![0.5, 1.0, 2.0, 4.0, 8.0];
        }
        vec![0.25, 0.5, 1.0, 2.0, 4.0]
    }

    pub(super) fn thresholds(&self, banks: &[BankPlan]) -> Vec<Option<Law>> {
        let stumps = banks.iter().any(|bank| matches!(bank.family, Family::Stump));
        // A frequency that is given is meant for the usual law.
        let open = self.options.projection.is_none() && self.options.frequency.is_none();
        if stumps && open { vec![Some(Law::Gaussian), Some(Law::Uniform)] } else { vec![None] }
    }
}
