//! Newton's method on a few numbers.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// Steps at most.
const STEPS: usize = 100;
/// The least part of a step.
const SHORTEST: f64 = 1e-6;

/// The first and second derivatives: n × 1, and the lower triangle of n × n.
pub(crate) struct Derivatives {
    pub gradient: Mat<f64>,
    pub curvature: Mat<f64>,
}

impl Derivatives {
    /// Sums over nothing yet.
    pub fn none(count: usize) -> Self {
        Self { gradient: Mat::zeros(count, 1), curvature: Mat::zeros(count, count) }
    }
}

/// Minimises a convex function from `at` on by Newton's method, each step halved until the
/// value does not rise, until a step takes no more than the share `enough` off it. Where the
/// function is infinite, numbers are not allowed. Whether it came to an end: a value or a
/// curvature that is no number does not.
pub(crate) fn minimise(
    at: &mut Vec<f64>,
    enough: f64,
    value: impl Fn(&[f64]) -> f64,
    derivatives: impl Fn(&[f64]) -> Derivatives,
) -> bool {
    let mut now = value(at);
    if !now.is_finite() {
        return false;
    }
    for _ in 0..STEPS {
        let Derivatives { gradient, curvature } = derivatives(at);
        let Ok(factor) = curvature.llt(Side::Lower) else { return false };
        let step = factor.solve(&gradient);
        let before = now;
        let mut length = 1.0;
        while length >= SHORTEST {
            let next: Vec<f64> =
                at.iter().enumerate().map(|(k, p)| p - length * step[(k, 0)]).collect();
            let reached = value(&next);
            if reached <= now {
                (*at, now) = (next, reached);
                break;
            }
            length *= 0.5;
        }
        if before - now <= enough * now.abs() {
            break;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_least_value_where_full_steps_go_astray() {
        // √(1 + x²) + x/2: from 3 a full step goes to −27, and from there further out.
        let value = |x: &[f64]| (1.0 + x[0] * x[0]).sqrt() + x[0] / 2.0;
        let derivatives = |x: &[f64]| {
            let root = (1.0 + x[0] * x[0]).sqrt();
            Derivatives {
                gradient: Mat::full(1, 1, x[0] / root + 0.5),
                curvature: Mat::full(1, 1, root.powi(-3)),
            }
        };
        let mut at = vec![3.0];
        assert!(minimise(&mut at, 1e-15, value, derivatives));
        assert!((at[0] + 1.0 / 3f64.sqrt()).abs() < 1e-6, "{at:?}");
        // Nothing below 0 is allowed.
        let bounded = |x: &[f64]| if x[0] < 0.0 { f64::INFINITY } else { value(x) };
        at = vec![3.0];
        assert!(minimise(&mut at, 1e-15, bounded, derivatives));
        assert!((0.0..0.01).contains(&at[0]), "{at:?}");
        assert!(!minimise(&mut at, 1e-15, |_| f64::NAN, derivatives));
    }
}
