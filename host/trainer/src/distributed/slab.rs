//! Parts of sums, to be merged apart.

use serde::{Deserialize, Serialize};

use super::{from_bytes, to_bytes};
use crate::Error;

/// First bytes of a slab; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANSLB\x01";

/// Some of the numbers of [`Sums`](super::Sums).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slab {
    pub(super) plan: u128,
    /// The first of them.
    pub(super) start: u64,
    pub(super) numbers: Vec<i128>,
}

impl Slab {
    /// Adds the same slab of the sums of other rows.
    ///
    /// # Errors
    /// Another slab, or one of another plan.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let key = |slab: &Self| (slab.plan, slab.start, slab.numbers.len());
        if key(self) != key(other) {
            return Err(Error::Impossible("slabs of other places or plans".into()));
        }
        for (sum, &more) in self.numbers.iter_mut().zip(&other.numbers) {
            *sum = sum.checked_add(more).ok_or_else(|| {
                Error::Impossible("sums that are too large to be added up exactly".into())
            })?;
        }
        Ok(())
    }

    /// The slab as bytes.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        to_bytes(MAGIC, self)
    }

    /// A slab from its bytes.
    ///
    /// # Errors
    /// Bytes of something else, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        from_bytes(MAGIC, bytes, "a slab of sums")
    }
}
