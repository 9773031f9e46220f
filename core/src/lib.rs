//! Koan models: a seed and a few weights.
//!
//! The random part of a koan model (projections, thresholds, grids) is never
//! stored. It is drawn from the model's seed by an integer generator, one
//! feature at a time, and added to the scores with the feature's weight. So a
//! model is hundreds of bytes to a few kilobytes, needs no heap and no float
//! unit, and gives the same bits on every target.
//!
//! From the top to the bottom:
//!
//! - [`include_model!`] builds a model in, checked when compiling: the program contains
//!   what this model needs of the crate, and nothing else.
//! - [`Predictor`] runs a model: scores, classes, values, probabilities,
//!   features, codes, and a self test on the very device. Its type says which models it
//!   serves, and whether time or bytes count more ([`Profile`]).
//! - [`Model`] is the checked view over the bytes of a model that comes when the program
//!   runs; [`Model::work`] and [`Model::buffer_sizes`] say beforehand what it will take.
//! - [`Buffers`] is the memory that prediction works in, owned or lent.
//! - [`Bank`] describes a run of features; the families make them.
//! - [`numerics`] and [`generator`] are the integer arithmetic below.
//!
//! Nothing here allocates, panics on input, or uses `unsafe`. After
//! [`Model::parse`] has accepted a blob, no call can panic, read out of bounds
//! or loop for longer than the model's declared work and the length of its blob
//! allow. Everything between the input map and the scores is integer arithmetic.
//!
//! Two cargo features, both off: `micromath` adds a function, probabilities through a faster,
//! coarser exponential; `defmt` has errors, classes and sizes in defmt's logs.
//!
//! ```
//! use koan::{Model, OwnedBuffers, Predictor};
//!
//! // A tiny model: whether the first of two numbers is above 0. From flash, or over some line.
//! let blob: &[u8] = include_bytes!("../tests/tiny.koan");
//! let model = Model::parse(blob)?;
//! let mut predictor = Predictor::new(model, OwnedBuffers::<2, 0, 0, 1>::new())?;
//! predictor.self_test()?; // this build computes what the trainer computed
//! let class = predictor.classify(&[0.7f32, -1.2])?;
//! assert_eq!(model.class_name(class), Some("right"));
//! assert!(predictor.classify(&[0.3f32]).is_err()); // "row has length 1, the model needs 2"
//! # Ok::<(), koan::Error>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

/// Tests of all values take one in so many under Miri, which is slow.
#[cfg(test)]
const STRIDE: usize = if cfg!(miri) { 1021 } else { 1 };

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod buffers;
mod bytes;
mod crc;
mod error;
mod families;
pub mod format;
pub mod generator;
mod head;
mod include;
mod input;
mod needs;
pub mod numerics;
mod predictor;
mod probability;
#[cfg(target_feature = "simd128")]
mod simd;
mod sink;
pub mod steps;
mod weigh;

pub use buffers::{Buffers, OwnedBuffers, Workspace};
pub use crc::Crc32;
pub use error::{Error, Field};
pub use format::bank::Bank;
pub use format::family::{Family, Group, Groups, Law, Width};
pub use format::map::InputMap;
pub use format::model::{BufferSizes, Model, Task};
pub use format::sections::{Calibration, GoldenRows};
pub use format::{Conv, Gain, Limits, MAX_INDEX, Series, option};
pub use input::Input;
#[doc(hidden)]
pub use needs::Only;
pub use needs::{Any, Form, Needs, Profile, Small};
pub use predictor::{GOLDEN_DIGEST_ROWS, Predictor, class_of};
pub use sink::FEATURE_ONE;
