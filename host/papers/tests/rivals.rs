//! Kernel machines and AdaBoost: figures of scikit-learn and of AdaBoost's
//! definition.

use faer::Mat;
use koan_data::{Column, ColumnKind, Division, Format, Schema, Table, Target};
use koan_papers::adaboost::{AdaBoost, Columns, End, Stump};
use koan_papers::kernel::{Kernel, Network, Points, matrix};

use common::{FEATURES, Numbers, Problem, ROWS, assert_near, problem};

/// The problem that the trainer's tests and their script have too.
#[path = "../../trainer/tests/methods/common.rs"]
#[allow(dead_code, reason = "used in part here")]
mod common;

/// The problem's features as a table of inputs.
fn table(problem: &Problem) -> Table {
    let column = |kind| Column { name: String::new(), kind };
    let mut columns: Vec<Column> =
        (0..FEATURES).map(|_| column(ColumnKind::Numeric { missing: None })).collect();
    columns.push(column(ColumnKind::Target));
    let row = |i: usize| problem.design.row(i).iter().map(|&x| f32::from(x));
    Table {
        inputs: FEATURES,
        values: (0..ROWS).flat_map(row).collect(),
        target: Target::Classes { labels: problem.two.clone() },
        schema: Schema {
            columns,
            inputs: FEATURES,
            classes: vec!["0".into(), "1".into()],
            ..Schema::new(Format::Csv)
        },
        division: Division::Free,
        weights: None,
    }
}

/// The first 40 rows of the script's problem, in units of 512, and the others.
fn points() -> [(Points, Mat<f64>); 2] {
    let problem = problem();
    [0..40, 40..ROWS].map(|rows| {
        let row = |i: usize| problem.design.row(i).iter().map(|&x| f64::from(x) / 512.0);
        let points = Points::new(rows.clone().flat_map(row).collect(), FEATURES);
        (points, Mat::from_fn(rows.len(), 1, |i, _| problem.value[rows.start + i]))
    })
}

fn gaussian(width: f64) -> Kernel {
    Kernel::Gaussian { inputs: 0..FEATURES, width }
}

#[test]
fn regularisation_networks() {
    let [(fit, targets), (test, _)] = points();
    let product = Kernel::Product(vec![
        Kernel::Gaussian { inputs: 0..2, width: 1.0 },
        Kernel::Laplacian { inputs: 2..FEATURES, width: 8.0 },
    ]);
    for (kernel, expected) in [
        (
            gaussian(2.0),
            [
                -3.307762477e-01,
                1.096610920e+00,
                -9.374948327e-01,
                -2.253634334e+00,
                8.133636088e-02,
            ],
        ),
        (
            Kernel::Laplacian { inputs: 0..FEATURES, width: 3.0 },
            [
                -2.822256375e-01,
                8.629060897e-01,
                -7.123731838e-01,
                -1.732262115e+00,
                1.080337775e-01,
            ],
        ),
        (
            Kernel::Sum(vec![gaussian(1.0), gaussian(4.0)]),
            [
                -6.728325441e-01,
                1.060877612e+00,
                -1.013085017e+00,
                -1.970683662e+00,
                -2.757718344e-04,
            ],
        ),
        (
            product,
            [
                -1.726441058e-01,
                6.046277256e-01,
                -8.518477136e-01,
                -1.972194596e+00,
                3.628238451e-01,
            ],
        ),
    ] {
        let network = Network::fit(kernel, 0.06 / 40.0, &fit, targets.as_ref()).unwrap();
        let values = network.predict(&test).unwrap();
        let found: Vec<f64> = (0..5).map(|i| values[(i, 0)]).collect();
        assert_near(&found, &expected, 1e-8);
    }
}

/// The normal equations of Theorem 6.1, and outputs that do not mix.
#[test]
fn coefficients_solve_the_system_of_the_theorem() {
    let [(fit, targets), _] = points();
    let two = Mat::from_fn(40, 2, |i, t| if t == 0 { targets[(i, 0)] } else { (i as f64).sin() });
    let network = Network::fit(gaussian(1.5), 1e-3, &fit, two.as_ref()).unwrap();
    let gram = matrix(&network.kernel, &fit, &fit).unwrap();
    let left = &gram * &network.coefficients + faer::Scale(0.04) * &network.coefficients - &two;
    assert!(left.norm_max() < 1e-12);
    let alone = Network::fit(gaussian(1.5), 1e-3, &fit, targets.as_ref()).unwrap();
    assert!((network.coefficients.col(0) - alone.coefficients.col(0)).norm_max() < 1e-12);
}

#[test]
fn the_choice_is_the_least_validation_error() {
    let [fit, validation] = points();
    let kernels: Vec<Kernel> = [0.5, 1.0, 2.0, 4.0].map(gaussian).to_vec();
    let gammas = [1e-5, 1e-3, 1e-1];
    let (best, errors) = Network::choose(
        &kernels,
        &gammas,
        (&fit.0, fit.1.as_ref()),
        (&validation.0, validation.1.as_ref()),
    )
    .unwrap();
    assert_eq!(errors.len(), 12);
    let mut least = f64::INFINITY;
    for (index, error) in errors.iter().enumerate() {
        let (kernel, gamma) = (&kernels[index / 3], gammas[index % 3]);
        let network = Network::fit(kernel.clone(), gamma, &fit.0, fit.1.as_ref()).unwrap();
        let difference = network.predict(&validation.0).unwrap() - &validation.1;
        let direct = difference.squared_norm_l2() / 20.0;
        assert!((direct / error - 1.0).abs() < 1e-9);
        if direct < least {
            least = direct;
        }
    }
    let difference = best.predict(&validation.0).unwrap() - &validation.1;
    assert!((difference.squared_norm_l2() / 20.0 / least - 1.0).abs() < 1e-9);
}

#[test]
fn kernels_that_make_no_sense() {
    let [(fit, targets), _] = points();
    let range = |inputs, width| Kernel::Gaussian { inputs, width };
    for (kernel, gamma, message) in [
        (Kernel::Sum(Vec::new()), 1.0, "no parts"),
        (range(0..7, 1.0), 1.0, "inputs 0..7 of 6"),
        (range(2..2, 1.0), 1.0, "inputs 2..2"),
        (Kernel::Product(vec![range(0..6, -1.0)]), 1.0, "width -1"),
        (range(0..6, f64::NAN), 1.0, "width NaN"),
        (range(0..6, 1.0), -1.0, "not positive definite"),
    ] {
        let error = Network::fit(kernel, gamma, &fit, targets.as_ref()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn boosting_by_its_definition() {
    let problem = problem();
    let table = table(&problem);
    let boosted = AdaBoost::fit(&table, &problem.two, 2, None, 20);
    let alphas: Vec<f64> = boosted.votes[0].iter().map(|round| round.alpha).collect();
    let expected = [
        5.947920334e-01,
        6.970382508e-01,
        4.105378456e-01,
        3.896925210e-01,
        4.217984638e-01,
        4.383861216e-01,
        3.049876427e-01,
        3.591435717e-01,
        3.420878437e-01,
        3.389740055e-01,
        3.147470788e-01,
        2.395676950e-01,
        2.301052271e-01,
        2.963702079e-01,
        2.274771451e-01,
        2.879107210e-01,
        2.745654256e-01,
        2.782564075e-01,
        2.515658414e-01,
        2.969537288e-01,
    ];
    assert_near(&alphas, &expected, 1e-8);
    let expected = [
        2.333333333e-01,
        2.666666667e-01,
        1.666666667e-01,
        1.333333333e-01,
        1.833333333e-01,
        1.333333333e-01,
        1.500000000e-01,
        1.333333333e-01,
        6.666666667e-02,
        1.166666667e-01,
        5.000000000e-02,
        5.000000000e-02,
        5.000000000e-02,
        5.000000000e-02,
        5.000000000e-02,
        5.000000000e-02,
        5.000000000e-02,
        5.000000000e-02,
        3.333333333e-02,
        3.333333333e-02,
    ];
    assert_near(&boosted.staged_errors(&table, &problem.two), &expected, 1e-8);
    let train: Vec<f64> = boosted.votes[0].iter().map(|round| round.train_error).collect();
    assert_near(&train, &expected, 1e-8);
}

/// Columns with few values, of which the most frequent is left out of the sums:
/// each round's stump is the best of all, tried one by one.
#[test]
fn every_stump_is_the_best_of_all() {
    let problem = problem();
    let mut numbers = Numbers::new(7);
    let mut table = table(&problem);
    for value in &mut table.values {
        // Many zeros, some of them negative, and few other values.
        let number = numbers.next();
        *value = if number % 3 == 0 { f32::from(number / 300) } else { -0.0 };
    }
    let weights = &problem.weights;
    let boosted = AdaBoost::fit(&table, &problem.two, 2, Some(weights), 15);
    let total: f64 = weights.iter().sum();
    let mut now: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let y = |i: usize| if problem.two[i] == 1 { 1.0 } else { -1.0 };
    assert!(!boosted.votes[0].is_empty());
    for round in &boosted.votes[0] {
        let error = |stump: &Stump| -> f64 {
            (0..ROWS).filter(|&i| stump.decide(table.row(i)) != y(i)).map(|i| now[i]).sum()
        };
        let mut least = f64::INFINITY;
        for input in 0..FEATURES {
            for i in 0..ROWS {
                for above in [false, true] {
                    let threshold = table.row(i)[input];
                    least = least.min(error(&Stump { input, threshold, above }));
                }
            }
        }
        assert!((error(&round.stump) - least).abs() < 1e-12);
        assert!((round.weighted_error - least).abs() < 1e-12);
        for (i, weight) in now.iter_mut().enumerate() {
            *weight *= (-round.alpha * y(i) * round.stump.decide(table.row(i))).exp();
        }
        let sum: f64 = now.iter().sum();
        now.iter_mut().for_each(|weight| *weight /= sum);
    }
}

#[test]
fn boosting_ends_where_it_must() {
    let problem = problem();
    let mut table = table(&problem);
    let labels: Vec<u32> = (0..ROWS).map(|i| u32::from(table.row(i)[3] > 100.0)).collect();
    let perfect = AdaBoost::fit(&table, &labels, 2, None, 10);
    assert_eq!((perfect.votes[0].len(), perfect.ends[0]), (1, Some(End::Perfect)));
    assert_eq!(perfect.staged_errors(&table, &labels), [0.0]);
    table.values.fill(1.0);
    let constant = AdaBoost::fit(&table, &labels, 2, None, 10);
    assert_eq!((constant.votes[0].len(), constant.ends[0]), (0, Some(End::NoEdge)));
    let _ = Columns::new(&table);
}

#[test]
fn three_classes_are_boosted_against_the_rest() {
    let problem = problem();
    let mut table = table(&problem);
    table.target = Target::Classes { labels: problem.three.clone() };
    let three = |table: &Table| AdaBoost::fit(table, &problem.three, 3, None, 60);
    let errors = three(&table).staged_errors(&table, &problem.three);
    assert_eq!(errors.len(), 60);
    assert!(errors[59] < 0.1 && errors[59] < errors[0], "{errors:?}");
}
