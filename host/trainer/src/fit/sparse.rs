//! Bins alone: ridge regression on cells.

use koan::Width;

use super::{Fitted, widths};
use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::calibrate;
use crate::features::FeatureMap;
use crate::folds::hold_out;
use crate::head::{RoundedOutput, assemble};
use crate::lambda::{CELL_LAMBDAS, given_or};
use crate::options::HeadOptions;
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::sparse::{Cells, SparseProblem};
use crate::validation::weighted_mean;
use koan_data::{Table, Target};

/// Fits one bank of bins by conjugate gradients on its cells.
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
    let solve = |cells: &Cells, rows: &[usize], output: usize, lambdas: &[f64]| {
        let mean = weighted_mean(problem, rows, output);
        let targets: Vec<f64> = rows.iter().map(|&r| problem.target(r, output) - mean).collect();
        let weights: Vec<f64> = rows.iter().map(|&r| problem.weight(r)).collect();
        let mut path = Vec::new();
        let mut last = vec![0.0; map.features()];
        for &lambda in lambdas {
            last = cells.ridge(&targets, &weights, lambda, &last, 1e-4);
            path.push(last.clone());
        }
        (mean, targets, weights, path)
    };
    let lambdas = given_or(options.lambda, &CELL_LAMBDAS);
    let mut errors = vec![0.0; lambdas.len()];
    // Held-out scores of every λ: [λ][output][row].
    let mut held_scores = vec![Vec::new(); lambdas.len()];
    // The weights of every λ are too many to keep.
    let on_some = |output| -> Vec<Vec<f64>> {
        let (mean, _, _, path) = solve(&fit_cells, &fit_rows, output, &lambdas);
        let values = |weights: &Vec<f64>| {
            held_cells.apply(weights).iter().map(|value| value + mean).collect()
        };
        path.iter().map(values).collect()
    };
    for (output, of_lambdas) in (0..).zip(parallel::map(problem.outputs, on_some)) {
        for (index, values) in of_lambdas.into_iter().enumerate() {
            for (&row, value) in held_rows.iter().zip(&values) {
                errors[index] +=
                    problem.weight(row) * (value - problem.target(row, output)).powi(2);
            }
            held_scores[index].push(values);
        }
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
    drop((fit_cells, held_cells, held_scores));

    let rows: Vec<usize> = (0..problem.table.rows()).collect();
    let all = cells(problem.table, &rows)?;
    let mut float_weights = Vec::new();
    let mut fits = Vec::new();
    let on_all = |output| solve(&all, &rows, output, &lambdas[best..=best]);
    for (mean, targets, weights, mut path) in parallel::map(problem.outputs, on_all) {
        let solution = path.pop().unwrap_or_default();
        float_weights.push((mean, solution.clone()));
        fits.push((mean, targets, weights, solution));
    }
    progress.phase("rounding the weights")?;
    let head = |sweeps: usize| -> HeadSpec {
        let attempt = |width: Width| {
            let round = |output: usize| {
                let (_, targets, weights, solution) = &fits[output];
                let problem = SparseProblem { targets, rows: weights, lambda };
                all.round(&problem, solution, width, sweeps)
            };
            let rounded = parallel::map(fits.len(), round);
            let objective: f64 = rounded.iter().map(|rounded| rounded.objective).sum();
            (objective, width, rounded)
        };
        let attempts = widths(bits).into_iter().map(attempt);
        let best = attempts.reduce(|a, b| if b.0 < a.0 { b } else { a });
        let (_, width, rounded) = best.expect("there is at least one width");
        let outputs: Vec<RoundedOutput> = rounded
            .into_iter()
            .zip(&fits)
            .map(|(rounded, (mean, targets, weights, _))| {
                let values: Vec<f64> =
                    rounded.codes.iter().map(|&code| rounded.levels.weight(code)).collect();
                let total: f64 = weights.iter().sum();
                let left: f64 = all
                    .apply(&values)
                    .iter()
                    .zip(targets)
                    .zip(weights)
                    .map(|((value, y), weight)| weight * (y - value))
                    .sum();
                let levels = vec![rounded.head_levels()];
                RoundedOutput { codes: rounded.codes, levels, bias: mean + left / total }
            })
            .collect();
        assemble(&spec, width, &outputs)
    };
    let (nearest, compensated) = (head(0), head(8));
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        let cells = Cells::new(&map.codes_of(table, &rows)?, map.codes(), slot_bits);
        let values: Vec<Vec<f64>> = float_weights
            .iter()
            .map(|(mean, weights)| cells.apply(weights).iter().map(|v| v + mean).collect())
            .collect();
        Ok((0..table.rows()).flat_map(|row| values.iter().map(move |v| v[row])).collect())
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}
