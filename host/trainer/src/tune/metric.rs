//! What is made small.

use crate::anomaly::auc;
use crate::evaluate::{Evaluation, of_scores};
use koan_data::{Table, Target, Task};

/// What a search makes small, or large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// What is to be small: the metric, or 1 minus it. 1 where it is undefined.
    #[must_use]
    pub fn loss(self, evaluation: &Evaluation) -> f64 {
        let confusion = &evaluation.confusion;
        match self {
            // Where rows have weights, they count.
            Self::Error => evaluation.weighted_error.unwrap_or(evaluation.error),
            Self::Rmse => evaluation.rmse.unwrap_or(f64::INFINITY),
            Self::Auc => 1.0 - evaluation.auc.unwrap_or(0.0),
            Self::BalancedError => {
                1.0 - mean(confusion, |class| {
                    let rows: u64 = confusion[class].iter().sum();
                    confusion[class][class] as f64 / rows.max(1) as f64
                })
            }
            Self::MacroF1 => {
                1.0 - mean(confusion, |class| {
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

    /// The metric that a loss stands for.
    #[must_use]
    pub fn value(self, loss: f64) -> f64 {
        if self.is_gain() { 1.0 - loss } else { loss }
    }
}

/// Mean over the classes that occur.
fn mean(confusion: &[Vec<u64>], of_class: impl Fn(usize) -> f64) -> f64 {
    let there: Vec<usize> =
        (0..confusion.len()).filter(|&class| confusion[class].iter().sum::<u64>() > 0).collect();
    there.iter().map(|&class| of_class(class)).sum::<f64>() / there.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::of_confusion;

    #[test]
    fn losses_of_a_confusion_matrix() {
        // 90 of 100 and 5 of 10 right, a third class does not occur.
        let evaluation = of_confusion(vec![vec![90, 10, 0], vec![5, 5, 0], vec![0, 0, 0]]);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(Metric::Error.loss(&evaluation), 15.0 / 110.0);
        close(Metric::BalancedError.loss(&evaluation), 1.0 - (0.9 + 0.5) / 2.0);
        let f1 = |right: f64, rows: f64, called: f64| 2.0 * right / (rows + called);
        let expected = (f1(90.0, 100.0, 95.0) + f1(5.0, 10.0, 15.0)) / 2.0;
        close(Metric::MacroF1.value(Metric::MacroF1.loss(&evaluation)), expected);
    }
}
