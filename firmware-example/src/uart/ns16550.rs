//! The 16550, with registers of a byte.

use crate::register::Register;

const BASE: usize = 0x1000_0000;

const fn register(offset: usize) -> Register<u8> {
    // SAFETY: the offsets below are those of the 16550's registers.
    unsafe { Register::at(BASE + offset) }
}

const DATA: Register<u8> = register(0);
const FIFO_CONTROL: Register<u8> = register(2);
const LINE_CONTROL: Register<u8> = register(3);
const LINE_STATUS: Register<u8> = register(5);

const RX_READY: u8 = 1;
const TX_EMPTY: u8 = 1 << 5;

#[derive(Debug)]
pub(super) struct Port;

impl Port {
    pub(super) fn open() -> Self {
        // Eight bits.
        LINE_CONTROL.write(3);
        // FIFOs on.
        FIFO_CONTROL.write(1);
        Self
    }

    pub(super) fn poll(&mut self) -> Option<u8> {
        (LINE_STATUS.read() & RX_READY != 0).then(|| DATA.read())
    }

    pub(super) fn send(&mut self, byte: u8) {
        while LINE_STATUS.read() & TX_EMPTY == 0 {}
        DATA.write(byte);
    }
}
