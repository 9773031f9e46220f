//! A search on one table: columns as categories, the rungs, the refinement of the best.

use web_time::{Duration, Instant};

use super::categories::{self, Coding};
use super::halving::{Rung, Search, Searched};
use super::refine::{Allowance, Refinement};
use super::sizes::Limits;
use super::space::Space;
use super::{TuneOptions, budget, finals, names};
use crate::front::front;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::report::{Faster, Smaller};
use crate::{Error, Point, check};
use koan_data::Table;

/// Seconds that the last fit may take without a clock.
const GROWN: f64 = 10.0;
/// Values of a table, rows times inputs, beyond which a search takes longer, and how many times
/// as long at most: what models of many rows are worth is not seen on a few of them.
const MANY_VALUES: f64 = 5e6;
const MOST_LONGER: f64 = 2.0;
/// Shares of the flash at which models are refined, for a front and for one model.
const SIZES: ([f64; 4], [f64; 1]) = ([1.0, 0.6, 0.35, 0.2], [1.0]);
/// Bytes of a model down to which these go on, each half of the one before.
const SMALLEST: usize = 400;
/// Share of the time after which the search ends; the rest is for the last fits.
pub(super) const SEARCHING: f64 = 0.85;
/// Share of the time that what comes before a search may take above its plan.
const LATE: f64 = 0.05;
/// Share of that rest which the best model of a front may take.
const OF_THE_BEST: f64 = 0.6;
/// Share of the time that its rungs plan for; the rest of the search refines.
const RUNGS: f64 = 0.35;
/// A model of this share of the bytes, or of the instructions, whose loss is at most so many times as
/// large, is told.
const SMALLER: f64 = 0.5;
const FASTER: f64 = 0.25;
const ENOUGH: f64 = 1.05;

/// Options on the front.
pub(super) struct Chosen {
    pub points: Vec<Point>,
    /// Bytes of the blob and loss of all models that were judged.
    pub judged: Vec<(usize, f64)>,
    pub smaller: Option<Smaller>,
    pub faster: Option<Faster>,
    pub rungs: Vec<Rung>,
    pub cut: bool,
    pub nameless: bool,
}

/// A search on the table, with columns as categories where that is better.
pub(super) fn search(
    table: &Table,
    options: &TuneOptions,
    most: usize,
    progress: &Progress,
) -> Result<Chosen, Error> {
    let start = Instant::now();
    let given = &options.space.base.categories;
    let Coding { coded, time, mut cut } = match given.is_empty() {
        true => categories::choose(table, options, progress)?,
        false => {
            let coded = Some((given.clone(), table.with_categories(given)?));
            Coding { coded, ..Coding::default() }
        }
    };
    let (time, late) = time_left(options, start, time);
    let options = TuneOptions { time, ..options.clone() };
    cut |= late;
    let (columns, coded) = coded.unzip();
    let mut chosen = search_of(coded.as_ref().unwrap_or(table), &options, most, true, progress)?;
    chosen.cut |= cut;
    if let Some(columns) = columns {
        for point in &mut chosen.points {
            point.options.categories.clone_from(&columns);
        }
    }
    Ok(chosen)
}

/// The time of a search that is left after what took so long as planned since the `start`, and
/// whether it took clearly longer. As planned, so that the rest is the same each time.
pub(super) fn time_left(
    options: &TuneOptions,
    start: Instant,
    planned: Duration,
) -> (Duration, bool) {
    if !options.clock {
        return (options.time, false);
    }
    let took = start.elapsed();
    let late = took > planned + options.time.mul_f64(LATE);
    let left = options.time.saturating_sub(if late { took } else { planned });
    (left.max(Duration::from_nanos(1)), late)
}

/// A search on the table as it is. Without a last fit that could take longer nothing is judged
/// larger, or on more rows, than there was time for.
pub(super) fn search_of(
    table: &Table,
    options: &TuneOptions,
    most: usize,
    last_fit: bool,
    progress: &Progress,
) -> Result<Chosen, Error> {
    let start = Instant::now();
    let mut space = options.space.of(table, options.limits.instructions.is_some());
    let mut nameless = names::leave_out(&mut space.base, table, options.limits.flash)?;
    let problem = Problem::new(table, space.base.balanced);
    check::check(&problem)?;
    let seconds = options.time.as_secs_f64();
    let deadline = start.checked_add(options.time.mul_f64(SEARCHING)).filter(|_| options.clock);
    let rungs_of = |space: &Space| -> Result<Searched, Error> {
        rungs_of(&problem, space, options, most, deadline, progress).run()
    };
    let mut found = rungs_of(&space);
    // Where no model fits, one without names may.
    if found.as_ref().is_err_and(is_of_limits) && names::leave_out(&mut space.base, table, 0)? {
        nameless = true;
        found = rungs_of(&space);
    }
    let found = found?;
    let search = self::rungs_of(&problem, &space, options, most, deadline, progress);
    // Without a clock the last fit may take longer than its part; with one, smaller models of a
    // front are to be trained, too.
    let last = (1.0 - SEARCHING) * seconds;
    let last = match (options.clock, most) {
        _ if !last_fit => 0.0,
        (false, _) => last.max(GROWN * longer(table)),
        (true, 1) => last,
        (true, _) => OF_THE_BEST * last,
    };
    // A clock leaves time for the last choices where those matter most.
    let reserved = if options.clock && longer(table) > 1.0 { finals::RESERVED } else { 0.0 };
    let allowance = Allowance {
        work: (1.0 - reserved) * (SEARCHING - RUNGS) * seconds * budget::SPEED,
        reserved,
        clock: found.clock,
        growth: last * budget::SPEED,
    };
    let mut refinement = Refinement::new(&search, found.inputs.clone(), allowance)?;
    let shares = if most > 1 { &SIZES.0[..] } else { &SIZES.1[..] };
    let shares: Vec<usize> = shares.iter().map(|&share| options.limits.share(share)).collect();
    let small: Vec<usize> = if most > 1 { small_sizes(&options.limits) } else { Vec::new() };
    let points = refinement.run(&found, &shares, &small)?;
    let cut = found.cut || refinement.cut || *refinement.hurried.get_mut();
    let of_blob = |point: &Point| -> Result<(usize, f64), Error> {
        Ok((point.bytes - search.code_of(&point.options, &found.inputs)?, point.loss))
    };
    let judged = points.iter().map(of_blob).collect::<Result<Vec<_>, Error>>()?;
    let costs: Vec<(u64, f64)> =
        points.iter().map(|point| (point.instructions, point.loss)).collect();
    let points = front(&points, most);
    let Some(best) = points.last() else { return Err(nothing()) };
    let smaller = smaller(&judged, of_blob(best)?);
    let faster = faster(&costs, (best.instructions, best.loss));
    Ok(Chosen { points, judged, smaller, faster, rungs: found.rungs, cut, nameless })
}

/// Bytes at which models of a front are refined below the least of [`SIZES`].
pub(super) fn small_sizes(limits: &Limits) -> Vec<usize> {
    let [.., least] = SIZES.0;
    let shares = std::iter::successors(Some(least / 2.0), |share| Some(share / 2.0));
    let sizes = shares.map(|share| limits.share(share));
    sizes.take_while(|bytes| bytes - limits.share(0.0) >= SMALLEST).collect()
}

/// The rungs of a search over `space` for at most so many models.
pub(super) fn rungs_of<'s>(
    problem: &'s Problem<'s>,
    space: &'s Space,
    options: &TuneOptions,
    most: usize,
    deadline: Option<Instant>,
    progress: &'s Progress,
) -> Search<'s> {
    let seconds = RUNGS * options.time.as_secs_f64();
    let (limits, metric) = (options.limits, options.metric);
    let targets = if most > 1 { budget::OF_A_FRONT } else { budget::OF_ONE };
    Search { problem, space, limits, metric, targets, seconds, deadline, progress }
}

/// How many times as long the short search of a large table takes.
pub(super) fn longer(table: &Table) -> f64 {
    let values = table.rows() as f64 * table.inputs as f64;
    (values / MANY_VALUES).sqrt().clamp(1.0, MOST_LONGER)
}

/// A model whose bytes are much fewer than those of the best, and whose loss is nearly as small.
pub(super) fn smaller(judged: &[(usize, f64)], (bytes, than): (usize, f64)) -> Option<Smaller> {
    let costs: Vec<(u64, f64)> = judged.iter().map(|&(bytes, loss)| (bytes as u64, loss)).collect();
    let (bytes, held_out) = cheapest(&costs, (bytes as u64, than), SMALLER)?;
    Some(Smaller { bytes: bytes as usize, held_out, than })
}

/// A model whose instructions are much fewer than those of the best, and whose loss is nearly as
/// small.
pub(super) fn faster(
    judged: &[(u64, f64)],
    (than_instructions, than): (u64, f64),
) -> Option<Faster> {
    let (instructions, held_out) = cheapest(judged, (than_instructions, than), FASTER)?;
    Some(Faster { instructions, than_instructions, held_out, than })
}

/// Of models with a cost and a loss the cheapest which has this share of the best one's cost at most
/// and nearly its loss.
fn cheapest(
    judged: &[(u64, f64)],
    (its_cost, its_loss): (u64, f64),
    share: f64,
) -> Option<(u64, f64)> {
    let enough = judged.iter().copied().filter(|&(cost, loss)| {
        cost as f64 <= share * its_cost as f64 && loss <= ENOUGH * its_loss
    });
    enough.min_by_key(|&(cost, _)| cost)
}

/// Whether no model keeps the limits.
pub(super) fn is_of_limits(error: &Error) -> bool {
    const NAMES: [&str; 4] = ["flash", "ram", "instructions", "limits"];
    matches!(error, Error::Parameter { name, .. } if NAMES.contains(name))
}

/// Where no model could be judged.
pub(super) fn nothing() -> Error {
    let message = "there is not time to judge a single model: name one family that is faster, or \
                   give more time";
    Error::parameter("time", message)
}
