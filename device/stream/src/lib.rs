//! Koan models over a stream of samples: from raw numbers of a sensor to an answer that does
//! not flicker. No alloc, no unsafe, no floats but the samples'.
//!
//! - [`Window`] keeps the last samples, and says when the next window is whole. Windows are
//!   those of `koan train --window SAMPLES --stride HOP`.
//! - [`Stream`] runs a model on every window. Convolutions only look at what is new in it, and
//!   give the same bits as the whole window.
//! - [`Steady`] makes a steady class of the scores of windows: votes, hysteresis, a minimum of
//!   sureness.
//! - [`Alarm`] adds up the scores of a detector of anomalies over time.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod alarm;
mod cache;
mod fit;
mod steady;
mod stream;
mod window;

pub use alarm::Alarm;
pub use cache::cache_words;
pub use fit::{ram_bytes, suits};
pub use steady::{Rules, Steady, margin_of};
pub use stream::Stream;
pub use window::Window;
