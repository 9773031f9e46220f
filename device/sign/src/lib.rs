//! Signed models: whoever can send bytes to a device cannot give it a model.
//!
//! An envelope is a header, the blob, and a signature over both. It is verified before the
//! parser sees a byte. All numbers are little-endian.
//!
//! | offset | bytes | what |
//! | --- | --- | --- |
//! | 0 | 4 | `KSGN` |
//! | 4 | 4 | version of the envelope's format: 1 |
//! | 8 | 4 | the key's id: the first four bytes of the public key |
//! | 12 | 4 | counter: higher than that of the model before |
//! | 16 | 4 | length of the blob |
//! | 20 | length | the blob |
//! | 20 + length | 64 | Ed25519 signature (RFC 8032) of all bytes before |
//!
//! The counter is what keeps an old model, rightly signed and with a fault that is known by
//! now, from coming back. No alloc, no unsafe.
//!
//! ```
//! use koan_sign::{ED25519, Envelope, Error, PublicKey};
//!
//! // As `koan keygen` has printed it.
//! const KEY: PublicKey = PublicKey([
//!     234, 74, 108, 99, 226, 156, 82, 10, 190, 245, 80, 123, 19, 46, 197, 249, 149, 71, 118, 174,
//!     190, 190, 123, 146, 66, 30, 234, 105, 20, 70, 210, 44,
//! ]);
//! // What `koan sign tiny.koan --key … --counter 3` has made. It comes over a line, or from flash.
//! let envelope = include_bytes!("tiny.signed");
//!
//! let found = Envelope::open(envelope, &[KEY], 3, ED25519)?;
//! assert_eq!((&found.blob[..4], found.counter), (&b"KOAN"[..], 3));
//! // Once it is in force, only a higher counter will do.
//! let replayed = Envelope::open(envelope, &[KEY], 4, ED25519);
//! assert_eq!(replayed.unwrap_err(), Error::Counter { found: 3, least: 4 });
//! # Ok::<(), Error>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod envelope;
mod error;
#[cfg(all(test, feature = "ed25519"))]
mod tests;

pub use envelope::{
    Envelope, FORMAT, HEADER, MAGIC, OVERHEAD, PublicKey, SIGNATURE, Verify, header,
};
pub use error::Error;

#[cfg(feature = "ed25519")]
mod ed25519;
#[cfg(feature = "ed25519")]
pub use ed25519::ED25519;
