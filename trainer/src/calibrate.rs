//! Calibration: slope and intercept that turn scores into honest probabilities.

use koan::Calibration;

/// Fits the calibration to held-out scores by Newton's method on the mean
/// negative log-likelihood.
///
/// `scores`: rows × outputs, row-major, real units; `labels`: one for each row.
/// One output: logistic(slope·s + intercept) for class 1 (Platt). Several:
/// softmax(slope·s) (temperature).
#[must_use]
pub fn fit(scores: &[f64], labels: &[u32], outputs: usize) -> Calibration {
    if outputs == 1 { platt(scores, labels) } else { temperature(scores, labels, outputs) }
}

fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn platt(scores: &[f64], labels: &[u32]) -> Calibration {
    let (mut a, mut b) = (1.0f64, 0.0f64);
    for _ in 0..50 {
        // A little shrinkage towards a = 1 keeps separable data finite.
        let (mut ga, mut gb) = (1e-3 * (a - 1.0), 1e-3 * b);
        let (mut haa, mut hab, mut hbb) = (1e-3, 0.0, 1e-3);
        for (&s, &label) in scores.iter().zip(labels) {
            let p = logistic(a * s + b);
            let error = p - f64::from(label);
            let curve = (p * (1.0 - p)).max(1e-9);
            ga += error * s;
            gb += error;
            haa += curve * s * s;
            hab += curve * s;
            hbb += curve;
        }
        let det = haa * hbb - hab * hab;
        if det <= 0.0 || !det.is_finite() {
            break;
        }
        let (da, db) = ((hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det);
        // Full Newton steps can overshoot far from the optimum.
        let damp = (5.0 / (da.abs() + db.abs()).max(1e-12)).min(1.0);
        a -= damp * da;
        b -= damp * db;
        if da.abs() + db.abs() < 1e-8 {
            break;
        }
    }
    checked(a, b)
}

fn temperature(scores: &[f64], labels: &[u32], outputs: usize) -> Calibration {
    let mut a = 1.0f64;
    for _ in 0..50 {
        let (mut gradient, mut curve) = (1e-3 * (a - 1.0), 1e-3);
        for (row, &label) in scores.chunks_exact(outputs).zip(labels) {
            let top = row.iter().fold(f64::NEG_INFINITY, |m, &s| m.max(a * s));
            let weights: Vec<f64> = row.iter().map(|&s| (a * s - top).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let moment = |power: i32| -> f64 {
                row.iter().zip(&weights).map(|(s, w)| s.powi(power) * w).sum::<f64>() / sum
            };
            let mean = moment(1);
            gradient += mean - row[label as usize];
            curve += moment(2) - mean * mean;
        }
        let step = (gradient / curve).clamp(-0.5 * a.max(1.0), 0.9 * a);
        a -= step;
        if step.abs() < 1e-8 * a {
            break;
        }
    }
    checked(a, 0.0)
}

/// What the blob can hold; no calibration at all for a degenerate fit.
fn checked(slope: f64, intercept: f64) -> Calibration {
    let (slope, intercept) = (slope as f32, intercept as f32);
    if slope.is_finite() && intercept.is_finite() && slope > 0.0 {
        Calibration { slope, intercept }
    } else {
        Calibration { slope: 1.0, intercept: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan::generator::Stream;

    fn uniform(stream: u32, index: usize) -> f64 {
        Stream::new(11, stream).draw(index as u64) as f64 / 2f64.powi(64)
    }

    #[test]
    fn finds_the_logistic_law_that_made_the_labels() {
        let scores: Vec<f64> = (0..40_000).map(|i| 4.0 * uniform(0, i) - 2.0).collect();
        let labels: Vec<u32> = scores
            .iter()
            .enumerate()
            .map(|(i, s)| u32::from(uniform(1, i) < logistic(2.5 * s - 0.7)))
            .collect();
        let found = fit(&scores, &labels, 1);
        assert!((found.slope - 2.5).abs() < 0.1 && (found.intercept + 0.7).abs() < 0.1);
    }

    #[test]
    fn finds_the_temperature_that_made_the_labels() {
        let scores: Vec<f64> = (0..60_000).map(|i| 2.0 * uniform(2, i)).collect();
        let labels: Vec<u32> = scores
            .chunks_exact(3)
            .enumerate()
            .map(|(i, row)| {
                let weights: Vec<f64> = row.iter().map(|s| (3.0 * s).exp()).collect();
                let mut left = uniform(3, i) * weights.iter().sum::<f64>();
                weights
                    .iter()
                    .take_while(|&&w| {
                        left -= w;
                        left > 0.0
                    })
                    .count()
                    .min(2) as u32
            })
            .collect();
        assert!((fit(&scores, &labels, 3).slope - 3.0).abs() < 0.1);
    }

    #[test]
    fn separable_scores_stay_finite() {
        let found = fit(&[-1.0, -2.0, 1.0, 2.0], &[0, 0, 1, 1], 1);
        assert!(found.slope.is_finite() && found.slope > 1.0);
    }
}
