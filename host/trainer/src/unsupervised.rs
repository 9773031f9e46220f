//! Models that no target is needed for: coordinates. Anomaly scores are in
//! [`crate::anomaly`].
//!
//! Nothing tells a good input map or frequency of coordinates from a bad one,
//! so what is not given is not searched: inputs are normalised one by one (all
//! alike when there are many), the frequency is 1.

use faer::Mat;
use koan::{FEATURE_ONE, Model};

use crate::blob::ModelSpec;
use crate::embed::{Components, components};
use crate::features::FeatureMap;
use crate::fit::{Curvature, widths};
use crate::learning_curve::values;
use crate::map_choice::may_map_each;
use crate::normalise::{Kind, Normaliser};
use crate::plan::{BankPlan, realise};
use crate::quantise::Rounding;
use crate::ridge::System;
use crate::select::Choice;
use crate::solve::Design;
use crate::{Error, Goal, TrainOptions};
use koan_data::Table;

/// Rows that means and components are computed of, at most: more change them
/// by less than rounding does.
const MAX_ROWS: usize = 100_000;
/// Ridge, in the usual units, of the matrix that weights are rounded through.
pub(crate) const ROUNDING: f64 = 1e-4;

/// A model and how good it is.
#[derive(Clone, Debug)]
pub struct Unsupervised {
    /// The model, with head.
    pub spec: ModelSpec,
    /// Input map and banks.
    pub choice: Choice,
}

/// The feature part, with the options' or usual maps and frequencies.
pub(crate) fn plain(table: &Table, banks: &[BankPlan], options: &TrainOptions) -> Choice {
    let rows: Vec<usize> = (0..table.rows()).collect();
    let usual = if may_map_each(table) { Kind::PerInput } else { Kind::of_many(table) };
    let kind = options.map.unwrap_or(usual);
    let mut normaliser = Normaliser::fit(table, &rows, kind);
    if matches!(options.goal, Goal::Detect { .. }) && kind != Kind::Shared {
        normaliser = normaliser.with_constants();
    }
    let spread = normaliser.spread(table, &rows);
    let spec = realise(options.seed, banks, &normaliser, &spread);
    Choice { spec, normaliser, kind, relevance: false, banks: banks.to_vec(), trials: Vec::new() }
}

/// Every n-th row, n such that there are at most [`MAX_ROWS`].
pub(crate) fn thinned(rows: usize) -> Vec<usize> {
    (0..rows).step_by(rows.div_ceil(MAX_ROWS).max(1)).collect()
}

/// Principal components of the features as the outputs of a regression; the
/// targets of `table` are not looked at.
///
/// # Errors
/// More outputs than features; what the format does not allow.
pub fn embedding(
    table: &Table,
    banks: &[BankPlan],
    outputs: u8,
    options: &TrainOptions,
) -> Result<Unsupervised, Error> {
    if outputs < 2 {
        return Err(Error::parameter("outputs", "an embedding has from 2 to 255 outputs"));
    }
    let choice = plain(table, banks, options);
    let map = FeatureMap::new(&choice.spec)?;
    let design = Design::of(&map, table, &thinned(table.rows()))?;
    let none = Mat::zeros(1, design.rows());
    let system = System::new(&design.moments(none.as_ref(), None));
    let Components { fit, .. } = components(&system, design.rows() as f64, usize::from(outputs))?;
    let bits = options.bits.unwrap_or(8);
    let rounded = Curvature::new(&system, ROUNDING).round(
        fit.weights.as_ref(),
        &choice.spec,
        widths(bits),
        Rounding::Compensated,
    );
    // The mean of the rows is the origin.
    let bias: Vec<f64> = (0..usize::from(outputs))
        .map(|t| {
            let means = system.means().iter().enumerate();
            -means.map(|(k, mean)| mean * rounded.weights[(k, t)]).sum::<f64>()
        })
        .collect();
    let mut spec = choice.spec.clone();
    spec.task = koan::Task::Regression;
    let mut head = rounded.head(&choice.spec, &bias);
    // Coordinates of features whose largest magnitude is 1.
    head.scale /= f32::from(FEATURE_ONE);
    spec.head = Some(head);
    Ok(Unsupervised { spec, choice })
}

/// The share of the features' variance on the rows of `table` that a linear
/// function of the outputs of `blob` does not give back; of no rows NaN.
///
/// # Errors
/// A table that does not suit the model.
pub fn variance_lost(blob: &[u8], spec: &ModelSpec, table: &Table) -> Result<f64, Error> {
    if table.rows() == 0 {
        return Ok(f64::NAN);
    }
    let map = FeatureMap::new(spec)?;
    let rows = thinned(table.rows());
    let design = Design::of(&map, table, &rows)?;
    let outputs = Model::parse(blob)?.outputs();
    let values = values(blob, &table.select(&rows))?;
    let targets = Mat::from_fn(outputs, rows.len(), |t, i| f64::from(values[i * outputs + t]));
    // Regression of all features on the coordinates: their covariance C, and
    // the features' covariance with them, B; BᵀB in the metric of C⁻¹.
    let system = System::new(&design.moments(targets.as_ref(), None));
    let means: Vec<f64> =
        (0..outputs).map(|t| targets.row(t).iter().sum::<f64>() / rows.len() as f64).collect();
    let centred = Mat::from_fn(outputs, rows.len(), |t, i| targets[(t, i)] - means[t]);
    let mut covariance = &centred * centred.transpose();
    let largest = (0..outputs).map(|t| covariance[(t, t)]).fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(1.0);
    }
    for t in 0..outputs {
        covariance[(t, t)] += 1e-12 * largest;
    }
    use faer::linalg::solvers::Solve;
    let Ok(factor) = covariance.llt(faer::Side::Lower) else { return Ok(1.0) };
    let across = system.cross();
    let explained = factor.solve(across.transpose());
    let kept: f64 = (0..outputs)
        .map(|t| (0..across.nrows()).map(|k| across[(k, t)] * explained[(t, k)]).sum::<f64>())
        .sum();
    let total = system.unit() * across.nrows() as f64;
    Ok((1.0 - kept / total).clamp(0.0, 1.0))
}
