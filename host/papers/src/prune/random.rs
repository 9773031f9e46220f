//! Algorithm 2.2: probabilistic pruning from an auxiliary approximation.

use koan::generator::Stream;

use super::bounds;
use super::mixture::{Mixture, Pruned};

/// Sums that are drawn at most. Each fails with a probability of at most 1/Q.
const MOST_ATTEMPTS: u32 = 1000;

/// Draws `n` terms with probabilities c_i, each independently, until the error is
/// within the bound of Theorem 2.1 for `q` > 1: expected q/(q − 1) times
/// (Corollary 2.3). Should 1,000 draws fail, the last one comes back.
///
/// # Panics
/// If `n` is 0 or the mixture has no terms.
#[must_use]
pub fn random(mixture: &Mixture, n: usize, q: f64, seed: u64) -> Pruned {
    let mut above = 0.0;
    let sums: Vec<f64> = mixture
        .shares()
        .iter()
        .map(|share| {
            above += share;
            above
        })
        .collect();
    let bound = bounds::random(q, mixture.rho(), mixture.epsilon(), n);
    let mut attempts = 0;
    loop {
        let stream = Stream::new(seed, attempts);
        attempts += 1;
        let terms: Vec<usize> =
            (0..n).map(|j| drawn(&sums, uniform(stream.draw(j as u64)))).collect();
        let error = mixture.error(&terms);
        let kept = error <= bound;
        if kept || attempts == MOST_ATTEMPTS {
            let weights = mixture.weights(&terms);
            return Pruned { terms, weights, error, bound, attempts, kept };
        }
    }
}

/// 64 random bits as a number in [0, 1).
pub(super) fn uniform(draw: u64) -> f64 {
    (draw >> 11) as f64 / 2f64.powi(53)
}

/// The i whose interval of the running sums has u·(sum of all) in it.
fn drawn(sums: &[f64], u: f64) -> usize {
    let wanted = u * sums[sums.len() - 1];
    sums.partition_point(|&sum| sum <= wanted).min(sums.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::mixture::tests::{mixture, problem};

    #[test]
    fn terms_come_as_often_as_their_shares() {
        let sums = [0.1, 0.1, 0.7, 1.0];
        let mut counts = [0; 4];
        for i in 0..100_000 {
            counts[drawn(&sums, uniform(Stream::new(1, 0).draw(i)))] += 1;
        }
        for (count, share) in counts.iter().zip([0.1, 0.0, 0.6, 0.3]) {
            assert!((f64::from(*count) / 1e5 - share).abs() < 0.01);
        }
    }

    #[test]
    fn a_thousand_runs_keep_the_bound_and_fail_at_most_one_in_q() {
        for (n, q) in [(1, 1.2), (8, 1.5), (40, 2.0), (40, 4.0)] {
            let mixture = mixture(60, 3);
            let mut draws = 0;
            for seed in 0..1000 {
                let found = random(&mixture, n, q, seed);
                assert!(found.kept && found.error <= found.bound);
                assert_eq!(found.terms.len(), n);
                draws += found.attempts;
            }
            let failures = f64::from(draws - 1000) / f64::from(draws);
            assert!(failures <= 1.0 / q, "n {n}, Q {q}: {failures}");
        }
    }

    #[test]
    fn the_mean_square_over_draws_is_the_one_that_is_expected() {
        let mixture = mixture(30, 2);
        // So large a Q accepts every draw.
        let square = |seed| random(&mixture, 10, 1e9, seed).error.powi(2);
        let mean = (0..4000).map(square).sum::<f64>() / 4000.0;
        let expected = mixture.expected_error(10).powi(2);
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean} {expected}");
        assert!(expected.sqrt() <= bounds::random(1.0, mixture.rho(), 0.0, 10));
    }

    #[test]
    fn the_bound_holds_for_approximations_of_another_function() {
        let rows = 300.0;
        let system = problem(40, 300, 1);
        let per_row = faer::Scale(1.0 / rows);
        let (gram, cross) = (system.gram() * per_row, system.cross() * per_row);
        let square = system.target_spread(0) / rows;
        let weights = system.solve(1e-2).weights;
        let mixture =
            Mixture::approximating(gram.as_ref(), weights.as_ref(), cross.as_ref(), square);
        assert!(mixture.epsilon() > 0.0);
        let draws: u32 = (0..1000).map(|seed| random(&mixture, 20, 1.5, seed).attempts).sum();
        assert!(f64::from(draws - 1000) / f64::from(draws) <= 1.0 / 1.5);
    }
}
