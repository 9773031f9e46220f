//! Anomaly scores: how similar a row is to the mean of normal rows in feature
//! space, and measures of scores.
//!
//! With features whose products are on average a kernel k, the weights
//! μ = mean φ(x_i) (the kernel mean embedding) give ⟨μ, φ(x)⟩ ≈ (1/n)Σ k(x, x_i),
//! an unnormalised density estimate. A row is normal when it is above a threshold
//! that a chosen share of held-out normal rows stay below: the false-alarm rate.

use faer::Mat;

use crate::Error;
use crate::solve::Design;

/// Mean feature of the given normal rows: K × 1, in integer features.
#[must_use]
pub fn mean_embedding(normal: &Design) -> Mat<f64> {
    let rows = normal.rows().max(1) as f64;
    let share = Mat::<f64>::full(1, normal.rows(), 1.0 / rows);
    normal.gather(share.as_ref())
}

/// The threshold that a normal row stays below with a probability of at most
/// `rate`, from similarities of normal rows that the weights have not seen: the
/// ⌊rate·(n + 1)⌋-th least one (split conformal prediction), so that fewer than
/// it is an alarm.
///
/// # Errors
/// A rate outside of 0 to 1, or one that so few rows cannot tell from 0.
pub fn threshold(similarities: &[f64], rate: f64) -> Result<f64, Error> {
    if !(rate > 0.0 && rate < 1.0) {
        return Err(Error::parameter(
            "false_alarm",
            format!("a false-alarm rate of {rate} is not within 0 to 1"),
        ));
    }
    let mut sorted = similarities.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (rate * (sorted.len() as f64 + 1.0)).floor() as usize;
    match rank.checked_sub(1).and_then(|index| sorted.get(index)) {
        Some(&threshold) => Ok(threshold),
        None => Err(Error::parameter(
            "false_alarm",
            format!(
                "{} held-out normal rows are too few for a false-alarm rate of {rate}: \
             at least {} are needed",
                sorted.len(),
                (1.0 / rate).ceil() as usize - 1
            ),
        )),
    }
}

/// Area under the ROC curve: the probability that a positive row has a higher
/// score than a negative one, equal scores counted half. None unless there are
/// rows of both kinds.
#[must_use]
pub fn auc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let mut sorted: Vec<(f64, bool)> =
        scores.iter().copied().zip(positive.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut pairs) = (0usize, 0.0);
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        let ups = run.iter().filter(|row| row.1).count();
        let downs = run.len() - ups;
        pairs += ups as f64 * (below as f64 + 0.5 * downs as f64);
        below += downs;
    }
    let ups = sorted.len() - below;
    (ups > 0 && below > 0).then(|| pairs / (ups as f64 * below as f64))
}
