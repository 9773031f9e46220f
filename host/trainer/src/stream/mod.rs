//! Training on files that are larger than memory.
//!
//! The files are read four times: to infer what the columns are; to draw a
//! sample of the training rows, on which everything is chosen; to sum up the
//! features of the training rows (K² numbers, whatever the rows); and to test.
//! Whether a row trains or tests follows from its number and the seed alone.
//! The sums are enough for ridge regression and nothing else.

mod checkpoint;
mod sample;
mod sums;

use std::collections::HashSet;
use std::path::PathBuf;
use web_time::{Duration, Instant};

use koan::Family;
use koan_data::ReadOptions;
use koan_data::stream::for_each_block;
use wyhash::final3::{make_secret, wyhash};

use crate::baseline::{Baselines, Constant, Linear};
use crate::evaluate::{Tally, evaluate, of_scores};
use crate::features::FeatureMap;
use crate::fit::{Fitted, fit_moments, hold_out};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::select::choose;
use crate::solve::Loss;
use crate::train::{TestErrors, bank_plans, conclude, dense_columns, judge_float};
use crate::{Error, Goal, TrainOptions, Trained};

pub use checkpoint::{Checkpoint, remove};

use sums::{Sums, weighted};

/// What to train on, and how to go about it.
#[derive(Clone, Debug)]
pub struct StreamOptions {
    /// Files to train on.
    pub files: Vec<PathBuf>,
    /// How to read them.
    pub read: ReadOptions,
    /// Files to test on; if there are none, some rows of the others are held out.
    pub test: Vec<PathBuf>,
    /// How to read the test files.
    pub read_test: ReadOptions,
    /// Part of the rows to test on, without test files: each row (or each
    /// recording, where there are groups) with this probability.
    pub test_fraction: f64,
    /// Rows of the sample that everything is chosen on, at most.
    pub sample_rows: usize,
    /// Where checkpoints are written.
    pub checkpoint: PathBuf,
    /// Time from one checkpoint to the next.
    pub interval: Duration,
}

/// Which rows train and which test.
pub(crate) struct Roles {
    seed: u64,
    secret: [u64; 4],
    /// Hashes below this test.
    threshold: u64,
    by_group: bool,
}

impl Roles {
    fn new(stream: &StreamOptions, seed: u64) -> Self {
        let fraction = if stream.test.is_empty() { stream.test_fraction } else { 0.0 };
        let threshold = (fraction * 2f64.powi(64)) as u64;
        Self {
            seed,
            secret: make_secret(seed ^ 0x7e57),
            threshold,
            by_group: stream.read.group.is_some(),
        }
    }

    /// Whether the row of that number, of that recording, is trained on.
    fn trains(&self, number: u64, group: &[u8]) -> bool {
        let number = number.to_le_bytes();
        let key = if self.by_group { group } else { &number };
        wyhash(key, self.seed, self.secret) >= self.threshold
    }
}

/// Trains a model on files of any size.
///
/// `resume` is a checkpoint that [`Checkpoint::load`] gave: the same bytes come
/// out, as if the training had not been interrupted. The checkpoint is left to
/// the caller, to [`remove`] when the model is safe.
///
/// # Errors
/// Options that do not go together, bad data, or a checkpoint that cannot be
/// written.
pub fn train_stream(
    stream: &StreamOptions,
    options: &TrainOptions,
    resume: Option<Checkpoint>,
    progress: &Progress,
) -> Result<Trained, Error> {
    let start = Instant::now();
    check(options)?;
    if stream.read.weights.is_some() {
        let message = "weights of rows need the rows in memory: streaming cannot fit them";
        return Err(Error::parameter("weights", message));
    }
    if !(0.0..1.0).contains(&stream.test_fraction) {
        let fraction = stream.test_fraction;
        return Err(Error::parameter(
            "test_fraction",
            format!("a test fraction of {fraction} is not within 0 to 1"),
        ));
    }
    let roles = Roles::new(stream, options.seed);
    let mut checkpoint = match resume {
        Some(checkpoint) => checkpoint,
        None => {
            let identity = checkpoint::identity(stream, options)?;
            let sampled = sample::sample(stream, &roles, options.balanced, progress)?;
            let checkpoint = Checkpoint::new(identity, sampled);
            checkpoint.save(&stream.checkpoint)?;
            checkpoint
        }
    };
    let sampled = checkpoint.sampled.clone();
    let table = sampled.table()?;
    let read =
        ReadOptions { header: sampled.header, delimiter: sampled.delimiter, ..stream.read.clone() };

    let problem = Problem::new(&table, options.balanced);
    let banks = bank_plans(&table, options)?;
    dense_columns(&banks, options)?;
    if banks.iter().any(|bank| matches!(bank.family, Family::Fern { .. })) {
        let message = "ferns are chosen by rows in memory, not by those of a stream";
        return Err(Error::parameter("family", message));
    }
    let rows: Vec<usize> = (0..table.rows()).collect();
    let choice = choose(&problem, &rows, &banks, options, progress)?;
    let map = FeatureMap::new(&choice.spec)?;
    let weights = class_weights(&sampled.class_rows);
    let (_, held_rows) = hold_out(&problem, options.seed);
    let held: HashSet<u64> = held_rows.iter().map(|&row| sampled.numbers[row]).collect();

    progress.phase("computing features")?;
    let mut sums = match checkpoint.sums.take() {
        Some(stored) => {
            Sums::restore(stored, map.features(), problem.outputs).ok_or_else(|| {
                let file = stream.checkpoint.display().to_string();
                Error::Checkpoint { file, problem: "sums of another size; delete it".into() }
            })?
        }
        None => Sums::new(map.features(), problem.outputs),
    };
    let mut written = Instant::now();
    let mut interval = stream.interval;
    let wanted = |number: u64, group: &[u8]| roles.trains(number, group) && !held.contains(&number);
    for_each_block(
        &stream.files,
        &table.schema,
        &read,
        checkpoint.next,
        wanted,
        |block| -> Result<(), Error> {
            sums.add(&block.table, &map, weights.as_deref())?;
            checkpoint.next = block.next;
            progress.rows(block.next as usize, sampled.rows as usize)?;
            if written.elapsed() >= interval {
                let before = Instant::now();
                checkpoint.sums = Some(sums.store());
                checkpoint.save(&stream.checkpoint)?;
                checkpoint.sums = None;
                written = Instant::now();
                // Large sums are written less often: a twentieth of the time.
                interval = interval.max(20 * (written - before));
            }
            Ok(())
        },
    )?;
    checkpoint.sums = Some(sums.store());
    checkpoint.save(&stream.checkpoint)?;
    drop(checkpoint);

    let problem = weighted(&table, weights.as_deref());
    let moments = sums.finish().in_units(map.units());
    let fitted =
        fit_moments(&problem, map, choice.spec.clone(), moments, &held_rows, options, progress)?;
    let judge = |blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        progress.phase("testing")?;
        let (constant, linear) = (Constant::fit(&table), Linear::fit(&table, options.seed)?);
        let mut tallies = [(); 5].map(|()| Tally::default());
        let files = if stream.test.is_empty() { &stream.files } else { &stream.test };
        let read = if stream.test.is_empty() { &read } else { &stream.read_test };
        let tests =
            |number: u64, group: &[u8]| !stream.test.is_empty() || !roles.trains(number, group);
        for_each_block(files, &table.schema, read, 0, tests, |block| -> Result<(), Error> {
            tallies[0].add(&evaluate(blob, &block.table)?, &block.table);
            tallies[1].add(&evaluate(nearest, &block.table)?, &block.table);
            tallies[2].add(&judge_float(fitted, &block.table)?, &block.table);
            tallies[3].add(&of_scores(&block.table, &constant.scores(&block.table)), &block.table);
            if let Some(linear) = &linear {
                let scores = linear.scores(&block.table)?;
                tallies[4].add(&of_scores(&block.table, &scores), &block.table);
            }
            progress.rows(block.next as usize, sampled.rows as usize)?;
            Ok(())
        })?;
        if tallies[0].rows() == 0 {
            return Err(Error::Impossible("no rows are left for the test".into()));
        }
        let [blob, nearest, float, constant, of_linear] = tallies.map(Tally::finish);
        let linear = linear.map(|_| of_linear.error);
        let baselines = Baselines { constant: constant.error, linear };
        Ok(TestErrors { blob, nearest, float, baselines })
    };
    let train_rows = sampled.train_rows as usize;
    conclude(start, &problem, choice, fitted, train_rows, options, progress, judge)
}

/// What only sums of features and targets are enough for.
fn check(options: &TrainOptions) -> Result<(), Error> {
    let refused = |name, what: &str| {
        let problem = format!("{what} needs the rows in memory: streaming cannot fit it");
        Err(Error::parameter(name, problem))
    };
    match options.goal {
        Goal::Predict if options.box_c.is_some() => refused("box_c", "a box"),
        Goal::Predict if options.loss != Loss::Squared => {
            refused("loss", &format!("the loss {}", options.loss.name()))
        }
        Goal::Predict => Ok(()),
        Goal::Embed { .. } => refused("goal", "an embedding"),
        Goal::Features => refused("goal", "a model of features alone"),
        Goal::Detect { .. } => refused("goal", "anomaly detection"),
    }
}

/// The weight of each class that gives all the same sum; none if the rows of
/// classes were not counted.
fn class_weights(rows: &[u64]) -> Option<Vec<f64>> {
    if rows.is_empty() {
        return None;
    }
    let share = rows.iter().sum::<u64>() as f64 / rows.len() as f64;
    Some(rows.iter().map(|&count| share / count.max(1) as f64).collect())
}
