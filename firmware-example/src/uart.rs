//! The serial port, polled: 8 data bits, no parity, 115,200 baud where the
//! emulator cares.

#[cfg_attr(machine = "microbit", path = "uart/nrf51.rs")]
#[cfg_attr(machine = "lm3s6965evb", path = "uart/pl011.rs")]
#[cfg_attr(any(machine = "mps2-an386", machine = "mps2-an505"), path = "uart/cmsdk.rs")]
#[cfg_attr(machine = "virt", path = "uart/ns16550.rs")]
#[cfg_attr(machine = "sifive_e", path = "uart/sifive.rs")]
mod port;

use port::Port;

/// The machine's first serial port.
#[derive(Debug)]
pub struct Uart {
    port: Port,
}

impl Uart {
    /// Switches the port on.
    ///
    /// To be called once: two handles would take each other's bytes.
    #[must_use]
    pub fn open() -> Self {
        Self { port: Port::open() }
    }

    /// A byte, if one has arrived.
    pub fn poll(&mut self) -> Option<u8> {
        self.port.poll()
    }

    /// Waits for a byte.
    pub fn read(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.port.poll() {
                return byte;
            }
        }
    }

    /// Sends all bytes, waiting as long as that takes.
    pub fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.port.send(byte);
        }
    }
}
