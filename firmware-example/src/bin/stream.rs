//! A model over a stream of samples: raw accelerations in, a steady exercise out. The samples,
//! and the scores that every window must give, come from the host (`cargo xtask device`),
//! which also has the instructions of the last window counted.

#![no_std]
#![no_main]

use core::num::NonZeroU16;

use koan::Form;
use koan_firmware::{entry, exit, mark, packed, print};
use koan_stream::{Rules, Steady, Stream, cache_words, ram_bytes, suits};

koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

/// Numbers of a sample: x, y and z.
const CHANNELS: usize = 3;
const SAMPLES: usize = 128;
const HOP: NonZeroU16 = NonZeroU16::new(32).unwrap();
/// Numbers that a hop brings.
const BROUGHT: usize = CHANNELS * HOP.get() as usize;
/// Words for the sums of the windows before. Fewer are an error.
const CACHE: usize = cache_words(&exercises::MODEL, BROUGHT);

const _: () = {
    assert!(suits(&exercises::MODEL, CHANNELS, SAMPLES).is_ok());
    // What `koan inspect` says of it.
    assert!(size_of::<Exercises<'_>>() == ram_bytes(&exercises::MODEL, Form::Fast, BROUGHT));
};

type Exercises<'m> =
    Stream<'m, CHANNELS, SAMPLES, CACHE, exercises::Placed, exercises::Buffers, exercises::Profile>;

/// Of the last five windows three make an answer; it stays with two.
const RULES: Rules = Rules { enter: 3, keep: 2, margin: 0 };

#[entry]
fn main() -> ! {
    let Some(class) = run() else { exit(1) };
    let name = class.and_then(|class| exercises::MODEL.class_name(class));
    print(name.unwrap_or("unknown"));
    print("\n");
    exit(0)
}

/// Takes the packed samples; the steady class at the end, if there is one. `None` if a window's
/// scores were not the packed ones.
fn run() -> Option<Option<usize>> {
    let (count, rest) = packed().split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count) as usize;
    let (samples, mut expected) = rest.split_at_checked(4 * CHANNELS * count)?;
    let mut stream = Exercises::new(exercises::Placed, exercises::Buffers::new(), HOP);
    stream.self_test().ok()?;
    let mut steady = Steady::<5>::new(RULES)?;
    for sample in samples.as_chunks::<4>().0.as_chunks::<CHANNELS>().0 {
        let sample = sample.map(f32::from_le_bytes);
        mark::start();
        let scores = stream.push(sample).ok()?;
        mark::stop();
        let Some(scores) = scores else { continue };
        for &score in scores {
            let (word, others) = expected.split_first_chunk()?;
            expected = others;
            if score != i32::from_le_bytes(*word) {
                return None;
            }
        }
        steady.push(scores);
    }
    Some(steady.class())
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
