//! Rows in, results out, for every call.

use bytemuck::{cast, cast_slice_mut};
use koan::{Buffers, Error, Predictor, Task, class_of};

/// What is asked of a model. The numbers are what JavaScript passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Integer scores: `outputs` × i32 a row.
    Scores = 0,
    /// Classes: an i32 a row.
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

/// Runs `call` on the first `count` rows of `staged`, or as many as it holds or as
/// there are places in `results` for. Results go to the front of `results`.
///
/// # Errors
/// The core's, for the first row.
pub fn run<B: Buffers>(
    predictor: &mut Predictor<'_, B>,
    call: Call,
    staged: &[f32],
    count: usize,
    results: &mut [u64],
) -> Result<(), Error> {
    let model = *predictor.model();
    let rows = staged.chunks_exact(model.inputs().max(1)).take(count);
    if call == Call::Features {
        let places = cast_slice_mut::<u64, i16>(results).chunks_exact_mut(model.features().max(1));
        for (row, out) in rows.zip(places) {
            predictor.features(row, out)?;
        }
        return Ok(());
    }
    let needed = match call {
        Call::Classify => Some((Task::Classification, "a classification model")),
        Call::Predict => Some((Task::Regression, "a regression model")),
        _ => None,
    };
    if let Some((task, needs)) = needed
        && model.task() != task
    {
        return Err(Error::Unsuited { needs });
    }
    let each = match call {
        Call::Classify | Call::Predict => 1,
        Call::Probabilities => model.classes(),
        _ => model.outputs(),
    };
    let places = cast_slice_mut::<u64, i32>(results).chunks_exact_mut(each.max(1));
    for (row, out) in rows.zip(places) {
        if call == Call::Probabilities {
            predictor.probabilities(row, cast_slice_mut(out))?;
            continue;
        }
        let scores = predictor.scores(row)?;
        if call == Call::Classify {
            out.fill(class_of(scores) as i32);
            continue;
        }
        for (place, &score) in out.iter_mut().zip(scores) {
            *place = match call {
                Call::Scores => score,
                _ => cast(score as f32 * model.score_scale()),
            };
        }
    }
    Ok(())
}
