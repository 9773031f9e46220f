//! A koan model on an nRF52840 development kit: LED 1 is on while the class is
//! 0, and dark if the self test fails.

#![no_std]
#![no_main]

use embedded_hal::digital::OutputPin;
use nrf52840_hal as hal;
use panic_halt as _;

koan::include_model!(mod digits = "../../../digits.koan");

#[cortex_m_rt::entry]
fn main() -> ! {
    let Some(device) = hal::pac::Peripherals::take() else { halt() };
    let pins = hal::gpio::p0::Parts::new(device.P0);
    // The LED shines at low level.
    let mut led = pins.p0_13.into_push_pull_output(hal::gpio::Level::High);

    let mut predictor = digits::predictor();
    if predictor.self_test().is_err() {
        halt()
    }
    loop {
        let row = [0i16; 64]; // from your sensor
        // Setting a pin of this chip cannot fail.
        let _ = led.set_state((predictor.classify(&row) != Ok(0)).into());
    }
}

fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
