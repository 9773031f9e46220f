//! ARM's PL011. On the chip its clock and pins need to be switched on first;
//! the emulator has them on.

use crate::register::Register;

const BASE: usize = 0x4000_c000;

const fn register(offset: usize) -> Register<u32> {
    // SAFETY: the offsets below are those of the PL011's registers.
    unsafe { Register::at(BASE + offset) }
}

const DATA: Register<u32> = register(0x00);
const FLAGS: Register<u32> = register(0x18);
const LINE: Register<u32> = register(0x2c);
const CONTROL: Register<u32> = register(0x30);

const RX_EMPTY: u32 = 1 << 4;
const TX_FULL: u32 = 1 << 5;

#[derive(Debug)]
pub(super) struct Port;

impl Port {
    pub(super) fn open() -> Self {
        CONTROL.write(0);
        // Eight bits, with FIFOs.
        LINE.write(0x70);
        // Receiver, transmitter, the whole.
        CONTROL.write(0x301);
        Self
    }

    pub(super) fn poll(&mut self) -> Option<u8> {
        (FLAGS.read() & RX_EMPTY == 0).then(|| DATA.read() as u8)
    }

    pub(super) fn send(&mut self, byte: u8) {
        while FLAGS.read() & TX_FULL != 0 {}
        DATA.write(u32::from(byte));
    }
}
