//! What a model must beat: both stand in every report.

pub mod constant;
pub mod linear;

use serde::Serialize;

use crate::Error;
use crate::evaluate::of_scores;
use koan_data::{Division, SplitSize, Table, folds, split};

pub use constant::Constant;
pub use linear::Linear;

/// Folds of [`cross_validated`] at most.
const FOLDS: usize = 5;

/// Errors of the baselines, in the measure of the model's own error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baselines {
    /// Of always predicting the most frequent class, or the mean.
    pub constant: f64,
    /// Of ridge regression on the inputs themselves; none where the inputs are
    /// too many ([`linear::MAX_INPUTS`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<f64>,
}

impl Baselines {
    /// Fitted to `train`, judged on `test`.
    ///
    /// # Errors
    /// Tables that do not suit each other.
    pub fn held_out(train: &Table, test: &Table, seed: u64) -> Result<Self, Error> {
        let linear = match Linear::fit(train, seed)? {
            Some(linear) => Some(of_scores(test, &linear.scores(test)?).error),
            None => None,
        };
        let constant = of_scores(test, &Constant::fit(train).scores(test)).error;
        Ok(Self { constant, linear })
    }

    /// Means over baselines of parts of the same rows.
    #[must_use]
    pub fn mean(parts: &[Self]) -> Self {
        let count = parts.len() as f64;
        let linear: Option<f64> = parts.iter().map(|part| part.linear).sum();
        Self {
            constant: parts.iter().map(|part| part.constant).sum::<f64>() / count,
            linear: linear.map(|sum| sum / count),
        }
    }

    /// Judged on all rows of `table`, each by what was fitted to the other
    /// folds of it, which hold whole groups; none for fewer than four rows or
    /// two groups.
    ///
    /// # Errors
    /// A table that cannot be split.
    pub fn cross_validated(table: &Table, seed: u64) -> Result<Option<Self>, Error> {
        let rows = table.rows();
        if rows < 4 {
            return Ok(None);
        }
        let mut order = Vec::new();
        let (mut constant, mut linear) = (Vec::new(), Some(Vec::new()));
        let folds = match &table.division {
            Division::Groups(_) => folds_of_groups(table, seed),
            _ => folds_of(table, FOLDS.min(rows / 2), seed)?,
        };
        if folds.is_empty() {
            return Ok(None);
        }
        for fold in folds {
            let mut held = vec![false; rows];
            fold.iter().for_each(|&row| held[row] = true);
            let kept: Vec<usize> = (0..rows).filter(|&row| !held[row]).collect();
            let (train, test) = (table.select(&kept), table.select(&fold));
            constant.extend(Constant::fit(&train).scores(&test));
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
        let error = |scores: Vec<f64>| of_scores(&judged, &scores).error;
        Ok(Some(Self { constant: error(constant), linear: linear.map(error) }))
    }
}

/// The rows of each fold, groups whole, ascending: [`FOLDS`] of them or as many
/// as there are groups for; none for a single group.
fn folds_of_groups(table: &Table, seed: u64) -> Vec<Vec<usize>> {
    let parts = (2..=FOLDS).rev().find_map(|count| Some((count, folds(table, count, seed).ok()?)));
    let Some((count, parts)) = parts else { return Vec::new() };
    let mut all = vec![Vec::new(); count];
    parts.iter().enumerate().for_each(|(row, &part)| all[part].push(row));
    all
}

/// The rows of each fold, classes evenly spread, ascending.
fn folds_of(table: &Table, folds: usize, seed: u64) -> Result<Vec<Vec<usize>>, Error> {
    let mut left: Vec<usize> = (0..table.rows()).collect();
    let mut all = Vec::new();
    for fold in 0..folds - 1 {
        let target = table.target.select(&left);
        let size = SplitSize::TestRows(left.len() / (folds - fold));
        let (kept, taken) = split(&target, size, seed.wrapping_add(fold as u64))?;
        all.push(taken.into_iter().map(|i| left[i]).collect());
        left = kept.into_iter().map(|i| left[i]).collect();
    }
    all.push(left);
    Ok(all)
}
