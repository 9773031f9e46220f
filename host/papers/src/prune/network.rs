//! Pruning of regularisation networks f₀ = Σ c_i·k(·, x_i) (Section 7).
//!
//! Inner products in the kernel's space are the kernel matrix:
//! ⟨k(·, x_i), k(·, x_j)⟩ = k(x_i, x_j). The proof of Theorem 7.1 prunes in the
//! norm ‖g‖²_aux = (1/N)·Σ g(x_i)² + γ‖g‖²_k, in which an error of δ raises the
//! root of the regularised error ℱ by at most δ.

use faer::{Mat, MatRef};

use super::mixture::Mixture;
use crate::kernel::{Network, matrix};
use koan_trainer::Error;

/// The norm that a network is pruned in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// ‖·‖_k of the kernel's reproducing space.
    Kernel,
    /// ‖·‖_aux of the proof of Theorem 7.1.
    Auxiliary,
}

/// A network with its kernel matrix.
#[derive(Clone, Debug)]
pub struct Prunable {
    gram: Mat<f64>,
    coefficients: Mat<f64>,
    gamma: f64,
}

impl Prunable {
    /// The network over its own centres.
    ///
    /// # Errors
    /// As [`matrix`].
    pub fn new(network: &Network) -> Result<Self, Error> {
        let gram = matrix(&network.kernel, &network.centres, &network.centres)?;
        Ok(Self { gram, coefficients: network.coefficients.clone(), gamma: network.gamma })
    }

    /// The network as a mixture of h_i = ±S·k(·, x_i), in a norm.
    #[must_use]
    pub fn mixture(&self, norm: Norm) -> Mixture {
        match norm {
            Norm::Kernel => Mixture::new(self.gram.as_ref(), self.coefficients.as_ref()),
            Norm::Auxiliary => {
                let rows = self.gram.nrows() as f64;
                let squares = self.gram.transpose() * &self.gram;
                let product =
                    squares * faer::Scale(1.0 / rows) + faer::Scale(self.gamma) * &self.gram;
                Mixture::new(product.as_ref(), self.coefficients.as_ref())
            }
        }
    }

    /// ℱ(f) = (1/N)·Σ |f(x_i) − y_i|² + γ‖f‖²_k for f = Σ c_i·k(·, x_i).
    /// `coefficients` and `targets`: N × T.
    #[must_use]
    pub fn regularised_error(
        &self,
        coefficients: MatRef<'_, f64>,
        targets: MatRef<'_, f64>,
    ) -> f64 {
        let values = &self.gram * coefficients;
        let error = (&values - targets).squared_norm_l2() / self.gram.nrows() as f64;
        let norm: f64 = (0..values.ncols())
            .map(|t| {
                (0..values.nrows()).map(|i| coefficients[(i, t)] * values[(i, t)]).sum::<f64>()
            })
            .sum();
        error + self.gamma * norm
    }

    /// The centres in `kept` alone, with coefficients that minimise ℱ for them:
    /// those of the others are 0. N × T.
    ///
    /// # Errors
    /// A kernel matrix of these centres that is singular to working precision.
    ///
    /// # Panics
    /// If there is no centre of that number.
    pub fn refit(&self, kept: &[usize], targets: MatRef<'_, f64>) -> Result<Mat<f64>, Error> {
        use faer::Side;
        use faer::linalg::solvers::Solve;
        // (1/N)·AᵀA + γK_SS with A = K_·S, and (1/N)·Aᵀy.
        let rows = self.gram.nrows();
        let across = Mat::from_fn(rows, kept.len(), |i, j| self.gram[(i, kept[j])]);
        let per_row = faer::Scale(1.0 / rows as f64);
        let mut normal = (across.transpose() * &across) * per_row;
        for (i, &a) in kept.iter().enumerate() {
            for (j, &b) in kept.iter().enumerate() {
                normal[(i, j)] += self.gamma * self.gram[(a, b)];
            }
        }
        let wanted = (across.transpose() * targets) * per_row;
        let diagonal = (0..kept.len()).map(|i| normal[(i, i)]).fold(0.0, f64::max);
        // Near centres make smooth kernels dependent: what double precision
        // cannot tell from zero is raised until it is positive.
        let factor = [0.0, 1e-14, 1e-12, 1e-10].into_iter().find_map(|raise| {
            for i in 0..kept.len() {
                normal[(i, i)] += raise * diagonal;
            }
            normal.llt(Side::Lower).ok()
        });
        let singular =
            || Error::Impossible("the kernel matrix of the kept units is singular".into());
        let solved = factor.ok_or_else(singular)?.solve(&wanted);
        let mut coefficients = Mat::zeros(rows, targets.ncols());
        for (i, &k) in kept.iter().enumerate() {
            coefficients.row_mut(k).copy_from(solved.row(i));
        }
        Ok(coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Points};
    use crate::prune::{bounds, iterative, random};
    use koan::generator::Stream;

    fn network() -> (Prunable, Mat<f64>) {
        let uniform = |i: usize| Stream::new(4, 0).draw(i as u64) as i64 as f64 / 1e19;
        let points = Points::new((0..240).map(uniform).collect(), 3);
        let targets = Mat::from_fn(80, 2, |i, t| {
            let x = points.point(i);
            (3.0 * x[t]).sin() + x[2] * x[t] + 0.1 * uniform(1000 + i)
        });
        let kernel = Kernel::Gaussian { inputs: 0..3, width: 0.8 };
        let network = Network::fit(kernel, 1e-3, &points, targets.as_ref()).expect("a network");
        (Prunable::new(&network).expect("a kernel matrix"), targets)
    }

    #[test]
    fn pruning_raises_the_regularised_error_as_theorem_7_1_says() {
        let (network, targets) = network();
        let best = network.regularised_error(network.coefficients.as_ref(), targets.as_ref());
        let mixture = network.mixture(Norm::Auxiliary);
        for n in [1, 10, 100, 1000] {
            for found in [random(&mixture, n, 2.0, n as u64), iterative(&mixture, n)] {
                let pruned = network.regularised_error(found.weights.as_ref(), targets.as_ref());
                assert!(pruned.sqrt() <= best.sqrt() + found.error + 1e-9);
                assert!(found.error <= found.bound);
            }
        }
    }

    #[test]
    fn a_thousand_runs_keep_the_bound_in_the_kernels_space() {
        let (network, _) = network();
        let mixture = network.mixture(Norm::Kernel);
        let mut draws = 0;
        for seed in 0..1000 {
            let found = random(&mixture, 16, 1.5, seed);
            assert!(found.error <= bounds::random(1.5, mixture.rho(), 0.0, 16));
            draws += found.attempts;
        }
        assert!(f64::from(draws - 1000) / f64::from(draws) <= 1.0 / 1.5);
    }

    #[test]
    fn all_centres_refitted_are_the_network_and_few_are_better_than_drawn() {
        let (network, targets) = network();
        let all: Vec<usize> = (0..80).collect();
        let same = network.refit(&all, targets.as_ref()).expect("positive definite");
        let error = |c: &Mat<f64>| network.regularised_error(c.as_ref(), targets.as_ref());
        assert!((error(&same) - error(&network.coefficients)).abs() < 1e-9);
        let drawn = random(&network.mixture(Norm::Auxiliary), 20, 2.0, 1);
        let again = network.refit(&drawn.features(), targets.as_ref()).expect("definite");
        assert!(error(&again) < error(&drawn.weights));
    }
}
