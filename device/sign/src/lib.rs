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
//! # let blob = include_bytes!("../../../core/tests/tiny.koan");
//! # let pair = ed25519_compact::KeyPair::from_seed(ed25519_compact::Seed::new([7; 32]));
//! # let key = PublicKey(*pair.pk);
//! # let mut envelope = koan_sign::header(&key, 3, blob.len() as u32).to_vec();
//! # envelope.extend(blob);
//! # let signature = pair.sk.sign(&envelope, None);
//! # envelope.extend(*signature);
//! // What `koan sign --counter 3` has made.
//! let found = Envelope::open(&envelope, &[key], 3, ED25519)?;
//! assert_eq!((found.blob, found.counter), (&blob[..], 3));
//! // Once it is in force, only a higher counter will do.
//! let replayed = Envelope::open(&envelope, &[key], 4, ED25519);
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

pub use envelope::{Envelope, FORMAT, HEADER, OVERHEAD, PublicKey, SIGNATURE, Verify, header};
pub use error::Error;

#[cfg(feature = "ed25519")]
mod ed25519;
#[cfg(feature = "ed25519")]
pub use ed25519::ED25519;
