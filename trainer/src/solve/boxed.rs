//! Least squares under a bound on every weight: Algorithm 1 of *Weighted Sums
//! of Random Kitchen Sinks* (equations 3 and 4) with the quadratic loss,
//! minimise ½Σ c(y − wᵀφ − b)² + ½μ‖w‖² subject to ‖w‖∞ ≤ B, by projected
//! Newton steps (Bertsekas 1982) on the Gram matrix.
//!
//! For a gradient g, max over the box of gᵀ(w − v) = Σ (g_k·w_k + B|g_k|) bounds
//! how much better any other weights could be: zero exactly at the solution.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use koan::FEATURE_ONE;
use rayon::prelude::*;

use super::{Convergence, Solution, relative};
use crate::ridge::{LinearFit, System};

/// Newton steps at most.
const STEPS: usize = 300;
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
        let found: Vec<Found> = (0..self.system.cross().ncols())
            .into_par_iter()
            .map(|output| {
                let first = |k: usize| {
                    start.map_or(0.0, |fit| fit.weights[(k, output)]).clamp(-bound, bound)
                };
                let weights = (0..matrix.nrows()).map(first).collect();
                let cross: Vec<f64> = self.system.cross().col(output).iter().copied().collect();
                let constant = 0.5 * self.system.target_spread(output);
                let unit = self.system.unit();
                minimise(matrix.as_ref(), &cross, constant, unit, bound, weights, tolerance)
            })
            .collect();
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
    mut weights: Vec<f64>,
    tolerance: f64,
) -> Found {
    let product = |w: &[f64]| -> Vec<f64> {
        let w = Mat::from_fn(w.len(), 1, |k, _| w[k]);
        let image = matrix * w;
        (0..image.nrows()).map(|k| image[(k, 0)]).collect()
    };
    let value = |w: &[f64], image: &[f64]| {
        constant + w.iter().zip(image).zip(cross).map(|((w, h), c)| w * (0.5 * h - c)).sum::<f64>()
    };
    let mut image = product(&weights);
    let mut objective = value(&weights, &image);
    let mut steps = 0;
    let mut raise = RAISE;
    loop {
        let gradient: Vec<f64> = image.iter().zip(cross).map(|(h, c)| h - c).collect();
        let gap: f64 = gradient.iter().zip(&weights).map(|(g, w)| g * w + bound * g.abs()).sum();
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
            let slope: f64 = (0..next.len()).map(|k| gradient[k] * (next[k] - weights[k])).sum();
            let next_image = product(&next);
            let reached = value(&next, &next_image);
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
