//! What a model must beat: both stand in every report.

pub mod constant;
pub mod linear;

use serde::Serialize;

use crate::Error;
use crate::evaluate::{Evaluation, of_scores};
use crate::folds::Folds;
use koan_data::Table;

pub use constant::Constant;
pub use linear::Linear;

/// Folds of [`cross_validated`] at most.
const FOLDS: usize = 5;

/// Errors of the baselines, in the measure of the model's own error. Where rows have weights, each
/// counts as its weight says, as in [`Report::judged_error`](crate::Report::judged_error).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Baselines {
    /// Of always predicting the most frequent class, that of the most weight, or the mean.
    pub constant: f64,
    /// Of a linear model of the inputs themselves, by ridge regression or, of classes, logistic
    /// regression where that is better on training rows held out; none where the inputs are too
    /// many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<f64>,
    /// Of numbers: the root mean squared errors, in the target's units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant_rmse: Option<f64>,
    /// Likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear_rmse: Option<f64>,
}

impl Baselines {
    /// Fitted to `train`, judged on `test`; of no rows nothing is known.
    ///
    /// # Errors
    /// Tables that do not suit each other.
    pub fn held_out(train: &Table, test: &Table, seed: u64) -> Result<Self, Error> {
        let fitted = if test.rows() > 0 { Linear::fit(train, seed)? } else { None };
        let linear = match fitted {
            Some(linear) => Some(of_scores(test, &linear.scores(test)?)),
            None => None,
        };
        let constant = of_scores(test, &Constant::fit(train).scores(test));
        Ok(Self::of(&constant, linear.as_ref()))
    }

    pub(crate) fn of(constant: &Evaluation, linear: Option<&Evaluation>) -> Self {
        let error = |evaluation: &Evaluation| evaluation.weighted_error.unwrap_or(evaluation.error);
        Self {
            constant: error(constant),
            linear: linear.map(error),
            constant_rmse: constant.rmse,
            linear_rmse: linear.and_then(|linear| linear.rmse),
        }
    }

    /// Means over baselines of parts of the same rows.
    #[must_use]
    pub fn mean(parts: &[Self]) -> Self {
        let count = parts.len() as f64;
        let mean = |of: fn(&Self) -> Option<f64>| {
            let sum: Option<f64> = parts.iter().map(of).sum();
            sum.map(|sum| sum / count)
        };
        Self {
            constant: parts.iter().map(|part| part.constant).sum::<f64>() / count,
            linear: mean(|part| part.linear),
            constant_rmse: mean(|part| part.constant_rmse),
            linear_rmse: mean(|part| part.linear_rmse),
        }
    }

    /// Judged on all rows of `table`: the constant that is best for them, and for each row the
    /// linear model of the other folds, stratified and of whole groups; none for fewer than four
    /// rows or two groups, or where all rows have the same target, which the constant always is.
    ///
    /// # Errors
    /// A table that cannot be split.
    pub fn cross_validated(table: &Table, seed: u64) -> Result<Option<Self>, Error> {
        let found = in_turn(table, seed)?;
        Ok(found.map(|(constant, linear)| Self::of(&constant, linear.as_ref())))
    }
}

/// What [`Baselines::cross_validated`] is made from.
fn in_turn(table: &Table, seed: u64) -> Result<Option<(Evaluation, Option<Evaluation>)>, Error> {
    let rows = table.rows();
    if rows < 4 || table.target.is_one_value() {
        return Ok(None);
    }
    let mut order = Vec::new();
    let mut linear = Some(Vec::new());
    // Few groups of one class may leave some of many folds empty.
    let folds = (2..=FOLDS).rev().find_map(|count| Folds::of(table, count, seed).ok());
    let Some(folds) = folds else { return Ok(None) };
    for (kept, fold) in folds.splits() {
        let (train, test) = (table.select(&kept), table.select(&fold));
        let fitted = Linear::fit(&train, seed)?;
        linear = match (linear, fitted) {
            (Some(mut all), Some(fitted)) => {
                all.extend(fitted.scores(&test)?);
                Some(all)
            }
            _ => None,
        };
        order.extend(fold);
    }
    let judged = table.select(&order);
    let constant = of_scores(&judged, &Constant::fit(&judged).scores(&judged));
    Ok(Some((constant, linear.map(|scores| of_scores(&judged, &scores)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::TableBuilder;

    /// Ten rare rows that count as much as thirty each are not the rare ones.
    #[test]
    fn a_constant_is_judged_by_the_weights_of_rows() {
        let x: Vec<f64> = (0..100).map(|row| f64::from(row * 37 % 100)).collect();
        let kinds: Vec<i64> = (0..100).map(|row| i64::from(row % 10 == 0)).collect();
        let weights: Vec<f64> =
            kinds.iter().map(|&kind| if kind == 1 { 30.0 } else { 1.0 }).collect();
        let table = TableBuilder::new(100).column("x", &x[..]).classes("kind", &kinds[..]);
        let table = table.weights(&weights[..]).build().unwrap();
        let found = Baselines::cross_validated(&table, 1).unwrap().unwrap();
        assert!((found.constant - 90.0 / 390.0).abs() < 1e-9, "{found:?}");
        let held_out = Baselines::held_out(&table, &table.select(&[0, 1, 2, 3]), 1).unwrap();
        assert!((held_out.constant - 3.0 / 33.0).abs() < 1e-9, "{held_out:?}");
    }

    /// Where each class is one of the groups, what is left of a class says nothing of all rows.
    #[test]
    fn a_constant_is_that_of_all_rows_whatever_their_groups() {
        let x: Vec<f64> = (0..120).map(f64::from).collect();
        let kinds: Vec<i64> = (0..120).map(|row| row / 10 % 3).collect();
        let recordings: Vec<i64> = (0..120).map(|row| row / 10).collect();
        let table = TableBuilder::new(120)
            .column("x", &x[..])
            .classes("kind", &kinds[..])
            .groups(&recordings[..])
            .build()
            .unwrap();
        let found = Baselines::cross_validated(&table, 1).unwrap().unwrap();
        assert!((found.constant - 2.0 / 3.0).abs() < 1e-9, "{found:?}");
    }
}
