//! The smallest useful firmware: a model in flash, a self test at boot, a
//! class for every row of sensor values. It prints without the formatting
//! machinery; `cargo xtask emulate` checks that the linked program has no path
//! to a panic, no heap and no float operation.

#![no_std]
#![no_main]

use koan_firmware::{entry, exit, print};

koan::include_model!(mod digits = "../../digits.koan");

/// What the sensor would give: the strokes of a handwritten 0, 8 × 8 pixels.
#[rustfmt::skip]
const ROW: [i16; 64] = [
    0,  0,  5, 13,  9,  1,  0,  0,
    0,  0, 13, 15, 10, 15,  5,  0,
    0,  3, 15,  2,  0, 11,  8,  0,
    0,  4, 12,  0,  0,  8,  8,  0,
    0,  5,  8,  0,  0,  9,  8,  0,
    0,  4, 11,  0,  1, 12,  7,  0,
    0,  2, 14,  5, 10, 12,  0,  0,
    0,  0,  6, 13, 10,  0,  0,  0,
];

#[entry]
fn main() -> ! {
    match run() {
        Ok(()) => exit(0),
        Err(error) => {
            print(error.message());
            print("\n");
            exit(1)
        }
    }
}

// Not inlined: its buffers are no burden for the rest of a firmware.
#[inline(never)]
fn run() -> Result<(), koan::Error> {
    let mut predictor = digits::predictor();
    predictor.self_test()?;
    let class = predictor.classify(&ROW)?;
    print(digits::MODEL.class_name(class).unwrap_or("?"));
    print("\n");
    Ok(())
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
