//! Blocks on the diagonal of a Hessian, from some of the rows: a preconditioner.
//!
//! Σ_i h_i·φ_iφ_iᵀ over 4·K rows, drawn by their curvature h_i, is that over all of them up
//! to a factor that is small enough for conjugate gradients, at a part of the work.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Llt;
use faer::{Accum, Mat, MatRef, Par, Side};

use super::Design;
use crate::panels::WIDTH;
use crate::parallel;

/// Rows for each feature.
const ROWS: usize = 4;
/// Entries of the blocks, and of the rows that they are made of, at most.
const MOST: usize = 1 << 24;
/// Rows that are added at a time, in f32.
const CHUNK: usize = 256;
/// A share of each sum of squares that is added to it, about what f32 loses: so that no eigenvalue
/// becomes negative.
const LOST: f64 = 1e-5;

/// Products with the Hessian that take about as long as making the blocks does.
pub(super) fn products(rows: usize, features: usize) -> usize {
    let drawn = rows.min(ROWS * features);
    (drawn * features / (3 * rows.max(1))).clamp(8, 100)
}

/// A matrix of other rows, of which each block has a share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'s> {
    /// Their Gram matrix, less the same means.
    pub gram: MatRef<'s, f64>,
    /// The sum of their weights.
    pub total: f64,
    /// The share of each output.
    pub shares: &'s [f64],
}

/// The blocks of the outputs, factored: of features less `means` and a constant, rows
/// weighted by `curvature` (T × n), with `penalty` on the diagonal, and what is `shared`. None
/// where they would be too large, or have no factor.
pub(super) fn factored(
    design: &Design,
    means: &[f64],
    curvature: &Mat<f64>,
    penalty: f64,
    shared: Option<Shared<'_>>,
) -> Option<Vec<Llt<f64>>> {
    let (size, outputs) = (design.features() + 1, curvature.nrows());
    let most = ROWS * size;
    if (outputs * size).max(most.min(curvature.ncols())) * size > MOST {
        return None;
    }
    let drawn = drawn(curvature, most);
    let rows: Vec<usize> = drawn.iter().map(|&(row, _)| row).collect();
    let features = design.centred(&rows, means);
    let factors = parallel::map(outputs, |t| {
        let mut block = Mat::<f64>::zeros(size, size);
        for start in (0..rows.len()).step_by(CHUNK) {
            let count = CHUNK.min(rows.len() - start);
            let mut scaled = Mat::<f32>::zeros(size, count);
            let part = features.subcols(start, count);
            let columns = scaled.col_iter_mut().zip(part.col_iter()).zip(&drawn[start..]);
            for ((scaled, part), &(row, share)) in columns {
                let root = (share * curvature[(t, row)]).sqrt();
                scaled.iter_mut().zip(part.iter()).for_each(|(to, by)| *to = (by * root) as f32);
            }
            // The lower half, by panels of columns: less code than a product of triangles.
            for left in (0..size).step_by(WIDTH) {
                let (width, height) = (WIDTH.min(size - left), size - left);
                let mut sum = Mat::<f32>::zeros(height, width);
                let right = scaled.subrows(left, width).transpose();
                let below = scaled.subrows(left, height);
                matmul(sum.as_mut(), Accum::Replace, below, right, 1.0, Par::Seq);
                let panel = block.as_mut().submatrix_mut(left, left, height, width);
                for (column, sum) in panel.col_iter_mut().zip(sum.col_iter()) {
                    column.iter_mut().zip(sum.iter()).for_each(|(to, &by)| *to += f64::from(by));
                }
            }
        }
        // The bias is not penalised, but its entry may have come to 0.
        let least = f64::MIN_POSITIVE.max(1e-12 * penalty);
        for k in 0..size {
            let lost = LOST * block[(k, k)];
            block[(k, k)] += lost + if k + 1 < size { penalty } else { least };
        }
        if let Some(Shared { gram, total, shares }) = shared {
            for (column, gram) in block.col_iter_mut().zip(gram.col_iter()) {
                column.iter_mut().zip(gram.iter()).for_each(|(to, by)| *to += shares[t] * by);
            }
            block[(size - 1, size - 1)] += shares[t] * total;
        }
        block.llt(Side::Lower).ok()
    });
    factors.into_iter().collect()
}

/// At most `most` rows and what each counts as: all of them, or some at even steps of the
/// sum of the outputs' curvatures.
fn drawn(curvature: &Mat<f64>, most: usize) -> Vec<(usize, f64)> {
    let rows = curvature.ncols();
    if rows <= most {
        return (0..rows).map(|row| (row, 1.0)).collect();
    }
    let of = |row: usize| curvature.col(row).iter().sum::<f64>();
    let step = (0..rows).map(of).sum::<f64>() / most as f64;
    let (mut passed, mut drawn) = (0.0, Vec::with_capacity(most));
    for row in 0..rows {
        let mine = of(row);
        let before = (passed / step + 0.5).floor();
        passed += mine;
        let steps = (passed / step + 0.5).floor() - before;
        if steps > 0.0 {
            drawn.push((row, steps * step / mine));
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::linalg::solvers::Solve;
    use koan::generator::Stream;

    fn problem(rows: usize) -> (Design, Vec<f64>, Mat<f64>) {
        let stream = Stream::new(3, 0);
        let values = (0..rows * 6).map(|i| stream.draw(i as u64) as i16 / 256).collect();
        let curvature = Mat::from_fn(2, rows, |t, i| {
            f64::from(stream.draw((9 * rows + 2 * i + t) as u64) as u8) / 1024.0
        });
        (Design::new(values, 6), vec![3.0, -1.0, 0.0, 2.0, 5.0, -4.0], curvature)
    }

    fn expected(design: &Design, means: &[f64], curvature: &Mat<f64>, t: usize) -> Mat<f64> {
        let rows: Vec<usize> = (0..design.rows()).collect();
        let all = design.centred(&rows, means);
        let scaled = Mat::from_fn(7, rows.len(), |k, i| all[(k, i)] * curvature[(t, i)]);
        let mut matrix = &scaled * all.transpose();
        (0..6).for_each(|k| matrix[(k, k)] += 10.0);
        matrix
    }

    #[test]
    fn blocks_of_all_rows_are_the_hessians() {
        let (design, means, curvature) = problem(20);
        let factors = factored(&design, &means, &curvature, 10.0, None).unwrap();
        for (t, factor) in factors.iter().enumerate() {
            let matrix = expected(&design, &means, &curvature, t);
            let one = factor.solve(&matrix);
            assert!((one - Mat::<f64>::identity(7, 7)).norm_max() < 1e-3);
        }
    }

    #[test]
    fn some_rows_are_about_as_good_as_all() {
        let (design, means, curvature) = problem(4000);
        assert!(drawn(&curvature, 100).len() <= 100);
        let total: f64 = drawn(&curvature, 2000).iter().map(|(_, share)| share).sum();
        assert!((total / 4000.0 - 1.0).abs() < 0.1, "{total}");
        let factors = factored(&design, &means, &curvature, 10.0, None).unwrap();
        for (t, factor) in factors.iter().enumerate() {
            let matrix = expected(&design, &means, &curvature, t);
            let near = factor.solve(&matrix);
            for k in 0..7 {
                assert!((0.2..5.0).contains(&near[(k, k)]), "{}", near[(k, k)]);
            }
        }
    }
}
