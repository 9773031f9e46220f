//! Feature matrices in memory, for solvers that visit rows more than once.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use crate::data::Table;
use crate::features::FeatureMap;
use crate::moments::Moments;

/// Rows of a block: sums over a block are one term of the sum over all rows.
const BLOCK: usize = 512;
/// Columns of a panel of a weighted Gram matrix.
const PANEL: usize = 128;

/// Integer features of n rows: K × n, column-major, so that a row's features
/// lie together. Two bytes an entry.
#[derive(Clone, Debug)]
pub struct Design {
    values: Vec<i16>,
    features: usize,
}

impl Design {
    /// From `values`, row after row, `features` each.
    ///
    /// # Panics
    /// If `features` is 0 or does not divide the number of values.
    #[must_use]
    pub fn new(values: Vec<i16>, features: usize) -> Self {
        assert!(features > 0 && values.len().is_multiple_of(features), "whole rows");
        Self { values, features }
    }

    /// The features that the core computes of `rows` of `table`.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn of(map: &FeatureMap, table: &Table, rows: &[usize]) -> Result<Self, koan::Error> {
        Ok(Self::new(map.features_of(table, rows)?, map.features()))
    }

    /// Number of rows, n.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len() / self.features
    }

    /// Number of features, K.
    #[must_use]
    pub fn features(&self) -> usize {
        self.features
    }

    /// The features of row `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> &[i16] {
        &self.values[i * self.features..][..self.features]
    }

    /// These rows and then those of another design of the same features.
    #[must_use]
    pub fn chain(mut self, other: Self) -> Self {
        self.values.extend(other.values);
        self
    }

    /// Blocks of rows as K × m matrices of f64, in parallel, results in order.
    fn blocks<R: Send>(&self, work: impl Fn(usize, MatRef<'_, f64>) -> R + Sync) -> Vec<R> {
        self.values
            .par_chunks(BLOCK * self.features)
            .enumerate()
            .map_init(Vec::new, |buffer: &mut Vec<f64>, (number, values)| {
                buffer.clear();
                buffer.extend(values.iter().map(|&value| f64::from(value)));
                let columns = values.len() / self.features;
                work(
                    number * BLOCK,
                    MatRef::from_column_major_slice(buffer, self.features, columns),
                )
            })
            .collect()
    }

    /// Scores wᵀφ + b of all rows: T × n. `weights`: K × T, `bias`: T.
    #[must_use]
    pub fn scores(&self, weights: MatRef<'_, f64>, bias: &[f64]) -> Mat<f64> {
        let outputs = bias.len();
        let mut scores = Mat::<f64>::zeros(outputs, self.rows());
        let parts = self.blocks(|_, block| {
            let mut part = Mat::<f64>::from_fn(outputs, block.ncols(), |t, _| bias[t]);
            matmul(part.as_mut(), Accum::Add, weights.transpose(), block, 1.0, Par::Seq);
            part
        });
        let mut start = 0;
        for part in parts {
            scores.as_mut().subcols_mut(start, part.ncols()).copy_from(&part);
            start += part.ncols();
        }
        scores
    }

    /// Σ_i φ_i·r_iᵀ: K × T. `residuals`: T × n.
    #[must_use]
    pub fn gather(&self, residuals: MatRef<'_, f64>) -> Mat<f64> {
        let outputs = residuals.nrows();
        let parts = self.blocks(|start, block| {
            let mut part = Mat::<f64>::zeros(self.features, outputs);
            let mine = residuals.subcols(start, block.ncols());
            matmul(part.as_mut(), Accum::Replace, block, mine.transpose(), 1.0, Par::Seq);
            part
        });
        let mut sum = Mat::<f64>::zeros(self.features, outputs);
        for part in &parts {
            sum += part;
        }
        sum
    }

    /// Mean over features of their variance, rows weighted, times Σ of the
    /// weights: what λ is multiplied by.
    #[must_use]
    pub fn unit(&self, weights: &[f64]) -> f64 {
        let (mut sums, mut squares) = (vec![0.0; self.features], 0.0);
        for (i, weight) in weights.iter().enumerate() {
            for (sum, &value) in sums.iter_mut().zip(self.row(i)) {
                let value = f64::from(value);
                *sum += weight * value;
                squares += weight * value * value;
            }
        }
        let total: f64 = weights.iter().sum();
        let means: f64 = sums.iter().map(|sum| sum * sum / total).sum();
        let unit = (squares - means) / self.features as f64;
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The sufficient statistics of a least-squares fit to `targets` (T × n).
    #[must_use]
    pub fn moments(&self, targets: MatRef<'_, f64>, weights: Option<&[f64]>) -> Moments {
        let mut moments = Moments::new(self.features, targets.nrows());
        let mut buffer = Vec::new();
        for (number, values) in self.values.chunks(BLOCK * self.features).enumerate() {
            let (start, rows) = (number * BLOCK, values.len() / self.features);
            buffer.clear();
            buffer.extend(values.iter().map(|&value| f64::from(value)));
            let targets = targets.subcols(start, rows);
            let weights = weights.map(|all| &all[start..start + rows]);
            if let Some(weights) = weights {
                let block = MatRef::from_column_major_slice(&buffer, self.features, rows);
                moments.add_sums(block, targets.transpose(), weights);
                for (row, weight) in buffer.chunks_exact_mut(self.features).zip(weights) {
                    let root = weight.sqrt();
                    row.iter_mut().for_each(|value| *value *= root);
                }
                let block = MatRef::from_column_major_slice(&buffer, self.features, rows);
                add_gram(&mut moments.gram, block);
            } else {
                let block = MatRef::from_column_major_slice(&buffer, self.features, rows);
                moments.add(block, targets.transpose(), None);
            }
        }
        moments
    }
}

/// Adds block·blockᵀ to the lower triangle of `gram`: each panel of columns is
/// one thread's, so the order of its sums does not depend on their number.
fn add_gram(gram: &mut Mat<f64>, block: MatRef<'_, f64>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let features = block.nrows();
    gram.as_mut().par_col_chunks_mut(PANEL).enumerate().for_each(|(panel, mut columns)| {
        let start = panel * PANEL;
        let width = columns.ncols();
        let mine = block.subrows(start, width);
        triangular::matmul(
            columns.as_mut().subrows_mut(start, width),
            TriangularLower,
            Accum::Add,
            mine,
            Rectangular,
            mine.transpose(),
            Rectangular,
            1.0,
            Par::Seq,
        );
        let below = start + width;
        matmul(
            columns.subrows_mut(below, features - below),
            Accum::Add,
            block.subrows(below, features - below),
            mine.transpose(),
            1.0,
            Par::Seq,
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan::generator::Stream;

    #[test]
    fn products_and_moments_are_those_of_the_matrix() {
        let (features, rows) = (150, 1300);
        let stream = Stream::new(2, 0);
        let values: Vec<i16> =
            (0..features * rows).map(|i| stream.draw(i as u64) as i16 / 8).collect();
        let matrix = Mat::from_fn(features, rows, |k, i| f64::from(values[i * features + k]));
        let design = Design::new(values, features);
        let weights = Mat::from_fn(features, 2, |k, t| ((k * 2 + t) as f64).sin());
        let scores = design.scores(weights.as_ref(), &[1.0, -2.0]);
        let direct = weights.transpose() * &matrix;
        for i in 0..rows {
            assert!((scores[(0, i)] - direct[(0, i)] - 1.0).abs() < 1e-6);
            assert!((scores[(1, i)] - direct[(1, i)] + 2.0).abs() < 1e-6);
        }
        let residuals = Mat::from_fn(2, rows, |t, i| ((i + t) as f64).cos());
        let gathered = design.gather(residuals.as_ref());
        let direct = &matrix * residuals.transpose();
        assert!((&gathered - &direct).norm_max() < 1e-6);

        let row_weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        let moments = design.moments(residuals.as_ref(), Some(&row_weights));
        let mut expected = Moments::new(features, 2);
        expected.add(matrix.as_ref(), residuals.transpose(), Some(&row_weights));
        for j in 0..features {
            for i in j..features {
                let (a, b) = (moments.gram[(i, j)], expected.gram[(i, j)]);
                assert!((a - b).abs() <= 1e-12 * b.abs() + 1e-3, "{i} {j}: {a} {b}");
            }
        }
        assert!((&moments.cross - &expected.cross).norm_max() < 1e-5);
        assert!((moments.count - expected.count).abs() < 1e-9);
        assert!((moments.target_square[0] - expected.target_square[0]).abs() < 1e-9);
    }
}
