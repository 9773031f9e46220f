//! Calibration: slope and intercept that turn scores into honest probabilities, and
//! biases that make classes as frequent as they are.

use std::ops::Range;

use koan::Calibration;

use crate::solve::few::{Local, minimise};
use crate::solve::loss::{in_runs, probabilities};

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

/// Penalties that only matter to classes that scores separate: on squared biases (in logits), for
/// each row, and on the square of the slope less 1, for all rows together. Of many classes scores
/// differ little, and the slope has to be large.
const PULL: f64 = 1e-3;

/// Fits slope and biases to scores that were not fitted to these rows, by Newton's
/// method on the weighted mean negative log-likelihood.
///
/// `scores`: rows × outputs, row-major; `labels` and `weights`: one for each row.
#[must_use]
pub fn recentred(scores: &[f64], labels: &[u32], weights: &[f64], outputs: usize) -> Recentred {
    let rows = Rows { scores, labels, weights: Some(weights), outputs };
    let biases = rows.classes();
    let mut at = rows.start(biases);
    // A slope that is not positive would turn classes round.
    let fitted = rows.fit(&mut at, PULL, |parameters| parameters[0] > 0.0);
    let (slope, loss) = (at[0], rows.loss(&at).value);
    let bias = match outputs {
        1 => vec![(at[2] - at[1]) / slope],
        _ => at[1..].iter().map(|b| b / slope).collect(),
    };
    Recentred { slope, bias, loss, fitted }
}

/// Scores of rows, and what they are of.
///
/// Parameters of probabilities are a slope for all scores, and a bias in logits for none of the
/// classes, for the last ones, or for all.
struct Rows<'r> {
    scores: &'r [f64],
    labels: &'r [u32],
    weights: Option<&'r [f64]>,
    outputs: usize,
}

impl Rows<'_> {
    /// One output is the second of two classes, the first scores 0.
    fn classes(&self) -> usize {
        self.outputs.max(2)
    }

    /// Slope 1 and so many biases of 0.
    fn start(&self, biases: usize) -> Vec<f64> {
        let mut parameters = vec![0.0; biases + 1];
        parameters[0] = 1.0;
        parameters
    }

    fn score(&self, row: usize, class: usize) -> f64 {
        match self.outputs {
            1 if class == 0 => 0.0,
            1 => self.scores[row],
            outputs => self.scores[row * outputs + class],
        }
    }

    /// Logits of a row's classes.
    fn logits(&self, row: usize, parameters: &[f64], logits: &mut [f64]) {
        let without = self.classes() + 1 - parameters.len();
        for (class, logit) in logits.iter_mut().enumerate() {
            let bias = class.checked_sub(without).map_or(0.0, |place| parameters[place + 1]);
            *logit = parameters[0] * self.score(row, class) + bias;
        }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    fn total(&self) -> f64 {
        (0..self.labels.len()).map(|row| self.weight(row)).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Mean negative log-likelihood, and its derivatives.
    fn loss(&self, parameters: &[f64]) -> Local {
        let total = self.total();
        let runs = in_runs(self.labels.len(), |rows| self.loss_of(rows, parameters, total));
        runs.iter().fold(Local::none(parameters.len()), Local::add)
    }

    /// What some rows add to it, of the weight `total` of all.
    fn loss_of(&self, rows: Range<usize>, parameters: &[f64], total: f64) -> Local {
        let classes = self.classes();
        let without = classes + 1 - parameters.len();
        let mut sums = Local::none(parameters.len());
        let mut p = vec![0.0; classes];
        for row in rows {
            let label = self.labels[row] as usize;
            let share = self.weight(row) / total;
            self.logits(row, parameters, &mut p);
            let own = p[label];
            sums.value += share * (probabilities(&mut p) - own);
            let score = |class: usize| self.score(row, class);
            let mean: f64 = (0..classes).map(|t| score(t) * p[t]).sum();
            let spread: f64 = (0..classes).map(|t| p[t] * (score(t) - mean).powi(2)).sum();
            sums.gradient[(0, 0)] += share * (mean - score(label));
            sums.curvature[(0, 0)] += share * spread;
            for (place, t) in (without..classes).enumerate() {
                let hit = f64::from(u8::from(label == t));
                sums.gradient[(place + 1, 0)] += share * (p[t] - hit);
                sums.curvature[(place + 1, 0)] += share * p[t] * (score(t) - mean);
            }
            sums.curve_softmax(1, &p[without..], share);
        }
        sums
    }

    /// Moves the parameters to the least loss and pulls, that of biases as given, among those that
    /// are allowed; whether it came to an end.
    fn fit(&self, at: &mut Vec<f64>, of_biases: f64, allowed: impl Fn(&[f64]) -> bool) -> bool {
        let off = |parameters: &[f64], k: usize| parameters[k] - f64::from(u8::from(k == 0));
        let of_slope = PULL / self.total();
        let function = |parameters: &[f64]| {
            if !allowed(parameters) {
                return Local::infinite(parameters.len());
            }
            let mut sums = self.loss(parameters);
            for k in 0..parameters.len() {
                let pull = if k == 0 { of_slope } else { of_biases };
                sums.value += 0.5 * pull * off(parameters, k).powi(2);
                sums.gradient[(k, 0)] += pull * off(parameters, k);
                sums.curvature[(k, k)] += pull;
            }
            sums
        };
        minimise(at, 1e-12, function)
    }
}

/// Fits the calibration to held-out scores by Newton's method on the mean
/// negative log-likelihood.
///
/// `scores`: rows × outputs, row-major, real units; `labels`: one for each row.
/// One output: logistic(slope·s + intercept) for class 1 (Platt). Several:
/// softmax(slope·s) (temperature). None where no positive slope does it.
#[must_use]
pub fn fit(scores: &[f64], labels: &[u32], outputs: usize) -> Option<Calibration> {
    let rows = Rows { scores, labels, weights: None, outputs };
    let mut at = rows.start(usize::from(outputs == 1));
    // A little shrinkage keeps separable data finite.
    let fitted = rows.fit(&mut at, PULL / rows.total(), |_| true);
    let intercept = if outputs == 1 { at[1] } else { 0.0 };
    if fitted { checked(at[0], intercept) } else { None }
}

/// What somebody should know whose probabilities are of scores as they are.
pub(crate) const FAILED: &str = "the probabilities could not be calibrated on held-out rows: \
                                 they are those of the scores as they are";

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

    fn logistic(z: f64) -> f64 {
        1.0 / (1.0 + (-z).exp())
    }

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

    /// Of many classes scores differ by little.
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
        for scale in [1.0, 0.02] {
            let scores: Vec<f64> = scores.iter().map(|score| scale * score).collect();
            let found = recentred(&scores, &labels, &[1.0; 20_000], 3);
            assert!((scale * found.slope - 3.0).abs() < 0.1, "{found:?}");
            // A constant for all biases changes nothing.
            let middle = found.bias.iter().sum::<f64>() / 3.0;
            for (found, bias) in found.bias.iter().zip(bias) {
                assert!(((found - middle) / scale - bias).abs() < 0.03, "{found} {bias}");
            }
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
