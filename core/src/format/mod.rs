//! The blob, read in place and checked once. `docs/format.md` specifies every
//! byte; this module is its executable form.
//!
//! [`Model::parse`](crate::Model::parse) is `const`:
//! [`include_model!`](crate::include_model) fails the build on a bad blob. After it has
//! succeeded, the readers here cannot fail; they are written so that even a wrong offset
//! reads zeros and never panics.

pub(crate) mod bank;
pub(crate) mod conv;
pub(crate) mod family;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod model;
mod parse;
pub(crate) mod sections;
pub(crate) mod series;
pub(crate) mod work;

pub use crate::bytes::{Fault, Refusal};
pub use conv::Conv;
pub use family::option;
pub use list::MAX_INDEX;
pub use parse::Limits;
pub use series::{Gain, Series};
pub use work::MAX_WORK;

/// The first four bytes of every blob.
pub const MAGIC: [u8; 4] = *b"KOAN";
/// The format version that this build reads and writes.
pub const VERSION: u8 = 1;
/// The most features (grids of bins, ferns) that a model may have, over all its
/// banks: so many products an accumulator holds for certain.
pub const MAX_FEATURES: u32 = 65_535;
/// The most columns that a model's head may have weights for: features,
/// slots of grids, and leaves of ferns.
pub const MAX_COLUMNS: u32 = 1 << 20;

/// Offsets of the fixed fields.
pub mod field {
    /// Format version, u8.
    pub const VERSION: usize = 4;
    /// Flags, u8: see [`flag`](super::flag).
    pub const FLAGS: usize = 5;
    /// Number of inputs, u16.
    pub const INPUTS: usize = 6;
    /// Number of outputs, u8; 0 for a model that is features only.
    pub const OUTPUTS: usize = 8;
    /// Seed, u64.
    pub const SEED: usize = 9;
    /// Generator check word, u16.
    pub const CHECK_WORD: usize = 17;
    /// First input map.
    pub const INPUT_MAP: usize = 19;
}

/// Bits of the flags byte; the others must be zero.
pub mod flag {
    /// The outputs are class scores.
    pub const CLASSIFICATION: u8 = 1;
    /// One input map for each input instead of one for all.
    pub const MAP_PER_INPUT: u8 = 2;
    /// One input map, with a gain for each input. Together with the former: a map for each
    /// channel of a row.
    pub const GAIN_PER_INPUT: u8 = 4;
    /// Both of the former.
    pub const MAP_PER_CHANNEL: u8 = MAP_PER_INPUT | GAIN_PER_INPUT;
}

/// Tags of the optional sections. A tag of 128 or more must be understood.
pub mod section {
    /// Class names, UTF-8, separated by line feeds.
    pub const CLASS_NAMES: u8 = 1;
    /// Notes of the trainer: UTF-8 JSON.
    pub const NOTES: u8 = 2;
    /// Golden rows: inputs (f32) and their exact scores (i32), row by row.
    pub const GOLDEN_ROWS: u8 = 3;
    /// Calibration of the probabilities: slope and intercept, f32 each.
    pub const CALIBRATION: u8 = 4;
}

/// Bytes behind the sections: golden digest and CRC-32.
pub(crate) const TRAILER: usize = 8;
