//! What a model says of every row.

use koan::{Error, Model, Task};
use rayon::prelude::*;

use crate::blob::predictor;
use koan_data::Table;

/// Calibrated probabilities: rows × classes, row-major.
///
/// # Errors
/// A bad blob, one without classes, or a table that does not suit it.
pub fn probabilities(blob: &[u8], table: &Table) -> Result<Vec<f32>, Error> {
    let model = Model::parse(blob)?;
    if model.task() != Task::Classification {
        return Err(Error::Unsuited { needs: "a classification model" });
    }
    rows(blob, table, model.classes(), |predictor, row, out| predictor.probabilities(row, out))
}

/// Values in the target's units, or coordinates: rows × outputs, row-major.
///
/// # Errors
/// A bad blob, or a table that does not suit it.
pub fn values(blob: &[u8], table: &Table) -> Result<Vec<f32>, Error> {
    let outputs = Model::parse(blob)?.outputs();
    rows(blob, table, outputs, |predictor, row, out| predictor.values(row, out))
}

type Owned<'b> = koan::Predictor<'b, crate::heap::HeapBuffers>;

fn rows<'b, R: Send>(
    blob: &'b [u8],
    table: &Table,
    width: usize,
    predict: impl Fn(&mut Owned<'b>, &[f32], &mut [f32]) -> Result<R, Error> + Sync,
) -> Result<Vec<f32>, Error> {
    let rows: Vec<Vec<f32>> = (0..table.rows())
        .into_par_iter()
        .map_init(
            || predictor(blob),
            |predictor, row| {
                let mut out = vec![0.0f32; width];
                predict(predictor.as_mut().map_err(|e| *e)?, table.row(row), &mut out)?;
                Ok(out)
            },
        )
        .collect::<Result<_, Error>>()?;
    Ok(rows.concat())
}
