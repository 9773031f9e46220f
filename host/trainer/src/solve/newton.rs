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

impl Pair {
    /// Less the mean of the outputs, where there are several: probabilities do not see what is
    /// added to all of them, and the penalty is least without it.
    fn level(&self) -> Self {
        let outputs = self.bias.len();
        if outputs == 1 {
            return Self { weights: self.weights.clone(), bias: self.bias.clone() };
        }
        let share = 1.0 / outputs as f64;
        let means: Vec<f64> =
            self.weights.row_iter().map(|row| share * row.iter().sum::<f64>()).collect();
        let mean = share * self.bias.iter().sum::<f64>();
        Self {
            weights: Mat::from_fn(means.len(), outputs, |k, t| self.weights[(k, t)] - means[k]),
            bias: self.bias.iter().map(|bias| bias - mean).collect(),
        }
    }
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
                let pair = &pair.level();
                let features = pair.weights.nrows();
                let solved: Vec<Mat<f64>> = parallel::map(factors.len(), |t| {
                    let side = Mat::from_fn(features + 1, 1, |k, _| match k {
                        k if k == features => pair.bias[t],
                        k => pair.weights[(k, t)],
                    });
                    factors[t].solve(&side)
                });
                let solved = Pair {
                    weights: Mat::from_fn(features, solved.len(), |k, t| solved[t][(k, 0)]),
                    bias: solved.iter().map(|solved| solved[(features, 0)]).collect(),
                };
                solved.level()
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

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Side;
    use koan::generator::Stream;

    /// Blocks that differ by output would add something to all outputs at once: probabilities do
    /// not see that, so nothing but the rounding of products would tell how far to go.
    #[test]
    fn blocks_add_nothing_to_all_outputs() {
        let (features, outputs) = (6, 5);
        let stream = Stream::new(5, 0);
        let number = |at: usize| f64::from(stream.draw(at as u64) as i8) / 64.0;
        let block = |t: usize| {
            let root = Mat::from_fn(features + 1, 20, |k, i| number(1000 * t + 50 * k + i));
            (&root * root.transpose()).llt(Side::Lower).unwrap()
        };
        let blocks = Preconditioner::Blocks((0..outputs).map(block).collect());
        let pair = |from: usize| Pair {
            weights: Mat::from_fn(features, outputs, |k, t| number(from + 10 * k + t)),
            bias: (0..outputs).map(|t| number(from + 100 + t)).collect(),
        };
        let (a, b) = (pair(0), pair(700));
        let image = blocks.apply(&a);
        assert!(image.weights.row_iter().all(|row| row.iter().sum::<f64>().abs() < 1e-9));
        assert!(image.bias.iter().sum::<f64>().abs() < 1e-9);
        assert!(blocks.dot(&a) > 0.0);
        let [ab, ba] = [a.dot(&blocks.apply(&b)), b.dot(&image)];
        assert!((ab - ba).abs() < 1e-9 * ab.abs(), "{ab} {ba}");
    }
}
