//! `koan-embassy` on an emulated core. The samples, and the scores that every window must give,
//! come from the host (`cargo xtask device`), which also compares what is printed.
//!
//! `boards/rp2040-embassy` is the same on a board.

#![no_std]
#![no_main]

mod time;

use cortex_m::interrupt::InterruptNumber;
use cortex_m_rt::exception;
use embassy_executor::{InterruptExecutor, Spawner};
use embassy_time::{Instant, Timer};
use koan_embassy::{CHANNELS, Queue, Recognizer, Sample, sampling};
use koan_firmware::{exit, packed, println};

/// Its tasks interrupt those of the other executor.
static SAMPLER: InterruptExecutor = InterruptExecutor::new();
static QUEUE: Queue = Queue::new();

/// An interrupt that no device of these machines raises.
#[derive(Clone, Copy)]
struct Unused;

const UNUSED: u16 = 31;

// SAFETY: always the same number, which every machine here has.
unsafe impl InterruptNumber for Unused {
    fn number(self) -> u16 {
        UNUSED
    }
}

/// Every interrupt that has no handler of its own; there is one only.
#[exception]
unsafe fn DefaultHandler(number: i16) {
    if number == UNUSED as i16 {
        // SAFETY: the executor's own interrupt, which it enables when it is started.
        unsafe { SAMPLER.on_interrupt() }
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let Some((samples, expected)) = split(packed()) else { exit(1) };
    let Some(core) = cortex_m::Peripherals::take() else { exit(1) };
    time::start(core.SYST, koan_firmware::CLOCK);
    let mut recognizer = Recognizer::new();
    let (Ok(()), Ok(task)) = (recognizer.self_test(), sample(samples)) else { exit(1) };
    SAMPLER.start(Unused).spawn(task);

    let mut expected = expected.as_chunks::<4>().0.iter();
    let _ = recognizer
        .run(&QUEUE, |heard| {
            let same = |&score: &i32| expected.next() == Some(&score.to_le_bytes());
            if !heard.scores.iter().all(same) {
                exit(1)
            }
            println!("{}, {} samples wait", heard.class.unwrap_or("unknown"), QUEUE.waiting());
        })
        .await;
    exit(1)
}

/// A sample as the host packs it.
type Packed = [[u8; 4]; CHANNELS];

/// The samples, and behind them the scores of windows.
fn split(pack: &[u8]) -> Option<(&[Packed], &[u8])> {
    let (count, rest) = pack.split_first_chunk::<4>()?;
    let bytes = u32::from_le_bytes(*count) as usize * size_of::<Sample>();
    let (samples, scores) = rest.split_at_checked(bytes)?;
    Some((samples.as_chunks().0.as_chunks().0, scores))
}

/// Takes the host's samples, one at each tick; says how long that took.
#[embassy_executor::task]
async fn sample(samples: &'static [Packed]) {
    let mut samples = samples.iter();
    let start = Instant::now();
    let taken =
        sampling(async || samples.next().map(|sample| sample.map(f32::from_le_bytes)), &QUEUE)
            .await;
    println!("{taken} samples, {} ms", start.elapsed().as_millis());
    Timer::after_secs(1).await;
    exit(0)
}

koan_firmware::exit_on_panic!();
