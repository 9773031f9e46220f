//! Greedy forward selection through the Gram matrix: orthogonal matching
//! pursuit, for several outputs at once.
//!
//! After every choice all weights are fitted again, so the residual is
//! orthogonal to what was chosen. A Cholesky factorisation of the chosen rows
//! and columns grows by one column for each choice; with it grow, for every
//! feature, what is left of its own square (d_j) and of its product with the
//! targets (r_j). Choosing j lowers the ridge objective by |r_j|²/d_j.

use faer::{Mat, MatRef};

use crate::ridge::System;

/// Which feature is chosen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The one that correlates most with the residual (orthogonal matching
    /// pursuit as it is usually meant).
    Correlation,
    /// The one that lowers the objective most after the refit (orthogonal least
    /// squares), at the same cost.
    Decrease,
}

/// Chooses `count` features, the first one first, or fewer when no more are
/// linearly independent of those chosen. λ is relative, as in [`System::solve`].
#[must_use]
pub fn forward(system: &System, lambda: f64, count: usize, criterion: Criterion) -> Vec<usize> {
    let matrix = system.regularised(lambda);
    pursue(matrix.as_ref(), system.cross(), count, criterion)
}

/// As [`forward`], for any quadratic: `matrix` A, K × K, and `cross` B, K × T.
fn pursue(
    matrix: MatRef<'_, f64>,
    cross: MatRef<'_, f64>,
    count: usize,
    criterion: Criterion,
) -> Vec<usize> {
    let (features, outputs) = (matrix.nrows(), cross.ncols());
    let count = count.min(features);
    let mut left: Vec<f64> = (0..features).map(|k| matrix[(k, k)]).collect();
    let mut residual = cross.to_owned();
    let mut factor = Mat::<f64>::zeros(features, count);
    let mut chosen = Vec::with_capacity(count);
    let mut open = vec![true; features];
    for step in 0..count {
        let gain = |k: usize| {
            let square: f64 = (0..outputs).map(|t| residual[(k, t)].powi(2)).sum();
            match criterion {
                Criterion::Correlation => square / matrix[(k, k)],
                Criterion::Decrease => square / left[k],
            }
        };
        let best = (0..features)
            .filter(|&k| open[k] && left[k] > 1e-12 * matrix[(k, k)])
            .map(|k| (gain(k), k))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, pivot)) = best else { break };
        open[pivot] = false;
        chosen.push(pivot);
        let root = left[pivot].sqrt();
        let mut column: Vec<f64> = matrix.col(pivot).iter().copied().collect();
        for before in 0..step {
            let scale = factor[(pivot, before)];
            for (entry, value) in column.iter_mut().zip(factor.col(before).iter()) {
                *entry -= scale * value;
            }
        }
        let mine: Vec<f64> = (0..outputs).map(|t| residual[(pivot, t)] / root).collect();
        for (k, entry) in column.iter_mut().enumerate() {
            *entry /= root;
            left[k] -= *entry * *entry;
        }
        for (t, mine) in mine.iter().enumerate() {
            for (place, entry) in residual.col_mut(t).iter_mut().zip(&column) {
                *place -= entry * mine;
            }
        }
        for (place, entry) in factor.col_mut(step).iter_mut().zip(&column) {
            *place = *entry;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::tests::problem;
    use faer::Side;
    use faer::linalg::solvers::Solve;

    /// Weights of the features in `kept`, by a solution of their own.
    fn weights(matrix: &Mat<f64>, cross: MatRef<'_, f64>, kept: &[usize]) -> Mat<f64> {
        let part = Mat::from_fn(kept.len(), kept.len(), |i, j| matrix[(kept[i], kept[j])]);
        let cross = Mat::from_fn(kept.len(), cross.ncols(), |k, t| cross[(kept[k], t)]);
        part.llt(Side::Lower).expect("positive definite").solve(&cross)
    }

    /// |what is left of each feature's product with the targets|².
    fn residual(matrix: &Mat<f64>, cross: MatRef<'_, f64>, kept: &[usize], k: usize) -> f64 {
        let weights = weights(matrix, cross, kept);
        let left = |t: usize| {
            let fitted: f64 =
                kept.iter().enumerate().map(|(i, &j)| matrix[(k, j)] * weights[(i, t)]).sum();
            cross[(k, t)] - fitted
        };
        (0..cross.ncols()).map(|t| left(t).powi(2)).sum()
    }

    #[test]
    fn each_choice_is_the_best_of_naive_refits() {
        let system = problem(20, 150, 3);
        let matrix = system.regularised(1e-3);
        let cross = system.cross();
        let explained = |kept: &[usize]| -> f64 {
            let weights = weights(&matrix, cross, kept);
            kept.iter()
                .enumerate()
                .map(|(i, &k)| (0..3).map(|t| weights[(i, t)] * cross[(k, t)]).sum::<f64>())
                .sum()
        };
        for criterion in [Criterion::Correlation, Criterion::Decrease] {
            let chosen = forward(&system, 1e-3, 10, criterion);
            assert_eq!(chosen.len(), 10);
            for step in 0..10 {
                let before = &chosen[..step];
                let value = |k: usize| match criterion {
                    Criterion::Correlation => residual(&matrix, cross, before, k) / matrix[(k, k)],
                    Criterion::Decrease => explained(&[before, &[k]].concat()),
                };
                let best = (0..20)
                    .filter(|k| !before.contains(k))
                    .map(value)
                    .fold(f64::NEG_INFINITY, f64::max);
                let mine = value(chosen[step]);
                assert!((mine - best).abs() <= 1e-9 * best.abs(), "step {step}: {mine} {best}");
            }
        }
    }

    #[test]
    fn dependent_features_are_not_chosen() {
        let matrix = Mat::<f64>::full(4, 4, 2.0);
        let cross = Mat::<f64>::full(4, 1, 1.0);
        let chosen = pursue(matrix.as_ref(), cross.as_ref(), 4, Criterion::Decrease);
        assert_eq!(chosen, [0]);
    }
}
