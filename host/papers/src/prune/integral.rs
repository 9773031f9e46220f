//! Algorithm 2.5: probabilistic pruning from an integral representation
//! f(x) = ∫ w(a)·φ(x, a) da, with features drawn with a density in proportion
//! to |w(a)|.
//!
//! A pilot fit gives one. Ridge regression on K₀ features has the weights
//! w_k = (1/λ)·Σ_i φ_k(x_i)·r_i with the residuals r of the fit (its normal
//! equations), so its function is K₀ times the mean over its features of
//! (1/λ)·Σ_i φ(x_i, a)·r_i·φ(x, a). The weight w(a) = (K₀/λ)·Σ_i φ(x_i, a)·r_i
//! is defined for every feature a that the generator can draw, also for those
//! that the pilot never saw.

use faer::{Mat, MatRef};
use koan::generator::Stream;

use super::bounds;
use super::mixture::{Mixture, Pruned};
use super::random::uniform;
use koan_trainer::internal::ridge::System;

/// Sums that are drawn at most.
const MOST_ATTEMPTS: u32 = 1000;

/// w(a)/M of M = K − K₀ features that the pilot did not see, K × T: their sum over
/// the features is the Monte-Carlo estimate of the integral. `system` is of all K
/// features, `pilot` the weights (K₀ × T) of a ridge fit with `lambda` on the
/// first K₀ of them, whose entries are 0.
///
/// # Panics
/// If the pilot has all the features, or more.
#[must_use]
pub fn density(system: &System, pilot: MatRef<'_, f64>, penalty: f64) -> Mat<f64> {
    let (first, all) = (pilot.nrows(), system.gram().nrows());
    assert!(first < all, "features that the pilot did not see");
    let fitted = system.gram().subcols(0, first) * pilot;
    let factor = first as f64 / penalty / (all - first) as f64;
    Mat::from_fn(all, pilot.ncols(), |a, t| {
        if a < first { 0.0 } else { factor * (system.cross()[(a, t)] - fitted[(a, t)]) }
    })
}

/// Draws `n` features from a mixture of weights in proportion to a density, by
/// acceptance and rejection: features are visited in the order of their index,
/// again and again, each is taken with probability |w(a)|/max|w|. Repeats that
/// until the error is within Q^(1/2)·ρ/√n (Theorem 2.4; for an f that is not the
/// integral itself, within the bound of Theorem 2.1).
///
/// # Panics
/// If `n` is 0 or the mixture has no terms.
#[must_use]
pub fn integral(mixture: &Mixture, n: usize, q: f64, seed: u64) -> Pruned {
    let top = mixture.shares().iter().copied().fold(0.0, f64::max);
    let bound = bounds::random(q, mixture.rho(), mixture.epsilon(), n);
    let mut attempts = 0;
    loop {
        let stream = Stream::new(seed, attempts);
        attempts += 1;
        let mut terms = Vec::with_capacity(n);
        let mut visit = 0;
        while terms.len() < n {
            let a = visit as usize % mixture.len();
            // A density of zeros only has nothing to prefer.
            if uniform(stream.draw(visit)) * top <= mixture.shares()[a] {
                terms.push(a);
            }
            visit += 1;
        }
        let error = mixture.error(&terms);
        let kept = error <= bound;
        if kept || attempts == MOST_ATTEMPTS {
            let weights = mixture.weights(&terms);
            return Pruned { terms, weights, error, bound, attempts, kept };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::mixture::tests::{mixture, moments};

    #[test]
    fn the_density_at_the_pilots_own_features_is_its_weights() {
        // All features twice: the second half are features like the pilot's.
        let half = moments(20, 200, 2);
        let twice: Vec<usize> = (0..20).chain(0..20).collect();
        let system = System::new(&half.select(&twice));
        let own = System::new(&half);
        let fit = own.solve(1e-2);
        let found = density(&system, fit.weights.as_ref(), fit.lambda * own.unit());
        for k in 0..20 {
            for t in 0..2 {
                let (a, b) = (found[(20 + k, t)], fit.weights[(k, t)]);
                assert!((a - b).abs() <= 1e-6 * fit.weights.norm_max(), "{a} {b}");
                assert_eq!(found[(k, t)], 0.0);
            }
        }
    }

    #[test]
    fn acceptance_draws_by_the_shares() {
        let mixture = mixture(10, 1);
        let mut counts = [0.0; 10];
        for seed in 0..200 {
            for term in integral(&mixture, 200, 1e9, seed).terms {
                counts[term] += 1.0 / 40_000.0;
            }
        }
        for (count, share) in counts.iter().zip(mixture.shares()) {
            assert!((count - share).abs() < 0.02, "{count} {share}");
        }
    }

    #[test]
    fn a_thousand_runs_keep_the_bound() {
        let mixture = mixture(50, 3);
        let draws: u32 = (0..1000)
            .map(|seed| {
                let found = integral(&mixture, 20, 1.5, seed);
                assert!(found.kept && found.error <= found.bound);
                found.attempts
            })
            .sum();
        assert!(f64::from(draws - 1000) / f64::from(draws) <= 1.0 / 1.5);
    }
}
