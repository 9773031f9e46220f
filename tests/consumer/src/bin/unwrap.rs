//! The class of a row; `unwrap` says that there is no error.

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_consumer::{DIGIT, exit};
use panic_halt as _;

koan::include_model!(mod digits = "../../../models/digits-fourier-512.koan");

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut predictor = digits::predictor();
    exit(predictor.classify(black_box(&DIGIT)).unwrap() as u32)
}
