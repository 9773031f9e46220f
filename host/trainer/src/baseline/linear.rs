//! Ridge regression on the inputs themselves, computed by the core's family
//! `linear`; λ by held-out rows.

use koan::{Family, Law};

use crate::Error;
use crate::features::FeatureMap;
use crate::fit::real_scores;
use crate::folds::hold_out;
use crate::lambda::LAMBDAS;
use crate::map_choice;
use crate::normalise::Normaliser;
use crate::plan::{BankPlan, realise};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{LinearFit, System, best_on};
use koan_data::Table;

/// Inputs up to which the baseline is fitted.
pub const MAX_INPUTS: usize = 2048;

/// A fitted linear function of the inputs for each output.
#[derive(Clone, Debug)]
pub struct Linear {
    map: FeatureMap,
    fit: LinearFit,
}

impl Linear {
    /// Fits to all rows of `table`; none when there are more than
    /// [`MAX_INPUTS`] inputs or fewer than two rows.
    ///
    /// # Errors
    /// What the format does not allow.
    pub fn fit(table: &Table, seed: u64) -> Result<Option<Self>, Error> {
        if table.inputs > MAX_INPUTS || table.rows() < 2 {
            return Ok(None);
        }
        let plan = BankPlan {
            family: Family::Linear,
            law: Law::None,
            features: table.inputs as u16,
            frequency: 1.0,
            groups: Vec::new(),
            kept: None,
        };
        let rows: Vec<usize> = (0..table.rows()).collect();
        let normaliser = Normaliser::fit(table, &rows, map_choice::of_linear(table));
        let spread = normaliser.spread(table, &rows);
        let map = FeatureMap::new(&realise(seed, &[plan], &normaliser, &spread))?;
        let problem = Problem::new(table, false);
        let (fit_rows, held_rows) = hold_out(&problem, seed);
        let quiet = Progress::none();
        let mut moments = problem.moments(&map, &fit_rows, &quiet)?;
        let held = problem.moments(&map, &held_rows, &quiet)?;
        let (best, _) = best_on(&System::new(&moments), &held, &LAMBDAS);
        moments.merge(&held);
        let fit = System::new(&moments).solve(best.lambda);
        Ok(Some(Self { map, fit }))
    }

    /// Its scores on rows of the same task: rows × outputs, row-major.
    ///
    /// # Errors
    /// A table with another number of inputs.
    pub fn scores(&self, table: &Table) -> Result<Vec<f64>, Error> {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&self.map, &self.fit, table, &rows)
    }
}
