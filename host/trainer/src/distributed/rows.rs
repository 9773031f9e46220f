//! The rows of a batch that are trained on.

use koan_data::stream::stand_in;
use koan_data::{Table, Target};

use super::Batch;
use super::plan::{Plan, Stored};
use crate::Error;

/// Rows that may be added up, for certain: the integers hold the sums of so many.
pub const MAX_ROWS: u64 = 1 << 32;

/// Rows to train on, without missing values.
pub(super) struct TrainRows {
    pub table: Table,
    pub integers: Integers,
    /// The hash of each row's content.
    pub hashes: Vec<u128>,
    /// Rows of the batch that are for the test.
    pub tests: i128,
}

impl TrainRows {
    /// Those of a batch, to be added to so many rows `before`.
    ///
    /// # Errors
    /// Rows that are not of the plan; targets or weights beyond its scales; too many rows.
    pub fn of(plan: &Plan, batch: Batch<'_>, before: u64) -> Result<Self, Error> {
        plan.check(&batch)?;
        let mut hasher = plan.stored.roles.hasher();
        let (mut rows, mut hashes, mut tests) = (Vec::new(), Vec::new(), 0);
        for row in 0..batch.table.rows() {
            let hash = hasher.row(&batch, row);
            if hasher.tests(&batch, row, hash) {
                tests += 1;
                continue;
            }
            rows.push(row);
            hashes.push(hash);
        }
        if before + rows.len() as u64 > MAX_ROWS {
            return Err(too_many());
        }
        let integers = Integers::of(&plan.stored, batch.table, &rows)?;
        let mut table = batch.table.select(&rows);
        stand_in(&mut table, &plan.filled);
        Ok(Self { table, integers, hashes, tests })
    }
}

/// The integers of some rows.
pub(super) struct Integers {
    pub weights: Vec<i64>,
    /// The class, or the target on its scale.
    pub targets: Vec<i64>,
}

impl Integers {
    pub fn of(stored: &Stored, table: &Table, rows: &[usize]) -> Result<Self, Error> {
        let (mut weights, mut targets) = (Vec::new(), Vec::new());
        for &row in rows {
            let at = |problem| Error::Impossible(format!("row {}: {problem}", row + 1));
            weights.push(stored.weight(table, row).map_err(at)?);
            targets.push(match &table.target {
                Target::Classes { labels } => labels[row].into(),
                Target::Values(values) => stored.target(values[row]).map_err(at)?,
            });
        }
        Ok(Self { weights, targets })
    }
}

pub(super) fn too_many() -> Error {
    Error::Impossible(format!("more than {MAX_ROWS} rows cannot be added up exactly"))
}
