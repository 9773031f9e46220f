//! Why an envelope is not opened.

use core::fmt;

/// Why an envelope is not opened. Nobody has looked at its blob.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// It does not start with `KSGN`.
    NotSigned,
    /// It is of a format that this build does not know.
    Format {
        /// The version found.
        found: u32,
    },
    /// It has more or fewer bytes than it says.
    Length {
        /// Bytes that it says.
        needed: u64,
        /// Bytes that there are.
        given: usize,
    },
    /// None of the device's keys has its id.
    Key {
        /// The id.
        id: [u8; 4],
    },
    /// A newer one has been there.
    Counter {
        /// Its counter.
        found: u32,
        /// The lowest that is accepted.
        least: u32,
    },
    /// The signature is not that of the key, or not of these bytes.
    Signature,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotSigned => f.write_str("no signed model: it does not start with KSGN"),
            Self::Format { found } => write!(f, "unknown envelope format {found}"),
            Self::Length { needed, given } => {
                write!(f, "the envelope has {given} bytes, it says {needed}")
            }
            Self::Key { id: [a, b, c, d] } => {
                write!(f, "signed with the unknown key {a:02x}{b:02x}{c:02x}{d:02x}")
            }
            Self::Counter { found, least } => {
                write!(f, "the envelope's counter is {found}, it must be {least} at least")
            }
            Self::Signature => f.write_str("the signature does not hold"),
        }
    }
}

impl core::error::Error for Error {}
