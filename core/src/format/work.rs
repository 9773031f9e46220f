//! A bound on the work of a prediction, from what a blob declares: additions, products and
//! look-ups, as `docs/format.md` counts them.

use crate::format::bank::{Bank, hadamard_block};
use crate::format::family::{Family, Law};
use crate::numerics::quotient;

/// The most work that a model may ask for. Any runtime may rely on it: a blob that asks
/// for more is refused.
pub const MAX_WORK: u32 = 1 << 28;

/// What an input of a dense projection counts as, with its part of a draw.
const DENSE: u64 = 4;
/// What an input of a grid counts as, with its part of a draw and of a hash.
const BIN: u64 = 16;
/// What a fern counts as, with its draw.
const FERN: u64 = 16;

/// What a bank adds to the work. `last`: the last index of its features.
pub(crate) const fn of_bank(bank: &Bank<'_>, last: u32, inputs: u16, outputs: u8) -> u64 {
    let features = bank.features as u32;
    let made = match bank.family {
        Family::Linear => features as u64,
        Family::Fourier if matches!(bank.law, Law::Hadamard) => {
            transforms(inputs, features, last) + features as u64
        }
        Family::Stump => times(features, 1 + bank.group_count()),
        Family::Fourier => DENSE * times(features, inputs as u32 + bank.group_count()),
        Family::Bin { .. } => BIN * times(features, inputs as u32 + bank.group_count()),
        Family::Fern { .. } => FERN * features as u64,
        Family::Sigmoid => of_pools(bank, 1, 0, last, inputs),
        Family::Maxout { pool, shared } => of_pools(bank, pool, shared, last, inputs),
        Family::Conv(conv) => {
            let of_block = conv.transform as u32 * conv.cells() as u32;
            let blocks = least(features, quotient(last, of_block) + 1);
            let [transform, log] = [conv.transform as u32, conv.transform_log() as u32];
            let each = conv.taps() as u32 + transform * log + transform;
            // Fewer than 2^16 positions of fewer than 2^17 steps.
            let of_positions = conv.positions(inputs) as u64 * each as u64;
            // Fewer than 2^16 blocks: below 2^49.
            blocks as u64 * of_positions + features as u64
        }
        Family::Series(series) => {
            let blocks = least(features, (last >> 3) + 1);
            // A transform of 8 numbers, and 8 comparisons. Fewer than 2^17 blocks of fewer than
            // 2^9 steps.
            let each = 4 * series.kernel as u32 + 24 + 8;
            times(blocks, each) * series.length(inputs) as u64 + features as u64
        }
    };
    let listed = 8 * (bank.kept_bytes() as u64).saturating_sub(3);
    made + listed + times(features, outputs as u32)
}

/// The units of a bank, each the maximum of `pool` projections.
const fn of_pools(bank: &Bank<'_>, pool: u8, shared: u16, last: u32, inputs: u16) -> u64 {
    let hadamard = matches!(bank.law, Law::Hadamard);
    let members = bank.features as u32 * pool as u32;
    match (shared, hadamard) {
        (0, true) => {
            // Indices are below 2^20.
            let last = last * pool as u32 + pool as u32 - 1;
            transforms(inputs, members, last) + members as u64
        }
        (0, false) => DENSE * times(members, inputs as u32),
        (_, true) => transforms(inputs, shared as u32, shared as u32 - 1) + members as u64,
        (_, false) => DENSE * times(shared as u32, inputs as u32) + members as u64,
    }
}

/// The transforms that `count` projections up to the one numbered `last` are in.
const fn transforms(inputs: u16, count: u32, last: u32) -> u64 {
    let block = hadamard_block(inputs) as u32;
    let log = block.trailing_zeros();
    let blocks = least(count, (last >> (log & 31)) + 1);
    // At most 2^24 blocks of 2^16 numbers and 16 stages.
    times(blocks, block) * log as u64
}

/// A product that 64 bits hold.
const fn times(a: u32, b: u32) -> u64 {
    a as u64 * b as u64
}

const fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}
