//! What a search does beside its rungs: with a clock it measures the machine's speed
//! before them, and after them it judges models of the largest size.

use std::time::Instant;

use rayon::prelude::*;

use super::budget::{Extent, LEAST_ROWS, Plan, SPEED};
use super::curve::Size;
use super::folds::Folds;
use super::halving::Search;
use super::inputs::Inputs;
use super::pace::Pace;
use super::rank::{Entry, ranked};
use crate::{Error, TrainOptions};

/// Columns of the candidates by which the machine's speed is measured.
const PROBED_COLUMNS: usize = 384;
/// Candidates that are judged at their largest, at most.
const LARGEST: usize = 3;
/// Share of the rungs' time for each of them.
const LARGEST_SHARE: f64 = 0.1;

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
        let work = self.works(0, &plans, extent, folds.held.len() as f64).all();
        pace.measured(work, start.elapsed());
        Ok(self.valued(judged))
    }

    /// The best candidates at the largest sizes that fit, each on as many rows as a share
    /// of the time allows, where that is enough: what the rungs had to keep small must not
    /// stay so. If the clock `cut` them the best of all is judged whatever the clock says.
    /// Candidates that were judged at their largest in the last rung are not judged again.
    pub(super) fn at_largest(
        &self,
        cut: bool,
        entries: &[Entry],
        folds: &Folds,
        inputs: &Inputs,
        pace: &mut Pace,
    ) -> Result<Vec<Entry>, Error> {
        let last = self.shares().len() - 1;
        // A plan that stands does not depend on the machine.
        let speed = if cut { pace.speed } else { SPEED };
        let budget = LARGEST_SHARE * self.seconds * speed;
        let parts = folds.held.len() as f64;
        let count = if self.space.short { usize::from(cut) } else { LARGEST };
        let mut found = Vec::new();
        let ranked = ranked(entries, &[self.limits.flash]);
        for (place, &index) in ranked.iter().take(count).enumerate() {
            let entry = &entries[index];
            let mut plans = self.plan(last, vec![entry.options.clone()], entries, inputs)?;
            let Some(mut plan) = plans.pop() else { continue };
            let Some(&best) = plan.bits.first() else { continue };
            plan.bits = self.bits(1, None);
            let mut sizes = self.larger(&plan, best, entry);
            if sizes.is_empty() {
                continue;
            }
            let needed = place == 0 && cut && sizes[0].bits == best;
            let work = |sizes: &[Size], rows| self.work(&plan, sizes, rows, parts).all();
            let mut rows = folds.rows();
            while sizes.len() > 1 && work(&sizes, rows) > budget {
                sizes.pop();
            }
            while rows > LEAST_ROWS && work(&sizes, rows) > budget {
                rows = (rows * 4 / 5).max(LEAST_ROWS);
            }
            let all = work(&sizes, rows);
            if all > budget || !pace.affords(all, 1.0) {
                if !needed {
                    continue;
                }
                sizes.truncate(1);
            }
            self.progress.phase(&format!("judging {} features", sizes[0].features[0]))?;
            found.push(self.judge(&plan, &sizes, &folds.sample(rows), inputs)?);
        }
        Ok(found)
    }

    /// The largest sizes of a plan but for those that its `entry` has: that of the `best`
    /// bits first, then the smallest. Bits that were best at as many features as others had
    /// need not be at as many bytes.
    fn larger(&self, plan: &Plan, best: u8, entry: &Entry) -> Vec<Size> {
        let known = |size: &Size| {
            entry.points.iter().any(|point| {
                let options = &point.options;
                options.features[0] >= size.features[0] && options.bits == Some(size.bits)
            })
        };
        let mut sizes = self.largest(plan);
        sizes.retain(|size| !known(size));
        sizes.sort_by_key(|size| (size.bits != best, plan.columns(size)));
        sizes
    }
}
