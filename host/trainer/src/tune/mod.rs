//! Searching for models: families, projections, frequencies, input maps, numbers
//! of features, bits and λ, by successive halving on cross-validated error; then, for
//! the best of them, features kept from a larger pool, and another loss.
//!
//! A candidate is a [`TrainOptions`]; what comes out of a search are the
//! candidates on the Pareto front of bytes against error, trained by
//! [`train()`](crate::train()) as any model is. The test rows are looked at once, by the
//! models of the front.

mod budget;
mod cost;
mod curve;
mod folds;
mod footprint;
mod front;
mod halving;
mod inputs;
mod largest_sizes;
mod metric;
mod next;
mod pace;
mod rank;
mod sizes;
mod space;
mod variants;

use std::time::{Duration, Instant};

use koan::Model;

pub use cost::Core;
pub use halving::Rung;
pub use metric::Metric;
pub use rank::Point;
pub use sizes::Limits;
pub use space::{FAMILIES, Space};

use crate::evaluate::{Evaluation, evaluate};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solve::Loss;
use crate::{Error, FamilyName, Goal, Report, TrainOptions, Trained, train};
use koan_data::{Table, Task};

use halving::{Search, Searched};
use variants::Variants;

/// Bytes of a blob that are searched when no limit is given.
pub const FLASH: usize = 4096;
/// Bytes of a blob that `koan train` chooses if it is not told.
pub const USUAL_FLASH: usize = 2048;
/// Time that its search plans for.
const SHORT: Duration = Duration::from_secs(6);
/// Points of the front, at most.
const POINTS: usize = 8;
/// Share of the time after which the search ends; the rest is for the last fits.
const SEARCHING: f64 = 0.75;
/// Share of the time that its rungs plan for; the rest of the search is for variants of
/// the best points.
const RUNGS: f64 = 0.6;
/// Column names that take more than this share of the flash are left out.
const NAMES_SHARE: f64 = 0.1;

/// What a search is asked to do.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// What is given, in `base`, is kept; the rest is searched.
    pub space: Space,
    /// What a model may cost.
    pub limits: Limits,
    /// What is made small.
    pub metric: Metric,
    /// The time that the search plans for; it is ended when that is over, but for the
    /// training of the best model on all rows.
    pub time: Duration,
    /// Whether the clock ends the search; otherwise the time only plans it.
    pub clock: bool,
}

/// A model of the front.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The options, and how good they were on held-out training rows.
    pub point: Point,
    /// The blob.
    pub blob: Vec<u8>,
    /// How training went, on all training rows.
    pub report: Report,
    /// How good the blob is on the test rows.
    pub test: Evaluation,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The front, smallest model first; the best one is the last.
    pub front: Vec<Tuned>,
    /// Bytes and loss of all that was judged in the last rung.
    pub judged: Vec<(usize, f64)>,
    /// What the search did.
    pub rungs: Vec<Rung>,
    /// Whether there was not time for all of the plan: then the result may be
    /// another one on another machine.
    pub cut: bool,
    /// Whether column names were left out to save bytes.
    pub nameless: bool,
}

/// Searches on `train_table`, and judges the models of the front on `test`; without a table to
/// test on, their test errors are NaN.
///
/// The same table, options and time give the same models, whatever the number
/// of threads, unless the clock ends the search ([`Outcome::cut`]).
///
/// # Errors
/// Limits that no model can keep, a metric that does not suit the target, or
/// what [`train()`](crate::train()) refuses.
pub fn tune(
    train_table: &Table,
    test: Option<&Table>,
    options: &TuneOptions,
    progress: &Progress,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let chosen = search(train_table, options, POINTS, progress)?;
    let Chosen { points, judged, rungs, mut cut, nameless } = chosen;
    let none = train_table.select(&[]);
    let mut front = Vec::new();
    // The best first: it is there however long the others take.
    for point in points.into_iter().rev() {
        if options.clock && !front.is_empty() && start.elapsed() >= options.time {
            cut = true;
            break;
        }
        progress.phase(&format!("training a model of {} bytes", point.bytes))?;
        front.extend(fitted(train_table, test.unwrap_or(&none), point, options.limits.flash)?);
    }
    front.reverse();
    Ok(Outcome { front, judged, rungs, cut, nameless })
}

/// The model of a point, trained on all rows; with fewer kept features where their list is
/// longer than the search took it for. None if no number of them fits into `flash` bytes.
fn fitted(
    train_table: &Table,
    test: &Table,
    mut point: Point,
    flash: usize,
) -> Result<Option<Tuned>, Error> {
    let selected = point.options.candidates.is_some();
    loop {
        let Trained { blob, report, .. } =
            train(train_table, Some(test), &point.options, &Progress::none())?;
        if !selected || blob.len() <= flash {
            let test = evaluate(&blob, test)?;
            return Ok(Some(Tuned { point, blob, report, test }));
        }
        // The weights that go make room for what is too much.
        let outputs = Model::parse(&blob)?.outputs().max(1);
        let bits = outputs * usize::from(point.options.bits.unwrap_or(1));
        let fewer = (8 * (blob.len() - flash)).div_ceil(bits);
        let fewer = u16::try_from(fewer).unwrap_or(u16::MAX);
        match point.options.features[0].saturating_sub(fewer) {
            0 => return Ok(None),
            features => point.options.features[0] = features,
        }
    }
}

/// Family, law, input map, number of features and bits by a search of seconds on
/// `table` (the training rows): what `koan train` uses where its user leaves them
/// open. Frequency, relevance and λ are left to training. The clock has no part in
/// it: the same table and options give the same.
///
/// # Errors
/// As [`tune`].
pub fn usual(
    table: &Table,
    base: &TrainOptions,
    families: &[FamilyName],
    flash: usize,
    progress: &Progress,
) -> Result<TrainOptions, Error> {
    let options = TuneOptions {
        space: Space { base: base.clone(), families: families.to_vec(), short: true },
        limits: Limits { flash, ram: None, instructions: None, core: Core::CortexM0 },
        metric: Metric::Error,
        time: SHORT,
        clock: false,
    };
    let best = search(table, &options, 2, progress)?.points.pop().ok_or_else(nothing)?;
    let TrainOptions { frequency, lambda, relevance, .. } = base.clone();
    Ok(TrainOptions { frequency, lambda, relevance, ..best.options })
}

fn nothing() -> Error {
    Error::parameter("time", "the search found no model: give it more time")
}

/// Options on the front.
struct Chosen {
    points: Vec<Point>,
    judged: Vec<(usize, f64)>,
    rungs: Vec<Rung>,
    cut: bool,
    nameless: bool,
}

fn search(
    table: &Table,
    options: &TuneOptions,
    most: usize,
    progress: &Progress,
) -> Result<Chosen, Error> {
    let start = Instant::now();
    let mut space = options.space.clone();
    check(table, options)?;
    let mut nameless = leave_out_names(&mut space.base, table, options.limits.flash)?;
    let problem = Problem::new(table, space.base.balanced);
    crate::train::check(&problem)?;
    let seconds = options.time.as_secs_f64();
    let deadline = start.checked_add(options.time.mul_f64(SEARCHING)).filter(|_| options.clock);
    let mut found = rungs_of(&problem, &space, options, deadline, progress).run();
    // Where no model fits, one without names may.
    if matches!(found, Err(Error::Parameter { name: "limits", .. }))
        && leave_out_names(&mut space.base, table, 0)?
    {
        nameless = true;
        found = rungs_of(&problem, &space, options, deadline, progress).run();
    }
    let Searched { mut points, rungs, mut cut, speed } = found?;
    let judged = points.iter().map(|point| (point.bytes, point.loss)).collect();
    if !space.short {
        let search = rungs_of(&problem, &space, options, deadline, progress);
        let mut variants = Variants::new(&search, seconds, speed)?;
        points.extend(variants.of(&points)?);
        cut |= variants.cut;
    }
    let points = front::front(&points, most);
    if points.is_empty() {
        return Err(nothing());
    }
    Ok(Chosen { points, judged, rungs, cut, nameless })
}

/// The rungs of a search over `space`.
fn rungs_of<'s>(
    problem: &'s Problem<'s>,
    space: &'s Space,
    options: &TuneOptions,
    deadline: Option<Instant>,
    progress: &'s Progress,
) -> Search<'s> {
    // A search of seconds has no variants.
    let share = if space.short { SEARCHING } else { RUNGS };
    let seconds = share * options.time.as_secs_f64();
    let (limits, metric) = (options.limits, options.metric);
    Search { problem, space, limits, metric, seconds, deadline, progress }
}

fn check(table: &Table, options: &TuneOptions) -> Result<(), Error> {
    let base = &options.space.base;
    let refused = |name, message: &str| Err(Error::parameter(name, message));
    if base.goal != Goal::Predict {
        return refused("goal", "a search needs a target: embeddings and anomalies have none");
    }
    if base.loss != Loss::Squared || base.box_c.is_some() {
        return refused("loss", "a search chooses the loss itself");
    }
    if !base.groups.is_empty() {
        return refused("groups", "a search does not know groups of inputs");
    }
    if options.time.is_zero() {
        return refused("time", "a search needs time");
    }
    let metric = options.metric;
    if !metric.suits(table.schema.task(), table.schema.classes.len()) {
        let task = match table.schema.task() {
            Task::Classification => format!("{} classes", table.schema.classes.len()),
            Task::Regression => "numbers".into(),
        };
        let message = format!("the metric {} does not suit {task}", metric.name());
        return Err(Error::parameter("metric", message));
    }
    Ok(())
}

/// Leaves the names of columns out of the models if they would take too much of
/// the flash; whether it does.
fn leave_out_names(base: &mut TrainOptions, table: &Table, flash: usize) -> Result<bool, Error> {
    let without = TrainOptions { column_names: false, ..base.clone() };
    // Codes may make the notes with names the shorter ones.
    let short = without.notes(&table.schema)?.len();
    let names = base.notes(&table.schema)?.len().saturating_sub(short);
    let too_much = names as f64 > NAMES_SHARE * flash as f64;
    if too_much {
        *base = without;
    }
    Ok(too_much)
}

#[cfg(test)]
mod tests;
