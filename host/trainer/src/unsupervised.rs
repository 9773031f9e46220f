//! Models that no target is needed for: coordinates and anomaly scores.
//!
//! Nothing tells a good input map or frequency from a bad one without a target,
//! so what is not given is not searched: inputs are normalised one by one (all
//! alike when there are many), the frequency is 1.

use faer::Mat;
use koan::FEATURE_ONE;

use crate::anomaly::{auc, mean_embedding, threshold};
use crate::blob::{ModelSpec, predictor};
use crate::embed::{Components, components};
use crate::features::FeatureMap;
use crate::fit::{Curvature, hold_out_of, widths};
use crate::normalise::{Kind, Normaliser};
use crate::plan::{BankPlan, realise};
use crate::quantise::Rounding;
use crate::ridge::System;
use crate::select::{Choice, MAPPED_INPUTS};
use crate::solve::Design;
use crate::{Error, TrainOptions};
use koan_data::{SplitSize, Table, Target};

/// Rows that means and components are computed of, at most: more change them
/// by less than rounding does.
const MAX_ROWS: usize = 100_000;
/// Share of the normal rows that the threshold is taken from.
const HELD_OUT: f64 = 0.3;
/// Ridge, in the usual units, of the matrix that weights are rounded through.
const ROUNDING: f64 = 1e-4;

/// A model and how good it is.
#[derive(Clone, Debug)]
pub struct Unsupervised {
    /// The model, with head.
    pub spec: ModelSpec,
    /// Input map and banks.
    pub choice: Choice,
}

/// The feature part, with the options' or usual maps and frequencies.
fn plain(table: &Table, banks: &[BankPlan], options: &TrainOptions) -> Choice {
    let rows: Vec<usize> = (0..table.rows()).collect();
    let usual = if table.inputs > MAPPED_INPUTS { Kind::Shared } else { Kind::PerInput };
    let kind = options.map.unwrap_or(usual);
    let normaliser = Normaliser::fit(table, &rows, kind);
    let spread = normaliser.spread(table, &rows);
    let spec = realise(options.seed, banks, &normaliser, &spread);
    Choice { spec, normaliser, kind, relevance: false, banks: banks.to_vec(), trials: Vec::new() }
}

/// Every so-manieth row, so that there are at most [`MAX_ROWS`].
fn thinned(rows: usize) -> Vec<usize> {
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
/// function of the outputs of `blob` does not give back.
///
/// # Errors
/// A table that does not suit the model.
pub fn variance_lost(blob: &[u8], spec: &ModelSpec, table: &Table) -> Result<f64, Error> {
    let map = FeatureMap::new(spec)?;
    let rows = thinned(table.rows());
    let design = Design::of(&map, table, &rows)?;
    let mut runner = predictor(blob)?;
    let outputs = runner.model().outputs();
    let mut values = vec![0.0f32; outputs];
    let mut targets = Mat::<f64>::zeros(outputs, rows.len());
    for (i, &row) in rows.iter().enumerate() {
        runner.values(table.row(row), &mut values)?;
        for (t, &value) in values.iter().enumerate() {
            targets[(t, i)] = f64::from(value);
        }
    }
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

/// The mean embedding of the normal rows of `table` as a classification with
/// one output: class 1, normal, for a score above 0. `normal`: the class of the
/// normal rows; none if all are.
///
/// # Errors
/// Too few normal rows for the false-alarm rate; what the format does not
/// allow.
pub fn detector(
    table: &Table,
    normal: Option<u32>,
    banks: &[BankPlan],
    false_alarm: f64,
    options: &TrainOptions,
) -> Result<Unsupervised, Error> {
    let rows: Vec<usize> = (0..table.rows()).filter(|&row| is_normal(table, normal, row)).collect();
    if rows.len() < 2 {
        return Err(Error::Impossible("training needs at least two normal rows".into()));
    }
    let unlabelled = Target::Values(vec![0.0; rows.len()]);
    let normal_rows = Table { target: unlabelled, ..table.select(&rows) };
    let size = SplitSize::TestFraction(HELD_OUT);
    let (fit_rows, held_rows) = hold_out_of(&normal_rows, size, options.seed);
    let mut choice = plain(&normal_rows.select(&fit_rows), banks, options);
    let map = FeatureMap::new(&choice.spec)?;
    let kept: Vec<usize> = thinned(fit_rows.len()).into_iter().map(|i| fit_rows[i]).collect();
    let design = Design::of(&map, &normal_rows, &kept)?;
    let none = Mat::zeros(1, design.rows());
    let system = System::new(&design.moments(none.as_ref(), None));
    let bits = options.bits.unwrap_or(8);
    let rounded = Curvature::new(&system, ROUNDING).round(
        mean_embedding(&design).as_ref(),
        &choice.spec,
        widths(bits),
        Rounding::Compensated,
    );
    let mut spec = choice.spec.clone();
    spec.task = koan::Task::Classification;
    let mut head = rounded.head(&choice.spec, &[0.0]);
    spec.head = Some(head.clone());
    // The threshold counts in the model's own integer scores.
    let blob = spec.encode()?;
    let similarities = scores(&blob, &normal_rows.select(&held_rows))?;
    let threshold = threshold(&similarities, false_alarm)?;
    head.bias = vec![1 - threshold as i32];
    spec.head = Some(head);
    choice.spec = spec.clone();
    Ok(Unsupervised { spec, choice })
}

/// Whether `row` is of the normal class.
fn is_normal(table: &Table, normal: Option<u32>, row: usize) -> bool {
    match (&table.target, normal) {
        (Target::Classes { labels }, Some(normal)) => labels[row] == normal,
        _ => true,
    }
}

/// First scores of all rows, exact integers.
fn scores(blob: &[u8], table: &Table) -> Result<Vec<f64>, Error> {
    let mut runner = predictor(blob)?;
    (0..table.rows())
        .map(|row| Ok(runner.scores(table.row(row)).map(|scores| f64::from(scores[0]))?))
        .collect()
}

/// What a detector does on some rows.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Detection {
    /// The share of rows that are taken for the other kind.
    pub error: f64,
    /// The share of normal rows that are called anomalies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_alarms: Option<f64>,
    /// The share of anomalies that are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detected: Option<f64>,
    /// Area under the ROC curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
}

impl Detection {
    /// Means over detectors of parts of the same rows; over those that there was
    /// something to judge by.
    #[must_use]
    pub fn mean(parts: &[Self]) -> Self {
        let mean = |values: Vec<f64>| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let over = |of: fn(&Self) -> Option<f64>| mean(parts.iter().filter_map(of).collect());
        Self {
            error: over(|part| Some(part.error)).unwrap_or(f64::NAN),
            false_alarms: over(|part| part.false_alarms),
            detected: over(|part| part.detected),
            auc: over(|part| part.auc),
        }
    }
}

/// Runs a detector over rows, of which the class `normal` (none: all) is
/// normal.
///
/// # Errors
/// A table that does not suit the model.
pub fn detect(blob: &[u8], table: &Table, normal: Option<u32>) -> Result<Detection, Error> {
    let scores = scores(blob, table)?;
    let normal: Vec<bool> = (0..table.rows()).map(|row| is_normal(table, normal, row)).collect();
    let alarm = |row: usize| scores[row] <= 0.0;
    let rate = |of: bool| {
        let mine = (0..normal.len()).filter(|&row| normal[row] == of);
        let count = mine.clone().count();
        (count > 0).then(|| mine.filter(|&row| alarm(row)).count() as f64 / count as f64)
    };
    let wrong = (0..normal.len()).filter(|&row| alarm(row) == normal[row]).count();
    Ok(Detection {
        error: wrong as f64 / normal.len().max(1) as f64,
        false_alarms: rate(true),
        detected: rate(false),
        auc: auc(&scores, &normal),
    })
}
