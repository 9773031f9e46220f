//! Successive halving: many candidates on few rows, few on all of them.
//!
//! How many rows and features a rung has follows from an estimate of the work,
//! never from the clock, which only ends a search that takes too long.

use std::time::Instant;

use rayon::prelude::*;

use super::curve::{Size, curve, first_lambdas, keeps_lambda, specs};
use super::folds::Folds;
use super::footprint::Footprint;
use super::inputs::Inputs;
use super::metric::Metric;
use super::sizes::{Limits, bytes, sizes};
use super::space::Space;
use crate::data::Task;
use crate::normalise::Kind;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::{Error, TrainOptions};

/// Candidates of the second and the last rung, at most.
const KEPT: [usize; 2] = [24, 9];
/// Multiply-adds per second that plans count on: about what two cores do.
pub(super) const SPEED: f64 = 4e9;
/// Rows and columns below which a rung is not cut.
const LEAST_ROWS: usize = 1500;
const LEAST_COLUMNS: usize = 96;
/// Bytes as shares of the limit at which each rung compares.
const TARGETS: [&[f64]; 3] = [&[1.0, 0.3], &[1.0, 0.6, 0.3], &[1.0, 0.72, 0.5, 0.35, 0.22, 0.12]];

/// A complete candidate, and how good it is on held-out rows.
#[derive(Clone, Debug)]
pub struct Point {
    /// What `train` is to be given.
    pub options: TrainOptions,
    /// Bytes of the blob.
    pub bytes: usize,
    /// Bytes of the core's buffers.
    pub ram: usize,
    /// Predicted instructions.
    pub instructions: u64,
    /// Mean squared error.
    pub square: f64,
    /// Loss by the metric.
    pub loss: f64,
    /// What points are compared by: see [`value`].
    pub value: f64,
}

/// A candidate with its points at the last rung that it was in.
#[derive(Clone, Debug)]
struct Entry {
    options: TrainOptions,
    points: Vec<Point>,
}

/// What a rung was.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Rung {
    /// Candidates that were judged.
    pub candidates: usize,
    /// Rows that they were judged on.
    pub rows: usize,
    /// Columns of the largest.
    pub columns: usize,
    /// Fits: candidates times sizes.
    pub points: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// All points of the last rung.
    pub points: Vec<Point>,
    /// The rungs.
    pub rungs: Vec<Rung>,
    /// Whether the clock ended it before the plan did.
    pub cut: bool,
}

/// A search over `space`.
pub struct Search<'s> {
    /// The rows.
    pub problem: &'s Problem<'s>,
    /// What may be chosen.
    pub space: &'s Space,
    /// What a model may cost.
    pub limits: Limits,
    /// What is made small.
    pub metric: Metric,
    /// Seconds that the plan counts on.
    pub seconds: f64,
    /// When the clock ends it.
    pub deadline: Option<Instant>,
    /// Shows how far it is.
    pub progress: &'s Progress,
}

/// Rows and columns of a rung.
#[derive(Clone, Copy, Debug)]
struct Extent {
    rows: usize,
    columns: usize,
}

impl Search<'_> {
    /// Searches.
    ///
    /// # Errors
    /// Limits that no model can keep, data that cannot be divided into folds.
    pub fn run(&self) -> Result<Found, Error> {
        let first = self.space.candidates(self.problem);
        let folds = Folds::new(self.problem.table, self.space.base.seed)?;
        let mut kinds: Vec<Kind> = first.iter().filter_map(|options| options.map).collect();
        kinds.dedup();
        let mut inputs = Inputs::new(self.problem, &kinds);
        let mut candidates = self.within_limits(first, &inputs)?;
        let mut rungs = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut cut = false;
        for number in 0..TARGETS.len() {
            if number > 0 {
                candidates = self.next(number, &entries, &folds, &mut inputs);
            }
            let plans = self.plan(number, candidates.clone(), &entries, &inputs)?;
            let extent = self.extent(number, &plans, &folds);
            let sample = folds.sample(extent.rows);
            let judged = self.rung(number, &plans, extent, &sample, &inputs)?;
            cut |= judged.len() < plans.len();
            // A rung that the clock ended before anything was judged says nothing.
            if judged.is_empty() {
                break;
            }
            rungs.push(Rung {
                candidates: judged.len(),
                rows: sample.rows(),
                columns: extent.columns,
                points: judged.iter().map(|entry| entry.points.len()).sum(),
            });
            entries = self.valued(judged);
        }
        let points = entries.into_iter().flat_map(|entry| entry.points).collect();
        Ok(Found { points, rungs, cut })
    }

    /// Candidates some size of which keeps all limits.
    fn within_limits(
        &self,
        candidates: Vec<TrainOptions>,
        inputs: &Inputs,
    ) -> Result<Vec<TrainOptions>, Error> {
        let mut kept = Vec::new();
        let mut least = (usize::MAX, usize::MAX, u64::MAX);
        for options in candidates {
            let (spec, footprint) = self.small(&options, inputs)?;
            let bits = self.bits(0, None)[0];
            let free = Limits { instructions: None, ..self.limits };
            let smallest = sizes(&spec, &footprint, &free, &[usize::MAX], &[bits], 1);
            for size in &smallest {
                least.0 = least.0.min(bytes(&spec, &footprint, size));
                let cost = footprint.instructions(self.limits.core, &size.features, bits);
                least.2 = least.2.min(cost);
            }
            least.1 = least.1.min(footprint.ram);
            let target = [self.limits.flash];
            let fits = !sizes(&spec, &footprint, &self.limits, &target, &[bits], 1).is_empty();
            if fits && self.limits.ram.is_none_or(|ram| footprint.ram <= ram) {
                kept.push(options);
            }
        }
        if !kept.is_empty() {
            return Ok(kept);
        }
        let Limits { flash, ram, instructions, core } = self.limits;
        let too_small = |limit: &str, smallest: String| {
            Err(Error::Options(format!("no model is so small: {limit}, but at least {smallest}")))
        };
        if flash < least.0 {
            return too_small(&format!("--flash {flash}"), format!("{} bytes", least.0));
        }
        if let Some(ram) = ram.filter(|&ram| ram < least.1) {
            let smallest = format!("{} bytes of buffers", least.1);
            return too_small(&format!("--ram {ram}"), smallest);
        }
        if let Some(limit) = instructions.filter(|&limit| limit < least.2) {
            let smallest = format!("about {} instructions on a {}", least.2, core.name());
            return too_small(&format!("--instructions {limit}"), smallest);
        }
        let message = "each limit can be kept, but no model keeps all of them: raise one of \
                       --flash, --ram and --instructions";
        Err(Error::Options(message.into()))
    }

    /// The specification with few features, and what models of it weigh.
    fn small(
        &self,
        options: &TrainOptions,
        inputs: &Inputs,
    ) -> Result<(crate::blob::ModelSpec, Footprint), Error> {
        // Scales do not change the size: those that are not learned will do.
        let plain = TrainOptions { features: vec![1], relevance: Some(false), ..options.clone() };
        let spec = specs(self.problem, &plain, inputs)?.swap_remove(0);
        let footprint = Footprint::new(&spec, self.problem, options)?;
        Ok((spec, footprint))
    }

    /// Bits to try in a rung, after the points that a candidate has.
    fn bits(&self, rung: usize, before: Option<&Entry>) -> Vec<u8> {
        if let Some(bits) = self.space.base.bits {
            return vec![bits];
        }
        let regression = self.problem.task() == Task::Regression;
        match (rung, before) {
            (0, _) => {
                if regression {
                    vec![4, 8]
                } else {
                    vec![2, 4]
                }
            }
            (1, _) | (_, None) => vec![2, 3, 4, 8],
            (_, Some(entry)) => {
                // Those that were best at some size, and the best but one.
                let mut by_bits: Vec<(f64, u8)> = Vec::new();
                for point in &entry.points {
                    let Some(bits) = point.options.bits else { continue };
                    match by_bits.iter_mut().find(|(_, other)| *other == bits) {
                        Some(known) => known.0 = known.0.min(point.value),
                        None => by_bits.push((point.value, bits)),
                    }
                }
                by_bits.sort_by(|a, b| a.0.total_cmp(&b.0));
                by_bits.into_iter().take(2).map(|(_, bits)| bits).collect()
            }
        }
    }

    fn targets(&self, rung: usize) -> Vec<usize> {
        let bytes = |share: &f64| (share * self.limits.flash as f64) as usize;
        TARGETS[rung].iter().map(bytes).collect()
    }

    /// What each candidate needs to be judged.
    fn plan(
        &self,
        rung: usize,
        candidates: Vec<TrainOptions>,
        entries: &[Entry],
        inputs: &Inputs,
    ) -> Result<Vec<Plan>, Error> {
        let task = self.problem.task();
        candidates
            .into_iter()
            .map(|options| {
                let (spec, footprint) = self.small(&options, inputs)?;
                let before = entries.iter().find(|entry| entry.options == options);
                let lambdas = match before.and_then(|entry| entry.points.first()) {
                    Some(point) if options.lambda.is_none() => {
                        let lambda = point.options.lambda.unwrap_or(1e-3);
                        vec![lambda / 10.0, lambda / 3.0, lambda, lambda * 3.0]
                    }
                    _ => first_lambdas(&options, task),
                };
                let bits = self.bits(rung, before);
                Ok(Plan { options, spec, footprint, lambdas, bits })
            })
            .collect()
    }

    fn sizes(&self, rung: usize, plan: &Plan, most: usize) -> Vec<Size> {
        let (targets, limits) = (self.targets(rung), &self.limits);
        sizes(&plan.spec, &plan.footprint, limits, &targets, &plan.bits, most)
    }

    /// Multiply-adds of judging a candidate.
    fn work(&self, rung: usize, plan: &Plan, extent: Extent, folds: f64) -> f64 {
        let outputs = self.problem.outputs as f64;
        let rows = extent.rows as f64;
        let (mut work, mut largest) = (0.0, 0.0f64);
        for size in self.sizes(rung, plan, extent.columns) {
            let columns: usize = plan.columns(&size);
            let k = columns as f64;
            largest = largest.max(k);
            let fits = plan.lambdas.len() as f64 + 2.0;
            work += folds * (fits * k * k * k / 6.0 + 2.0 * outputs * 40.0 * k * k);
            work += rows * k * outputs;
        }
        let learned = plan.options.relevance == Some(true);
        let passes = if learned { folds } else { 1.0 };
        work + passes * rows * (0.5 * largest * largest + 60.0 * largest)
    }

    /// As many rows and columns as the rung's share of the time allows.
    fn extent(&self, rung: usize, plans: &[Plan], folds: &Folds) -> Extent {
        let share = 0.25 * self.seconds * SPEED;
        let mut extent = Extent { rows: folds.rows(), columns: usize::MAX };
        let largest = |extent: Extent| {
            let columns = |plan: &Plan| {
                let sizes = self.sizes(rung, plan, extent.columns);
                sizes.iter().map(|size| plan.columns(size)).max().unwrap_or(1)
            };
            plans.iter().map(columns).max().unwrap_or(1)
        };
        extent.columns = largest(Extent { columns: 16_384, ..extent });
        let parts = folds.held.len() as f64;
        loop {
            let all: f64 = plans.iter().map(|plan| self.work(rung, plan, extent, parts)).sum();
            if all <= share {
                return extent;
            }
            // Rows first, while they are many for so many columns.
            if extent.rows > LEAST_ROWS && extent.rows > 5 * extent.columns {
                extent.rows = (extent.rows * 4 / 5).max(LEAST_ROWS);
            } else if extent.columns > LEAST_COLUMNS {
                extent.columns = (extent.columns * 4 / 5).max(LEAST_COLUMNS);
            } else if extent.rows > LEAST_ROWS {
                extent.rows = (extent.rows * 4 / 5).max(LEAST_ROWS);
            } else {
                return extent;
            }
        }
    }

    /// Judges all candidates, those first that were good before.
    fn rung(
        &self,
        number: usize,
        plans: &[Plan],
        extent: Extent,
        folds: &Folds,
        inputs: &Inputs,
    ) -> Result<Vec<Entry>, Error> {
        let done = std::sync::atomic::AtomicUsize::new(0);
        let phase = || {
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.progress.phase(&format!(
                "rung {} of {}: {done} of {} candidates on {} rows",
                number + 1,
                TARGETS.len(),
                plans.len(),
                folds.rows()
            ));
        };
        phase();
        let judged: Vec<Option<Entry>> = plans
            .par_iter()
            .with_max_len(1)
            .map(|plan| {
                if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Ok(None);
                }
                let entry = self.judge(number, plan, extent, folds, inputs)?;
                phase();
                Ok(Some(entry))
            })
            .collect::<Result<_, Error>>()?;
        Ok(judged.into_iter().flatten().collect())
    }

    fn judge(
        &self,
        rung: usize,
        plan: &Plan,
        extent: Extent,
        folds: &Folds,
        inputs: &Inputs,
    ) -> Result<Entry, Error> {
        let sizes = self.sizes(rung, plan, extent.columns);
        let most = sizes.iter().map(|size| size.features[0]).max().unwrap_or(1);
        let options = TrainOptions { features: vec![most], ..plan.options.clone() };
        let (problem, metric) = (self.problem, self.metric);
        let judged = curve(problem, &options, &sizes, &plan.lambdas, folds, inputs, metric)?;
        let points = sizes
            .iter()
            .zip(judged)
            .map(|(size, judgement)| Point {
                options: TrainOptions {
                    features: vec![size.features[0]],
                    bits: Some(size.bits),
                    lambda: keeps_lambda(&plan.spec).then_some(judgement.lambda),
                    ..plan.options.clone()
                },
                bytes: bytes(&plan.spec, &plan.footprint, size),
                ram: plan.footprint.ram,
                instructions: plan.footprint.instructions(
                    self.limits.core,
                    &size.features,
                    size.bits,
                ),
                square: judgement.square,
                loss: judgement.loss,
                value: 0.0,
            })
            .collect();
        Ok(Entry { options: plan.options.clone(), points })
    }

    /// The entries with what their points are compared by.
    fn valued(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let weight = match (self.problem.task(), self.metric) {
            (Task::Regression, _) => 0.0,
            (_, Metric::Error) => 0.5,
            _ => 0.25,
        };
        value(entries.iter_mut().flat_map(|entry| &mut entry.points), weight);
        entries
    }

    /// The candidates of a rung: the best of the one before at each number of
    /// bytes, and their neighbours.
    fn next(
        &self,
        rung: usize,
        entries: &[Entry],
        folds: &Folds,
        inputs: &mut Inputs,
    ) -> Vec<TrainOptions> {
        let ranked = ranked(entries, &self.targets(rung - 1));
        let best = |count: usize| ranked.iter().take(count).map(|&i| &entries[i].options);
        let mut next: Vec<TrainOptions> = Vec::new();
        let mut add = |options: Option<TrainOptions>| {
            if let Some(options) = options.filter(|options| !next.contains(options)) {
                next.push(options);
            }
        };
        let space = self.space;
        if rung == 1 {
            best(KEPT[0] / 2).for_each(|options| add(Some(options.clone())));
            let around = std::f64::consts::SQRT_2;
            for options in best(3) {
                add(space.with_linear(options));
                add(space.with_relevance(options, self.problem.table.inputs));
            }
            for options in best(4) {
                add(space.with_bandwidth(options, around));
                add(space.with_bandwidth(options, 1.0 / around));
            }
            next.truncate(KEPT[0]);
        } else {
            best(KEPT[1] - 3).for_each(|options| add(Some(options.clone())));
            for options in best(1) {
                add(space.with_bandwidth(options, 1.19));
                add(space.with_bandwidth(options, 1.0 / 1.19));
            }
            for options in best(1) {
                add(space.with_relevance(options, self.problem.table.inputs));
                add(space.with_linear(options));
            }
            next.truncate(KEPT[1]);
        }
        for options in &next {
            if let (Some(true), Some(kind)) = (options.relevance, options.map) {
                inputs.learn(self.problem, kind, folds, options.seed, self.progress);
            }
        }
        next
    }
}

/// What judging a candidate needs.
struct Plan {
    options: TrainOptions,
    /// With one feature.
    spec: crate::blob::ModelSpec,
    footprint: Footprint,
    lambdas: Vec<f64>,
    bits: Vec<u8>,
}

impl Plan {
    fn columns(&self, size: &Size) -> usize {
        let banks = self.spec.banks.iter().zip(&size.features);
        banks.map(|(bank, &features)| crate::blob::columns(bank.family, features)).sum()
    }
}

/// Sets what points are compared by: the metric's loss, `weight` of it replaced
/// by the squared error in the same units. The share misclassified of a few
/// thousand rows is a coarse measure; the squared error tells more of the same.
fn value<'p>(points: impl Iterator<Item = &'p mut Point>, weight: f64) {
    let points: Vec<&mut Point> = points.collect();
    let mut losses: Vec<(f64, f64)> =
        points.iter().map(|point| (point.loss, point.square)).collect();
    losses.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The units of the better half: that is where it matters.
    losses.truncate(losses.len().div_ceil(2));
    let (loss, square) = losses.iter().fold((0.0, 0.0), |sum, l| (sum.0 + l.0, sum.1 + l.1));
    let unit = if square > 0.0 { loss / square } else { 1.0 };
    for point in points {
        point.value = (1.0 - weight) * point.loss + weight * unit * point.square;
    }
}

/// Entries in the order in which they stay: in turns the best of what fits each
/// of `targets` bytes, the largest target twice as often.
fn ranked(entries: &[Entry], targets: &[usize]) -> Vec<usize> {
    let orders: Vec<Vec<usize>> = targets
        .iter()
        .map(|&target| {
            let best = |entry: &Entry| {
                let fitting = entry.points.iter().filter(|point| point.bytes <= target);
                fitting.map(|point| point.value).fold(f64::INFINITY, f64::min)
            };
            let mut order: Vec<usize> =
                (0..entries.len()).filter(|&i| best(&entries[i]).is_finite()).collect();
            order.sort_by(|&a, &b| best(&entries[a]).total_cmp(&best(&entries[b])));
            order
        })
        .collect();
    let mut ranked: Vec<usize> = Vec::new();
    let mut turns: Vec<_> = orders.iter().map(|order| order.iter()).collect();
    while ranked.len() < entries.len() {
        let before = ranked.len();
        for turn in std::iter::once(0).chain(0..turns.len()) {
            let Some(turn) = turns.get_mut(turn) else { break };
            // The next one that is not there yet.
            if let Some(&index) = turn.find(|index| !ranked.contains(index)) {
                ranked.push(index);
            }
        }
        if ranked.len() == before {
            break;
        }
    }
    ranked
}
