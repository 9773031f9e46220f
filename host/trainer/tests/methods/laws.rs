//! What solutions obey, whatever the problem.

use faer::Mat;
use koan_trainer::Loss;
use koan_trainer::internal::ridge::System;
use koan_trainer::internal::solve::boxed::bound;
use koan_trainer::internal::solve::{BoxedSquares, Design, Hinge, Logistic};

use crate::common::{Numbers, problem, row_of};

/// A row of weight 3 is the row three times.
#[test]
fn weights_of_rows_count_them_several_times() {
    let problem = problem();
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for (i, &weight) in problem.weights.iter().enumerate() {
        for _ in 0..weight as usize {
            values.extend_from_slice(problem.design.row(i));
            labels.push(problem.three[i]);
        }
    }
    let repeated = Design::new(values, problem.design.features());
    let weighted = Some(&problem.weights[..]);
    let logistic = [
        Logistic::new(&problem.design, &problem.three, 3, weighted).solve(0.01, None, 1e-10),
        Logistic::new(&repeated, &labels, 3, None).solve(0.01, None, 1e-10),
    ];
    let hinge = [
        Hinge::new(&problem.design, &problem.three, 3, weighted).solve(0.01, None, &mut None, 1e-6),
        Hinge::new(&repeated, &labels, 3, None).solve(0.01, None, &mut None, 1e-6),
    ];
    for [a, b] in [logistic, hinge] {
        assert!(a.convergence.reached() && b.convergence.reached());
        let (a, b) = (a.convergence.objective, b.convergence.objective);
        assert!((a / b - 1.0).abs() < 2e-6, "{a} {b}");
    }
}

/// No step in any direction lowers the objective that was found.
#[test]
fn nothing_nearby_is_better() {
    let problem = problem();
    let design = &problem.design;
    let labels = &problem.three;
    let weights = Some(&problem.weights[..]);
    let logistic = Logistic::new(design, labels, 3, weights);
    let hinge = Hinge::new(design, labels, 3, weights);
    for (loss, solution, unit) in [
        (Loss::Logistic, logistic.solve(1e-3, None, 1e-11), logistic.unit()),
        (Loss::Hinge, hinge.solve(1e-3, None, &mut None, 1e-7), hinge.unit()),
    ] {
        let objective = |weights_of: &Mat<f64>, bias: &[f64]| {
            let scores = design.scores(weights_of.as_ref(), bias);
            loss.total(scores.as_ref(), labels, weights)
                + 0.5 * 1e-3 * unit * weights_of.squared_norm_l2()
        };
        let fit = &solution.fit;
        let found = objective(&fit.weights, &fit.bias);
        assert!((found / solution.convergence.objective - 1.0).abs() < 1e-9);
        let mut numbers = Numbers::new(9);
        for step in 0..200 {
            let size = 10f64.powi(-(step % 5) - 4);
            let moved = Mat::from_fn(6, 3, |k, t| {
                fit.weights[(k, t)] + size * 1e-3 * f64::from(numbers.next())
            });
            let bias: Vec<f64> =
                fit.bias.iter().map(|b| b + size * f64::from(numbers.next())).collect();
            assert!(objective(&moved, &bias) >= found * (1.0 - 1e-7), "{}", loss.name());
        }
    }
}

/// Brute force over all ways to fix weights at a bound: 3^4 systems.
#[test]
fn the_boxed_solution_is_the_best_of_all_faces() {
    let mut numbers = Numbers::new(4);
    for round in 0..30 {
        let features = 4;
        let design = Design::new((0..features * 12).map(|_| numbers.next()).collect(), features);
        let targets: Vec<f64> = (0..12).map(|_| f64::from(numbers.next())).collect();
        let system = System::new(&design.moments(row_of(&targets).as_ref(), None));
        let limit = 0.05 + 0.02 * f64::from(round);
        let solution = BoxedSquares::new(&system).solve(limit, 0.0, None, 1e-12);
        assert!(solution.convergence.reached());
        let matrix = system.regularised(0.0);
        let value = |w: &[f64]| -> f64 {
            (0..features)
                .map(|i| {
                    let image: f64 = (0..features).map(|j| matrix[(i, j)] * w[j]).sum();
                    w[i] * (0.5 * image - system.cross()[(i, 0)])
                })
                .sum()
        };
        let mut least = f64::INFINITY;
        for face in 0..3usize.pow(features as u32) {
            let at = |k: usize| (face / 3usize.pow(k as u32)) % 3;
            let free: Vec<usize> = (0..features).filter(|&k| at(k) == 2).collect();
            let mut w: Vec<f64> =
                (0..features).map(|k| if at(k) == 0 { -limit } else { limit }).collect();
            free.iter().for_each(|&k| w[k] = 0.0);
            if !free.is_empty() {
                use faer::linalg::solvers::Solve;
                let block = Mat::from_fn(free.len(), free.len(), |i, j| matrix[(free[i], free[j])]);
                let wanted = Mat::from_fn(free.len(), 1, |i, _| {
                    let fixed: f64 = (0..features).map(|j| matrix[(free[i], j)] * w[j]).sum();
                    system.cross()[(free[i], 0)] - fixed
                });
                let solved = block.partial_piv_lu().solve(&wanted);
                free.iter().enumerate().for_each(|(i, &k)| w[k] = solved[(i, 0)]);
            }
            if w.iter().all(|w| w.abs() <= limit * (1.0 + 1e-12)) {
                least = least.min(value(&w));
            }
        }
        let found: Vec<f64> = (0..features).map(|k| solution.fit.weights[(k, 0)]).collect();
        assert!((value(&found) - least).abs() <= 1e-8 * least.abs(), "{round}");
    }
}

/// A large C leaves the constraint inactive, as the paper says.
#[test]
fn a_large_box_is_no_box() {
    let problem = problem();
    let system = System::new(&problem.design.moments(row_of(&problem.value).as_ref(), None));
    let solver = BoxedSquares::new(&system);
    let path = solver.path(&[1e-5, 1e-4, 1e-3, bound(1e9, 6)], 0.0, 1e-10);
    assert!(path.windows(2).all(|p| p[1].convergence.objective < p[0].convergence.objective));
    let free = system.solve(0.0);
    let difference = &path[3].fit.weights - &free.weights;
    assert!(difference.norm_max() < 1e-6 * free.weights.norm_max());
    for solution in &path {
        assert!(solution.convergence.reached());
    }
    let hinge = Hinge::new(&problem.design, &problem.two, 1, None);
    let free = hinge.solve(1e-3, None, &mut None, 1e-6).convergence.objective;
    let boxed = hinge.solve(1e-3, Some(1.0), &mut None, 1e-6).convergence.objective;
    assert!((free / boxed - 1.0).abs() < 2e-6);
}

/// Separable classes, equal rows, features that are constant or copies.
#[test]
fn degenerate_problems_are_solved() {
    let rows: Vec<i16> = (0..20).flat_map(|i: i16| [i * 100 - 950, 7, i * 100 - 950, 0]).collect();
    let design = Design::new(rows, 4);
    let labels: Vec<u32> = (0..20).map(|i| u32::from(i >= 10)).collect();
    for lambda in [0.0, 1e-6, 1.0] {
        let logistic = Logistic::new(&design, &labels, 1, None).solve(lambda, None, 1e-4);
        let hinge = Hinge::new(&design, &labels, 1, None).solve(lambda, None, &mut None, 1e-4);
        for fit in [&logistic.fit, &hinge.fit] {
            let scores = design.scores(fit.weights.as_ref(), &fit.bias);
            for (i, &label) in labels.iter().enumerate() {
                assert!(scores[(0, i)].is_finite());
                assert_eq!(scores[(0, i)] > 0.0, label == 1, "{lambda}");
            }
        }
        assert!(logistic.convergence.reached(), "{lambda} {:?}", logistic.convergence);
    }
    // One class only: the rest of the scores is up to the bias.
    let one = vec![1u32; 20];
    let solution = Hinge::new(&design, &one, 1, None).solve(0.1, None, &mut None, 1e-6);
    assert!(solution.fit.bias[0] + solution.fit.weights.norm_max() >= 1.0 - 1e-6);
}

/// What is not reached is said.
#[test]
fn a_solver_that_stops_early_says_so() {
    let problem = problem();
    let solver = Logistic::new(&problem.design, &problem.two, 1, None);
    let solution = solver.solve(1e-3, None, -1.0);
    assert!(!solution.convergence.reached());
    let warning = solution.convergence.warning("logistic regression").unwrap();
    assert!(warning.starts_with("logistic regression stopped after"), "{warning}");
    assert!(warning.contains("-1.0e0 was asked for"), "{warning}");
}

/// Smooth features of few rows: a Gram matrix that is all but singular, and
/// bounds from those that hold every weight to those that hold none.
#[test]
fn every_box_of_a_singular_problem_is_solved() {
    let mut numbers = Numbers::new(6);
    let (rows, features) = (30, 80);
    let draws: Vec<(f64, f64)> = (0..features)
        .map(|_| (f64::from(numbers.next()) / 300.0, f64::from(numbers.next()) / 300.0))
        .collect();
    let values = (0..rows).flat_map(|i| {
        let x = f64::from(i) / 10.0 - 1.5;
        draws.iter().map(move |(w, b)| (32767.0 * (w * x + b).cos()) as i16).collect::<Vec<_>>()
    });
    let design = Design::new(values.collect(), features);
    let targets: Vec<f64> = (0..rows).map(|i| f64::from(i * i % 7 % 2) - 0.5).collect();
    let system = System::new(&design.moments(row_of(&targets).as_ref(), None));
    let solver = BoxedSquares::new(&system);
    let mut last = f64::INFINITY;
    // Of features of 16 bits, 256 times as fine as those that the bound is for.
    for power in -8..8 {
        let limit = bound(2f64.powi(power), features);
        let solution = solver.solve(limit, 0.0, None, 1e-8);
        assert!(solution.convergence.reached(), "{power} {:?}", solution.convergence);
        assert!(solution.fit.weights.norm_max() <= limit);
        assert!(solution.convergence.objective <= last + 1e-7);
        last = solution.convergence.objective;
    }
}
