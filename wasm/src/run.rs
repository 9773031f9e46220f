//! Rows in, results out, for every call.

use bytemuck::{cast_slice, cast_slice_mut};
use koan::{Buffers, Error, Predictor};

/// What is asked of a model. The numbers are what JavaScript passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Integer scores: `outputs` × i32 a row.
    Scores = 0,
    /// Classes: a u8 a row.
    Classify = 1,
    /// Probabilities: `classes` × f32 a row.
    Probabilities = 2,
    /// The first output in real units: an f32 a row.
    Predict = 3,
    /// Scores in real units: `outputs` × f32 a row.
    Values = 4,
    /// The feature vector: `features` × i16 a row.
    Features = 5,
}

impl Call {
    /// The call that JavaScript means by a number; the last one for any other.
    pub const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::Scores,
            1 => Self::Classify,
            2 => Self::Probabilities,
            3 => Self::Predict,
            4 => Self::Values,
            _ => Self::Features,
        }
    }
}

/// Runs `call` on rows of `length` numbers each, as many as `staged` holds whole,
/// or as there are places in `results` for. Results go to the front of `results`.
///
/// # Errors
/// The core's, for the first row: all rows are of one length.
pub fn run<B: Buffers>(
    predictor: &mut Predictor<'_, B>,
    call: Call,
    staged: &[f32],
    length: usize,
    results: &mut [u64],
) -> Result<(), Error> {
    let model = *predictor.model();
    let outputs = model.outputs().max(1);
    let bytes = match call {
        Call::Scores | Call::Values => 4 * outputs,
        Call::Classify => 1,
        Call::Predict => 4,
        Call::Probabilities => 4 * model.classes().max(1),
        Call::Features => 2 * model.features(),
    };
    let places = cast_slice_mut::<u64, u8>(results).chunks_exact_mut(bytes);
    for (row, out) in staged.chunks(length.max(1)).zip(places) {
        match call {
            Call::Scores => out.copy_from_slice(cast_slice(predictor.scores(row)?)),
            Call::Classify => out[0] = predictor.classify(row)? as u8,
            Call::Probabilities => predictor.probabilities(row, cast_slice_mut(out))?,
            Call::Predict => out.copy_from_slice(&predictor.predict(row)?.to_ne_bytes()),
            Call::Values => predictor.values(row, cast_slice_mut(out))?,
            Call::Features => predictor.features(row, cast_slice_mut(out))?,
        }
    }
    Ok(())
}
