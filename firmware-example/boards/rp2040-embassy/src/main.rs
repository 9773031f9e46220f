//! A koan model over an analog accelerometer on a Raspberry Pi Pico, with embassy: the LED is on
//! while squats are done. Samples are taken in an interrupt, while windows are scored.
//!
//! `embassy/emulated` is the same in an emulator.

#![no_std]
#![no_main]

use embassy_executor::{InterruptExecutor, Spawner};
use embassy_rp::adc::{Adc, Async, Channel, Config, InterruptHandler};
use embassy_rp::gpio::{Level, Output, Pull};
use embassy_rp::interrupt::{self, InterruptExt, Priority};
use embassy_rp::{bind_interrupts, interrupt as handler};
use koan_embassy::{CHANNELS, Queue, Recognizer, sampling};
use panic_halt as _;

bind_interrupts!(struct Irqs {
    ADC_IRQ_FIFO => InterruptHandler;
});

/// Its tasks interrupt those of the other executor.
static SAMPLER: InterruptExecutor = InterruptExecutor::new();
static QUEUE: Queue = Queue::new();

/// An ADXL335 at 3.3 V, by its data sheet: half the range is 0 g, a tenth of it 1 g.
const ZERO: f32 = 2048.0;
const PER_G: f32 = 409.6;

#[handler]
unsafe fn SWI_IRQ_1() {
    // SAFETY: the executor's own interrupt, which it enables when it is started.
    unsafe { SAMPLER.on_interrupt() }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let device = embassy_rp::init(Default::default());
    let mut led = Output::new(device.PIN_25, Level::Low);
    let mut recognizer = Recognizer::new();
    // Dark if this device computes something else than the trainer did.
    if recognizer.self_test().is_err() {
        return;
    }
    let adc = Adc::new(device.ADC, Irqs, Config::default());
    let axes = [
        Channel::new_pin(device.PIN_26, Pull::None),
        Channel::new_pin(device.PIN_27, Pull::None),
        Channel::new_pin(device.PIN_28, Pull::None),
    ];
    interrupt::SWI_IRQ_1.set_priority(Priority::P3);
    let Ok(task) = sample(adc, axes) else { return };
    SAMPLER.start(interrupt::SWI_IRQ_1).spawn(task);
    let _ =
        recognizer.run(&QUEUE, |heard| led.set_level((heard.class == Some("squat")).into())).await;
    led.set_low();
}

#[embassy_executor::task]
async fn sample(mut adc: Adc<'static, Async>, mut axes: [Channel<'static>; CHANNELS]) {
    let read = async || {
        let mut sample = [0.0; CHANNELS];
        for (number, axis) in sample.iter_mut().zip(&mut axes) {
            *number = (f32::from(adc.read(axis).await.ok()?) - ZERO) / PER_G;
        }
        Some(sample)
    };
    sampling(read, &QUEUE).await;
}
