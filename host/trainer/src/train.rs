//! Training: choose, fit, round, write, check.

use std::borrow::Cow;
use web_time::Instant;

use koan::{Family, Law};

use crate::anomaly::{detect, detector, far_passed, normal_rows_of};
use crate::baseline::Baselines;
use crate::blob::{HeadSpec, ModelSpec};
use crate::check::{check, check_balanced, check_channels};
use crate::evaluate::{Evaluation, evaluate, of_scores};
use crate::ferns;
use crate::fit::{Fitted, fit_dense, fit_loss, fit_parts, fit_sparse};
use crate::head::rounded;
use crate::options::{BlobOptions, HeadOptions};
use crate::plan::BankPlan;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::prune::select_candidates;
use crate::report::{Chosen, Report};
use crate::select::{Choice, choose};
use crate::series;
use crate::solve::Loss;
use crate::unsupervised::{Unsupervised, embedding, plain, variance_lost};
use crate::validation::sparse_slots;
use crate::{Error, Goal, TrainOptions};
use koan_data::{Schema, Table, Task};

/// Columns up to which a Gram matrix is formed; more only for bins alone.
const MAX_DENSE: usize = 16_384;
/// Banks of a blob, one for each family.
const MAX_BANKS: usize = 255;

/// A trained model and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The blob.
    pub blob: Vec<u8>,
    /// What was done and how good it is.
    pub report: Report,
    /// The features that were chosen, and what else was tried.
    pub choice: Choice,
}

/// Trains a model on `train` and judges it on `test`; without a table to test on, the errors of
/// the report are NaN.
///
/// The same table, options and seed give the same blob, whatever the number of
/// threads.
///
/// # Errors
/// Options that do not go together, or more than the format can hold.
pub fn train(
    train: &Table,
    test: Option<&Table>,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Trained, Error> {
    let start = Instant::now();
    let none = train.select(&[]);
    let test = test.unwrap_or(&none);
    let (train, test) = with_categories(train, test, &options.categories)?;
    let (train, test) = (train.as_ref(), test.as_ref());
    check_balanced(train, options.balanced)?;
    check_channels(train, options)?;
    let problem = Problem::new(train, options.balanced);
    check(&problem)?;
    // Before the fit, after which it would be in vain.
    options.blob().notes(&train.schema)?;
    if train.weights.is_some() && options.goal != Goal::Predict {
        let message = "weights of rows go with a target: embeddings and anomalies have none";
        return Err(Error::parameter("weights", message));
    }
    let banks = bank_plans(train, options)?;
    match options.goal {
        Goal::Predict => {
            let options = &options.with_loss(train);
            train_target(&problem, test, &banks, options, progress, start)
        }
        Goal::Embed { outputs } => {
            progress.phase("computing principal components")?;
            let made = embedding(train, &banks, outputs, options)?;
            finish_embedding(train, test, made, options, start)
        }
        Goal::Features => {
            let choice = plain(train, &banks, options);
            let made = Unsupervised { spec: choice.spec.clone(), choice };
            finish_features(train, made, options, start)
        }
        Goal::Detect { normal, false_alarm } => {
            progress.phase("computing the mean of normal rows")?;
            let made = detector(train, normal, &banks, false_alarm, options)?;
            finish_detector(train, test, normal, made, options, start)
        }
    }
}

/// Both tables with these columns as categories.
///
/// # Errors
/// Columns that cannot be categories.
pub(crate) fn with_categories<'t>(
    train: &'t Table,
    test: &'t Table,
    columns: &[usize],
) -> Result<(Cow<'t, Table>, Cow<'t, Table>), Error> {
    if columns.is_empty() {
        return Ok((Cow::Borrowed(train), Cow::Borrowed(test)));
    }
    let train = train.with_categories(columns)?;
    let test = test.with_categories_of(&train.schema);
    Ok((Cow::Owned(train), Cow::Owned(test)))
}

/// A head that predicts the target.
fn train_target(
    problem: &Problem<'_>,
    test: &Table,
    banks: &[BankPlan],
    options: &TrainOptions,
    progress: &Progress,
    start: Instant,
) -> Result<Trained, Error> {
    let train = problem.table;
    let (choice, fitted) = fit(problem, banks, options, progress)?;
    let judge = |blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        Ok(TestErrors {
            blob: evaluate(blob, test)?,
            nearest: evaluate(nearest, test)?,
            float: judge_float(fitted, test)?,
            baselines: {
                progress.phase("fitting baselines")?;
                Baselines::held_out(train, test, options.seed)?
            },
        })
    };
    let chosen = Chosen::of(&choice);
    let (blob, report) =
        conclude(start, problem, &chosen, fitted, train.rows(), options, progress, judge)?;
    Ok(Trained { blob, report, choice })
}

/// Chooses what is left open, and fits a head.
fn fit(
    problem: &Problem<'_>,
    banks: &[BankPlan],
    options: &TrainOptions,
    progress: &Progress,
) -> Result<(Choice, Fitted), Error> {
    let rows: Vec<usize> = (0..problem.table.rows()).collect();
    let choice = choose(problem, &rows, banks, &options.choice(problem.task()), progress)?;
    let head = options.head(problem.task());
    let fitted = fit_head(problem, &choice.spec, &head, progress)?;
    Ok((choice, fitted))
}

/// Fits a head to the features of `spec`, or to the best of them.
pub(crate) fn fit_head(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    if has_leaves(spec, options) {
        return ferns::fit_ferns(problem, spec, options, progress);
    }
    if ferns::is_open(spec) {
        return fit_with_ferns(problem, spec, options, progress);
    }
    if options.is_ridge()
        && let Some(fitted) = fit_parts(problem, spec, options, progress)?
    {
        return Ok(fitted);
    }
    let spec = match options.candidates {
        Some(candidates) => select_candidates(problem, spec, candidates, options, progress)?,
        None => spec.clone(),
    };
    fit_all(problem, spec, options, progress)
}

/// Fits a head to all features of `spec`, of which no ferns are still to be chosen.
pub(crate) fn fit_all(
    problem: &Problem<'_>,
    spec: ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    match sparse_slots(&spec) {
        _ if has_leaves(&spec, options) => ferns::fit_ferns(problem, &spec, options, progress),
        _ if !options.is_ridge() => fit_loss(problem, spec, options, progress),
        Some(slot_bits) => fit_sparse(problem, spec, slot_bits, options, progress),
        None => fit_dense(problem, spec, options, progress),
    }
}

/// Whether the weights are those of the leaves of ferns alone, which are fitted by sums over leaves.
pub(crate) fn has_leaves(spec: &ModelSpec, options: &HeadOptions) -> bool {
    ferns::is_alone(spec) && options.box_c.is_none() && options.loss != Loss::Hinge
}

/// Fits a head to ferns beside other features, or by another loss: the ferns are chosen first,
/// by themselves.
fn fit_with_ferns(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let spec = ferns::grown(problem, spec, options, progress)?;
    let options = HeadOptions { candidates: None, ..options.clone() };
    fit_head(problem, &spec, &options, progress)
}

/// The blob of a fit with one of its heads.
pub(crate) fn encode(
    problem: &Problem<'_>,
    fitted: &Fitted,
    head: &HeadSpec,
    options: BlobOptions,
) -> Result<Vec<u8>, Error> {
    let train = problem.table;
    let mut spec = fitted.spec.clone();
    spec.task = match problem.task() {
        Task::Classification => koan::Task::Classification,
        Task::Regression => koan::Task::Regression,
    };
    spec.head = Some(head.clone());
    spec.calibration = fitted.calibration.map(rounded);
    complete(spec, train, &train.schema, options)
}

/// How good a fit is on the test rows.
pub(crate) struct TestErrors {
    /// The blob.
    pub blob: Evaluation,
    /// The blob of nearest rounding.
    pub nearest: Evaluation,
    /// The weights before rounding.
    pub float: Evaluation,
    /// What it must beat.
    pub baselines: Baselines,
}

/// Writes, checks and judges the model of a fit: `judge` is given the blob, the
/// blob of nearest rounding, and the weights before rounding. The problem's
/// table need not hold all of the `train_rows`.
#[allow(clippy::too_many_arguments, reason = "the end of two kinds of training")]
pub(crate) fn conclude(
    start: Instant,
    problem: &Problem<'_>,
    chosen: &Chosen,
    fitted: Fitted,
    train_rows: usize,
    options: &TrainOptions,
    progress: &Progress,
    judge: impl FnOnce(&[u8], &[u8], &Fitted) -> Result<TestErrors, Error>,
) -> Result<(Vec<u8>, Report), Error> {
    let train = problem.table;
    progress.phase("writing and checking the model")?;
    let blob = encode(problem, &fitted, &fitted.compensated, options.blob())?;
    let seconds = start.elapsed().as_secs_f64();
    // Every whole model has one.
    let nearest = fitted.nearest.as_ref().unwrap_or(&fitted.compensated);
    let nearest = encode(problem, &fitted, nearest, options.blob().without_rows())?;
    let judged = judge(&blob, &nearest, &fitted)?;
    let error = judged.blob.error;
    let mut report = Report {
        train_rows,
        loss: Some(options.loss()),
        box_c: options.box_c,
        lambda: fitted.lambda,
        rmse: judged.blob.rmse,
        weighted_error: judged.blob.weighted_error,
        error_float: Some(judged.float.error),
        error_nearest: Some(judged.nearest.error),
        error_compensated: Some(error),
        baselines: Some(judged.baselines),
        ..Report::of(train, judged.blob.rows, chosen, &blob, options, seconds)
    };
    report.task = match problem.task() {
        Task::Classification => "classification".into(),
        Task::Regression => "regression".into(),
    };
    report.error = error;
    report.warnings.extend(fitted.warnings);
    // Without test rows nothing is known.
    let known = options.balanced && judged.blob.rows > 0;
    report.doubted.balanced = known.then(|| {
        let classes = judged.blob.confusion.iter().filter(|rows| rows.iter().any(|&n| n > 0));
        [judged.blob.balanced_error(), crate::doubts::of_one_class(classes.count())]
    });
    report.doubt(crate::doubts::of(&report, train, report.doubted.balanced));
    Ok((blob, report))
}

/// The blob of a specification with head: names, notes, golden rows. The blob
/// has passed its self test.
fn complete(
    mut spec: ModelSpec,
    train: &Table,
    schema: &Schema,
    options: BlobOptions,
) -> Result<Vec<u8>, Error> {
    spec.class_names.clone_from(&schema.classes);
    spec.notes = options.notes(schema)?;
    spec.golden_rows =
        (0..options.golden_rows.min(train.rows())).map(|i| train.row(i).to_vec()).collect();
    let blob = spec.encode()?;
    crate::blob::predictor(&blob)?.self_test()?;
    Ok(blob)
}

fn finish_embedding(
    train: &Table,
    test: &Table,
    made: Unsupervised,
    options: &TrainOptions,
    start: Instant,
) -> Result<Trained, Error> {
    let Unsupervised { spec, choice } = made;
    // Coordinates are no classes, whatever the ignored target is.
    let schema = Schema { classes: Vec::new(), positive: None, ..train.schema.clone() };
    let blob = complete(spec, train, &schema, options.blob())?;
    let error = variance_lost(&blob, &choice.spec, test)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut report = Report::of(train, test.rows(), &Chosen::of(&choice), &blob, options, seconds);
    (report.task, report.error) = ("embedding".into(), error);
    Ok(Trained { blob, report, choice })
}

fn finish_features(
    train: &Table,
    made: Unsupervised,
    options: &TrainOptions,
    start: Instant,
) -> Result<Trained, Error> {
    let Unsupervised { spec, choice } = made;
    let schema = Schema { classes: Vec::new(), positive: None, ..train.schema.clone() };
    let blob = complete(spec, train, &schema, options.blob().without_rows())?;
    let seconds = start.elapsed().as_secs_f64();
    let mut report = Report::of(train, 0, &Chosen::of(&choice), &blob, options, seconds);
    report.task = "features".into();
    Ok(Trained { blob, report, choice })
}

fn finish_detector(
    train: &Table,
    test: &Table,
    normal: Option<u32>,
    made: Unsupervised,
    options: &TrainOptions,
    start: Instant,
) -> Result<Trained, Error> {
    let Unsupervised { spec, choice } = made;
    let mut schema = train.schema.clone();
    if normal.is_none() || schema.classes.len() != 2 {
        let name = normal.and_then(|class| schema.classes.get(class as usize).cloned());
        let name = name.unwrap_or_else(|| "normal".into());
        (schema.classes, schema.positive) = (vec!["anomaly".into(), name], None);
    }
    let blob = complete(spec, train, &schema, options.blob())?;
    let detection = detect(&blob, test, normal)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut report = Report::of(train, test.rows(), &Chosen::of(&choice), &blob, options, seconds);
    report.task = "anomaly".into();
    report.error = detection.error;
    if let Goal::Detect { false_alarm, .. } = options.goal {
        let far = far_passed(&blob, train, normal)?;
        let rows = normal_rows_of(test, normal).len();
        report.doubted.far = far;
        report.doubt(crate::doubts::of_detector(&detection, rows, false_alarm, far));
    }
    report.detection = Some(detection);
    Ok(Trained { blob, report, choice })
}

/// The banks that the options ask for.
pub(crate) fn bank_plans(table: &Table, options: &TrainOptions) -> Result<Vec<BankPlan>, Error> {
    let mut banks = options.banks(&table.schema)?;
    for bank in &mut banks {
        if let (Family::Series(series), None) = (bank.family, options.series) {
            bank.family = Family::Series(series::measured(series, table, options.map));
        }
    }
    if options.linear {
        banks.push(BankPlan {
            family: Family::Linear,
            law: Law::None,
            features: table.inputs as u16,
            frequency: 1.0,
            groups: Vec::new(),
            kept: None,
        });
    }
    if banks.len() > MAX_BANKS {
        let found = banks.len();
        return Err(Error::TooMany { what: "families", found, most: MAX_BANKS });
    }
    let columns: usize = banks.iter().map(BankPlan::columns).sum();
    let alone = matches!(banks.as_slice(), [BankPlan { family: Family::Bin { .. }, .. }]);
    let most = most_columns(alone, true);
    if columns > most {
        return Err(Error::TooMany { what: "features", found: columns, most });
    }
    Ok(banks)
}

/// Columns that the features of a model may have together: of bins alone, of others whose head is
/// a ridge regression, or of those with another loss or a box.
#[must_use]
pub const fn most_columns(bins_alone: bool, ridge: bool) -> usize {
    match (ridge, bins_alone) {
        (false, _) => crate::fit::MAX_FEATURES,
        (true, true) => koan::format::MAX_COLUMNS as usize,
        (true, false) => MAX_DENSE,
    }
}

/// Checks that a Gram matrix can be formed, also of bins.
pub(crate) fn dense_columns(banks: &[BankPlan], options: &TrainOptions) -> Result<(), Error> {
    let columns: usize = banks.iter().map(BankPlan::columns).sum();
    if columns > MAX_DENSE {
        return Err(Error::TooMany { what: "features", found: columns, most: MAX_DENSE });
    }
    if options.lambda.is_some() && matches!(banks, [BankPlan { family: Family::Bin { .. }, .. }]) {
        return Err(Error::parameter(
            "lambda",
            "for bins alone lambda counts rows in memory, but not in streaming: leave it out",
        ));
    }
    Ok(())
}

/// The evaluation of real-valued weights.
pub(crate) fn judge_float(fitted: &Fitted, test: &Table) -> Result<Evaluation, Error> {
    Ok(of_scores(test, &(fitted.float)(test)?))
}
