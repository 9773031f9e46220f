//! The UART of ARM's Cortex-M system design kit.

use crate::register::Register;

#[cfg(machine = "mps2-an386")]
const BASE: usize = 0x4000_4000;
#[cfg(machine = "mps2-an505")]
const BASE: usize = 0x5020_0000;

const fn register(offset: usize) -> Register<u32> {
    // SAFETY: the offsets below are those of the UART's registers.
    unsafe { Register::at(BASE + offset) }
}

const DATA: Register<u32> = register(0x00);
const STATE: Register<u32> = register(0x04);
const CONTROL: Register<u32> = register(0x08);
const BAUD_DIVIDER: Register<u32> = register(0x10);

const TX_FULL: u32 = 1;
const RX_FULL: u32 = 2;

#[derive(Debug)]
pub(super) struct Port;

impl Port {
    pub(super) fn open() -> Self {
        // The smallest divider that the UART takes.
        BAUD_DIVIDER.write(16);
        // Receiver and transmitter.
        CONTROL.write(3);
        Self
    }

    pub(super) fn poll(&mut self) -> Option<u8> {
        (STATE.read() & RX_FULL != 0).then(|| DATA.read() as u8)
    }

    pub(super) fn send(&mut self, byte: u8) {
        while STATE.read() & TX_FULL != 0 {}
        DATA.write(u32::from(byte));
    }
}
