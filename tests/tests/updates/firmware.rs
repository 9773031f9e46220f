use core::fmt;

use embedded_storage::nor_flash::NorFlash;
use koan::{Any, Limits, OwnedBuffers};
use koan_sign::{ED25519, Envelope, PublicKey};
use koan_store::{Error, Found, Store, check_model};

/// As `koan keygen` has printed it.
const KEY: PublicKey = PublicKey([
    234, 74, 108, 99, 226, 156, 82, 10, 190, 245, 80, 123, 19, 46, 197, 249, 149, 71, 118, 174,
    190, 190, 123, 146, 66, 30, 234, 105, 20, 70, 210, 44,
]);
const LIMITS: Limits = Limits { work: 4 << 20, memory: 2048 };

/// Why an envelope is refused.
#[derive(Debug)]
enum Refused {
    Envelope(koan_sign::Error),
    Model(koan::Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Envelope(error) => error.fmt(f),
            Self::Model(error) => error.fmt(f),
        }
    }
}

/// Signature, counter, checksum, bounds on work and memory, self test on this very device; the
/// counter.
fn check(envelope: &[u8], least: u32) -> Result<u32, Refused> {
    let found = Envelope::open(envelope, &[KEY], least, ED25519).map_err(Refused::Envelope)?;
    let mut buffers = OwnedBuffers::<384, 64, 128, 4>::new();
    check_model::<Any>(found.blob, LIMITS, &mut buffers).map_err(Refused::Model)?;
    Ok(found.counter)
}

/// At every start: the envelope in force, which is then in `memory`, and its counter; or none yet.
/// One that is on trial the application confirms, `store.confirm()`, once it works.
fn start<F: NorFlash>(
    store: &mut Store<F>,
    memory: &mut [u8],
) -> Result<Option<(Found, u32)>, Error<F::Error>> {
    let mut counter = 0;
    let found = store.start(memory, |envelope| check(envelope, 0).map(|found| counter = found))?;
    Ok(found.map(|found| (found, counter)))
}

/// An update, in pieces as they come; `counter` is that of the model in force, or 0. After the next
/// reset it runs on trial.
fn update<'p, F: NorFlash>(
    store: &mut Store<F>,
    memory: &mut [u8],
    counter: u32,
    length: usize,
    pieces: impl Iterator<Item = &'p [u8]>,
) -> Result<(), Error<F::Error, Refused>> {
    store.begin(length).map_err(Error::unchecked)?;
    for piece in pieces {
        store.write(piece).map_err(Error::unchecked)?;
    }
    let least = counter.saturating_add(1);
    store.finish(memory, |envelope| check(envelope, least).map(drop))
}
