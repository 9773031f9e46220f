//! Sufficient statistics of a least-squares fit: O(K²) memory for any number
//! of rows.
//!
//! Features are integers below 2^15, so the Gram matrix of unweighted rows is a
//! sum of integers that f64 holds exactly (up to 2^53 / 2^30 = 8.4 million
//! rows): the same bits in any order, on any number of threads.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatRef, Par};

/// Sums over rows: Σ φφᵀ, Σ φ, Σ φyᵀ, Σ y, Σ y².
#[derive(Clone, Debug)]
pub struct Moments {
    /// Σ of the rows' weights; the number of rows when unweighted.
    pub count: f64,
    /// Σ φφᵀ, K × K, lower triangle.
    pub gram: Mat<f64>,
    /// Σ φ, K × 1.
    pub sum: Mat<f64>,
    /// Σ φyᵀ, K × T.
    pub cross: Mat<f64>,
    /// Σ y, one for each output.
    pub target_sum: Vec<f64>,
    /// Σ y², one for each output.
    pub target_square: Vec<f64>,
}

impl Moments {
    /// No rows yet: K features, T outputs.
    #[must_use]
    pub fn new(features: usize, outputs: usize) -> Self {
        Self {
            count: 0.0,
            gram: Mat::zeros(features, features),
            sum: Mat::zeros(features, 1),
            cross: Mat::zeros(features, outputs),
            target_sum: vec![0.0; outputs],
            target_square: vec![0.0; outputs],
        }
    }

    /// Adds a block: features K × n, targets n × T, weights of the rows (none:
    /// all 1).
    pub fn add(
        &mut self,
        features: MatRef<'_, f64>,
        targets: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) {
        let Some(weights) = weights else {
            let ones = Mat::<f64>::full(targets.nrows(), 1, 1.0);
            self.add_scaled(features, targets, ones.as_ref(), Par::rayon(0));
            return;
        };
        // Weighted products are no integers: sequential, so that the order of
        // the sum does not depend on the number of threads.
        let root = |row: usize| weights[row].sqrt();
        let features = Mat::from_fn(features.nrows(), features.ncols(), |k, row| {
            features[(k, row)] * root(row)
        });
        let targets =
            Mat::from_fn(targets.nrows(), targets.ncols(), |row, t| targets[(row, t)] * root(row));
        let ones = Mat::from_fn(targets.nrows(), 1, |row, _| root(row));
        self.add_scaled(features.as_ref(), targets.as_ref(), ones.as_ref(), Par::Seq);
    }

    /// Adds a weighted block to all sums but the Gram matrix, in order.
    pub(crate) fn add_sums(
        &mut self,
        features: MatRef<'_, f64>,
        targets: MatRef<'_, f64>,
        weights: &[f64],
    ) {
        let weighted = Mat::from_fn(targets.nrows(), targets.ncols(), |row, output| {
            weights[row] * targets[(row, output)]
        });
        let ones = Mat::from_fn(weights.len(), 1, |row, _| weights[row]);
        matmul(self.cross.as_mut(), Accum::Add, features, weighted.as_ref(), 1.0, Par::Seq);
        matmul(self.sum.as_mut(), Accum::Add, features, ones.as_ref(), 1.0, Par::Seq);
        for (row, weight) in weights.iter().enumerate() {
            self.count += weight;
            for output in 0..targets.ncols() {
                self.target_sum[output] += weighted[(row, output)];
                self.target_square[output] += weighted[(row, output)] * targets[(row, output)];
            }
        }
    }

    /// Adds rows whose features, targets and constant are scaled already.
    fn add_scaled(
        &mut self,
        features: MatRef<'_, f64>,
        targets: MatRef<'_, f64>,
        ones: MatRef<'_, f64>,
        par: Par,
    ) {
        use triangular::BlockStructure::{Rectangular, TriangularLower};
        triangular::matmul(
            self.gram.as_mut(),
            TriangularLower,
            Accum::Add,
            features,
            Rectangular,
            features.transpose(),
            Rectangular,
            1.0,
            par,
        );
        matmul(self.cross.as_mut(), Accum::Add, features, targets, 1.0, Par::Seq);
        matmul(self.sum.as_mut(), Accum::Add, features, ones, 1.0, Par::Seq);
        for row in 0..targets.nrows() {
            let one = ones[(row, 0)];
            self.count += one * one;
            for (output, sum) in self.target_sum.iter_mut().enumerate() {
                *sum += one * targets[(row, output)];
                self.target_square[output] += targets[(row, output)].powi(2);
            }
        }
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.gram += &other.gram;
        self.sum += &other.sum;
        self.cross += &other.cross;
        for (mine, theirs) in self.target_sum.iter_mut().zip(&other.target_sum) {
            *mine += theirs;
        }
        for (mine, theirs) in self.target_square.iter_mut().zip(&other.target_square) {
            *mine += theirs;
        }
    }

    /// The sums of the features in `kept` alone, in that order.
    ///
    /// # Panics
    /// If there is no feature of that number.
    #[must_use]
    pub fn select(&self, kept: &[usize]) -> Self {
        let entry = |i: usize, j: usize| self.gram[(i.max(j), i.min(j))];
        Self {
            count: self.count,
            gram: Mat::from_fn(kept.len(), kept.len(), |i, j| {
                if i >= j { entry(kept[i], kept[j]) } else { 0.0 }
            }),
            sum: Mat::from_fn(kept.len(), 1, |k, _| self.sum[(kept[k], 0)]),
            cross: Mat::from_fn(kept.len(), self.outputs(), |k, t| self.cross[(kept[k], t)]),
            target_sum: self.target_sum.clone(),
            target_square: self.target_square.clone(),
        }
    }

    /// Number of features, K.
    #[must_use]
    pub fn features(&self) -> usize {
        self.gram.nrows()
    }

    /// Number of outputs, T.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.cross.ncols()
    }

    /// Mean of feature `k`.
    #[must_use]
    pub fn mean(&self, k: usize) -> f64 {
        self.sum[(k, 0)] / self.count
    }

    /// Mean of target `output`.
    #[must_use]
    pub fn target_mean(&self, output: usize) -> f64 {
        self.target_sum[output] / self.count
    }

    /// Mean squared error, over these rows and all outputs, of
    /// ŷ = weightsᵀφ + bias: from the sums alone, no row is needed.
    #[must_use]
    pub fn mean_squared_error(&self, weights: MatRef<'_, f64>, bias: &[f64]) -> f64 {
        use triangular::BlockStructure::{Rectangular, TriangularLower};
        let (features, outputs) = (self.features(), self.outputs());
        // G·w = L·w + (L − diag)ᵀ·w for the lower triangle L.
        let mut product = Mat::<f64>::zeros(features, outputs);
        let mut half = |matrix: MatRef<'_, f64>, structure| {
            triangular::matmul(
                product.as_mut(),
                Rectangular,
                Accum::Add,
                matrix,
                structure,
                weights,
                Rectangular,
                1.0,
                Par::Seq,
            );
        };
        half(self.gram.as_ref(), TriangularLower);
        half(self.gram.as_ref().transpose(), triangular::BlockStructure::StrictTriangularUpper);
        let mut total = 0.0;
        for output in 0..outputs {
            let b = bias[output];
            let mut quadratic = 0.0;
            for k in 0..features {
                let w = weights[(k, output)];
                quadratic += w
                    * (product[(k, output)] - 2.0 * self.cross[(k, output)]
                        + 2.0 * b * self.sum[(k, 0)]);
            }
            total += quadratic + self.target_square[output] - 2.0 * b * self.target_sum[output]
                + b * b * self.count;
        }
        (total / self.count / outputs as f64).max(0.0)
    }
}
