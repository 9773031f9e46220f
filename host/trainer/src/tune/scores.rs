//! Scores of blobs.

use koan::Model;

use crate::Error;
use crate::scorer::per_row;
use koan_data::Table;

/// Real-valued scores of a model: rows × outputs, row-major.
pub(super) fn of(blob: &[u8], table: &Table) -> Result<Vec<f64>, Error> {
    let outputs = Model::parse(blob)?.outputs();
    Ok(per_row(blob, table, outputs, |model, scores, out| {
        let scale = f64::from(model.score_scale());
        out.iter_mut().zip(scores).for_each(|(out, &score)| *out = f64::from(score) * scale);
    })?)
}
