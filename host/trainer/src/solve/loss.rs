//! Losses of scores, and what solvers need of them.

use crate::parallel;
use crate::vector::exp;
use std::ops::Range;

use faer::MatRef;

/// Rows that one thread goes through, in order: sums over such runs, added up in order, are the
/// same for any number of threads.
pub(super) const ROWS: usize = 1024;

/// What comes of so many rows, in runs of [`ROWS`].
pub(crate) fn in_runs<T: Send>(rows: usize, of_run: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    parallel::in_runs(rows, ROWS, of_run)
}

/// What a head is fitted to minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// (y − s)², y = ±1 for classes: ridge regression
    Squared,
    /// logistic regression, multinomial for more than two classes
    Logistic,
    /// max(0, 1 − y·s): a linear support vector machine, one against the rest
    Hinge,
}

impl Loss {
    /// The name, as the command line and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Squared => "squared",
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
        }
    }

    /// Sum over rows of the weighted loss. `scores`: T × n; `labels`: a class
    /// for each row, 0 or 1 when T = 1; `weights` of rows: none for all 1.
    #[must_use]
    pub fn total(self, scores: MatRef<'_, f64>, labels: &[u32], weights: Option<&[f64]>) -> f64 {
        let of_row = |i: usize| {
            let (row, label) = (scores.col(i), labels[i]);
            let outputs = row.nrows();
            let loss = match self {
                Self::Logistic if outputs == 1 => {
                    softplus(if label == 1 { -row[0] } else { row[0] })
                }
                Self::Logistic => {
                    let top = (0..outputs).fold(f64::NEG_INFINITY, |m, t| m.max(row[t]));
                    let sum: f64 = (0..outputs).map(|t| exp(row[t] - top)).sum();
                    top + sum.ln() - row[label as usize]
                }
                Self::Hinge => {
                    (0..outputs).map(|t| (1.0 - sign(label, t, outputs) * row[t]).max(0.0)).sum()
                }
                Self::Squared => {
                    (0..outputs).map(|t| (row[t] - sign(label, t, outputs)).powi(2)).sum::<f64>()
                }
            };
            weights.map_or(1.0, |weights| weights[i]) * loss
        };
        in_runs(labels.len(), |rows| rows.map(of_row).sum::<f64>()).iter().sum()
    }
}

/// ±1: whether `label` is the class that output `t` stands for.
pub(crate) fn sign(label: u32, t: usize, outputs: usize) -> f64 {
    let class = if outputs == 1 { 1 } else { t };
    if label as usize == class { 1.0 } else { -1.0 }
}

/// The score of a row's class; 0 of the one that one score leaves out.
pub(crate) fn own_score(scores: &[f64], label: u32) -> f64 {
    match scores {
        [score] => f64::from(label) * score,
        _ => scores[label as usize],
    }
}

/// ln(1 + exp(z)) without overflow.
pub(crate) fn softplus(z: f64) -> f64 {
    sigmoid_and_softplus(z).1
}

/// 1 / (1 + exp(−z)) and ln(1 + exp(z)), without overflow.
#[inline(always)]
fn sigmoid_and_softplus(z: f64) -> (f64, f64) {
    let e = exp(-z.abs());
    let chance = if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    (chance, z.max(0.0) + e.ln_1p())
}

/// Probabilities of the outputs of one row, in place: logistic of one score,
/// softmax of several; and ln Σ exp of the scores, that of the class without one included.
#[inline(always)]
pub(crate) fn probabilities(scores: &mut [f64]) -> f64 {
    if let [score] = scores {
        let (chance, all) = sigmoid_and_softplus(*score);
        *score = chance;
        return all;
    }
    let top = scores.iter().fold(f64::NEG_INFINITY, |m, &s| m.max(s));
    scores.iter_mut().for_each(|score| *score = exp(*score - top));
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
    top + sum.ln()
}
