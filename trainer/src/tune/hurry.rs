//! What a search with a clock does beside its rungs: it measures the machine's
//! speed, and ends with a model of the largest size.

use std::time::Instant;

use rayon::prelude::*;

use super::budget::{Extent, LEAST_ROWS, Plan};
use super::folds::Folds;
use super::halving::Search;
use super::inputs::Inputs;
use super::pace::Pace;
use super::rank::{Entry, ranked};
use crate::{Error, TrainOptions};

/// Columns of the candidates by which the machine's speed is measured.
const PROBED_COLUMNS: usize = 384;
/// Share of the time for the best candidate at its largest, if the clock kept
/// the last rung from that.
const COMPLETION_SHARE: f64 = 0.1;

impl Search<'_> {
    /// Measures by two candidates how fast the machine is. They are the result if
    /// there is no time for more.
    pub(super) fn probe(
        &self,
        candidates: &[TrainOptions],
        folds: &Folds,
        inputs: &Inputs,
        pace: &mut Pace,
    ) -> Result<Vec<Entry>, Error> {
        if self.deadline.is_none() {
            return Ok(Vec::new());
        }
        let plain: Vec<&TrainOptions> =
            candidates.iter().filter(|options| options.relevance != Some(true)).collect();
        let mut some = vec![plain.len() / 3, 2 * plain.len() / 3];
        some.dedup();
        let some = some.iter().filter_map(|&i| plain.get(i).copied().cloned()).collect();
        let plans = self.plan(0, some, &[], inputs)?;
        let extent = Extent { rows: LEAST_ROWS.min(folds.rows()), columns: PROBED_COLUMNS };
        let sample = folds.sample(extent.rows);
        let start = Instant::now();
        let judge =
            |plan: &Plan| self.judge(plan, &self.sizes(0, plan, extent.columns), &sample, inputs);
        let judged = plans.par_iter().map(judge).collect::<Result<_, Error>>()?;
        let work = self.works(0, &plans, extent, folds.held.len() as f64);
        pace.measured(work, start.elapsed());
        Ok(self.valued(judged))
    }

    /// The best candidate at the largest size that fits, on as many rows as a
    /// share of the time allows, whatever the clock says: what the clock kept
    /// small must not stay so. None if it is among its points already.
    pub(super) fn completed(
        &self,
        entries: &[Entry],
        folds: &Folds,
        inputs: &Inputs,
        pace: &Pace,
    ) -> Result<Option<Entry>, Error> {
        let last = self.shares().len() - 1;
        let Some(&best) = ranked(entries, &self.targets(last)).first() else { return Ok(None) };
        let entry = &entries[best];
        let mut plans = self.plan(last, vec![entry.options.clone()], entries, inputs)?;
        let Some(mut plan) = plans.pop() else { return Ok(None) };
        plan.bits.truncate(1);
        let sizes = self.largest(&plan);
        let most = sizes.iter().map(|size| size.features[0]).max().unwrap_or(0);
        if entry.points.iter().any(|point| point.options.features[0] >= most) {
            return Ok(None);
        }
        self.progress.phase("judging the best candidate at its largest");
        let columns = sizes.iter().map(|size| plan.columns(size)).max().unwrap_or(1);
        let mut extent = Extent { rows: folds.rows(), columns };
        let budget = COMPLETION_SHARE * self.seconds * pace.speed;
        let parts = folds.held.len() as f64;
        while extent.rows > LEAST_ROWS && self.work(last, &plan, extent, parts) > budget {
            extent.rows = (extent.rows * 4 / 5).max(LEAST_ROWS);
        }
        self.judge(&plan, &sizes, &folds.sample(extent.rows), inputs).map(Some)
    }
}
