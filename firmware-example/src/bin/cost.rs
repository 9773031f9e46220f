//! What one prediction costs: the instructions between two markers, which the
//! emulator's plugin counts, and the stack, which is measured by painting. The
//! model is `KOAN_COST_MODEL`, an absolute path, when compiling; the row and the
//! scores that it must give come from the host (`cargo xtask cost`).

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_firmware::{entry, exit, packed, print, print_number, stack};

koan::include_model!(mod model = env!("KOAN_COST_MODEL"));

#[entry]
fn main() -> ! {
    stack::paint();
    let equal = run();
    let used = stack::used().unwrap_or(usize::MAX);
    print("stack: ");
    print_number(used);
    print("\n");
    exit(if equal { 0 } else { 1 })
}

/// Predicts the packed row; whether the scores are the packed ones. Not inlined:
/// what `main` prints with must not count.
#[inline(never)]
fn run() -> bool {
    let mut buffers = model::Buffers::new();
    let Ok(mut predictor) = koan::Predictor::new(&model::MODEL, &mut buffers) else {
        return false;
    };
    let Some((row, expected)) = packed().split_at_checked(2 * model::MODEL.inputs()) else {
        return false;
    };
    // The pack lies at the start of a region: it is aligned.
    let Ok(row) = bytemuck::try_cast_slice::<u8, i16>(row) else { return false };
    // The markers surround exactly one call: memory accesses do not move across them.
    koan_firmware::mark::start();
    let scores = predictor.scores(black_box(row)).unwrap_or(&[]);
    koan_firmware::mark::stop();
    let words = expected.as_chunks::<4>().0;
    scores.len() == model::MODEL.outputs()
        && scores.iter().zip(words).all(|(score, word)| *score == i32::from_le_bytes(*word))
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
