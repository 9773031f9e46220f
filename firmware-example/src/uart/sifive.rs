//! The UART of SiFive's chips.

use crate::register::Register;

const BASE: usize = 0x1001_3000;

const fn register(offset: usize) -> Register<u32> {
    // SAFETY: the offsets below are those of the UART's registers.
    unsafe { Register::at(BASE + offset) }
}

const TX_DATA: Register<u32> = register(0x00);
const RX_DATA: Register<u32> = register(0x04);
const TX_CONTROL: Register<u32> = register(0x08);
const RX_CONTROL: Register<u32> = register(0x0c);

/// TX_DATA: the FIFO is full; RX_DATA: there was no byte.
const NOT_NOW: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct Port;

impl Port {
    pub(super) fn open() -> Self {
        TX_CONTROL.write(1);
        RX_CONTROL.write(1);
        Self
    }

    pub(super) fn poll(&mut self) -> Option<u8> {
        let data = RX_DATA.read();
        (data & NOT_NOW == 0).then_some(data as u8)
    }

    pub(super) fn send(&mut self, byte: u8) {
        while TX_DATA.read() & NOT_NOW != 0 {}
        TX_DATA.write(u32::from(byte));
    }
}
