//! A signed model, verified before the parser sees a byte. The envelope comes from the host
//! (`cargo xtask device`), which has instructions and stack counted.

#![no_std]
#![no_main]

use core::hint::black_box;

use koan_firmware::{entry, exit, mark, packed};
use koan_sign::{ED25519, Envelope, PublicKey};

/// The public key of the tests. The secret one is 32 times the byte 7: a real one comes from
/// `koan keygen`.
const KEYS: [PublicKey; 1] = [PublicKey([
    234, 74, 108, 99, 226, 156, 82, 10, 190, 245, 80, 123, 19, 46, 197, 249, 149, 71, 118, 174,
    190, 190, 123, 146, 66, 30, 234, 105, 20, 70, 210, 44,
])];

/// The lowest counter that is accepted.
const LEAST: u32 = 5;

/// No model.
const REFUSED: i32 = 2;

#[entry]
fn main() -> ! {
    exit(if run().is_some() { 0 } else { REFUSED })
}

/// The packed envelope's blob, for the parser.
fn run() -> Option<&'static [u8]> {
    let (length, rest) = packed().split_first_chunk::<4>()?;
    let envelope = rest.get(..u32::from_le_bytes(*length) as usize)?;
    mark::start();
    let opened = Envelope::open(black_box(envelope), &KEYS, LEAST, ED25519);
    mark::stop();
    opened.ok().map(|envelope| black_box(envelope.blob))
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
