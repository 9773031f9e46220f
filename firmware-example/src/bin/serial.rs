//! A device on a serial port: rows in, classes and scores out, as
//! `docs/protocol.md` says. `koan device` on the host talks to it.

#![no_std]
#![no_main]

use koan::OwnedBuffers;
use koan_firmware::{Uart, entry};
use koan_protocol::{Device, Port};

koan::include_model!(mod digits = "../../digits.koan");

/// Bytes of a line: 64 numbers of 20 digits, or a kilobyte of a model.
const LINE: usize = 1536;
/// Numbers of a row.
const ROW: usize = 128;
/// Bytes of an uploaded model; there is room for two.
const MODEL: usize = 4096;
/// Work between a line and its answer: about a second of a Cortex-M0 at 16 MHz.
const WORK: u32 = 1 << 20;
/// Working memory of 128 inputs and 16 outputs, in all families.
type Buffers = OwnedBuffers<ROW, 128, 128, 16>;

struct Serial(Uart);

impl Port for Serial {
    fn read(&mut self) -> Option<u8> {
        Some(self.0.read())
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

#[entry]
fn main() -> ! {
    let mut device = Device::<_, LINE, ROW, MODEL>::new(digits::MODEL, Buffers::new(), WORK);
    let mut port = Serial(Uart::open());
    device.greet(&mut port);
    loop {
        device.serve(&mut port);
    }
}

koan_firmware::exit_on_panic!(silently);
