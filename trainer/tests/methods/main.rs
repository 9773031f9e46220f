//! Learning methods against independent references: figures that
//! `trainer/tests/reference/methods.py` prints, and laws that solutions obey.

mod common;
mod heads;
mod laws;
mod rivals;
mod scores;
mod weights;
