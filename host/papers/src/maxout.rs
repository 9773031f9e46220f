//! Table 1 of *Random Maxout Features*: MNIST by ridge regression on m units of
//! q projections.

use std::time::Instant;

use faer::Mat;
use koan::{Family, Law};

use super::Settings;
use super::section::{Grid, Plot, Section, Series, mean_and_deviation, percent};
use koan_data::{ReadOptions, SplitSize, Table, read, read_with, split};
use koan_trainer::Error;
use koan_trainer::internal::evaluate::of_scores;
use koan_trainer::internal::features::FeatureMap;
use koan_trainer::internal::normalise::{Axis, Normaliser};
use koan_trainer::internal::plan::{BankPlan, realise};
use koan_trainer::internal::problem::Problem;
use koan_trainer::internal::ridge::{LinearFit, System, best_on};
use koan_trainer::internal::solve::Design;

const TRAIN: &str = "mnist/train-images-idx3-ubyte.gz";
const TEST: &str = "mnist/t10k-images-idx3-ubyte.gz";

/// Units of the table's columns.
const UNITS: [usize; 5] = [100, 500, 1000, 5000, 10_000];
/// The paper's table: q, then mean error and deviation for each m, in percent.
#[rustfmt::skip]
const PAPER: [(u8, [(f64, f64); 5]); 5] = [
    (1, [(17.68, 0.28), (14.76, 0.23), (14.64, 0.08), (15.02, 0.64), (15.12, 0.58)]),
    (2, [(16.95, 0.53), (7.98, 0.22), (5.62, 0.18), (2.86, 0.11), (2.35, 0.04)]),
    (4, [(18.24, 0.39), (7.70, 0.24), (5.50, 0.16), (2.78, 0.07), (2.23, 0.07)]),
    (8, [(18.90, 0.28), (7.98, 0.47), (5.59, 0.19), (2.81, 0.10), (2.32, 0.09)]),
    (16, [(20.57, 0.76), (8.19, 0.21), (5.66, 0.15), (2.87, 0.12), (2.58, 0.04)]),
];
/// Draws of the smaller maps.
const DRAWS: usize = 5;
/// Projections of a unit for which the largest map is drawn [`LARGE_DRAWS`] times.
const COMPARED: [u8; 3] = [2, 4, 8];
/// Draws of the largest map there.
const LARGE_DRAWS: usize = 3;
/// Projections of a unit for which these are Gaussian: with so many from one transform,
/// whose rows are related, errors are higher than the paper's.
const GAUSSIAN: u8 = 8;
/// Rows held out for λ.
const HELD: usize = 10_000;
/// Values of λ, relative to a feature's variance times the rows.
const LAMBDAS: [f64; 6] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];

/// Runs the experiment.
///
/// # Errors
/// Data that are there but cannot be read.
pub fn run(settings: &Settings) -> Result<Section, Error> {
    let start = Instant::now();
    let mut section = Section::new("Maxout features on MNIST (Random Maxout Features, Table 1)");
    let Some(files) = settings.files(&[TRAIN, TEST]) else {
        section.skipped.push("mnist".into());
        return Ok(section);
    };
    let options = ReadOptions::default();
    let train = read(&files[0], &options)?;
    let test = read_with(&files[1], &train.schema, &options)?;
    let most = if settings.full { 5 } else { 4 };
    section.protocol.push(format!(
        "The files' own split. Pixels as they are, without offset; q projections of a unit by the \
         signed transform (hadamard), at q = {GAUSSIAN} Gaussian as the paper's, which takes \
         longer; ridge regression on ±1 targets with real-valued weights; λ by {HELD} of the \
         training rows held out, then the fit to all. Up to m = 1000 there are {DRAWS} draws, \
         disjoint parts of one map of the largest m; of the largest m {}. Mean ± standard deviation of the test error in \
         percent.",
        if settings.full {
            format!("{DRAWS}")
        } else {
            format!("{LARGE_DRAWS} (q = 2, 4, 8) or 1")
        }
    ));
    let head = ["q", "m", "Koan", "paper", "difference", "draws", "s"];
    let mut grid = Grid::new("Paper beside Koan; seconds of all draws of a q.", &head);
    let mut plot = Plot {
        title: "MNIST: error over m".into(),
        axes: ["units m".into(), "test error, %".into()],
        log: [true, true],
        series: Vec::new(),
    };
    let mut far = Vec::new();
    let (mut compared, mut near, mut below) = (0, 0, 0);
    for (q, paper) in PAPER {
        let clock = Instant::now();
        let draws = if settings.full {
            DRAWS
        } else if COMPARED.contains(&q) {
            LARGE_DRAWS
        } else {
            1
        };
        let mut errors: Vec<Vec<f64>> = vec![Vec::new(); most];
        for draw in 0..draws {
            let seed = settings.seed + draw as u64;
            one_map(settings, &train, &test, q, seed, &UNITS[..most], &mut errors)?;
        }
        let seconds = clock.elapsed().as_secs_f64();
        let mut line = Vec::new();
        for (index, errors) in errors.iter().enumerate() {
            let (mean, deviation) = mean_and_deviation(errors);
            let (theirs, spread) = paper[index];
            let difference = 100.0 * mean - theirs;
            let m = UNITS[index];
            if COMPARED.contains(&q) && m <= 5000 {
                compared += 1;
                near += usize::from(difference <= 0.3);
                below += usize::from(difference < -0.3);
            }
            if difference.abs() > (2.0 * spread).max(0.3) {
                far.push(format!("q = {q}, m = {m} ({difference:+.2})"));
            }
            line.push((m as f64, 100.0 * mean));
            grid.row([
                q.to_string(),
                m.to_string(),
                if errors.len() > 1 {
                    format!("{} ± {}", percent(mean), percent(deviation))
                } else {
                    percent(mean)
                },
                format!("{theirs:.2} ± {spread:.2}"),
                format!("{difference:+.2}"),
                errors.len().to_string(),
                if index == 0 { format!("{seconds:.0}") } else { String::new() },
            ]);
        }
        plot.series.push(Series::line(&format!("Koan, q = {q}"), line));
        if q == 4 {
            let theirs = (0..most).map(|i| (UNITS[i] as f64, paper[i].0)).collect();
            plot.series.push(Series::points("paper, q = 4", theirs));
        }
    }
    section.grids.push(grid);
    section.plots.push(plot);
    section.findings.push(format!(
        "At q = 2, 4, 8 and m ≤ 5000, {near} of {compared} errors are at most 0.3 points above the \
         paper's; {below} are more than that below it."
    ));
    if !far.is_empty() {
        section.findings.push(format!(
            "Further away than 0.3 points and two of the paper's deviations: {}.",
            far.join("; ")
        ));
    }
    section.seconds = start.elapsed().as_secs_f64();
    Ok(section)
}

/// One map of the largest number of units: its error, and those of disjoint
/// parts of it for the smaller numbers, until there are [`DRAWS`].
fn one_map(
    settings: &Settings,
    train: &Table,
    test: &Table,
    pool: u8,
    seed: u64,
    units: &[usize],
    errors: &mut [Vec<f64>],
) -> Result<(), Error> {
    let all = *units.last().unwrap_or(&0);
    settings.progress.phase(&format!("maxout, q = {pool}, m = {all}"))?;
    let axis = Axis { log: false, offset: 0.0, scale: 1.0 / 255.0 };
    let normaliser = Normaliser { period: 1, axes: vec![axis; train.inputs] };
    let rows: Vec<usize> = (0..train.rows()).collect();
    let spread = normaliser.spread(train, &rows);
    let plan = BankPlan {
        family: Family::Maxout { pool, shared: 0 },
        law: if pool == GAUSSIAN { Law::Gaussian } else { Law::Hadamard },
        features: all as u16,
        frequency: 1.0,
        groups: Vec::new(),
        kept: None,
    };
    let map = FeatureMap::new(&realise(seed, &[plan], &normaliser, &spread))?;
    let problem = Problem::new(train, false);
    let held = HELD.min(train.rows() / 4);
    let (fit_rows, held_rows) = split(&train.target, SplitSize::TestRows(held), settings.seed)?;
    let fit = problem.moments(&map, &fit_rows, &settings.progress)?;
    let held = problem.moments(&map, &held_rows, &settings.progress)?;
    let judged: Vec<usize> = (0..test.rows()).collect();
    let design = Design::of(&map, test, &judged)?;
    for (&m, errors) in units.iter().zip(errors) {
        let parts = if m == all { 1 } else { (all / m).min(DRAWS) };
        for part in 0..parts {
            if m != all && errors.len() >= DRAWS {
                break;
            }
            let range: Vec<usize> = (part * m..(part + 1) * m).collect();
            let (mut sums, held) = (fit.select(&range), held.select(&range));
            let lambda = best_on(&System::new(&sums), &held, &LAMBDAS).0.lambda;
            sums.merge(&held);
            let chosen = System::new(&sums).solve(lambda);
            errors.push(error(test, &design, &chosen, part * m));
        }
    }
    Ok(())
}

/// The test error of a fit to the features from number `first` on.
fn error(test: &Table, design: &Design, fit: &LinearFit, first: usize) -> f64 {
    let (count, outputs) = (fit.weights.nrows(), fit.bias.len());
    let mut weights = Mat::<f64>::zeros(design.features(), outputs);
    weights.as_mut().subrows_mut(first, count).copy_from(&fit.weights);
    let scores = design.scores(weights.as_ref(), &fit.bias);
    let scores: Vec<f64> = (0..test.rows())
        .flat_map(|row| (0..outputs).map(move |t| (row, t)))
        .map(|(row, t)| scores[(t, row)])
        .collect();
    of_scores(test, &scores).error
}
