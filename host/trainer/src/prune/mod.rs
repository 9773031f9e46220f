//! Fewer features: which of many candidates a model keeps.
//!
//! Greedy [`forward()`] selection, greedy [`backward()`] elimination and [`refit`], all
//! through the Gram matrix: the features are computed once.

mod backward;
mod candidates;
mod forward;

use faer::Mat;

use crate::lambda::LAMBDAS;
use crate::moments::Moments;
use crate::ridge::{LinearFit, System, best_on};

pub use backward::backward;
pub use candidates::{MOST_CANDIDATES, Shortlist, pool, select_candidates};
pub(crate) use candidates::{most_features, only, with_empty_banks};
pub use forward::{Criterion, forward};

/// The ridge fit on the features in `kept` alone, λ the best one on held-out
/// rows, and its mean squared error there.
///
/// # Panics
/// If there is no feature of that number.
#[must_use]
pub fn refit(moments: &Moments, held_out: &Moments, kept: &[usize]) -> (LinearFit, f64) {
    best_on(&System::new(&moments.select(kept)), &held_out.select(kept), &LAMBDAS)
}

/// The fit with all K features that has the weights of `fit` for those in `kept`,
/// and none for the others.
#[must_use]
pub fn scattered(fit: &LinearFit, kept: &[usize], features: usize) -> LinearFit {
    let mut weights = Mat::zeros(features, fit.weights.ncols());
    for (row, &k) in kept.iter().enumerate() {
        weights.row_mut(k).copy_from(fit.weights.row(row));
    }
    LinearFit { weights, bias: fit.bias.clone(), lambda: fit.lambda }
}

#[cfg(test)]
mod tests {
    use koan::generator::Stream;

    use super::*;

    /// Normal equations of correlated random features and targets that depend on
    /// a few of them.
    pub(super) fn problem(features: usize, rows: usize, outputs: usize) -> System {
        System::new(&moments(features, rows, outputs))
    }

    /// The sums behind [`problem`].
    fn moments(features: usize, rows: usize, outputs: usize) -> Moments {
        let uniform =
            |stream: u32, i: usize| Stream::new(17, stream).draw(i as u64) as i64 as f64 / 2e19;
        let phi = Mat::from_fn(features, rows, |k, row| {
            let own = uniform(0, row * features + k);
            let shared = uniform(1, row * 8 + k % 8);
            (20_000.0 * (own + 0.7 * shared)).round()
        });
        let y = Mat::from_fn(rows, outputs, |row, t| {
            let signal: f64 =
                (0..6).map(|i| phi[((5 * i + 3 * t) % features, row)] / (1 + i) as f64).sum();
            signal / 10_000.0 + uniform(2, row * outputs + t)
        });
        let mut moments = Moments::new(features, outputs);
        moments.add(&crate::moments::rows_of(phi.as_ref()), y.as_ref(), None);
        moments
    }
}
