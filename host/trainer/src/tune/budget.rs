//! What a rung judges, and on how many rows and columns: planned by the work
//! that it takes.

use koan::Family;

use super::curve::{Size, first_lambdas, specs};
use super::footprint::Footprint;
use super::halving::Search;
use super::inputs::Inputs;
use super::rank::Entry;
use super::sizes::sizes;
use super::wide;
use crate::blob::{MapSpec, ModelSpec};
use crate::folds::Folds;
use crate::problem::Problem;
use crate::prune::most_features;
use crate::{Error, FamilyName, TrainOptions};
use koan_data::Task;

/// Bytes as shares of the limit at which each rung compares, for a front of models.
pub(super) const OF_A_FRONT: &[&[f64]] = &[&[1.0, 0.3], &[1.0, 0.6, 0.3], &[1.0, 0.6, 0.35, 0.2]];
/// The same for one model.
pub(super) const OF_ONE: &[&[f64]] = &[&[1.0, 0.5], &[1.0, 0.5], &[1.0, 0.5]];
/// Multiply-adds per second that plans count on: about what two cores do.
pub(super) const SPEED: f64 = 1e10;
/// Multiply-adds that an entry of a square Gram matrix counts as, for each row: half of
/// the entries are computed, by units that are some four times as fast as the rest.
const GRAM: f64 = 0.125;
/// The same of rows with weights, whose products are no integers.
const WEIGHTED_GRAM: f64 = 0.5;
/// Multiply-adds that a tap of a block of filters of a series counts as at a position, and all
/// else there.
const SERIES_TAP: f64 = 6.0;
const SERIES_REST: f64 = 40.0;
/// Times that a fit in its dual form goes through all features of all rows to round an output.
const DUAL_PASSES: f64 = 60.0;
/// Parts of the time for the rungs; learning scales takes time as well.
pub(super) const SHARES: [f64; 3] = [0.15, 0.25, 0.45];
/// Rows and columns below which a rung is not cut.
pub(super) const LEAST_ROWS: usize = 1500;
const LEAST_COLUMNS: usize = 96;
/// Candidates below which a rung is not cut.
const LEAST_CANDIDATES: usize = 6;
/// But for those that take so many times what the cheapest does.
const DEAR: f64 = 100.0;
/// Columns of a search, at most.
const MOST_COLUMNS: usize = 16_384;

/// Rows and columns of a rung.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub rows: usize,
    pub columns: usize,
}

/// Multiply-adds of judging candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Those that grow with the rows: of features, their Gram matrix and scores.
    rows: f64,
    /// Those of fits to sums over the rows.
    fits: f64,
}

impl Work {
    pub(super) fn all(self) -> f64 {
        self.rows + self.fits
    }
}

/// What judging a candidate needs.
pub(super) struct Plan {
    pub options: TrainOptions,
    /// With one feature.
    pub spec: ModelSpec,
    pub footprint: Footprint,
    pub lambdas: Vec<f64>,
    pub bits: Vec<u8>,
}

impl Plan {
    pub(super) fn columns(&self, size: &Size) -> usize {
        let banks = self.spec.banks.iter().zip(&size.features);
        banks.map(|(bank, &features)| crate::blob::columns(bank.family, features)).sum()
    }
}

/// Multiply-adds that an entry of a Gram matrix counts as, for each row.
pub(super) fn gram_work(problem: &Problem<'_>) -> f64 {
    if problem.weights.is_some() { WEIGHTED_GRAM } else { GRAM }
}

/// Multiply-adds of making a feature of a `family`.
pub(super) fn feature_work(family: Family, inputs: u16) -> f64 {
    match family {
        Family::Conv(conv) => {
            let positions = conv.positions(inputs) as f64;
            let (taps, rows) = (conv.taps() as f64, f64::from(conv.transform));
            // A block of filters; its transform adds many numbers at a time.
            let block = taps + rows * rows.log2() / 8.0 + 2.0 * rows;
            positions * block / (rows * f64::from(conv.cells()))
        }
        Family::Series(series) => {
            let block = SERIES_TAP * f64::from(series.kernel) + SERIES_REST;
            series.length(inputs) as f64 * block / 8.0
        }
        _ => 60.0,
    }
}

impl Search<'_> {
    /// The specification with few features, and what models of it weigh.
    pub(super) fn small(
        &self,
        options: &TrainOptions,
        inputs: &Inputs,
    ) -> Result<(ModelSpec, Footprint), Error> {
        let least = match options.families[..] {
            // A filter.
            [FamilyName::Conv] => options.conv.family(&self.problem.table.schema)?.cells(),
            _ => 1,
        };
        let plain =
            TrainOptions { features: vec![least], relevance: Some(false), ..options.clone() };
        // Of learned scales only the place that they take counts.
        let mut spec = specs(self.problem, &plain, inputs)?.swap_remove(0);
        let inputs_of_row = self.problem.table.inputs;
        match (options.relevance, &spec.maps) {
            (Some(true), MapSpec::Shared(map)) => {
                spec.maps = MapSpec::GainPerInput(*map, vec![map.mult(); inputs_of_row]);
            }
            (Some(true), MapSpec::PerChannel(maps)) => {
                let all = maps.iter().copied().cycle().take(inputs_of_row);
                spec.maps = MapSpec::PerInput(all.collect());
            }
            _ => {}
        }
        let footprint = Footprint::new(&spec, self.problem, options, self.limits.code)?;
        Ok((spec, footprint))
    }

    /// What of a model's bytes is code.
    pub(super) fn code_of(&self, options: &TrainOptions, inputs: &Inputs) -> Result<usize, Error> {
        if self.limits.code.is_none() {
            return Ok(0);
        }
        let (_, footprint) = self.small(options, inputs)?;
        Ok(footprint.code(options.bits.unwrap_or(4), options.candidates.is_some()))
    }

    /// Bits to try in a rung, after the points that a candidate has.
    pub(super) fn bits(&self, rung: usize, before: Option<&Entry>) -> Vec<u8> {
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

    pub(super) fn targets(&self, rung: usize) -> Vec<usize> {
        self.targets[rung].iter().map(|&share| self.limits.share(share)).collect()
    }

    /// What each candidate needs to be judged; none of those that no size of fits, such as
    /// all inputs as a second bank where they are many.
    pub(super) fn plan(
        &self,
        rung: usize,
        candidates: Vec<TrainOptions>,
        entries: &[Entry],
        inputs: &Inputs,
    ) -> Result<Vec<Plan>, Error> {
        let task = self.problem.task();
        let mut plans = candidates
            .into_iter()
            .map(|options| {
                let (spec, footprint) = self.small(&options, inputs)?;
                let before = entries.iter().find(|entry| entry.options == options);
                let lambdas = match before.and_then(|entry| entry.points.first()) {
                    Some(point) if options.lambda.is_none() => {
                        let lambda = point.options.lambda.unwrap_or(1e-3);
                        vec![lambda / 3.0, lambda, lambda * 3.0]
                    }
                    _ => first_lambdas(&options, task),
                };
                let bits = self.bits(rung, before);
                Ok(Plan { options, spec, footprint, lambdas, bits })
            })
            .collect::<Result<Vec<Plan>, Error>>()?;
        plans.retain(|plan| !self.sizes(rung, plan, MOST_COLUMNS).is_empty());
        Ok(plans)
    }

    pub(super) fn sizes(&self, rung: usize, plan: &Plan, most: usize) -> Vec<Size> {
        let (targets, limits) = (self.targets(rung), &self.limits);
        let most = most.min(self.most_columns(&plan.options));
        sizes(&plan.spec, &plan.footprint, limits, &targets, &plan.bits, most)
    }

    /// Columns that the rows are enough for; filters of images and series are looked at in many
    /// places of a row.
    pub(super) fn most_columns(&self, options: &TrainOptions) -> usize {
        match options.families[..] {
            [FamilyName::Conv | FamilyName::Series] => MOST_COLUMNS,
            _ => most_features(self.problem.table.rows()),
        }
    }

    /// Multiply-adds of judging a candidate at some sizes.
    pub(super) fn work(&self, plan: &Plan, sizes: &[Size], rows: usize, folds: f64) -> Work {
        let outputs = self.problem.outputs as f64;
        let rows = rows as f64;
        let (mut work, mut largest) = (Work { rows: 0.0, fits: 0.0 }, 0.0f64);
        let most = sizes.iter().map(|size| plan.columns(size)).max().unwrap_or(0);
        let wide = wide::suits(&plan.spec, most, rows as usize, self.problem.outputs);
        for size in sizes {
            let k = plan.columns(size) as f64;
            let fits = plan.lambdas.len() as f64 + 2.0;
            if wide {
                let passes = fits + DUAL_PASSES * outputs;
                work.fits += folds * rows * (rows * k + fits * rows * rows / 6.0 + passes * k);
                continue;
            }
            largest = largest.max(k);
            work.fits += folds * (fits * k * k * k / 6.0 + 2.0 * outputs * 40.0 * k * k);
            work.rows += rows * k * outputs;
        }
        let learned = plan.options.relevance == Some(true);
        let passes = if learned { folds } else { 1.0 };
        let each = feature_work(plan.spec.banks[0].family, plan.spec.inputs);
        work.rows += passes * rows * (gram_work(self.problem) * largest * largest + each * largest);
        work
    }

    /// As many rows and columns as a budget of multiply-adds allows.
    pub(super) fn extent(&self, rung: usize, plans: &[Plan], folds: &Folds, budget: f64) -> Extent {
        let columns = |plan: &Plan| {
            let sizes = self.sizes(rung, plan, MOST_COLUMNS);
            sizes.iter().map(|size| plan.columns(size)).max().unwrap_or(1)
        };
        let columns = plans.iter().map(columns).max().unwrap_or(1);
        let mut extent = Extent { rows: folds.rows(), columns };
        let parts = folds.held.len() as f64;
        loop {
            let work = self.works(rung, plans, extent, parts);
            if work.all() <= budget {
                return extent;
            }
            // Rows first, while they are many for so many columns and take the most: a
            // judgement on few rows is a coarse one.
            let rows_first = extent.rows > 5 * extent.columns && work.rows > work.fits;
            if extent.rows > LEAST_ROWS && rows_first {
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

    /// Multiply-adds of judging all of `plans`.
    pub(super) fn works(&self, rung: usize, plans: &[Plan], extent: Extent, folds: f64) -> Work {
        let add =
            |sum: Work, work: Work| Work { rows: sum.rows + work.rows, fits: sum.fits + work.fits };
        let work = |plan: &Plan| {
            let sizes = self.sizes(rung, plan, extent.columns);
            self.work(plan, &sizes, extent.rows, folds)
        };
        plans.iter().map(work).fold(Work { rows: 0.0, fits: 0.0 }, add)
    }

    /// Fewer plans, where all of them take more multiply-adds than `limit` even at
    /// the least extent: of the first rung some of everything, later the best,
    /// which are the first.
    pub(super) fn fewer(
        &self,
        rung: usize,
        mut plans: Vec<Plan>,
        extent: Extent,
        folds: &Folds,
        limit: f64,
    ) -> Vec<Plan> {
        let parts = folds.held.len() as f64;
        let work = |plan: &Plan| {
            let sizes = self.sizes(rung, plan, extent.columns);
            self.work(plan, &sizes, extent.rows, parts).all()
        };
        // Not one that takes more than all of them may, as all inputs do where they are thousands.
        let least = plans.iter().map(work).fold(f64::INFINITY, f64::min);
        plans.retain(|plan| work(plan) <= limit.max(DEAR * least));
        let all: f64 = plans.iter().map(work).sum();
        let count = plans.len();
        let kept = (count as f64 * limit / all) as usize;
        if all <= limit || kept.max(LEAST_CANDIDATES) >= count {
            return plans;
        }
        let kept = kept.max(LEAST_CANDIDATES);
        let chosen = |index: usize| {
            if rung > 0 {
                index < kept
            } else {
                (index * kept) / count != (index + 1) * kept / count
            }
        };
        plans.into_iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, plan)| plan).collect()
    }
}
