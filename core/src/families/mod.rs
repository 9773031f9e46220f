//! Features: each family's numbers, made as they are consumed.
//!
//! A family hands its features to a [`Sink`] in runs whose first index is a
//! multiple of 8, so that packed weights of any width start on a whole byte.

mod bin;
mod conv;
mod dense;
mod drawn;
mod fern;
mod fourier;
pub(crate) mod hadamard;
mod linear;
mod row_order;
mod series;
mod stump;
mod units;

pub(crate) use self::conv::Anew;
pub use self::conv::{Cell, Cells};
pub use self::drawn::Drawn;
pub use self::fern::{Comparison, comparisons};
use crate::format::bank::Bank;
use crate::format::family::Family;
use crate::needs::{Needs, Profile, serves};
use crate::sink::{RUN, SMALL_RUN, Sink};

/// Makes all features of `bank` from the quantised row `q`; `cells` fills those of convolutions.
///
/// `block` and `wide` have the lengths of [`Bank::buffers`] at least.
pub(crate) fn generate<P: Profile>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
    cells: &mut impl Cells,
) {
    if P::SMALL {
        generate_in_runs::<P, SMALL_RUN>(bank, q, block, wide, sink, cells);
    } else {
        generate_in_runs::<P, RUN>(bank, q, block, wide, sink, cells);
    }
}

/// The same in runs of `N` words of features.
#[inline]
fn generate_in_runs<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
    cells: &mut impl Cells,
) {
    // What the profile does not serve is not in the program.
    match bank.family {
        Family::Linear if serves::<P>(Needs::LINEAR) => {
            linear::generate::<P>(bank, q, sink);
        }
        Family::Fourier if serves::<P>(Needs::FOURIER) => {
            fourier::generate::<P, N>(bank, q, block, wide, sink);
        }
        Family::Stump if serves::<P>(Needs::STUMP) => {
            stump::generate::<P, N>(bank, q, sink);
        }
        Family::Bin { slot_bits } if serves::<P>(Needs::BIN) => {
            bin::generate::<P>(bank, slot_bits, q, sink);
        }
        Family::Maxout { pool, shared } if serves::<P>(Needs::MAXOUT) => {
            let pool = usize::from(pool);
            units::generate::<P, N>(bank, pool, usize::from(shared), q, wide, sink);
        }
        Family::Sigmoid if serves::<P>(Needs::SIGMOID) => {
            units::generate::<P, N>(bank, 1, 0, q, wide, sink);
        }
        Family::Conv(conv) if serves::<P>(Needs::CONV) => {
            conv::generate::<P, N>(bank, conv, q, block, wide, sink, cells);
        }
        Family::Fern { depth } if serves::<P>(Needs::FERN) => {
            fern::generate::<P>(bank, depth, q, sink);
        }
        Family::Series(series) if serves::<P>(Needs::SERIES) => {
            series::generate::<P, N>(bank, series, q, wide, sink);
        }
        _ => {}
    }
}

/// The offsets of fourier features and filters in order: number k has
/// o + a·k + c·k(k − 1)/2, in parts of 2^12 for a turn; o, a and c are drawn once. The
/// square keeps neighbouring features, and rows of a transform that are related, from
/// having related offsets.
///
/// In the highest bits of words, where what runs over is dropped by itself.
#[derive(Clone, Copy)]
pub(crate) struct Offsets {
    offset: u32,
    step: u32,
    growth: u32,
}

impl Offsets {
    /// Those from number `k` on of the sequence that `draw` starts.
    pub(crate) fn from(draw: u64, k: usize) -> Self {
        let part = |from: u32| (draw >> from) as u32 & !0xf;
        let (o, a, c) = (part(0), part(16), part(32));
        let k = k as u32;
        // One of the factors is even: halved, no bit is lost.
        let pairs = (k >> 1).wrapping_mul(k.wrapping_sub(1) | 1);
        let offset = o.wrapping_add(a.wrapping_mul(k)).wrapping_add(c.wrapping_mul(pairs));
        let step = a.wrapping_add(c.wrapping_mul(k));
        Self { offset: offset << 16, step: step << 16, growth: c << 16 }
    }

    /// The same sequence for angles from words: see [`hadamard::ROUNDED`].
    pub(crate) fn rounded(self) -> Self {
        Self { offset: self.offset.wrapping_add(hadamard::ROUNDED), ..self }
    }

    /// What a step is greater than the one before, in 16 bits.
    #[cfg(target_feature = "simd128")]
    pub(crate) fn growth(self) -> u16 {
        (self.growth >> 16) as u16
    }

    /// Leaves so many out, fewer than 2^16.
    #[cfg(target_feature = "simd128")]
    pub(crate) fn skip(&mut self, count: usize) {
        let count = count as u32;
        let pairs = (count.wrapping_mul(count.wrapping_sub(1)) >> 1).wrapping_mul(self.growth);
        self.offset = self.offset.wrapping_add(self.step.wrapping_mul(count)).wrapping_add(pairs);
        self.step = self.step.wrapping_add(self.growth.wrapping_mul(count));
    }

    /// The next offset added to an angle, of which a full turn is 2^32.
    #[inline(always)]
    pub(crate) fn add_next(&mut self, angle: u32) -> u32 {
        let angle = angle.wrapping_add(self.offset);
        self.offset = self.offset.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.growth);
        angle
    }
}
