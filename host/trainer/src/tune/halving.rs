//! Successive halving: many candidates on few rows, few on all of them.
//!
//! How many rows and features a rung has follows from an estimate of the work.
//! The clock makes rungs smaller on a machine that is much slower than the
//! estimate counts on, and ends a search that takes too long all the same.

use web_time::Instant;

use super::budget::{Extent, Plan};
use super::curve::{Size, curve, keeps_lambda};
use super::inputs::Inputs;
use super::metric::Metric;
use super::pace::{Clock, Pace};
use super::rank::{Entry, ranked, value, weight};
use super::sizes::{Limits, bytes, sizes};
use super::space::Space;
use crate::folds::Folds;
use crate::normalise::Kind;
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::{Error, Point, TrainOptions};
use koan_data::{ColumnKind, ColumnLabel};

/// Notes are told of where they take one of so many parts of the flash.
const NOTES: usize = 4;

/// What a rung was.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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
pub(super) struct Searched {
    /// The candidates of the last rung with their points.
    pub entries: Vec<Entry>,
    /// The best of each family that left in an earlier rung, the last to leave first.
    pub others: Vec<Entry>,
    /// The input maps, with the scales that were learned.
    pub inputs: Inputs,
    /// The rungs.
    pub rungs: Vec<Rung>,
    /// How fast the rungs were.
    pub clock: Clock,
    /// Whether there was not time for all of the plan.
    pub cut: bool,
}

/// A search over `space`.
pub(super) struct Search<'s> {
    /// The rows.
    pub problem: &'s Problem<'s>,
    /// What may be chosen.
    pub space: &'s Space,
    /// What a model may cost.
    pub limits: Limits,
    /// What is made small.
    pub metric: Metric,
    /// Shares of the flash at which each rung compares.
    pub targets: &'static [&'static [f64]],
    /// Seconds that the plan counts on.
    pub seconds: f64,
    /// When the clock ends it.
    pub deadline: Option<Instant>,
    /// Shows how far it is.
    pub progress: &'s Progress,
}

impl Search<'_> {
    /// Searches.
    ///
    /// # Errors
    /// Limits that no model can keep, data that cannot be divided into folds.
    pub fn run(&self) -> Result<Searched, Error> {
        let first = self.space.candidates(self.problem);
        let folds = Folds::new(self.problem.table, self.space.base.seed)?;
        // Ferns are judged as finished models only.
        let ferns = self.space.ferns(self.problem);
        if first.is_empty() && ferns.is_empty() {
            return Err(self.space.why_empty(self.problem.table));
        }
        let all = first.iter().chain(&ferns);
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in all.filter_map(|options| options.map) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let mut inputs = Inputs::new(self.problem, &kinds);
        if first.is_empty() && !ferns.is_empty() {
            self.within_ram(&ferns, &inputs)?;
            let (entries, others, rungs) = (Vec::new(), Vec::new(), Vec::new());
            let clock = Clock::new(self.deadline);
            return Ok(Searched { entries, others, inputs, rungs, clock, cut: false });
        }
        let mut candidates = self.within_limits(first, &inputs)?;
        let mut pace = Pace::new(self.seconds, self.deadline);
        let mut entries = self.probe(&candidates, &folds, &inputs, &mut pace)?;
        candidates = self.learn(candidates, &folds, &mut inputs, &mut pace)?;
        let mut rungs = Vec::new();
        let mut others = Vec::new();
        let mut cut = false;
        let count = self.targets.len();
        for number in 0..count {
            if number > 0 {
                others.splice(0..0, best_of_families(&entries, self.limits.flash));
                candidates = self.next(number, &entries, &folds, &mut inputs, &mut pace)?;
            }
            // What was probed only told the time.
            let before = if number == 0 { &[][..] } else { &entries };
            let plans = self.plan(number, candidates.clone(), before, &inputs)?;
            let budget = pace.budget(number, count);
            let extent = self.extent(number, &plans, &folds, budget.aim);
            let wanted = plans.len();
            let plans = self.fewer(number, plans, extent, &folds, budget.limit);
            cut |= plans.len() < wanted;
            let sample = folds.sample(extent.rows);
            let start = Instant::now();
            let judged = self.rung(number, &plans, extent, &sample, &inputs)?;
            cut |= judged.len() < plans.len();
            // A rung that the clock ended before anything was judged says nothing.
            if judged.is_empty() {
                break;
            }
            if judged.len() == plans.len() {
                let work = self.works(number, &plans, extent, folds.held.len() as f64).all();
                pace.clock.measured(work, start.elapsed());
            }
            rungs.push(Rung {
                candidates: judged.len(),
                rows: sample.rows(),
                columns: extent.columns,
                points: judged.iter().map(|entry| entry.points.len()).sum(),
            });
            entries = self.valued(judged);
        }
        cut |= pace.hurried;
        Ok(Searched { entries, others, inputs, rungs, clock: pace.clock, cut })
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
        let Limits { flash, code, ram, instructions, core } = self.limits;
        if flash < least.0 {
            let with = if code.is_some() { " with the code" } else { "" };
            let why = self.spent_on_texts(flash)?;
            let smallest = format!("{} bytes{with}{why}", least.0);
            return Err(too_small("flash", flash as u64, &smallest));
        }
        if let Some(ram) = ram.filter(|&ram| ram < least.1) {
            return Err(too_much_ram(ram, least.1));
        }
        if let Some(limit) = instructions.filter(|&limit| limit < least.2) {
            let smallest = format!("about {} instructions on a {}", least.2, core.name());
            return Err(too_small("instructions", limit, &smallest));
        }
        let message = "each limit can be kept, but no model keeps all of them: raise one of \
                       flash, RAM and instructions";
        Err(Error::parameter("limits", message))
    }

    /// Whether the buffers of any of these are small enough.
    fn within_ram(&self, all: &[TrainOptions], inputs: &Inputs) -> Result<(), Error> {
        let Some(ram) = self.limits.ram else { return Ok(()) };
        let mut least = usize::MAX;
        for options in all {
            least = least.min(self.small(options, inputs)?.1.ram);
        }
        if ram < least { Err(too_much_ram(ram, least)) } else { Ok(()) }
    }

    /// What to say where the notes by which a model knows the texts of columns take much of
    /// `flash`.
    fn spent_on_texts(&self, flash: usize) -> Result<String, Error> {
        let schema = &self.problem.table.schema;
        let notes = self.space.base.blob().notes(schema)?.len();
        let texts = (1..).zip(&schema.columns).filter_map(|(number, column)| match &column.kind {
            ColumnKind::Text { values } => Some((values.len(), number, column.name.clone())),
            _ => None,
        });
        let most = texts.max().filter(|_| NOTES * notes > flash);
        Ok(most.map_or_else(String::new, |(values, number, name)| {
            let label = ColumnLabel { number, name };
            format!(
                "; {notes} of them tell columns and their texts apart: {label} has {values} \
                 different texts, leave it out if it can be spared"
            )
        }))
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
                "round {} of {}: {done} of {} candidates on {} rows",
                number + 1,
                self.targets.len(),
                plans.len(),
                folds.rows()
            ))
        };
        phase()?;
        let judged: Vec<Option<Entry>> = parallel::try_map(plans.len(), |place| {
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            let plan = &plans[place];
            let sizes = self.sizes(number, plan, extent.columns);
            let entry = self.judge(plan, &sizes, folds, inputs)?;
            phase()?;
            Ok::<_, Error>(Some(entry))
        })?;
        Ok(judged.into_iter().flatten().collect())
    }

    pub(super) fn judge(
        &self,
        plan: &Plan,
        sizes: &[Size],
        folds: &Folds,
        inputs: &Inputs,
    ) -> Result<Entry, Error> {
        let most = sizes.iter().map(|size| size.features[0]).max().unwrap_or(1);
        let options = TrainOptions { features: vec![most], ..plan.options.clone() };
        let (problem, metric) = (self.problem, self.metric);
        let judged = curve(problem, &options, sizes, &plan.lambdas, folds, inputs, metric)?;
        let squares = judged.iter().map(|judgement| judgement.square).collect();
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
                loss: judgement.loss,
                value: 0.0,
            })
            .collect();
        Ok(Entry { options: plan.options.clone(), points, squares })
    }

    /// The entries with what their points are compared by.
    pub(super) fn valued(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let weight = weight(self.problem.task(), self.metric);
        value(&mut entries, weight);
        entries
    }
}

/// The best entry of each family, the best first.
fn best_of_families(entries: &[Entry], flash: usize) -> Vec<Entry> {
    let mut best: Vec<Entry> = Vec::new();
    for index in ranked(entries, &[flash]) {
        let entry = &entries[index];
        if best.iter().all(|other| other.options.families != entry.options.families) {
            best.push(entry.clone());
        }
    }
    best
}

/// A limit that no model keeps.
fn too_small(name: &'static str, limit: u64, smallest: &str) -> Error {
    let problem = format!("no model is so small: {name} {limit}, but at least {smallest}");
    Error::parameter(name, problem)
}

fn too_much_ram(ram: usize, least: usize) -> Error {
    too_small("ram", ram as u64, &format!("{least} bytes of buffers"))
}
