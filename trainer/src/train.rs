//! Training: choose, fit, round, write, check.

use std::time::Instant;

use koan::{Family, Law};
use serde::Serialize;

use crate::blob::HeadSpec;
use crate::data::{Table, Target, Task};
use crate::evaluate::{Evaluation, evaluate, of_confusion, of_values};
use crate::fit::{Fitted, fit_dense, fit_sparse};
use crate::judge::sparse_slots;
use crate::plan::{BankPlan, all_off};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::select::{Choice, choose};
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
    /// Cross-validation: the error on each part; `error` and its kin are then
    /// means over the parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fold_errors: Vec<f64>,
    /// What a user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
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
    // Factorisations and products of real numbers in one thread: their last bits
    // must not depend on how many there are. The Gram matrix, which is exact in
    // any order, and the features are what is worth all threads.
    faer::set_global_parallelism(faer::Par::Seq);
    let problem = Problem::new(train, options.balanced);
    check(&problem)?;
    let banks = bank_plans(train, options)?;
    let rows: Vec<usize> = (0..train.rows()).collect();
    let choice = choose(&problem, &rows, &banks, options, progress)?;

    let fitted = match sparse_slots(&choice.spec) {
        Some(slot_bits) => fit_sparse(&problem, choice.spec.clone(), slot_bits, options, progress)?,
        None => fit_dense(&problem, choice.spec.clone(), options, progress)?,
    };
    let judge = |blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        Ok([evaluate(blob, test)?, evaluate(nearest, test)?, judge_float(fitted, test)?])
    };
    conclude(start, &problem, choice, fitted, train.rows(), options, progress, judge)
}

/// Writes, checks and judges the model of a fit: `judge` evaluates the blob, the
/// blob of nearest rounding, and the weights before rounding. The problem's
/// table need not hold all of the `train_rows`.
#[allow(clippy::too_many_arguments, reason = "the end of two kinds of training")]
pub(crate) fn conclude(
    start: Instant,
    problem: &Problem<'_>,
    choice: Choice,
    fitted: Fitted,
    train_rows: usize,
    options: &TrainOptions,
    progress: &Progress,
    judge: impl FnOnce(&[u8], &[u8], &Fitted) -> Result<[Evaluation; 3], Error>,
) -> Result<Trained, Error> {
    let train = problem.table;
    let mut warnings = Vec::new();
    if all_off(&choice.spec.maps) {
        warnings.push("every input is constant: the model predicts without looking".to_owned());
    }
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
    let seconds = start.elapsed().as_secs_f64();
    let [evaluation, nearest, float] = judge(&blob, &finish(&fitted.nearest, 0)?, &fitted)?;
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
        train_rows,
        inputs: train.inputs,
        outputs: problem.outputs,
        seed: options.seed,
        map: choice.kind.name().into(),
        logged_inputs: choice.normaliser.logged_inputs(),
        relevance: choice.relevance,
        bandwidth: choice.banks.iter().map(|bank| bank.bandwidth).collect(),
        lambda: fitted.lambda,
        error_float: float.error,
        error_nearest: nearest.error,
        error_compensated: evaluation.error,
        fold_errors: Vec::new(),
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
pub(crate) fn bank_plans(table: &Table, options: &TrainOptions) -> Result<Vec<BankPlan>, Error> {
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
    let columns: usize = banks.iter().map(BankPlan::columns).sum();
    let alone = matches!(banks.as_slice(), [BankPlan { family: Family::Bin { .. }, .. }]);
    let most = if alone { koan::format::MAX_COLUMNS as usize } else { MAX_DENSE };
    if columns > most {
        return Err(Error::TooMany { what: "features", found: columns, most });
    }
    Ok(banks)
}

/// Checks that a Gram matrix can be formed, also of bins.
pub(crate) fn dense_columns(banks: &[BankPlan], options: &TrainOptions) -> Result<(), Error> {
    let columns: usize = banks.iter().map(BankPlan::columns).sum();
    if columns > MAX_DENSE {
        return Err(Error::TooMany { what: "features", found: columns, most: MAX_DENSE });
    }
    if options.lambda.is_some() && matches!(banks, [BankPlan { family: Family::Bin { .. }, .. }]) {
        return Err(Error::Options(
            "for bins alone lambda counts rows in memory, but not in streaming: leave it out"
                .into(),
        ));
    }
    Ok(())
}

/// The evaluation of real-valued weights.
pub(crate) fn judge_float(fitted: &Fitted, test: &Table) -> Result<Evaluation, Error> {
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
