//! Sigmoid: see `maxout_small.rs`.

use super::maxout;
use crate::bank::Bank;
use crate::sink::Sink;

pub(super) fn generate(bank: &Bank<'_>, q: &[i16], wide: &mut [i32], sink: &mut dyn Sink) {
    maxout::generate(bank, 1, 0, q, wide, sink);
}
