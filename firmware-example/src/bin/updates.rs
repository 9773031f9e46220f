//! A device on a serial port that takes signed models only, and has the last one again after
//! every reset: `serial.rs` with a key and a store of two slots. `koan device` talks to it.
//!
//! Tested on the Cortex-M4F and on RV32IMC (`cargo xtask serial`). It takes more flash than the
//! machines of the Cortex-M0 and the Cortex-M3 have for a program (96 KB), and more than 16 KB of
//! RAM.

#![no_std]
#![no_main]

use koan::{Any, Limits, OwnedBuffers};
use koan_firmware::file_flash::FileFlash;
use koan_firmware::{Uart, entry, exit};
use koan_protocol::{Device, Port};
use koan_sign::{ED25519, Envelope, PublicKey};
use koan_store::{Standing, Store, check_model};

koan::include_model!(mod digits = "../../digits.koan");

// `KEY`: that of the tests, unless `KOAN_KEY` names a file with another when compiling.
include!(env!("KOAN_KEY"));
const KEYS: [PublicKey; 1] = [KEY];

/// As in `serial.rs`.
const LINE: usize = 1536;
/// The longest row of an uploaded model: of three numbers, a window of 128.
const ROW: usize = 384;
const MODEL: usize = 4096;
const WORK: u32 = 1 << 20;
type Buffers = OwnedBuffers<ROW, 128, 128, 16>;

/// A sector for the header, and those of a model.
const SLOT: u32 = 1024 + MODEL as u32;
type Flash = FileFlash<{ 2 * SLOT as usize }>;

/// The serial port, and where models are kept.
struct Keeping {
    uart: Uart,
    store: Store<Flash>,
    memory: [u8; MODEL],
}

impl Port for Keeping {
    fn read(&mut self) -> Option<u8> {
        Some(self.uart.read())
    }

    fn write(&mut self, bytes: &[u8]) {
        self.uart.write(bytes);
    }

    /// It runs already, and has passed its self test: the store's trial is for models that cannot
    /// be tried before a reset.
    fn keep(&mut self, model: &[u8]) -> bool {
        let kept = self.store.begin(model.len()).is_ok()
            && self.store.write(model).is_ok()
            && self.store.finish(&mut self.memory, check).is_ok()
            && self.store.start(&mut self.memory, check).is_ok()
            && self.store.confirm().is_ok();
        if !kept {
            // One that waits for its trial would come into force with the next start, although it
            // was answered that it is not stored. This erases it. One that was tried does not come.
            let _ = self.store.begin(0);
        }
        kept
    }
}

/// Signature, checksum, bounds on work, self test on this device.
fn check(envelope: &[u8]) -> Result<(), ()> {
    let found = Envelope::open(envelope, &KEYS, 0, ED25519).map_err(drop)?;
    let limits = Limits { work: WORK, ..Limits::NONE };
    check_model::<Any>(found.blob, limits, &mut Buffers::new()).map_err(drop)
}

#[entry]
fn main() -> ! {
    let Ok(flash) = Flash::open(c"flash.bin") else { exit(1) };
    let Ok(mut store) = Store::new(flash, 0, SLOT) else { exit(1) };
    let device = Device::<_, LINE, ROW, MODEL>::new(digits::MODEL, Buffers::new(), WORK);
    let mut device = device.signed(&KEYS, ED25519, 1);
    let mut on_trial = false;
    let restored = device.restore(|area| {
        let found = store.start(area, check).ok()??;
        on_trial = found.standing == Standing::OnTrial;
        Some(found.length)
    });
    // The power was cut in `keep` when the model was written and not marked as tried yet. A cut
    // after that, before it was confirmed, leaves the one before.
    if restored && on_trial && store.confirm().is_err() {
        exit(1)
    }
    let mut port = Keeping { uart: Uart::open(), store, memory: [0; MODEL] };
    device.greet(&mut port);
    loop {
        device.serve(&mut port);
    }
}

koan_firmware::exit_on_panic!(silently);
