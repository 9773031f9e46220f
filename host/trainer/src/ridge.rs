//! Ridge regression on centred features: minimise over w
//! Σ (y − wᵀφ − b)² + λ‖w‖², b unpenalised, all outputs at once.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef, Side};

use crate::lambda::{UNTOLD, around};
use crate::moments::Moments;
use crate::panels;
use crate::parallel;

/// A linear predictor ŷ = weightsᵀφ + bias over the core's integer features.
#[derive(Clone, Debug)]
pub struct LinearFit {
    /// K × T.
    pub weights: Mat<f64>,
    /// One for each output.
    pub bias: Vec<f64>,
    /// λ relative to the mean variance of a feature times the rows: what
    /// [`System`] takes.
    pub lambda: f64,
}

/// The centred normal equations.
#[derive(Clone, Debug)]
pub struct System {
    /// Centred Gram matrix, both triangles.
    gram: Mat<f64>,
    /// Centred Σ φyᵀ.
    cross: Mat<f64>,
    means: Vec<f64>,
    target_means: Vec<f64>,
    /// Σ (y − mean)², one for each output.
    target_spread: Vec<f64>,
    /// Mean of the diagonal: the unit of λ.
    unit: f64,
    /// Σ of the rows' weights; in the dual form the number of rows.
    count: f64,
}

/// Entries of the matrices that are factored at once, at most, but for a single one.
const TOGETHER: usize = 1 << 23;

impl System {
    /// Centres the sums.
    #[must_use]
    pub fn new(moments: &Moments) -> Self {
        let features = moments.features();
        let means: Vec<f64> = (0..features).map(|k| moments.mean(k)).collect();
        let target_means: Vec<f64> =
            (0..moments.outputs()).map(|t| moments.target_mean(t)).collect();
        let gram = centred(moments, &means);
        let cross = Mat::from_fn(features, moments.outputs(), |k, t| {
            moments.cross[(k, t)] - moments.sum[(k, 0)] * target_means[t]
        });
        let trace: f64 = (0..features).map(|k| gram[(k, k)]).sum();
        // All-constant features leave a zero Gram matrix: any unit will do.
        let unit = if trace > 0.0 { trace / features as f64 } else { 1.0 };
        let target_spread = (0..moments.outputs())
            .map(|t| moments.target_square[t] - moments.count * target_means[t].powi(2))
            .collect();
        let count = moments.count;
        Self { gram, cross, means, target_means, target_spread, unit, count }
    }

    /// The same in its dual form, (XXᵀ + λ·unit·I)α = y: `products` of centred rows times the roots
    /// of their weights, n × n, and their centred targets, n × T. What is fitted is α in the place
    /// of weights; the mean of a row's products is 0.
    #[must_use]
    pub fn dual(
        products: Mat<f64>,
        targets: Mat<f64>,
        target_means: Vec<f64>,
        features: usize,
    ) -> Self {
        let trace: f64 = (0..products.nrows()).map(|i| products[(i, i)]).sum();
        let unit = if trace > 0.0 { trace / features as f64 } else { 1.0 };
        let target_spread = targets.col_iter().map(|column| column.squared_norm_l2()).collect();
        let means = vec![0.0; products.nrows()];
        let count = targets.nrows() as f64;
        Self { gram: products, cross: targets, means, target_means, target_spread, unit, count }
    }

    /// Gram + λ·unit·I, factored. When it is singular to working precision (few
    /// inputs and many smooth features do that), λ is raised tenfold until it
    /// is not; the λ that was used comes back.
    ///
    /// # Panics
    /// Sums that are not finite; training refuses tables that would make them.
    #[must_use]
    pub fn factor(&self, lambda: f64) -> (Llt<f64>, f64) {
        let mut lambda = lambda;
        loop {
            let matrix = self.regularised(lambda);
            if let Ok(factor) = matrix.llt(Side::Lower)
                && (0..matrix.nrows()).all(|k| {
                    // A pivot that is all rounding error makes a wild solution.
                    let pivot = factor.L()[(k, k)];
                    pivot.is_finite() && pivot * pivot > 1e-13 * self.unit
                })
            {
                return (factor, lambda);
            }
            lambda = (lambda * 10.0).max(1e-12);
            assert!(lambda.is_finite(), "sums of finite numbers are positive semidefinite");
        }
    }

    /// Gram + λ·unit·I, both triangles.
    #[must_use]
    pub fn regularised(&self, lambda: f64) -> Mat<f64> {
        let mut matrix = self.gram.clone();
        for k in 0..matrix.nrows() {
            matrix[(k, k)] += lambda * self.unit;
        }
        matrix
    }

    /// The fit for one λ.
    #[must_use]
    pub fn solve(&self, lambda: f64) -> LinearFit {
        let (factor, lambda) = self.factor(lambda);
        self.solve_with(&factor, lambda)
    }

    /// The fit for a λ whose factorisation is known.
    #[must_use]
    pub fn solve_with(&self, factor: &Llt<f64>, lambda: f64) -> LinearFit {
        self.finish(factor.solve(&self.cross), lambda)
    }

    /// The fits for several λ, on all threads. Each has a factorisation of its own: seven of them
    /// take less time than one eigendecomposition that would serve them all.
    #[must_use]
    pub fn path(&self, lambdas: &[f64]) -> Vec<LinearFit> {
        let together = (TOGETHER / self.gram.nrows().pow(2).max(1)).max(1);
        let parts = lambdas.chunks(together);
        parts.flat_map(|part| parallel::map(part.len(), |place| self.solve(part[place]))).collect()
    }

    /// The centred Gram matrix, both triangles.
    #[must_use]
    pub fn gram(&self) -> MatRef<'_, f64> {
        self.gram.as_ref()
    }

    /// Mean variance of a feature times the rows: what λ is multiplied by.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Mean of each feature.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Σ (y − mean)² of `output`.
    #[must_use]
    pub fn target_spread(&self, output: usize) -> f64 {
        self.target_spread[output]
    }

    /// Centred Σ φyᵀ, K × T.
    #[must_use]
    pub fn cross(&self) -> MatRef<'_, f64> {
        self.cross.as_ref()
    }

    /// Adds the bias: ŷ at the mean feature is the mean target.
    #[must_use]
    pub fn finish(&self, weights: Mat<f64>, lambda: f64) -> LinearFit {
        let bias = self.bias(&weights);
        LinearFit { weights, bias, lambda }
    }

    /// The best bias for given weights.
    #[must_use]
    pub fn bias(&self, weights: &Mat<f64>) -> Vec<f64> {
        let offset = |t: usize| -> f64 {
            self.means.iter().enumerate().map(|(k, mean)| mean * weights[(k, t)]).sum()
        };
        self.target_means.iter().enumerate().map(|(t, mean)| mean - offset(t)).collect()
    }
}

/// The λ of `lambdas`, refined to half decades, whose fit on `fit` has the
/// least squared error on `held_out`; its fit and that error. Where no row has a weight, of those
/// that were fitted or those held out, they say nothing: a middling λ.
#[must_use]
pub fn best_on(system: &System, held_out: &Moments, lambdas: &[f64]) -> (LinearFit, f64) {
    if system.count == 0.0 || held_out.count == 0.0 {
        return (system.solve(UNTOLD), 0.0);
    }
    best_by(system, lambdas, &|fit| held_out.mean_squared_error(fit.weights.as_ref(), &fit.bias))
}

/// The same by any `error` of a fit.
#[must_use]
pub fn best_by(
    system: &System,
    lambdas: &[f64],
    error: &(dyn Fn(&LinearFit) -> f64 + Sync),
) -> (LinearFit, f64) {
    let better = |a: (LinearFit, f64), b: (LinearFit, f64)| if b.1 < a.1 { b } else { a };
    let judged = |lambdas: &[f64]| {
        let fits = system.path(lambdas);
        let errors = parallel::map(fits.len(), |place| error(&fits[place]));
        fits.into_iter().zip(errors).reduce(better)
    };
    let coarse = judged(lambdas).unwrap_or_else(|| {
        let fit = system.solve(1e-6);
        let error = error(&fit);
        (fit, error)
    });
    let fine = judged(&around(coarse.0.lambda));
    fine.into_iter().fold(coarse, better)
}

/// Σ (φ − mean)(φ − mean)ᵀ, both triangles.
fn centred(moments: &Moments, means: &[f64]) -> Mat<f64> {
    const WIDTH: usize = panels::WIDTH;
    let features = means.len();
    let mut gram = Mat::zeros(features, features);
    parallel::each(panels::columns(gram.as_mut(), WIDTH), |number, mut panel| {
        let first = number * WIDTH;
        // The sums above the diagonal are rows of those below: a square at a time stays in the cache.
        for start in (0..features).step_by(WIDTH) {
            let rows = start..features.min(start + WIDTH);
            for (place, j) in (first..).enumerate().take(panel.ncols()) {
                for i in rows.clone() {
                    let sum = moments.gram[(i.max(j), i.min(j))];
                    panel[(i, place)] = sum - moments.count * means[i] * means[j];
                }
            }
        }
    });
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lambda::LAMBDAS;
    use crate::moments::rows_of;

    /// Deterministic pseudo-random rows: K × n features and n × 1 targets.
    fn problem(features: usize, rows: usize) -> (Mat<f64>, Mat<f64>) {
        let stream = koan::generator::Stream::new(5, 0);
        let phi = Mat::from_fn(features, rows, |k, row| {
            f64::from(stream.draw((row * features + k) as u64) as i16)
        });
        let y = Mat::from_fn(rows, 1, |row, _| phi[(0, row)] * 0.5 - phi[(1, row)] * 0.25 + 7.0);
        (phi, y)
    }

    fn system(phi: &Mat<f64>, y: &Mat<f64>) -> (System, Moments) {
        let mut moments = Moments::new(phi.nrows(), 1);
        moments.add(&rows_of(phi.as_ref()), y.as_ref(), None);
        (System::new(&moments), moments)
    }

    #[test]
    fn recovers_a_linear_function() {
        let (phi, y) = problem(5, 200);
        let fit = system(&phi, &y).0.solve(1e-12);
        let expected = [0.5, -0.25, 0.0, 0.0, 0.0];
        for (k, &weight) in expected.iter().enumerate() {
            assert!((fit.weights[(k, 0)] - weight).abs() < 1e-9);
        }
        assert!((fit.bias[0] - 7.0).abs() < 1e-4);
    }

    #[test]
    fn the_fits_of_a_path_are_in_its_order() {
        let (phi, y) = problem(20, 60);
        let (system, _) = system(&phi, &y);
        let path = system.path(&LAMBDAS);
        assert_eq!(path.len(), LAMBDAS.len());
        for (fit, &lambda) in path.iter().zip(&LAMBDAS) {
            assert_eq!(fit.weights, system.solve(lambda).weights);
        }
    }

    #[test]
    fn the_error_from_sums_is_the_error_over_rows() {
        let (phi, y) = problem(8, 50);
        let (system, moments) = system(&phi, &y);
        let fit = system.solve(0.3);
        let direct: f64 = (0..50)
            .map(|row| {
                let value: f64 = (0..8).map(|k| fit.weights[(k, 0)] * phi[(k, row)]).sum();
                (y[(row, 0)] - value - fit.bias[0]).powi(2)
            })
            .sum();
        let summed = moments.mean_squared_error(fit.weights.as_ref(), &fit.bias);
        assert!((summed - direct / 50.0).abs() <= 1e-9 * summed, "{summed} {direct}");
    }

    #[test]
    fn singular_problems_are_solved() {
        // Twice the same features, and more features than rows.
        let (half, y) = problem(30, 20);
        let phi = Mat::from_fn(60, 20, |k, row| half[(k % 30, row)]);
        let fit = system(&phi, &y).0.solve(0.0);
        assert!(fit.lambda > 0.0);
        for row in 0..20 {
            let value: f64 = (0..60).map(|k| fit.weights[(k, 0)] * phi[(k, row)]).sum();
            assert!((value + fit.bias[0] - y[(row, 0)]).abs() < 1.0);
        }
    }

    #[test]
    fn weights_of_rows_count_them_several_times() {
        let (phi, y) = problem(4, 30);
        let mut weighted = Moments::new(4, 1);
        let weights: Vec<f64> = (0..30).map(|row| f64::from(row % 3)).collect();
        weighted.add(&rows_of(phi.as_ref()), y.as_ref(), Some(&weights));
        let rows: Vec<usize> = (0..30).flat_map(|row| std::iter::repeat_n(row, row % 3)).collect();
        let copied = Mat::from_fn(4, rows.len(), |k, i| phi[(k, rows[i])]);
        let targets = Mat::from_fn(rows.len(), 1, |i, _| y[(rows[i], 0)]);
        let mut repeated = Moments::new(4, 1);
        repeated.add(&rows_of(copied.as_ref()), targets.as_ref(), None);
        let (a, b) = (System::new(&weighted).solve(0.01), System::new(&repeated).solve(0.01));
        for k in 0..4 {
            assert!((a.weights[(k, 0)] - b.weights[(k, 0)]).abs() < 1e-9);
        }
    }
}
