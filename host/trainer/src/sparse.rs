//! Ridge regression on bins alone: every row has exactly one active cell a
//! grid, so the design matrix is rows × grids small integers and neither it nor
//! its Gram matrix is ever written out.

use std::sync::OnceLock;

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::parallel;
use crate::quantise::Levels;
use crate::solve::conjugate::{Until, Vector, conjugate_gradients};
use koan::{FEATURE_ONE, Width};

/// Steps of conjugate gradients, at most.
const PRODUCTS: usize = 200;
/// Cells and rows of the grids that a thread takes at once: fewer would take less time than
/// handing them out.
const TOGETHER: usize = 1 << 16;
/// Rows up to which a matrix of rows × rows is factored instead: that takes less time than the steps
/// over all cells, most of which are empty then.
const FEW_ROWS: usize = 500;

/// The cells that rows fall into, grid by grid.
#[derive(Clone, Debug)]
pub struct Cells {
    /// `slots[grid][row]`.
    slots: Vec<Vec<u16>>,
    /// 2^slot_bits.
    slots_each: usize,
    rows: usize,
    /// ΦΦᵀ, once it is asked for.
    kernel: OnceLock<Mat<f64>>,
}

/// One output's weights: `weights[grid·slots + slot]` for an active feature, so
/// FEATURE_ONE times the weight of the head.
type Weights = Vec<f64>;

impl Cells {
    /// From codes rows × grids, row-major.
    #[must_use]
    pub fn new(codes: &[u16], grids: usize, slot_bits: u8) -> Self {
        let rows = codes.len() / grids.max(1);
        let slots = (0..grids)
            .map(|grid| (0..rows).map(|row| codes[row * grids + grid]).collect())
            .collect();
        Self { slots, slots_each: 1 << slot_bits, rows, kernel: OnceLock::new() }
    }

    fn columns(&self) -> usize {
        self.slots.len() * self.slots_each
    }

    /// Φw: the sum of the weights of each row's cells.
    #[must_use]
    pub fn apply(&self, weights: &[f64]) -> Vec<f64> {
        const CHUNK: usize = 4096;
        let mut sums = vec![0.0; self.rows];
        parallel::each(sums.chunks_mut(CHUNK), |chunk, sums| {
            let first = chunk * CHUNK;
            for (slots, mine) in self.slots.iter().zip(weights.chunks_exact(self.slots_each)) {
                for (sum, &slot) in sums.iter_mut().zip(&slots[first..]) {
                    *sum += mine[usize::from(slot)];
                }
            }
        });
        sums
    }

    /// Φᵀr with rows weighted: for each cell the sum over its rows.
    fn gather(&self, values: &[f64]) -> Weights {
        let mut sums = vec![0.0; self.columns()];
        let together = (TOGETHER / (self.slots_each + self.rows)).max(1);
        let parts = sums.chunks_mut(together * self.slots_each).zip(self.slots.chunks(together));
        parallel::each(parts, |_, (sums, slots)| {
            for (sums, slots) in sums.chunks_exact_mut(self.slots_each).zip(slots) {
                for (&slot, value) in slots.iter().zip(values) {
                    sums[usize::from(slot)] += value;
                }
            }
        });
        sums
    }

    /// ΦΦᵀ: how many cells two rows share.
    fn shared_cells(&self) -> Mat<f64> {
        let mut counts = Mat::zeros(self.rows, self.rows);
        let mut rows_of = vec![Vec::new(); self.slots_each];
        for slots in &self.slots {
            for (row, &slot) in slots.iter().enumerate() {
                let same: &mut Vec<usize> = &mut rows_of[usize::from(slot)];
                same.push(row);
                same.iter().for_each(|&earlier| counts[(row, earlier)] += 1.0);
            }
            rows_of.iter_mut().for_each(Vec::clear);
        }
        counts
    }

    /// What [`Self::ridge`] finds, in the dual form: w = Φᵀ√r·α, (√rΦΦᵀ√r + λI)α = √r·y. None
    /// where the matrix is singular to working precision.
    fn ridge_by_rows(&self, targets: &[f64], rows: &[f64], lambda: f64) -> Option<Weights> {
        let kernel = self.kernel.get_or_init(|| self.shared_cells());
        let roots: Vec<f64> = rows.iter().map(|weight| weight.sqrt()).collect();
        let matrix = Mat::from_fn(self.rows, self.rows, |i, j| {
            let diagonal = if i == j { lambda } else { 0.0 };
            // Below the diagonal, where it is read.
            if i < j { 0.0 } else { roots[i] * kernel[(i, j)] * roots[j] + diagonal }
        });
        let wanted = Mat::from_fn(self.rows, 1, |i, _| roots[i] * targets[i]);
        let alpha = matrix.llt(Side::Lower).ok()?.solve(&wanted);
        let alpha = alpha.col(0).iter().zip(&roots).map(|(alpha, root)| alpha * root);
        Some(self.gather(&alpha.collect::<Vec<f64>>()))
    }

    /// Minimises Σ r_i·(y_i − (Φw)_i)² + λ‖w‖² by conjugate gradients with the
    /// diagonal as preconditioner, from `start`, until the gradient has fallen
    /// to the share `precision` or for [`PRODUCTS`] steps; of few rows in the dual form.
    #[must_use]
    pub fn ridge(
        &self,
        targets: &[f64],
        rows: &[f64],
        lambda: f64,
        start: &[f64],
        precision: f64,
    ) -> Weights {
        if self.rows <= FEW_ROWS
            && let Some(weights) = self.ridge_by_rows(targets, rows, lambda)
        {
            return weights;
        }
        self.ridge_by_cells(targets, rows, lambda, start, precision)
    }

    fn ridge_by_cells(
        &self,
        targets: &[f64],
        rows: &[f64],
        lambda: f64,
        start: &[f64],
        precision: f64,
    ) -> Weights {
        let diagonal: Vec<f64> = self.gather(rows).iter().map(|count| count + lambda).collect();
        let normal = |w: &[f64]| -> Weights {
            let weighted: Vec<f64> =
                self.apply(w).iter().zip(rows).map(|(value, weight)| value * weight).collect();
            let mut product = self.gather(&weighted);
            for (place, weight) in product.iter_mut().zip(w) {
                *place += lambda * weight;
            }
            product
        };
        let wanted: Vec<f64> = targets.iter().zip(rows).map(|(y, weight)| y * weight).collect();
        let mut weights = start.to_vec();
        let left: Weights =
            self.gather(&wanted).iter().zip(normal(&weights)).map(|(b, a)| b - a).collect();
        let precondition =
            |r: &Weights| -> Weights { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
        let until = Until { share: precision, products: PRODUCTS };
        let image = |direction: &Weights| normal(direction);
        conjugate_gradients(left, until, precondition, image, |length, direction| {
            weights.add(length, direction);
        });
        weights
    }

    /// Rounds weights to levels.
    ///
    /// Without `sweeps` each weight goes to the nearest level. Each sweep then
    /// goes through the grids: the cells of a grid share no row, so all its
    /// weights take their best levels at once, given all others.
    #[must_use]
    pub fn round(
        &self,
        problem: &SparseProblem<'_>,
        weights: &[f64],
        width: Width,
        sweeps: usize,
    ) -> SparseRounded {
        let deviation = (square(weights) / weights.len() as f64).sqrt().max(1e-30);
        let largest = weights.iter().fold(0.0f64, |a, w| a.max(w.abs()));
        // Weights that are all zero, as of constant inputs, have no step.
        let largest = if largest > 1e-30 { largest } else { 1.0 };
        let reach = f64::from((1u32 << width.bits()) - 1);
        let counts = self.gather(problem.rows);
        let factors: &[f64] = if width.bits() >= 8 { &[1.0] } else { &[0.5, 0.7, 1.0, 1.4, 2.0] };
        let try_step = |&factor: &f64| {
            // From 2 bits, whose outer levels want to lie near 1.5 deviations,
            // to 4 and more, which reach further out.
            let wanted = (0.75 + 0.75 * f64::from(width.bits())).min(4.0) * deviation;
            let top = if width.bits() >= 8 { largest } else { (wanted * factor).min(largest) };
            let levels = Levels { width, step: top / reach };
            let mut codes: Vec<u32> = weights.iter().map(|&w| levels.code(w)).collect();
            let objective = self.sweep(problem, &levels, &mut codes, &counts, sweeps);
            SparseRounded { codes, levels, objective }
        };
        let best = factors
            .iter()
            .map(try_step)
            .reduce(|a, b| if b.objective < a.objective { b } else { a });
        best.unwrap_or(SparseRounded {
            codes: Vec::new(),
            levels: Levels { width, step: 1.0 },
            objective: f64::INFINITY,
        })
    }

    /// Improves codes in place; the objective that was reached.
    fn sweep(
        &self,
        problem: &SparseProblem<'_>,
        levels: &Levels,
        codes: &mut [u32],
        counts: &[f64],
        sweeps: usize,
    ) -> f64 {
        let mut weights: Weights = codes.iter().map(|&u| levels.weight(u)).collect();
        let mut residual: Vec<f64> =
            problem.targets.iter().zip(self.apply(&weights)).map(|(y, value)| y - value).collect();
        for _ in 0..sweeps {
            let mut moved = false;
            for (grid, slots) in self.slots.iter().enumerate() {
                let columns = grid * self.slots_each..(grid + 1) * self.slots_each;
                let mut sums = vec![0.0; self.slots_each];
                for ((&slot, r), weight) in slots.iter().zip(&residual).zip(problem.rows) {
                    sums[usize::from(slot)] += r * weight;
                }
                let mut changes = vec![0.0; self.slots_each];
                for (slot, column) in columns.enumerate() {
                    let now = weights[column];
                    let best = now
                        + (sums[slot] - problem.lambda * now) / (counts[column] + problem.lambda);
                    let code = levels.code(best);
                    if code != codes[column] {
                        codes[column] = code;
                        weights[column] = levels.weight(code);
                        changes[slot] = weights[column] - now;
                        moved = true;
                    }
                }
                for (&slot, r) in slots.iter().zip(&mut residual) {
                    *r -= changes[usize::from(slot)];
                }
            }
            if !moved {
                break;
            }
        }
        let error: f64 = residual.iter().zip(problem.rows).map(|(r, weight)| r * r * weight).sum();
        error + problem.lambda * square(&weights)
    }
}

/// One output's least-squares problem.
#[derive(Clone, Copy, Debug)]
pub struct SparseProblem<'p> {
    /// Targets without their mean, one for each row.
    pub targets: &'p [f64],
    /// Weights of the rows.
    pub rows: &'p [f64],
    /// Penalty on ‖w‖².
    pub lambda: f64,
}

/// One output's rounded weights.
#[derive(Clone, Debug)]
pub struct SparseRounded {
    /// Codes of all columns.
    pub codes: Vec<u32>,
    /// Their levels, in units of an active feature.
    pub levels: Levels,
    /// The ridge objective that they reach.
    pub objective: f64,
}

impl SparseRounded {
    /// The levels as the head has them, where an active feature is
    /// [`FEATURE_ONE`].
    #[must_use]
    pub fn head_levels(&self) -> Levels {
        Levels { step: self.levels.step / f64::from(FEATURE_ONE), ..self.levels }
    }
}

/// ‖w‖².
fn square(weights: &[f64]) -> f64 {
    weights.iter().map(|w| w * w).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::linalg::solvers::Solve;
    use faer::{Mat, Side};
    use koan::generator::Stream;

    fn problem() -> (Cells, Vec<f64>, Mat<f64>) {
        let (rows, grids) = (90, 4);
        let stream = Stream::new(3, 1);
        let codes: Vec<u16> =
            (0..rows * grids).map(|i| (stream.draw(i as u64) % 8) as u16).collect();
        let targets: Vec<f64> =
            (0..rows).map(|i| f64::from(Stream::new(3, 2).draw(i as u64) as i8) / 64.0).collect();
        let dense = Mat::from_fn(rows, grids * 8, |row, column| {
            f64::from(u8::from(usize::from(codes[row * grids + column / 8]) == column % 8))
        });
        (Cells::new(&codes, grids, 3), targets, dense)
    }

    #[test]
    fn both_ways_find_the_dense_solution() {
        let (cells, targets, dense) = problem();
        let weights: Vec<f64> = (0..90).map(|row| 1.0 + f64::from(row % 2)).collect();
        let scaled = Mat::from_fn(90, 32, |row, column| dense[(row, column)] * weights[row]);
        let mut normal = dense.transpose() * &scaled;
        for k in 0..32 {
            normal[(k, k)] += 0.7;
        }
        let y = Mat::from_fn(90, 1, |row, _| targets[row]);
        let expected =
            normal.llt(Side::Lower).expect("positive definite").solve(scaled.transpose() * y);
        let by_cells = cells.ridge_by_cells(&targets, &weights, 0.7, &[0.0; 32], 1e-6);
        let by_rows = cells.ridge_by_rows(&targets, &weights, 0.7).unwrap();
        for k in 0..32 {
            assert!((by_cells[k] - expected[(k, 0)]).abs() < 1e-3);
            assert!((by_rows[k] - expected[(k, 0)]).abs() < 1e-9);
        }
        // Cells that no row falls into, and rows that weigh nothing.
        let none = cells.ridge_by_rows(&targets, &[0.0; 90], 0.7).unwrap();
        assert_eq!(none, [0.0; 32]);
        assert_eq!(cells.ridge_by_rows(&targets, &[0.0; 90], 0.0), None);
    }

    #[test]
    fn sweeps_lower_the_objective() {
        let (cells, targets, _) = problem();
        let rows = vec![1.0; 90];
        let problem = SparseProblem { targets: &targets, rows: &rows, lambda: 0.5 };
        let weights = cells.ridge(&targets, &rows, 0.5, &[0.0; 32], 1e-6);
        for bits in [2, 3, 4, 8] {
            for odd in [false, true] {
                let width = Width::new(bits, odd).unwrap();
                let nearest = cells.round(&problem, &weights, width, 0).objective;
                let swept = cells.round(&problem, &weights, width, 10).objective;
                assert!(swept <= nearest, "{bits} bits: {swept} {nearest}");
            }
        }
    }
}
