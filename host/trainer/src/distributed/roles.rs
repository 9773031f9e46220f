//! What a row is for, by a hash of its content: the same on every machine, in every part.

use koan_data::{Table, Target};
use serde::{Deserialize, Serialize};
use wyhash::final3::{make_secret, wyhash};

use super::Batch;
use crate::Error;

/// Which rows train and which test, and in which order rows are taken for the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    seed: u64,
    /// Hashes below this test.
    threshold: u64,
}

impl Roles {
    /// Each row, or each group where rows have them, tests with the probability
    /// `test_fraction`.
    ///
    /// # Errors
    /// A fraction that is not from 0 to below 1.
    pub fn new(seed: u64, test_fraction: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&test_fraction) {
            let problem = format!("a test fraction of {test_fraction} is not within 0 to 1");
            return Err(Error::parameter("test_fraction", problem));
        }
        Ok(Self { seed, threshold: (test_fraction * 2f64.powi(64)) as u64 })
    }

    /// What computes the hashes.
    pub(super) fn hasher(&self) -> Hasher {
        let secret = |salt: u64| make_secret(self.seed ^ salt);
        Hasher {
            roles: *self,
            order: [secret(0x5a_3b1e), secret(0x0bde)],
            test: secret(0x7e57),
            content: Vec::new(),
        }
    }
}

/// Hashes rows.
pub(super) struct Hasher {
    roles: Roles,
    order: [[u64; 4]; 2],
    test: [u64; 4],
    content: Vec<u8>,
}

impl Hasher {
    /// The hash of a row's content: inputs, target, weight and group. 128 bits: two rows
    /// with the same one are the same row.
    pub fn row(&mut self, batch: &Batch<'_>, row: usize) -> u128 {
        self.content.clear();
        let Table { target, weights, .. } = batch.table;
        for &value in batch.table.row(row) {
            self.content.extend_from_slice(&canonical(value));
        }
        match target {
            Target::Classes { labels } => self.content.extend(labels[row].to_le_bytes()),
            Target::Values(values) => self.content.extend(canonical(values[row])),
        }
        if let Some(weights) = weights {
            self.content.extend(canonical(weights[row]));
        }
        if let Some(group) = batch.groups.get(row) {
            self.content.extend_from_slice(group);
        }
        let half = |secret| u128::from(wyhash(&self.content, self.roles.seed, secret));
        half(self.order[0]) << 64 | half(self.order[1])
    }

    /// Whether the row with that hash is for the test; rows of a group all are or none.
    pub fn tests(&self, batch: &Batch<'_>, row: usize, hash: u128) -> bool {
        if self.roles.threshold == 0 {
            return false;
        }
        let hash = hash.to_le_bytes();
        let key = batch.groups.get(row).map_or(&hash[..], Vec::as_slice);
        wyhash(key, self.roles.seed, self.test) < self.roles.threshold
    }
}

/// The bytes of a number, of which 0 and NaN have several.
fn canonical(value: f32) -> [u8; 4] {
    let value = if value.is_nan() { f32::NAN } else { value + 0.0 };
    value.to_le_bytes()
}
