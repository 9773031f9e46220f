//! What the core takes of flash: this program with and without it. Built without
//! the feature `flash` it only starts and ends; with it, it parses a blob that the
//! host has put into flash and classifies a row of `i16`. The difference is the
//! core's, with what it needs of the compiler's library (`cargo xtask cost`).

#![no_std]
#![no_main]

use koan_firmware::{entry, exit, packed};

#[cfg(feature = "flash")]
type Buffers = koan::OwnedBuffers<64, 64, 0, 10>;

#[entry]
fn main() -> ! {
    // The start-up code lends it out, and clears it without a routine for that.
    #[cfg(feature = "flash")]
    static mut BUFFERS: Buffers = Buffers::new();
    #[cfg(feature = "flash")]
    exit(run(packed(), BUFFERS));
    #[cfg(not(feature = "flash"))]
    exit(run(packed()))
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
    // The row, the blob's length, the blob.
    let (row, rest) = bytes.split_at_checked(2 * 64)?;
    let (&length, rest) = rest.split_first_chunk()?;
    let blob = rest.get(..u32::from_le_bytes(length) as usize)?;
    let row = bytemuck::try_cast_slice::<u8, i16>(row).ok()?;
    let model = koan::Model::parse(blob).ok()?;
    let mut predictor = koan::Predictor::new(model, buffers).ok()?;
    #[cfg(feature = "flash-self-test")]
    predictor.self_test().ok()?;
    predictor.classify(row).ok()
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
