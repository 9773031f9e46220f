//! Prunes a large sum of features, and a kernel network, by every method of
//! `koan_papers::prune` and of the trainer, and prints the number of terms against the error.
//!
//! `cargo run --release -p koan-papers --example pruning -- DATA [TEST]`

use std::error::Error;
use std::path::PathBuf;

use faer::{Mat, MatRef, Scale};
use koan_data::{ReadOptions, SplitSize, Table, read_all, read_all_with, split};
use koan_papers::kernel::{Kernel, Network, Points};
use koan_papers::prune::network::{Norm, Prunable};
use koan_papers::prune::{
    Candidates, Mixture, Pruned, density, from_scratch, integral, iterative, random,
};
use koan_trainer::internal::evaluate::of_scores;
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::lambda::LAMBDAS;
use koan_trainer::internal::normalise::{Kind, Normaliser};
use koan_trainer::internal::problem::Problem;
use koan_trainer::internal::prune::{Criterion, backward, forward, refit, scattered};
use koan_trainer::internal::ridge::{System, best_on};
use koan_trainer::internal::select::choose;
use koan_trainer::internal::solve::Design;
use koan_trainer::{Progress, TrainOptions};

/// Features of the sum that is pruned.
const POOL: u16 = 2048;
/// Features of the pilot of Algorithm 2.5.
const PILOT: usize = 512;
/// Training rows at most; centres of the kernel network at most.
const ROWS: usize = 12_000;
const CENTRES: usize = 1500;
/// Terms that are kept.
const TERMS: [usize; 6] = [16, 32, 64, 128, 256, 512];
/// Q of the probabilistic algorithms, η of Algorithm 1.2 (times ‖f‖).
const Q: f64 = 2.0;
const ETA: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (data, test) = match &files[..] {
        [data] => (data.clone(), None),
        [data, test] => (data.clone(), Some(test.clone())),
        _ => return Err("DATA [TEST]".into()),
    };
    let all = read_all(&[data], &ReadOptions::default())?;
    let (train, test) = match test {
        Some(test) => {
            let test = read_all_with(&[test], &all.schema, &ReadOptions::default())?;
            (all, test)
        }
        None => {
            let (train, test) = split(&all.target, SplitSize::TestFraction(0.2), 1)?;
            (all.select(&train), all.select(&test))
        }
    };
    let train = if train.rows() > ROWS {
        let (rows, _) = split(&train.target, SplitSize::TrainRows(ROWS), 1)?;
        train.select(&rows)
    } else {
        train
    };
    println!("{} training rows, {} test rows\n", train.rows(), test.rows());
    features(&train, &test)?;
    network(&train, &test)
}

/// A function's error on the test rows, as a percentage.
fn percent(table: &Table, scores: &[f64]) -> String {
    format!("{:.2} %", 100.0 * of_scores(table, scores).error)
}

/// Rows × outputs, row-major.
fn by_row(scores: &Mat<f64>) -> Vec<f64> {
    scores.col_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect()
}

/// ‖f − g‖/‖f‖ and its bound.
fn against_bound(pruned: &Pruned, norm: f64) -> String {
    let tries = if pruned.attempts > 1 { format!(", draw {}", pruned.attempts) } else { "".into() };
    format!("{:.3} ≤ {:.3}{tries}", pruned.error / norm, pruned.bound / norm)
}

fn line(name: &str, cells: impl Iterator<Item = String>) {
    println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

fn header(what: &str) {
    line(what, TERMS.iter().map(|n| format!("n = {n}")));
    line("---", TERMS.iter().map(|_| "---:".into()));
}

/// Pruning of a sum of random features.
fn features(train: &Table, test: &Table) -> Result<(), Box<dyn Error>> {
    let quiet = Progress::none();
    let problem = Problem::new(train, false);
    let options = TrainOptions { features: vec![POOL], ..TrainOptions::default() };
    let rows: Vec<usize> = (0..train.rows()).collect();
    let banks = options.banks(&train.schema)?;
    let spec = choose(&problem, &rows, &banks, &options.choice(problem.task()), &quiet)?.spec;
    let map = FeatureMap::new(&spec)?;
    let (fit_rows, held_rows) = split(&train.target, SplitSize::TestFraction(0.15), 1)?;
    let fit = problem.moments(&map, &fit_rows, &quiet)?;
    let held = problem.moments(&map, &held_rows, &quiet)?;
    let system = System::new(&fit);
    let (all, _) = best_on(&system, &held, &LAMBDAS);
    let test_rows: Vec<usize> = (0..test.rows()).collect();
    let design = Design::of(&map, test, &test_rows)?;
    let error = |weights: MatRef<'_, f64>, bias: &[f64]| {
        percent(test, &by_row(&design.scores(weights, bias)))
    };
    // Inner products are covariances over the training rows.
    let gram = system.gram() * Scale(1.0 / fit.count);
    let mixture = Mixture::new(gram.as_ref(), all.weights.as_ref());
    let cross = &gram * &all.weights;
    let candidates = Candidates {
        gram: gram.as_ref(),
        cross: cross.as_ref(),
        square: mixture.norm().powi(2),
        scale: mixture.scale(),
        each: 64,
    };
    let pilot: Vec<usize> = (0..PILOT).collect();
    let (pilot_fit, _) = refit(&fit, &held, &pilot);
    let penalty = pilot_fit.lambda * System::new(&fit.select(&pilot)).unit();
    let weights = density(&system, pilot_fit.weights.as_ref(), penalty);
    let integrand = Mixture::new(gram.as_ref(), weights.as_ref());

    println!(
        "{POOL} {} features: test error {}; the constant alone {}; ρ = {:.1}·‖f‖\n",
        spec.banks[0].family.name(),
        error(all.weights.as_ref(), &all.bias),
        error(
            Mat::zeros(map.features(), problem.outputs).as_ref(),
            &system.bias(&Mat::zeros(map.features(), problem.outputs))
        ),
        mixture.rho() / mixture.norm()
    );
    let pruned = |method: &dyn Fn(usize) -> Pruned| TERMS.map(method);
    let methods = [
        ("random (2.2)", mixture.norm(), pruned(&|n| random(&mixture, n, Q, 1))),
        ("integral (2.5)", integrand.norm(), pruned(&|n| integral(&integrand, n, Q, 1))),
        ("iterative (1.3)", mixture.norm(), pruned(&|n| iterative(&mixture, n))),
        (
            "from scratch (1.2)",
            mixture.norm(),
            pruned(&|n| from_scratch(&candidates, n, ETA * mixture.norm())),
        ),
    ];
    header("relative error ‖f − g‖/‖f‖ ≤ bound");
    for (name, norm, found) in &methods {
        line(name, found.iter().map(|pruned| against_bound(pruned, *norm)));
    }
    println!();
    header("test error");
    for (name, _, found) in &methods {
        line(name, found.iter().map(|p| error(p.weights.as_ref(), &system.bias(&p.weights))));
    }
    let again = |kept: &[usize]| {
        let (fit, _) = refit(&fit, &held, kept);
        let fit = scattered(&fit, kept, map.features());
        error(fit.weights.as_ref(), &fit.bias)
    };
    for (name, _, found) in &methods {
        line(&format!("{name}, refitted"), found.iter().map(|p| again(&p.features())));
    }
    line("the first n, refitted", TERMS.iter().map(|&n| again(&(0..n).collect::<Vec<_>>())));
    let most = TERMS[TERMS.len() - 1];
    for (name, criterion) in [
        ("matching pursuit, refitted", Criterion::Correlation),
        ("orthogonal least squares, refitted", Criterion::Decrease),
    ] {
        let chosen = forward(&system, all.lambda, most, criterion);
        line(name, TERMS.iter().map(|&n| again(&chosen[..n.min(chosen.len())])));
    }
    let elimination = backward(&system, all.lambda, TERMS[0]);
    line("backward elimination, refitted", TERMS.iter().map(|&n| again(&elimination.kept(n))));
    failures(&mixture);
    Ok(())
}

/// How often a draw of Algorithm 2.2 misses its bound.
fn failures(mixture: &Mixture) {
    let rates: Vec<String> = [1.1, 1.5, 2.0]
        .into_iter()
        .map(|q| {
            let draws: u32 = (0..1000).map(|seed| random(mixture, 64, q, seed).attempts).sum();
            let failed = f64::from(draws - 1000) / f64::from(draws);
            format!("{:.1} % (Q = {q}: at most {:.1} %)", 100.0 * failed, 100.0 / q)
        })
        .collect();
    println!("\nDraws of 64 terms beyond their bound, until 1,000 kept it: {}\n", rates.join(", "));
}

/// Pruning of a kernel network, Theorem 7.1.
fn network(train: &Table, test: &Table) -> Result<(), Box<dyn Error>> {
    let problem = Problem::new(train, false);
    let rows: Vec<usize> = (0..train.rows()).collect();
    let rows = match rows.len() {
        0..=CENTRES => rows,
        _ => split(&train.target, SplitSize::TrainRows(CENTRES), 2)?.0,
    };
    let (fit, held) = split(&train.select(&rows).target, SplitSize::TestFraction(0.2), 3)?;
    let (fit, held): (Vec<usize>, Vec<usize>) =
        (fit.iter().map(|&i| rows[i]).collect(), held.iter().map(|&i| rows[i]).collect());
    let kind = if train.inputs > 160 { Kind::Shared } else { Kind::PerInputLog };
    let normaliser = Normaliser::fit(train, &rows, kind);
    let spread = normaliser.spread(train, &rows);
    let points = |rows: &[usize]| Points::of(train, rows, &normaliser);
    let mean: Vec<f64> = (0..problem.outputs)
        .map(|t| rows.iter().map(|&r| problem.target(r, t)).sum::<f64>() / rows.len() as f64)
        .collect();
    let targets = |rows: &[usize]| {
        Mat::from_fn(rows.len(), problem.outputs, |i, t| problem.target(rows[i], t) - mean[t])
    };
    let widths = [0.5, 1.0, 2.0, 4.0].map(|factor| factor * spread.variance.sqrt());
    let kernels = widths.map(|width| Kernel::Gaussian { inputs: 0..train.inputs, width });
    let gammas = [1e-6, 1e-5, 1e-4, 1e-3];
    let (fit_targets, held_targets) = (targets(&fit), targets(&held));
    let (chosen, _) = Network::choose(
        &kernels,
        &gammas,
        (&points(&fit), fit_targets.as_ref()),
        (&points(&held), held_targets.as_ref()),
    )?;
    let wanted = targets(&rows);
    let network = Network::fit(chosen.kernel, chosen.gamma, &points(&rows), wanted.as_ref())?;
    let prunable = Prunable::new(&network)?;
    let test_points = Points::of(test, &(0..test.rows()).collect::<Vec<_>>(), &normaliser);
    let error = |coefficients: &Mat<f64>| -> Result<String, koan_trainer::Error> {
        let pruned = Network { coefficients: coefficients.clone(), ..network.clone() };
        let mut values = pruned.predict(&test_points)?;
        for (t, mean) in mean.iter().enumerate() {
            values.col_mut(t).iter_mut().for_each(|value| *value += mean);
        }
        Ok(percent(test, &by_row(&values.transpose().to_owned())))
    };
    let root = |c: &Mat<f64>| prunable.regularised_error(c.as_ref(), wanted.as_ref()).sqrt();
    println!(
        "Kernel network of {} units: test error {}, √ℱ = {:.3}\n",
        rows.len(),
        error(&network.coefficients)?,
        root(&network.coefficients)
    );
    let mixture = prunable.mixture(Norm::Auxiliary);
    let found = [
        ("random (2.2)", TERMS.map(|n| random(&mixture, n, Q, 1))),
        ("iterative (1.3)", TERMS.map(|n| iterative(&mixture, n))),
    ];
    header("relative error ‖f − g‖_aux/‖f‖_aux ≤ bound");
    for (name, found) in &found {
        line(name, found.iter().map(|pruned| against_bound(pruned, mixture.norm())));
    }
    println!();
    let best = root(&network.coefficients);
    header("√ℱ ≤ √ℱ(f₀) + ‖f₀ − g‖_aux (Theorem 7.1)");
    for (name, found) in &found {
        line(
            name,
            found.iter().map(|p| format!("{:.3} ≤ {:.3}", root(&p.weights), best + p.error)),
        );
    }
    println!();
    header("test error");
    for (name, found) in &found {
        let errors: Result<Vec<_>, _> = found.iter().map(|p| error(&p.weights)).collect();
        line(name, errors?.into_iter());
        let again: Result<Vec<_>, koan_trainer::Error> =
            found.iter().map(|p| error(&prunable.refit(&p.features(), wanted.as_ref())?)).collect();
        line(&format!("{name}, refitted"), again?.into_iter());
    }
    println!();
    Ok(())
}
