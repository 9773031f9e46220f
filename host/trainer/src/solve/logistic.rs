//! Logistic and multinomial regression by Newton's method: the steps are found
//! by conjugate gradients, preconditioned with the Gram matrix of the features.
//!
//! The Hessian is Σ c_i·φ_iφ_iᵀ·p_i(1 − p_i) + μI (and its multinomial counterpart),
//! bounded by multiples of the Gram matrix (Böhning 1992), so at first the factor that
//! ridge regression needs makes its condition small, however correlated the features are.
//! Where probabilities become sure of themselves, that no longer suffices: then the
//! Hessian's blocks on the diagonal, one for each output, of some rows take its place.
//! What stops the solver is the duality gap: for any probabilities p with
//! Σ_i c_i·p_i = Σ_i c_i·e_{y_i}, Σ c_i·H(p_i) − ‖Σ c_i·φ_i(e_{y_i} − p_i)ᵀ‖²/(2μ), H the
//! entropy, is a lower bound on the objective.

use std::sync::Arc;

use faer::linalg::solvers::Llt;
use faer::{Mat, MatMut, MatRef};

use super::blocks::Blocks;
use super::conjugate::Vector;
use super::loss::{ROWS, own_score, probabilities, sign};
use super::newton::{Pair, Preconditioner, Step, newton_step};
use super::{Convergence, Design, Solution, Tolerance, bias, blocks, relative};
use crate::moments::Moments;
use crate::panels;
use crate::parallel;
use crate::ridge::{LinearFit, System};
use crate::vector::{Work, wide};

/// Newton steps at most.
const STEPS: usize = 100;
/// Share of the loss without features below which the gap is not taken relative to the
/// objective: where classes are told apart almost surely, more digits change nothing.
const NEGLIGIBLE: f64 = 0.05;

/// A logistic regression whose penalty is still open.
#[derive(Debug)]
pub struct Logistic<'d> {
    pub(super) design: &'d Design,
    pub(super) labels: &'d [u32],
    pub(super) outputs: usize,
    weights: Option<&'d [f64]>,
    pub(super) known: Arc<Known>,
}

/// What is summed up once, before any λ.
#[derive(Debug)]
pub(crate) struct Known {
    /// Centred Gram matrix, weighted.
    pub(super) system: System,
    /// Σ of the rows' weights, in all and for each output's class.
    pub(super) total: f64,
    pub(super) class_totals: Vec<f64>,
    /// Σ c_i·φ_i·e_{y_i}ᵀ, K × T, and Σ c_i·φ_i, K × 1.
    pub(super) class_sums: Mat<f64>,
    pub(super) sums: Mat<f64>,
}

/// Weights and biases, and what follows from them.
pub(super) struct State {
    weights: Mat<f64>,
    bias: Vec<f64>,
    /// Probabilities of the outputs' classes: T × n.
    pub(super) chances: Mat<f64>,
    /// Σ c_i·H(p_i).
    pub(super) entropy: f64,
    objective: f64,
}

impl<'d> Logistic<'d> {
    /// The regression of `labels` on `design`; one output for two classes
    /// (labels 0 and 1), otherwise one for each. `weights` of rows: none for
    /// all 1.
    #[must_use]
    pub fn new(
        design: &'d Design,
        labels: &'d [u32],
        outputs: usize,
        weights: Option<&'d [f64]>,
    ) -> Self {
        let wanted = Mat::from_fn(outputs, labels.len(), |t, i| indicator(labels[i], t, outputs));
        let moments = design.moments(wanted.as_ref(), weights);
        let system = System::new(&moments);
        let Moments { count, cross, sum, target_sum, .. } = moments;
        let known =
            Known { system, total: count, class_totals: target_sum, class_sums: cross, sums: sum };
        Self::again(design, labels, outputs, weights, Arc::new(known))
    }

    /// [`Logistic::new`] of rows whose sums are known from the first time.
    pub(crate) fn again(
        design: &'d Design,
        labels: &'d [u32],
        outputs: usize,
        weights: Option<&'d [f64]>,
        known: Arc<Known>,
    ) -> Self {
        Self { design, labels, outputs, weights, known }
    }

    /// What is summed up once.
    pub(crate) fn known(&self) -> Arc<Known> {
        self.known.clone()
    }

    /// Mean variance of a feature times the rows: μ = λ·unit.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.known.system.unit()
    }

    /// The least objective for a λ, up to the share `tolerance` of it, or of a twentieth of
    /// the loss without features if that is more; `start` is where the search begins.
    ///
    /// λ = 0 is taken as 1e-10, since separable classes have no minimum.
    pub fn solve(&self, lambda: f64, start: Option<&LinearFit>, tolerance: f64) -> Solution {
        self.solve_until(
            lambda,
            start,
            Tolerance { gap: tolerance, decrease: 0.0, products: usize::MAX },
        )
    }

    /// The same up to either of two tolerances.
    pub fn solve_until(
        &self,
        lambda: f64,
        start: Option<&LinearFit>,
        tolerance: Tolerance,
    ) -> Solution {
        let lambda = lambda.max(1e-10);
        let penalty = lambda * self.unit();
        let mut state = self.start(start, penalty);
        let mut precondition = self.shared(lambda);
        let worth = blocks::products(self.labels.len(), self.design.features());

        let mut convergence = Convergence {
            iterations: 0,
            objective: state.objective,
            gap: f64::INFINITY,
            tolerance: tolerance.gap,
            settled: false,
            products: 0,
        };
        let negligible = NEGLIGIBLE * self.ignorance();
        let mut first = None;
        // Products with the Hessian that the last step took, and the first one with the blocks.
        let (mut products, mut with_new) = (0, 0);
        // Not where they are too large, or have no factor.
        let mut may_have_blocks = true;
        loop {
            let residual = self.residual(&state.chances);
            let gathered = self.design.gather(residual.as_ref());
            convergence.objective = state.objective;
            let gap = state.objective - self.bound(&state, &gathered, penalty);
            convergence.gap = relative(gap, state.objective.max(negligible));
            if convergence.ended() || convergence.iterations == STEPS {
                break;
            }
            convergence.iterations += 1;
            let mut are_new = false;
            if may_have_blocks && products > worth + with_new {
                match self.blocks(&state.chances, penalty) {
                    Some(blocks) => {
                        (precondition, are_new) = (Preconditioner::Blocks(blocks), true);
                    }
                    None => may_have_blocks = false,
                }
            }
            let gradient = self.gradient(&state, &residual, gathered, penalty);
            let size = precondition.dot(&gradient);
            let share = size / *first.get_or_insert(size);
            let forcing = share.sqrt().sqrt().clamp(1e-4, 0.3);
            let step = self.newton_step(&gradient, &state.chances, penalty, &precondition, forcing);
            products = step.products;
            if are_new {
                with_new = products;
            }
            convergence.products += products;
            let before = state.objective;
            if !self.search(&mut state, &step, &gradient, penalty) {
                break;
            }
            let least = tolerance.decrease * state.objective.max(negligible);
            convergence.settled = (least > 0.0 && before - state.objective < least)
                || convergence.products >= tolerance.products;
        }
        let State { weights, mut bias, .. } = state;
        if self.outputs > 1 {
            // A softmax does not see a shift of all biases.
            let mean = bias.iter().sum::<f64>() / bias.len() as f64;
            bias.iter_mut().for_each(|b| *b -= mean);
        }
        Solution { fit: LinearFit { weights, bias, lambda }, convergence }
    }

    /// About the inverse of the Hessian where nothing is known yet.
    fn shared(&self, lambda: f64) -> Preconditioner {
        // The curvature of a row.
        let curvature = if self.outputs == 1 { 0.25 } else { 0.5 / self.outputs as f64 };
        let (factor, _) = self.known.system.factor(lambda / curvature);
        Preconditioner::Shared { factor, curvature, total: self.known.total }
    }

    pub(crate) fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Each output's curvature of the loss at `fit`, c_i·p(1 − p): T × n.
    #[must_use]
    pub fn curvatures(&self, fit: &LinearFit) -> Mat<f64> {
        let (chances, ..) = self.chances(fit.weights.as_ref(), &fit.bias);
        self.curvatures_of(&chances)
    }

    fn curvatures_of(&self, chances: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(self.outputs, self.labels.len(), |t, i| {
            self.weight(i) * chances[(t, i)] * (1.0 - chances[(t, i)])
        })
    }

    /// The second derivatives of the objective for `lambda` by an output's weights, where rows have
    /// these `curvatures` (T × n) and the biases are always the best ones: from at most `most`
    /// rows, K × K for each output that is asked for.
    pub(crate) fn second_derivatives<'c>(
        &'c self,
        lambda: f64,
        curvatures: &'c Mat<f64>,
        most: usize,
    ) -> impl Fn(usize) -> Mat<f64> + Sync + 'c {
        let blocks = Blocks::new(self.design, self.known.system.means(), curvatures, most);
        let penalty = lambda * self.unit();
        move |t| {
            let mut matrix = blocks.without_constant(t);
            (0..matrix.nrows()).for_each(|k| matrix[(k, k)] += penalty);
            matrix
        }
    }

    /// The best biases for other weights than those of `fit`, from those that leave the mean scores
    /// as they are: farther off all rows may have chances of 0 or 1, from where no step leads back.
    #[must_use]
    pub fn bias(&self, weights: MatRef<'_, f64>, fit: &LinearFit) -> Vec<f64> {
        let scores = self.design.scores(weights, &vec![0.0; self.outputs]);
        let moved = Pair { weights: weights - &fit.weights, bias: fit.bias.clone() };
        let mut best = self.raw_bias(&moved);
        bias::logistic(scores.as_ref(), self.labels, self.weights, &mut best);
        best
    }

    /// 1 if row `i` is of the class of output `t`.
    pub(super) fn wanted(&self, i: usize, t: usize) -> f64 {
        indicator(self.labels[i], t, self.outputs)
    }

    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    fn start(&self, start: Option<&LinearFit>, penalty: f64) -> State {
        let shares: Vec<f64> = (0..self.outputs).map(|t| self.share(t)).collect();
        if let Some(fit) = start {
            let state = self.state(fit.weights.clone(), fit.bias.clone(), penalty);
            // Of rows without one of the classes a fit may be far off, where no step leads back.
            if state.objective <= self.loss_of_shares(&shares) {
                return state;
            }
        }
        let odds = |share: f64| if self.outputs == 1 { share / (1.0 - share) } else { share };
        let bias = shares.iter().map(|&share| odds(share).ln()).collect();
        self.state(Mat::zeros(self.design.features(), self.outputs), bias, penalty)
    }

    /// The share of an output's class among the rows. No class may start at no share at all.
    fn share(&self, t: usize) -> f64 {
        ((self.known.class_totals[t] + 0.5) / (self.known.total + 1.0)).clamp(1e-12, 1.0 - 1e-12)
    }

    /// The loss of weights of 0 with these shares.
    fn loss_of_shares(&self, shares: &[f64]) -> f64 {
        let total = self.known.total;
        let own = self.known.class_totals.iter().zip(shares).map(|(sum, share)| -sum * share.ln());
        let own: f64 = own.sum();
        match shares {
            [share] => own - (total - self.known.class_totals[0]) * (1.0 - share).ln(),
            _ => own + total * shares.iter().sum::<f64>().ln(),
        }
    }

    fn state(&self, weights: Mat<f64>, bias: Vec<f64>, penalty: f64) -> State {
        let (chances, loss, entropy) = self.chances(weights.as_ref(), &bias);
        let objective = loss + 0.5 * penalty * weights.squared_norm_l2();
        State { weights, bias, chances, entropy, objective }
    }

    /// Probabilities of the outputs' classes, T × n, Σ c_i·loss_i and Σ c_i·H(p_i).
    pub(super) fn chances(&self, weights: MatRef<'_, f64>, bias: &[f64]) -> (Mat<f64>, f64, f64) {
        self.chances_of(self.design.scores(weights, bias))
    }

    /// The same of scores, T × n.
    pub(super) fn chances_of(&self, mut chances: Mat<f64>) -> (Mat<f64>, f64, f64) {
        let runs = panels::columns(chances.as_mut(), ROWS);
        let of_run = |run: usize, part| wide(Chances { of: self, first: run * ROWS, part });
        let sums = parallel::each(runs, of_run);
        let (loss, entropy) = sums.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        (chances, loss, entropy)
    }

    /// c_i(p_i − e_{y_i}): T × n.
    pub(super) fn residual(&self, chances: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(self.outputs, self.labels.len(), |t, i| {
            self.weight(i) * (chances[(t, i)] - self.wanted(i, t))
        })
    }

    /// By weights and by the bias of centred features.
    fn gradient(
        &self,
        state: &State,
        residual: &Mat<f64>,
        gathered: Mat<f64>,
        penalty: f64,
    ) -> Pair {
        let sums = (0..self.outputs).map(|t| residual.row(t).iter().sum()).collect();
        let mut gradient = self.centred(gathered, sums);
        gradient.weights += faer::Scale(penalty) * &state.weights;
        gradient
    }

    /// Σ (φ_i − mean)·r_iᵀ and Σ r_i from Σ φ_i·r_iᵀ and Σ r_i.
    fn centred(&self, mut gathered: Mat<f64>, sums: Vec<f64>) -> Pair {
        for (t, sum) in sums.iter().enumerate() {
            for (k, mean) in self.known.system.means().iter().enumerate() {
                gathered[(k, t)] -= mean * sum;
            }
        }
        Pair { weights: gathered, bias: sums }
    }

    /// The Newton step, up to the share `forcing`.
    fn newton_step(
        &self,
        gradient: &Pair,
        chances: &Mat<f64>,
        penalty: f64,
        precondition: &Preconditioner,
        forcing: f64,
    ) -> Step {
        newton_step(gradient, precondition, forcing, |direction| {
            let bias = self.raw_bias(direction);
            let (gathered, sums) =
                self.design.through(direction.weights.as_ref(), &bias, |row, scores| {
                    self.curve(row, chances, scores);
                });
            let mut image = self.centred(gathered, sums);
            image.weights += faer::Scale(penalty) * &direction.weights;
            image
        })
    }

    /// The Hessian's blocks on the diagonal, factored.
    fn blocks(&self, chances: &Mat<f64>, penalty: f64) -> Option<Vec<Llt<f64>>> {
        let curvature = self.curvatures_of(chances);
        blocks::factored(self.design, self.known.system.means(), &curvature, penalty, None)
    }

    /// Biases of uncentred features.
    fn raw_bias(&self, pair: &Pair) -> Vec<f64> {
        (0..self.outputs)
            .map(|t| {
                let means = self.known.system.means().iter().enumerate();
                pair.bias[t] - means.map(|(k, mean)| mean * pair.weights[(k, t)]).sum::<f64>()
            })
            .collect()
    }

    /// c_i(diag(p_i) − p_ip_iᵀ)·s_i in the place of the scores s_i of row i.
    pub(super) fn curve(&self, row: usize, chances: &Mat<f64>, scores: &mut [f64]) {
        let chances = chances.col(row).try_as_col_major().expect("columns of a Mat are contiguous");
        let chances = chances.as_slice();
        let mean: f64 = chances.iter().zip(&*scores).map(|(p, score)| p * score).sum();
        let weight = self.weight(row);
        for (score, p) in scores.iter_mut().zip(chances) {
            *score = weight * p * (*score - mean);
        }
    }

    /// Moves along the step, halved until the objective falls enough; whether
    /// it did.
    fn search(&self, state: &mut State, step: &Step, gradient: &Pair, penalty: f64) -> bool {
        let slope = gradient.dot(&step.by);
        if slope >= 0.0 {
            return false;
        }
        let bias = self.raw_bias(&step.by);
        let mut length = 1.0;
        while length > 1e-10 {
            let weights = &state.weights + faer::Scale(length) * &step.by.weights;
            let moved = state.bias.iter().zip(&bias).map(|(b, step)| b + length * step);
            let next = self.state(weights, moved.collect(), penalty);
            if next.objective <= state.objective + 1e-4 * length * slope {
                *state = next;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

/// Scores of rows from `first` on, of which probabilities are made.
struct Chances<'a, 'd> {
    of: &'a Logistic<'d>,
    first: usize,
    part: MatMut<'a, f64>,
}

impl Work for Chances<'_, '_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn call(self) -> (f64, f64) {
        let Self { of, first, part } = self;
        let mut scores = vec![0.0; of.outputs];
        let (mut losses, mut entropies) = (0.0, 0.0);
        for (i, row) in (first..).zip(part.col_iter_mut()) {
            let row = row.try_as_col_major_mut().expect("columns of a Mat are contiguous");
            let row = row.as_slice_mut();
            scores.copy_from_slice(row);
            let all = probabilities(row);
            let own = own_score(&scores, of.labels[i]);
            losses += of.weight(i) * (all - own);
            // H(p) = ln Σ exp(s) − Σ p·s where p are the probabilities of the scores s.
            let mean: f64 = row.iter().zip(&scores).map(|(p, score)| p * score).sum();
            entropies += of.weight(i) * (all - mean);
        }
        (losses, entropies)
    }
}

/// 1 if `label` is the class of output `t`.
fn indicator(label: u32, t: usize, outputs: usize) -> f64 {
    if sign(label, t, outputs) > 0.0 { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests;
