//! Scores of blobs.

use koan::Model;

use crate::Error;
use crate::scorer;
use koan_data::Table;

/// Real-valued scores of a model: rows × outputs, row-major.
pub(super) fn of(blob: &[u8], table: &Table) -> Result<Vec<f64>, Error> {
    let scale = f64::from(Model::parse(blob)?.score_scale());
    Ok(scorer::scores(blob, table)?.into_iter().map(|score| f64::from(score) * scale).collect())
}
