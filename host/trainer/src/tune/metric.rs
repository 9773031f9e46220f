//! What is made small.

use crate::anomaly::auc;
use crate::evaluate::{Evaluation, mean_over_classes, of_scores};
use koan_data::{Table, Target, Task};

/// Distance from the boundary, in mean distances, over which a row goes from wrong to right
/// in a smoothed loss.
const SMOOTHING: f64 = 0.15;

/// What a search makes small, or large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// share misclassified, or relative RMS error
    Error,
    /// mean over the classes of the share misclassified
    BalancedError,
    /// mean over the classes of F1 (larger is better)
    MacroF1,
    /// area under the ROC curve, two classes (larger is better)
    Auc,
    /// root mean squared error in the target's units
    Rmse,
}

impl Metric {
    /// The name, as the command line and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::BalancedError => "balanced-error",
            Self::MacroF1 => "macro-f1",
            Self::Auc => "auc",
            Self::Rmse => "rmse",
        }
    }

    /// Whether it means something for a task with so many classes.
    #[must_use]
    pub fn suits(self, task: Task, classes: usize) -> bool {
        match self {
            Self::Error => true,
            Self::BalancedError | Self::MacroF1 => task == Task::Classification,
            Self::Auc => classes == 2,
            Self::Rmse => task == Task::Regression,
        }
    }

    /// Whether more is better.
    #[must_use]
    pub const fn is_gain(self) -> bool {
        matches!(self, Self::MacroF1 | Self::Auc)
    }

    /// Whether there is a figure: none is of AUC where all rows are of one class.
    #[must_use]
    pub fn is_defined(self, evaluation: &Evaluation) -> bool {
        match self {
            Self::Auc => evaluation.auc.is_some(),
            Self::Rmse => evaluation.rmse.is_some(),
            Self::Error | Self::BalancedError | Self::MacroF1 => true,
        }
    }

    /// What is to be small: the metric, or 1 minus it. Where it is undefined, 1, and of RMSE
    /// infinity.
    #[must_use]
    pub fn loss(self, evaluation: &Evaluation) -> f64 {
        let confusion = &evaluation.confusion;
        match self {
            // Where rows have weights, they count.
            Self::Error => evaluation.weighted_error.unwrap_or(evaluation.error),
            Self::Rmse => evaluation.rmse.unwrap_or(f64::INFINITY),
            Self::Auc => 1.0 - evaluation.auc.unwrap_or(0.0),
            Self::BalancedError => evaluation.balanced_error(),
            Self::MacroF1 => {
                1.0 - mean_over_classes(confusion, |class| {
                    let rows: u64 = confusion[class].iter().sum();
                    let called: u64 = confusion.iter().map(|row| row[class]).sum();
                    2.0 * confusion[class][class] as f64 / (rows + called).max(1) as f64
                })
            }
        }
    }

    /// The loss of real-valued scores, rows × outputs, row-major.
    #[must_use]
    pub fn of_scores(self, table: &Table, scores: &[f64]) -> f64 {
        let mut evaluation = of_scores(table, scores);
        if let (Self::Auc, Target::Classes { labels }) = (self, &table.target) {
            let positive: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
            evaluation.auc = auc(scores, &positive);
        }
        self.loss(&evaluation)
    }

    /// The loss, smoothed: a row counts as the more wrong the further its score is on the
    /// wrong side, so that a few rows near a boundary say less. `loss` is that of
    /// [`Self::of_scores`], which stays where targets are numbers.
    #[must_use]
    pub fn smooth(self, table: &Table, scores: &[f64], loss: f64) -> f64 {
        let Target::Classes { labels } = &table.target else { return loss };
        let outputs = scores.len() / labels.len().max(1);
        let margin = |(row, &label): (&[f64], &u32)| match row {
            [score] => {
                if label == 1 {
                    *score
                } else {
                    -*score
                }
            }
            _ => {
                let rest = row.iter().enumerate().filter(|(t, _)| *t != label as usize);
                let other = rest.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
                row[label as usize] - other
            }
        };
        let margins: Vec<f64> =
            scores.chunks_exact(outputs.max(1)).zip(labels).map(margin).collect();
        let width = SMOOTHING * margins.iter().map(|m| m.abs()).sum::<f64>() / margins.len() as f64;
        if width <= 0.0 || !width.is_finite() {
            return loss;
        }
        let weights = self.row_weights(table, labels);
        let wrong = margins.iter().map(|margin| 1.0 / (1.0 + (margin / width).exp()));
        let smooth = wrong.zip(&weights).map(|(wrong, weight)| wrong * weight).sum::<f64>()
            / weights.iter().sum::<f64>();
        let share = if self == Self::Error { 0.5 } else { 0.25 };
        (1.0 - share) * loss + share * smooth
    }

    /// How much each row counts: in the error as its weight says, in means over classes so that
    /// all classes do the same.
    fn row_weights(self, table: &Table, labels: &[u32]) -> Vec<f64> {
        match self {
            Self::Error => (0..labels.len()).map(|row| table.weight(row)).collect(),
            Self::BalancedError | Self::MacroF1 => {
                let mut rows = vec![0.0; table.schema.classes.len()];
                labels.iter().for_each(|&label| rows[label as usize] += 1.0);
                labels.iter().map(|&label| 1.0 / rows[label as usize]).collect()
            }
            Self::Auc | Self::Rmse => vec![1.0; labels.len()],
        }
    }

    /// The metric that a loss stands for.
    #[must_use]
    pub fn value(self, loss: f64) -> f64 {
        if self.is_gain() { 1.0 - loss } else { loss }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::of_confusion;

    /// One row in ten is of the second class. Who misses some of those and who cries wolf are equally
    /// good where classes count the same, smoothed or not.
    #[test]
    fn a_rare_class_counts_as_much_when_smoothed() {
        let labels: Vec<u32> = (0..100).map(|row| u32::from(row % 10 == 0)).collect();
        let x: Vec<f64> = (0..100).map(f64::from).collect();
        let names: Vec<i64> = labels.iter().map(|&label| i64::from(label)).collect();
        let table = koan_data::TableBuilder::new(100).column("x", &x[..]);
        let table = table.classes("y", &names[..]).build().unwrap();
        // The share of each class that is on the wrong side.
        let scores = |misses: usize, alarms: usize| -> Vec<f64> {
            let wrong = |row: usize| match labels[row] {
                1 => row / 10 < misses,
                _ => row % 10 == 1 && row / 10 < alarms,
            };
            let side = |row: usize| (labels[row] == 1) != wrong(row);
            (0..100).map(|row| if side(row) { 1.0 } else { -1.0 }).collect()
        };
        for metric in [Metric::BalancedError, Metric::MacroF1] {
            let smooth = |scores: &[f64]| metric.smooth(&table, scores, 0.0);
            let (misses, alarms) = (smooth(&scores(1, 0)), smooth(&scores(0, 9)));
            assert!((misses - alarms).abs() < 1e-9, "{misses} {alarms}");
        }
        let smooth = |scores: &[f64]| Metric::Error.smooth(&table, scores, 0.0);
        assert!(smooth(&scores(0, 9)) > 2.0 * smooth(&scores(1, 0)));
    }

    #[test]
    fn losses_of_a_confusion_matrix() {
        // 90 of 100 and 5 of 10 right, a third class does not occur.
        let evaluation = of_confusion(vec![vec![90, 10, 0], vec![5, 5, 0], vec![0, 0, 0]]);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        let defined = [Metric::Error, Metric::Auc].map(|metric| metric.is_defined(&evaluation));
        assert_eq!(defined, [true, false]);
        close(Metric::Error.loss(&evaluation), 15.0 / 110.0);
        close(Metric::BalancedError.loss(&evaluation), 1.0 - (0.9 + 0.5) / 2.0);
        let f1 = |right: f64, rows: f64, called: f64| 2.0 * right / (rows + called);
        let expected = (f1(90.0, 100.0, 95.0) + f1(5.0, 10.0, 15.0)) / 2.0;
        close(Metric::MacroF1.value(Metric::MacroF1.loss(&evaluation)), expected);
    }
}
