//! Linear heads: figures of scikit-learn and scipy.

use koan_trainer::internal::ridge::{LinearFit, System};
use koan_trainer::internal::solve::{BoxedSquares, Convergence, Hinge, Logistic, Solution};

use crate::common::{assert_near, problem, row_of};

/// Weights, feature by feature, and biases.
fn flat(fit: &LinearFit) -> Vec<f64> {
    let (features, outputs) = (fit.weights.nrows(), fit.weights.ncols());
    let weights = (0..features).flat_map(|k| (0..outputs).map(move |t| fit.weights[(k, t)]));
    weights.chain(fit.bias.iter().copied()).collect()
}

fn assert_solved(convergence: &Convergence, objective: f64) {
    assert!(convergence.reached(), "{convergence:?}");
    assert!(convergence.warning("solver").is_none());
    let found = convergence.objective;
    assert!((found / objective - 1.0).abs() < 1e-6, "{found} {objective}");
}

fn assert_solution(solution: &Solution, expected: &[f64], tolerance: f64) {
    assert_solved(&solution.convergence, expected[0]);
    let weights = solution.fit.weights.nrows() * solution.fit.weights.ncols();
    let found = flat(&solution.fit);
    assert_near(&found[..weights], &expected[1..=weights], tolerance);
    if expected.len() > weights + 1 {
        assert_near(&found[weights..], &expected[weights + 1..], tolerance);
    }
}

#[test]
fn logistic_regression() {
    let problem = problem();
    let solver = Logistic::new(&problem.design, &problem.two, 1, None);
    let solution = solver.solve(1e6 / solver.unit(), None, 1e-12);
    let expected = [
        2.765188912e+01,
        1.158911180e-03,
        1.826159472e-03,
        -4.809692421e-04,
        -2.545890217e-04,
        2.250575146e-05,
        2.520470897e-04,
        -4.299794029e-01,
    ];
    assert_solution(&solution, &expected, 1e-5);
}

#[test]
fn weighted_logistic_regression() {
    let problem = problem();
    let solver = Logistic::new(&problem.design, &problem.two, 1, Some(&problem.weights));
    let solution = solver.solve(1e5 / solver.unit(), None, 1e-12);
    let expected = [
        4.495010308e+01,
        1.799396703e-03,
        3.077515214e-03,
        -8.544919298e-04,
        -4.436639636e-04,
        -1.476913928e-04,
        1.336668208e-03,
        -2.892457073e-01,
    ];
    assert_solution(&solution, &expected, 1e-5);
}

#[test]
fn multinomial_regression() {
    let problem = problem();
    let solver = Logistic::new(&problem.design, &problem.three, 3, None);
    let solution = solver.solve(1e6 / solver.unit(), None, 1e-12);
    let expected = [
        4.020776527e+01,
        6.290088321e-04,
        -6.597515541e-04,
        3.074272204e-05,
        -3.464487174e-04,
        1.168463251e-03,
        -8.220145336e-04,
        -7.413036459e-04,
        -6.460788185e-04,
        1.387382464e-03,
        1.095199986e-03,
        -4.008040146e-04,
        -6.943959713e-04,
        -8.757399921e-04,
        8.708377319e-04,
        4.902260108e-06,
        -7.553340644e-04,
        -2.873700051e-04,
        1.042704069e-03,
        -1.228969373e-01,
        3.296771227e-01,
        -2.067801854e-01,
    ];
    assert_solution(&solution, &expected, 1e-5);
}

#[test]
fn weighted_multinomial_regression() {
    let problem = problem();
    let solver = Logistic::new(&problem.design, &problem.three, 3, Some(&problem.weights));
    let solution = solver.solve(1e5 / solver.unit(), None, 1e-12);
    let expected = [
        5.896068956e+01,
        1.847251745e-03,
        -1.296064642e-03,
        -5.511871033e-04,
        -1.082478472e-03,
        1.853943936e-03,
        -7.714654646e-04,
        -1.613616687e-03,
        -1.095665131e-03,
        2.709281818e-03,
        2.540993546e-03,
        -1.134199561e-03,
        -1.406793986e-03,
        -1.513003983e-03,
        1.600411500e-03,
        -8.740751689e-05,
        -1.418217940e-03,
        -3.354672040e-04,
        1.753685144e-03,
        -4.361366627e-01,
        7.164634968e-01,
        -2.803268341e-01,
    ];
    assert_solution(&solution, &expected, 1e-5);
}

#[test]
fn support_vector_machine() {
    let problem = problem();
    let solver = Hinge::new(&problem.design, &problem.two, 1, None);
    let solution = solver.solve(1e6 / solver.unit(), None, &mut None, 1e-8);
    let expected = [
        2.864508734e+01,
        7.466351415e-04,
        1.775561468e-03,
        -5.174582027e-04,
        -2.678182473e-04,
        1.139579850e-04,
        3.447216086e-05,
    ];
    assert_solution(&solution, &expected, 1e-3);
}

#[test]
fn weighted_support_vector_machine() {
    let problem = problem();
    let solver = Hinge::new(&problem.design, &problem.two, 1, Some(&problem.weights));
    let solution = solver.solve(1e5 / solver.unit(), None, &mut None, 1e-8);
    let expected = [
        4.919150030e+01,
        1.080099241e-03,
        2.760520613e-03,
        -7.495131858e-04,
        -5.796136519e-04,
        -3.301892076e-04,
        1.533385892e-03,
    ];
    assert_solution(&solution, &expected, 1e-3);
}

/// Linear programs.
#[test]
fn hinge_loss_within_a_box() {
    let problem = problem();
    for (bound, weights, objective) in
        [(2e-4, None, 3.753315010e+01), (1e-3, Some(&problem.weights[..]), 5.410965147e+01)]
    {
        let solver = Hinge::new(&problem.design, &problem.two, 1, weights);
        let solution = solver.solve(0.0, Some(bound), &mut None, 1e-7);
        assert_solved(&solution.convergence, objective);
        assert!(solution.fit.weights.norm_max() <= bound * (1.0 + 1e-12));
    }
}

#[test]
fn least_squares_within_a_box() {
    let problem = problem();
    let targets = row_of(&problem.value);
    let small = [
        3.816595542e+01,
        2.000000000e-04,
        2.000000000e-04,
        2.000000000e-04,
        -2.000000000e-04,
        2.000000000e-04,
        2.000000000e-04,
        -3.657967483e-01,
    ];
    let large = [
        3.516128655e+01,
        1.000000000e-03,
        4.427413302e-04,
        1.091297690e-04,
        -4.066726072e-04,
        2.476704165e-04,
        1.697964841e-04,
        -1.578353774e-01,
    ];
    for (bound, weights, expected) in
        [(2e-4, None, &small), (1e-3, Some(&problem.weights[..]), &large)]
    {
        let system = System::new(&problem.design.moments(targets.as_ref(), weights));
        let solution = BoxedSquares::new(&system).solve(bound, 0.0, None, 1e-12);
        assert_solution(&solution, expected, 1e-7);
    }
}
