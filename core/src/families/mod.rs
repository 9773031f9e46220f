//! Features: each family's numbers, made as they are consumed.
//!
//! A family hands its features to a [`Sink`] in runs whose first index is a
//! multiple of 8, so that packed weights of any width start on a whole byte.

mod bin;
mod fourier;
mod linear;
mod maxout;
mod projection;
mod sigmoid;
mod stump;

use crate::bank::{Bank, Family};

/// The value of a feature that is fully on: 1.0 in Q15.
pub const FEATURE_ONE: i16 = 32767;

/// Features are handed over in runs of at most this many, unless they lie in a
/// transform block already.
const RUN: usize = 32;

/// What becomes of a bank's features.
///
/// Families take it as `dyn`: their code exists once, not for each sink.
pub(crate) trait Sink {
    /// Features `first..first + run.len()` of the bank; `first % 8 == 0`.
    fn run(&mut self, first: usize, run: &[i16]);
    /// Column `column` of the bank is [`FEATURE_ONE`], the other columns of its
    /// grid are 0. `slots` is the number of columns of a grid.
    fn one_hot(&mut self, column: usize, slots: usize);
    /// Unit or grid `index` of the bank chose `choice`.
    fn code(&mut self, _index: usize, _choice: u16) {}
}

/// Makes all features of `bank` from the quantised row `q`.
///
/// `block` and `wide` have the lengths of [`Bank::buffers`] at least.
pub(crate) fn generate(
    bank: &Bank<'_>,
    seed: u64,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    match bank.family {
        Family::Linear => linear::generate(q, sink),
        Family::Fourier => fourier::generate(bank, seed, q, block, sink),
        Family::Stump => stump::generate(bank, seed, q, sink),
        Family::Bin { slot_bits } => bin::generate(bank, slot_bits, seed, q, sink),
        Family::Maxout { pool, shared } => {
            maxout::generate(bank, usize::from(pool), usize::from(shared), seed, q, wide, sink);
        }
        Family::Sigmoid => sigmoid::generate(bank, seed, q, wide, sink),
    }
}

/// Collects features into runs for a sink.
struct Runs<'s> {
    sink: &'s mut dyn Sink,
    first: usize,
    length: usize,
    run: [i16; RUN],
}

impl<'s> Runs<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, first: 0, length: 0, run: [0; RUN] }
    }

    #[inline]
    fn push(&mut self, feature: i16) {
        if let Some(place) = self.run.get_mut(self.length) {
            *place = feature;
            self.length += 1;
        }
        if self.length == RUN {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if let Some(run) = self.run.get(..self.length) {
            self.sink.run(self.first, run);
        }
        self.first += self.length;
        self.length = 0;
    }
}

/// The bytes of consecutive draws, 8 to a draw: one for each feature.
struct FeatureBytes {
    stream: crate::generator::Stream,
    next: u64,
    bytes: u64,
}

impl FeatureBytes {
    fn new(stream: crate::generator::Stream) -> Self {
        Self { stream, next: 0, bytes: 0 }
    }

    #[inline]
    fn next(&mut self) -> u8 {
        if self.next.is_multiple_of(8) {
            self.bytes = self.stream.draw(self.next / 8);
        } else {
            self.bytes >>= 8;
        }
        self.next += 1;
        self.bytes as u8
    }
}
