//! What koan is tested against.
//!
//! - [`reference`](mod@reference): the whole model once more, naive, written
//!   from `docs/format.md`.
//! - [`arbitrary`]: random models and rows of every kind.
//! - [`golden`]: checked-in models with the exact scores that they must give.
//! - [`feature_map`]: the same for models without outputs, with their features.
//! - [`random`]: a small generator for tests that draw without shrinking.
//! - [`mutate`]: damaged blobs.
//! - [`tiny`]: the example of the documentation.
//! - [`page`]: what is computed in `docs/format.md`.
//!
//! A bad blob fails the build, here in two lines that differ in the file only:
//!
//! ```
//! koan::include_model!(mod model = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/digits.koan"));
//! ```
//!
//! ```compile_fail
//! koan::include_model!(mod model = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bad/garbage.bin"));
//! ```

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Those of what sits around a model on a device.
#[cfg(doctest)]
#[doc = include_str!("../../device/README.md")]
struct Device;

pub mod arbitrary;
pub mod feature_map;
pub mod mutate;
pub mod page;
pub mod random;
pub mod reference;
pub mod tiny;

pub use koan_golden as golden;
