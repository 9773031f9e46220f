//! Matrices in panels of columns or rows, for threads to work on one each.
//!
//! Panels have a fixed width, so that the order of sums does not depend on the number of
//! threads.

use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns of a panel, or rows, that one thread takes at once.
pub const WIDTH: usize = 64;

/// Panels of `width` columns; the last may have fewer.
pub fn columns(matrix: MatMut<'_, f64>, width: usize) -> Vec<MatMut<'_, f64>> {
    let mut panels = Vec::with_capacity(matrix.ncols().div_ceil(width));
    let mut rest = matrix;
    while rest.ncols() > width {
        let (panel, others) = rest.split_at_col_mut(width);
        panels.push(panel);
        rest = others;
    }
    panels.push(rest);
    panels
}

/// Panels of `width` rows; the last may have fewer.
pub fn rows(matrix: MatMut<'_, f64>, width: usize) -> Vec<MatMut<'_, f64>> {
    columns(matrix.transpose_mut(), width).into_iter().map(MatMut::transpose_mut).collect()
}

/// `to` += α·`left`·`right`.
pub fn add_product(to: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>, alpha: f64) {
    parallel::each(columns(to, WIDTH), |number, to| {
        let right = right.subcols(number * WIDTH, to.ncols());
        matmul(to, Accum::Add, left, right, alpha, Par::Seq);
    });
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    #[test]
    fn panels_cover_a_matrix_once() {
        let mut matrix = Mat::<f64>::zeros(70, 130);
        let widths: Vec<usize> = columns(matrix.as_mut(), 64).iter().map(|p| p.ncols()).collect();
        assert_eq!(widths, [64, 64, 2]);
        let heights: Vec<usize> = rows(matrix.as_mut(), 35).iter().map(|p| p.nrows()).collect();
        assert_eq!(heights, [35, 35]);
        for mut panel in rows(matrix.as_mut(), 64) {
            panel.fill(1.0);
        }
        assert_eq!(matrix.sum(), 70.0 * 130.0);
    }

    #[test]
    fn products_are_added() {
        let left = Mat::from_fn(5, 3, |i, j| (i * 3 + j) as f64);
        let right = Mat::from_fn(3, 150, |i, j| (i + 2 * j) as f64);
        let mut sum = Mat::from_fn(5, 150, |i, j| (i * j) as f64);
        let expected = &sum - 2.0 * (&left * &right);
        add_product(sum.as_mut(), left.as_ref(), right.as_ref(), -2.0);
        assert_eq!(sum, expected);
    }
}
