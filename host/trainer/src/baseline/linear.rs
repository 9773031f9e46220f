//! Linear models of the inputs themselves, computed by the core's family `linear`: ridge regression,
//! or of classes logistic regression where that is better on held-out rows; λ by these, too.

use koan::{Family, Law};

use crate::Error;
use crate::evaluate::of_scores;
use crate::features::FeatureMap;
use crate::fit::{Rows, real_scores};
use crate::folds::{drawn_rows, hold_out};
use crate::lambda::LAMBDAS;
use crate::map_choice;
use crate::normalise::Normaliser;
use crate::plan::{BankPlan, realise};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{LinearFit, System, best_on};
use crate::solve::Logistic;
use koan_data::{Table, Task};

/// Inputs up to which the baseline is fitted.
pub const MAX_INPUTS: usize = 2048;
/// Values of λ for logistic regression, the largest first.
const LOGISTIC: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// Weights times rows of logistic regression, at most: of more rows some are drawn.
const MOST_WORK: usize = 10_000_000;
/// What its objective may be off by, as a share.
const TOLERANCE: f64 = 5e-3;

/// A fitted linear function of the inputs for each output.
#[derive(Clone, Debug)]
pub struct Linear {
    map: FeatureMap,
    fit: LinearFit,
}

impl Linear {
    /// Fits to all rows of `table`; none when there are more than
    /// [`MAX_INPUTS`] inputs or fewer than two rows.
    ///
    /// # Errors
    /// What the format does not allow.
    pub fn fit(table: &Table, seed: u64) -> Result<Option<Self>, Error> {
        if table.inputs > MAX_INPUTS || table.rows() < 2 {
            return Ok(None);
        }
        let plan = BankPlan {
            family: Family::Linear,
            law: Law::None,
            features: table.inputs as u16,
            frequency: 1.0,
            groups: Vec::new(),
            kept: None,
        };
        let rows: Vec<usize> = (0..table.rows()).collect();
        let normaliser = Normaliser::fit(table, &rows, map_choice::of_linear(table));
        let spread = normaliser.spread(table, &rows);
        let map = FeatureMap::new(&realise(seed, &[plan], &normaliser, &spread))?;
        let problem = Problem::new(table, false);
        let (fit_rows, held_rows) = hold_out(&problem, seed);
        let quiet = Progress::none();
        let mut moments = problem.moments(&map, &fit_rows, &quiet)?;
        let held = problem.moments(&map, &held_rows, &quiet)?;
        let (best, _) = best_on(&System::new(&moments), &held, &LAMBDAS);
        if problem.task() == Task::Classification && !held_rows.is_empty() {
            let judged = table.select(&held_rows);
            let error = |fit: &LinearFit| -> Result<f64, Error> {
                let scores = real_scores(&map, fit, table, &held_rows)?;
                let found = of_scores(&judged, &scores);
                Ok(found.weighted_error.unwrap_or(found.error))
            };
            let mut least = (error(&best)?, None);
            for fit in logistic(&problem, &map, &fit_rows, &LOGISTIC, seed)? {
                let error = error(&fit)?;
                if error < least.0 {
                    least = (error, Some(fit.lambda));
                }
            }
            if let Some(lambda) = least.1
                && let Some(fit) = logistic(&problem, &map, &rows, &[lambda], seed)?.pop()
            {
                return Ok(Some(Self { map, fit }));
            }
        }
        moments.merge(&held);
        let fit = System::new(&moments).solve(best.lambda);
        Ok(Some(Self { map, fit }))
    }

    /// Scores on rows of the same task: rows × outputs, row-major.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn scores(&self, table: &Table) -> Result<Vec<f64>, Error> {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&self.map, &self.fit, table, &rows)
    }
}

/// Logistic regressions on `rows`, or some of them, one for each λ.
fn logistic(
    problem: &Problem<'_>,
    map: &FeatureMap,
    rows: &[usize],
    lambdas: &[f64],
    seed: u64,
) -> Result<Vec<LinearFit>, Error> {
    let most = MOST_WORK / (map.features() * problem.outputs).max(1);
    let drawn = drawn_rows(rows.len(), most, seed);
    let rows: Vec<usize> = drawn.into_iter().map(|place| rows[place]).collect();
    if rows.iter().map(|&row| problem.weight(row)).sum::<f64>() <= 0.0 {
        return Ok(Vec::new());
    }
    let Rows { design, labels, weights, .. } = &Rows::new(problem, map, &rows)?;
    let regression = Logistic::new(design, labels, problem.outputs, weights.as_deref());
    let mut fits: Vec<LinearFit> = Vec::new();
    for &lambda in lambdas {
        fits.push(regression.solve(lambda, fits.last(), TOLERANCE).fit);
    }
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::TableBuilder;

    /// Far rows of one class, which least squares draws the line towards.
    #[test]
    fn classes_have_the_better_of_two_losses() {
        let at = |row: usize| match row % 10 {
            0..5 => -1.0 - (row % 7) as f64 / 10.0,
            5..9 => 1.0 + (row % 7) as f64 / 10.0,
            _ => 200.0,
        };
        let x: Vec<f64> = (0..400).map(at).collect();
        let y: Vec<i64> = x.iter().map(|&x| i64::from(x > 0.0)).collect();
        let table = TableBuilder::new(400).column("x", &x[..]).classes("y", &y[..]);
        let table = table.build().unwrap();
        let linear = Linear::fit(&table, 1).unwrap().unwrap();
        let error = of_scores(&table, &linear.scores(&table).unwrap()).error;
        assert_eq!(error, 0.0);
    }
}
