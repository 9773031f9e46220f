//! Refinement: the best candidates of the rungs are trained as models are, rounded, and
//! judged by their blobs on rows that they have not seen. Then one thing after the other is
//! changed in the best of them (loss, bits, frequency, a second family, features kept from
//! a larger pool...), best first, as long as there is time; the best are confirmed.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use web_time::{Duration, Instant};

use super::confirm;
use super::ferns::is_fern;
use super::growth::Rooms;
use super::halving::{Search, Searched};
use super::inputs::Inputs;
use super::moves::{Change, digits};
use super::pace::{Clock, SLACK};
use super::rank::ranked;
use crate::folds::Folds;
use crate::solve::Loss;
use crate::{Error, FamilyName, Point, TrainOptions};
use koan_data::Task;

/// Ways to make features that are refined for each number of bytes, at most.
const WAYS: usize = 7;
/// Of one family, at most.
const OF_A_FAMILY: usize = 2;
/// Models that the time should be enough for; rows and bytes are cut until it is.
const PLANNED: f64 = 14.0;
/// Rows below which they are not cut, and held-out rows that are enough to judge by.
const LEAST_ROWS: usize = 4000;
pub(super) const ENOUGH_ROWS: usize = 1500;
/// A change that makes the loss so many times as large is not tried again.
const WORSE: f64 = 1.05;
/// Models this much worse than the best are left as they are.
const FAR: f64 = 1.25;
/// Part of the bytes that a smaller model has at least.
pub(super) const SMALLEST: usize = 8;
/// Share of all the work that one model may take.
const MOST_SHARE: f64 = 0.12;
/// Time for each of the small sizes, as a share of that for each of the others: fits are cheap.
const OF_SMALL: f64 = 0.3;
/// Features below which they are not cut.
const LEAST_COLUMNS: usize = 160;
/// Bits of a weight of linear models that are tried beside those of all others.
const EXACT: u8 = 16;
/// Features at most.
pub(super) const MOST_COLUMNS: usize = 4096;

/// A model that was judged.
#[derive(Clone, Debug)]
pub(super) struct Refined {
    pub point: Point,
    /// The λ that its fits chose; none where another solver counts it in rows.
    pub lambda: Option<f64>,
    /// Whether what may be changed in it was tried.
    pub expanded: bool,
    /// What was changed to come here.
    pub change: Change,
    /// Bytes that it was to fill.
    pub room: usize,
}

impl Refined {
    /// What it was judged with, the λ that its fits chose among it.
    pub(super) fn options(&self) -> TrainOptions {
        let options = &self.point.options;
        TrainOptions { lambda: options.lambda.or(self.lambda), ..options.clone() }
    }
}

#[cfg(test)]
impl Refined {
    /// As if it had been judged.
    pub(super) fn new(point: Point) -> Self {
        Self { point, lambda: None, expanded: true, change: Change::None, room: 0 }
    }
}

/// What refinement may spend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Multiply-adds, as planned.
    pub work: f64,
    /// Share of the time until the end that is left for the last choices.
    pub reserved: f64,
    /// When what is under way is given up.
    pub clock: Clock,
    /// Multiply-adds that the last fit may take because more features fit than could be
    /// judged.
    pub growth: f64,
}

/// The end of a search.
pub(super) struct Refinement<'r> {
    pub(super) search: &'r Search<'r>,
    pub(super) inputs: Inputs,
    pub(super) folds: Folds,
    pub(super) left: f64,
    /// What one model may take.
    pub(super) each: f64,
    /// When models are no longer changed, and when all ends.
    pub(super) end: Option<Instant>,
    pub(super) clock: Clock,
    pub(super) growth: f64,
    /// Multiply-adds of the models that were judged, and the time they took.
    pub(super) judged: (f64, Duration),
    /// Whether the clock ended it.
    pub cut: bool,
    /// Whether less was tried than was planned.
    pub hurried: AtomicBool,
    /// Whether any model was judged.
    pub(super) found: bool,
    /// Bytes that models are to fill.
    pub(super) rooms: Rooms,
}

impl<'r> Refinement<'r> {
    /// Of what `search` found.
    ///
    /// # Errors
    /// Data that cannot be divided into folds.
    pub fn new(
        search: &'r Search<'r>,
        inputs: Inputs,
        allowance: Allowance,
    ) -> Result<Self, Error> {
        let folds = Folds::new(search.problem.table, search.space.base.seed)?;
        let Allowance { work, reserved, clock, growth } = allowance;
        let now = Instant::now();
        let models = (1.0 - reserved) * (1.0 - confirm::SHARE);
        let end =
            clock.deadline.map(|end| now + end.saturating_duration_since(now).mul_f64(models));
        let (left, each) = (work, work);
        let judged = (0.0, Duration::ZERO);
        let (cut, hurried, found) = (false, AtomicBool::new(false), false);
        Ok(Self {
            search,
            inputs,
            folds,
            left,
            each,
            end,
            clock,
            judged,
            growth,
            cut,
            hurried,
            found,
            rooms: Rooms::default(),
        })
    }

    /// Multiply-adds that are left above the `reserve`; fewer where the clock leaves less time
    /// than the plan.
    pub(super) fn available(&self, reserve: f64) -> f64 {
        let left = self.left.max(1.0);
        self.in_time(left, self.clock.possible()) / left * (self.left - reserve)
    }

    /// What the last fit may take, on a machine of this speed.
    pub(super) fn growth(&self) -> f64 {
        self.in_time(self.growth, self.growth * self.clock.speed_share())
    }

    /// What the last fit may take, and there is time for before the end.
    pub(super) fn growth_in_time(&self) -> f64 {
        self.in_time(self.growth(), self.clock.possible())
    }

    /// What was planned, or what is possible where that is clearly less: the result then depends on
    /// the machine, which is noted.
    pub(super) fn in_time(&self, planned: f64, possible: f64) -> f64 {
        if possible >= SLACK * planned {
            return planned;
        }
        self.hurried.store(true, Relaxed);
        possible
    }

    /// The models that were judged, the best of them twice, for each number of bytes in
    /// `targets`, which have equal parts of the time, and in `small`, which have less of it: for
    /// these the rungs have compared nothing, so that they begin with what was best at the least of
    /// the targets.
    ///
    /// # Errors
    /// What training refuses.
    pub fn run(
        &mut self,
        found: &Searched,
        targets: &[usize],
        small: &[usize],
    ) -> Result<Vec<Point>, Error> {
        let (mut refined, mut points, mut judged) = (Vec::new(), Vec::new(), Vec::new());
        let least = targets.iter().copied().min().unwrap_or(0);
        let parts = targets.iter().map(|&target| (target, 1.0));
        let parts: Vec<(usize, f64)> =
            parts.chain(small.iter().map(|&target| (target, OF_SMALL))).collect();
        for (number, &(target, part)) in parts.iter().enumerate() {
            if self.is_over() {
                self.cut = true;
                break;
            }
            let others: f64 = parts[number + 1..].iter().map(|(_, part)| part).sum();
            let rest = self.left * others / (others + part);
            self.folds = Folds::new(self.search.problem.table, self.search.space.base.seed)?;
            let second = confirm::SHARE * (self.left - rest);
            let ways = self.ways(found, target.max(least));
            let (rooms, mut models) = self.at(&ways, target, rest + second)?;
            self.found |= !models.is_empty();
            self.confirm(&mut models, rest)?;
            for Refined { point, lambda, .. } in &models {
                let mut point = point.clone();
                point.options.lambda = self.last_lambda(&point.options, *lambda)?;
                points.push(point);
            }
            refined.extend(models);
            judged.push((target, rooms, self.folds.clone()));
        }
        for (number, (target, rooms, folds)) in judged.into_iter().enumerate() {
            (self.folds, self.rooms) = (folds, rooms);
            points.extend(self.grown(&refined, rooms, target)?);
            if number == 0 {
                self.finals(&mut points, &refined, target)?;
            }
        }
        Ok(points)
    }

    /// Whether the time for models to be judged is over, and some were.
    pub(super) fn is_over(&self) -> bool {
        self.found && self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// The numbers of bytes, `target` or less, that there is time to judge models at, and these
    /// models, which begin with `ways`; `reserve` is the work that is left for others.
    fn at(
        &mut self,
        ways: &[TrainOptions],
        target: usize,
        reserve: f64,
    ) -> Result<(Rooms, Vec<Refined>), Error> {
        self.each = MOST_SHARE * self.available(reserve);
        let whole = target;
        let ferns = match ways {
            [] => self.search.space.ferns(self.search.problem),
            _ => Vec::new(),
        };
        let way = ways.first().or(ferns.first());
        let target = self.fit_extent(way, whole, self.available(reserve))?;
        let mut seeds = Vec::new();
        for options in ways {
            let bits = options.bits.unwrap_or(4);
            seeds.extend(self.sized(options, bits, target)?);
        }
        for seed in &mut seeds {
            let ridge = self.is_ridge(&seed.point.options, seed.columns);
            seed.point.options.loss.get_or_insert(if ridge {
                Loss::Squared
            } else {
                self.usual_loss()
            });
        }
        let (of_ferns, ferns) = self.ferns(ways.is_empty(), whole, reserve)?;
        let rooms = Rooms { of_ferns, others: target };
        self.rooms = rooms;
        seeds.extend(ferns);
        let mut refined: Vec<Refined> = Vec::new();
        let mut tried: Vec<TrainOptions> = Vec::new();
        self.judge_all(seeds, &mut tried, &mut refined, reserve)?;
        // Changes that made a model much worse are not tried in others.
        let mut useless: Vec<Change> = Vec::new();
        loop {
            refined.sort_by(|a, b| a.point.value.total_cmp(&b.point.value));
            let Some(best) = refined.iter().position(|refined| !refined.expanded) else { break };
            refined[best].expanded = true;
            // Far from the best: what is left to try there is not worth the time.
            if refined[best].point.value > FAR * refined[0].point.value {
                break;
            }
            let mut moves = self.moves(&refined, best, target / SMALLEST)?;
            moves.retain(|sized| !useless.contains(&sized.change));
            let (before, parent) = (tried.len(), refined[best].point.value);
            let known = refined.len();
            self.judge_all(moves, &mut tried, &mut refined, reserve)?;
            for child in &refined[known..] {
                let graded = matches!(child.change, Change::Lambda | Change::Frequency);
                if child.point.value > WORSE * parent && !graded {
                    useless.push(child.change);
                }
            }
            if self.cut || (tried.len() == before && self.available(reserve) <= 0.0) {
                break;
            }
        }
        Ok((rooms, refined))
    }

    /// A λ that was chosen on the way is kept, if none is given: the last fit need not choose
    /// again. It is relative to the rows, of which there will be more.
    pub(super) fn of_all_rows(&self, lambda: Option<f64>) -> Option<f64> {
        let held = self.folds.parts[self.folds.held[0]].len();
        let share = (self.folds.rows() - held) as f64 / self.search.problem.table.rows() as f64;
        match self.search.space.base.lambda {
            None => lambda.map(|lambda| digits(lambda * share)),
            given => given,
        }
    }

    /// The λ of the last fit to a model that was judged with `lambda`. Of other rows other ferns
    /// are chosen: where they were judged on a part of the rows, the last fit chooses it anew, if
    /// there is time.
    pub(super) fn last_lambda(
        &self,
        options: &TrainOptions,
        lambda: Option<f64>,
    ) -> Result<Option<f64>, Error> {
        let open = self.search.space.base.lambda.is_none();
        let part = self.folds.rows() < self.search.problem.table.rows();
        let anew = TrainOptions { lambda: None, ..options.clone() };
        if open && part && is_fern(options) && self.last_work(&anew)? <= self.growth() {
            return Ok(None);
        }
        Ok(self.of_all_rows(lambda))
    }

    /// The loss that models begin with: of classes the one that is better more often than not; the
    /// other is tried in the best.
    pub(super) fn usual_loss(&self) -> Loss {
        match self.search.problem.task() {
            Task::Classification => Loss::Logistic,
            Task::Regression => Loss::Squared,
        }
    }

    /// Whether a model is fitted by squared error alone: of series with more features than rows,
    /// whose rows any loss tells apart, so that a ridge does as well in a small part of the time.
    pub(super) fn is_ridge(&self, options: &TrainOptions, columns: usize) -> bool {
        options.families == [FamilyName::Series] && columns > self.folds.rows()
    }

    /// The best candidates of the rungs, of several families.
    fn ways(&self, found: &Searched, target: usize) -> Vec<TrainOptions> {
        let last = ranked(&found.entries, &[target]).into_iter().map(|i| &found.entries[i]);
        let mut ways: Vec<TrainOptions> = Vec::new();
        for (entry, left) in last.map(|e| (e, false)).chain(found.others.iter().map(|e| (e, true)))
        {
            let fitting = entry.points.iter().filter(|point| point.bytes <= target);
            let Some(best) = fitting.min_by(|a, b| a.value.total_cmp(&b.value)) else { continue };
            let options = &best.options;
            let of_family = ways.iter().filter(|other| other.families == options.families).count();
            let way = |options: &TrainOptions| {
                let TrainOptions { projection, map, relevance, linear, .. } = options;
                (options.families.clone(), *projection, *map, *relevance, *linear)
            };
            let known = ways.iter().any(|other| way(other) == way(options));
            // Those that left early are there for the sake of their families.
            let most = if left { 1 } else { OF_A_FAMILY };
            if of_family < most && !known && ways.len() < WAYS {
                let lambda = self.search.space.base.lambda;
                ways.push(TrainOptions { lambda, ..options.clone() });
            }
        }
        // It takes little, so that there is time for it whatever the others take.
        let place = ways.len().min(1);
        ways.splice(place..place, self.exact_linear(found, target));
        ways
    }

    /// The inputs alone, with weights of 16 bits: where a number is a linear function of them, as
    /// in a calibration of sensors, the rounding of weights is most of the error, and the bytes
    /// are few.
    fn exact_linear(&self, found: &Searched, target: usize) -> Option<TrainOptions> {
        let base = &self.search.space.base;
        if self.search.problem.task() != Task::Regression || base.bits.is_some() {
            return None;
        }
        let points = found.entries.iter().chain(&found.others).flat_map(|entry| &entry.points);
        let linear = points.filter(|point| {
            point.options.families == [FamilyName::Linear] && point.bytes <= target
        });
        let best = linear.min_by(|a, b| a.value.total_cmp(&b.value))?;
        Some(TrainOptions { lambda: base.lambda, bits: Some(EXACT), ..best.options.clone() })
    }

    /// Takes as many held-out parts and rows as there is time for to judge models like `way`, and
    /// where that is not enough fewer bytes: the number of bytes that models are to be judged at.
    fn fit_extent(
        &mut self,
        way: Option<&TrainOptions>,
        target: usize,
        work: f64,
    ) -> Result<usize, Error> {
        let mut judged = target;
        let Some(way) = way else { return Ok(target) };
        let bits = way.bits.unwrap_or(4);
        let loss = Some(way.loss.unwrap_or_else(|| self.usual_loss()));
        while let Some(sized) = self.sized(way, bits, judged)? {
            let each = self.work(&TrainOptions { loss, ..sized.point.options })?;
            if PLANNED * each <= work {
                break;
            }
            let rows = self.folds.rows();
            let held = self.folds.parts[self.folds.held[0]].len();
            let parts = self.folds.held.len();
            if parts > 3 || (parts > 1 && held >= ENOUGH_ROWS) {
                self.folds.held.pop();
            } else if rows * 4 / 5 >= LEAST_ROWS {
                self.folds = self.folds.sample(rows * 4 / 5);
            } else if sized.columns > LEAST_COLUMNS {
                let fewer = judged * 9 / 10;
                if self.sized(way, bits, fewer)?.is_none() {
                    break;
                }
                judged = fewer;
            } else {
                break;
            }
        }
        Ok(judged)
    }

    /// Learns the scales of the inputs that `options` need, if there is time; whether they
    /// are there.
    pub(super) fn learned(&mut self, options: &TrainOptions) -> Result<bool, Error> {
        let (Some(true), Some(kind)) = (options.relevance, options.map) else { return Ok(true) };
        if !self.inputs.has_learned(kind) {
            let problem = self.search.problem;
            let folds = Folds::new(problem.table, self.search.space.base.seed)?;
            let work = crate::relevance::work(problem.table.inputs, problem.outputs);
            let work = folds.held.len() as f64 * work;
            if work > 0.2 * self.available(0.0) {
                return Ok(false);
            }
            self.left -= work;
            self.inputs.learn(problem, kind, &folds, options.seed, self.search.progress)?;
        }
        Ok(true)
    }
}
