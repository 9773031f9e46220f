//! The paper's bounds in a Hilbert space.
//!
//! A Hilbert space has Rademacher type t = 2 with C = 1, and the modulus of
//! smoothness √(1 + u²) − 1 ≤ γu² with γ = 1/2.

/// Theorem 2.1 and Algorithm 2.2, step 5: with probability above 1 − 1/Q the
/// average of n drawn terms is within Q^(1/2)·((ρ + ε)/√n + ε) of f, where ρ
/// bounds ‖f − h_i‖ and ε is ‖f − Σ c_i·h_i‖.
#[must_use]
pub fn random(q: f64, rho: f64, epsilon: f64, n: usize) -> f64 {
    q.sqrt() * ((rho + epsilon) / (n as f64).sqrt() + epsilon)
}

/// Theorem 1.1, equation (1.2): the error of step k ≥ 1 of the iterative
/// algorithms, √2·(ρ + η)/√k·√(1 + log₂(k)/4k).
#[must_use]
pub fn iterative(rho: f64, eta: f64, k: usize) -> f64 {
    let k = k as f64;
    (2.0 / k).sqrt() * (rho + eta) * (1.0 + k.log2() / (4.0 * k)).sqrt()
}

/// Theorem 1.1, condition 2: δ_k, how far from the best direction the term of
/// step k ≥ 1 may be when the error so far is `error`.
#[must_use]
pub fn delta(rho: f64, eta: f64, k: usize, error: f64) -> f64 {
    ((rho + eta).powi(2) - rho * rho) / (k as f64 * error)
}

/// Equation (1.3): d_k ≤ δ_k, known beforehand. An auxiliary approximation that
/// is this close to f is close enough for k + 1 steps.
#[must_use]
pub fn closeness(rho: f64, eta: f64, k: usize) -> f64 {
    let k = k as f64;
    (2.0 / k).sqrt() * eta * (rho / (rho + eta)) / (1.0 + k.log2() / (4.0 * k)).sqrt()
}

/// The least η whose [`closeness`] allows an auxiliary approximation with the
/// error `epsilon` (Algorithm 1.3, step 2); none where no η does: d_k has the
/// limit d_k(η)/η·ρ as η grows.
#[must_use]
pub fn least_eta(rho: f64, epsilon: f64, k: usize) -> Option<f64> {
    if epsilon <= 0.0 {
        return Some(0.0);
    }
    // d_k = s·η·ρ/(ρ + η) = ε, so η = ε·ρ/(s·ρ − ε).
    let k = k as f64;
    let slope = (2.0 / k).sqrt() / (1.0 + k.log2() / (4.0 * k)).sqrt();
    let left = slope * rho - epsilon;
    (left > 0.0).then(|| epsilon * rho / left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_eta_makes_the_auxiliary_approximation_just_close_enough() {
        for k in [1, 2, 7, 100] {
            for epsilon in [1e-6, 1e-3, 0.05] {
                let eta = least_eta(2.0, epsilon, k).expect("close enough");
                assert!((closeness(2.0, eta, k) / epsilon - 1.0).abs() < 1e-9);
            }
            assert_eq!(least_eta(2.0, 0.0, k), Some(0.0));
            assert_eq!(least_eta(1.0, 10.0, k), None);
        }
    }

    #[test]
    fn delta_is_at_least_what_is_known_beforehand() {
        // (1.3) follows from the bound on the error so far.
        for k in [1, 3, 10, 1000] {
            for eta in [0.01, 1.0, 5.0] {
                let error = iterative(1.5, eta, k);
                assert!(delta(1.5, eta, k, error) >= closeness(1.5, eta, k) * (1.0 - 1e-12));
            }
        }
    }
}
