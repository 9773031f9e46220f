//! Greedy backward elimination through the inverse of the Gram matrix.
//!
//! The ridge objective around its minimum W = A⁻¹B, A = G + λI, is quadratic.
//! Setting the weights of the features in J to zero, and letting the others
//! follow, raises it by tr(W_Jᵀ·((A⁻¹)_JJ)⁻¹·W_J): for one feature
//! Σ_t w_jt²/(A⁻¹)_jj (the saliency of optimal brain surgeon, for a linear head
//! exact). The inverse without J is (A⁻¹)_RR − (A⁻¹)_RJ·((A⁻¹)_JJ)⁻¹·(A⁻¹)_JR.
//!
//! Features go in batches: within a batch the greedy order is followed exactly
//! among the candidates that are cheapest at its start, then the whole inverse
//! is brought up to date by one product of matrices.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Accum, Mat, MatRef, Par, Side};

use crate::ridge::System;

/// Share of the features that are left that go in one batch.
const BATCH: f64 = 0.02;
/// Candidates of a batch, for each feature that goes.
const CANDIDATES: usize = 3;
/// The inverse is made afresh when it has shrunk to this share: rounding errors
/// of the updates add up.
const AFRESH: f64 = 0.6;

/// The order in which groups of features were removed.
#[derive(Clone, Debug)]
pub struct Elimination {
    /// Groups, the first removed first.
    pub removed: Vec<usize>,
    /// What each removal added to the ridge objective, given those before it.
    pub costs: Vec<f64>,
    groups: Vec<Vec<usize>>,
}

impl Elimination {
    /// The features that are left with at most `count` of them, ascending: none
    /// fewer than the elimination went down to.
    #[must_use]
    pub fn kept(&self, count: usize) -> Vec<usize> {
        let mut left: usize = self.groups.iter().map(Vec::len).sum();
        let mut gone = vec![false; self.groups.len()];
        for &group in &self.removed {
            if left <= count {
                break;
            }
            left -= self.groups[group].len();
            gone[group] = true;
        }
        let kept = self.groups.iter().zip(&gone).filter(|(_, gone)| !**gone);
        let mut kept: Vec<usize> = kept.flat_map(|(group, _)| group.iter().copied()).collect();
        kept.sort_unstable();
        kept
    }
}

/// Removes groups of features, always the one that costs least, until at most
/// `least` features are left. `groups` are disjoint and cover all features;
/// none: each feature is a group of its own. λ is relative, as in
/// [`System::solve`].
///
/// # Panics
/// If a group names a feature that is not there.
#[must_use]
pub fn backward(
    system: &System,
    lambda: f64,
    groups: Option<&[Vec<usize>]>,
    least: usize,
) -> Elimination {
    let (_, lambda) = system.factor(lambda);
    let matrix = system.regularised(lambda);
    eliminate(matrix.as_ref(), system.cross(), groups, least)
}

/// As [`backward`], for any quadratic: `matrix` A, positive definite, and
/// `cross` B, K × T.
pub(crate) fn eliminate(
    matrix: MatRef<'_, f64>,
    cross: MatRef<'_, f64>,
    groups: Option<&[Vec<usize>]>,
    least: usize,
) -> Elimination {
    let groups = match groups {
        Some(groups) => groups.to_vec(),
        None => (0..matrix.nrows()).map(|k| vec![k]).collect(),
    };
    let mut state = State::new(matrix, cross, &groups, (0..groups.len()).collect());
    let mut fresh = state.order.len();
    let (mut removed, mut costs) = (Vec::new(), Vec::new());
    while state.order.len() > least && state.left.len() > 1 {
        let batch = ((state.left.len() as f64 * BATCH) as usize).max(1);
        let gone = state.batch(batch, least);
        for &(group, cost) in &gone {
            removed.push(group);
            costs.push(cost);
        }
        let gone: Vec<usize> = gone.into_iter().map(|(group, _)| group).collect();
        let left: Vec<usize> =
            state.left.iter().copied().filter(|group| !gone.contains(group)).collect();
        let features: usize = left.iter().map(|&group| groups[group].len()).sum();
        if (features as f64) < AFRESH * fresh as f64 {
            state = State::new(matrix, cross, &groups, left);
            fresh = features;
        } else {
            state = state.without(&gone, left);
        }
    }
    Elimination { removed, costs, groups }
}

/// The inverse and the weights of the features that are left.
struct State<'g> {
    groups: &'g [Vec<usize>],
    /// Groups that are left.
    left: Vec<usize>,
    /// Features that are left, group by group: the rows of the inverse.
    order: Vec<usize>,
    /// Where each of the groups in `left` begins in `order`.
    starts: Vec<usize>,
    inverse: Mat<f64>,
    weights: Mat<f64>,
}

impl<'g> State<'g> {
    fn layout(groups: &[Vec<usize>], left: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut order, mut starts) = (Vec::new(), Vec::new());
        for &group in left {
            starts.push(order.len());
            order.extend_from_slice(&groups[group]);
        }
        (order, starts)
    }

    fn new(
        matrix: MatRef<'_, f64>,
        cross: MatRef<'_, f64>,
        groups: &'g [Vec<usize>],
        left: Vec<usize>,
    ) -> Self {
        let (order, starts) = Self::layout(groups, &left);
        let part = Mat::from_fn(order.len(), order.len(), |i, j| matrix[(order[i], order[j])]);
        let cross = Mat::from_fn(order.len(), cross.ncols(), |k, t| cross[(order[k], t)]);
        let inverse = match part.llt(Side::Lower) {
            Ok(factor) => factor.inverse(),
            // A principal part of a positive definite matrix only fails by
            // rounding: pivots then take care.
            Err(_) => part.lblt(Side::Lower).inverse(),
        };
        let weights = &inverse * &cross;
        Self { groups, left, order, starts, inverse, weights }
    }

    /// The rows of group number `i` of those that are left.
    fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i] + self.groups[self.left[i]].len()
    }

    /// The next groups to go and their costs, at most `batch`.
    fn batch(&self, batch: usize, least: usize) -> Vec<(usize, f64)> {
        let mut costs: Vec<(f64, usize)> = (0..self.left.len())
            .map(|i| {
                let rows = self.rows(i);
                let inverse =
                    self.inverse.as_ref().submatrix(rows.start, rows.start, rows.len(), rows.len());
                (cost(inverse, self.weights.as_ref().subrows(rows.start, rows.len())), i)
            })
            .collect();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        costs.truncate(if batch > 1 { CANDIDATES * batch } else { 1 });
        // The inverse and the weights of the candidates alone: removing some of
        // them changes the others as the whole update would.
        let mut candidates: Vec<usize> = costs.iter().map(|&(_, i)| i).collect();
        candidates.sort_unstable();
        let rows: Vec<usize> = candidates.iter().flat_map(|&i| self.rows(i)).collect();
        let mut inverse =
            Mat::from_fn(rows.len(), rows.len(), |i, j| self.inverse[(rows[i], rows[j])]);
        let mut weights =
            Mat::from_fn(rows.len(), self.weights.ncols(), |k, t| self.weights[(rows[k], t)]);
        let mut starts = Vec::new();
        let mut start = 0;
        for &i in &candidates {
            starts.push(start);
            start += self.rows(i).len();
        }
        let mut features = self.order.len();
        let mut open = vec![true; candidates.len()];
        let mut gone = Vec::new();
        while gone.len() < batch && features > least {
            let price = |c: usize| {
                let (start, size) = (starts[c], self.rows(candidates[c]).len());
                cost(
                    inverse.as_ref().submatrix(start, start, size, size),
                    weights.as_ref().subrows(start, size),
                )
            };
            let cheapest = (0..candidates.len())
                .filter(|&c| open[c])
                .map(|c| (price(c), c))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((price, c)) = cheapest else { break };
            open[c] = false;
            gone.push((self.left[candidates[c]], price));
            let (start, size) = (starts[c], self.rows(candidates[c]).len());
            features -= size;
            let cut: Vec<usize> = (start..start + size).collect();
            remove(&mut inverse, &mut weights, &cut);
        }
        gone
    }

    /// The state without the groups in `gone`: `left` are the others.
    fn without(mut self, gone: &[usize], left: Vec<usize>) -> Self {
        let (mut cut, mut stay) = (Vec::new(), Vec::new());
        for (i, group) in self.left.iter().enumerate() {
            let place = if gone.contains(group) { &mut cut } else { &mut stay };
            place.extend(self.rows(i));
        }
        remove(&mut self.inverse, &mut self.weights, &cut);
        let inverse = Mat::from_fn(stay.len(), stay.len(), |i, j| self.inverse[(stay[i], stay[j])]);
        let weights =
            Mat::from_fn(stay.len(), self.weights.ncols(), |k, t| self.weights[(stay[k], t)]);
        let (order, starts) = Self::layout(self.groups, &left);
        Self { groups: self.groups, left, order, starts, inverse, weights }
    }
}

/// What removing a group adds to the objective: tr(Wᵀ·inverse⁻¹·W) over its rows.
fn cost(inverse: MatRef<'_, f64>, weights: MatRef<'_, f64>) -> f64 {
    if inverse.nrows() == 1 {
        let square: f64 = (0..weights.ncols()).map(|t| weights[(0, t)].powi(2)).sum();
        return square / inverse[(0, 0)];
    }
    let Ok(factor) = inverse.llt(Side::Lower) else { return f64::INFINITY };
    let solved = factor.solve(weights);
    weights.row_iter().zip(solved.row_iter()).map(|(w, s)| w * s.transpose()).sum()
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
    let par = if cut.len() > 8 { Par::rayon(0) } else { Par::Seq };
    matmul(weights.as_mut(), Accum::Add, across, changes.as_ref(), -1.0, par);
    matmul(inverse.as_mut(), Accum::Add, across, solved.as_ref(), -1.0, par);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::mixture::tests::problem;

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
        let found = backward(&system, 1e-3, None, 4);
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
    fn each_group_removal_is_the_best_of_naive_refits() {
        let system = problem(30, 250, 2);
        let matrix = system.regularised(1e-3);
        let groups: Vec<Vec<usize>> = (0..10).map(|g| vec![g, g + 10, g + 20]).collect();
        let found = backward(&system, 1e-3, Some(&groups), 6);
        let mut left: Vec<usize> = (0..10).collect();
        for (&removed, &cost) in found.removed.iter().zip(&found.costs) {
            let features = |gone: Option<usize>| -> Vec<usize> {
                let left = left.iter().filter(|&&g| Some(g) != gone);
                left.flat_map(|&g| groups[g].iter().copied()).collect()
            };
            let before = objective(&matrix, system.cross(), &features(None));
            let after = |gone| objective(&matrix, system.cross(), &features(Some(gone)));
            let least = left.iter().map(|&g| after(g)).fold(f64::INFINITY, f64::min);
            assert!((after(removed) - least).abs() <= 1e-9 * before.abs());
            assert!((after(removed) - before - cost).abs() <= 1e-9 * before.abs());
            left.retain(|&g| g != removed);
        }
        assert_eq!(left.len(), 2);
        assert_eq!(found.kept(6).len(), 6);
    }

    #[test]
    fn batches_lose_little_against_one_by_one() {
        let system = problem(200, 600, 2);
        let matrix = system.regularised(1e-3);
        let kept = backward(&system, 1e-3, None, 40).kept(40);
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
