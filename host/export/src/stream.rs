//! Whether a stream can run a model, and what it is told.

use koan::{Error, Form, Model};
use koan_data::{Schema, Window};
use koan_stream::{cache_words, ram_bytes, suits};

/// What `koan_stream::Stream` is told of a model.
#[derive(Clone, Copy, Debug)]
pub struct Streamed {
    /// Numbers of a sample.
    pub channels: usize,
    /// The windows that rows are.
    pub window: Window,
    /// Words of cache.
    pub words: usize,
    /// RAM on a core of 32 bits, the predictor's buffers included.
    pub bytes: usize,
}

/// What a stream of the model is told, or why there is none.
pub fn stream_of(model: &Model<'_>, schema: &Schema) -> Result<Streamed, String> {
    let Some(window) = schema.recordings.window else {
        return Err("its rows are no windows of samples".into());
    };
    let channels = model.inputs() / window.samples.max(1);
    suits(model, channels, window.samples).map_err(|error| match error {
        Error::Unsuited { needs } => format!("it takes {needs}"),
        error => error.to_string(),
    })?;
    if window.stride == 0 || window.stride > u16::MAX.into() {
        return Err(format!("its hops have at most {} samples", u16::MAX));
    }
    let hop = window.stride.saturating_mul(channels);
    let (words, bytes) = (cache_words(model, hop), ram_bytes(model, Form::Fast, hop));
    Ok(Streamed { channels, window, words, bytes })
}
