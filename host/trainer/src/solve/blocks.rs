//! Blocks on the diagonal of a Hessian, from some of the rows: a preconditioner, and what weights
//! are rounded through.
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

/// Of features less means and a constant, rows weighted: the sums of one output at a time.
pub(super) struct Blocks<'d> {
    design: &'d Design,
    means: &'d [f64],
    /// T × n.
    curvature: &'d Mat<f64>,
    /// Rows and what each counts as.
    drawn: Vec<(usize, f64)>,
}

impl<'d> Blocks<'d> {
    /// Of at most `most` rows.
    pub fn new(design: &'d Design, means: &'d [f64], curvature: &'d Mat<f64>, most: usize) -> Self {
        Self { design, means, curvature, drawn: drawn(curvature, most) }
    }

    /// The lower half of the block of output `t`, (K + 1) × (K + 1), the constant last.
    pub fn of(&self, t: usize) -> Mat<f64> {
        let size = self.means.len() + 1;
        let mut block = Mat::<f64>::zeros(size, size);
        for rows in self.drawn.chunks(CHUNK) {
            let mut scaled = Mat::<f32>::zeros(size, rows.len());
            for (scaled, &(row, share)) in scaled.col_iter_mut().zip(rows) {
                let root = (share * self.curvature[(t, row)]).sqrt();
                let centred = self.design.centred_row(row, self.means);
                scaled.iter_mut().zip(centred).for_each(|(to, by)| *to = (by * root) as f32);
            }
            // By panels of columns: less code than a product of triangles.
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
        for k in 0..size {
            block[(k, k)] *= 1.0 + LOST;
        }
        block
    }

    /// What is left of it where the constant follows the features as is best: K × K, both triangles.
    pub fn without_constant(&self, t: usize) -> Mat<f64> {
        let block = self.of(t);
        let last = self.means.len();
        let all = block[(last, last)].max(f64::MIN_POSITIVE);
        Mat::from_fn(last, last, |j, k| {
            block[(j.max(k), j.min(k))] - block[(last, j)] * block[(last, k)] / all
        })
    }
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
    let blocks = Blocks::new(design, means, curvature, most);
    let factors = parallel::map(outputs, |t| {
        let mut block = blocks.of(t);
        // The bias is not penalised, but its entry may have come to 0.
        let least = f64::MIN_POSITIVE.max(1e-12 * penalty);
        for k in 0..size {
            block[(k, k)] += if k + 1 < size { penalty } else { least };
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

    /// eᵀHe without the constant is the least over all constants.
    #[test]
    fn without_the_constant_it_is_the_best_one() {
        let (design, means, curvature) = problem(200);
        let blocks = Blocks::new(&design, &means, &curvature, usize::MAX);
        let rows: Vec<usize> = (0..200).collect();
        let all = design.centred(&rows, &means);
        let errors = [1.0, -2.0, 0.5, 3.0, 0.0, -1.0];
        for t in 0..2 {
            let matrix = blocks.without_constant(t);
            let error = Mat::from_fn(6, 1, |k, _| errors[k]);
            let found = (error.transpose() * &matrix * &error)[(0, 0)];
            let scores: Vec<f64> =
                rows.iter().map(|&i| (0..6).map(|k| errors[k] * all[(k, i)]).sum()).collect();
            let total: f64 = rows.iter().map(|&i| curvature[(t, i)]).sum();
            let mean = rows.iter().map(|&i| curvature[(t, i)] * scores[i]).sum::<f64>() / total;
            let square = |&i: &usize| curvature[(t, i)] * (scores[i] - mean).powi(2);
            let least: f64 = rows.iter().map(square).sum();
            assert!((found / least - 1.0).abs() < 1e-3, "{t}: {found} {least}");
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
