//! Fourier: cos(w·x + b), b uniform on the circle.

use super::projection::{Dense, Hadamard};
use super::{Runs, sum};
use crate::bank::{Bank, Law};
use crate::generator::{Purpose, bank_draw};
use crate::numerics::cos_turn;
use crate::sink::{MAX_RUN, Sink};

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], block: &mut [i16], sink: &mut dyn Sink) {
    if matches!(bank.law, Law::Hadamard) || !cfg!(feature = "dense") {
        hadamard(bank, q, block, sink);
        return;
    }
    let mut offsets = Offsets::new(bank);
    let projections = Dense::new(bank, q.len());
    let mut runs = Runs::new(sink);
    for k in 0..usize::from(bank.features) {
        runs.push(offsets.next(projections.phase(k, q)));
    }
    runs.flush();
}

/// Block after block of transformed rows, the features in the place of the
/// phases.
fn hadamard(bank: &Bank<'_>, q: &[i16], block: &mut [i16], sink: &mut dyn Sink) {
    let features = usize::from(bank.features);
    // Another bank may need a longer one.
    let length = crate::format::fourier_block(q.len() as u16);
    let Some(block) = block.get_mut(..length) else { return };
    let mut projections = Hadamard::new(bank);
    let mut offsets = Offsets::new(bank);
    let mut first = 0;
    while first < features && !block.is_empty() {
        projections.phases(q, block);
        let length = block.len().min(features - first);
        // In pairs: a block has an even number.
        if let Some(phases) = block.get_mut(..length.next_multiple_of(2)) {
            offsets.cosines(phases);
        }
        let Some(features) = block.get(..length) else { return };
        for run in features.chunks(MAX_RUN) {
            sink.run(first, run, sum(run));
            first += run.len();
        }
    }
}

/// The offsets in order: o + a·k + c·k(k − 1)/2 in parts of 2^16 for a turn, in the
/// high halves; o, a and c are drawn once. The square keeps neighbouring features,
/// and rows of a transform that are related, from having related offsets.
struct Offsets {
    offset: u32,
    step: u32,
    growth: u32,
}

impl Offsets {
    fn new(bank: &Bank<'_>) -> Self {
        let draw = bank_draw(bank, Purpose::Offsets, 0);
        let high = |word: u64| (word as u32) << 16;
        Self { offset: high(draw), step: high(draw >> 16), growth: high(draw >> 32) }
    }

    /// The next feature.
    #[inline]
    fn next(&mut self, phase: i16) -> i16 {
        let feature = cos_turn((i32::from(phase) << 16).wrapping_add(self.offset as i32));
        self.offset = self.offset.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.growth);
        feature
    }

    /// Phases to features in place. A function of its own: small cores have too few
    /// registers to share them with the caller.
    #[inline(never)]
    fn cosines(&mut self, phases: &mut [i16]) {
        // A copy, which may live in registers.
        let mut offsets = Self { ..*self };
        for [first, second] in phases.as_chunks_mut::<2>().0 {
            *first = offsets.next(*first);
            *second = offsets.next(*second);
        }
        *self = offsets;
    }
}
