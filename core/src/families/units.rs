//! Maxout and sigmoid, whose features are made of exact projections.
//!
//! A maxout unit is the maximum over a pool of projections, and which one it is; units
//! either have `pool` projections of their own, or draw `pool` of the `shared`
//! projections that all units have in common (with replacement). A sigmoid is σ(w·x + b),
//! b from the normal distribution: a unit with a pool of one, and a bias.

use super::dense::Dense;
use super::hadamard::{Transforms, is_hadamard};
use super::row_order::RowOrder;
use crate::format::bank::{Bank, SIGMOID_BIAS, hadamard_block};
use crate::format::family::{Family, Law};
use crate::generator::{Purpose, Stream, bank_draw};
use crate::needs::{Needs, Profile, serves};
use crate::numerics::{NORMAL_ONE, normal, sigmoid};
use crate::sink::{FEATURE_ONE, Runs, Sink};

#[inline(never)]
pub(super) fn generate<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    pool: usize,
    shared: usize,
    q: &[i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    let mut projections = Projections::<P>::new(bank, q);
    let is_sigmoid = match (serves::<P>(Needs::SIGMOID), serves::<P>(Needs::MAXOUT)) {
        (true, true) => matches!(bank.family, Family::Sigmoid),
        (is_sigmoid, _) => is_sigmoid,
    };
    // The pool needs memory; the units then only look up.
    let wide = if shared > 0 {
        projections.fill(shared, wide)
    } else {
        wide.get_mut(..projections.block()).unwrap_or_default()
    };
    let purpose = if is_sigmoid { Purpose::Offsets } else { Purpose::Choices };
    let mut draws = Latest::new(Stream::of_bank(bank.seed, bank.index, purpose));
    let mut runs = Runs::<N>::new(sink);
    for (place, unit) in bank.indices_of::<P>().enumerate() {
        let (mut best, mut choice) = (i32::MIN, 0);
        for member in 0..pool {
            let k = unit.wrapping_mul(pool).wrapping_add(member);
            let z = if shared > 0 && !is_sigmoid {
                let word = (draws.get(k / 4) >> (16 * (k % 4))) as u16;
                // Both factors are below 2^16.
                let index = (u32::from(word) * shared as u32) >> 16;
                wide.get(index as usize).copied().unwrap_or(0)
            } else {
                projections.get(k, wide)
            };
            // The lowest index wins a tie.
            if member == 0 || z > best {
                (best, choice) = (z, member);
            }
        }
        let feature = if is_sigmoid {
            let byte = (draws.get(unit / 8) >> (8 * (unit % 8))) as u8;
            sigmoid(scaled(bank, best.wrapping_add(bias::<P>(bank, byte))))
        } else {
            scaled(bank, best)
        };
        runs.push(feature);
        if !is_sigmoid {
            runs.sink.code(place, choice as u16);
        }
    }
    runs.flush();
}

/// A projection as a byte.
pub(super) fn scaled(bank: &Bank<'_>, z: i32) -> i8 {
    bank.scale.apply_saturating(z, FEATURE_ONE.into()) as i8
}

/// A sigmoid's bias: a draw of the normal distribution, times what an input of
/// [`SIGMOID_BIAS`] would be. Weights from the normal table are [`NORMAL_ONE`] times as
/// large as weights of ±1.
fn bias<P: Profile>(bank: &Bank<'_>, byte: u8) -> i32 {
    let one = if matches!(bank.law, Law::Gaussian) { 1 } else { NORMAL_ONE };
    normal(byte, P::SMALL) * (SIGMOID_BIAS / one)
}

/// [`bias`] of sigmoid `unit`.
pub(super) fn bias_of<P: Profile>(bank: &Bank<'_>, unit: usize) -> i32 {
    let draw = bank_draw(bank.seed, bank.index, Purpose::Offsets, unit as u32 / 8);
    bias::<P>(bank, (draw >> (8 * (unit % 8))) as u8)
}

/// Draws of a stream, the latest of which is kept: several numbers come from each.
struct Latest {
    stream: Stream,
    index: usize,
    draw: u64,
}

impl Latest {
    fn new(stream: Stream) -> Self {
        Self { stream, index: usize::MAX, draw: 0 }
    }

    fn get(&mut self, index: usize) -> u64 {
        if index != self.index {
            (self.index, self.draw) = (index, self.stream.draw(index as u64));
        }
        self.draw
    }
}

/// The projections of a row, by their numbers.
struct Projections<'p, P> {
    bank: &'p Bank<'p>,
    q: &'p [i16],
    dense: Dense<'p, P>,
    hadamard: bool,
    /// 2^log is the length of a transform.
    log: u32,
    /// The transform whose rows are in memory, and their order.
    number: usize,
    order: RowOrder,
}

impl<'p, P: Profile> Projections<'p, P> {
    fn new(bank: &'p Bank<'p>, q: &'p [i16]) -> Self {
        let log = hadamard_block(q.len() as u16).trailing_zeros() & 31;
        Self {
            bank,
            q,
            dense: Dense::new(bank, q.len()),
            hadamard: is_hadamard::<P>(bank),
            log,
            number: usize::MAX,
            order: RowOrder::default(),
        }
    }

    /// Transform `number`.
    fn transform(&self, number: usize, block: &mut [i32]) {
        Transforms::new::<P>(self.bank, self.q).fill::<P, i32>(number << self.log, block);
    }

    /// Numbers that [`Projections::get`] needs.
    fn block(&self) -> usize {
        if self.hadamard { 1 << self.log } else { 0 }
    }

    /// The first `count` projections in natural order, in whole transforms.
    fn fill<'w>(&self, count: usize, wide: &'w mut [i32]) -> &'w mut [i32] {
        if self.hadamard {
            let blocks = wide.chunks_exact_mut(1 << self.log);
            for (number, block) in blocks.enumerate().take_while(|(n, _)| n << self.log < count) {
                self.transform(number, block);
            }
        } else {
            for (k, place) in wide.iter_mut().take(count).enumerate() {
                *place = self.dense.project(k, self.q);
            }
        }
        wide
    }

    /// Projection `k` of units with pools of their own; `block` is memory for a transform,
    /// always the same.
    #[inline]
    fn get(&mut self, k: usize, block: &mut [i32]) -> i32 {
        if !self.hadamard {
            return self.dense.project(k, self.q);
        }
        let number = k >> self.log;
        if number != self.number {
            self.number = number;
            self.transform(number, block);
            self.order = RowOrder::new(self.bank, number);
        }
        let row = self.order.row(k & ((1 << self.log) - 1), block.len());
        block.get(row).copied().unwrap_or(0)
    }
}
