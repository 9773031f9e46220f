//! Algorithms 1.2 and 1.3: one term after the other,
//! f_{k+1} = k/(k + 1)·f_k + 1/(k + 1)·g_k.
//!
//! In a Hilbert space the peak functional F_k is the inner product with
//! (f_k − f)/‖f_k − f‖. All inner products are known, and those with f_k are
//! brought up to date with each step (*An improvement for Hilbert spaces*), so
//! that a step costs N operations.

use faer::{Mat, MatRef};

use super::bounds;
use super::mixture::{Mixture, Pruned};

/// Algorithm 1.3: of all h_i of the mixture the one with the least F_k(h_i − f)
/// in each of `n` steps. The bound is (1.2), with the least η that the mixture's ε
/// allows (0 if it is f itself); infinite if none is large enough.
///
/// # Panics
/// If `n` is 0 or the mixture has no terms.
#[must_use]
pub fn iterative(mixture: &Mixture, n: usize) -> Pruned {
    assert!(n > 0 && !mixture.is_empty(), "terms");
    let rho = mixture.rho();
    let eta = match n {
        1 => Some(0.0),
        _ => bounds::least_eta(rho, mixture.epsilon(), n - 1),
    };
    let usable: Vec<usize> = (0..mixture.len()).filter(|&i| mixture.shares()[i] > 0.0).collect();
    // ⟨h_i, f_k⟩ and ⟨f_k, f⟩, ‖f_k‖².
    let mut products = vec![0.0; mixture.len()];
    let (mut across, mut own) = (0.0, 0.0);
    let mut terms = Vec::with_capacity(n);
    let mut kept = eta.is_some();
    for k in 0..n {
        let error = (mixture.square() - 2.0 * across + own).max(0.0).sqrt();
        // ⟨f_k − f, h_i⟩ up to a constant.
        let slope = |i: usize| products[i] - mixture.towards(i);
        let best = usable.iter().copied().min_by(|&a, &b| slope(a).total_cmp(&slope(b)));
        let Some(best) = best else { break };
        if let Some(eta) = eta
            && k > 0
            && error > 1e-6 * mixture.norm()
        {
            let peak = (slope(best) - across + mixture.square()) / error;
            let slack = 1e-9 * mixture.norm();
            kept &= peak <= bounds::delta(rho, eta, k, error) + slack;
        }
        terms.push(best);
        let (old, new) = (k as f64 / (k + 1) as f64, 1.0 / (k + 1) as f64);
        own = old * old * own
            + 2.0 * old * new * products[best]
            + new * new * mixture.product(best, best);
        across = old * across + new * mixture.towards(best);
        for &i in &usable {
            products[i] = old * products[i] + new * mixture.product(i, best);
        }
    }
    let error = mixture.error(&terms);
    let bound = eta.map_or(f64::INFINITY, |eta| bounds::iterative(rho, eta, n));
    Pruned { weights: mixture.weights(&terms), terms, error, bound, attempts: 1, kept }
}

/// What Algorithm 1.2 chooses from.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'c> {
    /// ⟨φ_i, φ_j⟩ of all candidates, N × N.
    pub gram: MatRef<'c, f64>,
    /// ⟨φ_i, f⟩, N × T.
    pub cross: MatRef<'c, f64>,
    /// ⟨f, f⟩.
    pub square: f64,
    /// S: 𝒢 is the set of all S·φ·u, |u| = 1, and f is to be in the closure of
    /// its convex hull, which it is if it is Σ w_i·φ_i with Σ |w_i| ≤ S.
    pub scale: f64,
    /// How many candidates a step looks at, unless none of them is good enough.
    pub each: usize,
}

/// Algorithm 1.2: each g_k is the best of fresh seeded candidates, in its best
/// direction u. A step looks at the next `each` candidates, and at more where
/// none of those satisfies condition 2 of Theorem 1.1 with the given η > 0.
///
/// # Panics
/// If `n` or `each` is 0, or there are no candidates.
#[must_use]
pub fn from_scratch(candidates: &Candidates<'_>, n: usize, eta: f64) -> Pruned {
    let (count, outputs) = (candidates.cross.nrows(), candidates.cross.ncols());
    assert!(n > 0 && count > 0 && candidates.each > 0, "candidates");
    let Candidates { gram, cross, square, scale, each } = *candidates;
    let f_norm = square.sqrt();
    // ρ: ‖S·φ·u − f‖ ≤ S·‖φ‖ + ‖f‖ over all of 𝒢.
    let largest = (0..count).map(|i| gram[(i, i)]).fold(0.0, f64::max).sqrt();
    let rho = scale * largest + f_norm;
    // ⟨φ_i, f_k⟩.
    let mut products = Mat::<f64>::zeros(count, outputs);
    let mut weights = Mat::<f64>::zeros(count, outputs);
    let (mut across, mut own) = (0.0, 0.0);
    let mut terms = Vec::with_capacity(n);
    let mut next = 0;
    let mut kept = true;
    for k in 0..n {
        let error = (square - 2.0 * across + own).max(0.0).sqrt();
        // The best direction is against ⟨φ_i, f_k − f⟩, whose length is the slope.
        let slope = |i: usize| {
            (0..outputs).map(|t| (products[(i, t)] - cross[(i, t)]).powi(2)).sum::<f64>().sqrt()
        };
        let enough = |i: usize| {
            let peak = (-scale * slope(i) - across + square) / error;
            k == 0 || error <= 1e-6 * f_norm || peak <= bounds::delta(rho, eta, k, error)
        };
        let mut best = next % count;
        let mut looked = 0;
        while looked < count && (looked < each || !enough(best)) {
            let i = next % count;
            if slope(i) > slope(best) {
                best = i;
            }
            next += 1;
            looked += 1;
        }
        kept &= enough(best);
        let length = slope(best).max(f64::MIN_POSITIVE);
        let direction: Vec<f64> = (0..outputs)
            .map(|t| scale * (cross[(best, t)] - products[(best, t)]) / length)
            .collect();
        let dot = |matrix: MatRef<'_, f64>| -> f64 {
            direction.iter().enumerate().map(|(t, d)| d * matrix[(best, t)]).sum()
        };
        let (old, new) = (k as f64 / (k + 1) as f64, 1.0 / (k + 1) as f64);
        let mine: f64 = direction.iter().map(|d| d * d).sum::<f64>() * gram[(best, best)];
        own = old * old * own + 2.0 * old * new * dot(products.as_ref()) + new * new * mine;
        across = old * across + new * dot(cross);
        for (t, d) in direction.iter().enumerate() {
            for i in 0..count {
                products[(i, t)] = old * products[(i, t)] + new * d * gram[(i, best)];
                weights[(i, t)] *= old;
            }
            weights[(best, t)] += new * d;
        }
        terms.push(best);
    }
    let error = (square - 2.0 * across + own).max(0.0).sqrt();
    let bound = bounds::iterative(rho, eta, n);
    Pruned { terms, weights, error, bound, attempts: 1, kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::mixture::tests::{mixture, problem};
    use crate::prune::random;

    #[test]
    fn the_bound_holds_at_every_length() {
        let mixture = mixture(60, 3);
        for n in 1..200 {
            let found = iterative(&mixture, n);
            assert!(found.kept && found.error <= found.bound, "{n}");
        }
    }

    #[test]
    fn a_thousand_mixtures_keep_the_bound() {
        let large = mixture(40, 2);
        for seed in 0..1000u64 {
            // A function of its own: the average of some random terms.
            let weights = random(&large, 12, 1e9, seed).weights;
            let system = problem(40, 300, 2);
            let mixture = if seed % 10 == 0 {
                Mixture::new(system.gram(), weights.as_ref())
            } else {
                Mixture::new(Mat::<f64>::identity(40, 40).as_ref(), weights.as_ref())
            };
            let n = 1 + (seed % 50) as usize;
            let found = iterative(&mixture, n);
            assert!(found.kept && found.error <= found.bound, "seed {seed}");
        }
    }

    #[test]
    fn products_that_are_kept_up_to_date_are_the_products() {
        // The same choices as with products computed afresh in every step.
        let mixture = mixture(25, 2);
        let found = iterative(&mixture, 12);
        for k in 1..12 {
            let before = &found.terms[..k];
            let slope = |i: usize| {
                before.iter().map(|&j| mixture.product(i, j)).sum::<f64>() / k as f64
                    - mixture.towards(i)
            };
            let least = (0..25).map(slope).fold(f64::INFINITY, f64::min);
            let mine = slope(found.terms[k]);
            assert!((mine - least).abs() <= 1e-9 * least.abs());
        }
    }

    #[test]
    fn candidates_reach_the_bound_from_scratch() {
        let system = problem(120, 400, 2);
        let gram = system.gram() * faer::Scale(1.0 / 400.0);
        let weights = system.solve(1e-2).weights;
        let mixture = Mixture::new(gram.as_ref(), weights.as_ref());
        let cross = &gram * &weights;
        let candidates = Candidates {
            gram: gram.as_ref(),
            cross: cross.as_ref(),
            square: mixture.square(),
            scale: mixture.scale(),
            each: 10,
        };
        for n in [1, 5, 30, 100] {
            let found = from_scratch(&candidates, n, 0.1 * mixture.norm());
            assert!(found.kept && found.error <= found.bound);
            // The error is that of the weights.
            let difference = &found.weights - &weights;
            let square: f64 = (0..2)
                .map(|t| {
                    let d = difference.subcols(t, 1);
                    (d.transpose() * &gram * d)[(0, 0)]
                })
                .sum();
            assert!((found.error - square.sqrt()).abs() < 1e-6 * mixture.norm());
        }
    }
}
