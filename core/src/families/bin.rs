//! Bin: the cell of a random grid that the row falls into, hashed to a slot.
//!
//! Per grid and input a pitch δ from Gamma(2) and a shift u uniform in one cell
//! (*Random bases*, Section V.c): cell = ⌊x/δ + u⌋. The cell vector's hash
//! selects one of 2^slot_bits slots; colliding cells share a weight.

use crate::format::bank::Bank;
use crate::format::family::Law;
use crate::generator::{Purpose, Stream, mix};
use crate::needs::Profile;
use crate::numerics::{Scale, reciprocal_gamma2};
use crate::sink::Sink;

/// Fractional bits of a scaled input: 256 = one kernel width.
const UNIT_BITS: u32 = 8;
/// Fractional bits of input × reciprocal pitch (4096 = 2^12 stands for 1).
const CELL_BITS: u32 = UNIT_BITS + 12;

#[inline(never)]
pub(super) fn generate<P: Profile>(bank: &Bank<'_>, slot_bits: u8, q: &[i16], sink: &mut dyn Sink) {
    let stream = Stream::of_bank(bank.seed, bank.index, Purpose::Weights);
    let starts = Stream::of_bank(bank.seed, bank.index, Purpose::Choices);
    let draws_each = q.len().div_ceil(4) as u64;
    let slots = 1usize << (slot_bits & 15);
    for (column, grid) in bank.indices_of::<P>().enumerate() {
        let first = grid as u64 * draws_each;
        // Starting elsewhere in every grid, two cells that collide in one grid
        // do not collide in the next.
        let mut hash = starts.draw(grid as u64);
        let mut cells = 0u64;
        let mut bytes = 0u64;
        let mut input = 0usize;
        let mut rest = q;
        for group in bank.groups() {
            let Some((mine, others)) = rest.split_at_checked(usize::from(group.inputs)) else {
                break;
            };
            rest = others;
            for &value in mine {
                let lane = input % 4;
                if lane == 0 {
                    bytes = stream.draw(first + input as u64 / 4);
                    cells = 0;
                }
                let cell = match group.law {
                    Law::None => 0,
                    _ => cell::<P>(group.scale, value, bytes as u8, (bytes >> 8) as u8),
                };
                bytes >>= 16;
                cells |= u64::from(cell as u16) << (16 * lane);
                input += 1;
                if lane == 3 || input == q.len() {
                    hash = mix(hash, cells);
                }
            }
        }
        let slot = (hash >> (64u32.wrapping_sub(slot_bits.into()) & 63)) as usize;
        sink.one_hot(column * slots + slot, slots);
        sink.code(column, slot as u16);
    }
}

/// ⌊x/δ + u⌋ for the pitch of byte `pitch` and the shift `shift`/256.
#[inline]
fn cell<P: Profile>(scale: Scale, value: i16, pitch: u8, shift: u8) -> i32 {
    let x = scale.apply_saturating(value.into(), 32767);
    let position = x * reciprocal_gamma2(pitch, P::SMALL);
    (position + (i32::from(shift) << (CELL_BITS - 8))) >> CELL_BITS
}
