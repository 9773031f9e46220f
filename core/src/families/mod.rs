//! Features: each family's numbers, made as they are consumed.
//!
//! A family hands its features to a [`Sink`] in runs whose first index is a
//! multiple of 8, so that packed weights of any width start on a whole byte.

mod bin;
// In the browser and in small builds bytes count more than time: there a family has a
// second form, fourier one for each.
#[cfg_attr(any(feature = "small", target_family = "wasm"), path = "conv_small.rs")]
mod conv;
#[cfg_attr(target_family = "wasm", path = "fourier_browser.rs")]
#[cfg_attr(all(feature = "small", not(target_family = "wasm")), path = "fourier_small.rs")]
mod fourier;
#[cfg(not(target_family = "wasm"))]
mod fourier_kept;
mod linear;
#[cfg_attr(any(feature = "small", target_family = "wasm"), path = "maxout_small.rs")]
mod maxout;
#[cfg_attr(any(feature = "small", target_family = "wasm"), path = "projection_small.rs")]
mod projection;
mod row_order;
#[cfg_attr(any(feature = "small", target_family = "wasm"), path = "sigmoid_small.rs")]
mod sigmoid;
#[cfg_attr(any(feature = "small", target_family = "wasm"), path = "stump_small.rs")]
mod stump;
#[cfg(not(any(feature = "small", target_family = "wasm")))]
pub(crate) mod together;

use crate::bank::{Bank, Family};
use crate::sink::Sink;

/// The value of a feature that is fully on: 1.0 in Q15.
pub const FEATURE_ONE: i16 = 32767;

/// 2^16 divided by the golden ratio.
const GOLDEN: u32 = 40_503;

/// Features are handed over in runs of at most this many, unless they lie in a
/// transform block already.
const RUN: usize = if cfg!(all(feature = "small", not(target_family = "wasm"))) { 16 } else { 128 };

/// Makes all features of `bank` from the quantised row `q`.
///
/// `block` and `wide` have the lengths of [`Bank::buffers`] at least.
pub(crate) fn generate(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    // What is not built is refused by the parser; saying so again here keeps its
    // code out of the program.
    match bank.family {
        Family::Linear => linear::generate(bank, q, sink),
        #[cfg(not(target_family = "wasm"))]
        Family::Fourier if cfg!(feature = "fourier") => match bank.listed() {
            Some(list) => fourier_kept::generate(bank, list, q, block, sink),
            None => fourier::generate(bank, q, block, sink),
        },
        #[cfg(target_family = "wasm")]
        Family::Fourier if cfg!(feature = "fourier") => fourier::generate(bank, q, block, sink),
        Family::Stump if cfg!(feature = "stump") => stump::generate(bank, q, sink),
        Family::Bin { slot_bits } if cfg!(feature = "bin") => {
            bin::generate(bank, slot_bits, q, sink);
        }
        Family::Maxout { pool, shared } if cfg!(feature = "maxout") => {
            maxout::generate(bank, usize::from(pool), usize::from(shared), q, wide, sink);
        }
        Family::Sigmoid if cfg!(feature = "sigmoid") => sigmoid::generate(bank, q, wide, sink),
        Family::Conv(conv) if cfg!(feature = "conv") => {
            conv::generate(bank, conv, q, block, wide, sink);
        }
        _ => {}
    }
}

/// Offset `k` of the sequence that a bank's `draw` starts, in parts of 2^16 for a
/// turn: o + a·k + c·k(k − 1)/2, as `docs/format.md` has it for the family fourier.
fn offset_of(draw: u64, k: usize) -> i16 {
    let [o, a, c] = [draw as u32, (draw >> 16) as u32, (draw >> 32) as u32];
    let k = k as u32;
    // One of the factors is even: halved, no bit is lost.
    let pairs = (k >> 1).wrapping_mul(k.wrapping_sub(1) | 1);
    o.wrapping_add(a.wrapping_mul(k)).wrapping_add(c.wrapping_mul(pairs)) as i16
}

/// Σ φ of a run.
#[inline(never)]
fn sum(run: &[i16]) -> i32 {
    #[cfg(target_feature = "simd128")]
    return crate::simd::sum(run);
    #[cfg(not(target_feature = "simd128"))]
    run.iter().map(|&phi| i32::from(phi)).sum()
}

/// Zeros that the compiler does not know: no routine that clears memory.
fn unknown_zeros() -> [i16; RUN] {
    [core::hint::black_box(0); RUN]
}

/// Collects features into runs for a sink.
struct Runs<'r> {
    sink: &'r mut dyn Sink,
    first: usize,
    length: usize,
    total: i32,
    run: [i16; RUN],
}

impl<'r> Runs<'r> {
    fn new(sink: &'r mut dyn Sink) -> Self {
        Self { sink, first: 0, length: 0, total: 0, run: unknown_zeros() }
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

    /// As [`Runs::push`], once in the program.
    #[inline(never)]
    fn put(&mut self, feature: i16) {
        self.push(feature);
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
