//! Integer arithmetic with stated error bounds.
//!
//! Everything after the input map is integers, so every target gives the same
//! bits. Each function states its largest error against the real function, and
//! a test checks that bound over all inputs, or densely where there are too many.

mod fixed;
mod log;
mod quantiles;
mod tables;

pub(crate) use fixed::quotient;
pub use fixed::{Scale, fixed_point};
pub use log::{LOG_BITS, log_one_plus};
pub use quantiles::{
    CAUCHY, CAUCHY_ONE, NORMAL, NORMAL_ONE, RECIPROCAL_GAMMA2, RECIPROCAL_ONE, uniform,
};
pub(crate) use quantiles::{cauchy, normal, reciprocal_gamma2};
#[cfg(target_feature = "simd128")]
pub(crate) use tables::QUARTER;
pub(crate) use tables::cosine;
pub use tables::{COSINE, sigmoid};
