//! Training on rows in parts, on any number of machines: the same bytes, whatever the parts,
//! their order, and how what was made of them is merged.
//!
//! 1. [`Sample`]: the training rows with the smallest hashes of their content, and counts of
//!    all; made part by part, and merged.
//! 2. [`plan`]: from the sample everything is chosen once: features, scales, roles of rows.
//! 3. [`Sums`]: of products of integer features, and of targets and weights as integers on a
//!    scale of the plan's; made part by part, and merged. Integers add up exactly in any order.
//! 4. [`finish`]: the plan and the sums make the model.
//!
//! What is chosen and solved in floating point happens in steps 2 and 4, each on one machine.
//!
//! For the logistic loss a [`Descent`] takes the place of the sums: until it is done, it gives a
//! [`Step`] out, of which [`Gradients`] are made part by part, and merged; they are sums of
//! integers too, and the descent goes on from them.
//!
//! A [`Verdict`] says how good the model is on the test rows, if the [`Roles`] leave some out.

mod descent;
#[cfg(test)]
mod descent_tests;
mod finish;
mod gradients;
mod integers;
mod plan;
mod roles;
mod rows;
mod sample;
mod schema;
mod slab;
mod step;
mod sums;
#[cfg(test)]
mod tests;
mod verdict;

pub use descent::Descent;
pub(crate) use finish::finish_with;
pub use finish::{Finished, Summed, finish};
pub use gradients::Gradients;
pub(crate) use plan::check_options;
pub use plan::{Plan, plan};
pub use roles::Roles;
pub use rows::MAX_ROWS;
pub use sample::Sample;
pub use slab::Slab;
pub use step::Step;
pub use sums::Sums;
pub use verdict::Verdict;

use koan_data::Table;
use koan_data::stream::Block;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// Rows to add: a table, and the name of each row's group, none where rows are in none. A
/// missing number is NaN.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// The rows.
    pub table: &'b Table,
    /// The group of each row.
    pub groups: &'b [Vec<u8>],
}

impl<'b> From<&'b Block> for Batch<'b> {
    fn from(block: &'b Block) -> Self {
        Self { table: &block.table, groups: &block.groups }
    }
}

impl Batch<'_> {
    /// Refuses rows that lack what the others have.
    fn check(&self, inputs: usize, weighted: bool, grouped: bool) -> Result<(), Error> {
        let rows = self.table.rows();
        let wrong = |problem: &str| Err(Error::Impossible(problem.into()));
        if self.table.inputs != inputs {
            let found = self.table.inputs;
            return wrong(&format!("rows of {found} inputs, the others have {inputs}"));
        }
        match (self.table.weights.is_some(), weighted) {
            (true, false) => return wrong("these rows have weights, the others none"),
            (false, true) => return wrong("these rows have no weights, the others have"),
            _ => {}
        }
        if self.groups.len() != if grouped { rows } else { 0 } {
            return wrong("all rows have groups, or none");
        }
        Ok(())
    }
}

/// `value` in bytes that begin with `magic` and end with a check sum.
pub(crate) fn to_bytes<T: Serialize>(magic: &[u8; 8], value: &T) -> Result<Vec<u8>, Error> {
    let bytes = postcard::to_extend(value, magic.to_vec());
    let mut bytes = bytes.map_err(|error| Error::Impossible(error.to_string()))?;
    let sum = crc32fast::hash(&bytes[magic.len()..]);
    bytes.extend(sum.to_le_bytes());
    Ok(bytes)
}

/// What [`to_bytes`] made; `what` names it in messages.
fn from_bytes<T: DeserializeOwned>(magic: &[u8; 8], bytes: &[u8], what: &str) -> Result<T, Error> {
    let damaged = || Error::Impossible(format!("the bytes of {what} are damaged"));
    let body = bytes.strip_prefix(magic).ok_or_else(|| {
        Error::Impossible(format!("these bytes are not those of {what} of this version of koan"))
    })?;
    let (body, sum) = body.split_last_chunk::<4>().ok_or_else(damaged)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    postcard::from_bytes(body).map_err(|_| damaged())
}
