//! A model on every window of a stream.

use core::borrow::Borrow;
use core::marker::PhantomData;
use core::num::NonZeroU16;

use koan::steps::{quantise, score_among};
use koan::{Any, Buffers, Error, Input, Model, Predictor, Profile, Workspace};

use crate::cache::{Pass, plan};
use crate::fit::suits;
use crate::window::Window;

/// A model that runs on every window of a stream of samples.
///
/// A sample has `CHANNELS` numbers, a window `SAMPLES` samples. Samples become the model's
/// integers as they come, and lie where the model reads them: nothing is copied when a window is
/// whole. The features of convolutions are made for the positions that are new in a window;
/// `CACHE` words (`i16`) keep what is to be known of the others,
/// [`cache_words`](crate::cache_words) of them: a constant for a model that is built in. Other families start anew with every window.
///
/// Model, buffers and profile are those of [`Predictor`]. The model must have one input map, as
/// `koan train --window` makes it unless told otherwise, or one for each channel; for other models
/// there are [`Window`] and [`Predictor`]. A model that is built in:
///
/// ```
/// # use core::num::NonZeroU16;
/// use koan_stream::Stream;
///
/// koan::include_model!(mod tiny = "../../../core/tests/tiny.koan");
///
/// // The last two samples of one channel, after every sample.
/// const CACHE: usize = koan_stream::cache_words(&tiny::MODEL, 1);
/// const _: () = assert!(koan_stream::suits(&tiny::MODEL, 1, 2).is_ok());
/// type Tiny<'m> = Stream<'m, 1, 2, CACHE, tiny::Placed, tiny::Buffers, tiny::Profile>;
/// let hop = NonZeroU16::new(1).unwrap();
/// let mut stream = Tiny::new(tiny::Placed, tiny::Buffers::new(), hop);
/// stream.self_test()?; // this build computes what the trainer computed
/// assert_eq!(stream.push([0.3f32])?, None);
/// assert!(stream.push([-1.2f32])?.is_some_and(|scores| koan::class_of(scores) == 1));
/// # Ok::<(), koan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream<
    'm,
    const CHANNELS: usize,
    const SAMPLES: usize,
    const CACHE: usize,
    M,
    B,
    P = Any,
> {
    model: M,
    buffers: B,
    window: Window<i16, CHANNELS, SAMPLES>,
    cache: [i16; CACHE],
    state: State,
    profile: PhantomData<(&'m [u8], P)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Whether the parts suit each other is not known yet.
    Unchecked,
    /// The cache is that of no window: none has been scored yet, or not the last one.
    Cold,
    /// The cache is that of the window before.
    Warm,
}

impl<'m, const CHANNELS: usize, const SAMPLES: usize, const CACHE: usize, M, B, P>
    Stream<'m, CHANNELS, SAMPLES, CACHE, M, B, P>
{
    /// Joins a model, its working memory and a stream whose windows are `hop` samples apart.
    /// Whether they suit each other says [`Stream::check`]: so this can make a static.
    #[must_use]
    pub const fn new(model: M, buffers: B, hop: NonZeroU16) -> Self {
        let (window, cache) = (Window::of(0, hop), [0; CACHE]);
        Self { model, buffers, window, cache, state: State::Unchecked, profile: PhantomData }
    }

    /// Forgets all samples: after a gap, as between two recordings.
    pub fn restart(&mut self) {
        self.window.restart();
        if self.state == State::Warm {
            self.state = State::Cold;
        }
    }
}

impl<'m, const CHANNELS: usize, const SAMPLES: usize, const CACHE: usize, M, B, P>
    Stream<'m, CHANNELS, SAMPLES, CACHE, M, B, P>
where
    M: Borrow<Model<'m>>,
    B: Buffers,
    P: Profile,
{
    /// Whether model, memory and windows suit each other. The first sample does it if nobody
    /// else has.
    ///
    /// # Errors
    /// Those of [`suits`](crate::suits) and [`Predictor::serving`]; [`Error::Buffer`] when `CACHE`
    /// is too small.
    pub fn check(&mut self) -> Result<(), Error> {
        if self.state != State::Unchecked {
            return Ok(());
        }
        let model = self.model.borrow();
        suits(model, CHANNELS, SAMPLES)?;
        Predictor::<_, P, _>::serving(model, &mut self.buffers)?;
        let needed = plan(model, self.hop(), &mut self.cache);
        if needed > CACHE {
            return Err(Error::Buffer { buffer: "cache", needed, given: CACHE });
        }
        self.state = State::Cold;
        Ok(())
    }

    /// [`Stream::check`] and [`Predictor::self_test`].
    ///
    /// # Errors
    /// As these.
    pub fn self_test(&mut self) -> Result<(), Error> {
        self.check()?;
        Predictor::<_, P, _>::serving(self.model.borrow(), &mut self.buffers)?.self_test()
    }

    /// Takes a sample, `f32`, `i16` or `u8`. When a window is whole with it: the scores, bit for
    /// bit those of [`Predictor::scores`] for the window.
    ///
    /// # Errors
    /// As [`Stream::check`]; [`Error::Buffer`] where lent buffers have become shorter.
    pub fn push<T: Input>(&mut self, sample: [T; CHANNELS]) -> Result<Option<&[i32]>, Error> {
        self.check()?;
        let mut q = [0; CHANNELS];
        quantise::<P, T>(self.model.borrow(), &sample, &mut q);
        if self.window.push(q) { self.scores().map(Some) } else { Ok(None) }
    }

    /// The scores of a whole window. Not for each type of samples.
    #[inline(never)]
    fn scores(&mut self) -> Result<&[i32], Error> {
        // Until all is well: after an error the cache is that of an earlier window.
        let warm = core::mem::replace(&mut self.state, State::Cold) == State::Warm;
        let hop = self.hop();
        let model = self.model.borrow();
        let sizes = model.buffer_sizes(P::FORM);
        let Workspace { block, wide, sums, .. } = self.buffers.workspace();
        let mut workspace = Workspace {
            inputs: self.window.numbers_mut(),
            block: cut(block, sizes.block, "block")?,
            wide: cut(wide, sizes.wide, "wide")?,
            sums: cut(sums, sizes.outputs, "sums")?,
        };
        let mut pass = Pass::new(&mut self.cache, hop, warm);
        score_among::<P>(model, &mut workspace, &mut pass);
        self.state = State::Warm;
        let scores = self.buffers.workspace().sums.as_flattened();
        Ok(scores.get(..sizes.outputs).unwrap_or_default())
    }

    /// The model.
    pub fn model(&self) -> &Model<'m> {
        self.model.borrow()
    }

    /// Numbers that a hop brings.
    fn hop(&self) -> usize {
        CHANNELS * usize::from(self.window.hop().get())
    }
}

fn cut<'b, T>(
    memory: &'b mut [T],
    needed: usize,
    buffer: &'static str,
) -> Result<&'b mut [T], Error> {
    let given = memory.len();
    memory.get_mut(..needed).ok_or(Error::Buffer { buffer, needed, given })
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::vec::Vec;

    koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

    const HOP: NonZeroU16 = NonZeroU16::new(32).unwrap();

    type Exercises<const SAMPLES: usize, const CACHE: usize> = Stream<
        'static,
        3,
        SAMPLES,
        CACHE,
        exercises::Placed,
        exercises::Buffers,
        exercises::Profile,
    >;

    fn refusal<const SAMPLES: usize, const CACHE: usize>() -> std::string::String {
        let mut stream =
            Exercises::<SAMPLES, CACHE>::new(exercises::Placed, exercises::Buffers::new(), HOP);
        let error = stream.push([0i16; 3]).unwrap_err();
        assert_eq!(stream.self_test().unwrap_err(), error);
        std::string::ToString::to_string(&error)
    }

    #[test]
    fn what_does_not_suit_is_named() {
        assert_eq!(refusal::<127, 2000>(), "window has length 381, the model needs 384");
        let needed = crate::cache_words(&exercises::MODEL, 96);
        let expected = std::format!("buffer `cache` has length 100, the model needs {needed}");
        assert_eq!(refusal::<128, 100>(), expected);
    }

    /// Lent memory that may be too short.
    struct Lent<'s>(exercises::Buffers, &'s Cell<bool>);

    impl Buffers for Lent<'_> {
        fn workspace(&mut self) -> Workspace<'_> {
            let workspace = self.0.workspace();
            if self.1.get() { Workspace { sums: &mut [], ..workspace } } else { workspace }
        }
    }

    #[test]
    fn a_window_that_was_not_scored_leaves_no_cache_to_the_next_one() {
        let short = Cell::new(false);
        let mut stream = Stream::<3, 128, 898, _, _, exercises::Profile>::new(
            exercises::Placed,
            Lent(exercises::Buffers::new(), &short),
            HOP,
        );
        let mut series = Vec::new();
        let mut windows = 0;
        for number in 1..=128 + 4 * 32 {
            let sample = [5, 7, 11].map(|step| (number * number * step % 256) as f32 / 128.0 - 1.0);
            series.push(sample);
            // That of the second window.
            short.set(number == 128 + 32);
            if short.get() {
                let error = Error::Buffer { buffer: "sums", needed: 4, given: 0 };
                assert_eq!(stream.push(sample), Err(error));
            } else if let Some(scores) = stream.push(sample).unwrap() {
                let row = series[number - 128..].as_flattened();
                assert_eq!(scores, exercises::predictor().scores(row).unwrap(), "{number}");
                windows += 1;
            }
        }
        assert_eq!(windows, 4);
    }
}
