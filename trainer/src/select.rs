//! Choosing what the user left open: input map, bandwidth, law.
//!
//! Everything is judged by squared error on rows held out from a sample of the
//! training rows; the test rows are never looked at.

use koan::{Family, Law};

use crate::blob::ModelSpec;
use crate::features::FeatureMap;
use crate::normalise::{Kind, Normaliser};
use crate::plan::{BankPlan, realise};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::relevance;
use crate::ridge::{LAMBDAS, System, best_on};
use crate::sparse::Cells;
use crate::{Error, TrainOptions};

/// What was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Feature part of the model.
    pub spec: ModelSpec,
    /// How the inputs are normalised.
    pub normaliser: Normaliser,
    /// Which kind of line they got.
    pub kind: Kind,
    /// Whether the inputs' relevance was learned.
    pub relevance: bool,
    /// The banks with their final bandwidths and laws.
    pub banks: Vec<BankPlan>,
}

/// Penalties that bins try: the weight of a prior for every cell, in rows.
pub const SPARSE_LAMBDAS: [f64; 4] = [32.0, 8.0, 2.0, 0.5];

/// A map for each input costs 6 bytes an input: it must lower the squared error
/// by this share.
const WORTH_A_MAP: f64 = 0.02;
/// Learned relevance must lower the squared error by this share.
const WORTH_RELEVANCE: f64 = 0.03;
/// Inputs up to which a map of its own for each is tried.
const MAPPED_INPUTS: usize = 160;

/// Rows for a comparison: two thirds to fit on, one third to judge by.
struct Sample {
    fit: Vec<usize>,
    judge: Vec<usize>,
}

impl Sample {
    /// At most `most` of `rows`, evenly spread (they are in a random order of
    /// classes already only if the file is; the stride keeps all parts of it).
    fn new(rows: &[usize], most: usize) -> Self {
        let count = rows.len().min(most);
        let picked = (0..count).map(|i| rows[i * rows.len() / count]);
        let (mut fit, mut judge) = (Vec::new(), Vec::new());
        for (i, row) in picked.enumerate() {
            // A hash of the position, not every third row: data may be periodic.
            let draw = koan::generator::Stream::new(i as u64, 7).draw(0);
            if draw % 3 == 0 { judge.push(row) } else { fit.push(row) }
        }
        if judge.is_empty() {
            judge.clone_from(&fit);
        }
        if fit.is_empty() {
            fit.clone_from(&judge);
        }
        Self { fit, judge }
    }
}

/// Squared error on the judging rows of the best fit on the others.
fn judge(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    sample: &Sample,
    lambda: Option<f64>,
) -> Result<f64, Error> {
    let map = FeatureMap::new(spec)?;
    if let Some(slot_bits) = sparse_slots(spec) {
        return judge_sparse(problem, &map, slot_bits, sample, lambda);
    }
    let quiet = Progress::none();
    let fit = problem.moments(&map, &sample.fit, &quiet)?;
    let held_out = problem.moments(&map, &sample.judge, &quiet)?;
    let given = lambda.map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&LAMBDAS[..], |given| &given[..]);
    Ok(best_on(&System::new(&fit), &held_out, lambdas).1)
}

fn judge_sparse(
    problem: &Problem<'_>,
    map: &FeatureMap,
    slot_bits: u8,
    sample: &Sample,
    lambda: Option<f64>,
) -> Result<f64, Error> {
    let cells = |rows: &[usize]| -> Result<Cells, Error> {
        Ok(Cells::new(&map.codes_of(problem.table, rows)?, map.codes(), slot_bits))
    };
    let (fit, held_out) = (cells(&sample.fit)?, cells(&sample.judge)?);
    let weights: Vec<f64> = sample.fit.iter().map(|&row| problem.weight(row)).collect();
    let given = lambda.map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&SPARSE_LAMBDAS[..], |given| &given[..]);
    let mut errors = vec![0.0; lambdas.len()];
    for output in 0..problem.outputs {
        let mean = weighted_mean(problem, &sample.fit, output);
        let targets: Vec<f64> =
            sample.fit.iter().map(|&row| problem.target(row, output) - mean).collect();
        let mut solution = vec![0.0; map.features()];
        for (error, &lambda) in errors.iter_mut().zip(lambdas) {
            solution = fit.ridge(&targets, &weights, lambda, &solution);
            let values = held_out.apply(&solution);
            *error += sample
                .judge
                .iter()
                .zip(values)
                .map(|(&row, value)| {
                    problem.weight(row) * (value + mean - problem.target(row, output)).powi(2)
                })
                .sum::<f64>();
        }
    }
    let rows: f64 = sample.judge.iter().map(|&row| problem.weight(row)).sum();
    let least = errors.into_iter().fold(f64::INFINITY, f64::min);
    Ok(least / (rows * problem.outputs as f64))
}

/// Mean target of `output`, rows weighted.
#[must_use]
pub fn weighted_mean(problem: &Problem<'_>, rows: &[usize], output: usize) -> f64 {
    let weight: f64 = rows.iter().map(|&row| problem.weight(row)).sum();
    let sum: f64 = rows.iter().map(|&row| problem.weight(row) * problem.target(row, output)).sum();
    sum / weight
}

/// The slot bits when the model is one bank of bins, which has a solver of its
/// own.
#[must_use]
pub fn sparse_slots(spec: &ModelSpec) -> Option<u8> {
    match spec.banks.as_slice() {
        [bank] => match bank.family {
            Family::Bin { slot_bits } => Some(slot_bits),
            _ => None,
        },
        _ => None,
    }
}

/// Chooses normalisation, bandwidths and laws for `banks`.
///
/// # Errors
/// Banks that the format does not allow.
pub fn choose(
    problem: &Problem<'_>,
    rows: &[usize],
    banks: &[BankPlan],
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Choice, Error> {
    let chooser = Chooser { problem, rows, options };
    progress.phase("choosing the input map");
    let sample = Sample::new(rows, 6000);
    let pilots: Vec<BankPlan> = banks.iter().map(|bank| small(bank, 256)).collect();
    let mut best: Option<(f64, Kind, Normaliser, Tuning)> = None;
    for kind in chooser.kinds() {
        let normaliser = Normaliser::fit(problem.table, rows, kind);
        if kind == Kind::PerInputLog && normaliser.logged_inputs() == 0 && options.map.is_none() {
            continue;
        }
        let (error, tuning) = chooser.coarse(&pilots, &normaliser, &sample, kind)?;
        let worth = match &best {
            Some((least, Kind::Shared, ..)) => *least * (1.0 - WORTH_A_MAP),
            Some((least, ..)) => *least,
            None => f64::INFINITY,
        };
        if error < worth {
            best = Some((error, kind, normaliser, tuning));
        }
    }
    let Some((mut error, kind, mut normaliser, mut tuning)) = best else {
        return Err(Error::Options("no input map to choose from".into()));
    };

    let mut relevance = false;
    if chooser.may_learn_relevance(kind, banks) {
        let spread = normaliser.spread(problem.table, rows);
        let typical = tuning.bandwidth.clamp(0.3, 1.5) / spread.variance.sqrt();
        let factors = relevance::learn(problem, rows, &normaliser, typical, options.seed, progress);
        let scaled = normaliser.scaled(&factors);
        let (reached, tuned) = chooser.coarse(&pilots, &scaled, &sample, kind)?;
        if reached < error * (1.0 - WORTH_RELEVANCE) || options.relevance == Some(true) {
            (error, normaliser, tuning, relevance) = (reached, scaled, tuned, true);
        }
    }
    let _ = error;

    progress.phase("choosing the bandwidth");
    let full: Vec<BankPlan> = banks.iter().map(|bank| small(bank, 2048)).collect();
    let sample = Sample::new(rows, 15_000);
    let tuning = chooser.refine(&full, &normaliser, &sample, tuning)?;
    let banks = tuning.apply(banks);
    let spread = normaliser.spread(problem.table, rows);
    let spec = realise(options.seed, &banks, &normaliser, &spread);
    Ok(Choice { spec, normaliser, kind, relevance, banks })
}

/// The bank with at most so many features, for a quick comparison.
fn small(bank: &BankPlan, most: u16) -> BankPlan {
    let features = match bank.family {
        Family::Linear => bank.features,
        _ => bank.features.min(most),
    };
    BankPlan { features, ..bank.clone() }
}

/// What is tuned: one factor on all bandwidths, and the law of stumps.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    bandwidth: f64,
    threshold: Option<Law>,
}

impl Tuning {
    fn apply(&self, banks: &[BankPlan]) -> Vec<BankPlan> {
        banks
            .iter()
            .map(|bank| BankPlan {
                bandwidth: bank.bandwidth * self.bandwidth,
                law: match (bank.family, self.threshold) {
                    (Family::Stump, Some(law)) if bank.groups.is_empty() => law,
                    _ => bank.law,
                },
                ..bank.clone()
            })
            .collect()
    }
}

struct Chooser<'c> {
    problem: &'c Problem<'c>,
    rows: &'c [usize],
    options: &'c TrainOptions,
}

impl Chooser<'_> {
    /// The kinds of map to compare, cheapest in bytes first.
    fn kinds(&self) -> Vec<Kind> {
        match self.options.map {
            Some(kind) => vec![kind],
            None if self.problem.table.inputs > MAPPED_INPUTS => vec![Kind::Shared],
            None => vec![Kind::Shared, Kind::PerInput, Kind::PerInputLog],
        }
    }

    fn may_learn_relevance(&self, kind: Kind, banks: &[BankPlan]) -> bool {
        // A shared map has no place for it, thresholds and linear terms do not
        // care, and groups have bandwidths of their own.
        let cares = banks.iter().all(|bank| {
            bank.groups.is_empty() && !matches!(bank.family, Family::Stump | Family::Linear)
        });
        match self.options.relevance {
            Some(wanted) => wanted,
            None => kind != Kind::Shared && cares && self.problem.table.inputs > 1,
        }
    }

    fn error(
        &self,
        banks: &[BankPlan],
        normaliser: &Normaliser,
        sample: &Sample,
        tuning: Tuning,
    ) -> Result<f64, Error> {
        let spread = normaliser.spread(self.problem.table, self.rows);
        let spec = realise(self.options.seed, &tuning.apply(banks), normaliser, &spread);
        judge(self.problem, &spec, sample, self.options.lambda)
    }

    /// Best of a wide grid.
    fn coarse(
        &self,
        banks: &[BankPlan],
        normaliser: &Normaliser,
        sample: &Sample,
        kind: Kind,
    ) -> Result<(f64, Tuning), Error> {
        let _ = kind;
        let mut best = (f64::INFINITY, Tuning { bandwidth: 1.0, threshold: None });
        for threshold in self.thresholds(banks) {
            for bandwidth in self.grid(banks) {
                let tuning = Tuning { bandwidth, threshold };
                let error = self.error(banks, normaliser, sample, tuning)?;
                if error < best.0 || best.0.is_infinite() {
                    best = (error, tuning);
                }
            }
        }
        Ok(best)
    }

    /// Climbs from a tuning in ever smaller steps.
    fn refine(
        &self,
        banks: &[BankPlan],
        normaliser: &Normaliser,
        sample: &Sample,
        start: Tuning,
    ) -> Result<Tuning, Error> {
        if self.grid(banks).len() < 2 {
            return Ok(start);
        }
        let mut best = (self.error(banks, normaliser, sample, start)?, start);
        for factor in [std::f64::consts::SQRT_2, 1.19] {
            for factor in [factor, 1.0 / factor] {
                for _ in 0..4 {
                    let tuning = Tuning { bandwidth: best.1.bandwidth * factor, ..best.1 };
                    let error = self.error(banks, normaliser, sample, tuning)?;
                    if error >= best.0 {
                        break;
                    }
                    best = (error, tuning);
                }
            }
        }
        Ok(best.1)
    }

    fn grid(&self, banks: &[BankPlan]) -> Vec<f64> {
        let tuned =
            banks.iter().any(|bank| !matches!(bank.family, Family::Linear | Family::Maxout { .. }));
        if self.options.bandwidth.is_some() || !tuned {
            return vec![1.0];
        }
        if banks.iter().all(|bank| matches!(bank.family, Family::Stump)) {
            return vec![0.5, 0.7, 1.0, 1.4];
        }
        vec![0.25, 0.5, 1.0, 2.0, 4.0]
    }

    fn thresholds(&self, banks: &[BankPlan]) -> Vec<Option<Law>> {
        let stumps = banks.iter().any(|bank| matches!(bank.family, Family::Stump));
        if stumps && self.options.projection.is_none() {
            vec![Some(Law::Normal), Some(Law::Uniform)]
        } else {
            vec![None]
        }
    }
}
