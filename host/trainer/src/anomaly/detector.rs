//! Detectors: a similarity to normal rows, and the threshold below which a row is an
//! anomaly.

use faer::Mat;

use super::choice::choose;
use super::{auc, similarity, threshold};
use crate::blob::predictor;
use crate::features::FeatureMap;
use crate::fit::{Curvature, widths};
use crate::folds::hold_out_of;
use crate::plan::BankPlan;
use crate::quantise::Rounding;
use crate::ridge::System;
use crate::solve::Design;
use crate::unsupervised::{ROUNDING, Unsupervised, plain, thinned};
use crate::{Error, TrainOptions};
use koan_data::{SplitSize, Table, Target};

/// Share of the normal rows that the threshold is taken from.
const HELD_OUT: f64 = 0.3;

/// The similarity to the normal rows of `table` as a classification with one output:
/// class 1, normal, for a score above 0. `normal`: the class of the normal rows; none if
/// all are.
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
    let fitted = normal_rows.select(&fit_rows);
    let chosen = choose(&fitted, banks, options)?;
    let mut choice = plain(&fitted, &chosen.apply(banks), options);
    let map = FeatureMap::new(&choice.spec)?;
    let design = Design::of(&map, &fitted, &thinned(fitted.rows()))?;
    let none = Mat::zeros(1, design.rows());
    let moments = design.moments(none.as_ref(), None);
    let weights = similarity(&moments, chosen.lambda);
    let system = System::new(&moments);
    // More features of fewer bits are the better use of the same bytes.
    let bits = options.bits.unwrap_or(4);
    let rounded = Curvature::new(&system, ROUNDING).round(
        weights.as_ref(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, Progress, train};
    use koan_data::digits;

    #[test]
    fn other_digits_are_anomalies() {
        let table = digits::table();
        let (train_rows, test_rows): (Vec<usize>, Vec<usize>) =
            (0..table.rows()).partition(|row| row.is_multiple_of(2));
        let goal = Goal::Detect { normal: Some(0), false_alarm: 0.05 };
        let options = TrainOptions { goal, ..TrainOptions::default() };
        let (fit, test) = (table.select(&train_rows), table.select(&test_rows));
        let trained = train(&fit, Some(&test), &options, &Progress::none()).unwrap();
        let found = trained.report.detection.unwrap();
        assert!(found.auc.unwrap() > 0.9, "{found:?}");
        // What other rows are like is not looked at.
        let normal: Vec<usize> =
            train_rows.into_iter().filter(|&row| is_normal(&table, Some(0), row)).collect();
        let alone = train(&table.select(&normal), None, &options, &Progress::none()).unwrap();
        assert_eq!(alone.blob, trained.blob);
    }
}
