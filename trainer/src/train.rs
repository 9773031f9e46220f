//! Training: choose, fit, round, write, check.

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use koan::{Family, Law, Width};
use rayon::prelude::*;
use serde::Serialize;

use crate::blob::{HeadSpec, ModelSpec};
use crate::calibrate;
use crate::data::{SplitSize, Table, Target, Task, split};
use crate::evaluate::{Evaluation, evaluate, of_confusion, of_values};
use crate::features::{BLOCK_ROWS, FeatureBlock, FeatureMap};
use crate::head::{RoundedOutput, assemble};
use crate::moments::Moments;
use crate::plan::{BankPlan, all_off};

use crate::problem::Problem;
use crate::progress::Progress;
use crate::quantise::{Rounding, round};
use crate::ridge::{LAMBDAS, LinearFit, System, best_on};
use crate::select::{SPARSE_LAMBDAS, choose, sparse_slots, weighted_mean};
use crate::sparse::{Cells, Problem as SparseProblem};
use crate::{Error, TrainOptions};

/// Columns up to which a Gram matrix is formed; more only for bins alone.
const MAX_DENSE: usize = 16_384;

/// A trained model and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The blob.
    pub blob: Vec<u8>,
    /// What was done and how good it is.
    pub report: Report,
}

/// What training did, in the terms of the command line's `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `classification` or `regression`.
    pub task: String,
    /// Families of the banks, joined by commas.
    pub family: String,
    /// Laws of the banks, joined by commas.
    pub projection: String,
    /// Features of all banks (columns of the head).
    pub features: usize,
    /// Bits of a weight.
    pub bits: u8,
    /// Bytes of the blob.
    pub bytes: usize,
    /// Fraction misclassified, or relative RMS error, of the blob on the test
    /// rows.
    pub error: f64,
    /// Test rows.
    pub rows: usize,
    /// Wall-clock seconds, from the table in memory to the checked blob.
    pub seconds: f64,
    /// Rows trained on.
    pub train_rows: usize,
    /// Inputs of a row.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Seed of the model.
    pub seed: u64,
    /// The kind of input map.
    pub map: String,
    /// Inputs that go through their logarithm.
    pub logged_inputs: usize,
    /// Whether a bandwidth was learned for every input.
    pub relevance: bool,
    /// Bandwidth of each bank, relative to the spread of the data.
    pub bandwidth: Vec<f64>,
    /// λ, relative to a feature's variance times the rows (for bins alone: in
    /// rows).
    pub lambda: f64,
    /// Error on the test rows with real-valued weights.
    pub error_float: f64,
    /// Error on the test rows with each weight rounded to the nearest level.
    pub error_nearest: f64,
    /// Error on the test rows with compensated rounding: the blob's.
    pub error_compensated: f64,
    /// What a user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Real-valued scores of a table's rows: rows × outputs, row-major.
type FloatScores = Box<dyn Fn(&Table) -> Result<Vec<f64>, Error>>;

/// A fit, rounded both ways.
struct Fitted {
    spec: ModelSpec,
    float: FloatScores,
    nearest: HeadSpec,
    compensated: HeadSpec,
    calibration: Option<koan::Calibration>,
    lambda: f64,
}

/// Trains a model on `train` and judges it on `test`.
///
/// The same table, options and seed give the same blob, whatever the number of
/// threads.
///
/// # Errors
/// Options that do not go together, or more than the format can hold.
pub fn train(
    train: &Table,
    test: &Table,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Trained, Error> {
    let start = Instant::now();
    let problem = Problem::new(train, options.balanced);
    check(&problem)?;
    let banks = bank_plans(train, options)?;
    let rows: Vec<usize> = (0..train.rows()).collect();
    let choice = choose(&problem, &rows, &banks, options, progress)?;

    let mut warnings = Vec::new();
    if all_off(&choice.spec.maps) {
        warnings.push("every input is constant: the model predicts without looking".to_owned());
    }
    let fitted = match sparse_slots(&choice.spec) {
        Some(slot_bits) => fit_sparse(&problem, choice.spec.clone(), slot_bits, options, progress)?,
        None => fit_dense(&problem, choice.spec.clone(), options, progress)?,
    };
    let finish = |head: &HeadSpec, golden: usize| -> Result<Vec<u8>, Error> {
        let mut spec = fitted.spec.clone();
        spec.task = match problem.task() {
            Task::Classification => koan::Task::Classification,
            Task::Regression => koan::Task::Regression,
        };
        spec.head = Some(head.clone());
        spec.calibration = fitted.calibration;
        spec.class_names.clone_from(&train.schema.classes);
        spec.notes = options.notes(&train.schema)?;
        spec.golden_rows = (0..golden.min(train.rows())).map(|i| train.row(i).to_vec()).collect();
        Ok(spec.encode()?)
    };
    progress.phase("writing and checking the model");
    let blob = finish(&fitted.compensated, options.golden_rows)?;
    crate::blob::predictor(&blob)?.self_test()?;
    let evaluation = evaluate(&blob, test)?;
    let seconds = start.elapsed().as_secs_f64();
    let error_float = judge_float(&fitted, test)?.error;
    let error_nearest = evaluate(&finish(&fitted.nearest, 0)?, test)?.error;
    let join = |names: Vec<&str>| names.join(",");
    let laws = |bank: &BankPlan| if bank.groups.is_empty() { bank.law.name() } else { "groups" };
    let report = Report {
        task: match problem.task() {
            Task::Classification => "classification".into(),
            Task::Regression => "regression".into(),
        },
        family: join(choice.banks.iter().map(|bank| bank.family.name()).collect()),
        projection: join(choice.banks.iter().map(laws).collect()),
        features: fitted.spec.banks.iter().map(crate::blob::BankSpec::columns).sum(),
        bits: options.bits_for(problem.task()),
        bytes: blob.len(),
        error: evaluation.error,
        rows: evaluation.rows,
        seconds,
        train_rows: train.rows(),
        inputs: train.inputs,
        outputs: problem.outputs,
        seed: options.seed,
        map: choice.kind.name().into(),
        logged_inputs: choice.normaliser.logged_inputs(),
        relevance: choice.relevance,
        bandwidth: choice.banks.iter().map(|bank| bank.bandwidth).collect(),
        lambda: fitted.lambda,
        error_float,
        error_nearest,
        error_compensated: evaluation.error,
        warnings,
    };
    progress.finish();
    Ok(Trained { blob, report })
}

fn check(problem: &Problem<'_>) -> Result<(), Error> {
    let table = problem.table;
    if table.inputs > usize::from(u16::MAX) {
        return Err(Error::TooMany { what: "inputs", found: table.inputs, most: 65_535 });
    }
    if problem.outputs > 255 {
        return Err(Error::TooMany { what: "classes", found: problem.outputs, most: 255 });
    }
    if table.rows() < 2 {
        return Err(Error::Options("training needs at least two rows".into()));
    }
    Ok(())
}

/// The banks that the options ask for.
fn bank_plans(table: &Table, options: &TrainOptions) -> Result<Vec<BankPlan>, Error> {
    let mut banks = options.banks(table.inputs)?;
    if options.linear {
        banks.push(BankPlan {
            family: Family::Linear,
            law: Law::None,
            features: table.inputs as u16,
            bandwidth: 1.0,
            groups: Vec::new(),
        });
    }
    let columns: usize = banks
        .iter()
        .map(|bank| match bank.family {
            Family::Bin { slot_bits } => usize::from(bank.features) << slot_bits,
            _ => usize::from(bank.features),
        })
        .sum();
    let alone = matches!(banks.as_slice(), [BankPlan { family: Family::Bin { .. }, .. }]);
    let most = if alone { koan::format::MAX_COLUMNS as usize } else { MAX_DENSE };
    if columns > most {
        return Err(Error::TooMany { what: "features", found: columns, most });
    }
    Ok(banks)
}

/// Rows to fit on and rows to hold out for λ and calibration: 15 %, at most
/// 10,000.
fn hold_out(problem: &Problem<'_>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let rows = problem.table.rows();
    let held = ((rows as f64 * 0.15).ceil() as usize).clamp(1, 10_000).min(rows - 1);
    split(&problem.table.target, SplitSize::TestRows(held), seed ^ 0x5eed)
        .unwrap_or_else(|_| ((0..rows).collect(), Vec::new()))
}

fn widths(bits: u8) -> Vec<Width> {
    // Odd levels (no zero) suit few bits, even levels have a zero: both are
    // tried where the choice matters.
    match bits {
        2..=4 => [false, true].map(|odd| Width { bits, odd }).to_vec(),
        bits => vec![Width { bits, odd: false }],
    }
}

fn fit_dense(
    problem: &Problem<'_>,
    spec: ModelSpec,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let bits = options.bits_for(problem.task());
    let map = FeatureMap::new(&spec)?;
    let (fit_rows, held_rows) = hold_out(problem, options.seed);
    progress.phase("computing features");
    let mut moments = problem.moments(&map, &fit_rows, progress)?;
    let held = problem.moments(&map, &held_rows, progress)?;
    progress.phase("solving");
    let given = options.lambda.map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&LAMBDAS[..], |given| &given[..]);
    let system = System::new(&moments);
    let held_fit = match options.lambda {
        Some(lambda) => system.solve(lambda),
        None => best_on(&system, &held, lambdas).0,
    };
    let calibration = match &problem.table.target {
        Target::Classes { labels } => {
            let labels: Vec<u32> = held_rows.iter().map(|&row| labels[row]).collect();
            let scores = scores(&map, &held_fit, problem.table, &held_rows)?;
            Some(calibrate::fit(&scores, &labels, problem.outputs))
        }
        Target::Values(_) => None,
    };

    progress.phase("rounding the weights");
    let lambda = match options.lambda {
        Some(lambda) => lambda,
        None => lambda_for_rounding(&system, &held, &spec, bits, held_fit.lambda),
    };
    drop(system);
    moments.merge(&held);
    let system = System::new(&moments);
    drop(moments);
    let fit = system.solve(lambda);
    let head = |rounding| {
        let rounded = widths(bits)
            .into_iter()
            .map(|width| RoundedFit::new(&system, &spec, width, lambda, rounding))
            .reduce(|a, b| if b.excess < a.excess { b } else { a });
        let rounded = rounded.expect("there is at least one width");
        assemble(&spec, rounded.width, &rounded.outputs)
    };
    let (nearest, compensated) = (head(Rounding::Nearest), head(Rounding::Compensated));
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        scores(&map, &fit, table, &rows)
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda })
}

/// All outputs of a fit, rounded.
struct RoundedFit {
    width: Width,
    outputs: Vec<RoundedOutput>,
    /// The weights that the codes stand for, K × T.
    weights: Mat<f64>,
    bias: Vec<f64>,
    /// What the rounding adds to the ridge objective, over all outputs.
    excess: f64,
}

impl RoundedFit {
    fn new(
        system: &System,
        spec: &ModelSpec,
        width: Width,
        lambda: f64,
        rounding: Rounding,
    ) -> Self {
        let (factor, lambda) = system.factor(lambda);
        let matrix = system.regularised(lambda);
        let fit = system.solve_with(&factor, lambda);
        let banks: Vec<(usize, Width)> =
            spec.banks.iter().map(|bank| (bank.columns(), width)).collect();
        let bank_of: Vec<usize> = banks
            .iter()
            .enumerate()
            .flat_map(|(bank, &(columns, _))| std::iter::repeat_n(bank, columns))
            .collect();
        // Outputs are independent: in parallel they give the same codes.
        let rounded: Vec<_> = (0..fit.bias.len())
            .into_par_iter()
            .map(|output| {
                let weights: Vec<f64> =
                    (0..bank_of.len()).map(|k| fit.weights[(k, output)]).collect();
                round(&weights, &banks, factor.L(), matrix.as_ref(), rounding)
            })
            .collect();
        let excess = rounded.iter().map(|rounded| rounded.excess).sum();
        let weights = Mat::from_fn(bank_of.len(), rounded.len(), |k, output| {
            rounded[output].levels[bank_of[k]].weight(rounded[output].codes[k])
        });
        let bias = system.bias(&weights);
        let outputs = rounded
            .into_iter()
            .zip(&bias)
            .map(|(rounded, &bias)| RoundedOutput {
                codes: rounded.codes,
                levels: rounded.levels,
                bias,
            })
            .collect();
        Self { width, outputs, weights, bias, excess }
    }
}

/// The λ whose *rounded* weights are best on held-out rows: from the best one
/// for real weights upwards in half decades while the error falls. Stronger
/// shrinkage gives smaller, more even weights, which few bits hold better.
fn lambda_for_rounding(
    system: &System,
    held: &Moments,
    spec: &ModelSpec,
    bits: u8,
    start: f64,
) -> f64 {
    let width = Width { bits, odd: bits <= 4 };
    let error = |lambda: f64| {
        let rounded = RoundedFit::new(system, spec, width, lambda, Rounding::Compensated);
        held.mean_squared_error(rounded.weights.as_ref(), &rounded.bias)
    };
    let mut best = (error(start), start);
    let mut lambda = start;
    let mut worse = 0;
    // One rise may be chance, two in a row are not.
    while worse < 2 && lambda < 1.0 {
        lambda *= 10f64.sqrt();
        let reached = error(lambda);
        if reached < best.0 {
            best = (reached, lambda);
            worse = 0;
        } else {
            worse += 1;
        }
    }
    best.1
}

/// Real-valued scores: rows × outputs, row-major.
fn scores(
    map: &FeatureMap,
    fit: &LinearFit,
    table: &Table,
    rows: &[usize],
) -> Result<Vec<f64>, Error> {
    let outputs = fit.bias.len();
    let mut all = Vec::with_capacity(rows.len() * outputs);
    let mut block = FeatureBlock::default();
    for part in rows.chunks(BLOCK_ROWS) {
        map.block(table, part, &mut block)?;
        let mut product = Mat::<f64>::zeros(outputs, part.len());
        let weights = fit.weights.transpose();
        matmul(product.as_mut(), Accum::Replace, weights, block.matrix(), 1.0, Par::Seq);
        for row in 0..part.len() {
            all.extend((0..outputs).map(|output| product[(output, row)] + fit.bias[output]));
        }
    }
    Ok(all)
}

fn fit_sparse(
    problem: &Problem<'_>,
    spec: ModelSpec,
    slot_bits: u8,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let bits = options.bits_for(problem.task());
    let map = FeatureMap::new(&spec)?;
    progress.phase("computing cells");
    let cells = |table: &Table, rows: &[usize]| -> Result<Cells, koan::Error> {
        Ok(Cells::new(&map.codes_of(table, rows)?, map.codes(), slot_bits))
    };
    let (fit_rows, held_rows) = hold_out(problem, options.seed);
    let (fit_cells, held_cells) =
        (cells(problem.table, &fit_rows)?, cells(problem.table, &held_rows)?);
    progress.phase("solving");
    let solve = |cells: &Cells, rows: &[usize], output: usize, lambdas: &[f64]| {
        let mean = weighted_mean(problem, rows, output);
        let targets: Vec<f64> = rows.iter().map(|&r| problem.target(r, output) - mean).collect();
        let weights: Vec<f64> = rows.iter().map(|&r| problem.weight(r)).collect();
        let mut path = Vec::new();
        let mut last = vec![0.0; map.features()];
        for &lambda in lambdas {
            last = cells.ridge(&targets, &weights, lambda, &last, 1e-4);
            path.push(last.clone());
        }
        (mean, targets, weights, path)
    };
    let given = options.lambda.map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&SPARSE_LAMBDAS[..], |given| &given[..]);
    let mut errors = vec![0.0; lambdas.len()];
    // Held-out scores of every λ: [λ][output][row].
    let mut held_scores = vec![Vec::new(); lambdas.len()];
    for output in 0..problem.outputs {
        let (mean, _, _, path) = solve(&fit_cells, &fit_rows, output, lambdas);
        for (index, weights) in path.iter().enumerate() {
            let values: Vec<f64> =
                held_cells.apply(weights).iter().map(|value| value + mean).collect();
            for (&row, value) in held_rows.iter().zip(&values) {
                errors[index] +=
                    problem.weight(row) * (value - problem.target(row, output)).powi(2);
            }
            held_scores[index].push(values);
        }
    }
    let best = (0..lambdas.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
    let lambda = lambdas[best];
    let calibration = match &problem.table.target {
        Target::Classes { labels } => {
            let labels: Vec<u32> = held_rows.iter().map(|&row| labels[row]).collect();
            let by_row: Vec<f64> = (0..held_rows.len())
                .flat_map(|row| held_scores[best].iter().map(move |values| values[row]))
                .collect();
            Some(calibrate::fit(&by_row, &labels, problem.outputs))
        }
        Target::Values(_) => None,
    };
    drop((fit_cells, held_cells, held_scores));

    let rows: Vec<usize> = (0..problem.table.rows()).collect();
    let all = cells(problem.table, &rows)?;
    let mut float_weights = Vec::new();
    let mut fits = Vec::new();
    for output in 0..problem.outputs {
        let (mean, targets, weights, mut path) = solve(&all, &rows, output, &lambdas[best..=best]);
        let solution = path.pop().unwrap_or_default();
        float_weights.push((mean, solution.clone()));
        fits.push((mean, targets, weights, solution));
    }
    progress.phase("rounding the weights");
    let head = |sweeps: usize| -> HeadSpec {
        let attempt = |width: Width| {
            let rounded: Vec<_> = fits
                .iter()
                .map(|(_, targets, weights, solution)| {
                    let problem = SparseProblem { targets, rows: weights, lambda };
                    all.round(&problem, solution, width, sweeps)
                })
                .collect();
            let objective: f64 = rounded.iter().map(|rounded| rounded.objective).sum();
            (objective, width, rounded)
        };
        let attempts = widths(bits).into_iter().map(attempt);
        let best = attempts.reduce(|a, b| if b.0 < a.0 { b } else { a });
        let (_, width, rounded) = best.expect("there is at least one width");
        let outputs: Vec<RoundedOutput> = rounded
            .into_iter()
            .zip(&fits)
            .map(|(rounded, (mean, targets, weights, _))| {
                let values: Vec<f64> =
                    rounded.codes.iter().map(|&code| rounded.levels.weight(code)).collect();
                let total: f64 = weights.iter().sum();
                let left: f64 = all
                    .apply(&values)
                    .iter()
                    .zip(targets)
                    .zip(weights)
                    .map(|((value, y), weight)| weight * (y - value))
                    .sum();
                let levels = vec![rounded.head_levels()];
                RoundedOutput { codes: rounded.codes, levels, bias: mean + left / total }
            })
            .collect();
        assemble(&spec, width, &outputs)
    };
    let (nearest, compensated) = (head(0), head(8));
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        let cells = Cells::new(&map.codes_of(table, &rows)?, map.codes(), slot_bits);
        let values: Vec<Vec<f64>> = float_weights
            .iter()
            .map(|(mean, weights)| cells.apply(weights).iter().map(|v| v + mean).collect())
            .collect();
        Ok((0..table.rows()).flat_map(|row| values.iter().map(move |v| v[row])).collect())
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda })
}

/// The evaluation of real-valued weights.
fn judge_float(fitted: &Fitted, test: &Table) -> Result<Evaluation, Error> {
    let scores = (fitted.float)(test)?;
    let outputs = scores.len() / test.rows().max(1);
    Ok(match &test.target {
        Target::Values(values) => {
            of_values(values.iter().zip(&scores).map(|(&y, &v)| (f64::from(y), v)))
        }
        Target::Classes { labels } => {
            let classes = test.schema.classes.len();
            let mut confusion = vec![vec![0u64; classes]; classes];
            for (&label, row) in labels.iter().zip(scores.chunks_exact(outputs.max(1))) {
                let class = if let [score] = row {
                    usize::from(*score > 0.0)
                } else {
                    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
                };
                confusion[label as usize][class] += 1;
            }
            of_confusion(confusion)
        }
    })
}
