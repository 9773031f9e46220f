//! A search with a clock first measures the machine's speed.

use web_time::Instant;

use super::budget::{Extent, LEAST_ROWS, Plan};
use super::halving::Search;
use super::inputs::Inputs;
use super::pace::Pace;
use super::rank::Entry;
use crate::folds::Folds;
use crate::parallel;
use crate::{Error, TrainOptions};

/// Columns of the candidates by which the machine's speed is measured.
const PROBED_COLUMNS: usize = 384;

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
        let judged = parallel::try_map(plans.len(), |place| judge(&plans[place]))?;
        let work = self.works(0, &plans, extent, folds.held.len() as f64).all();
        pace.clock.measured(work, start.elapsed());
        Ok(self.valued(judged))
    }
}
