//! The UART of the nRF51 (reference manual, chapter 29).

use crate::register::Register;

const BASE: usize = 0x4000_2000;

const fn register(offset: usize) -> Register<u32> {
    // SAFETY: the offsets below are those of the UART's registers.
    unsafe { Register::at(BASE + offset) }
}

const START_RX: Register<u32> = register(0x000);
const START_TX: Register<u32> = register(0x008);
const RX_READY: Register<u32> = register(0x108);
const TX_READY: Register<u32> = register(0x11c);
const ENABLE: Register<u32> = register(0x500);
const PIN_TX: Register<u32> = register(0x50c);
const PIN_RX: Register<u32> = register(0x514);
const RX_DATA: Register<u32> = register(0x518);
const TX_DATA: Register<u32> = register(0x51c);
const BAUD_RATE: Register<u32> = register(0x524);

#[derive(Debug)]
pub(super) struct Port;

impl Port {
    pub(super) fn open() -> Self {
        // The pins of the micro:bit.
        PIN_TX.write(24);
        PIN_RX.write(25);
        BAUD_RATE.write(0x01d7_e000);
        ENABLE.write(4);
        RX_READY.write(0);
        TX_READY.write(0);
        START_RX.write(1);
        START_TX.write(1);
        Self
    }

    pub(super) fn poll(&mut self) -> Option<u8> {
        if RX_READY.read() == 0 {
            return None;
        }
        // Before the byte is taken: taking it announces the next one.
        RX_READY.write(0);
        Some(RX_DATA.read() as u8)
    }

    pub(super) fn send(&mut self, byte: u8) {
        TX_DATA.write(u32::from(byte));
        while TX_READY.read() == 0 {}
        TX_READY.write(0);
    }
}
