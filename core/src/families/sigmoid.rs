//! Sigmoid: σ(w·x + b), b from the normal law.

use super::Runs;
use super::maxout::project;
use super::projection::bias_divisor;
use crate::bank::{Bank, SIGMOID_BIAS};
use crate::generator::{Draws, Purpose, bank_stream};
use crate::numerics::{logistic, normal};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], wide: &mut [i32], sink: &mut dyn Sink) {
    let mut biases = Bytes::new(bank_stream(bank, Purpose::Offsets).draws(0));
    let unit = SIGMOID_BIAS / bias_divisor(bank.law);
    let mut runs = Runs::new(sink);
    project(bank, q, usize::from(bank.features), wide, |z| {
        let bias = normal(biases.next()) * unit;
        runs.push(logistic(bank.scale.apply_saturating(z + bias)));
    });
    runs.flush();
}

/// The bytes of consecutive draws, 8 to a draw.
struct Bytes {
    draws: Draws,
    bytes: u64,
    left: u8,
}

impl Bytes {
    fn new(draws: Draws) -> Self {
        Self { draws, bytes: 0, left: 0 }
    }

    #[inline]
    fn next(&mut self) -> u8 {
        if self.left == 0 {
            (self.bytes, self.left) = (self.draws.next(), 8);
        }
        let byte = self.bytes as u8;
        self.bytes >>= 8;
        self.left -= 1;
        byte
    }
}
