//! Sigmoid: σ(w·x + b), b from the normal law.

use super::Runs;
use super::maxout::{Units, project};
use crate::bank::{Bank, Law, SIGMOID_BIAS};
use crate::generator::{Draws, Purpose, bank_draw, bank_stream};
use crate::numerics::{NORMAL_ONE, logistic, normal};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], wide: &mut [i32], sink: &mut dyn Sink) {
    let mut sigmoids = Sigmoids {
        bank,
        unit: bias_unit(bank.law),
        biases: Bytes::new(bank_stream(bank, Purpose::Offsets).draws(0)),
        runs: Runs::new(sink),
    };
    project(bank, q, 1, wide, &mut sigmoids);
    sigmoids.runs.flush();
}

/// The bias of feature `index`, as [`generate`] has it.
pub(super) fn bias(bank: &Bank<'_>, index: usize) -> i32 {
    let draw = bank_draw(bank, Purpose::Offsets, index as u32 / 8);
    normal((draw >> (8 * (index % 8))) as u8) * bias_unit(bank.law)
}

struct Sigmoids<'r, 'b> {
    bank: &'b Bank<'b>,
    /// What a bias is a multiple of.
    unit: i32,
    biases: Bytes,
    runs: Runs<'r>,
}

impl Units for Sigmoids<'_, '_> {
    #[inline]
    fn start(&mut self, index: usize) {
        if self.bank.is_kept() {
            let stream = bank_stream(self.bank, Purpose::Offsets);
            self.biases = Bytes::new(stream.draws(index as u64 / 8));
            // As many as lie in front of it in its draw.
            for _ in 0..index % 8 {
                self.biases.next();
            }
        }
    }

    #[inline]
    fn push(&mut self, z: i32) {
        let bias = normal(self.biases.next()) * self.unit;
        self.runs.push(logistic(self.bank.scale.apply_saturating(z + bias)));
    }
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

/// What a bias drawn from the normal law is multiplied by under a law: weights
/// from the normal table are `NORMAL_ONE` times as large as weights of ±1.
const fn bias_unit(law: Law) -> i32 {
    match law {
        Law::Gaussian => SIGMOID_BIAS,
        _ => SIGMOID_BIAS / NORMAL_ONE,
    }
}
