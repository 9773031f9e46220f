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
//! - [`Predictor`] runs a model: scores, classes, values, probabilities,
//!   features, codes, and a self test on the very device.
//! - [`Model`] is the checked view over the bytes; [`include_model!`] makes one
//!   when compiling, and fails the build on a bad blob.
//! - [`Buffers`] is the memory that prediction works in, owned or lent.
//! - [`Bank`] describes a run of features; the families make them.
//! - [`numerics`] and [`generator`] are the integer arithmetic below.
//!
//! Nothing here allocates, panics on input, or uses `unsafe`. After
//! [`Model::parse`] has accepted a blob, no call can panic, read out of bounds
//! or loop for longer than the model's declared sizes. Everything between the
//! input map and the scores is integer arithmetic.
//!
//! Cargo features choose what is built in: one for each family (`fourier`, `stump`,
//! `bin`, `maxout`, `sigmoid`, `conv`; the linear one is always there), `dense` for
//! projections other than the Hadamard transform, `kept` for banks that keep only
//! some of their features, `log` for input maps with a logarithm, and `widths` for
//! weights of other widths than 4 bits. All are on by default. A model that needs more
//! is refused when it is parsed, by [`Error::NotBuilt`]. Without `sections`, also on by
//! default, class names, notes, golden rows and calibrations are skipped: the model has
//! none.
//!
//! `small`, off by default and always on in the browser, is for firmware with little flash
//! or RAM: the same numbers from smaller code, with less stack and, for fourier features
//! under the Hadamard transform, shorter buffers ([`Model::buffer_sizes`] says how long).
//! A prediction takes longer. `cargo xtask cost` in the repository prints all of it.
//!
//! ```
//! use koan::{Model, OwnedBuffers, Predictor};
//!
//! // A tiny model: whether the first of two numbers is above 0.
//! # let blob = include_bytes!("../tests/tiny.koan");
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

/// Whether bytes count more than time: see the cargo feature `small`.
const SMALL: bool = cfg!(any(feature = "small", target_family = "wasm"));

/// Tests of all values take one in so many under Miri, which is slow.
#[cfg(test)]
const STRIDE: usize = if cfg!(miri) { 1021 } else { 1 };

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod bank;
mod buffers;
mod conv;
mod crc;
mod error;
mod families;
pub mod format;
pub mod generator;
mod head;
mod include;
mod input;
mod kept;
mod model;
pub mod numerics;
mod predictor;
mod probability;
#[cfg(target_feature = "simd128")]
mod simd;
mod sink;
pub mod steps;

pub use bank::{Bank, Family, Group, Groups, Law, Width, option};
pub use buffers::{Buffers, OwnedBuffers, Workspace};
pub use conv::Conv;
pub use error::{Error, Feature, Field};
pub use families::FEATURE_ONE;
pub use input::{Input, InputMap};
pub use kept::MAX_INDEX;
pub use model::{BufferSizes, Calibration, Model, Task};
#[cfg(not(any(feature = "small", target_family = "wasm")))]
pub use predictor::ROWS_TOGETHER;
pub use predictor::{GOLDEN_DIGEST_ROWS, Predictor, class_of};
