//! Loads the damaged blobs that the host has packed into flash: the first is
//! whole and must be accepted, in each of the others a bit is flipped, and load
//! or self test must refuse it.

#![no_std]
#![no_main]

use koan::{Buffers, Error, Model, OwnedBuffers, Predictor};
use koan_firmware::{entry, exit, exit_on_panic, pack, packed, println};

exit_on_panic!();

/// Messages that are printed as examples.
const EXAMPLES: usize = 3;

#[entry]
fn main() -> ! {
    let mut memory = OwnedBuffers::<1024, 1024, 1024, 32>::new();
    let mut refused = 0;
    let mut accepted = 0;
    let Some(entries) = pack::read(packed()) else {
        println!("there is no readable pack in flash");
        exit(1)
    };
    for (number, entry) in entries.enumerate() {
        let Some(entry) = entry else {
            println!("entry {number} of the pack cannot be read");
            exit(1)
        };
        let name = entry.name;
        match (number, check(entry.blob, &mut memory)) {
            (0, Ok(())) => {}
            (0, Err(error)) => {
                println!("{name}: refused although it is whole: {error}");
                exit(1)
            }
            (_, Ok(())) => {
                println!("{name}: accepted although it is damaged");
                accepted += 1;
            }
            (_, Err(error)) => {
                if refused < EXAMPLES {
                    println!("{name}: {error}");
                }
                refused += 1;
            }
        }
    }
    println!("refused: {refused} flips");
    exit(i32::from(accepted > 0))
}

/// What a device does before it trusts a model.
fn check(blob: &[u8], memory: &mut impl Buffers) -> Result<(), Error> {
    Predictor::new(Model::parse(blob)?, memory.workspace())?.self_test()
}
