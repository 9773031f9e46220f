//! Training on files that are larger than memory.
//!
//! The files are read four times: to infer what the columns are; to draw a
//! sample of the training rows, on which everything is chosen; to sum up the
//! features of the training rows (K² numbers, whatever the rows); and to test.
//! For the logistic loss the third pass is of gradients, and there are several.
//! It is [`distributed`](crate::distributed) training on one machine: whether a row trains or
//! tests follows from its content and the seed alone.

mod checkpoint;
mod passes;
mod sample;

use std::path::PathBuf;
use web_time::{Duration, Instant};

use koan_data::stream::{Block, for_each_block, stand_in};
use koan_data::{DataWarning, ReadOptions, Table};

use crate::baseline::{Baselines, Constant, Linear};
use crate::distributed::{Finished, Plan, Roles, check_options, finish_with, plan};
use crate::evaluate::{Tally, evaluate, of_scores};
use crate::fit::Fitted;
use crate::progress::Progress;
use crate::solve::Loss;
use crate::train::{TestErrors, judge_float};
use crate::{Error, TrainOptions, Trained};

pub use checkpoint::{Checkpoint, remove};
use passes::Passes;

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
    check_options(options)?;
    let fraction = if stream.test.is_empty() { stream.test_fraction } else { 0.0 };
    let roles = Roles::new(options.seed, fraction)?;
    if stream.test.is_empty() && fraction == 0.0 {
        let problem = "without test files a part of the rows must be for the test";
        return Err(Error::parameter("test_fraction", problem));
    }
    let is_new = resume.is_none();
    let mut checkpoint = match resume {
        Some(checkpoint) => checkpoint,
        None => {
            let identity = checkpoint::identity(stream, options)?;
            let sampled = sample::sample(stream, roles, progress)?;
            let checkpoint = Checkpoint::new(identity, sampled);
            checkpoint.save(&stream.checkpoint)?;
            checkpoint
        }
    };
    let planned = checkpoint.sampled.sample().and_then(|sample| plan(sample, options, progress));
    if is_new && planned.as_ref().is_err_and(|error| !matches!(error, Error::Cancelled)) {
        // It would be in the way of other options.
        remove(&stream.checkpoint);
    }
    let (plan, choice) = planned?;
    let read = checkpoint.sampled.read_options(&stream.read);
    let rows = checkpoint.sampled.rows();

    let passes = Passes { stream, plan: &plan, read: &read, rows, progress };
    let descent;
    let summed = match plan.loss() {
        Loss::Logistic => {
            descent = passes.descent(&mut checkpoint)?;
            (&descent).into()
        }
        _ => passes.sums(&mut checkpoint)?.into(),
    };
    drop(checkpoint);

    let test = Test { stream, read, plan: &plan, rows };
    let mut left_out = Vec::new();
    let judge = |sample: &Table, seed, blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        progress.phase("testing")?;
        let (errors, of_test) = test.errors(sample, seed, blob, nearest, fitted, progress)?;
        left_out = of_test;
        Ok(errors)
    };
    let finished = finish_with(start, &plan, summed, progress, judge);
    if stream.test.is_empty() && matches!(finished, Err(Error::Impossible(_))) {
        // Nor would it end otherwise when it is resumed; test files may be mended.
        remove(&stream.checkpoint);
    }
    let Finished { blob, mut report } = finished?;
    report.warnings.extend(left_out.iter().map(ToString::to_string));
    Ok(Trained { blob, report, choice })
}

/// The rows for the test.
struct Test<'t> {
    stream: &'t StreamOptions,
    /// How the files to train on are read.
    read: ReadOptions,
    plan: &'t Plan,
    /// Rows of the files to train on.
    rows: u64,
}

impl Test<'_> {
    /// The errors, and what is to be said of rows of test files.
    fn errors(
        &self,
        sample: &Table,
        seed: u64,
        blob: &[u8],
        nearest: &[u8],
        fitted: &Fitted,
        progress: &Progress,
    ) -> Result<(TestErrors, Vec<DataWarning>), Error> {
        let (constant, linear) = (Constant::fit(sample), Linear::fit(sample, seed)?);
        let mut tallies = [(); 5].map(|()| Tally::default());
        let own = self.stream.test.is_empty();
        let (files, read) = match own {
            true => (&self.stream.files, &self.read),
            false => (&self.stream.test, &self.stream.read_test),
        };
        let take = |block: Block| -> Result<(), Error> {
            progress.rows(block.next as usize, self.rows as usize)?;
            let mut table = match own {
                true => self.plan.test_rows((&block).into()),
                false => block.table,
            };
            if table.rows() == 0 {
                return Ok(());
            }
            stand_in(&mut table, self.plan.filled());
            tallies[0].add(&evaluate(blob, &table)?, &table);
            tallies[1].add(&evaluate(nearest, &table)?, &table);
            tallies[2].add(&judge_float(fitted, &table)?, &table);
            tallies[3].add(&of_scores(&table, &constant.scores(&table)), &table);
            if let Some(linear) = &linear {
                tallies[4].add(&of_scores(&table, &linear.scores(&table)?), &table);
            }
            Ok(())
        };
        let mut left_out = for_each_block(files, self.plan.schema(), read, 0, take)?;
        if own {
            // The pass that drew the sample has said it.
            left_out.clear();
        }
        if tallies[0].rows() == 0 {
            return Err(Error::Impossible("no rows are left for the test".into()));
        }
        let [blob, nearest, float, constant, of_linear] = tallies.map(Tally::finish);
        let baselines = Baselines::of(&constant, linear.map(|_| &of_linear));
        Ok((TestErrors { blob, nearest, float, baselines }, left_out))
    }
}
