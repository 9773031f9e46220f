//! How good a feature map is: the squared error on held-out training rows.

use koan::Family;

use crate::Error;
use crate::blob::ModelSpec;
use crate::dual;
use crate::features::FeatureMap;
use crate::fit::WideSide;
use crate::folds::{Folds, SMALL_ROWS};
use crate::lambda::{CELL_LAMBDAS, FEW_LAMBDAS, given_or};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{System, best_on};
use crate::sparse::Cells;

/// Rows for a comparison: some to fit on, others to judge by.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Rows to fit on.
    pub fit: Vec<usize>,
    /// Rows to judge by.
    pub judge: Vec<usize>,
}

impl Sample {
    /// Samples of at most about `most` rows to average over: all folds of small data, one of
    /// large.
    #[must_use]
    pub fn folds(problem: &Problem<'_>, most: usize) -> Vec<Self> {
        // The seed is no concern of the user's: these parts only compare. A single group is
        // cut in runs.
        let table = problem.table;
        let mut folds = Folds::new(table, 7).unwrap_or_else(|_| Folds::runs(table.rows(), 2));
        if folds.rows() >= SMALL_ROWS {
            folds.held.truncate(1);
        }
        let splits = folds.sample(most).splits();
        splits.into_iter().map(|(fit, judge)| Self { fit, judge }).collect()
    }
}

/// Squared error on the judging rows of the best fit on the others.
///
/// # Errors
/// A model that the format does not allow.
pub fn validate(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    sample: &Sample,
    lambda: Option<f64>,
) -> Result<f64, Error> {
    let map = FeatureMap::new(spec)?;
    if let Some(slot_bits) = sparse_slots(spec) {
        return judge_sparse(problem, &map, slot_bits, sample, lambda);
    }
    if dual::suits(map.features(), sample.fit.len()) {
        let side = WideSide::new(problem, &map, &sample.fit, &sample.judge)?;
        let lambdas = given_or(lambda, &FEW_LAMBDAS[1..]);
        return Ok(lambdas.iter().map(|&l| side.real(l)).fold(f64::INFINITY, f64::min));
    }
    let quiet = Progress::none();
    let fit = problem.moments(&map, &sample.fit, &quiet)?;
    let held_out = problem.moments(&map, &sample.judge, &quiet)?;
    Ok(best_on(&System::new(&fit), &held_out, &given_or(lambda, &FEW_LAMBDAS)).1)
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
    // Three of them tell frequencies apart as well as all.
    let lambdas = given_or(lambda, &CELL_LAMBDAS[1..4]);
    let mut errors = vec![0.0; lambdas.len()];
    for output in 0..problem.outputs {
        let mean = weighted_mean(problem, &sample.fit, output);
        let targets: Vec<f64> =
            sample.fit.iter().map(|&row| problem.target(row, output) - mean).collect();
        let mut solution = vec![0.0; map.features()];
        for (error, &lambda) in errors.iter_mut().zip(&lambdas) {
            solution = fit.ridge(&targets, &weights, lambda, &solution, 1e-3);
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
