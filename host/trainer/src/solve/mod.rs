//! Linear heads for other objectives than ridge regression's: solvers over the
//! core's integer features, each with a certificate of how close it came.
//!
//! All minimise Σ_i c_i·loss(y_i, wᵀφ_i + b) + ½μ‖w‖², the bias b unpenalised,
//! c_i the weight of row i. μ is λ times the mean variance of a feature times
//! the rows, as in [`crate::ridge`], so one λ means the same to every loss.
//! Sums run over blocks of rows of a fixed size and are added up in order: the
//! same bits for any number of threads.

mod bias;
mod blocks;
pub mod boxed;
pub(crate) mod conjugate;
pub mod design;
pub(crate) mod few;
mod gap;
pub mod hinge;
pub mod logistic;
pub(crate) mod loss;
mod newton;
mod sampled;

use serde::Serialize;

use crate::ridge::LinearFit;

pub use boxed::BoxedSquares;
pub use design::Design;
pub use hinge::Hinge;
pub(crate) use logistic::Known;
pub use logistic::Logistic;
pub use loss::Loss;
pub(crate) use newton::Pair;
pub(crate) use sampled::{Bend, Surrogate, Whole, curvature};

/// How close an iterative solver came.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// Outer iterations.
    pub iterations: usize,
    /// The objective that was reached.
    pub objective: f64,
    /// Objective minus a lower bound on the least one (the duality gap),
    /// relative to the objective: how much better any solution could be.
    pub gap: f64,
    /// The gap that was asked for.
    pub tolerance: f64,
    /// Whether it ended because a step changed the objective by no more than was asked
    /// for, or because it took all the products that it may, whatever the gap.
    pub settled: bool,
    /// Products with the Hessian, of solvers that make any: most of their time.
    pub products: usize,
}

/// When an iterative solver may stop: at the first of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Duality gap, relative to the objective.
    pub gap: f64,
    /// What a step took off the objective, relative to it. With little shrinkage the gap is
    /// a bound far from tight, and the last steps change what no rounded weight shows.
    pub decrease: f64,
    /// Products with the Hessian, after which there is no other step.
    pub products: usize,
}

impl Convergence {
    /// Whether the gap is as small as was asked for.
    #[must_use]
    pub fn reached(&self) -> bool {
        // Not a number is no success.
        self.gap <= self.tolerance
    }

    /// Whether it ended as it was asked to.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.reached() || self.settled
    }

    /// What a user should know of a solver that stopped early.
    #[must_use]
    pub fn warning(&self, solver: &str) -> Option<String> {
        (!self.ended()).then(|| {
            format!(
                "{solver} stopped after {} iterations at a relative duality gap of {:.1e}, \
                 {:.1e} was asked for",
                self.iterations, self.gap, self.tolerance
            )
        })
    }
}

/// A fit and how good it is.
#[derive(Clone, Debug)]
#[must_use]
pub struct Solution {
    /// Weights for integer features, and biases.
    pub fit: LinearFit,
    /// How close the solver came.
    pub convergence: Convergence,
}

/// `gap` relative to the objective.
pub(crate) fn relative(gap: f64, objective: f64) -> f64 {
    gap.max(0.0) / objective.abs().max(f64::MIN_POSITIVE)
}
