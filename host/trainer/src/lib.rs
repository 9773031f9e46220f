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

mod atomic_write;
mod batch;
pub mod distributed;
mod doubts;
mod dual;
mod folds;
mod options;
mod progress;
mod report;
mod threads;
mod train;

// The inside. It is public for the command `koan`, the papers' experiments and the tests of this
// workspace only, and no promise is made about it.
#[doc(hidden)]
pub mod anomaly;
#[doc(hidden)]
pub mod baseline;
#[doc(hidden)]
pub mod blob;
#[doc(hidden)]
pub mod calibrate;
#[doc(hidden)]
pub mod embed;
#[doc(hidden)]
pub mod evaluate;
#[doc(hidden)]
pub mod features;
#[doc(hidden)]
pub mod ferns;
#[doc(hidden)]
pub mod fit;
#[doc(hidden)]
pub mod head;
#[doc(hidden)]
pub mod heap;
#[doc(hidden)]
pub mod lambda;
#[doc(hidden)]
pub mod learning_curve;
#[doc(hidden)]
pub mod listing;
#[doc(hidden)]
pub mod moments;
#[doc(hidden)]
pub mod nearest;
#[doc(hidden)]
pub mod normalise;
#[doc(hidden)]
pub mod panels;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod problem;
#[doc(hidden)]
pub mod prune;
#[doc(hidden)]
pub mod quantise;
#[doc(hidden)]
pub mod relevance;
#[doc(hidden)]
pub mod rice;
#[doc(hidden)]
pub mod ridge;
#[doc(hidden)]
pub mod row;
#[doc(hidden)]
pub mod select;
mod series;
#[doc(hidden)]
pub mod shrink;
#[doc(hidden)]
pub mod solve;
#[doc(hidden)]
pub mod sparse;
#[doc(hidden)]
pub mod stream;
#[doc(hidden)]
pub mod tune;
#[doc(hidden)]
pub mod unsupervised;
#[doc(hidden)]
pub mod validation;

pub use anomaly::Detection;
pub use atomic_write::{atomic_write, check_folder, check_writable, private_write};
pub use baseline::Baselines;
pub use evaluate::{Evaluation, evaluate};
pub use normalise::Kind as MapKind;
pub use options::{ConvOptions, FamilyName, Goal, Pooling, TrainOptions};
pub use plan::GroupPlan;
pub use progress::{Event, Progress};
pub use report::Report;
pub use shrink::{Attempt, ShrinkOptions, Shrunk, shrink};
pub use solve::Loss;
pub use stream::{Checkpoint, StreamOptions, train_stream};
pub use threads::with_threads;
pub use train::{Trained, train};
pub use tune::{
    Core, Limits, Metric, Outcome, Point, Rung, Space, TuneOptions, Tuned, train_usual, tune,
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
