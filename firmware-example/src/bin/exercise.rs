//! A device that says which exercise is done: samples of an accelerometer in, a steady class out.
//! It can be shown a fifth exercise. Samples come over the serial port, as `docs/protocol.md`
//! says; `koan device --stream` on the host sends them. In a product the sensor would.

#![no_std]
#![no_main]

use core::num::NonZeroU16;

use koan::{BufferSizes, Error, Form, GOLDEN_DIGEST_ROWS, OwnedBuffers};
use koan_firmware::{Uart, entry, exit};
use koan_learn::{Learner, Pace};
use koan_protocol::{Device, Port, Sampled};
use koan_stream::{Rules, Steady, Stream, Window, cache_words, suits};

// `tests/models/exercises-conv-160.koan`, unless `KOAN_EXERCISES` names another when compiling.
koan::include_model!(mod exercises = env!("KOAN_EXERCISES"));

const LINE: usize = 1536;
const INPUTS: usize = exercises::MODEL.inputs();
const FEATURES: usize = exercises::MODEL.features();
/// The model's, and one more.
const CLASSES: usize = exercises::MODEL.outputs() + 1;
/// Work between a line and its answer: that of the self test.
const WORK: u32 = 2 << 20;
const SIZES: BufferSizes = exercises::MODEL.buffer_sizes(Form::Fast);
type Buffers = OwnedBuffers<{ SIZES.inputs }, { SIZES.block }, { SIZES.wide }, { SIZES.outputs }>;

/// The stream, as `koan inspect` tells it: x, y and z, 128 samples, a hop of 32.
const CHANNELS: usize = 3;
const SAMPLES: usize = 128;
const HOP: NonZeroU16 = NonZeroU16::new(32).unwrap();
const CACHE: usize = cache_words(&exercises::MODEL, CHANNELS * HOP.get() as usize);
type Exercises<'m> =
    Stream<'m, CHANNELS, SAMPLES, CACHE, exercises::Placed, exercises::Buffers, exercises::Profile>;

// Said by the compiler, not when the device is asked.
const _: () = {
    assert!(
        suits(&exercises::MODEL, CHANNELS, SAMPLES).is_ok(),
        "exercise.rs takes models of windows of 128 samples of x, y and z, with one input map or \
         one for each channel: set CHANNELS, SAMPLES and HOP to what `koan inspect` says of a stream of yours"
    );
    assert!(
        exercises::MODEL.outputs() > 2,
        "exercise.rs learns beside a model of three classes or more"
    );
    let rows = (exercises::MODEL.golden_rows() + GOLDEN_DIGEST_ROWS) as u64;
    assert!(
        exercises::MODEL.work() as u64 * rows <= WORK as u64,
        "the model's self test is more work than exercise.rs allows between two answers: raise \
         its WORK, or train a smaller model, as with `--family conv --dilated`"
    );
};

/// Of the last five windows three make an answer; it stays with two.
const RULES: Rules = Rules { enter: 3, keep: 2, margin: 0 };
/// A score of 1 in real units; a quarter of what is missing at each step.
const PACE: Pace = Pace { margin: (1.0 / exercises::MODEL.score_scale()) as i32, slowness: 2 };

/// The serial port, and what is done with the samples that come over it.
struct Trainer {
    uart: Uart,
    stream: Exercises<'static>,
    /// The samples themselves, for what is learned.
    window: Window<f32, CHANNELS, SAMPLES>,
    /// Whether a window was whole yet.
    whole: bool,
    learner: Learner<FEATURES, CLASSES>,
    /// Whether anything was learned: without it, features are not needed.
    learned: bool,
    steady: Steady<5>,
}

impl Port for Trainer {
    fn read(&mut self) -> Option<u8> {
        Some(self.uart.read())
    }

    fn write(&mut self, bytes: &[u8]) {
        self.uart.write(bytes);
    }

    fn sample(&mut self, sample: &[f32]) -> Option<Result<Sampled<'_>, Error>> {
        Some(self.take(sample))
    }

    fn restart(&mut self) -> bool {
        self.stream.restart();
        self.window.restart();
        self.whole = false;
        // The rules were accepted before.
        Steady::new(RULES).map(|steady| self.steady = steady).is_some()
    }

    fn learn(&mut self, class: u8) -> Option<Result<bool, Error>> {
        Some(self.show(class.into()))
    }
}

impl Trainer {
    fn take(&mut self, sample: &[f32]) -> Result<Sampled<'_>, Error> {
        let (needed, given) = (CHANNELS, sample.len());
        let sample: [f32; CHANNELS] =
            sample.try_into().map_err(|_| Error::Length { what: "sample", needed, given })?;
        self.whole |= self.window.push(sample);
        let steady = self.steady.class().map(|class| class as u8);
        let Some(scores) = self.stream.push(sample)? else {
            return Ok(Sampled { steady, scores: None });
        };
        let class = if self.learned {
            let mut features = [0; FEATURES];
            exercises::predictor().features(self.window.numbers(), &mut features)?;
            self.steady.push(self.learner.scores(scores, &features)?)
        } else {
            self.steady.push(scores)
        };
        Ok(Sampled { steady: class.map(|class| class as u8), scores: Some(scores) })
    }

    /// Learns the latest samples, which may end between two windows of the stream.
    fn show(&mut self, class: usize) -> Result<bool, Error> {
        if !self.whole {
            return Err(Error::Unsuited { needs: "a whole window before it is learned" });
        }
        let row = self.window.numbers();
        let (mut predictor, mut features) = (exercises::predictor(), [0; FEATURES]);
        predictor.features(row, &mut features)?;
        let changed = self.learner.learn(predictor.scores(row)?, &features, class)?;
        self.learned |= changed;
        Ok(changed)
    }
}

#[entry]
fn main() -> ! {
    let mut stream = Exercises::new(exercises::Placed, exercises::Buffers::new(), HOP);
    let learner = Learner::new(&exercises::MODEL, PACE);
    let (Ok(()), Ok(learner), Some(steady)) = (stream.self_test(), learner, Steady::new(RULES))
    else {
        exit(1)
    };
    let (uart, window) = (Uart::open(), Window::new(HOP));
    let mut port = Trainer { uart, stream, window, whole: false, learner, learned: false, steady };
    let mut device = Device::<_, LINE, INPUTS, 0>::new(exercises::MODEL, Buffers::new(), WORK);
    device.greet(&mut port);
    loop {
        device.serve(&mut port);
    }
}

koan_firmware::exit_on_panic!(silently);
