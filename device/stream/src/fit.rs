//! What a stream needs of a model, and what it takes.

use koan::{Error, Form, Model};

use crate::cache::cache_words;

/// Whether a [`Stream`](crate::Stream) of windows of so many samples, each of so many numbers,
/// can run the model. For a model that is built in the compiler can say it:
///
/// ```
/// koan::include_model!(mod tiny = "../../../core/tests/tiny.koan");
///
/// const _: () = assert!(koan_stream::suits(&tiny::MODEL, 1, 2).is_ok());
/// assert!(koan_stream::suits(&tiny::MODEL, 2, 2).is_err()); // "window has length 4, the model needs 2"
/// ```
///
/// # Errors
/// [`Error::Length`] when a window is no row of the model; [`Error::Unsuited`] for a model
/// without outputs, or with other input maps than one for all inputs or one for each channel.
pub const fn suits(model: &Model<'_>, channels: usize, samples: usize) -> Result<(), Error> {
    let (needed, given) = (model.inputs(), channels.saturating_mul(samples));
    if needed != given {
        Err(Error::Length { what: "window", needed, given })
    } else if model.outputs() == 0 {
        Err(Error::Unsuited { needs: "a model with outputs" })
    } else if model.map_period() != 1 && model.map_period() != channels {
        Err(Error::Unsuited { needs: "a model with one input map, or one for each channel" })
    } else {
        Ok(())
    }
}

/// Bytes of RAM of a [`Stream`](crate::Stream) of a built-in model on a core of 32 bits, where a
/// hop brings so many numbers: the window twice, what is kept of the windows before, the
/// predictor's buffers, and where it stands.
#[must_use]
pub const fn ram_bytes(model: &Model<'_>, form: Form, hop: usize) -> usize {
    bytes(model, form, hop, 4)
}

/// The same where a `usize` has so many bytes.
const fn bytes(model: &Model<'_>, form: Form, hop: usize, word: usize) -> usize {
    let buffers = model.buffer_sizes(form).bytes().next_multiple_of(4);
    // Two numbers of the machine, and the hop.
    let window = (4 * model.inputs() + 2 * word + 2).next_multiple_of(word);
    let cache = 2 * cache_words(model, hop);
    (buffers + window + cache + 1).next_multiple_of(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");
    koan::include_model!(small mod gestures = "../../../tests/models/gestures-conv-64.koan");
    koan::include_model!(mod tiny = "../../../core/tests/tiny.koan");

    /// What is said is what the compiler lays out, here and on cores of 32 bits.
    #[test]
    fn the_bytes_are_those_of_the_type() {
        macro_rules! check {
            ($model:ident, $form:ident, $channels:literal, $hop:literal) => {
                const WORDS: usize = cache_words(&$model::MODEL, $channels * $hop);
                const SAMPLES: usize = $model::MODEL.inputs() / $channels;
                const { assert!(suits(&$model::MODEL, $channels, SAMPLES).is_ok()) };
                type Of = Stream<
                    'static,
                    $channels,
                    SAMPLES,
                    WORDS,
                    $model::Placed,
                    $model::Buffers,
                    $model::Profile,
                >;
                let said = bytes(&$model::MODEL, Form::$form, $channels * $hop, size_of::<usize>());
                assert_eq!(size_of::<Of>(), said);
            };
        }
        {
            check!(exercises, Fast, 3, 32);
        }
        {
            check!(exercises, Fast, 3, 1);
        }
        {
            check!(gestures, Small, 3, 16);
        }
        {
            check!(tiny, Fast, 1, 1);
        }
        assert_eq!(cache_words(&exercises::MODEL, 96), 898);
    }
}
