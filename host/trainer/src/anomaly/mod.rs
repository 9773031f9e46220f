//! Anomaly scores: how similar a row is to the mean of normal rows in feature
//! space, and measures of scores.
//!
//! With features whose products are on average a kernel k, the weights
//! μ = mean φ(x_i) (the kernel mean embedding) give ⟨μ, φ(x)⟩ ≈ (1/n)Σ k(x, x_i),
//! an unnormalised density estimate; those of a least-squares fit of 1 to all normal rows
//! follow their border more closely ([`similarity`]). A row is normal when it is above a
//! threshold that a chosen share of held-out normal rows stay below: the false-alarm rate.

mod choice;
mod detector;
mod far;

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::Error;
use crate::moments::Moments;

pub use detector::{Detection, detect, detector};
pub(crate) use detector::{far_passed, normal_rows_of};

/// Weights, K × 1, of the similarity to rows whose sums `moments` are, for features in the
/// units of these: (M + λ·tr(M)·I)⁻¹·Σφ, M = Σφφᵀ not centred, the least-squares fit of a 1
/// to every row; of an infinite λ the mean embedding, up to a factor. The smaller λ, the
/// sharper the border of what is normal.
#[must_use]
pub fn similarity(moments: &Moments, lambda: f64) -> Mat<f64> {
    let mean = &moments.sum * faer::Scale(1.0 / moments.count);
    if lambda.is_infinite() {
        return mean;
    }
    let features = moments.features();
    let trace: f64 = (0..features).map(|k| moments.gram[(k, k)]).sum();
    let mut lambda = lambda.max(1e-9);
    loop {
        let mut matrix = moments.gram.clone();
        (0..features).for_each(|k| matrix[(k, k)] += lambda * trace);
        match matrix.llt(Side::Lower) {
            Ok(factor) => return factor.solve(&moments.sum),
            Err(_) if lambda < 1e3 => lambda *= 10.0,
            Err(_) => return mean,
        }
    }
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
            format!("a false-alarm rate of {rate} is not above 0 and below 1"),
        ));
    }
    let mut sorted = similarities.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (rate * (sorted.len() as f64 + 1.0)).floor() as usize;
    match rank.checked_sub(1).and_then(|index| sorted.get(index)) {
        Some(&threshold) => Ok(threshold),
        None => {
            let count = sorted.len();
            let least = (1.0 / rate).ceil() as usize - 1;
            // Rounded up, to three places.
            let possible = (1000.0 / (count as f64 + 1.0)).ceil() / 1000.0;
            let possible = match count {
                0 | 1 => String::new(),
                _ => format!("; a rate of {possible} does with these"),
            };
            Err(Error::parameter(
                "false_alarm",
                format!(
                    "{count} held-out normal rows are too few for a false-alarm rate of {rate}: at \
                     least {least} are needed, three tenths of those to train on{possible}"
                ),
            ))
        }
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
