//! Blobs that nobody means well, and calls that make no sense: refused, or answered, within
//! bounds and without a panic.
//!
//! Light enough for a machine of 32 bits, where sums overflow that do not elsewhere. With
//! more models, and with the trainer's, `tests/hostile.rs` of `koan-tests` does the same.

// Not all of what the tests of `koan-tests` share is used here.
#[allow(dead_code)]
#[path = "../../../src/mutate.rs"]
mod mutate;
#[allow(dead_code)]
#[path = "../../../src/random.rs"]
mod random;
#[allow(dead_code, unused_imports)]
#[path = "../../../src/reference/mod.rs"]
mod reference;

mod bounded;
mod builder;
mod examine;
mod hostile;
mod memory;
mod naive;
mod safe_calls;
mod unchecked;
