//! Newton's method on a few numbers.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// Steps at most.
const STEPS: usize = 100;
/// The least part of a step.
const SHORTEST: f64 = 1e-6;

/// A function at some numbers: its value, gradient (n × 1), and the lower triangle of the second
/// derivatives (n × n).
pub(crate) struct Local {
    pub value: f64,
    pub gradient: Mat<f64>,
    pub curvature: Mat<f64>,
}

impl Local {
    /// Sums over nothing yet.
    pub fn none(count: usize) -> Self {
        Self { value: 0.0, gradient: Mat::zeros(count, 1), curvature: Mat::zeros(count, count) }
    }

    /// Where the function has no value.
    pub fn infinite(count: usize) -> Self {
        Self { value: f64::INFINITY, ..Self::none(count) }
    }

    /// Adds to the second derivatives, from row and column `first` on, those of a softmax in its
    /// logits, where it has the probabilities `p`: weight · (diag(p) − p·pᵀ).
    pub fn curve_softmax(&mut self, first: usize, p: &[f64], weight: f64) {
        for (u, own) in p.iter().enumerate() {
            let (place, share) = (first + u, weight * own);
            let column = &mut self.curvature.col_as_slice_mut(place)[place..];
            column.iter_mut().zip(&p[u..]).for_each(|(sum, p)| *sum -= share * p);
            column[0] += share;
        }
    }

    /// Adds another function.
    pub fn add(mut self, other: &Self) -> Self {
        self.value += other.value;
        self.gradient += &other.gradient;
        self.curvature += &other.curvature;
        self
    }
}

/// Minimises a convex function from `at` on by Newton's method, each step halved until the
/// value does not rise, until a step takes no more than the share `enough` off it. Where the
/// function is infinite, numbers are not allowed. Whether it came to an end: a value or a
/// curvature that is no number does not.
pub(crate) fn minimise(at: &mut Vec<f64>, enough: f64, function: impl Fn(&[f64]) -> Local) -> bool {
    let mut now = function(at);
    if !now.value.is_finite() {
        return false;
    }
    for _ in 0..STEPS {
        let Ok(factor) = now.curvature.llt(Side::Lower) else { return false };
        let step = factor.solve(&now.gradient);
        let before = now.value;
        let mut length = 1.0;
        while length >= SHORTEST {
            let next: Vec<f64> =
                at.iter().enumerate().map(|(k, p)| p - length * step[(k, 0)]).collect();
            let reached = function(&next);
            if reached.value <= now.value {
                (*at, now) = (next, reached);
                break;
            }
            length *= 0.5;
        }
        if before - now.value <= enough * now.value.abs() {
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
        let function = |x: &[f64]| {
            let root = (1.0 + x[0] * x[0]).sqrt();
            Local {
                value: root + x[0] / 2.0,
                gradient: Mat::full(1, 1, x[0] / root + 0.5),
                curvature: Mat::full(1, 1, root.powi(-3)),
            }
        };
        let mut at = vec![3.0];
        assert!(minimise(&mut at, 1e-15, function));
        assert!((at[0] + 1.0 / 3f64.sqrt()).abs() < 1e-6, "{at:?}");
        // Nothing below 0 is allowed.
        let bounded = |x: &[f64]| if x[0] < 0.0 { Local::infinite(1) } else { function(x) };
        at = vec![3.0];
        assert!(minimise(&mut at, 1e-15, bounded));
        assert!((0.0..0.01).contains(&at[0]), "{at:?}");
        assert!(!minimise(&mut at, 1e-15, |_| Local { value: f64::NAN, ..Local::none(1) }));
    }
}
