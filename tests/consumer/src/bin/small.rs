//! The same in the small form.

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_consumer::{DIGIT, exit};
use panic_halt as _;

koan::include_model!(small mod digits = "../../../models/digits-fourier-512.koan");

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut predictor = digits::predictor();
    match predictor.classify(black_box(&DIGIT)) {
        Ok(class) => exit(class as u32),
        Err(_) => exit(100),
    }
}
