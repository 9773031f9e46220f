//! Feature matrices in memory, for solvers that visit rows more than once.

use std::sync::OnceLock;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::features::FeatureMap;
use crate::moments::Moments;
use crate::parallel;
use crate::products::Weights;
use koan_data::Table;

/// Rows of a block: sums over a block are one term of the sum over all rows.
const BLOCK: usize = 512;
/// Entries that are turned into f64 at a time: they stay in a core's cache.
const CACHED: usize = 1 << 15;
/// Entries up to which they are turned once and kept (32 MB).
const KEPT: usize = 1 << 22;
/// Entries up to which they are kept as f32 as well (64 MB).
const KEPT_SINGLE: usize = 1 << 24;
/// Rows of a block of f32.
const SMALL_BLOCK: usize = 256;

/// Features of n rows: K × n, column-major, so that a row's features lie together. Two
/// bytes an entry: integers, which are multiplied by the unit of their feature.
#[derive(Clone, Debug)]
pub struct Design {
    values: Vec<i16>,
    /// What the integers of each feature are multiplied by.
    units: Vec<f64>,
    features: usize,
    /// The products of both, once they were asked for, of matrices that are small.
    real: OnceLock<Vec<f64>>,
    /// The same as f32.
    single: OnceLock<Vec<f32>>,
}

impl Design {
    /// From `values`, row after row, `features` each, in units of 1.
    ///
    /// # Panics
    /// If `features` is 0 or does not divide the number of values.
    #[must_use]
    pub fn new(values: Vec<i16>, features: usize) -> Self {
        assert!(features > 0 && values.len().is_multiple_of(features), "whole rows");
        let units = vec![1.0; features];
        Self { values, units, features, real: OnceLock::new(), single: OnceLock::new() }
    }

    /// The features that the core computes of `rows` of `table`.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn of(map: &FeatureMap, table: &Table, rows: &[usize]) -> Result<Self, koan::Error> {
        let design = Self::new(map.features_of(table, rows)?, map.features());
        Ok(Self { units: map.units().to_vec(), ..design })
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

    /// The integers of row `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> &[i16] {
        &self.values[i * self.features..][..self.features]
    }

    /// These rows and then those of another design of the same features.
    #[must_use]
    pub fn chain(mut self, other: Self) -> Self {
        self.values.extend(other.values);
        (self.real, self.single) = (OnceLock::new(), OnceLock::new());
        self
    }

    /// Works through blocks of rows in parallel, results in order. `step` sees the
    /// parts of a block, one after the other, as K × m matrices of f64, with the
    /// number of the first row.
    fn blocks<R: Send>(
        &self,
        start: impl Fn(usize) -> R + Sync,
        step: impl Fn(&mut R, usize, MatRef<'_, f64>) + Sync,
    ) -> Vec<R> {
        if self.values.len() <= KEPT {
            let real = self.real.get_or_init(|| {
                let mut real = Vec::with_capacity(self.values.len());
                self.append(&self.values, &mut real);
                real
            });
            let blocks = real.chunks(BLOCK * self.features);
            return parallel::each(blocks, |number, values| {
                let rows = values.len() / self.features;
                let mut result = start(rows);
                let all = MatRef::from_column_major_slice(values, self.features, rows);
                step(&mut result, number * BLOCK, all);
                result
            });
        }
        let rows = (CACHED / self.features).clamp(4, BLOCK);
        let blocks = self.values.chunks(BLOCK * self.features);
        parallel::each_with(blocks, Vec::new, |buffer: &mut Vec<f64>, number, values| {
            let mut result = start(values.len() / self.features);
            for (part, values) in values.chunks(rows * self.features).enumerate() {
                buffer.clear();
                self.append(values, buffer);
                let columns = values.len() / self.features;
                let part_of = MatRef::from_column_major_slice(buffer, self.features, columns);
                step(&mut result, number * BLOCK + part * rows, part_of);
            }
            result
        })
    }

    /// Whole rows of integers as real numbers.
    fn append(&self, values: &[i16], real: &mut Vec<f64>) {
        for row in values.chunks_exact(self.features) {
            let units = row.iter().zip(&self.units);
            real.extend(units.map(|(&value, unit)| f64::from(value) * unit));
        }
    }

    /// The features of a row less `means`, and a 1 behind them: K + 1.
    pub(super) fn centred_row(&self, row: usize, means: &[f64]) -> impl Iterator<Item = f64> {
        let values = self.row(row).iter().zip(&self.units).zip(means);
        let centred = values.map(|((&value, unit), mean)| f64::from(value) * unit - mean);
        centred.chain(std::iter::once(1.0))
    }

    /// The features of some rows less `means`, and a 1 below them: (K + 1) × rows.
    #[must_use]
    pub fn centred(&self, rows: &[usize], means: &[f64]) -> Mat<f64> {
        let mut centred = Mat::<f64>::zeros(self.features + 1, rows.len());
        for (column, &row) in centred.col_iter_mut().zip(rows) {
            column.iter_mut().zip(self.centred_row(row, means)).for_each(|(to, by)| *to = by);
        }
        centred
    }

    /// Scores wᵀφ + b of all rows: T × n. `weights`: K × T, `bias`: T.
    #[must_use]
    pub fn scores(&self, weights: MatRef<'_, f64>, bias: &[f64]) -> Mat<f64> {
        let start = |rows| Mat::<f64>::zeros(bias.len(), rows);
        let weights = Weights::new(weights, |weight| weight);
        let parts = self.blocks(start, |scores, row, part| {
            let products = weights.products(part);
            let scores = scores.as_mut().subcols_mut(row % BLOCK, part.ncols());
            for (scores, products) in scores.col_iter_mut().zip(products.col_iter()) {
                let sums = products.iter().zip(bias).map(|(product, bias)| product + bias);
                scores.iter_mut().zip(sums).for_each(|(score, sum)| *score = sum);
            }
        });
        joined(bias.len(), self.rows(), parts)
    }

    /// Σ_i φ_i·r_iᵀ: K × T. `residuals`: T × n.
    #[must_use]
    pub fn gather(&self, residuals: MatRef<'_, f64>) -> Mat<f64> {
        let start = |_| Mat::<f64>::zeros(self.features, residuals.nrows());
        let parts = self.blocks(start, |sum, row, part| {
            let mine = residuals.subcols(row, part.ncols());
            matmul(sum.as_mut(), Accum::Add, part, mine.transpose(), 1.0, Par::Seq);
        });
        summed(self.features, residuals.nrows(), &parts)
    }

    /// Σ_i φ_i·r_iᵀ and Σ_i r_i, where `residual` makes r_i of the number of a row and its scores
    /// wᵀφ + b, in their place: in one pass and to the precision of f32, which is enough for the
    /// direction of a step.
    #[must_use]
    pub fn through(
        &self,
        weights: MatRef<'_, f64>,
        bias: &[f64],
        residual: impl Fn(usize, &mut [f64]) + Sync,
    ) -> (Mat<f64>, Vec<f64>) {
        let (features, outputs) = (self.features, bias.len());
        let weights = Weights::new(weights, |weight| weight as f32);
        let parts = self.single_blocks(|row, part| {
            let products = weights.products(part);
            let mut residuals = Mat::<f32>::zeros(outputs, part.ncols());
            let (mut sums, mut of_row) = (vec![0.0; outputs], vec![0.0; outputs]);
            let columns = products.col_iter().zip(residuals.col_iter_mut());
            for (i, (products, residuals)) in columns.enumerate() {
                let scores =
                    products.iter().zip(bias).map(|(&product, bias)| f64::from(product) + bias);
                of_row.iter_mut().zip(scores).for_each(|(to, score)| *to = score);
                residual(row + i, &mut of_row);
                sums.iter_mut().zip(&of_row).for_each(|(sum, one)| *sum += one);
                residuals.iter_mut().zip(&of_row).for_each(|(to, &one)| *to = one as f32);
            }
            let mut gathered = Mat::<f32>::zeros(features, outputs);
            let residuals = residuals.transpose();
            matmul(gathered.as_mut(), Accum::Replace, part, residuals, 1.0, Par::Seq);
            (gathered, sums)
        });
        let mut all = (Mat::<f64>::zeros(features, outputs), vec![0.0; outputs]);
        for (gathered, sums) in parts {
            for (all, mine) in all.0.col_iter_mut().zip(gathered.col_iter()) {
                all.iter_mut().zip(mine.iter()).for_each(|(all, &mine)| *all += f64::from(mine));
            }
            all.1.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
        all
    }

    /// Works through blocks of rows in parallel, results in order: `step` sees K × m
    /// matrices of f32 with the number of the first row.
    fn single_blocks<R: Send>(&self, step: impl Fn(usize, MatRef<'_, f32>) -> R + Sync) -> Vec<R> {
        let of = |number: usize, values: &[f32]| {
            let rows = values.len() / self.features;
            let part = MatRef::from_column_major_slice(values, self.features, rows);
            step(number * SMALL_BLOCK, part)
        };
        let length = SMALL_BLOCK * self.features;
        if self.values.len() <= KEPT_SINGLE {
            let single = self.single.get_or_init(|| {
                let mut single = Vec::with_capacity(self.values.len());
                self.append_single(&self.values, &mut single);
                single
            });
            let blocks = single.chunks(length);
            return parallel::each(blocks, of);
        }
        let blocks = self.values.chunks(length);
        parallel::each_with(blocks, Vec::new, |buffer: &mut Vec<f32>, number, values| {
            buffer.clear();
            self.append_single(values, buffer);
            of(number, buffer)
        })
    }

    /// Whole rows of integers as real numbers.
    fn append_single(&self, values: &[i16], single: &mut Vec<f32>) {
        let units: Vec<f32> = self.units.iter().map(|&unit| unit as f32).collect();
        for row in values.chunks_exact(self.features) {
            let units = row.iter().zip(&units);
            single.extend(units.map(|(&value, unit)| f32::from(value) * unit));
        }
    }

    /// Mean over features of their variance, rows weighted, times Σ of the
    /// weights: what λ is multiplied by.
    #[must_use]
    pub fn unit(&self, weights: &[f64]) -> f64 {
        let (mut sums, mut squares) = (vec![0.0; self.features], 0.0);
        for (i, weight) in weights.iter().enumerate() {
            for ((sum, &value), unit) in sums.iter_mut().zip(self.row(i)).zip(&self.units) {
                let value = f64::from(value) * unit;
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
        for (number, values) in self.values.chunks(BLOCK * self.features).enumerate() {
            let (start, rows) = (number * BLOCK, values.len() / self.features);
            let weights = weights.map(|all| &all[start..start + rows]);
            moments.add(values, targets.subcols(start, rows).transpose(), weights);
        }
        moments.in_units(&self.units)
    }
}

/// Blocks of columns side by side.
fn joined(outputs: usize, rows: usize, parts: Vec<Mat<f64>>) -> Mat<f64> {
    let mut all = Mat::zeros(outputs, rows);
    let mut start = 0;
    for part in parts {
        all.as_mut().subcols_mut(start, part.ncols()).copy_from(&part);
        start += part.ncols();
    }
    all
}

/// The sum of matrices, in order.
fn summed(features: usize, outputs: usize, parts: &[Mat<f64>]) -> Mat<f64> {
    let mut sum = Mat::zeros(features, outputs);
    for part in parts {
        sum += part;
    }
    sum
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

        let (gathered, sums) = design.through(weights.as_ref(), &[1.0, -2.0], |row, of_row| {
            of_row.iter_mut().for_each(|score| *score *= row as f64);
        });
        let left = Mat::from_fn(2, rows, |t, i| scores[(t, i)] * i as f64);
        let direct = design.gather(left.as_ref());
        assert!((&gathered - &direct).norm_max() < 1e-5 * direct.norm_max());
        for (t, sum) in sums.iter().enumerate() {
            let (direct, size) =
                left.row(t).iter().fold((0.0, 0.0), |(a, b), x| (a + x, b + x.abs()));
            assert!((sum - direct).abs() < 1e-5 * size);
        }

        let row_weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        let moments = design.moments(residuals.as_ref(), Some(&row_weights));
        let scaled = Mat::from_fn(features, rows, |k, i| row_weights[i] * matrix[(k, i)]);
        let expected = &scaled * matrix.transpose();
        for j in 0..features {
            for i in j..features {
                let (a, b) = (moments.gram[(i, j)], expected[(i, j)]);
                assert!((a - b).abs() <= 1e-12 * b.abs() + 1e-3, "{i} {j}: {a} {b}");
            }
        }
        assert!((&moments.cross - &scaled * residuals.transpose()).norm_max() < 1e-5);
        assert!((moments.count - row_weights.iter().sum::<f64>()).abs() < 1e-9);
        let squares: f64 = (0..rows).map(|i| row_weights[i] * residuals[(0, i)].powi(2)).sum();
        assert!((moments.target_square[0] - squares).abs() < 1e-9);
    }
}
