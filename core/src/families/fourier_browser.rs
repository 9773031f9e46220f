//! Fourier, cos(w·x + b), in the browser: few bytes, and the transform in vectors. Its
//! features are made block by block, all others one by one.

use super::projection::{Dense, Hadamard};
use super::{Runs, offset_of, sum};
use crate::bank::{Bank, Law};
use crate::format::hadamard_block;
use crate::generator::{Purpose, bank_stream};
use crate::numerics::cos;
#[cfg(target_feature = "simd128")]
use crate::simd::Offsets;
use crate::sink::{MAX_RUN, Sink};

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], block: &mut [i16], sink: &mut dyn Sink) {
    let is_dense = !matches!(bank.law, Law::Hadamard) && cfg!(feature = "dense");
    let length = hadamard_block(q.len() as u16);
    // Another bank may need a longer block.
    let block = block.get_mut(..length).unwrap_or_default();
    let draw = bank_stream(bank, Purpose::Offsets).draw(0);
    if !is_dense && !bank.is_kept() {
        let mut hadamard = Hadamard::from(bank, 0, q.len());
        let mut offsets = Offsets::new(draw as i16, (draw >> 16) as i16, (draw >> 32) as i16);
        let (mut first, features) = (0, usize::from(bank.features));
        while first < features {
            hadamard.phases(q, block);
            offsets.cosines(block);
            let Some(made) = block.get(..length.min(features - first)) else { return };
            let mut total = sum(made);
            for run in made.chunks(MAX_RUN) {
                sink.run(first, run, core::mem::take(&mut total));
                first += run.len();
            }
        }
        return;
    }
    let dense = Dense::new(bank, q.len());
    // The block that the phases are of.
    let mut there = usize::MAX;
    let mut runs = Runs::new(sink);
    for k in bank.indices() {
        let phase = if is_dense {
            dense.phase(k, q)
        } else {
            let number = k >> (length.trailing_zeros() & 31);
            if number != there {
                there = number;
                Hadamard::from(bank, number * length, q.len()).phases(q, block);
            }
            block.get(k & (length - 1)).copied().unwrap_or(0)
        };
        runs.put(cos(phase.wrapping_add(offset_of(draw, k))));
    }
    runs.flush();
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
    fn new(offset: i16, step: i16, growth: i16) -> Self {
        Self { offset, step, growth }
    }

    /// Phases to features in place.
    fn cosines(&mut self, phases: &mut [i16]) {
        for phase in phases {
            *phase = cos(phase.wrapping_add(self.offset));
            self.offset = self.offset.wrapping_add(self.step);
            self.step = self.step.wrapping_add(self.growth);
        }
    }
}
