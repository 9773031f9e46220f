//! Fourier: cos(w·x + b), b uniform on the four quarters of a turn.
//!
//! Equally spaced angles average products of cosines exactly as the continuous
//! uniform law does, from three on; so a draw is enough for 32 features.

use super::projection::{Dense, Hadamard, phase_input};
use super::{Runs, sum};
use crate::bank::{Bank, Law};
use crate::generator::{Draws, Purpose, bank_stream};
use crate::numerics::{Scale, cos_turn};
use crate::sink::Sink;

/// Bits of a feature's offset, and how many offsets a draw gives.
const OFFSET_BITS: usize = 2;
const OFFSETS_EACH: usize = 64 / OFFSET_BITS;

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    seed: u64,
    q: &[i16],
    block: &mut [i16],
    sink: &mut Sink<'_, '_>,
) {
    if matches!(bank.law, Law::Hadamard) || !cfg!(feature = "dense") {
        hadamard(bank, seed, q, block, sink);
        return;
    }
    let mut offsets = bank_stream(seed, bank.index, Purpose::Offsets).draws(0);
    let projections = Dense::new(bank, seed, q.len());
    let grouped = bank.is_grouped();
    let mut runs = Runs::new(sink);
    let mut draw = 0;
    for k in 0..usize::from(bank.features) {
        let phase = if grouped {
            projections.project_groups(k, q)
        } else {
            bank.scale.apply_wrapping(projections.project(k, q))
        };
        draw = if k % OFFSETS_EACH == 0 { offsets.next() } else { draw >> OFFSET_BITS };
        runs.push(feature(phase as i16, draw as u32));
    }
    runs.flush();
}

/// Block after block of transformed rows, the features in the place of the
/// phases. The offsets of a block start with a new draw.
fn hadamard(bank: &Bank<'_>, seed: u64, q: &[i16], block: &mut [i16], sink: &mut Sink<'_, '_>) {
    let features = usize::from(bank.features);
    let mut projections = Hadamard::new(bank, seed);
    let mut offsets = bank_stream(seed, bank.index, Purpose::Offsets).draws(0);
    let mut first = 0;
    while first < features && !block.is_empty() {
        if bank.scale == Scale::ONE {
            projections.transform(q, block, |value| value);
        } else {
            projections.transform(q, block, |value| phase_input(bank.scale, value));
        }
        let length = block.len().min(features - first);
        let Some(phases) = block.get_mut(..length) else { return };
        cosines(phases, &mut offsets);
        sink.run(first, phases, sum(phases));
        first += length;
    }
}

/// Phases of a block to features in place.
fn cosines(phases: &mut [i16], offsets: &mut Draws) {
    for part in phases.chunks_mut(OFFSETS_EACH) {
        let draw = offsets.next();
        let (low, high) = part.split_at_mut(part.len().min(OFFSETS_EACH / 2));
        cosines_offset(low, draw as u32);
        cosines_offset(high, (draw >> 32) as u32);
    }
}

/// Those that share a word of offsets. A function of its own: small cores have too
/// few registers to share them with the caller.
#[inline(never)]
fn cosines_offset(phases: &mut [i16], mut offsets: u32) {
    for place in phases {
        *place = feature(*place, offsets);
        offsets >>= OFFSET_BITS;
    }
}

/// The cosine of a phase with the offset in the low bits of `offsets`.
#[inline]
fn feature(phase: i16, offsets: u32) -> i16 {
    let offset = offsets << (32 - OFFSET_BITS);
    cos_turn((i32::from(phase) << 16).wrapping_add(offset as i32))
}
