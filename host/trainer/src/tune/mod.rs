//! Searching for models: families, projections, frequencies, input maps, numbers
//! of features, bits and λ, by successive halving on cross-validated error; then the best
//! of them are refined, each judged as a finished model: loss, sums of families, features
//! kept from a larger pool.
//!
//! A candidate is a [`TrainOptions`]; what comes out of a search are the
//! candidates on the Pareto front of bytes, error and instructions, trained by
//! [`train()`](crate::train()) as any model is. The test rows are looked at once, by the
//! models of the front.

mod budget;
mod categories;
mod code;
mod confirm;
mod cost;
mod curve;
mod effort;
mod ferns;
mod finals;
mod footprint;
mod growth;
mod halving;
mod inputs;
mod judge;
mod larger;
mod last;
mod likeness;
mod metric;
mod moves;
mod names;
mod next;
mod pace;
mod probe;
mod rank;
mod refine;
mod scores;
mod search;
mod sizes;
mod space;
mod texts;
#[cfg(test)]
mod trial;
mod turns;
mod wide;

use koan::{Form, Model};
use web_time::{Duration, Instant};

pub use code::code_bytes;
pub use cost::Core;
pub use halving::Rung;
pub use likeness::guess as guess_shape;
pub use metric::Metric;
pub use sizes::Limits;
pub use space::{FAMILIES, Space};

use crate::check::check_balanced;
use crate::doubts::{beside, no_better_balanced, of_one_class};
use crate::evaluate::{Evaluation, evaluate};
use crate::front::looks_better;
use crate::progress::Progress;
use crate::report::{Faster, Smaller};
use crate::solve::Loss;
use crate::{Baselines, Error, FamilyName, Goal, Point, Report, TrainOptions, Trained};
use koan_data::{Table, Task};

use last::LastFit;
use search::{Chosen, longer, nothing, search, time_left};
use turns::Turns;

/// Bytes of a blob that are searched when no limit is given.
pub const FLASH: usize = 4096;
/// Bytes of a blob that `koan train` chooses if it is not told.
pub const USUAL_FLASH: usize = 2048;
/// Time that its search plans for.
const SHORT: Duration = Duration::from_secs(16);
/// Points of the front, at most.
const POINTS: usize = 8;

/// What a search is asked to do.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// What is given, in `base`, is kept; the rest is searched.
    pub space: Space,
    /// What a model may cost.
    pub limits: Limits,
    /// What is made small.
    pub metric: Metric,
    /// The time that the search plans for. With a clock it ends after 85 % of that; what is left is
    /// for training on all rows: small models for a quarter of it, then the best one, however long it
    /// takes, then the others up to 5 % over the time.
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
    /// The front of bytes, loss and instructions, from the largest loss to the least: the best
    /// model is the last.
    pub front: Vec<Tuned>,
    /// Bytes and loss of all models that were judged as finished ones.
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
    let mut options = options.clone();
    // Heads fitted to rows that count the same say little of rare classes.
    options.space.base.balanced |= options.metric == Metric::BalancedError;
    check(train_table, &options)?;
    let kept = texts::choose(train_table, &options, progress)?;
    let (time, late) = time_left(&options, start, kept.time);
    let hurried = kept.cut || late;
    let (train_table, test) = kept.of(train_table, test);
    let (train_table, test) = (&*train_table, test.as_deref());
    let options = &options;
    let rest = TuneOptions { time, ..options.clone() };
    let chosen = search(train_table, &rest, POINTS, progress)?;
    let Chosen { mut points, judged, rungs, mut cut, nameless, .. } = chosen;
    let nameless = nameless && !names::fit(&mut points, train_table, options.limits.flash)?;
    let none = train_table.select(&[]);
    let mut front = Vec::new();
    let mut turns = Turns::new(points, start, options.clock.then_some(options.time));
    while let Some((place, mut point)) = turns.next() {
        progress.phase(&format!("training a model of {} bytes", point.bytes))?;
        let rows = test.unwrap_or(&none);
        let fit = LastFit {
            train: train_table,
            test: Some(rows),
            limits: options.limits,
            metric: options.metric,
            open: options.space.base.lambda.is_none(),
            progress: &Progress::none(),
        };
        if let Some(trained) = fit.train(&mut point)? {
            let Trained { blob, report, .. } = trained;
            let test = evaluate(&blob, rows)?;
            front.push((place, Tuned { point, blob, report, test }));
        }
    }
    cut |= turns.cut || hurried;
    front.sort_by_key(|(place, _)| *place);
    let front = front.into_iter().map(|(_, tuned)| tuned).collect();
    let mut front = unbeaten(front, options.limits.code)?;
    let best = front.last_mut().ok_or_else(|| too_small(&options.limits))?;
    // The best one is what most will use.
    if test.is_none() {
        doubt(&mut best.report, &best.point, options.metric, train_table)?;
    }
    Ok(Outcome { front, judged, rungs, cut, nameless })
}

/// The best model within `limits` that a search of seconds finds on `table` (the
/// training rows), trained: all that `koan train` does where its user leaves the model open;
/// with how good its options were on held-out rows. The clock has no part in it: the same
/// table and options give the same model.
///
/// # Errors
/// As [`tune`] and [`train()`](crate::train()).
pub fn train_usual(
    table: &Table,
    test: Option<&Table>,
    base: &TrainOptions,
    families: &[FamilyName],
    limits: Limits,
    progress: &Progress,
) -> Result<(Trained, Point), Error> {
    let options = TuneOptions {
        space: Space { base: base.clone(), families: families.to_vec() },
        limits,
        metric: usual_metric(table, base),
        time: SHORT.mul_f64(longer(table)),
        clock: false,
    };
    train_best(table, test, &options, progress)
}

/// The best model that a search finds, trained.
fn train_best(
    table: &Table,
    test: Option<&Table>,
    options: &TuneOptions,
    progress: &Progress,
) -> Result<(Trained, Point), Error> {
    check(table, options)?;
    let kept = texts::choose(table, options, progress)?;
    let (table, test) = kept.of(table, test);
    let (table, test) = (&*table, test.as_deref());
    let Best { mut point, smaller, faster, mut nameless } = best(table, options, progress)?;
    let points = std::slice::from_mut(&mut point);
    nameless = nameless && !names::fit(points, table, options.limits.flash)?;
    let fit = LastFit {
        train: table,
        test,
        limits: options.limits,
        metric: options.metric,
        open: options.space.base.lambda.is_none(),
        progress,
    };
    let trained = fit.train_without_list(&mut point)?;
    let mut trained = trained.ok_or_else(|| too_small(&options.limits))?;
    if test.is_none() {
        doubt(&mut trained.report, &point, options.metric, table)?;
    }
    trained.report.smaller = smaller;
    trained.report.faster = faster;
    trained.report.nameless |= nameless;
    Ok((trained, point))
}

/// Says so of a model that is no better than a baseline. Without test rows, the rows held out from
/// the search are what there is to doubt by, in the metric of the search.
fn doubt(report: &mut Report, point: &Point, metric: Metric, table: &Table) -> Result<(), Error> {
    let doubt = match metric {
        Metric::Error => {
            let baselines = Baselines::cross_validated(table, point.options.seed)?;
            let weighted = table.weights.is_some();
            baselines.and_then(|baselines| beside(report, point.loss, &baselines, weighted))
        }
        Metric::BalancedError => {
            no_better_balanced(point.loss, of_one_class(table.schema.classes.len()))
        }
        Metric::MacroF1 | Metric::Auc | Metric::Rmse => None,
    };
    let held_out = doubt.map(|doubt| format!("{doubt}, on held-out rows"));
    report.warnings.splice(..0, held_out);
    Ok(())
}

/// What one model is chosen by: where all classes count the same, the mean error over them.
fn usual_metric(table: &Table, base: &TrainOptions) -> Metric {
    let classes = !table.schema.classes.is_empty();
    if base.balanced && classes { Metric::BalancedError } else { Metric::Error }
}

/// What one model is to be.
struct Best {
    point: Point,
    /// A much smaller one that was nearly as good.
    smaller: Option<Smaller>,
    /// A much faster one that was nearly as good.
    faster: Option<Faster>,
    /// Whether column names were left out to save bytes.
    nameless: bool,
}

/// The best candidate of a search.
fn best(table: &Table, options: &TuneOptions, progress: &Progress) -> Result<Best, Error> {
    let chosen = search(table, options, 1, progress)?;
    let Chosen { mut points, smaller, faster, nameless, .. } = chosen;
    let point = points.pop().ok_or_else(nothing)?;
    Ok(Best { point, smaller, faster, nameless })
}

fn too_small(limits: &Limits) -> Error {
    let flash = limits.flash;
    match limits.instructions {
        None => Error::parameter("flash", format!("no model is so small: flash {flash}")),
        Some(instructions) => {
            let given = format!("flash {flash}, instructions {instructions}");
            Error::parameter("limits", format!("no model is so small and so fast: {given}"))
        }
    }
}

/// Of the models of a front those that no other beats by the figures that came out, and the best.
fn unbeaten(mut front: Vec<Tuned>, code: Option<Form>) -> Result<Vec<Tuned>, Error> {
    let flash = |tuned: &Tuned| -> Result<Point, Error> {
        let model = Model::parse(&tuned.blob)?;
        let code = code.map_or(0, |form| code_bytes(&model, form));
        Ok(Point { bytes: tuned.blob.len() + code, ..tuned.point.clone() })
    };
    let points = front.iter().map(flash).collect::<Result<Vec<_>, Error>>()?;
    let beaten = |point: &Point| points.iter().any(|other| looks_better(other, point));
    let mut stays: Vec<bool> = points.iter().map(|point| !beaten(point)).collect();
    if let Some(best) = stays.last_mut() {
        *best = true;
    }
    let mut stays = stays.into_iter();
    front.retain(|_| stays.next().unwrap_or(true));
    Ok(front)
}

fn check(table: &Table, options: &TuneOptions) -> Result<(), Error> {
    let base = &options.space.base;
    let refused = |name, message: &str| Err(Error::parameter(name, message));
    if base.goal != Goal::Predict {
        return refused("goal", "a search needs a target: embeddings and anomalies have none");
    }
    if base.box_c.is_some() {
        return refused("box_c", "a search fits no head within a box");
    }
    if table.schema.task() == Task::Regression && base.loss() != Loss::Squared {
        let loss = base.loss().name();
        return refused("loss", &format!("the loss {loss} is for classes, not for numbers"));
    }
    if !base.groups.is_empty() {
        return refused("groups", "a search does not know groups of inputs");
    }
    if base.frequency.as_ref().is_some_and(|all| all.len() > 1) {
        return refused("frequency", "a search compares families one by one: one value for all");
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
    check_balanced(table, base.balanced)
}

#[cfg(test)]
mod tests;
