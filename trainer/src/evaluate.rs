//! Errors of a model on a table, through the core.

use rayon::prelude::*;
use serde::Serialize;

use crate::blob::predictor;
use crate::data::{Table, Target};

/// How good a model is on a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Fraction misclassified, or relative RMS error: RMSE over the RMS of the
    /// target.
    pub error: f64,
    /// Rows that were judged.
    pub rows: usize,
    /// Root mean squared error in the target's units (regression).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// `confusion[actual][predicted]` (classification).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
}

/// Runs `blob` over the table's rows and compares with its targets.
///
/// # Errors
/// A bad blob, or a table that does not suit it.
pub fn evaluate(blob: &[u8], table: &Table) -> Result<Evaluation, koan::Error> {
    let rows: Vec<usize> = (0..table.rows()).collect();
    match &table.target {
        Target::Classes { labels } => {
            let predicted: Vec<usize> = rows
                .par_iter()
                .map_init(
                    || predictor(blob),
                    |predictor, &row| predictor.as_mut().map_err(|e| *e)?.classify(table.row(row)),
                )
                .collect::<Result<_, _>>()?;
            let classes = table.schema.classes.len();
            let mut confusion = vec![vec![0u64; classes]; classes];
            for (&label, class) in labels.iter().zip(predicted) {
                if let Some(count) =
                    confusion.get_mut(label as usize).and_then(|row| row.get_mut(class))
                {
                    *count += 1;
                }
            }
            Ok(of_confusion(confusion))
        }
        Target::Values(targets) => {
            let values: Vec<f32> = rows
                .par_iter()
                .map_init(
                    || predictor(blob),
                    |predictor, &row| predictor.as_mut().map_err(|e| *e)?.predict(table.row(row)),
                )
                .collect::<Result<_, _>>()?;
            Ok(of_values(targets.iter().zip(&values).map(|(&y, &v)| (f64::from(y), f64::from(v)))))
        }
    }
}

/// The evaluation that a confusion matrix stands for.
#[must_use]
pub fn of_confusion(confusion: Vec<Vec<u64>>) -> Evaluation {
    let rows: u64 = confusion.iter().flatten().sum();
    let right: u64 = confusion.iter().enumerate().map(|(i, row)| row[i]).sum();
    let error = (rows - right) as f64 / rows.max(1) as f64;
    Evaluation { error, rows: rows as usize, rmse: None, confusion }
}

/// The evaluation of (target, prediction) pairs.
pub fn of_values(pairs: impl Iterator<Item = (f64, f64)>) -> Evaluation {
    let (mut rows, mut errors, mut squares) = (0usize, 0.0, 0.0);
    for (target, value) in pairs {
        rows += 1;
        errors += (target - value).powi(2);
        squares += target * target;
    }
    let rmse = (errors / rows.max(1) as f64).sqrt();
    // A target of zeros only has no relative error: the absolute one then.
    let error = if squares > 0.0 { (errors / squares).sqrt() } else { rmse };
    Evaluation { error, rows, rmse: Some(rmse), confusion: Vec::new() }
}

/// Evaluations of blocks of rows, added up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    confusion: Vec<Vec<u64>>,
    rows: usize,
    /// Σ (y − ŷ)².
    errors: f64,
    /// Σ y².
    squares: f64,
}

impl Tally {
    /// Adds the evaluation of the rows of `table`.
    pub fn add(&mut self, block: &Evaluation, table: &Table) {
        self.rows += block.rows;
        if let Some(rmse) = block.rmse {
            self.errors += rmse * rmse * block.rows as f64;
        }
        if let Target::Values(values) = &table.target {
            self.squares += values.iter().map(|&y| f64::from(y).powi(2)).sum::<f64>();
        }
        if self.confusion.is_empty() {
            self.confusion.clone_from(&block.confusion);
            return;
        }
        for (mine, theirs) in self.confusion.iter_mut().zip(&block.confusion) {
            for (count, more) in mine.iter_mut().zip(theirs) {
                *count += more;
            }
        }
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The evaluation of all rows.
    #[must_use]
    pub fn finish(self) -> Evaluation {
        if !self.confusion.is_empty() {
            return of_confusion(self.confusion);
        }
        let rmse = (self.errors / self.rows.max(1) as f64).sqrt();
        let error = if self.squares > 0.0 { (self.errors / self.squares).sqrt() } else { rmse };
        Evaluation { error, rows: self.rows, rmse: Some(rmse), confusion: Vec::new() }
    }
}
