//! What one prediction costs: the instructions between two markers, which the
//! emulator's plugin counts, and how deep the stack goes, which it watches. The
//! model is `KOAN_COST_MODEL`, an absolute path, when compiling; in the small form where
//! `KOAN_COST_FORM` is `small`. The row and the scores that it must give come from the
//! host (`cargo xtask cost`).

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_firmware::{entry, exit, mark, packed};

#[cfg(not(cost_form = "small"))]
koan::include_model!(mod model = env!("KOAN_COST_MODEL"));
#[cfg(cost_form = "small")]
koan::include_model!(small mod model = env!("KOAN_COST_MODEL"));

#[entry]
fn main() -> ! {
    exit(if run() { 0 } else { 1 })
}

/// Predicts the packed row; whether the scores are the packed ones.
fn run() -> bool {
    let mut predictor = model::predictor();
    let Some((row, expected)) = packed().split_at_checked(2 * model::MODEL.inputs()) else {
        return false;
    };
    // The pack lies at the start of a region: it is aligned.
    let Ok(row) = bytemuck::try_cast_slice::<u8, i16>(row) else { return false };
    // The markers surround exactly one call: memory accesses do not move across them.
    mark::start();
    let scores = predictor.scores(black_box(row)).unwrap_or(&[]);
    mark::stop();
    let words = expected.as_chunks::<4>().0;
    scores.len() == model::MODEL.outputs()
        && scores.iter().zip(words).all(|(score, word)| *score == i32::from_le_bytes(*word))
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
