//! Ridge regression where features outnumber rows, in its dual form: with X the centred
//! features, rows times the roots of their weights, the fit is w = Xᵀα,
//! (XXᵀ + μI)α = y. A matrix of rows × rows is factored instead of one of features ×
//! features, and weights are rounded by what they change in the rows.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

use crate::panels;
use crate::parallel;
use crate::quantise::{Levels, REACHES, Rounded, Rounding, spread, steps};
use crate::ridge::LinearFit;
use crate::solve::Design;
use koan::Width;

/// Features below which the normal equations are as good.
const LEAST_FEATURES: usize = 1500;
/// Columns that are multiplied at a time, and that a thread centres at once.
const CHUNK: usize = 512;
const TOGETHER: usize = 64;
/// About what rounding a weight of an output costs for each row, where an entry of the other form's
/// factor costs 1.
const ROUNDING: usize = 1000;
/// Times that all weights are looked at again after rounding.
const SWEEPS: usize = 4;

/// Whether the dual form is the cheaper one. It goes through all features and rows to round the
/// weights of an output, which the other form does by a factor that all outputs share.
#[must_use]
pub fn suits(features: usize, rows: usize, outputs: usize) -> bool {
    let rounding = ROUNDING as u128 * outputs as u128 * rows as u128;
    let factor = features as u128 * features as u128;
    features >= LEAST_FEATURES && features > 2 * rows && rounding <= factor
}

/// A least-squares problem of few rows.
#[derive(Debug)]
pub struct Dual {
    /// X: feature after feature, n rows each.
    columns: Vec<f32>,
    /// XXᵀ.
    kernel: Mat<f64>,
    /// Centred targets times the roots of the rows' weights: n × T.
    targets: Mat<f64>,
    means: Vec<f64>,
    target_means: Vec<f64>,
    unit: f64,
}

impl Dual {
    /// The problem of `targets` (T × n) and `weights` of rows (none: all 1).
    #[must_use]
    pub fn new(design: &Design, targets: MatRef<'_, f64>, weights: Option<&[f64]>) -> Self {
        let (rows, features) = (design.rows(), design.features());
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        // Rows that all weigh nothing have any mean.
        let total: f64 = (0..rows).map(weight).sum::<f64>().max(f64::MIN_POSITIVE);
        let shares = Mat::from_fn(1, rows, |_, i| weight(i) / total);
        let means: Vec<f64> = design.gather(shares.as_ref()).col(0).iter().copied().collect();
        let target_means: Vec<f64> = (0..targets.nrows())
            .map(|t| (0..rows).map(|i| shares[(0, i)] * targets[(t, i)]).sum())
            .collect();
        let roots: Vec<f64> = (0..rows).map(|i| weight(i).sqrt()).collect();
        let targets = Mat::from_fn(rows, targets.nrows(), |i, t| {
            roots[i] * (targets[(t, i)] - target_means[t])
        });
        let every: Vec<usize> = (0..rows).collect();
        let centred = design.centred(&every, &means);
        let mut columns = vec![0.0f32; rows * features];
        parallel::each(columns.chunks_mut(TOGETHER * rows), |part, columns| {
            for (k, column) in columns.chunks_exact_mut(rows).enumerate() {
                for (i, (place, root)) in column.iter_mut().zip(&roots).enumerate() {
                    *place = (root * centred[(part * TOGETHER + k, i)]) as f32;
                }
            }
        });
        drop(centred);
        let mut kernel = Mat::<f64>::zeros(rows, rows);
        for chunk in columns.chunks(CHUNK * rows) {
            let part =
                Mat::from_fn(rows, chunk.len() / rows, |i, k| f64::from(chunk[k * rows + i]));
            panels::add_product(kernel.as_mut(), part.as_ref(), part.transpose(), 1.0);
        }
        let trace: f64 = (0..rows).map(|i| kernel[(i, i)]).sum();
        let unit = if trace > 0.0 { trace / features as f64 } else { 1.0 };
        Self { columns, kernel, targets, means, target_means, unit }
    }

    /// Number of rows, n.
    fn rows(&self) -> usize {
        self.kernel.nrows()
    }

    /// The fit for a λ, relative to the mean variance of a feature times the rows as in
    /// [`crate::ridge`]; raised where the matrix is singular to working precision.
    pub fn solve(&self, lambda: f64) -> LinearFit {
        let mut lambda = lambda.max(1e-9);
        let alpha = loop {
            let mut matrix = self.kernel.clone();
            (0..self.rows()).for_each(|i| matrix[(i, i)] += lambda * self.unit);
            match matrix.llt(Side::Lower) {
                Ok(factor) => break factor.solve(&self.targets),
                Err(_) => lambda *= 10.0,
            }
        };
        let columns: Vec<&[f32]> = self.columns.chunks(self.rows()).collect();
        let weights = Mat::from_fn(columns.len(), alpha.ncols(), |k, t| {
            let terms = columns[k].iter().zip(alpha.col(t).iter());
            terms.map(|(&x, a)| f64::from(x) * a).sum()
        });
        let bias = self.bias(weights.as_ref());
        LinearFit { weights, bias, lambda }
    }

    /// The best biases for weights, K × T.
    #[must_use]
    pub fn bias(&self, weights: MatRef<'_, f64>) -> Vec<f64> {
        let offset = |t: usize| -> f64 {
            self.means.iter().zip(weights.col(t).iter()).map(|(mean, w)| mean * w).sum()
        };
        self.target_means.iter().enumerate().map(|(t, mean)| mean - offset(t)).collect()
    }

    /// Rounds the weights of one output, as [`crate::quantise::round`] does: each against
    /// what those before it changed in the rows, then once more where another level is
    /// better.
    #[must_use]
    pub fn round(
        &self,
        weights: &[f64],
        banks: &[(usize, Width)],
        lambda: f64,
        rounding: Rounding,
    ) -> Rounded {
        let attempt = |&reach: &f64| {
            let levels = steps(weights, banks, reach);
            let columns = spread(banks, &levels);
            let nearest: Vec<u32> = weights.iter().zip(&columns).map(|(&w, l)| l.code(w)).collect();
            let mut best = (self.changes(weights, &columns, &nearest, lambda), nearest);
            if rounding == Rounding::Compensated {
                let codes = self.compensated(weights, &columns, lambda);
                let changes = self.changes(weights, &columns, &codes, lambda);
                if changes < best.0 {
                    best = (changes, codes);
                }
            }
            Rounded { codes: best.1, levels, excess: best.0 }
        };
        let all: Vec<Rounded> = parallel::map(REACHES.len(), |place| attempt(&REACHES[place]));
        let best = all.into_iter().reduce(|a, b| if b.excess < a.excess { b } else { a });
        let mut best = best.expect("there are reaches");
        if rounding == Rounding::Compensated {
            let columns = spread(banks, &best.levels);
            self.descend(weights, &columns, &mut best.codes, lambda);
            best.excess = self.changes(weights, &columns, &best.codes, lambda);
        }
        best
    }

    /// One weight after the other, against the change of the rows so far.
    fn compensated(&self, weights: &[f64], levels: &[Levels], lambda: f64) -> Vec<u32> {
        let mut change = vec![0.0f64; self.rows()];
        let columns = self.columns.chunks(self.rows());
        let round = |((&weight, level), column): ((&f64, &Levels), &[f32])| {
            let wanted = weight - product(column, &change) / self.size(column, lambda);
            let code = level.code(wanted);
            add(&mut change, level.weight(code) - weight, column);
            code
        };
        weights.iter().zip(levels).zip(columns).map(round).collect()
    }

    /// Moves single weights to better levels.
    fn descend(&self, weights: &[f64], levels: &[Levels], codes: &mut [u32], lambda: f64) {
        let mut change = self.change(weights, levels, codes);
        for _ in 0..SWEEPS {
            let mut moved = false;
            for (k, column) in self.columns.chunks(self.rows()).enumerate() {
                let now = levels[k].weight(codes[k]);
                let size = self.size(column, lambda);
                let slope = product(column, &change) + lambda * self.unit * (now - weights[k]);
                let code = levels[k].code(now - slope / size);
                let by = levels[k].weight(code) - now;
                if code != codes[k] && by * (2.0 * slope + by * size) < 0.0 {
                    codes[k] = code;
                    add(&mut change, by, column);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// ‖x‖² + μ.
    fn size(&self, column: &[f32], lambda: f64) -> f64 {
        let square: f64 = column.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        (square + lambda * self.unit).max(f64::MIN_POSITIVE)
    }

    /// X(q − w).
    fn change(&self, weights: &[f64], levels: &[Levels], codes: &[u32]) -> Vec<f64> {
        let mut change = vec![0.0; self.rows()];
        for (k, column) in self.columns.chunks(self.rows()).enumerate() {
            add(&mut change, levels[k].weight(codes[k]) - weights[k], column);
        }
        change
    }

    /// ‖X(q − w)‖² + μ‖q − w‖²: what rounding adds to the objective.
    fn changes(&self, weights: &[f64], levels: &[Levels], codes: &[u32], lambda: f64) -> f64 {
        let rows: f64 = self.change(weights, levels, codes).iter().map(|x| x * x).sum();
        let own = |k: usize| (levels[k].weight(codes[k]) - weights[k]).powi(2);
        rows + lambda * self.unit * (0..weights.len()).map(own).sum::<f64>()
    }
}

fn product(column: &[f32], change: &[f64]) -> f64 {
    column.iter().zip(change).map(|(&x, c)| f64::from(x) * c).sum()
}

fn add(change: &mut [f64], by: f64, column: &[f32]) {
    change.iter_mut().zip(column).for_each(|(c, &x)| *c += by * f64::from(x));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ridge::System;
    use koan::generator::Stream;

    fn problem() -> (Design, Mat<f64>, Vec<f64>) {
        let (rows, features) = (30, 80);
        let stream = Stream::new(4, 0);
        let value = |i: usize| (stream.draw(i as u64) as i16) / 256;
        let design = Design::new((0..rows * features).map(value).collect(), features);
        let targets = Mat::from_fn(2, rows, |t, i| f64::from(value(5000 + 2 * i + t)));
        let weights = (0..rows).map(|i| 1.0 + (i % 3) as f64).collect();
        (design, targets, weights)
    }

    #[test]
    fn many_outputs_are_rounded_by_the_matrix() {
        assert!(suits(1500, 600, 1) && suits(3000, 600, 10));
        assert!(!suits(1500, 600, 10) && !suits(2048, 600, 250) && !suits(1499, 600, 1));
    }

    #[test]
    fn both_forms_have_the_same_solution() {
        let (design, targets, weights) = problem();
        for weights in [None, Some(weights.as_slice())] {
            let system = System::new(&design.moments(targets.as_ref(), weights));
            let dual = Dual::new(&design, targets.as_ref(), weights);
            assert!((dual.unit / system.unit() - 1.0).abs() < 1e-6);
            for lambda in [1e-3, 1e-1, 1.0] {
                let (a, b) = (system.solve(lambda), dual.solve(lambda));
                assert!((&a.weights - &b.weights).norm_max() < 1e-5 * a.weights.norm_max());
                for (a, b) in a.bias.iter().zip(&b.bias) {
                    assert!((a - b).abs() < 1e-3 * a.abs().max(1.0));
                }
            }
        }
    }

    #[test]
    fn rows_that_weigh_nothing_end() {
        let (design, targets, weights) = problem();
        let dual = Dual::new(&design, targets.as_ref(), Some(&vec![0.0; weights.len()]));
        let fit = dual.solve(0.1);
        assert_eq!(fit.weights.norm_max(), 0.0);
        assert!(fit.bias.iter().all(|&bias| bias == 0.0));
    }

    #[test]
    fn rounding_by_rows_is_nearly_as_good_as_by_the_gram_matrix() {
        let (design, targets, _) = problem();
        let system = System::new(&design.moments(targets.as_ref(), None));
        let dual = Dual::new(&design, targets.as_ref(), None);
        let fit = system.solve(0.1);
        let weights: Vec<f64> = fit.weights.col(0).iter().copied().collect();
        for bits in [2, 3, 4] {
            let banks = [(80, Width::new(bits, true).unwrap())];
            let by_rows = |rounding| dual.round(&weights, &banks, 0.1, rounding).excess;
            let (factor, _) = system.factor(0.1);
            let matrix = system.regularised(0.1);
            let (l, matrix) = (factor.L(), matrix.as_ref());
            let by_gram =
                crate::quantise::round(&weights, &banks, l, matrix, Rounding::Compensated);
            let (nearest, ours) = (by_rows(Rounding::Nearest), by_rows(Rounding::Compensated));
            assert!(ours < 0.8 * nearest, "{bits}: {ours} {nearest}");
            assert!(ours < 1.5 * by_gram.excess, "{bits}: {ours} {}", by_gram.excess);
        }
    }
}
