//! Embeddings and anomaly scores: figures of scikit-learn, and laws.

use koan_trainer::internal::anomaly::{auc, similarity, threshold};
use koan_trainer::internal::embed::{components, hamming, nearest};
use koan_trainer::internal::ridge::System;

use crate::common::{FEATURES, ROWS, assert_near, problem, row_of};

#[test]
fn principal_components() {
    let problem = problem();
    let moments = problem.design.moments(row_of(&problem.value).as_ref(), None);
    let system = System::new(&moments);
    let found = components(&system, ROWS as f64, 2).unwrap();
    assert_near(&found.variances, &[5.773461917e+05, 4.294475025e+05], 1e-8);
    assert_near(&[found.kept()], &[4.790474762e-01], 1e-8);
    let scores = problem.design.scores(found.fit.weights.as_ref(), &found.fit.bias);
    let first: Vec<f64> =
        (0..3).flat_map(|i| [scores[(0, i)].abs(), scores[(1, i)].abs()]).collect();
    assert_near(
        &first,
        &[
            4.272772516e+02,
            1.012781448e+03,
            1.107323083e+03,
            8.772711810e+02,
            6.980468222e+02,
            6.188818094e+02,
        ],
        1e-8,
    );
    let product = found.fit.weights.transpose() * &found.fit.weights;
    assert_near(&[product[(0, 0)], product[(1, 1)], 1.0 + product[(0, 1)]], &[1.0; 3], 1e-12);
    for bad in [0, FEATURES + 1] {
        assert!(components(&system, ROWS as f64, bad).is_err());
    }
}

#[test]
fn area_under_the_curve() {
    let problem = problem();
    let positive: Vec<bool> = problem.two.iter().map(|&label| label == 1).collect();
    let x: Vec<f64> = (0..ROWS).map(|i| f64::from(problem.design.row(i)[0])).collect();
    let rounded: Vec<f64> = x.iter().map(|x| (x / 512.0).round_ties_even()).collect();
    let found = [auc(&x, &positive).unwrap(), auc(&rounded, &positive).unwrap()];
    assert_near(&found, &[7.093750000e-01, 6.637500000e-01], 1e-8);
    assert_eq!(auc(&x, &[true; ROWS]), None);
    assert_eq!(auc(&[], &[]), None);
}

#[test]
fn similarities_are_the_mean_embedding_or_the_fit_of_ones() {
    let problem = problem();
    let moments = problem.design.moments(row_of(&problem.value).as_ref(), None);
    let mean = similarity(&moments, f64::INFINITY);
    for k in 0..FEATURES {
        let sum: f64 = (0..ROWS).map(|i| f64::from(problem.design.row(i)[k])).sum();
        assert!((mean[(k, 0)] - sum / ROWS as f64).abs() < 1e-9);
    }
    // The gradient of Σ(1 − wᵀφ)² + μ‖w‖², by rows.
    let square =
        |i: usize| problem.design.row(i).iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
    let trace: f64 = (0..ROWS).map(square).sum();
    let weights = similarity(&moments, 0.01);
    let scores = problem.design.scores(weights.as_ref(), &[0.0]);
    for k in 0..FEATURES {
        let residuals = |i: usize| f64::from(problem.design.row(i)[k]) * (1.0 - scores[(0, i)]);
        let gradient = (0..ROWS).map(residuals).sum::<f64>() - 0.01 * trace * weights[(k, 0)];
        assert!(gradient.abs() < 1e-6 * trace, "{gradient}");
    }
}

/// Of 99 equally likely ranks of a new row among 99 others, a share of at most
/// `rate` is below the threshold.
#[test]
fn the_threshold_keeps_its_false_alarm_rate() {
    let scores: Vec<f64> = (0..99).map(|i| f64::from((i * 37) % 99)).collect();
    for (rate, expected) in [(0.01, 0.0), (0.05, 4.0), (0.5, 49.0)] {
        assert_eq!(threshold(&scores, rate).unwrap(), expected);
    }
    let error = threshold(&scores, 0.005).unwrap_err().to_string();
    assert!(error.contains("99 held-out normal rows are too few"), "{error}");
    assert!(error.contains("at least 199"), "{error}");
    for bad in [0.0, 1.0, f64::NAN, -0.5] {
        assert!(threshold(&scores, bad).is_err());
    }
}

#[test]
fn distances_of_codes() {
    assert_eq!(hamming(&[1, 2, 3], &[1, 5, 4]), 2);
    let codes = [0, 0, 1, 1, 0, 1, 1, 0];
    assert_eq!(nearest(&[0, 1], &codes, 3), [(0, 2), (1, 0), (1, 1)]);
    assert_eq!(nearest(&[0, 1], &codes, 9).len(), 4);
    assert!(nearest(&[0, 1], &codes, 0).is_empty());
}
