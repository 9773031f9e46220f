//! Greedy backward elimination through the inverse of the Gram matrix.
//!
//! The ridge objective around its minimum W = A⁻¹B, A = G + λI, is quadratic.
//! Setting the weights of feature j to zero, and letting the others follow, raises it
//! by Σ_t w_jt²/(A⁻¹)_jj (the saliency of optimal brain surgeon, for a linear head
//! exact). The inverse without the features in J is
//! (A⁻¹)_RR − (A⁻¹)_RJ·((A⁻¹)_JJ)⁻¹·(A⁻¹)_JR.
//!
//! Features go in batches: within a batch the greedy order is followed exactly
//! among the candidates that are cheapest at its start, then the whole inverse
//! is brought up to date by one product of matrices.

use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, MatRef, Side};

use crate::panels::add_product;
use crate::ridge::System;

/// Share of the features that are left that go in one batch.
const BATCH: f64 = 0.02;
/// Candidates of a batch, for each feature that goes.
const CANDIDATES: usize = 3;
/// The inverse is made afresh when it has shrunk to this share: rounding errors
/// of the updates add up.
const AFRESH: f64 = 0.6;

/// The order in which features were removed.
#[derive(Clone, Debug)]
pub struct Elimination {
    /// Features, the first removed first.
    pub removed: Vec<usize>,
    /// What each removal added to the ridge objective, given those before it.
    pub costs: Vec<f64>,
    features: usize,
}

impl Elimination {
    /// The `count` features that are left last, ascending: none fewer than the
    /// elimination went down to.
    #[must_use]
    pub fn kept(&self, count: usize) -> Vec<usize> {
        let gone = self.features.saturating_sub(count).min(self.removed.len());
        let mut stays = vec![true; self.features];
        self.removed[..gone].iter().for_each(|&k| stays[k] = false);
        (0..self.features).filter(|&k| stays[k]).collect()
    }
}

/// Removes features, always the one that costs least, until at most `least`, or one, are
/// left. λ is relative, as in [`System::solve`].
#[must_use]
pub fn backward(system: &System, lambda: f64, least: usize) -> Elimination {
    let (_, lambda) = system.factor(lambda);
    let matrix = system.regularised(lambda);
    let features = matrix.nrows();
    let mut state = State::new(matrix.as_ref(), system.cross(), (0..features).collect());
    let mut fresh = features;
    let (mut removed, mut costs) = (Vec::new(), Vec::new());
    while state.left.len() > least.max(1) {
        let count = state.left.len();
        let batch = ((count as f64 * BATCH) as usize).clamp(1, count - least.max(1));
        let gone = state.batch(batch);
        for &(k, cost) in &gone {
            removed.push(k);
            costs.push(cost);
        }
        let is_gone = |k: &usize| gone.iter().any(|(gone, _)| gone == k);
        let left = count - gone.len();
        if (left as f64) < AFRESH * fresh as f64 {
            state.left.retain(|k| !is_gone(k));
            state = State::new(matrix.as_ref(), system.cross(), state.left);
            fresh = left;
        } else {
            state = state.without(is_gone);
        }
    }
    Elimination { removed, costs, features }
}

/// The inverse and the weights of the features that are left.
struct State {
    /// Features that are left: the rows of the inverse.
    left: Vec<usize>,
    inverse: Mat<f64>,
    weights: Mat<f64>,
}

impl State {
    fn new(matrix: MatRef<'_, f64>, cross: MatRef<'_, f64>, left: Vec<usize>) -> Self {
        let part = Mat::from_fn(left.len(), left.len(), |i, j| matrix[(left[i], left[j])]);
        let cross = Mat::from_fn(left.len(), cross.ncols(), |k, t| cross[(left[k], t)]);
        let inverse = match part.llt(Side::Lower) {
            Ok(factor) => factor.inverse(),
            // A principal part of a positive definite matrix only fails by
            // rounding: pivots then take care.
            Err(_) => part.lblt(Side::Lower).inverse(),
        };
        let weights = &inverse * &cross;
        Self { left, inverse, weights }
    }

    /// The next `batch` features to go and their costs.
    fn batch(&self, batch: usize) -> Vec<(usize, f64)> {
        let mut costs: Vec<(f64, usize)> = (0..self.left.len())
            .map(|i| (cost(self.inverse.as_ref(), self.weights.as_ref(), i), i))
            .collect();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        costs.truncate(if batch > 1 { CANDIDATES * batch } else { 1 });
        // The inverse and the weights of the candidates alone: removing some of
        // them changes the others as the whole update would.
        let mut rows: Vec<usize> = costs.iter().map(|&(_, i)| i).collect();
        rows.sort_unstable();
        let mut inverse =
            Mat::from_fn(rows.len(), rows.len(), |i, j| self.inverse[(rows[i], rows[j])]);
        let mut weights =
            Mat::from_fn(rows.len(), self.weights.ncols(), |k, t| self.weights[(rows[k], t)]);
        let mut open = vec![true; rows.len()];
        let mut gone = Vec::new();
        while gone.len() < batch {
            let cheapest = (0..rows.len())
                .filter(|&c| open[c])
                .map(|c| (cost(inverse.as_ref(), weights.as_ref(), c), c))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((price, c)) = cheapest else { break };
            open[c] = false;
            gone.push((self.left[rows[c]], price));
            remove(&mut inverse, &mut weights, &[c]);
        }
        gone
    }

    /// The state without the features that are gone.
    fn without(mut self, is_gone: impl Fn(&usize) -> bool) -> Self {
        let (cut, stay): (Vec<usize>, Vec<usize>) =
            (0..self.left.len()).partition(|&i| is_gone(&self.left[i]));
        remove(&mut self.inverse, &mut self.weights, &cut);
        let inverse = Mat::from_fn(stay.len(), stay.len(), |i, j| self.inverse[(stay[i], stay[j])]);
        let weights =
            Mat::from_fn(stay.len(), self.weights.ncols(), |k, t| self.weights[(stay[k], t)]);
        let left = stay.iter().map(|&i| self.left[i]).collect();
        Self { left, inverse, weights }
    }
}

/// What removing row `i` adds to the objective.
fn cost(inverse: MatRef<'_, f64>, weights: MatRef<'_, f64>, i: usize) -> f64 {
    let square: f64 = (0..weights.ncols()).map(|t| weights[(i, t)].powi(2)).sum();
    square / inverse[(i, i)]
}

/// Updates inverse and weights for the removal of the rows in `cut`, which become
/// meaningless.
fn remove(inverse: &mut Mat<f64>, weights: &mut Mat<f64>, cut: &[usize]) {
    let own = Mat::from_fn(cut.len(), cut.len(), |i, j| inverse[(cut[i], cut[j])]);
    let rows = Mat::from_fn(cut.len(), inverse.ncols(), |i, j| inverse[(cut[i], j)]);
    let mine = Mat::from_fn(cut.len(), weights.ncols(), |i, t| weights[(cut[i], t)]);
    let (solved, changes) = match own.llt(Side::Lower) {
        Ok(factor) => (factor.solve(&rows), factor.solve(&mine)),
        Err(_) => {
            let factor = own.lblt(Side::Lower);
            (factor.solve(&rows), factor.solve(&mine))
        }
    };
    let across = rows.transpose();
    add_product(weights.as_mut(), across, changes.as_ref(), -1.0);
    add_product(inverse.as_mut(), across, solved.as_ref(), -1.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::tests::problem;

    /// The least ridge objective on the features in `kept`, without the constant.
    fn objective(matrix: &Mat<f64>, cross: MatRef<'_, f64>, kept: &[usize]) -> f64 {
        let part = Mat::from_fn(kept.len(), kept.len(), |i, j| matrix[(kept[i], kept[j])]);
        let cross = Mat::from_fn(kept.len(), cross.ncols(), |k, t| cross[(kept[k], t)]);
        let weights = part.llt(Side::Lower).expect("positive definite").solve(&cross);
        -(0..kept.len())
            .map(|k| (0..cross.ncols()).map(|t| weights[(k, t)] * cross[(k, t)]).sum::<f64>())
            .sum::<f64>()
    }

    #[test]
    fn each_removal_is_the_best_of_naive_refits() {
        let system = problem(24, 200, 3);
        let matrix = system.regularised(1e-3);
        let found = backward(&system, 1e-3, 4);
        let mut kept: Vec<usize> = (0..24).collect();
        for (&removed, &cost) in found.removed.iter().zip(&found.costs) {
            let before = objective(&matrix, system.cross(), &kept);
            let after = |gone: usize| {
                let rest: Vec<usize> = kept.iter().copied().filter(|&k| k != gone).collect();
                objective(&matrix, system.cross(), &rest)
            };
            let least = kept.iter().map(|&k| after(k)).fold(f64::INFINITY, f64::min);
            let scale = before.abs();
            assert!((after(removed) - least).abs() <= 1e-9 * scale);
            assert!((after(removed) - before - cost).abs() <= 1e-9 * scale);
            kept.retain(|&k| k != removed);
        }
        assert_eq!(kept.len(), 4);
        assert_eq!(found.kept(4), kept);
        assert_eq!(found.kept(24).len(), 24);
    }

    #[test]
    fn batches_lose_little_against_one_by_one() {
        let system = problem(200, 600, 2);
        let matrix = system.regularised(1e-3);
        let kept = backward(&system, 1e-3, 40).kept(40);
        let mut single: Vec<usize> = (0..200).collect();
        while single.len() > 40 {
            let part =
                Mat::from_fn(single.len(), single.len(), |i, j| matrix[(single[i], single[j])]);
            let cross = system.cross();
            let cross = Mat::from_fn(single.len(), 2, |k, t| cross[(single[k], t)]);
            let inverse = part.llt(Side::Lower).expect("positive definite").inverse();
            let weights = &inverse * cross;
            let price =
                |k: usize| (weights[(k, 0)].powi(2) + weights[(k, 1)].powi(2)) / inverse[(k, k)];
            let cheapest =
                (0..single.len()).min_by(|&a, &b| price(a).total_cmp(&price(b))).expect("some");
            single.remove(cheapest);
        }
        let total: f64 = (0..2).map(|t| system.target_spread(t)).sum();
        let batched = total + objective(&matrix, system.cross(), &kept);
        let exact = total + objective(&matrix, system.cross(), &single);
        assert!(batched <= 1.01 * exact, "{batched} {exact}");
    }
}
