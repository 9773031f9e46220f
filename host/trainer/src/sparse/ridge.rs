//! Ridge regression on cells, in the form that takes the least time: a matrix of rows × rows where
//! there are few rows, one of cells × cells where there are few cells, and otherwise steps that need
//! no matrix.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

use super::{Cells, Weights};
use crate::parallel;
use crate::solve::conjugate::{Until, Vector, conjugate_gradients};

/// Steps of conjugate gradients, at most.
const STEPS: usize = 200;
/// Sides of a matrix that is factored, at most: of 3,000 it takes 72 MB.
const MOST_SIDES: usize = 3000;
/// What an addition takes where numbers lie side by side, and in a factorisation, beside one to a
/// cell, whose place in memory is not known beforehand.
const STEADY: f64 = 0.3;
const FACTORED: f64 = 0.05;

/// Problems on the same cells, with the same weights of rows.
#[derive(Debug)]
pub struct Ridge<'c> {
    cells: &'c Cells,
    /// Weights of the rows, and their roots.
    rows: &'c [f64],
    roots: Vec<f64>,
    form: Form,
}

/// What is solved with.
#[derive(Debug)]
enum Form {
    /// √rΦΦᵀ√r, below the diagonal: w = Φᵀ√r·α, (√rΦΦᵀ√r + λI)α = √r·y.
    Rows(Mat<f64>),
    /// ΦᵀrΦ, below the diagonal: (ΦᵀrΦ + λI)w = Φᵀr·y.
    Cells(Mat<f64>),
    /// Conjugate gradients.
    Steps,
}

impl<'c> Ridge<'c> {
    /// For rows of these weights and so many targets.
    #[must_use]
    pub fn new(cells: &'c Cells, rows: &'c [f64], outputs: usize) -> Self {
        let (count, grids, columns) = (cells.rows as f64, cells.grids() as f64, cells.columns());
        let step = 4.0 * count * grids + STEADY * 5.0 * columns as f64;
        let steps = (outputs * STEPS) as f64 * step;
        let factor = |sides: f64| FACTORED * sides.powi(3) / 3.0;
        // The matrix serves all λ, of which there are several.
        let by_rows = factor(count) + STEADY * count * count * grids;
        let by_cells = factor(columns as f64) + count * grids * grids / 4.0;
        let roots: Vec<f64> = rows.iter().map(|weight| weight.sqrt()).collect();
        let form = if cells.rows <= MOST_SIDES && by_rows <= by_cells.min(steps) {
            Form::Rows(shared_cells(cells, &roots))
        } else if columns <= MOST_SIDES && by_cells <= steps {
            Form::Cells(shared_rows(cells, rows))
        } else {
            Form::Steps
        };
        Self { cells, rows, roots, form }
    }

    /// For each of the `targets`, y, minimises Σ r_i·(y_i − (Φw)_i)² + λ‖w‖². Where it takes steps,
    /// they go on from `starts` (none: from 0) until the gradient has fallen to the share
    /// `precision`.
    #[must_use]
    pub fn solve(
        &self,
        targets: &[Vec<f64>],
        lambda: f64,
        starts: &[Weights],
        precision: f64,
    ) -> Vec<Weights> {
        let found = match &self.form {
            Form::Rows(kernel) => self.by_rows(kernel.as_ref(), targets, lambda),
            Form::Cells(gram) => self.by_cells(gram.as_ref(), targets, lambda),
            Form::Steps => None,
        };
        // Without a penalty the matrix may be singular.
        found.unwrap_or_else(|| {
            let diagonal: Weights =
                self.cells.gather(self.rows).iter().map(|count| count + lambda).collect();
            let output = |output: usize| {
                let start = starts.get(output).cloned();
                let start = start.unwrap_or_else(|| vec![0.0; self.cells.columns()]);
                self.by_steps(&targets[output], lambda, start, precision, &diagonal)
            };
            parallel::map(targets.len(), output)
        })
    }

    fn by_rows(
        &self,
        kernel: MatRef<'_, f64>,
        targets: &[Vec<f64>],
        lambda: f64,
    ) -> Option<Vec<Weights>> {
        let wanted = Mat::from_fn(self.rows.len(), targets.len(), |i, output| {
            self.roots[i] * targets[output][i]
        });
        let alpha = solved(kernel, lambda, wanted.as_ref())?;
        let weights = alpha.col_iter().map(|alpha| {
            let alpha = alpha.iter().zip(&self.roots).map(|(alpha, root)| alpha * root);
            self.cells.gather(&alpha.collect::<Vec<f64>>())
        });
        Some(weights.collect())
    }

    fn by_cells(
        &self,
        gram: MatRef<'_, f64>,
        targets: &[Vec<f64>],
        lambda: f64,
    ) -> Option<Vec<Weights>> {
        let wanted: Vec<Weights> = targets.iter().map(|targets| self.wanted(targets)).collect();
        let wanted = Mat::from_fn(gram.nrows(), targets.len(), |cell, t| wanted[t][cell]);
        let weights = solved(gram, lambda, wanted.as_ref())?;
        Some(weights.col_iter().map(|weights| weights.iter().copied().collect()).collect())
    }

    /// Φᵀr·y.
    fn wanted(&self, targets: &[f64]) -> Weights {
        let weighted = targets.iter().zip(self.rows).map(|(y, weight)| y * weight);
        self.cells.gather(&weighted.collect::<Vec<f64>>())
    }

    /// Conjugate gradients with the diagonal as preconditioner.
    fn by_steps(
        &self,
        targets: &[f64],
        lambda: f64,
        mut weights: Weights,
        precision: f64,
        diagonal: &[f64],
    ) -> Weights {
        let normal = |w: &Weights| -> Weights {
            let values = self.cells.apply(w);
            let mut product = self.wanted(&values);
            product.iter_mut().zip(w).for_each(|(place, weight)| *place += lambda * weight);
            product
        };
        let left: Weights =
            self.wanted(targets).iter().zip(normal(&weights)).map(|(b, a)| b - a).collect();
        // Without a penalty a cell without rows has neither.
        let each = |(r, d): (&f64, &f64)| if *d > 0.0 { r / d } else { 0.0 };
        let precondition = |r: &Weights| -> Weights { r.iter().zip(diagonal).map(each).collect() };
        let until = Until { share: precision, products: STEPS };
        conjugate_gradients(left, until, precondition, normal, |length, direction| {
            weights.add(length, direction);
        });
        weights
    }
}

/// The solution with λ on the diagonal of a matrix; none where that is singular to working
/// precision.
fn solved(matrix: MatRef<'_, f64>, lambda: f64, wanted: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let mut matrix = matrix.to_owned();
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += lambda);
    Some(matrix.llt(Side::Lower).ok()?.solve(wanted))
}

/// √rΦΦᵀ√r: how many cells two rows share, times the roots of their weights.
fn shared_cells(cells: &Cells, roots: &[f64]) -> Mat<f64> {
    let mut matrix = Mat::zeros(cells.rows, cells.rows);
    let mut rows_of = vec![Vec::new(); cells.slots_each];
    for slots in &cells.slots {
        for (row, &slot) in slots.iter().enumerate() {
            let same: &mut Vec<usize> = &mut rows_of[usize::from(slot)];
            same.push(row);
            same.iter().for_each(|&earlier| matrix[(row, earlier)] += 1.0);
        }
        rows_of.iter_mut().for_each(Vec::clear);
    }
    for (i, root) in roots.iter().enumerate() {
        for (j, other) in roots[..=i].iter().enumerate() {
            matrix[(i, j)] *= root * other;
        }
    }
    matrix
}

/// ΦᵀrΦ: the weight of the rows that two cells share.
fn shared_rows(cells: &Cells, rows: &[f64]) -> Mat<f64> {
    let each = cells.slots_each;
    // The cells of a grid beside those of all up to it, grid by grid.
    let strips = parallel::map(cells.grids(), |grid| {
        let mut strip = vec![0.0; (grid + 1) * each * each];
        for (other, block) in cells.slots[..=grid].iter().zip(strip.chunks_exact_mut(each * each)) {
            for ((&slot, &earlier), weight) in cells.slots[grid].iter().zip(other).zip(rows) {
                block[usize::from(slot) * each + usize::from(earlier)] += weight;
            }
        }
        strip
    });
    Mat::from_fn(cells.columns(), cells.columns(), |i, j| {
        if i < j {
            return 0.0;
        }
        strips[i / each][(j / each * each + i % each) * each + j % each]
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::problem;
    use super::*;

    #[test]
    fn all_forms_find_the_dense_solution() {
        let (cells, targets, dense) = problem();
        let rows: Vec<f64> = (0..90).map(|row| 1.0 + f64::from(row % 3)).collect();
        let none = vec![0.0; 90];
        let both = [targets.clone(), targets.iter().map(|y| 1.0 - y).collect()];
        for weights in [&rows, &none] {
            let scaled = Mat::from_fn(90, 32, |row, column| dense[(row, column)] * weights[row]);
            let normal = dense.transpose() * &scaled;
            let y = Mat::from_fn(90, 2, |row, output| both[output][row]);
            let wanted = scaled.transpose() * y;
            let expected = solved(normal.as_ref(), 0.7, wanted.as_ref()).unwrap();
            let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
            let gram = shared_rows(&cells, weights);
            for i in 0..32 {
                (0..=i).for_each(|j| assert_eq!(gram[(i, j)], normal[(i, j)], "{i} {j}"));
            }
            for form in [Form::Rows(shared_cells(&cells, &roots)), Form::Cells(gram), Form::Steps] {
                let near = if matches!(form, Form::Steps) { 1e-3 } else { 1e-9 };
                let ridge = Ridge { cells: &cells, rows: weights, roots: roots.clone(), form };
                let found = ridge.solve(&both, 0.7, &[], 1e-6);
                assert_eq!(found.len(), 2);
                for (output, found) in found.iter().enumerate() {
                    for (k, found) in found.iter().enumerate() {
                        assert!((found - expected[(k, output)]).abs() < near);
                    }
                }
            }
        }
        // A constant of each grid makes the matrix singular; of few rows most cells have none.
        let few: Vec<f64> = (0..90).map(|row| f64::from(u8::from(row < 5))).collect();
        for weights in [&rows, &few] {
            let unpenalised = Ridge::new(&cells, weights, 2).solve(&both, 0.0, &[], 1e-6);
            assert!(unpenalised.iter().flatten().all(|weight| weight.is_finite()));
            assert!(unpenalised.iter().flatten().any(|weight| *weight != 0.0));
        }
    }

    #[test]
    fn the_form_is_the_one_that_takes_least() {
        let of = |rows: usize, grids: usize, slot_bits: u8| {
            let codes: Vec<u16> = vec![0; rows * grids];
            let cells = Cells::new(&codes, grids, slot_bits);
            match Ridge::new(&cells, &vec![1.0; rows], 3).form {
                Form::Rows(_) => "rows",
                Form::Cells(_) => "cells",
                Form::Steps => "steps",
            }
        };
        assert_eq!(of(150, 50, 8), "rows");
        assert_eq!(of(4000, 50, 4), "cells");
        assert_eq!(of(4000, 100, 8), "steps");
    }
}
