//! Features: each family's numbers, made as they are consumed.
//!
//! A family hands its features to a [`Sink`] in runs whose first index is a
//! multiple of 8, so that packed weights of any width start on a whole byte.

mod bin;
mod conv;
mod fourier;
mod linear;
mod maxout;
mod projection;
mod sigmoid;
mod stump;

use crate::bank::{Bank, Family};
use crate::sink::Sink;

/// The value of a feature that is fully on: 1.0 in Q15.
pub const FEATURE_ONE: i16 = 32767;

/// Features are handed over in runs of at most this many, unless they lie in a
/// transform block already.
const RUN: usize = 128;

/// Makes all features of `bank` from the quantised row `q`.
///
/// `block` and `wide` have the lengths of [`Bank::buffers`] at least.
pub(crate) fn generate(
    bank: &Bank<'_>,
    seed: u64,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut Sink<'_, '_>,
) {
    // What is not built is refused by the parser; saying so again here keeps its
    // code out of the program.
    if !bank.family.is_built() {
        return;
    }
    match bank.family {
        Family::Linear => linear::generate(q, sink),
        Family::Fourier => fourier::generate(bank, seed, q, block, sink),
        Family::Stump => stump::generate(bank, seed, q, sink),
        Family::Bin { slot_bits } => bin::generate(bank, slot_bits, seed, q, sink),
        Family::Maxout { pool, shared } => {
            maxout::generate(bank, usize::from(pool), usize::from(shared), seed, q, wide, sink);
        }
        Family::Sigmoid => sigmoid::generate(bank, seed, q, wide, sink),
        Family::Conv(conv) => conv::generate(bank, conv, seed, q, block, wide, sink),
    }
}

/// Σ φ of a run.
#[inline(never)]
fn sum(run: &[i16]) -> i32 {
    #[cfg(target_feature = "simd128")]
    let (mut sum, run) = {
        let (sixteens, rest) = run.as_chunks::<16>();
        (crate::simd::sum(sixteens), rest)
    };
    #[cfg(not(target_feature = "simd128"))]
    let mut sum = 0;
    let (eights, rest) = run.as_chunks::<8>();
    sum += rest.iter().map(|&phi| i32::from(phi)).sum::<i32>();
    for &eight in eights {
        let [a, b, c, d, e, f, g, h] = eight;
        sum += i32::from(a) + i32::from(b) + i32::from(c) + i32::from(d);
        sum += i32::from(e) + i32::from(f) + i32::from(g) + i32::from(h);
    }
    sum
}

/// Collects features into runs for a sink.
struct Runs<'r, 'm, 's> {
    sink: &'r mut Sink<'m, 's>,
    first: usize,
    length: usize,
    total: i32,
    run: [i16; RUN],
}

impl<'r, 'm, 's> Runs<'r, 'm, 's> {
    fn new(sink: &'r mut Sink<'m, 's>) -> Self {
        Self { sink, first: 0, length: 0, total: 0, run: [0; RUN] }
    }

    #[inline]
    fn push(&mut self, feature: i16) {
        if let Some(place) = self.run.get_mut(self.length) {
            *place = feature;
            self.length += 1;
            self.total += i32::from(feature);
        }
        if self.length == RUN {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if let Some(run) = self.run.get(..self.length) {
            self.sink.run(self.first, run, self.total);
        }
        self.first += self.length;
        self.length = 0;
        self.total = 0;
    }
}
