//! What the rungs do not have: features kept from a larger pool, and another loss, tried
//! for the best points.

use std::time::{Duration, Instant};

use koan::Model;
use rayon::prelude::*;

use super::SEARCHING;
use super::budget::{GRAM, SPEED, feature_work};
use super::folds::Folds;
use super::footprint::Footprint;
use super::halving::Search;
use super::inputs::Inputs;
use super::rank::{Point, slowness, weight};
use crate::blob::predictor;
use crate::progress::Progress;
use crate::prune::MOST_CANDIDATES;
use crate::solve::Loss;
use crate::train::{bank_plans, train_blob};
use crate::{Error, FamilyName, TrainOptions};
use koan_data::{Table, Task};

/// Ways to make features that are tried, each by its best point.
const WAYS: usize = 3;
/// Features of a pool for each that is kept; the first that there is time for.
const POOLS: [usize; 3] = [8, 4, 2];
/// Points that are tried with another loss.
const OTHER_LOSSES: usize = 2;
/// Share of the planned time for all variants, and for each.
const SHARES: (f64, f64) = (0.6, 0.3);
/// Part of the flash that is left for lists longer than one of features kept at random:
/// a model that does not fit after all is to be trained again.
const LIST_ROOM: usize = 256;
/// Held-out rows that are enough to judge a variant by, where there is not time for
/// all.
pub(super) const ENOUGH_ROWS: usize = 5000;

/// A search's end.
pub(super) struct Variants<'v> {
    search: &'v Search<'v>,
    folds: Folds,
    /// Multiply-adds that may still be spent, as planned, and for one variant.
    left: f64,
    each: f64,
    /// Multiply-adds per second.
    speed: f64,
    /// When a variant under way is given up.
    pub end: Option<Instant>,
    /// Whether the clock ended it.
    pub cut: bool,
}

impl<'v> Variants<'v> {
    /// Of what `search` found at a `speed`, in multiply-adds per second; `seconds` is the
    /// time that all of it plans for.
    ///
    /// # Errors
    /// Data that cannot be divided into folds.
    pub fn new(search: &'v Search<'v>, seconds: f64, speed: f64) -> Result<Self, Error> {
        let folds = Folds::new(search.problem.table, search.space.base.seed)?;
        let (left, each) = (SHARES.0 * seconds * SPEED, SHARES.1 * seconds * SPEED);
        let rest = Duration::from_secs_f64(seconds * (1.0 - SEARCHING));
        let end = search.deadline.map(|deadline| deadline + rest);
        Ok(Self { search, folds, left, each, speed, end, cut: false })
    }

    /// Variants of the best of `points`, as far as there is time.
    ///
    /// # Errors
    /// What training refuses.
    pub fn of(&mut self, points: &[Point]) -> Result<Vec<Point>, Error> {
        let mut sorted: Vec<&Point> = points.iter().filter(|p| p.value.is_finite()).collect();
        sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
        let mut variants = Vec::new();
        let mut ways: Vec<&[FamilyName]> = Vec::new();
        for point in &sorted {
            let way = point.options.families.as_slice();
            if ways.len() < WAYS && !ways.contains(&way) {
                ways.push(way);
                variants.extend(self.selected(point)?);
            }
        }
        if self.search.problem.task() == Task::Classification {
            let mut best: Vec<Point> =
                sorted.into_iter().cloned().chain(variants.iter().cloned()).collect();
            best.sort_by(|a, b| a.value.total_cmp(&b.value));
            for point in best.iter().take(OTHER_LOSSES) {
                variants.extend(self.other_loss(point)?);
            }
        }
        Ok(variants)
    }

    /// Whether so many multiply-adds can be spent; then they are.
    fn affords(&mut self, work: f64) -> bool {
        if work > self.left.min(self.each) {
            return false;
        }
        let needed = Duration::from_secs_f64(work / self.speed);
        if self.search.deadline.is_some_and(|deadline| Instant::now() + needed >= deadline) {
            self.cut = true;
            return false;
        }
        self.left -= work;
        true
    }

    /// As many of the held-out parts as there is time for at so much `work` each: all,
    /// or one that has enough rows. The point that a variant comes from, `origin` of work,
    /// is judged on that one as well.
    pub(super) fn parts(&mut self, work: f64, origin: f64) -> Option<Vec<usize>> {
        let all = self.folds.held.clone();
        if self.affords(all.len() as f64 * work) {
            return Some(all);
        }
        let enough = |part: &&usize| self.folds.parts[**part].len() >= ENOUGH_ROWS;
        let one = all.iter().find(enough).copied()?;
        self.affords(work + origin).then_some(vec![one])
    }

    /// The same way with as many features as fit, kept from a pool of more; without the
    /// inputs themselves.
    fn selected(&mut self, point: &Point) -> Result<Option<Point>, Error> {
        let single = point.options.families.len() == 1;
        let suits = !matches!(point.options.families[..], [FamilyName::Bin | FamilyName::Linear]);
        let (Some(bits), true) = (point.options.bits, single && suits) else { return Ok(None) };
        let options = TrainOptions { linear: false, lambda: None, ..point.options.clone() };
        let footprint = self.footprint(&options)?;
        let origin = self.work(&point.options)?;
        for pool in POOLS {
            let Some(size) = self.size(&footprint, pool, bits) else { continue };
            let (features, candidates) = (vec![size.kept], Some(size.pool));
            let options = TrainOptions { features, candidates, ..options.clone() };
            let Some(parts) = self.parts(self.work(&options)?, origin) else { continue };
            self.search
                .progress
                .phase(&format!("keeping {} of {} features", size.kept, size.pool))?;
            let cost = (size.bytes, size.instructions);
            return self.judged(options, point, cost, &parts);
        }
        Ok(None)
    }

    /// The same features with logistic regression.
    fn other_loss(&mut self, point: &Point) -> Result<Option<Point>, Error> {
        let options = TrainOptions { loss: Loss::Logistic, lambda: None, ..point.options.clone() };
        let (work, origin) = (self.work(&options)?, self.work(&point.options)?);
        let Some(parts) = self.parts(work, origin) else { return Ok(None) };
        self.search.progress.phase("trying another loss")?;
        self.judged(options, point, (point.bytes, point.instructions), &parts)
    }

    /// Multiply-adds of training a model.
    fn work(&self, options: &TrainOptions) -> Result<f64, Error> {
        let problem = self.search.problem;
        let banks = bank_plans(problem.table, options)?;
        let columns: usize = banks.iter().map(crate::plan::BankPlan::columns).sum();
        let (rows, outputs) = (self.folds.rows() as f64, problem.outputs as f64);
        let k = columns as f64;
        // Features, their Gram matrix, and leaving them out one by one or fits to it.
        let n = options.candidates.map_or(k, f64::from);
        let each = feature_work(banks[0].family, problem.table.inputs as u16);
        let cubes = if options.candidates.is_some() { 2.5 } else { 1.0 };
        let mut work = rows * n * (each + GRAM * n) + cubes * n.powi(3);
        if options.relevance == Some(true) {
            work += crate::relevance::work(problem.table.inputs, problem.outputs);
        }
        if options.loss != Loss::Squared {
            // About a hundred passes over the features, and rounding.
            work += 100.0 * rows * k * outputs + 2.0 * rows * k * k;
        }
        Ok(work)
    }

    /// What models of these options weigh.
    fn footprint(&self, options: &TrainOptions) -> Result<Footprint, Error> {
        let kinds: Vec<_> = options.map.into_iter().collect();
        let (_, footprint) =
            self.search.small(options, &Inputs::new(self.search.problem, &kinds))?;
        Ok(footprint)
    }

    /// The most features that fit the limits when there are `pool` times as many to
    /// keep them from.
    fn size(&self, footprint: &Footprint, pool: usize, bits: u8) -> Option<Selected> {
        let of = |kept: u16| {
            let pool = (usize::from(kept) * pool).min(MOST_CANDIDATES) as u16;
            let (bytes, instructions) =
                footprint.selected(self.search.limits.core, pool, kept, bits).ok()?;
            let slow = self.search.limits.instructions.is_some_and(|limit| instructions > limit);
            // The list of the features kept is not known yet: a little room for it.
            let room = self.search.limits.flash / LIST_ROOM;
            let fits = bytes + room <= self.search.limits.flash && !slow && kept < pool;
            fits.then_some(Selected { kept, pool, bytes, instructions })
        };
        let (mut low, mut high) = (0, MOST_CANDIDATES as u16 / 2);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if of(middle).is_some() { low = middle } else { high = middle - 1 }
        }
        of(low).filter(|_| low > 0)
    }

    /// Options that were not judged yet, on the rows of some of the held-out parts; none
    /// if the clock says so.
    fn judged(
        &mut self,
        options: TrainOptions,
        origin: &Point,
        (bytes, instructions): (usize, u64),
        parts: &[usize],
    ) -> Result<Option<Point>, Error> {
        let Some(mut found) = self.errors(&options, parts)? else { return Ok(None) };
        if parts.len() < self.folds.held.len() {
            // What these rows say, in the units of all rows.
            let Some(here) = self.errors(&origin.options, parts)? else { return Ok(None) };
            let ratio = |mine: f64, other: f64| if other > 0.0 { mine / other } else { 1.0 };
            found.loss = origin.loss * ratio(found.loss, here.loss);
            found.square = origin.square * ratio(found.square, here.square);
        }
        let Errors { loss, square } = found;
        // Another loss than the squared one is not to be told by that.
        let squared = options.loss == Loss::Squared && origin.options.loss == Loss::Squared;
        let weight = weight(self.search.problem.task(), self.search.metric);
        let old = origin.value / slowness(origin.instructions);
        let value = if squared {
            let squares = old - (1.0 - weight) * origin.loss;
            (1.0 - weight) * loss + squares * square / origin.square
        } else {
            old * loss / origin.loss
        };
        let value = value * slowness(instructions);
        Ok(Some(Point { options, loss, square, value, bytes, instructions, ..origin.clone() }))
    }

    /// Errors of models on the held-out rows of parts, each fitted to all other parts;
    /// none if the time is over before the last of them.
    fn errors(&mut self, options: &TrainOptions, parts: &[usize]) -> Result<Option<Errors>, Error> {
        let (problem, outputs) = (self.search.problem, self.search.problem.outputs);
        let (mut rows, mut scores) = (Vec::new(), Vec::new());
        for &held in parts {
            if self.end.is_some_and(|end| Instant::now() >= end) {
                self.cut = true;
                return Ok(None);
            }
            let fit = problem.table.select(&self.folds.fit_rows(held));
            let blob = train_blob(&fit, options, &Progress::none())?;
            scores.extend(scores_of(&blob, &problem.table.select(&self.folds.parts[held]))?);
            rows.extend_from_slice(&self.folds.parts[held]);
        }
        let loss = self.search.metric.of_scores(&problem.table.select(&rows), &scores);
        let error = |(i, score): (usize, &f64)| {
            (score - problem.target(rows[i / outputs], i % outputs)).powi(2)
        };
        let square = scores.iter().enumerate().map(error).sum::<f64>() / scores.len() as f64;
        Ok(Some(Errors { loss, square }))
    }
}

/// On rows that were not fitted to.
struct Errors {
    /// By the metric.
    loss: f64,
    /// Mean squared error.
    square: f64,
}

/// So many features of a pool.
struct Selected {
    kept: u16,
    pool: u16,
    bytes: usize,
    instructions: u64,
}

/// Real-valued scores of a model: rows × outputs, row-major.
fn scores_of(blob: &[u8], table: &Table) -> Result<Vec<f64>, Error> {
    let model = Model::parse(blob)?;
    let scale = f64::from(model.score_scale());
    let mut all = vec![0.0; table.rows() * model.outputs()];
    all.par_chunks_mut(model.outputs().max(1)).enumerate().try_for_each_init(
        || predictor(blob),
        |predictor, (row, places)| {
            let predictor = predictor.as_mut().map_err(|error| *error)?;
            let scores = predictor.scores(table.row(row))?;
            places.iter_mut().zip(scores).for_each(|(place, &s)| *place = f64::from(s) * scale);
            Ok::<_, Error>(())
        },
    )?;
    Ok(all)
}
