//! How good a feature map is: the squared error on held-out training rows.

use koan::Family;

use crate::Error;
use crate::blob::ModelSpec;
use crate::features::FeatureMap;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{System, best_on};
use crate::sparse::Cells;
use koan_data::{Division, Part, folds};

/// Penalties that bins try: the weight of a prior for every cell, in rows.
pub const SPARSE_LAMBDAS: [f64; 5] = [128.0, 32.0, 8.0, 2.0, 0.5];

/// Values of λ that comparisons try.
const JUDGE_LAMBDAS: [f64; 5] = [1e-7, 1e-5, 1e-3, 1e-2, 1e-1];

/// Tables below this many rows are judged in three folds.
pub const SMALL_ROWS: usize = 4000;

/// Rows for a comparison: two thirds to fit on, one third to judge by.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Rows to fit on.
    pub fit: Vec<usize>,
    /// Rows to judge by.
    pub judge: Vec<usize>,
}

impl Sample {
    /// At most `most` of `rows`, evenly spread over the file.
    ///
    /// `fold` 0, 1 or 2: which third judges.
    #[must_use]
    pub fn new(rows: &[usize], most: usize, fold: u64) -> Self {
        let count = rows.len().min(most);
        let picked = (0..count).map(|i| rows[i * rows.len() / count]);
        let (mut fit, mut judge) = (Vec::new(), Vec::new());
        for (i, row) in picked.enumerate() {
            // A hash of the position, not every third row: data may be periodic.
            let draw = koan::generator::Stream::new(i as u64, 7).draw(0);
            if draw % 3 == fold { judge.push(row) } else { fit.push(row) }
        }
        Self { fit, judge }.filled()
    }

    /// Samples to average over: three folds of small data, one of large. Groups
    /// stay on one side, and a part to validate on judges alone.
    #[must_use]
    pub fn folds(problem: &Problem<'_>, rows: &[usize], most: usize) -> Vec<Self> {
        let folds = if rows.len() < SMALL_ROWS { 3 } else { 1 };
        match &problem.table.division {
            Division::Free => (0..folds).map(|fold| Self::new(rows, most, fold)).collect(),
            Division::Groups(_) => {
                let thirds = thirds(problem);
                (0..folds)
                    .map(|fold| Self::by(rows, most, |row| thirds[row] as u64 == fold))
                    .collect()
            }
            Division::Parts(parts) => {
                vec![Self::by(rows, most, |row| parts[row] == Part::Validation)]
            }
        }
    }

    /// At most `most` of `rows`, evenly spread; those that `judges` says judge.
    fn by(rows: &[usize], most: usize, judges: impl Fn(usize) -> bool) -> Self {
        let count = rows.len().min(most);
        let picked = (0..count).map(|i| rows[i * rows.len() / count]);
        let (judge, fit) = picked.partition(|&row| judges(row));
        Self { fit, judge }.filled()
    }

    /// Neither side empty.
    fn filled(mut self) -> Self {
        if self.judge.is_empty() {
            self.judge.clone_from(&self.fit);
        }
        if self.fit.is_empty() {
            self.fit.clone_from(&self.judge);
        }
        self
    }
}

/// Thirds of the rows of a table with groups: 0, 1 or 2 for each row. With fewer
/// than three groups, thirds of the rows in a run each.
#[must_use]
pub fn thirds(problem: &Problem<'_>) -> Vec<usize> {
    let rows = problem.table.rows();
    // The seed is no concern of the user's: these parts only compare.
    folds(problem.table, 3, 7).unwrap_or_else(|_| (0..rows).map(|row| row * 3 / rows).collect())
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
    let quiet = Progress::none();
    let fit = problem.moments(&map, &sample.fit, &quiet)?;
    let held_out = problem.moments(&map, &sample.judge, &quiet)?;
    let given = lambda.map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&JUDGE_LAMBDAS[..], |given| &given[..]);
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
    // Three of them tell frequencies apart as well as all.
    let lambdas = given.as_ref().map_or(&SPARSE_LAMBDAS[1..4], |given| &given[..]);
    let mut errors = vec![0.0; lambdas.len()];
    for output in 0..problem.outputs {
        let mean = weighted_mean(problem, &sample.fit, output);
        let targets: Vec<f64> =
            sample.fit.iter().map(|&row| problem.target(row, output) - mean).collect();
        let mut solution = vec![0.0; map.features()];
        for (error, &lambda) in errors.iter_mut().zip(lambdas) {
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
