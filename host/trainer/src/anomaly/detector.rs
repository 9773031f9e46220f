//! Detectors: a similarity to normal rows, and the threshold below which a row is an
//! anomaly.

use faer::Mat;

use super::choice::choose;
use super::far::far_rows;
use super::{auc, similarity, threshold};
use crate::features::FeatureMap;
use crate::fit::{Curvature, widths};
use crate::folds::hold_out_of;
use crate::plan::BankPlan;
use crate::quantise::Rounding;
use crate::ridge::System;
use crate::scorer::per_row;
use crate::solve::Design;
use crate::unsupervised::{ROUNDING, Unsupervised, plain, thinned};
use crate::{Error, TrainOptions};
use koan_data::{SplitSize, Table, Target};

/// Share of the normal rows that the threshold is taken from.
const HELD_OUT: f64 = 0.3;
/// Far rows that are looked at, at most.
const FAR_ROWS: usize = 2000;

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
    let rows = normal_rows_of(table, normal);
    if rows.len() < 2 {
        return Err(Error::Impossible("training needs at least two normal rows".into()));
    }
    let unlabelled = Target::Values(vec![0.0; rows.len()]);
    let normal_rows = Table { target: unlabelled, ..table.select(&rows) };
    let size = SplitSize::TestFraction(HELD_OUT);
    let (fit_rows, held_rows) = hold_out_of(&normal_rows, size, options.seed);
    let fitted = normal_rows.select(&fit_rows);
    let chosen = choose(&fitted, banks, false_alarm, options)?;
    let mut choice = plain(&fitted, &chosen.apply(banks), options);
    let map = FeatureMap::new(&choice.spec)?;
    let rows = thinned(fitted.rows());
    let none = Mat::zeros(1, rows.len());
    let moments_of = |table: &Table, rows: &[usize]| {
        Ok::<_, Error>(Design::of(&map, table, rows)?.moments(none.as_ref(), None))
    };
    let mut moments = moments_of(&fitted, &rows)?;
    let weights = similarity(&moments, chosen.lambda);
    // What rounding changes is not to be put where no normal row is.
    let far = far_rows(&fitted.select(&rows));
    moments.merge(&moments_of(&far, &(0..rows.len()).collect::<Vec<usize>>())?);
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

/// The rows of the normal class.
pub(crate) fn normal_rows_of(table: &Table, normal: Option<u32>) -> Vec<usize> {
    (0..table.rows()).filter(|&row| is_normal(table, normal, row)).collect()
}

/// Whether `row` is of the normal class.
fn is_normal(table: &Table, normal: Option<u32>, row: usize) -> bool {
    match (&table.target, normal) {
        (Target::Classes { labels }, Some(normal)) => labels[row] == normal,
        _ => true,
    }
}

/// The share of rows far from all normal ones of `table` that `blob` takes for normal.
///
/// # Errors
/// A table that does not suit the model.
pub(crate) fn far_passed(blob: &[u8], table: &Table, normal: Option<u32>) -> Result<f64, Error> {
    let rows = normal_rows_of(table, normal);
    let step = rows.len().div_ceil(FAR_ROWS).max(1);
    let some: Vec<usize> = rows.into_iter().step_by(step).collect();
    let far = scores(blob, &far_rows(&table.select(&some)))?;
    Ok(far.iter().filter(|&&score| score > 0.0).count() as f64 / far.len().max(1) as f64)
}

/// First scores of all rows, exact integers.
fn scores(blob: &[u8], table: &Table) -> Result<Vec<f64>, Error> {
    Ok(per_row(blob, table, 1, |_, scores, out| out[0] = f64::from(scores[0]))?)
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
        // NaN of no rows.
        error: wrong as f64 / normal.len() as f64,
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
    fn without_test_rows_nothing_is_known() {
        let table = digits::table().select(&(0..120).collect::<Vec<_>>());
        let goal = Goal::Detect { normal: None, false_alarm: 0.05 };
        let options = TrainOptions { goal, features: vec![16], ..TrainOptions::default() };
        let report = train(&table, None, &options, &Progress::none()).unwrap().report;
        assert!(report.error.is_nan() && report.rows == 0, "{}", report.error);
    }

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

    /// Skewed rows, whose few neighbours in the tails no feature of a high frequency sees.
    fn skewed(rows: usize, seed: u64) -> Table {
        let stream = koan::generator::Stream::new(seed, 0);
        let uniform = |i: usize| (stream.draw(i as u64) as f64 + 1.0) / (u64::MAX as f64 + 2.0);
        let exponential = |i: usize| -uniform(i).ln();
        let values: Vec<f32> =
            (0..3 * rows).map(|i| (exponential(2 * i) + exponential(2 * i + 1)) as f32).collect();
        koan_data::TableBuilder::new(rows)
            .matrix(3, &values[..])
            .values("y", &vec![0.0f32; rows][..])
            .build()
            .unwrap()
    }

    /// The currents of three phases, their sum and the temperature of the room. One load drives the
    /// first four, or nothing does; in every fifth row a phase is a quarter less.
    fn currents(rows: usize, seed: u64, load: bool) -> Table {
        let stream = koan::generator::Stream::new(seed, 0);
        let uniform = |i: usize| stream.draw(i as u64) as f64 / u64::MAX as f64;
        let of_row = |row: usize| {
            let draw = |place: usize| uniform(10 * row + place);
            let phase = |phase: usize| {
                let driven = if load { draw(0) } else { draw(phase) };
                let less = if row.is_multiple_of(5) && phase == 1 { 0.75 } else { 1.0 };
                less * (5.0 + 10.0 * driven) + draw(3 + phase)
            };
            let phases = [0, 1, 2].map(phase);
            let sum = phases.iter().sum::<f64>() * (1.0 + 0.05 * draw(6));
            let sum = if load { sum } else { 45.0 * draw(7) };
            let all = phases.into_iter().chain([sum, 20.0 * draw(8)]);
            all.map(|value| value as f32).collect::<Vec<_>>()
        };
        let values: Vec<f32> = (0..rows).flat_map(of_row).collect();
        let states = |row: usize| if row.is_multiple_of(5) { "fault" } else { "ok" };
        let states: Vec<&str> = (0..rows).map(states).collect();
        let table = koan_data::TableBuilder::new(rows).matrix(5, &values[..]);
        table.classes("state", &states[..]).build().unwrap()
    }

    #[test]
    fn what_drives_all_inputs_is_learned() {
        let goal = Goal::Detect { normal: Some(1), false_alarm: 0.02 };
        let options = TrainOptions { goal, features: vec![512], ..TrainOptions::default() };
        let [fit, test] = [1, 2].map(|seed| currents(1500, seed, true));
        let report = train(&fit, Some(&test), &options, &Progress::none()).unwrap().report;
        assert!(report.detection.unwrap().auc.unwrap() > 0.97);
        // Where nothing does, there is nothing to learn but where the rows are.
        let lambda = |load: bool| {
            let rows: Vec<usize> = (0..1500usize).filter(|row| !row.is_multiple_of(5)).collect();
            let normal = currents(1500, 1, load).select(&rows);
            let banks = crate::train::bank_plans(&normal, &options).unwrap();
            choose(&normal, &banks, 0.02, &options).unwrap().lambda
        };
        let (driven, free) = (lambda(true), lambda(false));
        assert!(driven < 0.01 && free >= 0.01, "{driven} {free}");
    }

    #[test]
    fn rows_far_from_all_normal_ones_are_anomalies() {
        let goal = Goal::Detect { normal: None, false_alarm: 0.01 };
        let table = skewed(1500, 1);
        for seed in 1..4 {
            let options = TrainOptions { goal, seed, ..TrainOptions::default() };
            let made = train(&table, None, &options, &Progress::none()).unwrap();
            let passed = far_passed(&made.blob, &table, None).unwrap();
            assert!(passed < 0.03, "seed {seed}: {passed}");
            assert!(made.report.warnings.is_empty(), "{:?}", made.report.warnings);
        }
        // What is given is kept, and said to be of little use.
        let options = TrainOptions { goal, frequency: Some(vec![8.0]), ..TrainOptions::default() };
        let made = train(&table, None, &options, &Progress::none()).unwrap();
        let [said] = &made.report.warnings[..] else { panic!("{:?}", made.report.warnings) };
        assert!(said.contains("far outside"), "{said}");
    }

    #[test]
    fn more_false_alarms_than_asked_for_are_said() {
        let (table, mut other) = (skewed(1500, 1), skewed(300, 2));
        let goal = Goal::Detect { normal: None, false_alarm: 0.05 };
        let options = TrainOptions { goal, ..TrainOptions::default() };
        let said = |test: &Table| {
            train(&table, Some(test), &options, &Progress::none()).unwrap().report.warnings
        };
        assert!(said(&other).is_empty());
        other.values.iter_mut().for_each(|value| *value += 2.0);
        let warnings = said(&other);
        assert!(warnings[0].contains("where 5.00 % were asked for"), "{warnings:?}");
    }
}
