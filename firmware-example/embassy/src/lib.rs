//! Samples in, a steady exercise out, with embassy: two tasks and a queue between them.
//!
//! A window takes longer to score than a sample takes to come. So [`sampling`] belongs on an
//! executor that interrupts the one of [`Recognizer::run`], and samples wait in the [`Queue`].

#![no_std]

#[cfg(test)]
extern crate std;

mod queue;
#[cfg(test)]
mod tests;

use core::convert::Infallible;
use core::num::NonZeroU16;

use embassy_time::{Duration, Ticker};
use koan::Error;
use koan_stream::{Rules, Steady, Stream, cache_words};

use queue::Numbered;
pub use queue::{Queue, ROOM};

koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

/// Between two samples, as in the recordings that the model was trained on.
pub const PERIOD: Duration = Duration::from_millis(10);

/// The stream, as `koan inspect` tells it: x, y and z, 128 samples, a hop of 32.
pub const CHANNELS: usize = 3;
/// Samples of a window.
pub const SAMPLES: usize = 128;
/// Samples from a window to the next.
pub const HOP: NonZeroU16 = NonZeroU16::new(32).unwrap();
const CACHE: usize = cache_words(&exercises::MODEL, CHANNELS * HOP.get() as usize);
type Exercises = Stream<
    'static,
    CHANNELS,
    SAMPLES,
    CACHE,
    exercises::Placed,
    exercises::Buffers,
    exercises::Profile,
>;

/// Of the last five windows three make an answer; it stays with two.
const RULES: Rules = Rules { enter: 3, keep: 2, margin: 0 };

/// Accelerations in g: x, y and z.
pub type Sample = [f32; CHANNELS];

/// Takes a sample at every tick, until the sensor has none left; how many it took.
pub async fn sampling(mut sensor: impl AsyncFnMut() -> Option<Sample>, queue: &Queue) -> u32 {
    let mut ticker = Ticker::every(PERIOD);
    let mut taken = 0;
    loop {
        ticker.next().await;
        let Some(sample) = sensor().await else { return taken };
        queue.put(sample);
        taken += 1;
    }
}

/// What a whole window has brought.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// The scores of this window.
    pub scores: &'a [i32],
    /// The steady class, if there is one.
    pub class: Option<&'static str>,
}

/// The model, its stream and the steady class.
#[derive(Debug)]
pub struct Recognizer {
    stream: Exercises,
    steady: Steady<5>,
    /// Gaps before the last sample.
    gaps: u32,
}

impl Recognizer {
    /// One that has heard nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        let stream = Exercises::new(exercises::Placed, exercises::Buffers::new(), HOP);
        Self { stream, steady: const { Steady::new(RULES).unwrap() }, gaps: 0 }
    }

    /// Whether this device computes what the trainer computed.
    ///
    /// # Errors
    /// Those of [`Stream::self_test`]: do not run it then.
    pub fn self_test(&mut self) -> Result<(), Error> {
        self.stream.self_test()
    }

    /// Takes samples from the queue for ever; `hear` is called after every whole window.
    ///
    /// # Errors
    /// Those of [`Stream::push`].
    pub async fn run(
        &mut self,
        queue: &Queue,
        mut hear: impl FnMut(Heard<'_>),
    ) -> Result<Infallible, Error> {
        loop {
            if let Some(heard) = self.push(queue.take().await)? {
                hear(heard);
            }
        }
    }

    fn push(&mut self, (gaps, sample): Numbered) -> Result<Option<Heard<'_>>, Error> {
        // A window across a gap would be one of a movement that never was.
        if core::mem::replace(&mut self.gaps, gaps) != gaps {
            self.stream.restart();
            self.steady.restart();
        }
        let Some(scores) = self.stream.push(sample)? else { return Ok(None) };
        let class = self.steady.push(scores);
        let class = class.and_then(|class| exercises::MODEL.class_name(class));
        Ok(Some(Heard { scores, class }))
    }
}

impl Default for Recognizer {
    fn default() -> Self {
        Self::new()
    }
}
