//! One way to make features, judged at many sizes at once.
//!
//! The features of a smaller model are the first ones of a larger one. So one
//! pass over the rows, which gives the Gram matrix of the largest, serves every
//! number of features (a leading block of each bank), every λ and all bits.

use faer::Mat;
use koan::Family;

use super::inputs::Inputs;
use super::metric::Metric;
use crate::blob::ModelSpec;
use crate::features::{BLOCK_ROWS, FeatureMap};
use crate::fit::{RoundedWeights, usual_width};
use crate::folds::Folds;
use crate::lambda::{few, given_or, upwards};
use crate::moments::Moments;
use crate::plan::realise;
use crate::problem::Problem;
use crate::products::Weights;
use crate::progress::Progress;
use crate::quantise::Rounding;
use crate::ridge::{LinearFit, System};
use crate::train::bank_plans;
use crate::{Error, TrainOptions};
use koan_data::{Table, Task};

/// A size to judge: features of each bank, and bits of a weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Features of each bank; of a bank of inputs all.
    pub features: Vec<u16>,
    /// Bits of a weight.
    pub bits: u8,
}

/// How good a size is on held-out rows.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// The best λ, relative as in [`TrainOptions::lambda`].
    pub lambda: f64,
    /// Mean squared error of the rounded weights.
    pub square: f64,
    /// The metric's loss.
    pub loss: f64,
}

/// The feature part of `options` at its largest, for each held-out part its own
/// if scales were learned, otherwise one.
pub(crate) fn specs(
    problem: &Problem<'_>,
    options: &TrainOptions,
    inputs: &Inputs,
) -> Result<Vec<ModelSpec>, Error> {
    let banks = bank_plans(problem.table, options)?;
    let lines = inputs.lines(options);
    let spec = |(normaliser, spread)| realise(options.seed, &banks, normaliser, spread);
    Ok(lines.map(spec).collect())
}

/// Judges all `sizes` of `options`, whose features are the largest, by fits on
/// all parts but one and the metric on that one, pooled. The λ of each size is
/// the best of `lambdas`.
pub(crate) fn curve(
    problem: &Problem<'_>,
    options: &TrainOptions,
    sizes: &[Size],
    lambdas: &[f64],
    folds: &Folds,
    inputs: &Inputs,
    metric: Metric,
) -> Result<Vec<Judgement>, Error> {
    let specs = specs(problem, options, inputs)?;
    let maps: Vec<FeatureMap> = specs.iter().map(FeatureMap::new).collect::<Result<_, _>>()?;
    let held = problem.table.select(&folds.held_rows());
    if super::wide::suits(&specs[0], maps[0].features(), folds.rows(), problem.outputs) {
        let judge = |size| super::wide::judge(problem, &specs, size, lambdas, folds, &held, metric);
        return sizes.iter().map(judge).collect();
    }
    let sums = |map: &FeatureMap, part: &[usize]| problem.moments(map, part, &Progress::none());
    let shared: Vec<Moments> = match maps.as_slice() {
        [map] => folds.parts.iter().map(|part| sums(map, part)).collect::<Result<_, _>>()?,
        _ => Vec::new(),
    };
    let mut sides = Vec::with_capacity(folds.held.len());
    for (number, &part) in folds.held.iter().enumerate() {
        let map = &maps[number.min(maps.len() - 1)];
        let made: Vec<Moments>;
        let own = match shared.as_slice() {
            [] => {
                made = folds.parts.iter().map(|part| sums(map, part)).collect::<Result<_, _>>()?;
                &made
            }
            shared => shared,
        };
        let mut fit = Moments::new(map.features(), problem.outputs);
        own.iter().enumerate().filter(|(i, _)| *i != part).for_each(|(_, sums)| fit.merge(sums));
        let features = map.features_of(problem.table, &folds.parts[part])?;
        sides.push(Side { fit, held: own[part].clone(), features, units: map.units().to_vec() });
    }
    sizes
        .iter()
        .map(|size| judge(problem, &specs[0], size, lambdas, &sides, &held, metric))
        .collect()
}

/// One held-out part and the rows to fit on.
struct Side {
    fit: Moments,
    held: Moments,
    /// Features of the held-out rows, rows × as many as there are units.
    features: Vec<i16>,
    units: Vec<f64>,
}

fn judge(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    size: &Size,
    lambdas: &[f64],
    sides: &[Side],
    held: &Table,
    metric: Metric,
) -> Result<Judgement, Error> {
    let columns = columns_of(spec, size);
    let mut small = spec.clone();
    for (bank, &features) in small.banks.iter_mut().zip(&size.features) {
        bank.features = features;
    }
    let parts: Vec<(System, Moments)> = sides
        .iter()
        .map(|side| (System::new(&side.fit.select(&columns)), side.held.select(&columns)))
        .collect();
    let rows: f64 = parts.iter().map(|(_, held)| held.count).sum();
    let error = |fits: &[LinearFit]| -> f64 {
        let part = |(fit, (_, held)): (&LinearFit, &(System, Moments))| {
            held.count * held.mean_squared_error(fit.weights.as_ref(), &fit.bias)
        };
        fits.iter().zip(&parts).map(part).sum::<f64>() / rows
    };
    let mut best = (f64::INFINITY, lambdas[0]);
    if lambdas.len() > 1 {
        for &lambda in lambdas {
            let fits: Vec<LinearFit> =
                parts.iter().map(|(system, _)| system.solve(lambda)).collect();
            let reached = error(&fits);
            if reached < best.0 {
                best = (reached, lambda);
            }
        }
    }
    // Rounding to few bits wants more shrinkage.
    let stronger = if size.bits <= 4 { 2 } else { 1 };
    let mut chosen: Option<(f64, f64, Vec<LinearFit>)> = None;
    for lambda in upwards(best.1).take(stronger) {
        let fits: Vec<LinearFit> =
            parts.iter().map(|(system, _)| rounded(system, &small, size.bits, lambda)).collect();
        let reached = error(&fits);
        if chosen.as_ref().is_none_or(|(least, ..)| reached < *least) {
            chosen = Some((reached, lambda, fits));
        }
    }
    let (square, lambda, fits) = chosen.expect("there is at least one lambda");
    let mut scores = Vec::with_capacity(held.rows() * problem.outputs);
    for (side, fit) in sides.iter().zip(&fits) {
        let units = side.units.len();
        let weights = Weights::new(fit.weights.as_ref(), |weight| weight);
        for rows in side.features.chunks(BLOCK_ROWS * units) {
            let count = rows.len() / units;
            let features = Mat::from_fn(columns.len(), count, |k, row| {
                f64::from(rows[row * units + columns[k]]) * side.units[columns[k]]
            });
            let block = weights.products(features.as_ref());
            let of_row = |row: usize| (0..problem.outputs).map(move |output| (output, row));
            let places = (0..count).flat_map(of_row);
            scores.extend(places.map(|(output, row)| block[(output, row)] + fit.bias[output]));
        }
    }
    // A table of numbers has its own measure: the squared error says the same.
    let loss = metric.of_scores(held, &scores);
    Ok(Judgement { lambda, square, loss })
}

/// The columns of a size among those of the largest.
fn columns_of(spec: &ModelSpec, size: &Size) -> Vec<usize> {
    let mut start = 0;
    let mut columns = Vec::new();
    for (bank, &features) in spec.banks.iter().zip(&size.features) {
        columns.extend(bank.first(features).into_iter().map(|column| start + column));
        start += bank.columns();
    }
    columns
}

/// The fit for a λ, its weights rounded through its own normal equations.
fn rounded(system: &System, spec: &ModelSpec, bits: u8, lambda: f64) -> LinearFit {
    let (factor, lambda) = system.factor(lambda);
    let matrix = system.regularised(lambda);
    let fit = system.solve_with(&factor, lambda);
    let width = usual_width(bits);
    let rounded = RoundedWeights::new(
        fit.weights.as_ref(),
        spec,
        width,
        factor.L(),
        matrix.as_ref(),
        Rounding::Compensated,
    );
    let bias = system.bias(&rounded.weights);
    let weights: Mat<f64> = rounded.weights;
    LinearFit { weights, bias, lambda }
}

/// Values of λ to begin with.
#[must_use]
pub(crate) fn first_lambdas(options: &TrainOptions, task: Task) -> Vec<f64> {
    given_or(options.lambda, few(task))
}

/// Whether the λ that is found means the same to training: bins alone have a
/// solver of their own there, which finds its own.
#[must_use]
pub(crate) fn keeps_lambda(spec: &ModelSpec) -> bool {
    !matches!(spec.banks.as_slice(), [bank] if matches!(bank.family, Family::Bin { .. }))
}
