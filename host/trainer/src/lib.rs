//! Training koan models: from a table to a checked blob.
//!
//! [`train()`] makes a model of a table by given options, [`tune()`] searches for the options
//! within limits of flash, RAM and instructions, [`shrink()`] makes a trained model smaller,
//! [`train_stream`] trains on files that are larger than memory, [`distributed`] on rows in parts
//! on any number of machines, and [`evaluate()`] judges a blob. Tables come from `koan_data`: files, or columns in memory.
//!
//! Features are computed by the crate `koan` itself, so what was trained is what runs: there
//! is no second implementation that could drift.
//!
//! ```
//! use koan_data::TableBuilder;
//! use koan_trainer::{FamilyName, Progress, TrainOptions, evaluate, train};
//!
//! let x: Vec<f32> = (0..200).map(|i| i as f32 / 10.0).collect();
//! let state: Vec<&str> = x.iter().map(|x| if x.sin() > 0.0 { "on" } else { "off" }).collect();
//! let table =
//!     TableBuilder::new(200).column("x", &x[..]).classes("state", &state[..]).build()?;
//! let options = TrainOptions {
//!     families: vec![FamilyName::Fourier],
//!     features: vec![64],
//!     ..TrainOptions::default()
//! };
//! let trained = train(&table, None, &options, &Progress::none())?;
//! assert!(trained.blob.len() < 200);
//! assert!(evaluate(&trained.blob, &table)?.error < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anomaly;
mod atomic_write;
mod baseline;
mod batch;
mod beyond;
mod blob;
mod calibrate;
mod check;
pub mod distributed;
mod doubts;
mod dual;
mod embed;
mod evaluate;
mod features;
mod ferns;
mod fit;
mod folds;
mod front;
mod head;
mod heap;
mod lambda;
mod learning_curve;
mod listing;
mod map_choice;
mod moments;
mod nearest;
mod normalise;
mod options;
mod panels;
mod parallel;
mod percent;
mod plan;
mod point;
mod problem;
mod products;
mod progress;
mod prune;
mod quantise;
mod relevance;
mod report;
mod rice;
mod ridge;
mod row;
mod row_products;
mod scorer;
mod select;
mod series;
mod shrink;
mod solve;
mod sparse;
mod stream;
mod threads;
mod train;
pub mod tune;
mod unsupervised;
mod validation;
mod vector;

#[doc(hidden)]
pub mod internal;

pub use anomaly::Detection;
pub use atomic_write::{AtomicFile, atomic_write, check_folder, check_writable, private_write};
pub use baseline::Baselines;
pub use evaluate::{Evaluation, evaluate};
pub use normalise::Kind as MapKind;
pub use options::{ConvOptions, FamilyName, Goal, Pooling, TrainOptions};
pub use plan::GroupPlan;
pub use point::Point;
pub use progress::{Event, Progress};
pub use report::{Faster, Report, Smaller};
pub use shrink::{ShrinkOptions, Shrunk, shrink};
pub use solve::Loss;
pub use stream::{Checkpoint, StreamOptions, train_stream};
pub use threads::with_threads;
pub use train::{Trained, train};
pub use tune::{
    Core, Limits, Metric, Outcome, Rung, Space, TuneOptions, Tuned, code_bytes, train_usual, tune,
};

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
    /// A parameter that has no such value, or does not go with the others.
    #[error("{problem}")]
    Parameter {
        /// The field of the options.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Rows, or a model, that this cannot be done with.
    #[error("{0}")]
    Impossible(String),
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

impl Error {
    /// What is wrong with the parameter of that name.
    pub(crate) fn parameter(name: &'static str, problem: impl Into<String>) -> Self {
        Self::Parameter { name, problem: problem.into() }
    }
}
