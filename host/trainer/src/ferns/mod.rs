//! Ferns: chosen one after the other from a large pool, each where the ones before it leave
//! the most to be done (boosting, *Algorithm 1.2* of the pruning paper with Newton steps);
//! then the weights of all are fitted together and rounded.
//!
//! A row meets one weight of each fern and output. So no Gram matrix is formed: everything
//! is sums over the rows of a leaf.

mod chosen;
mod fit;
mod grow;
mod leaves;
mod objective;
mod pool;

pub use chosen::{grown, is_open, work};
pub use fit::{fit_ferns, is_alone};
pub use pool::POOL;

/// Comparisons of a fern, at most.
pub const MOST_DEPTH: u8 = 4;
/// Leaves of a fern, at most.
const MOST_LEAVES: usize = 1 << MOST_DEPTH;

#[cfg(test)]
mod tests;
