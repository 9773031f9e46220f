//! Newton steps by preconditioned conjugate gradients.

use faer::Mat;
use faer::linalg::solvers::{Llt, Solve};

use super::conjugate::{Until, Vector, conjugate_gradients};
use crate::parallel;

/// Products with the Hessian at most, for one step.
const PRODUCTS: usize = 250;

/// Something by weights (K × T) and by biases (T).
pub(crate) struct Pair {
    pub weights: Mat<f64>,
    pub bias: Vec<f64>,
}

impl Vector for Pair {
    fn dot(&self, other: &Self) -> f64 {
        let weights: f64 = (0..self.bias.len())
            .map(|t| {
                let (a, b) = (self.weights.col(t), other.weights.col(t));
                a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()
            })
            .sum();
        weights + self.bias.iter().zip(&other.bias).map(|(a, b)| a * b).sum::<f64>()
    }

    fn add(&mut self, factor: f64, other: &Self) {
        self.weights += faer::Scale(factor) * &other.weights;
        self.bias.iter_mut().zip(&other.bias).for_each(|(a, b)| *a += factor * b);
    }

    fn scale(&mut self, factor: f64) {
        self.weights *= faer::Scale(factor);
        self.bias.iter_mut().for_each(|b| *b *= factor);
    }
}

/// A step.
pub(crate) struct Step {
    pub by: Pair,
    /// Products with the Hessian that it took.
    pub products: usize,
}

/// About the inverse of a Hessian.
pub(crate) enum Preconditioner {
    /// Of curvature·(centred Gram) + μI, one for all outputs.
    Shared {
        /// Of (centred Gram) + μI/curvature.
        factor: Llt<f64>,
        /// The curvature of a row.
        curvature: f64,
        /// Σ of the rows' weights.
        total: f64,
    },
    /// Of the block of each output, the bias last.
    Blocks(Vec<Llt<f64>>),
}

impl Preconditioner {
    pub fn apply(&self, pair: &Pair) -> Pair {
        match self {
            Self::Shared { factor, curvature, total } => Pair {
                weights: faer::Scale(1.0 / curvature) * factor.solve(&pair.weights),
                bias: pair.bias.iter().map(|b| b / (curvature * total)).collect(),
            },
            Self::Blocks(factors) => {
                let features = pair.weights.nrows();
                let solved: Vec<Mat<f64>> = parallel::map(factors.len(), |t| {
                    let side = Mat::from_fn(features + 1, 1, |k, _| match k {
                        k if k == features => pair.bias[t],
                        k => pair.weights[(k, t)],
                    });
                    factors[t].solve(&side)
                });
                Pair {
                    weights: Mat::from_fn(features, solved.len(), |k, t| solved[t][(k, 0)]),
                    bias: solved.iter().map(|solved| solved[(features, 0)]).collect(),
                }
            }
        }
    }

    pub fn dot(&self, pair: &Pair) -> f64 {
        pair.dot(&self.apply(pair))
    }
}

/// Solves Hessian·step = −gradient until the residual has fallen to the share
/// `forcing`. `image`: the Hessian's product with a direction.
pub(crate) fn newton_step(
    gradient: &Pair,
    precondition: &Preconditioner,
    forcing: f64,
    image: impl Fn(&Pair) -> Pair,
) -> Step {
    let (features, outputs) = (gradient.weights.nrows(), gradient.bias.len());
    let downhill = Pair {
        weights: -gradient.weights.clone(),
        bias: gradient.bias.iter().map(|g| -g).collect(),
    };
    let mut by = Pair { weights: Mat::zeros(features, outputs), bias: vec![0.0; outputs] };
    let until = Until { share: forcing, products: PRODUCTS };
    let inverse = |pair: &Pair| precondition.apply(pair);
    let products = conjugate_gradients(downhill, until, inverse, image, |length, direction| {
        by.add(length, direction);
    });
    Step { by, products }
}
