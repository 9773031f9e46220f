//! Learning methods against independent references: figures that
//! `host/trainer/tests/reference/methods.py` prints, and laws that solutions obey.

mod common;
mod heads;
mod laws;
mod scores;
mod units;
mod weights;
