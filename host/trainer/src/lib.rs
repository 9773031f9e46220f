//! Training koan models: from a table to a checked blob.
//!
//! [`data`] reads tables, [`train()`] makes a model of one, [`evaluate`] judges
//! it. Features are computed by the core itself ([`features`]), so what was
//! trained is what runs: there is no second implementation that could drift.

pub mod anomaly;
mod atomic_write;
pub mod baseline;
pub mod blob;
pub mod calibrate;

pub mod embed;
pub mod evaluate;
pub mod features;
pub mod fit;
pub mod head;
pub mod heap;
pub mod judge;
pub mod listing;
pub mod moments;
pub mod normalise;
pub mod options;
pub mod panels;
pub mod plan;
pub mod problem;
pub mod progress;
pub mod prune;
pub mod quantise;
pub mod relevance;
mod report;
pub mod rice;
pub mod ridge;
pub mod row;
pub mod select;
pub mod shrink;
pub mod solve;
pub mod sparse;
pub mod stream;
pub mod study;
mod train;
pub mod tune;
pub mod unsupervised;

pub use atomic_write::{atomic_write, check_folder, check_writable};
pub use options::{ConvOptions, FamilyName, Goal, Pooling, TrainOptions};
pub use progress::{Event, Progress};
pub use report::Report;
pub use train::{Trained, train};

/// Why training or evaluation stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The core refused a model or a row.
    #[error(transparent)]
    Model(#[from] koan::Error),
    /// A data file could not be read.
    #[error(transparent)]
    Data(#[from] koan_data::DataError),
    /// Options that do not go together.
    #[error("{0}")]
    Options(String),
    /// A checkpoint that is of no use, or cannot be written.
    #[error("{file}: the checkpoint is {problem}")]
    Checkpoint {
        /// The checkpoint.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Whoever listens to the progress wanted the work to end.
    #[error("cancelled")]
    Cancelled,
    /// More than the format can hold, or than training can handle.
    #[error("{found} {what} are too many: at most {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
}
