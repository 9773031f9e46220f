//! The class of an image of 28 × 28 pixels, by its name.

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_consumer::exit;
use panic_halt as _;

koan::include_model!(mod images = "../../../models/mnist-conv-1040.koan");

/// What a camera would give.
static IMAGE: [u8; 784] = [0; 784];

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut predictor = images::predictor();
    match predictor.classify(black_box(&IMAGE)) {
        Ok(class) => {
            let name = images::MODEL.class_name(class).unwrap_or_default();
            exit(name.parse().unwrap_or(101))
        }
        Err(_) => exit(100),
    }
}
