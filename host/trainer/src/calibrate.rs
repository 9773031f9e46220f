//! Calibration: slope and intercept that turn scores into honest probabilities, and
//! biases that make classes as frequent as they are.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use koan::Calibration;

/// A slope for all scores and a bias for each output that make probabilities of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Recentred {
    /// Probabilities are softmax(slope·(s + bias)), of one output
    /// logistic(slope·(s + bias)).
    pub slope: f64,
    /// To be added to the scores, one for each output, in their units.
    pub bias: Vec<f64>,
    /// Mean negative log-likelihood, rows weighted.
    pub loss: f64,
    /// Whether the fit came to an end; else slope and biases are where it stopped.
    pub fitted: bool,
}

/// Penalty on squared biases (in logits) and on the square of the slope less 1, for
/// each row: it only matters to classes that scores separate.
const PULL: f64 = 1e-3;

/// Fits slope and biases to scores that were not fitted to these rows, by Newton's
/// method with halved steps on the weighted mean negative log-likelihood.
///
/// `scores`: rows × outputs, row-major; `labels` and `weights`: one for each row.
#[must_use]
pub fn recentred(scores: &[f64], labels: &[u32], weights: &[f64], outputs: usize) -> Recentred {
    // One output is the second of two classes, the first scores 0.
    let classes = outputs.max(2);
    let logits = |row: usize, parameters: &[f64]| -> Vec<f64> {
        let score = |t: usize| match outputs {
            1 if t == 0 => 0.0,
            1 => scores[row],
            _ => scores[row * outputs + t],
        };
        (0..classes).map(|t| parameters[0] * score(t) + parameters[t + 1]).collect()
    };
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let penalty = |parameters: &[f64]| {
        let biases: f64 = parameters[1..].iter().map(|b| b * b).sum();
        0.5 * PULL * ((parameters[0] - 1.0).powi(2) + biases)
    };
    let likelihood = |parameters: &[f64]| -> f64 {
        let row = |(row, (&label, &weight)): (usize, (&u32, &f64))| {
            let logits = logits(row, parameters);
            let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logits.iter().map(|z| (z - top).exp()).sum();
            weight * (sum.ln() + top - logits[label as usize])
        };
        labels.iter().zip(weights).enumerate().map(row).sum::<f64>() / total
    };
    let mut parameters = vec![0.0; classes + 1];
    parameters[0] = 1.0;
    let mut value = likelihood(&parameters) + penalty(&parameters);
    let mut fitted = value.is_finite();
    for _ in 0..100 {
        let mut gradient = Mat::<f64>::zeros(classes + 1, 1);
        let mut curve = Mat::<f64>::zeros(classes + 1, classes + 1);
        for (row, (&label, &weight)) in labels.iter().zip(weights).enumerate() {
            let share = weight / total;
            let plain = logits(row, &with_slope_one(classes));
            let logits = logits(row, &parameters);
            let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let odds: Vec<f64> = logits.iter().map(|z| (z - top).exp()).collect();
            let sum: f64 = odds.iter().sum();
            let p: Vec<f64> = odds.iter().map(|o| o / sum).collect();
            let mean: f64 = plain.iter().zip(&p).map(|(s, p)| s * p).sum();
            gradient[(0, 0)] += share * (mean - plain[label as usize]);
            let square: f64 = plain.iter().zip(&p).map(|(s, p)| s * s * p).sum();
            curve[(0, 0)] += share * (square - mean * mean);
            for t in 0..classes {
                let hit = f64::from(u8::from(label as usize == t));
                gradient[(t + 1, 0)] += share * (p[t] - hit);
                let mixed = share * p[t] * (plain[t] - mean);
                curve[(t + 1, 0)] += mixed;
                curve[(0, t + 1)] += mixed;
                for other in 0..classes {
                    let same = f64::from(u8::from(other == t));
                    curve[(t + 1, other + 1)] += share * p[t] * (same - p[other]);
                }
            }
        }
        for k in 0..=classes {
            let pulled = if k == 0 { parameters[0] - 1.0 } else { parameters[k] };
            gradient[(k, 0)] += PULL * pulled;
            curve[(k, k)] += PULL;
        }
        let Ok(factor) = curve.llt(Side::Lower) else {
            fitted = false;
            break;
        };
        let direction = factor.solve(&gradient);
        let mut step = 1.0;
        let before = value;
        while step > 1e-6 {
            let moved: Vec<f64> =
                parameters.iter().enumerate().map(|(k, p)| p - step * direction[(k, 0)]).collect();
            let reached = likelihood(&moved) + penalty(&moved);
            // A slope that is not positive would turn classes round.
            if moved[0] > 0.0 && reached < value {
                (parameters, value) = (moved, reached);
                break;
            }
            step *= 0.5;
        }
        if before - value < 1e-12 {
            break;
        }
    }
    let (slope, loss) = (parameters[0], likelihood(&parameters));
    let bias = match outputs {
        1 => vec![(parameters[2] - parameters[1]) / slope],
        _ => parameters[1..].iter().map(|b| b / slope).collect(),
    };
    Recentred { slope, bias, loss, fitted }
}

/// Slope 1 and no biases.
fn with_slope_one(classes: usize) -> Vec<f64> {
    let mut parameters = vec![0.0; classes + 1];
    parameters[0] = 1.0;
    parameters
}

/// Fits the calibration to held-out scores by Newton's method on the mean
/// negative log-likelihood.
///
/// `scores`: rows × outputs, row-major, real units; `labels`: one for each row.
/// One output: logistic(slope·s + intercept) for class 1 (Platt). Several:
/// softmax(slope·s) (temperature). None where no positive slope does it.
#[must_use]
pub fn fit(scores: &[f64], labels: &[u32], outputs: usize) -> Option<Calibration> {
    if outputs == 1 { platt(scores, labels) } else { temperature(scores, labels, outputs) }
}

/// What somebody should know whose probabilities are of scores as they are.
pub(crate) const FAILED: &str = "the calibration failed: no slope makes probabilities of the \
                                 scores, so they are taken as they are";

/// As [`fit`]; a failure is a warning, and scores are taken as they are.
pub(crate) fn fit_or_warn(
    scores: &[f64],
    labels: &[u32],
    outputs: usize,
    warnings: &mut Vec<String>,
) -> Calibration {
    fit(scores, labels, outputs).unwrap_or_else(|| {
        warnings.push(FAILED.to_owned());
        Calibration { slope: 1.0, intercept: 0.0 }
    })
}

fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn platt(scores: &[f64], labels: &[u32]) -> Option<Calibration> {
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
            return None;
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

fn temperature(scores: &[f64], labels: &[u32], outputs: usize) -> Option<Calibration> {
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

/// What the blob can hold; none of a degenerate fit.
fn checked(slope: f64, intercept: f64) -> Option<Calibration> {
    let (slope, intercept) = (slope as f32, intercept as f32);
    let held = slope.is_finite() && intercept.is_finite() && slope > 0.0;
    held.then_some(Calibration { slope, intercept })
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
        let found = fit(&scores, &labels, 1).unwrap();
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
        assert!((fit(&scores, &labels, 3).unwrap().slope - 3.0).abs() < 0.1);
    }

    #[test]
    fn separable_scores_stay_finite() {
        let found = fit(&[-1.0, -2.0, 1.0, 2.0], &[0, 0, 1, 1], 1).unwrap();
        assert!(found.slope.is_finite() && found.slope > 1.0);
        let found = recentred(&[-1.0, -2.0, 1.0, 2.0], &[0, 0, 1, 1], &[1.0; 4], 1);
        assert!(found.slope.is_finite() && found.slope > 1.0 && found.bias[0].abs() < 1e-6);
    }

    /// Scores that are high where the class is the other one, and scores that are no
    /// numbers.
    #[test]
    fn a_failure_is_told() {
        let scores: Vec<f64> = (0..400).map(|i| 20.0 * uniform(8, i) - 10.0).collect();
        let labels: Vec<u32> = scores.iter().map(|&score| u32::from(score < 0.0)).collect();
        for scores in [scores, vec![f64::NAN; 400], vec![f64::INFINITY; 400]] {
            assert_eq!(fit(&scores, &labels, 1), None);
            let mut warnings = Vec::new();
            let taken = fit_or_warn(&scores, &labels, 1, &mut warnings);
            assert_eq!((taken.slope, taken.intercept), (1.0, 0.0));
            assert_eq!(warnings, [FAILED]);
        }
        let mut warnings = Vec::new();
        let _ = fit_or_warn(&[-1.0, 1.0], &[0, 1], 1, &mut warnings);
        assert!(warnings.is_empty());
        let found = recentred(&[f64::NAN; 4], &[0, 0, 1, 1], &[1.0; 4], 1);
        assert!(!found.fitted);
        assert!(recentred(&[-1.0, -2.0, 1.0, 2.0], &[0, 0, 1, 1], &[1.0; 4], 1).fitted);
    }

    #[test]
    fn finds_slope_and_biases_that_made_the_labels() {
        // softmax(3·(s + b)), b = (0.4, 0, −0.4).
        let bias = [0.4, 0.0, -0.4];
        let scores: Vec<f64> = (0..60_000).map(|i| 2.0 * uniform(4, i)).collect();
        let labels: Vec<u32> = scores
            .chunks_exact(3)
            .enumerate()
            .map(|(i, row)| {
                let odds: Vec<f64> =
                    row.iter().zip(bias).map(|(s, b)| (3.0 * (s + b)).exp()).collect();
                let mut left = uniform(5, i) * odds.iter().sum::<f64>();
                let before = |&&odd: &&f64| {
                    left -= odd;
                    left > 0.0
                };
                odds.iter().take_while(before).count().min(2) as u32
            })
            .collect();
        let found = recentred(&scores, &labels, &[1.0; 20_000], 3);
        assert!((found.slope - 3.0).abs() < 0.1, "{found:?}");
        // A constant for all biases changes nothing.
        let middle = found.bias.iter().sum::<f64>() / 3.0;
        for (found, bias) in found.bias.iter().zip(bias) {
            assert!((found - middle - bias).abs() < 0.03, "{found} {bias}");
        }
    }

    #[test]
    fn weights_of_rows_count_them_several_times() {
        let scores: Vec<f64> = (0..90).map(|i| uniform(6, i)).collect();
        let labels: Vec<u32> = (0..30).map(|row| u32::from(uniform(7, row) < 0.3)).collect();
        let weights: Vec<f64> = (0..30).map(|row| f64::from(row % 3)).collect();
        let rows: Vec<usize> = (0..30).flat_map(|row| std::iter::repeat_n(row, row % 3)).collect();
        for outputs in [1, 3] {
            let weighted = recentred(&scores[..30 * outputs], &labels, &weights, outputs);
            let copied: Vec<f64> =
                rows.iter().flat_map(|row| scores[row * outputs..][..outputs].to_vec()).collect();
            let of_rows: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
            let repeated = recentred(&copied, &of_rows, &vec![1.0; rows.len()], outputs);
            assert!((weighted.loss - repeated.loss).abs() < 1e-9);
            assert!((weighted.slope - repeated.slope).abs() < 1e-5);
        }
    }
}
