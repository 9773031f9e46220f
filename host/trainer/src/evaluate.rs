//! Errors of a model on a table, through the core.

use koan::{Error, Model, Task, class_of};
use serde::{Deserialize, Serialize};

use crate::anomaly::auc;
use crate::blob::schema;
use crate::scorer::per_row;
use koan_data::{Table, Target};

/// How good a model is on a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Fraction misclassified, or relative RMS error: RMSE over the RMS of the
    /// target.
    pub error: f64,
    /// Rows that were judged.
    pub rows: usize,
    /// The error with each row counted as much as its weight says, where rows
    /// have weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_error: Option<f64>,
    /// Root mean squared error in the target's units (regression).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Area under the ROC curve (two classes with one score).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// `confusion[actual][predicted]` (classification).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
}

impl Evaluation {
    /// Mean over the classes that occur of the share misclassified.
    #[must_use]
    pub fn balanced_error(&self) -> f64 {
        let confusion = &self.confusion;
        1.0 - mean_over_classes(confusion, |class| {
            let rows: u64 = confusion[class].iter().sum();
            confusion[class][class] as f64 / rows.max(1) as f64
        })
    }
}

/// Mean over the classes that occur.
pub(crate) fn mean_over_classes(confusion: &[Vec<u64>], of_class: impl Fn(usize) -> f64) -> f64 {
    let there: Vec<usize> =
        (0..confusion.len()).filter(|&class| confusion[class].iter().sum::<u64>() > 0).collect();
    there.iter().map(|&class| of_class(class)).sum::<f64>() / there.len().max(1) as f64
}

/// Runs `blob` over the table's rows and compares with its targets. Columns of numbers that the
/// model takes as categories, as its notes say, are made such.
///
/// # Errors
/// A bad blob, or a table that does not suit it.
pub fn evaluate(blob: &[u8], table: &Table) -> Result<Evaluation, Error> {
    let model = Model::parse(blob)?;
    if model.inputs() != table.inputs
        && let Ok(schema) = schema(&model)
    {
        let coded = table.with_categories_of(&schema);
        if coded.inputs == model.inputs() {
            return evaluate(blob, &coded);
        }
    }
    match &table.target {
        Target::Classes { labels } => {
            if model.task() != Task::Classification {
                return Err(Error::Unsuited { needs: "a classification model" });
            }
            // The class and, for the curve, the first score.
            let predicted: Vec<(usize, f64)> = per_row(blob, table, 1, |_, scores, out| {
                out[0] = (class_of(scores), f64::from(scores[0]));
            })?;
            let classes = table.schema.classes.len();
            let mut confusion = vec![vec![0u64; classes]; classes];
            for (&label, &(class, _)) in labels.iter().zip(&predicted) {
                let count = confusion.get_mut(label as usize).and_then(|row| row.get_mut(class));
                // A row that is not counted would make the error another one.
                *count.ok_or(Error::Unsuited { needs: "rows of its own classes" })? += 1;
            }
            let mut evaluation = of_confusion(confusion);
            if classes == 2 {
                let scores: Vec<f64> = predicted.iter().map(|&(_, score)| score).collect();
                let positive: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
                evaluation.auc = auc(&scores, &positive);
            }
            let wrong = labels.iter().zip(&predicted).map(|(&l, p)| l as usize != p.0);
            evaluation.weighted_error = share_wrong(table, wrong);
            Ok(evaluation)
        }
        Target::Values(targets) => {
            if model.task() != Task::Regression {
                return Err(Error::Unsuited { needs: "a regression model" });
            }
            let scale = model.score_scale();
            let values: Vec<f32> =
                per_row(blob, table, 1, |_, scores, out| out[0] = scores[0] as f32 * scale)?;
            let pairs = || targets.iter().zip(&values).map(|(&y, &v)| (f64::from(y), f64::from(v)));
            let mut evaluation = of_values(pairs());
            evaluation.weighted_error = relative_error(table, pairs());
            Ok(evaluation)
        }
    }
}

/// The evaluation of real-valued scores, rows × outputs, row-major: of one
/// output its sign, of several the largest is the class.
#[must_use]
pub fn of_scores(table: &Table, scores: &[f64]) -> Evaluation {
    let outputs = scores.len() / table.rows().max(1);
    match &table.target {
        Target::Values(values) => {
            let pairs = || values.iter().zip(scores).map(|(&y, &v)| (f64::from(y), v));
            let weighted_error = relative_error(table, pairs());
            Evaluation { weighted_error, ..of_values(pairs()) }
        }
        Target::Classes { labels } => {
            let classes = table.schema.classes.len();
            let mut confusion = vec![vec![0u64; classes]; classes];
            let mut wrong = Vec::with_capacity(labels.len());
            for (&label, row) in labels.iter().zip(scores.chunks_exact(outputs.max(1))) {
                let class = if let [score] = row {
                    usize::from(*score > 0.0)
                } else {
                    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
                };
                confusion[label as usize][class] += 1;
                wrong.push(label as usize != class);
            }
            let weighted_error = share_wrong(table, wrong.into_iter());
            Evaluation { weighted_error, ..of_confusion(confusion) }
        }
    }
}

/// The weight of the rows that are wrong, of all weights; none without weights.
fn share_wrong(table: &Table, wrong: impl Iterator<Item = bool>) -> Option<f64> {
    let weights = table.weights.as_ref()?;
    let all: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let of = |(&weight, wrong): (&f32, bool)| if wrong { f64::from(weight) } else { 0.0 };
    Some(weights.iter().zip(wrong).map(of).sum::<f64>() / all).filter(|share| share.is_finite())
}

/// The relative RMS error of (target, prediction) pairs, rows weighted; none
/// without weights.
fn relative_error(table: &Table, pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut errors, mut squares, mut all) = (0.0, 0.0, 0.0);
    for (&weight, (target, value)) in table.weights.as_ref()?.iter().zip(pairs) {
        errors += f64::from(weight) * (target - value).powi(2);
        squares += f64::from(weight) * target * target;
        all += f64::from(weight);
    }
    // As without weights, of a target of zeros only the absolute one.
    let unit = if squares > 0.0 { squares } else { all };
    Some((errors / unit).sqrt()).filter(|error| error.is_finite())
}

/// The evaluation that a confusion matrix stands for; of no rows the error is NaN.
#[must_use]
pub fn of_confusion(confusion: Vec<Vec<u64>>) -> Evaluation {
    let rows: u64 = confusion.iter().flatten().sum();
    let right: u64 = confusion.iter().enumerate().map(|(i, row)| row[i]).sum();
    let error = (rows - right) as f64 / rows as f64;
    let rows = rows as usize;
    Evaluation { error, rows, weighted_error: None, rmse: None, auc: None, confusion }
}

/// The evaluation of (target, prediction) pairs; of none the error is NaN.
pub fn of_values(pairs: impl Iterator<Item = (f64, f64)>) -> Evaluation {
    let (mut rows, mut errors, mut squares) = (0usize, 0.0, 0.0);
    for (target, value) in pairs {
        rows += 1;
        errors += (target - value).powi(2);
        squares += target * target;
    }
    let rmse = (errors / rows as f64).sqrt();
    // A target of zeros only has no relative error: the absolute one then.
    let error = if squares > 0.0 { (errors / squares).sqrt() } else { rmse };
    let (weighted_error, rmse) = (None, Some(rmse));
    Evaluation { error, rows, weighted_error, rmse, auc: None, confusion: Vec::new() }
}

/// Evaluations of blocks of rows, added up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    confusion: Vec<Vec<u64>>,
    rows: usize,
    /// Σ (y − ŷ)².
    errors: f64,
    /// Σ y².
    squares: f64,
    /// Where rows have weights w: Σ w of the rows that are wrong and of all; of values
    /// Σ w(y − ŷ)², Σ wy² and Σ w.
    weighted: Option<(f64, f64, f64)>,
}

impl Tally {
    /// Adds the evaluation of the rows of `table`.
    pub fn add(&mut self, block: &Evaluation, table: &Table) {
        self.rows += block.rows;
        self.add_weighted(block, table);
        if let Some(rmse) = block.rmse {
            self.errors += rmse * rmse * block.rows as f64;
        }
        if let Target::Values(values) = &table.target {
            self.squares += values.iter().map(|&y| f64::from(y).powi(2)).sum::<f64>();
        }
        self.add_confusion(&block.confusion);
    }

    /// Adds those of other blocks.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.errors += other.errors;
        self.squares += other.squares;
        if let Some(more) = other.weighted {
            let sums = self.weighted.get_or_insert_default();
            *sums = (sums.0 + more.0, sums.1 + more.1, sums.2 + more.2);
        }
        self.add_confusion(&other.confusion);
    }

    fn add_confusion(&mut self, confusion: &[Vec<u64>]) {
        if self.confusion.is_empty() {
            self.confusion = confusion.to_vec();
            return;
        }
        for (mine, theirs) in self.confusion.iter_mut().zip(confusion) {
            for (count, more) in mine.iter_mut().zip(theirs) {
                *count += more;
            }
        }
    }

    fn add_weighted(&mut self, block: &Evaluation, table: &Table) {
        if table.weights.is_none() {
            return;
        }
        let weight = |row: usize| match &table.target {
            Target::Classes { .. } => table.weight(row),
            Target::Values(values) => table.weight(row) * f64::from(values[row]).powi(2),
        };
        let all: f64 = (0..table.rows()).map(weight).sum();
        let weights: f64 = (0..table.rows()).map(|row| table.weight(row)).sum();
        let error = block.weighted_error.unwrap_or(0.0);
        let share = if block.rmse.is_some() { error * error } else { error };
        let sums = self.weighted.get_or_insert_default();
        // The error of targets that are all 0 is not relative to them.
        sums.0 += share * if all > 0.0 { all } else { weights };
        sums.1 += all;
        sums.2 += weights;
    }

    /// The error by weight.
    fn weighted_error(&self) -> Option<f64> {
        let (errors, all, weights) = self.weighted?;
        let share = errors / if all > 0.0 { all } else { weights };
        let error = if self.confusion.is_empty() { share.sqrt() } else { share };
        Some(error).filter(|error| error.is_finite())
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The evaluation of all rows, without the area under the ROC curve: that
    /// would need all scores.
    #[must_use]
    pub fn finish(self) -> Evaluation {
        let weighted_error = self.weighted_error();
        if !self.confusion.is_empty() {
            return Evaluation { weighted_error, ..of_confusion(self.confusion) };
        }
        let rmse = (self.errors / self.rows as f64).sqrt();
        let error = if self.squares > 0.0 { (self.errors / self.squares).sqrt() } else { rmse };
        let (rows, rmse) = (self.rows, Some(rmse));
        Evaluation { error, rows, weighted_error, rmse, auc: None, confusion: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use koan_data::TableBuilder;

    use super::*;

    /// Blocks of which one has nothing but zeros as targets.
    #[test]
    fn blocks_add_up_to_all_rows_by_weight() {
        let all: Vec<f64> = (0..12).map(|row| if row < 8 { 0.0 } else { 5.0 }).collect();
        let weights: Vec<f64> = (0..12).map(|row| f64::from(1 + row % 3)).collect();
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let table = |rows: std::ops::Range<usize>| {
            TableBuilder::new(rows.len())
                .column("x", &x[rows.clone()])
                .values("y", &all[rows.clone()])
                .weights(&weights[rows])
                .build()
                .unwrap()
        };
        let scores: Vec<f64> = (0..12).map(|row| f64::from(row % 4)).collect();
        for ends in [&[0, 8, 12][..], &[0, 4, 8]] {
            let mut tally = Tally::default();
            for pair in ends.windows(2) {
                let block = table(pair[0]..pair[1]);
                tally.add(&of_scores(&block, &scores[pair[0]..pair[1]]), &block);
            }
            let last = ends[ends.len() - 1];
            let whole = of_scores(&table(0..last), &scores[..last]);
            let (found, wanted) = (tally.finish(), whole.weighted_error.unwrap());
            assert!((found.weighted_error.unwrap() - wanted).abs() < 1e-12, "{ends:?}");
            assert!((found.error - whole.error).abs() < 1e-12);
        }
    }
}
