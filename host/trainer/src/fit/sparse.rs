//! Bins alone: ridge regression on cells.

use koan::Width;

use super::{Fitted, widths};
use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::calibrate;
use crate::features::FeatureMap;
use crate::folds::hold_out;
use crate::head::{RoundedOutput, assemble};
use crate::lambda::{CELL_LAMBDAS, given_or, of_cells};
use crate::options::HeadOptions;
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::sparse::{Cells, Ridge, SparseProblem};
use crate::validation::weighted_mean;
use koan_data::{Table, Target};

/// Share of the gradient that steps of conjugate gradients leave.
const PRECISION: f64 = 1e-4;

/// Fits one bank of bins by ridge regression on its cells.
///
/// # Errors
/// A specification that the format does not allow.
pub fn fit_sparse(
    problem: &Problem<'_>,
    spec: ModelSpec,
    slot_bits: u8,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let bits = options.bits;
    let map = FeatureMap::new(&spec)?;
    progress.phase("computing cells")?;
    let cells = |table: &Table, rows: &[usize]| -> Result<Cells, koan::Error> {
        Ok(Cells::new(&map.codes_of(table, rows)?, map.codes(), slot_bits))
    };
    let (fit_rows, held_rows) = hold_out(problem, options.seed);
    let (fit_cells, held_cells) =
        (cells(problem.table, &fit_rows)?, cells(problem.table, &held_rows)?);
    progress.phase("solving")?;
    let weights =
        |rows: &[usize]| -> Vec<f64> { rows.iter().map(|&row| problem.weight(row)).collect() };
    // Means of the outputs, and targets without them.
    let centred = |rows: &[usize]| -> (Vec<f64>, Vec<Vec<f64>>) {
        let of_output = |output: usize| {
            let mean = weighted_mean(problem, rows, output);
            (mean, rows.iter().map(|&row| problem.target(row, output) - mean).collect())
        };
        (0..problem.outputs).map(of_output).unzip()
    };
    let fit_weights = weights(&fit_rows);
    let lambdas = given_or(options.lambda, &of_cells(&CELL_LAMBDAS, &fit_weights));
    let mut errors = vec![0.0; lambdas.len()];
    // Held-out scores of every λ: [λ][output][row]. The weights of every λ are too many to keep.
    let mut held_scores = Vec::new();
    let (means, targets) = centred(&fit_rows);
    let ridge = Ridge::new(&fit_cells, &fit_weights, problem.outputs);
    let mut solutions = Vec::new();
    for (lambda, error) in lambdas.iter().zip(&mut errors) {
        solutions = ridge.solve(&targets, *lambda, &solutions, PRECISION);
        let mut scores: Vec<Vec<f64>> = Vec::new();
        for (output, solution) in solutions.iter().enumerate() {
            let values: Vec<f64> =
                held_cells.apply(solution).iter().map(|value| value + means[output]).collect();
            for (&row, value) in held_rows.iter().zip(&values) {
                *error += problem.weight(row) * (value - problem.target(row, output)).powi(2);
            }
            scores.push(values);
        }
        held_scores.push(scores);
    }
    let best = (0..lambdas.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
    let lambda = lambdas[best];
    let mut warnings = Vec::new();
    let calibration = match &problem.table.target {
        Target::Classes { labels } => {
            let labels: Vec<u32> = held_rows.iter().map(|&row| labels[row]).collect();
            let by_row: Vec<f64> = (0..held_rows.len())
                .flat_map(|row| held_scores[best].iter().map(move |values| values[row]))
                .collect();
            Some(calibrate::fit_or_warn(&by_row, &labels, problem.outputs, &mut warnings))
        }
        Target::Values(_) => None,
    };
    drop(ridge);
    drop((solutions, fit_cells, held_cells, held_scores));

    let rows: Vec<usize> = (0..problem.table.rows()).collect();
    let all = cells(problem.table, &rows)?;
    let all_weights = weights(&rows);
    let (means, targets) = centred(&rows);
    let solutions =
        Ridge::new(&all, &all_weights, problem.outputs).solve(&targets, lambda, &[], PRECISION);
    progress.phase("rounding the weights")?;
    let head = |sweeps: usize| -> HeadSpec {
        let attempt = |width: Width| {
            let round = |output: usize| {
                let problem =
                    SparseProblem { targets: &targets[output], rows: &all_weights, lambda };
                all.round(&problem, &solutions[output], width, sweeps)
            };
            let rounded = parallel::map(solutions.len(), round);
            let objective: f64 = rounded.iter().map(|rounded| rounded.objective).sum();
            (objective, width, rounded)
        };
        let attempts = widths(bits).into_iter().map(attempt);
        let best = attempts.reduce(|a, b| if b.0 < a.0 { b } else { a });
        let (_, width, rounded) = best.expect("there is at least one width");
        let total: f64 = all_weights.iter().sum();
        let outputs: Vec<RoundedOutput> = rounded
            .into_iter()
            .zip(means.iter().zip(&targets))
            .map(|(rounded, (mean, targets))| {
                let values: Vec<f64> =
                    rounded.codes.iter().map(|&code| rounded.levels.weight(code)).collect();
                let left: f64 = all
                    .apply(&values)
                    .iter()
                    .zip(targets)
                    .zip(&all_weights)
                    .map(|((value, y), weight)| weight * (y - value))
                    .sum();
                let levels = vec![rounded.head_levels()];
                RoundedOutput { codes: rounded.codes, levels, bias: mean + left / total }
            })
            .collect();
        assemble(&spec, width, &outputs)
    };
    let (nearest, compensated) = (Some(head(0)), head(8));
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        let cells = Cells::new(&map.codes_of(table, &rows)?, map.codes(), slot_bits);
        let values: Vec<Vec<f64>> = means
            .iter()
            .zip(&solutions)
            .map(|(mean, weights)| cells.apply(weights).iter().map(|v| v + mean).collect())
            .collect();
        Ok((0..table.rows()).flat_map(|row| values.iter().map(move |v| v[row])).collect())
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}
