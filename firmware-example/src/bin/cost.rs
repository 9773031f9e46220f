//! What one prediction costs: the instructions between two markers, which the
//! emulator's plugin counts, and how deep the stack goes, which it watches. The models
//! are `KOAN_COST_MODELS` when compiling (`build.rs`); which of them is to be run, the row
//! and the scores that it must give come from the host (`cargo xtask cost`).

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_firmware::{entry, exit, mark, packed};

/// Predicts the packed row; whether the scores are the packed ones.
type Measured = fn(&[u8]) -> bool;

/// A function that is [`Measured`] for the model in a module, with the memory that a user's
/// would take.
macro_rules! measured {
    ($model:ident) => {
        #[inline(never)]
        fn $model(bytes: &[u8]) -> bool {
            let mut predictor = $model::predictor();
            let Some((row, expected)) = bytes.split_at_checked(2 * $model::MODEL.inputs()) else {
                return false;
            };
            // The pack lies at the start of a region: it is aligned.
            let Ok(row) = bytemuck::try_cast_slice::<u8, i16>(row) else { return false };
            // The markers surround exactly one call: memory accesses do not move across them.
            mark::start();
            let scores = predictor.scores(black_box(row)).unwrap_or(&[]);
            mark::stop();
            let words = expected.as_chunks::<4>().0;
            scores.len() == $model::MODEL.outputs()
                && scores.iter().zip(words).all(|(score, word)| *score == i32::from_le_bytes(*word))
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/models.rs"));

#[entry]
fn main() -> ! {
    exit(if run(packed()) == Some(true) { 0 } else { 1 })
}

fn run(bytes: &[u8]) -> Option<bool> {
    let (&number, bytes) = bytes.split_first_chunk()?;
    let measured = MEASURED.get(u32::from_le_bytes(number) as usize)?;
    Some(measured(bytes))
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
