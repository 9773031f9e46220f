//! Fourier, cos(w·x + b), where bytes count more than time: one loop for both kinds
//! of projections.

use super::projection::{Dense, Hadamard};
use super::{RUN, sum};
use crate::bank::{Bank, Law};
use crate::generator::{Purpose, bank_stream};
#[cfg(target_feature = "simd128")]
use crate::simd::Offsets;
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], block: &mut [i16], sink: &mut dyn Sink) {
    let mut hadamard = Hadamard::new(bank);
    let dense = Dense::new(bank, q.len());
    let mut offsets = Offsets::new(bank_stream(bank, Purpose::Offsets).draw(0));
    let is_dense = !matches!(bank.law, Law::Hadamard) && cfg!(feature = "dense");
    // Phases, and in their place features: whole eights, also behind the last one.
    let mut run = [0; RUN];
    // Another bank may need a longer block.
    let length = crate::format::hadamard_block(q.len() as u16);
    let Some(block) = block.get_mut(..if is_dense { 0 } else { length }) else { return };
    let phases = if is_dense { &mut run } else { block };
    let (mut first, features) = (0, usize::from(bank.features));
    while first < features && !phases.is_empty() {
        let length = phases.len().min(features - first);
        if is_dense {
            for (k, phase) in (first..first + length).zip(&mut *phases) {
                *phase = dense.phase(k, q);
            }
        } else {
            hadamard.phases(bank.scale, q, phases);
        }
        offsets.cosines(phases);
        let Some(features) = phases.get(..length) else { return };
        sink.run(first, features, sum(features));
        first += length;
    }
}

/// The offsets in order: see `fourier.rs`.
#[cfg(not(target_feature = "simd128"))]
struct Offsets {
    offset: i16,
    step: i16,
    growth: i16,
}

#[cfg(not(target_feature = "simd128"))]
impl Offsets {
    fn new(draw: u64) -> Self {
        Self { offset: draw as i16, step: (draw >> 16) as i16, growth: (draw >> 32) as i16 }
    }

    /// Phases to features in place.
    fn cosines(&mut self, phases: &mut [i16]) {
        for phase in phases {
            *phase = crate::numerics::cos(phase.wrapping_add(self.offset));
            self.offset = self.offset.wrapping_add(self.step);
            self.step = self.step.wrapping_add(self.growth);
        }
    }
}
