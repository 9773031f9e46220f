//! Maxout: the maximum over a pool of projections, and which one it is.
//!
//! Units either have `pool` projections of their own, or draw `pool` of the
//! `shared` projections that all units have in common (with replacement).

use super::Runs;
use super::projection::{Dense, Hadamard, RowOrder};
use crate::bank::{Bank, Law};
use crate::generator::{Purpose, bank_stream};
use crate::numerics::Scale;
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    pool: usize,
    shared: usize,
    q: &[i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    let units = usize::from(bank.features);
    let mut best = Maximum::new(bank, pool, sink);
    if shared == 0 {
        project(bank, q, units * pool, wide, |z| best.push(z));
        best.runs.flush();
        return;
    }
    // The pool needs memory; the units then only look up.
    let (_, needed) = bank.buffers();
    let Some(wide) = wide.get_mut(..needed as usize) else { return };
    let hadamard = matches!(bank.law, Law::Hadamard) || !cfg!(feature = "dense");
    if hadamard {
        let mut projections = Hadamard::new(bank);
        let length = crate::format::hadamard_block(q.len() as u16);
        for block in wide.chunks_exact_mut(length) {
            projections.transform(Scale::ONE, q, block);
        }
    } else {
        let projections = Dense::new(bank, q.len());
        for (k, place) in wide.iter_mut().take(shared).enumerate() {
            *place = projections.project(k, q);
        }
    }
    let choices = bank_stream(bank, Purpose::Choices);
    for choice in 0..units * pool {
        let word = choices.draw(choice as u64 / 4) >> (16 * (choice % 4));
        let index = (usize::from(word as u16) * shared) >> 16;
        best.push(wide.get(index).copied().unwrap_or(0));
    }
    best.runs.flush();
}

/// Hands `count` projections over, those of a transform in [`RowOrder`].
pub(super) fn project(
    bank: &Bank<'_>,
    q: &[i16],
    count: usize,
    block: &mut [i32],
    mut take: impl FnMut(i32),
) {
    if matches!(bank.law, Law::Hadamard) || !cfg!(feature = "dense") {
        let mut projections = Hadamard::new(bank);
        let length = crate::format::hadamard_block(q.len() as u16);
        let Some(block) = block.get_mut(..length) else { return };
        let (mut first, mut number) = (0, 0);
        while first < count {
            projections.transform(Scale::ONE, q, block);
            let order = RowOrder::new(bank, number);
            for k in 0..length.min(count - first) {
                take(block.get(order.row(k, length)).copied().unwrap_or(0));
            }
            first += length;
            number += 1;
        }
    } else {
        let projections = Dense::new(bank, q.len());
        for k in 0..count {
            take(projections.project(k, q));
        }
    }
}

/// The running maximum of a unit; the lowest index wins a tie.
struct Maximum<'r, 'b> {
    runs: Runs<'r>,
    bank: &'b Bank<'b>,
    pool: usize,
    unit: usize,
    member: usize,
    value: i32,
    choice: usize,
}

impl<'r, 'm, 's, 'b> Maximum<'r, 'b> {
    fn new(bank: &'b Bank<'b>, pool: usize, sink: &'r mut dyn Sink) -> Self {
        Self { runs: Runs::new(sink), bank, pool, unit: 0, member: 0, value: i32::MIN, choice: 0 }
    }

    #[inline]
    fn push(&mut self, z: i32) {
        if self.member == 0 || z > self.value {
            self.value = z;
            self.choice = self.member;
        }
        self.member += 1;
        if self.member == self.pool {
            self.runs.push(self.bank.scale.apply_saturating(self.value));
            self.runs.sink.code(self.unit, self.choice as u16);
            self.unit += 1;
            self.member = 0;
        }
    }
}
