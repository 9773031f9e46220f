//! Least squares under a bound on every weight: Algorithm 1 of *Weighted Sums
//! of Random Kitchen Sinks* (equations 3 and 4) with the quadratic loss,
//! minimise ½Σ c(y − wᵀφ − b)² + ½μ‖w‖² subject to ‖w‖∞ ≤ B, by projected
//! Newton steps (Bertsekas 1982) on the Gram matrix. Where those go astray, as
//! between interpolation and a tight box, a primal-dual interior-point method
//! takes over, to which a singular matrix does not matter.
//!
//! For a gradient g, max over the box of gᵀ(w − v) = Σ (g_k·w_k + B|g_k|) bounds
//! how much better any other weights could be: zero exactly at the solution.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use koan::FEATURE_ONE;

use super::{Convergence, Solution, relative};
use crate::parallel;
use crate::ridge::{LinearFit, System};

/// Newton steps at most.
const STEPS: usize = 60;
/// Interior-point steps at most, where those do not get there.
const INTERIOR_STEPS: usize = 100;
/// What the diagonal is raised by at least, relative to the mean variance: a
/// Gram matrix may be singular.
const RAISE: f64 = 1e-13;

/// The bound C/K of equation 4 on weights of integer features, for features
/// whose largest magnitude is 1.
#[must_use]
pub fn bound(c: f64, features: usize) -> f64 {
    c / features as f64 / f64::from(FEATURE_ONE)
}

/// A least-squares problem whose bound is still open.
#[derive(Clone, Copy, Debug)]
pub struct BoxedSquares<'s> {
    system: &'s System,
}

/// One output's weights.
pub(crate) struct Found {
    pub(crate) weights: Vec<f64>,
    objective: f64,
    gap: f64,
    steps: usize,
}

impl<'s> BoxedSquares<'s> {
    /// The problem of these normal equations, all outputs under one bound.
    #[must_use]
    pub fn new(system: &'s System) -> Self {
        Self { system }
    }

    /// The least objective with no weight beyond ±`bound`; `lambda` as in
    /// ridge regression, 0 for none. The gap is relative to the objective of zero
    /// weights.
    pub fn solve(
        &self,
        bound: f64,
        lambda: f64,
        start: Option<&LinearFit>,
        tolerance: f64,
    ) -> Solution {
        let matrix = self.system.regularised(lambda);
        let found: Vec<Found> = parallel::map(self.system.cross().ncols(), |output| {
            let first =
                |k: usize| start.map_or(0.0, |fit| fit.weights[(k, output)]).clamp(-bound, bound);
            let weights = (0..matrix.nrows()).map(first).collect();
            let cross: Vec<f64> = self.system.cross().col(output).iter().copied().collect();
            let constant = 0.5 * self.system.target_spread(output);
            let unit = self.system.unit();
            minimise(matrix.as_ref(), &cross, constant, unit, bound, weights, tolerance)
        });
        let weights =
            Mat::from_fn(matrix.nrows(), found.len(), |k, output| found[output].weights[k]);
        let objective = found.iter().map(|found| found.objective).sum();
        let gap = found.iter().map(|found| found.gap).sum();
        // What zero weights reach: objectives of interpolating fits are 0.
        let scale: f64 =
            (0..found.len()).map(|output| 0.5 * self.system.target_spread(output)).sum();
        let convergence = Convergence {
            iterations: found.iter().map(|found| found.steps).max().unwrap_or(0),
            objective,
            gap: relative(gap, scale),
            tolerance,
            settled: false,
            products: 0,
        };
        Solution { fit: self.system.finish(weights, lambda), convergence }
    }

    /// Solutions for several bounds, each started from the one before.
    #[must_use]
    pub fn path(&self, bounds: &[f64], lambda: f64, tolerance: f64) -> Vec<Solution> {
        let mut path: Vec<Solution> = Vec::new();
        for &bound in bounds {
            let start = path.last().map(|solution| &solution.fit);
            path.push(self.solve(bound, lambda, start, tolerance));
        }
        path
    }
}

/// Minimises ½wᵀHw − cᵀw + constant subject to |w_k| ≤ bound, from `weights`.
///
/// `matrix` is H, both triangles; `unit` the size of its diagonal. Stops at a gap
/// of `tolerance` times the constant, which is what zero weights reach.
pub(crate) fn minimise(
    matrix: MatRef<'_, f64>,
    cross: &[f64],
    constant: f64,
    unit: f64,
    bound: f64,
    weights: Vec<f64>,
    tolerance: f64,
) -> Found {
    let problem = Quadratic { matrix, cross, constant, bound };
    let found = problem.projected(unit, weights, tolerance);
    if found.gap <= tolerance * constant {
        return found;
    }
    let inside = problem.interior(tolerance);
    if inside.gap < found.gap { inside } else { found }
}

/// One output's problem.
struct Quadratic<'q> {
    matrix: MatRef<'q, f64>,
    cross: &'q [f64],
    constant: f64,
    bound: f64,
}

impl Quadratic<'_> {
    /// Hw.
    fn image(&self, weights: &[f64]) -> Vec<f64> {
        let weights = Mat::from_fn(weights.len(), 1, |k, _| weights[k]);
        let image = self.matrix * weights;
        image.col(0).iter().copied().collect()
    }

    fn value(&self, weights: &[f64], image: &[f64]) -> f64 {
        let terms = weights.iter().zip(image).zip(self.cross);
        self.constant + terms.map(|((w, h), c)| w * (0.5 * h - c)).sum::<f64>()
    }

    fn gradient(&self, image: &[f64]) -> Vec<f64> {
        image.iter().zip(self.cross).map(|(h, c)| h - c).collect()
    }

    /// How much better any weights within the bound could be, at most.
    fn gap(&self, weights: &[f64], gradient: &[f64]) -> f64 {
        gradient.iter().zip(weights).map(|(g, w)| g * w + self.bound * g.abs()).sum()
    }

    /// Newton steps of the weights that are not held at a bound, projected.
    fn projected(&self, unit: f64, mut weights: Vec<f64>, tolerance: f64) -> Found {
        let Self { matrix, constant, bound, .. } = *self;
        let mut image = self.image(&weights);
        let mut objective = self.value(&weights, &image);
        let mut steps = 0;
        let mut raise = RAISE;
        loop {
            let gradient = self.gradient(&image);
            let gap = self.gap(&weights, &gradient);
            let done = gap <= tolerance * constant;
            if done || steps == STEPS {
                return Found { weights, objective, gap, steps };
            }
            steps += 1;
            let free: Vec<usize> = (0..weights.len())
                .filter(|&k| {
                    let outwards = weights[k] * gradient[k] < 0.0;
                    weights[k].abs() < bound * (1.0 - 1e-12) || !outwards
                })
                .collect();
            let step = newton(matrix, &free, &gradient, raise * unit);
            let mut length = 1.0;
            let moved = loop {
                let mut next = weights.clone();
                for (&k, d) in free.iter().zip(&step) {
                    next[k] = (next[k] + length * d).clamp(-bound, bound);
                }
                let slope: f64 =
                    (0..next.len()).map(|k| gradient[k] * (next[k] - weights[k])).sum();
                let next_image = self.image(&next);
                let reached = self.value(&next, &next_image);
                if slope < 0.0 && reached <= objective + 1e-4 * slope {
                    (weights, image, objective) = (next, next_image, reached);
                    break true;
                }
                length *= 0.5;
                if length < 1e-3 {
                    break false;
                }
            };
            // A step that had to be shortened went along directions that the Gram
            // matrix says little of (Levenberg and Marquardt).
            if length < 0.2 {
                raise *= 30.0;
            } else if length == 1.0 {
                raise = (raise / 10.0).max(RAISE);
            }
            if !moved && raise > 1e3 {
                return Found { weights, objective, gap, steps };
            }
        }
    }

    /// A primal-dual interior-point method: the multipliers of both bounds
    /// times their slacks are driven to 0 together.
    fn interior(&self, tolerance: f64) -> Found {
        let (features, bound) = (self.cross.len(), self.bound);
        let mut weights = vec![0.0; features];
        let size = self.cross.iter().fold(0.0f64, |m, c| m.max(c.abs())).max(f64::MIN_POSITIVE);
        let (mut upper, mut lower) = (vec![size; features], vec![size; features]);
        let mut steps = STEPS;
        loop {
            let image = self.image(&weights);
            let gradient = self.gradient(&image);
            let gap = self.gap(&weights, &gradient);
            let objective = self.value(&weights, &image);
            if gap <= tolerance * self.constant || steps == STEPS + INTERIOR_STEPS {
                return Found { weights, objective, gap, steps };
            }
            steps += 1;
            let slack = |k: usize| (bound - weights[k], bound + weights[k]);
            let products = |k: usize| upper[k] * slack(k).0 + lower[k] * slack(k).1;
            let centre = 0.1 * (0..features).map(products).sum::<f64>() / (2 * features) as f64;
            let curved = Mat::from_fn(features, features, |i, j| {
                let (above, below) = slack(i);
                let barrier = if i == j { upper[i] / above + lower[i] / below } else { 0.0 };
                self.matrix[(i, j)] + barrier
            });
            let wanted = Mat::from_fn(features, 1, |k, _| {
                let (above, below) = slack(k);
                centre / below - centre / above - gradient[k]
            });
            let Ok(factor) = curved.llt(Side::Lower) else {
                return Found { weights, objective, gap, steps };
            };
            let step = factor.solve(&wanted);
            let moves: Vec<(f64, f64, f64)> = (0..features)
                .map(|k| {
                    let ((above, below), d) = (slack(k), step[(k, 0)]);
                    let up = (centre + upper[k] * d) / above - upper[k];
                    let down = (centre - lower[k] * d) / below - lower[k];
                    (d, up, down)
                })
                .collect();
            // Both stay positive: at most 99.5 % of the way to the nearest bound.
            let room = |value: f64, change: f64| if change < 0.0 { -value / change } else { 1e300 };
            let length = (0..features).fold(1.0f64, |length, k| {
                let ((above, below), (d, up, down)) = (slack(k), moves[k]);
                let most = room(above, -d).min(room(below, d));
                length.min(0.995 * most.min(room(upper[k], up)).min(room(lower[k], down)))
            });
            for (k, (d, up, down)) in moves.into_iter().enumerate() {
                weights[k] += length * d;
                upper[k] += length * up;
                lower[k] += length * down;
            }
        }
    }
}

/// The step of the free weights that minimises the quadratic over them, its
/// diagonal raised, more if it is singular to working precision.
fn newton(matrix: MatRef<'_, f64>, free: &[usize], gradient: &[f64], mut raise: f64) -> Vec<f64> {
    let wanted = Mat::from_fn(free.len(), 1, |i, _| -gradient[free[i]]);
    loop {
        let block = Mat::from_fn(free.len(), free.len(), |i, j| {
            matrix[(free[i], free[j])] + if i == j { raise } else { 0.0 }
        });
        if let Ok(factor) = block.llt(Side::Lower) {
            let step = factor.solve(&wanted);
            return (0..free.len()).map(|i| step[(i, 0)]).collect();
        }
        raise *= 10.0;
    }
}
