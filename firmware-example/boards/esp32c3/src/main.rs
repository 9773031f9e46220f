//! A koan model on an ESP32-C3: pin 8 is low while the class is 0 (on most
//! boards an LED), and stays high if the self test fails.

#![no_std]
#![no_main]

use esp_hal::gpio::{Level, Output, OutputConfig};
use panic_halt as _;

koan::include_model!(mod digits = "../../../digits.koan");

esp_bootloader_esp_idf::esp_app_desc!();

#[esp_hal::main]
fn main() -> ! {
    let device = esp_hal::init(esp_hal::Config::default());
    let mut led = Output::new(device.GPIO8, Level::High, OutputConfig::default());

    let mut predictor = digits::predictor();
    if predictor.self_test().is_err() {
        halt()
    }
    loop {
        let row = [0i16; 64]; // from your sensor
        led.set_level((predictor.classify(&row) != Ok(0)).into());
    }
}

fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
