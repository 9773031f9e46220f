//! The best biases for given weights: small problems solved exactly.

use std::ops::Range;

use faer::{MatRef, RowMut};

use super::few::{Local, minimise};
use super::loss::{in_runs, own_score, probabilities, sign};

/// The b that minimises Σ c·max(0, 1 − y(s + b)): a piecewise linear function,
/// whose slope is looked up at its corners. `margins`: (s, y = ±1, c).
pub(crate) fn hinge(rows: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let mut slope = 0.0;
    let mut corners: Vec<(f64, f64)> = rows
        .map(|(score, y, weight)| {
            if y > 0.0 {
                slope -= weight;
            }
            (y - score, weight)
        })
        .collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0));
    for &(corner, weight) in &corners {
        slope += weight;
        if slope >= 0.0 {
            return corner;
        }
    }
    corners.last().map_or(0.0, |corner| corner.0)
}

/// Scales the multipliers of the heavier side (positive or negative) down, so
/// that they add up to 0, as the dual of a free bias wants; the sum of their
/// magnitudes.
pub(crate) fn balance(duals: RowMut<'_, f64>) -> f64 {
    let (mut plus, mut minus) = (0.0, 0.0);
    for &dual in duals.as_ref().iter() {
        if dual > 0.0 { plus += dual } else { minus -= dual }
    }
    let less = f64::min(plus, minus);
    for dual in duals.iter_mut() {
        let side = if *dual > 0.0 { plus } else { minus };
        if side > 0.0 {
            *dual *= less / side;
        }
    }
    2.0 * less
}

/// Adds to `bias` what minimises the logistic loss of scores + bias, by
/// Newton's method. `scores`: T × n, without the bias.
pub(crate) fn logistic(
    scores: MatRef<'_, f64>,
    labels: &[u32],
    weights: Option<&[f64]>,
    bias: &mut Vec<f64>,
) {
    let outputs = bias.len();
    // Of a run of rows, in order: the sums are the same for any number of threads.
    let of_run = |rows: Range<usize>, bias: &[f64]| {
        let mut sums = Local::none(outputs);
        let mut row = vec![0.0; outputs];
        for i in rows {
            let (label, weight) = (labels[i], weights.map_or(1.0, |weights| weights[i]));
            for t in 0..outputs {
                row[t] = scores[(t, i)] + bias[t];
            }
            let own = own_score(&row, label);
            sums.value += weight * (probabilities(&mut row) - own);
            for (t, chance) in row.iter().enumerate() {
                let wanted = f64::from(u8::from(sign(label, t, outputs) > 0.0));
                sums.gradient[(t, 0)] += weight * (chance - wanted);
            }
            sums.curve_softmax(0, &row, weight);
        }
        sums
    };
    let total = weights.map_or(labels.len() as f64, |weights| weights.iter().sum());
    let function = |bias: &[f64]| {
        let runs = in_runs(labels.len(), |rows| of_run(rows, bias));
        let mut sums = runs.iter().fold(Local::none(outputs), Local::add);
        // A softmax does not see a shift of all scores: a little pull on it.
        for t in 0..outputs {
            sums.curvature[(t, t)] += 1e-9 * total;
        }
        sums
    };
    // Where it ends early, the biases are better ones all the same.
    minimise(bias, 1e-10, function);
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn no_bias_has_a_lower_hinge_loss() {
        let rows: Vec<(f64, f64, f64)> = (0..41)
            .map(|i| {
                let y = if i % 3 == 0 { 1.0 } else { -1.0 };
                ((f64::from(i) * 1.7).sin() * 2.0, y, 1.0 + f64::from(i % 4))
            })
            .collect();
        let loss =
            |b: f64| -> f64 { rows.iter().map(|(s, y, c)| c * (1.0 - y * (s + b)).max(0.0)).sum() };
        let best = loss(hinge(rows.iter().copied()));
        for step in -400..400 {
            assert!(loss(f64::from(step) / 100.0) >= best - 1e-12);
        }
    }

    #[test]
    fn the_logistic_bias_gives_every_class_its_share() {
        let labels: Vec<u32> = (0..60).map(|i| [0, 0, 1, 2, 2, 2][i % 6]).collect();
        let scores = Mat::from_fn(3, 60, |t, i| ((t * 7 + i) as f64).sin());
        let mut bias = vec![0.0; 3];
        logistic(scores.as_ref(), &labels, None, &mut bias);
        let mut sums = [0.0; 3];
        for i in 0..60 {
            let mut row: Vec<f64> = (0..3).map(|t| scores[(t, i)] + bias[t]).collect();
            probabilities(&mut row);
            for t in 0..3 {
                sums[t] += row[t];
            }
        }
        for (sum, count) in sums.iter().zip([20.0, 10.0, 30.0]) {
            assert!((sum - count).abs() < 1e-5, "{sums:?}");
        }
    }
}
