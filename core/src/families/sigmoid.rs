//! Sigmoid: σ(w·x + b), b from the normal law.

use super::Runs;
use super::maxout::{Units, project};
use super::projection::bias_divisor;
use crate::bank::{Bank, SIGMOID_BIAS};
use crate::generator::{Draws, Purpose, Stream, bank_stream};
use crate::numerics::{NORMAL, logistic};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    seed: u64,
    q: &[i16],
    wide: &mut [i32],
    sink: &mut Sink<'_, '_>,
) {
    let mut sigmoids = Sigmoids {
        bank,
        unit: SIGMOID_BIAS / bias_divisor(bank.law),
        biases: Bytes::new(bank_stream(seed, bank.index, Purpose::Offsets)),
        runs: Runs::new(sink),
    };
    project(bank, seed, q, 1, wide, &mut sigmoids);
    sigmoids.runs.flush();
}

struct Sigmoids<'r, 'm, 's, 'b> {
    bank: &'b Bank<'b>,
    /// What a bias is a multiple of.
    unit: i32,
    biases: Bytes,
    runs: Runs<'r, 'm, 's>,
}

impl Units for Sigmoids<'_, '_, '_, '_> {
    #[inline]
    fn start(&mut self, index: usize) {
        self.biases.seek(index);
    }

    #[inline]
    fn push(&mut self, z: i32) {
        let bias = i32::from(NORMAL[usize::from(self.biases.next())]) * self.unit;
        self.runs.push(logistic(self.bank.scale.apply_saturating(z + bias)));
    }
}

/// The bytes of consecutive draws, 8 to a draw.
struct Bytes {
    stream: Stream,
    draws: Draws,
    bytes: u64,
    left: u8,
}

impl Bytes {
    fn new(stream: Stream) -> Self {
        Self { draws: stream.draws(0), stream, bytes: 0, left: 0 }
    }

    /// Lets byte `index` be the next one.
    fn seek(&mut self, index: usize) {
        self.draws = self.stream.draws(index as u64 / 8);
        self.left = 0;
        // As many as lie in front of it in its draw.
        for _ in 0..index % 8 {
            self.next();
        }
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
