//! What a model does on the test rows of parts.

use koan_data::stream::stand_in;
use serde::{Deserialize, Serialize};

use super::{Batch, Plan};
use crate::evaluate::Tally;
use crate::{Error, Evaluation, evaluate};

/// How good a model is on the test rows: those of parts are merged. Numbers are summed up in floating
/// point, so that the last digits depend on the order of the parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Verdict(Tally);

impl Verdict {
    /// Adds what the model makes of the test rows among these.
    ///
    /// # Errors
    /// A bad blob, or one of another plan.
    pub fn add(&mut self, plan: &Plan, blob: &[u8], batch: Batch<'_>) -> Result<(), Error> {
        let mut table = plan.test_rows(batch);
        if table.rows() > 0 {
            stand_in(&mut table, plan.filled());
            self.0.add(&evaluate(blob, &table)?, &table);
        }
        Ok(())
    }

    /// Adds that of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    /// The evaluation of all test rows, without the area under the ROC curve; none where there are
    /// none.
    #[must_use]
    pub fn finish(self) -> Option<Evaluation> {
        (self.0.rows() > 0).then(|| self.0.finish())
    }
}
