//! Scores of blobs.

use koan::Model;
use rayon::prelude::*;

use crate::Error;
use crate::blob::predictor;
use koan_data::Table;

/// Real-valued scores of a model: rows × outputs, row-major.
pub(super) fn of(blob: &[u8], table: &Table) -> Result<Vec<f64>, Error> {
    let model = Model::parse(blob)?;
    let scale = f64::from(model.score_scale());
    let mut all = vec![0.0; table.rows() * model.outputs()];
    all.par_chunks_mut(model.outputs().max(1)).enumerate().try_for_each_init(
        || predictor(blob),
        |predictor, (row, places)| {
            let predictor = predictor.as_mut().map_err(|error| *error)?;
            let scores = predictor.scores(table.row(row))?;
            places.iter_mut().zip(scores).for_each(|(place, &s)| *place = f64::from(s) * scale);
            Ok::<_, Error>(())
        },
    )?;
    Ok(all)
}
