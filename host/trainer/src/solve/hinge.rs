//! Linear support vector machines, one for each output, optionally with a bound
//! on every weight (Algorithm 1 of *Weighted Sums of Random Kitchen Sinks*,
//! equations 3 and 4, with the hinge loss).
//!
//! The alternating direction method of multipliers splits scores z = Φᵀw + b off:
//! each iteration is one least-squares fit (with a factor that stays, or within
//! the bound, see [`super::boxed`]) and a step of the loss on each row alone. Correlated features, which make coordinate descent slow, do not
//! matter to it. Its multipliers a_i are those of the dual problem; made to
//! satisfy Σ a_i·y_i = 0 they give the lower bound Σ a_i − max over |w| ≤ B of
//! (wᵀv − ½μ‖w‖²), v = Σ a_i·y_i·φ_i, and with it the duality gap that stops the
//! solver.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef};

use super::boxed::minimise;
use super::loss::{Loss, sign};
use super::{Convergence, Design, Solution, bias, relative};
use crate::parallel;
use crate::ridge::{LinearFit, System};

/// Iterations at most.
const ITERATIONS: usize = 4000;
/// Iterations between two looks at the gap.
const LOOK: usize = 10;
/// Over-relaxation: 1 is none, 1.6 is usual.
const RELAX: f64 = 1.6;

/// A support vector machine whose penalty and bound are still open.
#[derive(Debug)]
pub struct Hinge<'d> {
    design: &'d Design,
    labels: &'d [u32],
    outputs: usize,
    weights: Option<&'d [f64]>,
    system: System,
    unit: f64,
}

/// Where a solver stopped, to start another one near it.
#[derive(Clone, Debug)]
pub struct Warm {
    /// Split scores and their scaled multipliers, T × n.
    z: Mat<f64>,
    u: Mat<f64>,
    /// Weights within the bound, K × T.
    x: Mat<f64>,
    rho: f64,
}

/// Primal and dual candidates and what they reach.
struct Look {
    weights: Mat<f64>,
    bias: Vec<f64>,
    objective: f64,
    bound: f64,
}

impl<'d> Hinge<'d> {
    /// The machines that tell the class of each output from the others; one
    /// output for two classes (labels 0 and 1). `weights` of rows: none for all
    /// 1.
    #[must_use]
    pub fn new(
        design: &'d Design,
        labels: &'d [u32],
        outputs: usize,
        weights: Option<&'d [f64]>,
    ) -> Self {
        let targets = Mat::from_fn(outputs, labels.len(), |t, i| sign(labels[i], t, outputs));
        let system = System::new(&design.moments(targets.as_ref(), None));
        let unit = weights.map_or(system.unit(), |weights| design.unit(weights));
        Self { design, labels, outputs, weights, system, unit }
    }

    /// Mean variance of a feature times the rows: μ = λ·unit.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The least objective for a λ with no weight beyond ±`bound` (none:
    /// without a bound), up to the share `tolerance`.
    ///
    /// `warm`: where to start, and afterwards where the search stopped. Without
    /// a bound λ = 0 is taken as 1e-10, since separable classes have no unique
    /// minimum.
    pub fn solve(
        &self,
        lambda: f64,
        bound: Option<f64>,
        warm: &mut Option<Warm>,
        tolerance: f64,
    ) -> Solution {
        let lambda = if bound.is_none() { lambda.max(1e-10) } else { lambda };
        let penalty = lambda * self.unit;
        let (features, rows) = (self.design.features(), self.labels.len());
        let mut at = warm.take().unwrap_or_else(|| Warm {
            z: Mat::zeros(self.outputs, rows),
            u: Mat::zeros(self.outputs, rows),
            x: Mat::zeros(features, self.outputs),
            rho: 1.0,
        });
        let mut factor = self.system.factor(self.share(penalty, at.rho)).0;
        let mut convergence = Convergence {
            iterations: 0,
            objective: f64::INFINITY,
            gap: f64::INFINITY,
            tolerance,
            settled: false,
            products: 0,
        };
        let mut best: Option<Look> = None;
        let mut lower = f64::NEG_INFINITY;
        while convergence.iterations < ITERATIONS {
            convergence.iterations += 1;
            // The least-squares fit to z − u, of centred features.
            let wanted = &at.z - &at.u;
            let cross = self.centred_gather(&wanted);
            let weights = match bound {
                None => factor.solve(&cross),
                Some(bound) => {
                    let weights = self.bounded(&factor, &cross, &wanted, &at, penalty, bound);
                    at.x.clone_from(&weights);
                    weights
                }
            };
            let offsets: Vec<f64> = (0..self.outputs)
                .map(|t| wanted.row(t).iter().sum::<f64>() / rows as f64)
                .collect();
            let offsets = self.raw(&weights, &offsets);
            let scores = self.design.scores(weights.as_ref(), &offsets);

            // Each row's own step; its multiplier is in [0, c].
            let (mut apart, mut moved, mut size, mut held) = (0.0, 0.0, 0.0f64, 0.0);
            for i in 0..rows {
                for t in 0..self.outputs {
                    let y = sign(self.labels[i], t, self.outputs);
                    let v = RELAX * scores[(t, i)] + (1.0 - RELAX) * at.z[(t, i)] + at.u[(t, i)];
                    let a = (1.0 - y * v).clamp(0.0, self.weight(i) / at.rho);
                    let z = v + a * y;
                    apart += (scores[(t, i)] - z).powi(2);
                    moved += (z - at.z[(t, i)]).powi(2);
                    size += z * z;
                    held += a * a;
                    at.z[(t, i)] = z;
                    at.u[(t, i)] = -a * y;
                }
            }
            if !convergence.iterations.is_multiple_of(LOOK) {
                continue;
            }
            let mut look = self.look(weights, &scores, &at, penalty, bound);
            // The scores have a bias already.
            look.bias.iter_mut().zip(&offsets).for_each(|(b, offset)| *b += offset);
            lower = lower.max(look.bound);
            if best.as_ref().is_none_or(|best| look.objective < best.objective) {
                best = Some(look);
            }
            convergence.objective = best.as_ref().map_or(f64::INFINITY, |best| best.objective);
            convergence.gap = relative(convergence.objective - lower, convergence.objective);
            if convergence.reached() {
                break;
            }
            // Residuals of both kinds should fall together.
            let ratio = (apart / size.max(1e-300)).sqrt() / (moved / held.max(1e-300)).sqrt();
            if ratio.is_finite() && !(0.04..=25.0).contains(&ratio)
                || convergence.iterations.is_multiple_of(100)
            {
                let change = ratio.sqrt().clamp(0.1, 10.0);
                if change.is_finite() && !(0.5..=2.0).contains(&change) {
                    at.rho *= change;
                    at.u *= faer::Scale(1.0 / change);
                    factor = self.system.factor(self.share(penalty, at.rho)).0;
                }
            }
        }
        *warm = Some(at);
        let (weights, bias) = match best {
            Some(best) => (best.weights, best.bias),
            None => (Mat::zeros(features, self.outputs), vec![0.0; self.outputs]),
        };
        Solution { fit: LinearFit { weights, bias, lambda }, convergence }
    }

    /// The best biases for other weights.
    #[must_use]
    pub fn bias(&self, weights: MatRef<'_, f64>) -> Vec<f64> {
        let scores = self.design.scores(weights, &vec![0.0; self.outputs]);
        self.best_bias(&scores)
    }

    /// For every row how many outputs' margins y·s lie within 1 of the corner
    /// of the loss, over the outputs and times its weight: a smoothed curvature.
    #[must_use]
    pub fn curvature(&self, fit: &LinearFit) -> Vec<f64> {
        let scores = self.design.scores(fit.weights.as_ref(), &fit.bias);
        (0..self.labels.len())
            .map(|i| {
                let near = |t: &usize| {
                    (1.0 - sign(self.labels[i], *t, self.outputs) * scores[(*t, i)]).abs() < 1.0
                };
                let count = (0..self.outputs).filter(near).count();
                0.5 * self.weight(i) * count as f64 / self.outputs as f64
            })
            .collect()
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The λ of the least-squares fit of an iteration.
    fn share(&self, penalty: f64, rho: f64) -> f64 {
        penalty / rho / self.system.unit()
    }

    /// The least-squares fit of an iteration within the bound.
    fn bounded(
        &self,
        factor: &Llt<f64>,
        cross: &Mat<f64>,
        wanted: &Mat<f64>,
        at: &Warm,
        penalty: f64,
        bound: f64,
    ) -> Mat<f64> {
        let free = factor.solve(cross);
        if free.norm_max() <= bound {
            return free;
        }
        let matrix = self.system.regularised(self.share(penalty, at.rho));
        let found: Vec<Vec<f64>> = parallel::map(self.outputs, |t| {
            let cross: Vec<f64> = cross.col(t).iter().copied().collect();
            let row = wanted.row(t);
            let mean = row.iter().sum::<f64>() / row.ncols() as f64;
            let constant = 0.5 * row.iter().map(|q| (q - mean).powi(2)).sum::<f64>();
            let start = at.x.col(t).iter().map(|x| x.clamp(-bound, bound)).collect();
            let unit = self.system.unit();
            minimise(matrix.as_ref(), &cross, constant, unit, bound, start, 1e-9).weights
        });
        Mat::from_fn(cross.nrows(), self.outputs, |k, t| found[t][k])
    }

    /// Σ (φ_i − mean)·r_iᵀ.
    fn centred_gather(&self, residuals: &Mat<f64>) -> Mat<f64> {
        let mut gathered = self.design.gather(residuals.as_ref());
        for t in 0..self.outputs {
            let sum: f64 = residuals.row(t).iter().sum();
            for (k, mean) in self.system.means().iter().enumerate() {
                gathered[(k, t)] -= mean * sum;
            }
        }
        gathered
    }

    /// Biases of uncentred features.
    fn raw(&self, weights: &Mat<f64>, offsets: &[f64]) -> Vec<f64> {
        (0..self.outputs)
            .map(|t| {
                let means = self.system.means().iter().enumerate();
                offsets[t] - means.map(|(k, mean)| mean * weights[(k, t)]).sum::<f64>()
            })
            .collect()
    }

    fn best_bias(&self, scores: &Mat<f64>) -> Vec<f64> {
        (0..self.outputs)
            .map(|t| {
                let row = |i: usize| {
                    (scores[(t, i)], sign(self.labels[i], t, self.outputs), self.weight(i))
                };
                bias::hinge((0..self.labels.len()).map(row))
            })
            .collect()
    }

    /// What these weights reach with their best biases, and what the
    /// multipliers prove.
    fn look(
        &self,
        weights: Mat<f64>,
        scores: &Mat<f64>,
        at: &Warm,
        penalty: f64,
        bound: Option<f64>,
    ) -> Look {
        let bias = self.best_bias(scores);
        let shifted =
            Mat::from_fn(self.outputs, self.labels.len(), |t, i| scores[(t, i)] + bias[t]);
        let objective = Loss::Hinge.total(shifted.as_ref(), self.labels, self.weights)
            + 0.5 * penalty * weights.squared_norm_l2();

        let mut duals = faer::Scale(-at.rho) * &at.u;
        let mut lower = 0.0;
        for t in 0..self.outputs {
            lower += bias::balance(duals.as_mut().row_mut(t));
        }
        let pull = self.centred_gather(&duals);
        for t in 0..self.outputs {
            for k in 0..pull.nrows() {
                let v = pull[(k, t)];
                lower -= match bound {
                    None => v * v / (2.0 * penalty),
                    Some(bound) => {
                        // 0/0 where neither pulls.
                        let w = if v.abs() >= penalty * bound {
                            bound * v.signum()
                        } else {
                            v / penalty
                        };
                        w * v - 0.5 * penalty * w * w
                    }
                };
            }
        }
        Look { weights, bias, objective, bound: lower }
    }
}
