//! Ridge regression on bins alone: every row has exactly one active cell a
//! grid, so the design matrix is rows × grids small integers and never written
//! out, and its Gram matrix only where that is small.

use crate::parallel;
use crate::quantise::Levels;
use koan::{FEATURE_ONE, Width};

mod ridge;

pub use ridge::Ridge;

/// Cells and rows of the grids that a thread takes at once: fewer would take less time than
/// handing them out.
const TOGETHER: usize = 1 << 16;

/// The cells that rows fall into, grid by grid.
#[derive(Clone, Debug)]
pub struct Cells {
    /// `slots[grid][row]`.
    slots: Vec<Vec<u16>>,
    /// 2^slot_bits.
    slots_each: usize,
    rows: usize,
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
        Self { slots, slots_each: 1 << slot_bits, rows }
    }

    fn grids(&self) -> usize {
        self.slots.len()
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
                    let curvature = counts[column] + problem.lambda;
                    if curvature <= 0.0 {
                        // A cell without rows, which nothing holds.
                        continue;
                    }
                    let best = now + (sums[slot] - problem.lambda * now) / curvature;
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
    use faer::Mat;
    use koan::generator::Stream;

    pub(super) fn problem() -> (Cells, Vec<f64>, Mat<f64>) {
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
    fn sweeps_lower_the_objective() {
        let (cells, targets, _) = problem();
        let rows = vec![1.0; 90];
        let problem = SparseProblem { targets: &targets, rows: &rows, lambda: 0.5 };
        let weights = Ridge::new(&cells, &rows, 1)
            .solve(std::slice::from_ref(&targets), 0.5, &[], 1e-6)
            .remove(0);
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
