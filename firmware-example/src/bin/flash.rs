//! What the core takes of flash and RAM: this program with and without it. Built without
//! the feature `flash` it only starts and ends; with it, it parses a blob that the
//! host has put into flash and classifies a row of `i16`. The difference is the
//! core's, with what it needs of the compiler's library (`cargo xtask cost`). With
//! `flash-included` the model is `KOAN_COST_MODEL`, checked when compiling, instead. With
//! the feature `stack` it prints how deep its stack went as well, and marks the prediction
//! for the plugin that counts instructions.

#![no_std]
#![no_main]

use koan_firmware::{entry, exit, packed};

#[cfg(feature = "flash-included")]
koan::include_model!(mod model = env!("KOAN_COST_MODEL"));

#[cfg(feature = "flash-included")]
use model::Buffers;
/// As large as `Model::buffer_sizes` says in this build.
#[cfg(all(feature = "flash", not(feature = "flash-included")))]
type Buffers = koan::OwnedBuffers<64, { if cfg!(feature = "small") { 16 } else { 64 } }, 0, 10>;

#[entry]
fn main() -> ! {
    // The start-up code lends it out, and clears it without a routine for that.
    #[cfg(feature = "flash")]
    static mut BUFFERS: Buffers = Buffers::new();
    #[cfg(feature = "stack")]
    koan_firmware::stack::paint();
    #[cfg(feature = "flash")]
    let code = run(packed(), BUFFERS);
    #[cfg(not(feature = "flash"))]
    let code = run(packed());
    #[cfg(feature = "stack")]
    report();
    exit(code)
}

/// Prints what the stack took. Not inlined: what it needs must not count.
#[cfg(feature = "stack")]
#[inline(never)]
fn report() {
    use koan_firmware::{print, print_number, stack};
    let used = stack::used().unwrap_or(usize::MAX);
    print("stack: ");
    print_number(used);
    print("\n");
}

/// Just a number from the bytes: what starting and ending take.
#[cfg(not(feature = "flash"))]
#[inline(never)]
fn run(bytes: &[u8]) -> i32 {
    bytes.first().map_or(0, |&byte| byte.into())
}

/// The class of a row, or an error's number.
#[cfg(feature = "flash")]
#[inline(never)]
fn run(bytes: &[u8], buffers: &mut Buffers) -> i32 {
    classify(bytes, buffers).map_or(100, |class| class as i32)
}

#[cfg(feature = "flash")]
fn classify(bytes: &[u8], buffers: &mut Buffers) -> Option<usize> {
    let (row, _rest) = bytes.split_at_checked(2 * 64)?;
    let row = bytemuck::try_cast_slice::<u8, i16>(row).ok()?;
    #[cfg(not(feature = "flash-included"))]
    let model = &koan::Model::parse(blob(_rest)?).ok()?;
    #[cfg(feature = "flash-included")]
    let model = &model::MODEL;
    let mut predictor = koan::Predictor::new(model, buffers).ok()?;
    #[cfg(feature = "flash-self-test")]
    predictor.self_test().ok()?;
    #[cfg(feature = "stack")]
    koan_firmware::mark::start();
    let class = predictor.classify(core::hint::black_box(row)).ok()?;
    #[cfg(feature = "stack")]
    koan_firmware::mark::stop();
    Some(class)
}

/// Behind the row: the blob's length and the blob.
#[cfg(all(feature = "flash", not(feature = "flash-included")))]
fn blob(bytes: &[u8]) -> Option<&[u8]> {
    let (&length, rest) = bytes.split_first_chunk()?;
    rest.get(..u32::from_le_bytes(length) as usize)
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
