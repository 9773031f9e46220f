//! What a model says of every row.

use koan::{Error, Model, class_of, steps};

use crate::scorer::per_row;
use koan_data::Table;

/// Calibrated probabilities: rows × classes, row-major.
///
/// # Errors
/// A bad blob, one without classes, or a table that does not suit it.
pub fn probabilities(blob: &[u8], table: &Table) -> Result<Vec<f32>, Error> {
    let model = Model::parse(blob)?;
    if !model.has_probabilities() {
        return Err(Error::Unsuited { needs: "a model with probabilities" });
    }
    per_row(blob, table, model.classes(), steps::probabilities)
}

/// The class of each row, as a device takes it: by integer scores.
///
/// # Errors
/// A bad blob, or a table that does not suit it.
pub fn predicted_classes(blob: &[u8], table: &Table) -> Result<Vec<usize>, Error> {
    per_row(blob, table, 1, |_, scores, out| out[0] = class_of(scores))
}

/// Values in the target's units, or coordinates: rows × outputs, row-major.
///
/// # Errors
/// A bad blob, or a table that does not suit it.
pub fn values(blob: &[u8], table: &Table) -> Result<Vec<f32>, Error> {
    per_row(blob, table, Model::parse(blob)?.outputs(), |model, scores, out| {
        let scale = model.score_scale();
        out.iter_mut().zip(scores).for_each(|(value, &score)| *value = score as f32 * scale);
    })
}
