//! A convex combination of functions, known by its inner products.

use faer::{Mat, MatRef};

/// f ≈ Σ c_i·h_i with c_i ≥ 0, Σ c_i = 1 (f_apx of the paper's Algorithms 1.3
/// and 2.2), h_i = S·φ_i·u_i with directions |u_i| = 1 in R^T.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// ⟨φ_i, φ_j⟩, N × N.
    gram: Mat<f64>,
    /// u_i, N × T.
    directions: Mat<f64>,
    /// S = Σ |w_i|.
    scale: f64,
    /// c_i = |w_i|/S.
    shares: Vec<f64>,
    /// ⟨h_i, f⟩.
    products: Vec<f64>,
    /// ⟨f, f⟩.
    square: f64,
    /// ε ≥ ‖f − Σ c_i·h_i‖.
    epsilon: f64,
}

/// A sum of n terms, and how close it is.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// Which φ_i each of the n terms has; one may come several times.
    pub terms: Vec<usize>,
    /// Weights of all φ_i, N × T: S/n·Σ u over the terms.
    pub weights: Mat<f64>,
    /// ‖f − g‖.
    pub error: f64,
    /// What the error is bounded by.
    pub bound: f64,
    /// Sums that were drawn until one kept the bound; 1 for the iterative
    /// algorithms.
    pub attempts: u32,
    /// Whether the conditions of the bound were met: of the random algorithms
    /// the bound itself, of the iterative ones that every step came within δ_k.
    pub kept: bool,
}

impl Pruned {
    /// The features that have a weight, ascending.
    #[must_use]
    pub fn features(&self) -> Vec<usize> {
        let mut features = self.terms.clone();
        features.sort_unstable();
        features.dedup();
        features
    }
}

impl Mixture {
    /// f = Σ w_i·φ_i itself. `gram`: ⟨φ_i, φ_j⟩, both triangles, N × N;
    /// `weights`: w_i, N × T. For feature models the φ_i are centred features
    /// and the inner product is their covariance over training rows (the L2
    /// inner product as these rows estimate it); for kernel networks see
    /// [`super::network`].
    #[must_use]
    pub fn new(gram: MatRef<'_, f64>, weights: MatRef<'_, f64>) -> Self {
        let (terms, outputs) = (weights.nrows(), weights.ncols());
        let norm = |i: usize| (0..outputs).map(|t| weights[(i, t)].powi(2)).sum::<f64>().sqrt();
        let norms: Vec<f64> = (0..terms).map(norm).collect();
        let scale: f64 = norms.iter().sum();
        let directions = Mat::from_fn(terms, outputs, |i, t| {
            if norms[i] > 0.0 { weights[(i, t)] / norms[i] } else { 0.0 }
        });
        let shares = norms.iter().map(|norm| if scale > 0.0 { norm / scale } else { 0.0 });
        let values = gram * weights;
        let dot = |a: MatRef<'_, f64>, i: usize| {
            (0..outputs).map(|t| a[(i, t)] * values[(i, t)]).sum::<f64>()
        };
        let products = (0..terms).map(|i| scale * dot(directions.as_ref(), i)).collect();
        let square = (0..terms).map(|i| dot(weights, i)).sum::<f64>().max(0.0);
        Self {
            gram: gram.to_owned(),
            scale,
            shares: shares.collect(),
            products,
            square,
            epsilon: 0.0,
            directions,
        }
    }

    /// Σ w_i·φ_i as an approximation of another f: `cross` is ⟨φ_i, f⟩, N × T, and
    /// `square` ⟨f, f⟩.
    #[must_use]
    pub fn approximating(
        gram: MatRef<'_, f64>,
        weights: MatRef<'_, f64>,
        cross: MatRef<'_, f64>,
        square: f64,
    ) -> Self {
        let own = Self::new(gram, weights);
        let dot = |i: usize, a: MatRef<'_, f64>| {
            (0..a.ncols()).map(|t| a[(i, t)] * cross[(i, t)]).sum::<f64>()
        };
        let across: f64 = (0..own.len()).map(|i| dot(i, weights)).sum();
        let epsilon = (square - 2.0 * across + own.square).max(0.0).sqrt();
        let products =
            (0..own.len()).map(|i| own.scale * dot(i, own.directions.as_ref())).collect();
        Self { products, square, epsilon, ..own }
    }

    /// Number of terms, N.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// c_i.
    #[must_use]
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// S = Σ |w_i|, the scale of the h_i: a bound on the variation of f with
    /// respect to the φ_i.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// ‖f‖.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.square.sqrt()
    }

    /// ε = ‖f − Σ c_i·h_i‖.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// ρ = max ‖f − h_i‖ over the terms that have a share.
    #[must_use]
    pub fn rho(&self) -> f64 {
        (0..self.len())
            .filter(|&i| self.shares[i] > 0.0)
            .map(|i| self.product(i, i) - 2.0 * self.products[i] + self.square)
            .fold(0.0, f64::max)
            .sqrt()
    }

    /// The root mean squared error of n drawn terms when f is the combination
    /// itself: √((Σ c_i‖h_i‖² − ‖f‖²)/n), what the bound of Theorem 2.1 bounds.
    #[must_use]
    pub fn expected_error(&self, n: usize) -> f64 {
        let squares: f64 =
            self.shares.iter().enumerate().map(|(i, share)| share * self.product(i, i)).sum();
        ((squares - self.square).max(0.0) / n as f64).sqrt()
    }

    /// ⟨h_i, h_j⟩.
    pub(super) fn product(&self, i: usize, j: usize) -> f64 {
        let outputs = self.directions.ncols();
        let turn: f64 =
            (0..outputs).map(|t| self.directions[(i, t)] * self.directions[(j, t)]).sum();
        self.scale * self.scale * turn * self.gram[(i, j)]
    }

    /// ⟨h_i, f⟩.
    pub(super) fn towards(&self, i: usize) -> f64 {
        self.products[i]
    }

    /// ⟨f, f⟩.
    pub(super) fn square(&self) -> f64 {
        self.square
    }

    /// ‖f − g‖ for the average g of the h of `terms`.
    #[must_use]
    pub fn error(&self, terms: &[usize]) -> f64 {
        let n = terms.len() as f64;
        let mut counts: Vec<(usize, f64)> = Vec::new();
        let mut sorted = terms.to_vec();
        sorted.sort_unstable();
        for term in sorted {
            match counts.last_mut() {
                Some((last, count)) if *last == term => *count += 1.0,
                _ => counts.push((term, 1.0)),
            }
        }
        let mut square = self.square;
        for &(i, a) in &counts {
            square -= 2.0 * a / n * self.products[i];
            square += a / n * counts.iter().map(|&(j, b)| b / n * self.product(i, j)).sum::<f64>();
        }
        square.max(0.0).sqrt()
    }

    /// The weights of the φ_i in the average of the h of `terms`, N × T.
    #[must_use]
    pub fn weights(&self, terms: &[usize]) -> Mat<f64> {
        let mut weights = Mat::zeros(self.len(), self.directions.ncols());
        let each = self.scale / terms.len() as f64;
        for &i in terms {
            for t in 0..weights.ncols() {
                weights[(i, t)] += each * self.directions[(i, t)];
            }
        }
        weights
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use koan::generator::Stream;
    use koan_trainer::internal::moments::Moments;
    use koan_trainer::internal::ridge::System;

    /// Normal equations of correlated random features and targets that depend on
    /// a few of them.
    pub(in crate::prune) fn problem(features: usize, rows: usize, outputs: usize) -> System {
        System::new(&moments(features, rows, outputs))
    }

    /// The sums behind [`problem`].
    pub(in crate::prune) fn moments(features: usize, rows: usize, outputs: usize) -> Moments {
        let uniform =
            |stream: u32, i: usize| Stream::new(17, stream).draw(i as u64) as i64 as f64 / 2e19;
        let phi = Mat::from_fn(features, rows, |k, row| {
            let own = uniform(0, row * features + k);
            let shared = uniform(1, row * 8 + k % 8);
            (20_000.0 * (own + 0.7 * shared)).round()
        });
        let y = Mat::from_fn(rows, outputs, |row, t| {
            let signal: f64 =
                (0..6).map(|i| phi[((5 * i + 3 * t) % features, row)] / (1 + i) as f64).sum();
            signal / 10_000.0 + uniform(2, row * outputs + t)
        });
        let mut moments = Moments::new(features, outputs);
        let rows: Vec<i16> = phi.col_iter().flat_map(|row| row.iter().map(|&v| v as i16)).collect();
        moments.add(&rows, y.as_ref(), None);
        moments
    }

    /// The mixture of a ridge fit, normalised to covariances.
    pub(in crate::prune) fn mixture(features: usize, outputs: usize) -> Mixture {
        let rows = 300;
        let system = problem(features, rows, outputs);
        let gram = system.gram() * faer::Scale(1.0 / rows as f64);
        Mixture::new(gram.as_ref(), system.solve(1e-3).weights.as_ref())
    }

    #[test]
    fn all_terms_in_proportion_are_the_function_itself() {
        // Shares of 1/4, 1/4 and 1/2: two outputs.
        let gram = Mat::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 0.5 });
        let weights = Mat::from_fn(3, 2, |i, t| [[1.0, 0.0], [0.0, -1.0], [0.0, 2.0]][i][t]);
        let mixture = Mixture::new(gram.as_ref(), weights.as_ref());
        assert_eq!(mixture.shares(), [0.25, 0.25, 0.5]);
        assert!(mixture.error(&[0, 1, 2, 2]) < 1e-9);
        assert!((mixture.weights(&[2, 0, 2, 1]) - &weights).norm_max() < 1e-12);
        // ‖f‖² = Σ_t w_tᵀ·G·w_t.
        assert!((mixture.norm().powi(2) - (2.0 + 2.0 + 8.0 - 2.0)).abs() < 1e-12);
    }

    #[test]
    fn errors_are_those_of_the_functions() {
        let mixture = mixture(12, 2);
        let terms = [3, 3, 7, 1];
        let own = Mixture::new(mixture.gram.as_ref(), mixture.weights(&[3]).as_ref());
        let difference = mixture.weights(&terms)
            - Mat::from_fn(12, 2, |i, t| {
                mixture.directions[(i, t)] * mixture.scale * mixture.shares[i]
            });
        let square: f64 = (0..2)
            .map(|t| {
                let d = difference.subcols(t, 1);
                (d.transpose() * &mixture.gram * d)[(0, 0)]
            })
            .sum();
        assert!((mixture.error(&terms) - square.sqrt()).abs() < 1e-9 * mixture.norm());
        assert!(own.error(&[3]) < 1e-6 * own.norm());
    }

    #[test]
    fn another_function_is_as_far_as_its_products_say() {
        let (rows, outputs) = (300, 2);
        let system = problem(12, rows, outputs);
        let per_row = faer::Scale(1.0 / rows as f64);
        let gram = system.gram() * per_row;
        let cross = system.cross() * per_row;
        let square = (0..outputs).map(|t| system.target_spread(t)).sum::<f64>() / rows as f64;
        let fit = system.solve(1e-6);
        let found =
            Mixture::approximating(gram.as_ref(), fit.weights.as_ref(), cross.as_ref(), square);
        let error = moments(12, rows, outputs).mean_squared_error(fit.weights.as_ref(), &fit.bias);
        assert!((found.epsilon().powi(2) - error * outputs as f64).abs() < 1e-9 * square);
    }
}
