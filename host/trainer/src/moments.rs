//! Sufficient statistics of a least-squares fit: O(K²) memory for any number
//! of rows.
//!
//! Features are integers below 2^15, so the Gram matrix of unweighted rows is a
//! sum of integers that f64 holds exactly (up to 2^53 / 2^30 = 8.4 million
//! rows): the same bits in any order, on any number of threads.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, ColRef, Mat, MatRef, Par};
use koan_gram::Block;
pub use koan_gram::Kernel;

use crate::panels;
use crate::parallel;

/// Features whose sums are a thread's at a time.
const TOGETHER: usize = 128;

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
    /// The code that sums the products; the sums are the same by all.
    kernel: Kernel,
}

impl Moments {
    /// No rows yet: K features, T outputs.
    #[must_use]
    pub fn new(features: usize, outputs: usize) -> Self {
        Self::with_kernel(features, outputs, Kernel::best())
    }

    /// [`Moments::new`], summed by another kernel than the fastest: for measurements.
    #[must_use]
    pub fn with_kernel(features: usize, outputs: usize, kernel: Kernel) -> Self {
        Self {
            count: 0.0,
            gram: Mat::zeros(features, features),
            sum: Mat::zeros(features, 1),
            cross: Mat::zeros(features, outputs),
            target_sum: vec![0.0; outputs],
            target_square: vec![0.0; outputs],
            kernel,
        }
    }

    /// Adds a block: the features of n rows, row after row, targets n × T, weights
    /// of the rows (none: all 1).
    ///
    /// # Panics
    /// If K is 0, or there are not K features for each row of the targets.
    pub fn add(&mut self, features: &[i16], targets: MatRef<'_, f64>, weights: Option<&[f64]>) {
        let (count, rows) = (self.features(), targets.nrows());
        assert_eq!(features.len(), count * rows, "{count} features for each row");
        if let Some(weights) = weights {
            let entry = |k: usize, row: usize| f64::from(features[row * count + k]);
            let matrix = Mat::from_fn(count, rows, entry);
            self.add_sums(matrix.as_ref(), targets, weights);
            let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
            let scaled = Mat::from_fn(count, rows, |k, row| entry(k, row) * roots[row]);
            add_products(&mut self.gram, scaled.as_ref(), scaled.as_ref());
            return;
        }
        for (number, features) in features.chunks(koan_gram::MAX_ROWS * count).enumerate() {
            let start = number * koan_gram::MAX_ROWS;
            let targets = targets.subrows(start, features.len() / count);
            self.add_integers(features, targets);
        }
    }

    /// Adds unweighted rows, as many as a [`Block`] can hold.
    fn add_integers(&mut self, features: &[i16], targets: MatRef<'_, f64>) {
        let (count, rows) = (self.features(), targets.nrows());
        add_by(self.kernel, &mut self.gram, features);
        let chosen = chosen_outputs(targets);
        let crosses = panels::rows(self.cross.as_mut(), TOGETHER);
        let sums = panels::rows(self.sum.as_mut(), TOGETHER);
        parallel::each(crosses.into_iter().zip(sums), |number, (mut cross, mut sum)| {
            let (first, width) = (number * TOGETHER, sum.nrows());
            let part = |row: usize| &features[row * count + first..][..width];
            let total = integer_sums((0..rows).map(part), width);
            for (k, &total) in total.iter().enumerate() {
                sum[(k, 0)] += f64::from(total);
            }
            let Some(chosen) = &chosen else {
                let part = Mat::from_fn(width, rows, |k, row| f64::from(part(row)[k]));
                return matmul(cross, Accum::Add, part.as_ref(), targets, 1.0, Par::Seq);
            };
            for (output, rows) in chosen.iter().enumerate() {
                let hits = integer_sums(rows.iter().map(|&row| part(row)), width);
                for (k, (&hits, &total)) in hits.iter().zip(&total).enumerate() {
                    cross[(k, output)] += 2.0 * f64::from(hits) - f64::from(total);
                }
            }
        });
        self.count += rows as f64;
        for (output, target) in targets.col_iter().enumerate() {
            self.target_sum[output] += target.iter().sum::<f64>();
            self.target_square[output] += target.iter().map(|target| target * target).sum::<f64>();
        }
    }

    /// Adds a weighted block to all sums but the Gram matrix, in order.
    fn add_sums(&mut self, features: MatRef<'_, f64>, targets: MatRef<'_, f64>, weights: &[f64]) {
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

    /// The sums of the features times `units`, K of them.
    #[must_use]
    pub fn in_units(mut self, units: &[f64]) -> Self {
        if units.iter().all(|&unit| unit == 1.0) {
            return self;
        }
        for (j, &unit) in units.iter().enumerate() {
            self.gram.col_mut(j).iter_mut().zip(units).for_each(|(sum, i)| *sum *= i * unit);
            self.sum[(j, 0)] *= unit;
            self.cross.row_mut(j).iter_mut().for_each(|sum| *sum *= unit);
        }
        self
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
            kernel: self.kernel,
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

    /// Mean of feature `k`; 0 of no rows.
    #[must_use]
    pub fn mean(&self, k: usize) -> f64 {
        self.mean_of(self.sum[(k, 0)])
    }

    /// Mean of target `output`; 0 of no rows.
    #[must_use]
    pub fn target_mean(&self, output: usize) -> f64 {
        self.mean_of(self.target_sum[output])
    }

    fn mean_of(&self, sum: f64) -> f64 {
        if self.count > 0.0 { sum / self.count } else { 0.0 }
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

/// The rows in which the target of each output is 1, where it is −1 in all others: classes. Their
/// sums are of integers.
fn chosen_outputs(targets: MatRef<'_, f64>) -> Option<Vec<Vec<usize>>> {
    let chosen = |target: ColRef<'_, f64>| {
        let mut rows = Vec::new();
        for (row, &target) in target.iter().enumerate() {
            match target {
                1.0 => rows.push(row),
                -1.0 => {}
                _ => return None,
            }
        }
        Some(rows)
    };
    targets.col_iter().map(chosen).collect()
}

/// The sum of so many numbers of each row; of at most [`koan_gram::MAX_ROWS`] rows it fits.
fn integer_sums<'f>(rows: impl Iterator<Item = &'f [i16]>, width: usize) -> Vec<i32> {
    let mut sums = vec![0i32; width];
    for row in rows {
        for (sum, &value) in sums.iter_mut().zip(row) {
            // A check of each sum takes time.
            *sum = sum.wrapping_add(value.into());
        }
    }
    sums
}

/// Adds φφᵀ of rows of integers, at most as many as a [`Block`] can hold, to the lower
/// triangle of `gram`.
pub(crate) fn add_unweighted(gram: &mut Mat<f64>, features: &[i16]) {
    add_by(Kernel::best(), gram, features);
}

fn add_by(kernel: Kernel, gram: &mut Mat<f64>, features: &[i16]) {
    let count = gram.ncols();
    let mut columns: Vec<&mut [f64]> = gram
        .as_mut()
        .col_iter_mut()
        .filter_map(|column| Some(column.try_as_col_major_mut()?.as_slice_mut()))
        .collect();
    Block::with_kernel(kernel, features, count).add_to(&mut columns);
}

/// Adds `left · rightᵀ`, which is symmetric, to the lower triangle of `gram`: each panel of
/// columns is one thread's, so the order of its sums does not depend on their number.
pub(crate) fn add_products(gram: &mut Mat<f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let count = left.nrows();
    let panels = panels::columns(gram.as_mut(), TOGETHER);
    parallel::each(panels, |panel, mut columns| {
        let start = panel * TOGETHER;
        let width = columns.ncols();
        let mine = right.subrows(start, width);
        triangular::matmul(
            columns.as_mut().subrows_mut(start, width),
            TriangularLower,
            Accum::Add,
            left.subrows(start, width),
            Rectangular,
            mine.transpose(),
            Rectangular,
            1.0,
            Par::Seq,
        );
        let below = start + width;
        matmul(
            columns.subrows_mut(below, count - below),
            Accum::Add,
            left.subrows(below, count - below),
            mine.transpose(),
            1.0,
            Par::Seq,
        );
    });
}

/// The rows of integers whose K × n matrix is `matrix`.
#[cfg(test)]
pub(crate) fn rows_of(matrix: MatRef<'_, f64>) -> Vec<i16> {
    let integer = |&value: &f64| {
        assert_eq!(f64::from(value as i16), value);
        value as i16
    };
    matrix.col_iter().flat_map(|row| row.iter().map(integer)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_integers_are_those_of_the_matrix() {
        let stream = koan::generator::Stream::new(3, 0);
        for (features, rows) in [(3, 5), (150, 1300), (16, 20_000)] {
            let values: Vec<i16> =
                (0..features * rows).map(|i| stream.draw(i as u64) as i16).collect();
            let phi = Mat::from_fn(features, rows, |k, row| f64::from(values[row * features + k]));
            let numbers = Mat::from_fn(rows, 2, |row, t| (row % 7) as f64 - t as f64);
            let classes = Mat::from_fn(rows, 3, |row, t| if row % 5 == t { 1.0 } else { -1.0 });
            for targets in [numbers, classes] {
                let mut moments = Moments::new(features, targets.ncols());
                moments.add(&values, targets.as_ref(), None);
                // Of matrix products in f64, exact as well.
                let mut gram = Mat::zeros(features, features);
                add_products(&mut gram, phi.as_ref(), phi.as_ref());
                assert_eq!(moments.gram, gram);
                assert_eq!(moments.cross, &phi * &targets);
                assert_eq!(moments.sum, &phi * Mat::<f64>::full(rows, 1, 1.0));
                assert_eq!(moments.count, rows as f64);
                for (t, column) in targets.col_iter().enumerate() {
                    assert_eq!(moments.target_sum[t], column.iter().sum::<f64>());
                    assert_eq!(moments.target_square[t], column.squared_norm_l2());
                }
            }
        }
    }
}
