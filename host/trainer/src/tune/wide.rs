//! Candidates that have all inputs among their features, where these are thousands and rows are few:
//! judged by fits in their dual form, since sums over the rows would be far larger than the rows.

use koan::Family;

use super::curve::{Judgement, Size};
use super::metric::Metric;
use crate::Error;
use crate::blob::ModelSpec;
use crate::dual;
use crate::features::FeatureMap;
use crate::fit::{WideFit, WideSide};
use crate::folds::Folds;
use crate::lambda::upwards;
use crate::problem::Problem;
use koan_data::Table;

/// Whether models of so many features on so many rows are judged so. Other features are no more than
/// there are rows for.
pub(super) fn suits(spec: &ModelSpec, features: usize, rows: usize, outputs: usize) -> bool {
    let all_inputs = spec.banks.iter().any(|bank| bank.family == Family::Linear);
    let inputs = if all_inputs { usize::from(spec.inputs) } else { 0 };
    dual::suits(inputs, rows, outputs) && dual::suits(features, rows, outputs)
}

/// Judges one size as [`super::curve::curve`] does; `specs` are those of the held-out parts, or one
/// for all.
pub(super) fn judge(
    problem: &Problem<'_>,
    specs: &[ModelSpec],
    size: &Size,
    lambdas: &[f64],
    folds: &Folds,
    held: &Table,
    metric: Metric,
) -> Result<Judgement, Error> {
    let mut sides = Vec::with_capacity(folds.held.len());
    let mut small = specs[0].clone();
    for (number, &part) in folds.held.iter().enumerate() {
        small = specs[number.min(specs.len() - 1)].clone();
        for (bank, &features) in small.banks.iter_mut().zip(&size.features) {
            bank.features = features;
        }
        let map = FeatureMap::new(&small)?;
        sides.push(WideSide::new(problem, &map, &folds.fit_rows(part), &folds.parts[part])?);
    }
    let total = sides.iter().map(WideSide::weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = |error: &dyn Fn(usize) -> f64| {
        (0..sides.len()).map(|side| sides[side].weight() * error(side)).sum::<f64>() / total
    };
    let errors = lambdas.iter().map(|&lambda| (mean(&|side| sides[side].real(lambda)), lambda));
    let best = match lambdas {
        [lambda] => *lambda,
        _ => errors.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1.0, |(_, lambda)| lambda),
    };
    // Rounding to few bits wants more shrinkage.
    let stronger = if size.bits <= 4 { 2 } else { 1 };
    let rounded = upwards(best).take(stronger).map(|lambda| {
        let fits: Vec<WideFit> =
            sides.iter().map(|side| side.rounded(&small, size.bits, lambda)).collect();
        let square = mean(&|side| sides[side].error(fits[side].0.as_ref(), &fits[side].1));
        (square, lambda, fits)
    });
    let (square, lambda, fits) =
        rounded.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is at least one lambda");
    let mut scores = Vec::with_capacity(held.rows() * problem.outputs);
    for (side, (weights, bias)) in sides.iter().zip(&fits) {
        let all = side.held.scores(weights.as_ref(), bias);
        scores.extend(all.col_iter().flat_map(|row| row.iter().copied()));
    }
    Ok(Judgement { lambda, square, loss: metric.of_scores(held, &scores) })
}

#[cfg(test)]
mod tests {
    use super::super::curve::{curve, specs};
    use super::super::inputs::Inputs;
    use super::*;
    use crate::{FamilyName, TrainOptions};
    use koan_data::TableBuilder;

    /// Both forms have one solution, and round it nearly alike.
    #[test]
    fn both_forms_judge_alike() {
        let rows = 90;
        let value = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 613) as f64;
        let names: Vec<String> = (0..40).map(|column| format!("c{column}")).collect();
        let columns: Vec<Vec<f64>> =
            (0..40).map(|column| (0..rows).map(|row| value(row, column)).collect()).collect();
        let target: Vec<f64> = (0..rows).map(|row| value(row, 3) - 0.5 * value(row, 7)).collect();
        let table =
            names.iter().zip(&columns).fold(TableBuilder::new(rows), |table, (name, column)| {
                table.column(name.as_str(), &column[..])
            });
        let table = table.values("y", &target[..]).build().unwrap();
        let problem = Problem::new(&table, false);
        let options = TrainOptions {
            families: vec![FamilyName::Linear],
            map: Some(crate::MapKind::PerInput),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let inputs = Inputs::new(&problem, &[crate::MapKind::PerInput]);
        let folds = Folds::new(&table, 1).unwrap();
        let size = Size { features: vec![40], bits: 8 };
        let (lambdas, metric) = ([1e-4, 1e-2, 1.0], Metric::Error);
        let options = TrainOptions { features: vec![40], ..options };
        let usual = curve(
            &problem,
            &options,
            std::slice::from_ref(&size),
            &lambdas,
            &folds,
            &inputs,
            metric,
        );
        let usual = usual.unwrap()[0];
        let specs = specs(&problem, &options, &inputs).unwrap();
        let held = table.select(&folds.held_rows());
        let found = judge(&problem, &specs, &size, &lambdas, &folds, &held, metric).unwrap();
        assert_eq!(found.lambda, usual.lambda);
        let near = |a: f64, b: f64| (a - b).abs() < 0.02 * a.max(b);
        assert!(near(found.square, usual.square), "{found:?} {usual:?}");
        assert!(near(found.loss, usual.loss), "{found:?} {usual:?}");
    }
}
