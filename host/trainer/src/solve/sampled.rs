//! A logistic regression of some rows, for steps over all of them.

use faer::{Mat, Scale};

use super::blocks::{self, Shared};
use super::conjugate::Vector;
use super::logistic::Logistic;
use super::newton::{Pair, Preconditioner, newton_step};
use crate::ridge::{LinearFit, System};

/// How far the residual of a Newton step falls, and the square of that of all steps. Some of the
/// rows do not bend as all do: more digits would be wasted.
const FORCING: f64 = 0.1;
const LEFT: f64 = 0.02;
/// Newton steps at most.
const STEPS: usize = 12;
/// Shares of a step that are tried.
const LENGTHS: [f64; 8] = [1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.001, 0.0001];
/// Rows of its own that a class has at least by the biases that steps begin with: where none of
/// its rows are among these, the fit gives it none.
const LEAST_ROWS: f64 = 0.5;

/// What is known of all rows.
pub(crate) struct Whole {
    /// The centred Gram matrix, among others.
    pub system: System,
    /// Σ of the rows' weights.
    pub total: f64,
}

/// How the loss of all rows bends at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bend<'b> {
    /// The mean [`curvature`] of each output.
    pub curvatures: &'b [f64],
    /// So many times that is added.
    pub damping: f64,
}

/// How much the loss may bend along a step, by an output's score: p(1 − p) where a chance p is
/// off by less than a half; what it has on the way there where it is off by more.
pub(crate) fn curvature(off: f64) -> f64 {
    if off < 0.5 { off * (1.0 - off) } else { MOST_CURVATURE }
}

/// The largest p(1 − p).
const MOST_CURVATURE: f64 = 0.25;
/// The Gram matrix times this bounds the Hessian (Böhning 1992), for one output and for several.
const BOUNDS: [f64; 2] = [0.25, 0.5];

/// Some rows that stand for all.
pub(crate) struct Surrogate<'m> {
    rows: &'m Logistic<'m>,
    whole: &'m Whole,
    /// What all rows weigh, in units of these.
    times: f64,
    /// Twice λ's penalty of a squared weight, in units of these rows.
    penalty: f64,
    scores: Mat<f64>,
    loss: f64,
    /// The derivatives of these rows' loss.
    own: Pair,
    /// What the curvature of these rows lacks, by output.
    missing: Vec<f64>,
}

/// Where Newton's method is.
struct Place {
    step: Pair,
    scores: Mat<f64>,
    chances: Mat<f64>,
    /// The objective less that at the start.
    value: f64,
}

impl<'m> Surrogate<'m> {
    /// Of all rows' objective near `at`: the loss of `rows`, in its place moved to the derivatives
    /// that all rows have, and the Gram matrix of all rows for the curvature that these lack:
    /// they are fewer, and where they were fitted to they bend less than others do.
    pub fn new(rows: &'m Logistic<'m>, whole: &'m Whole, at: &LinearFit, bend: Bend<'_>) -> Self {
        let times = whole.total / rows.total();
        let scores = rows.design.scores(at.weights.as_ref(), &at.bias);
        let (chances, loss, _) = rows.chances_of(scores.clone());
        let bound = BOUNDS[usize::from(rows.outputs > 1)];
        let of_output = |(t, &all): (usize, &f64)| {
            let off = |i: usize| (chances[(t, i)] - rows.wanted(i, t)).abs();
            let own = (0..chances.ncols()).map(|i| rows.weight(i) * curvature(off(i)));
            let lacking = (all - own.sum::<f64>() / rows.total()).max(0.0);
            (lacking + bend.damping * all).min(bound)
        };
        let missing = bend.curvatures.iter().enumerate().map(of_output).collect();
        let none = Pair { weights: Mat::zeros(0, 0), bias: Vec::new() };
        let penalty = at.lambda * whole.system.unit() / times;
        let mut model = Self { rows, whole, times, penalty, scores, loss, own: none, missing };
        model.own = model.gathered(&chances);
        model
    }

    /// The step from where the model is to where it is least. `gradient`: all rows' derivatives
    /// there by weights and by the biases of uncentred features; the step is one of these.
    pub fn step(&self, gradient: Pair) -> Pair {
        let Pair { weights, bias } = gradient;
        let mut gradient = self.centred(weights, bias);
        gradient.scale(1.0 / self.times);
        let (chances, ..) = self.rows.chances_of(self.scores.clone());
        let precondition = self.precondition(&chances);
        let step = Pair {
            weights: Mat::zeros(self.means().len(), self.rows.outputs),
            bias: vec![0.0; self.rows.outputs],
        };
        let mut place = Place { step, scores: self.scores.clone(), chances, value: 0.0 };
        let mut enough = None;
        for _ in 0..STEPS {
            let mut slope = self.gathered(&place.chances);
            slope.add(-1.0, &self.own);
            slope.add(1.0, &gradient);
            slope.add(1.0, &self.pull(&place.step));
            let size = precondition.dot(&slope);
            if size <= *enough.get_or_insert(0.0) {
                break;
            }
            enough = enough.filter(|&enough| enough > 0.0).or(Some(LEFT * size));
            let by = newton_step(&slope, &precondition, FORCING, |direction| {
                self.bent(direction, &place.chances)
            });
            let Some(next) = self.search(&place, &by.by, slope.dot(&by.by), &gradient) else {
                break;
            };
            place = next;
        }
        let bias = self.raw_bias(&place.step);
        Pair { bias, ..place.step }
    }

    /// Moves along a step, the shorter the less the objective falls; none where it does not.
    fn search(&self, from: &Place, by: &Pair, slope: f64, gradient: &Pair) -> Option<Place> {
        let scores = self.rows.design.scores(by.weights.as_ref(), &self.raw_bias(by));
        LENGTHS.iter().find_map(|&length| {
            let Pair { weights, bias } = &from.step;
            let mut step = Pair { weights: weights.clone(), bias: bias.clone() };
            step.add(length, by);
            let scores = &from.scores + Scale(length) * &scores;
            let (chances, loss, _) = self.rows.chances_of(scores.clone());
            let value = loss - self.loss - self.own.dot(&step)
                + gradient.dot(&step)
                + 0.5 * step.dot(&self.pull(&step));
            let fell = value <= from.value + 1e-4 * length * slope;
            fell.then_some(Place { step, scores, chances, value })
        })
    }

    fn means(&self) -> &[f64] {
        self.whole.system.means()
    }

    /// Σ (φ_i − mean)·r_iᵀ and Σ r_i of the residuals r of these rows.
    fn gathered(&self, chances: &Mat<f64>) -> Pair {
        let residual = self.rows.residual(chances);
        let sums = (0..residual.nrows()).map(|t| residual.row(t).iter().sum()).collect();
        self.centred(self.rows.design.gather(residual.as_ref()), sums)
    }

    /// Derivatives by weights and by the biases of centred features.
    fn centred(&self, mut weights: Mat<f64>, bias: Vec<f64>) -> Pair {
        for (t, sum) in bias.iter().enumerate() {
            let means = self.means().iter();
            weights.col_mut(t).iter_mut().zip(means).for_each(|(by, mean)| *by -= mean * sum);
        }
        Pair { weights, bias }
    }

    /// Biases of uncentred features.
    fn raw_bias(&self, pair: &Pair) -> Vec<f64> {
        let offset = |t: usize| -> f64 {
            self.means().iter().zip(pair.weights.col(t).iter()).map(|(mean, by)| mean * by).sum()
        };
        pair.bias.iter().enumerate().map(|(t, bias)| bias - offset(t)).collect()
    }

    /// The derivatives of penalty and missing curvature after a step.
    fn pull(&self, step: &Pair) -> Pair {
        let mut weights = self.whole.system.gram() * &step.weights;
        let mut bias = step.bias.clone();
        for (t, missing) in self.missing.iter().enumerate() {
            let share = missing / self.times;
            weights.col_mut(t).iter_mut().for_each(|by| *by *= share);
            bias[t] *= share * self.whole.total;
        }
        weights += Scale(self.penalty) * &step.weights;
        Pair { weights, bias }
    }

    /// The model's Hessian times a direction.
    fn bent(&self, direction: &Pair, chances: &Mat<f64>) -> Pair {
        let (weights, bias) = (direction.weights.as_ref(), self.raw_bias(direction));
        let (gathered, sums) = self.rows.design.through(weights, &bias, |row, scores| {
            self.rows.curve(row, chances, scores);
        });
        let mut image = self.centred(gathered, sums);
        image.add(1.0, &self.pull(direction));
        image
    }

    /// About the inverse of the Hessian.
    fn precondition(&self, chances: &Mat<f64>) -> Preconditioner {
        let bent = Mat::from_fn(self.rows.outputs, chances.ncols(), |t, i| {
            self.rows.weight(i) * chances[(t, i)] * (1.0 - chances[(t, i)])
        });
        let shares: Vec<f64> = self.missing.iter().map(|missing| missing / self.times).collect();
        let gram = self.whole.system.gram();
        let shared = Shared { gram, total: self.whole.total, shares: &shares };
        let factors =
            blocks::factored(self.rows.design, self.means(), &bent, self.penalty, Some(shared));
        if let Some(factors) = factors {
            return Preconditioner::Blocks(factors);
        }
        // One matrix for all outputs, with their mean curvature.
        let total: f64 = (0..bent.ncols()).map(|i| bent.col(i).iter().sum::<f64>()).sum();
        let mean = (total / self.rows.total() + self.missing.iter().sum::<f64>())
            / self.rows.outputs as f64;
        let curvature = (mean / self.times).max(f64::MIN_POSITIVE);
        let lambda = self.penalty / (curvature * self.whole.system.unit());
        let (factor, _) = self.whole.system.factor(lambda);
        Preconditioner::Shared { factor, curvature, total: self.whole.total }
    }
}

impl Logistic<'_> {
    /// Raises the biases of classes that the fit gives less than half a row in all.
    pub(crate) fn raise_rare(&self, fit: &mut LinearFit) {
        let (chances, ..) = self.chances(fit.weights.as_ref(), &fit.bias);
        let rows = chances.ncols();
        let least = LEAST_ROWS * self.total() / rows as f64;
        for t in 0..self.outputs {
            let sum: f64 = (0..rows).map(|i| self.weight(i) * chances[(t, i)]).sum();
            let raise = |sum: f64| (least / sum.max(1e-9 * least)).ln().max(0.0);
            fit.bias[t] += raise(sum);
            if self.outputs == 1 {
                fit.bias[t] -= raise(self.total() - sum);
            }
        }
    }

    /// Σ of the rows' weights.
    pub(crate) fn total(&self) -> f64 {
        self.known().total
    }

    /// Whether rows are of the class of output `t`.
    pub(crate) fn has(&self, t: usize) -> bool {
        self.known().class_totals[t] > 0.0
    }
}
