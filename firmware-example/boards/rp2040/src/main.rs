//! A koan model on a Raspberry Pi Pico: the LED is on while the class is 0,
//! and dark if the self test fails.

#![no_std]
#![no_main]

use embedded_hal::digital::OutputPin;
use panic_halt as _;
use rp2040_hal as hal;

koan::include_model!(mod digits = "../../../digits.koan");

/// The second stage of the boot loader, which sets up the flash.
#[unsafe(link_section = ".boot2")]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

#[hal::entry]
fn main() -> ! {
    let Some(mut device) = hal::pac::Peripherals::take() else { halt() };
    let sio = hal::Sio::new(device.SIO);
    let pins = hal::gpio::Pins::new(
        device.IO_BANK0,
        device.PADS_BANK0,
        sio.gpio_bank0,
        &mut device.RESETS,
    );
    let mut led = pins.gpio25.into_push_pull_output();

    let mut predictor = digits::predictor();
    if predictor.self_test().is_err() {
        halt()
    }
    loop {
        let row = [0i16; 64]; // from your sensor
        // Setting a pin of this chip cannot fail.
        let _ = led.set_state((predictor.classify(&row) == Ok(0)).into());
    }
}

fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
