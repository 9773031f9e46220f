//! What a report shows beyond one model: how the error depends on the number of
//! features, on the bits of a weight and on the training rows.
//!
//! The runs take the input map, the frequencies and the laws of the model that was
//! trained; only the head is fitted again. How far they go is bounded by counts,
//! not by time, so that the same data and seed give the same figures. The test
//! rows are only evaluated: nothing is chosen by them.

mod predictions;
#[cfg(test)]
mod tests;

use koan::Model;
use koan::generator::Stream;

use crate::blob::{BankSpec, ModelSpec, whole};
use crate::evaluate::evaluate;
use crate::features::FeatureMap;
use crate::fit::{Fitted, fit_moments};
use crate::folds::{drawn_rows, hold_out, shuffled};
use crate::options::{HeadOptions, Purpose};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::train::{encode, fit_all, has_leaves};
use crate::validation::sparse_slots;
use crate::{Error, TrainOptions};
use koan_data::Table;

pub use predictions::{predicted_classes, probabilities, values};

/// Training rows that the runs of other sizes see at most.
const TRAIN_ROWS: usize = 20_000;
/// Of ferns, which each run chooses anew: rows times ferns times outputs, and rows at least.
const FERNS: usize = 2_000_000;
const ROWS_OF_FERNS: usize = 2_000;
/// Test rows that judge them at most.
const TEST_ROWS: usize = 10_000;
/// Features of the largest run, for ridge regression...
const RIDGE_COLUMNS: usize = 1024;
/// ...and for the other solvers.
const LOSS_COLUMNS: usize = 512;
/// Halvings of the number of features.
const HALVINGS: u32 = 5;
/// Training rows of the smallest run of a learning curve.
const FEWEST_ROWS: usize = 40;
/// Points of a learning curve at most.
const LESSONS: u32 = 6;
/// Features from which it has half as many.
const WIDE: usize = 2048;

/// The runs.
#[derive(Clone, Debug, PartialEq)]
pub struct LearningCurves {
    /// Training rows that the runs saw.
    pub train_rows: usize,
    /// Test rows that judged them.
    pub test_rows: usize,
    /// Features of the largest run.
    pub features: usize,
    /// Bits of a weight of the learning curve, and of the model.
    pub bits: u8,
    /// Models of different size, fitted to all of `train_rows`.
    pub runs: Vec<Run>,
    /// Models of different training rows with all of the model's features, from the fewest
    /// on; the last one is the model itself.
    pub by_rows: Vec<LearningPoint>,
}

/// A model of another size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Columns of the head.
    pub features: usize,
    /// Bits of a weight.
    pub bits: u8,
    /// Bytes of the blob.
    pub bytes: usize,
    /// On the test rows, as [`evaluate`] has it.
    pub error: f64,
}

/// A model of fewer training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningPoint {
    /// Training rows.
    pub rows: usize,
    /// Error on these rows.
    pub train_error: f64,
    /// Error on the test rows.
    pub test_error: f64,
}

/// Trains models with the features of the model `blob`, which predicts a target and was fitted
/// with `lambda`, or fewer, on `train` and judges them on `test`.
///
/// # Errors
/// What training may fail with.
pub fn learning_curves(
    (blob, lambda): (&[u8], f64),
    train: &Table,
    test: &Table,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<LearningCurves, Error> {
    let options = &options.with_loss(train);
    let test = thinned(test, TEST_ROWS, options.seed);
    // λ is relative to the rows: that of the model suits fewer of them as well.
    let own = TrainOptions { lambda: Some(lambda), ..options.clone() };
    let mut spec = ModelSpec::features_of(&Model::parse(blob)?);
    let by_rows = learning(blob, train, &test, &spec, &own, progress)?;
    let head = options.head(train.schema.task());
    let mut rows = TRAIN_ROWS;
    if has_leaves(&spec, &head) {
        // Fewer ferns are chosen anew, as training does.
        spec.banks.iter_mut().for_each(|bank| bank.kept = None);
        let ferns: usize = spec.banks.iter().map(|bank| usize::from(bank.features)).sum();
        let each = ferns * train.schema.classes.len().max(1);
        rows = (FERNS / each.max(1)).clamp(ROWS_OF_FERNS, TRAIN_ROWS);
    }
    let train = thinned(train, rows, options.seed);
    let spec = capped(&spec, &head);
    let bits = head.bits;
    let runs = sizes(&train, &test, &spec, options, progress)?;
    Ok(LearningCurves {
        train_rows: train.rows(),
        test_rows: test.rows(),
        features: spec.banks.iter().map(BankSpec::columns).sum(),
        bits,
        runs,
        by_rows,
    })
}

/// At most so many rows.
fn thinned(table: &Table, most: usize, seed: u64) -> Table {
    table.select(&drawn_rows(table.rows(), most, seed))
}

/// Whether fits are sums over the cells of bins alone, or over the leaves of ferns: cheap however
/// many there are.
fn is_cheap(spec: &ModelSpec, head: &HeadOptions) -> bool {
    has_leaves(spec, head) || sparse_slots(spec).is_some()
}

/// The specification with as many features as the runs may have.
fn capped(spec: &ModelSpec, head: &HeadOptions) -> ModelSpec {
    let most = if head.is_ridge() { RIDGE_COLUMNS } else { LOSS_COLUMNS };
    let mut capped = spec.clone();
    let columns = |spec: &ModelSpec| spec.banks.iter().map(BankSpec::columns).sum::<usize>();
    for halvings in 1..u16::BITS {
        if is_cheap(spec, head) || columns(&capped) <= most {
            break;
        }
        let fewer = halved(&spec.banks, halvings);
        // One feature of each bank is left, and all linear terms.
        if fewer == capped.banks {
            break;
        }
        capped.banks = fewer;
    }
    capped
}

/// The banks with their features halved so many times; linear terms stay whole.
fn halved(banks: &[BankSpec], times: u32) -> Vec<BankSpec> {
    let fewer = |bank: &BankSpec| {
        let features = match bank.family {
            koan::Family::Linear => bank.features,
            // Kept features need not make up whole filters.
            _ if bank.kept.is_some() => (bank.features >> times).max(1),
            family => whole(family, bank.features >> times),
        };
        let first = |kept: &Vec<u32>| kept.iter().copied().take(features.into()).collect();
        BankSpec { features, kept: bank.kept.as_ref().map(first), ..bank.clone() }
    };
    banks.iter().map(fewer).collect()
}

/// Models of every size: where one Gram matrix serves them all, every number of
/// features with every number of bits; otherwise one after the other.
fn sizes(
    train: &Table,
    test: &Table,
    spec: &ModelSpec,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Vec<Run>, Error> {
    let problem = Problem::new(train, options.balanced);
    let head = options.head(problem.task());
    let shared = head.is_ridge() && !is_cheap(spec, &head);
    let quiet = Progress::none();
    let (fit_rows, held_rows) = hold_out(&problem, options.seed);
    let moments = if shared {
        progress.phase("report: features")?;
        Some(problem.moments(&FeatureMap::new(spec)?, &fit_rows, &quiet)?)
    } else {
        None
    };
    let mut banks: Vec<Vec<BankSpec>> = Vec::new();
    for times in 0..=HALVINGS {
        let fewer = halved(&spec.banks, times);
        if !banks.contains(&fewer) {
            banks.push(fewer);
        }
    }
    let mut runs = Vec::new();
    for (index, banks) in banks.into_iter().enumerate() {
        let smaller = ModelSpec { banks, ..spec.clone() };
        let features = smaller.banks.iter().map(BankSpec::columns).sum();
        let part = moments.as_ref().map(|all| all.select(&kept(&spec.banks, &smaller.banks)));
        for bits in koan::Width::BITS {
            if !shared && index > 0 && bits != head.bits {
                continue;
            }
            progress.phase(&format!("report: {features} features, {bits} bits"))?;
            let head = HeadOptions { bits, purpose: Purpose::LearningCurve, ..head.clone() };
            let fitted = match part.clone() {
                Some(moments) => {
                    let map = FeatureMap::new(&smaller)?;
                    let spec = smaller.clone();
                    fit_moments(&problem, map, spec, moments, &held_rows, &head, &quiet)?
                }
                None => fitted(&problem, smaller.clone(), &head)?,
            };
            let blob =
                encode(&problem, &fitted, &fitted.compensated, options.blob().without_rows())?;
            let error = evaluate(&blob, test)?.error;
            runs.push(Run { features, bits, bytes: blob.len(), error });
        }
    }
    Ok(runs)
}

/// Which columns of the head of `all` banks stay with `fewer` features: a bank's
/// first features do not depend on how many follow.
fn kept(all: &[BankSpec], fewer: &[BankSpec]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut start = 0;
    for (bank, smaller) in all.iter().zip(fewer) {
        kept.extend(bank.first(smaller.features).into_iter().map(|column| start + column));
        start += bank.columns();
    }
    kept
}

/// A fit from the rows on.
fn fitted(problem: &Problem<'_>, spec: ModelSpec, options: &HeadOptions) -> Result<Fitted, Error> {
    let options = HeadOptions { purpose: Purpose::LearningCurve, ..options.clone() };
    fit_all(problem, spec, &options, &Progress::none())
}

/// Models of ever more training rows, each with those before and with the features, the bits
/// and the loss of the model, which is the last one itself.
fn learning(
    blob: &[u8],
    train: &Table,
    test: &Table,
    spec: &ModelSpec,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Vec<LearningPoint>, Error> {
    let order = shuffled(train.rows(), Stream::new(options.seed, 9));
    let mut by_rows = Vec::new();
    let mut point = |blob: &[u8], rows: usize| -> Result<(), Error> {
        let seen = train.select(&order[..rows.min(TEST_ROWS)]);
        by_rows.push(LearningPoint {
            rows,
            train_error: evaluate(blob, &seen)?.error,
            test_error: evaluate(blob, test)?.error,
        });
        Ok(())
    };
    let columns: usize = spec.banks.iter().map(BankSpec::columns).sum();
    let lessons = if columns > WIDE { LESSONS / 2 } else { LESSONS };
    let counts = (1..lessons).rev().map(|times| train.rows() >> times);
    for count in counts.filter(|&count| count >= FEWEST_ROWS) {
        progress.phase(&format!("report: {count} training rows"))?;
        let part = train.select(&order[..count]);
        let problem = Problem::new(&part, options.balanced);
        let fitted = fitted(&problem, spec.clone(), &options.head(problem.task()))?;
        point(
            &encode(&problem, &fitted, &fitted.compensated, options.blob().without_rows())?,
            count,
        )?;
    }
    point(blob, train.rows())?;
    Ok(by_rows)
}
