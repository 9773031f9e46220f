//! Fourier, cos(w·x + b), where bytes count more than time: features in the place of
//! their phases, a few at a time.

use super::offset_of;
use super::projection::{Dense, Part};
use crate::bank::{Bank, Law};
use crate::format::fourier_block;
use crate::generator::{Purpose, bank_draw};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], block: &mut [i16], sink: &mut dyn Sink) {
    if !matches!(bank.law, Law::Hadamard) && cfg!(feature = "dense") {
        dense(bank, q, sink);
        return;
    }
    // Another bank may need a longer block.
    let Some(block) = block.get_mut(..fourier_block(q.len() as u16)) else { return };
    let draw = bank_draw(bank, Purpose::Offsets, 0);
    let mut part = Part { bank, next: 0, at: 0, q, block };
    while part.next < usize::from(part.bank.features) && !part.block.is_empty() {
        part.phases();
        hand_over(&mut part, draw, sink);
    }
}

/// The same of dense projections. A function of its own for its memory.
#[inline(never)]
fn dense(bank: &Bank<'_>, q: &[i16], sink: &mut dyn Sink) {
    let projections = Dense::new(bank, q.len());
    let draw = bank_draw(bank, Purpose::Offsets, 0);
    // Whole eights, also behind the last one.
    let mut part = Part { bank, next: 0, at: 0, q, block: &mut super::unknown_zeros() };
    while part.next < usize::from(bank.features) {
        for (k, phase) in (part.next..usize::from(bank.features)).zip(&mut *part.block) {
            *phase = projections.phase(k, q);
        }
        hand_over(&mut part, draw, sink);
    }
}

/// Hands over the features of a part's phases, and goes on to the next part.
#[inline]
fn hand_over(part: &mut Part<'_, i16>, draw: u64, sink: &mut dyn Sink) {
    let total = cosines(part, draw);
    let left = usize::from(part.bank.features).saturating_sub(part.next);
    let features = part.block.get(..left).unwrap_or(part.block);
    sink.run(part.next, features, total);
    part.next += features.len();
}

/// The features of a part's phases in their place, and their sum.
#[inline(never)]
fn cosines(part: &mut Part<'_, i16>, draw: u64) -> i32 {
    // The sequence of offsets, see `fourier.rs`, goes on like one that starts here.
    let growth = (draw >> 32) as i16;
    let step = ((draw >> 16) as i16).wrapping_add(growth.wrapping_mul(part.next as i16));
    let offset = offset_of(draw, part.next);
    let left = usize::from(part.bank.features).saturating_sub(part.next);
    let (mut total, mut offset, mut step) = (0, offset, step);
    for phase in part.block.iter_mut().take(left) {
        *phase = crate::numerics::cos(phase.wrapping_add(offset));
        total += i32::from(*phase);
        offset = offset.wrapping_add(step);
        step = step.wrapping_add(growth);
    }
    total
}
