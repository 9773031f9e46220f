//! Models that learn on the device, from a few labelled rows, in integers: the same bits
//! everywhere. No alloc, no unsafe, no floats.
//!
//! The model in flash stays as it is. A [`Learner`] keeps changes to its scores: for each class
//! one weight for each of some numbers that describe a row, the model's features. Classes that
//! the model does not know are further rows of weights. What was learned is written as a patch
//! of some hundred bytes, which belongs to this model and to the margin of its pace.
//!
//! The model must have three classes or more: one of two has a single score for both.
//!
//! ```
//! use koan_learn::{Learner, Mean, Pace, patch_bytes};
//!
//! koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");
//!
//! const FEATURES: usize = exercises::MODEL.features();
//! // Windows of a new exercise, as the sensor gives them; and some of any, without labels.
//! let shown = [[0.3f32; 384], [0.7; 384]];
//! let seen = [[0.1f32; 384], [-0.4; 384]];
//!
//! let mut predictor = exercises::predictor();
//! // 160 features; four exercises and a fifth one. Scores of 1 are 1 in real units.
//! let margin = (1.0 / exercises::MODEL.score_scale()) as i32;
//! let mut learner = Learner::<FEATURES, 5>::new(&exercises::MODEL, Pace { margin, slowness: 0 })?;
//! let mut features = [0; FEATURES];
//!
//! // What is common to all rows is taken off: of rows that need no label.
//! let mut mean = Mean::new();
//! for row in &seen {
//!     predictor.features(row, &mut features)?;
//!     mean.see(&features)?;
//! }
//! learner.centre_on(&mean.mean());
//!
//! for row in &shown {
//!     predictor.features(row, &mut features)?;
//!     learner.learn(predictor.scores(row)?, &features, 4)?;
//! }
//! predictor.features(&shown[1], &mut features)?;
//! let class = koan::class_of(learner.scores(predictor.scores(&shown[1])?, &features)?);
//! assert_eq!(class, 4);
//!
//! let mut patch = [0; patch_bytes(FEATURES, 5)];
//! let length = learner.write(&mut patch)?; // to be stored, and `read` after the next start
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod learner;
mod patch;
#[cfg(test)]
mod tests;

pub use learner::{Learner, Mean, Pace};
pub use patch::{PatchError, patch_bytes};
