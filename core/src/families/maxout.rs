//! Maxout: the maximum over a pool of projections, and which one it is.
//!
//! Units either have `pool` projections of their own, or draw `pool` of the
//! `shared` projections that all units have in common (with replacement).

use super::Runs;
use super::projection::{Dense, Hadamard};
use super::row_order::RowOrder;
use crate::bank::{Bank, Law};
use crate::generator::{Purpose, bank_stream};
use crate::kept::Listed;
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
    let mut best = Maximum::new(bank, pool, sink);
    if shared == 0 {
        project(bank, q, pool, wide, &mut best);
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
        let mut rest = &mut *wide;
        while let Some((block, others)) = core::mem::take(&mut rest).split_at_mut_checked(length) {
            projections.transform(q, block);
            rest = others;
        }
    } else {
        let projections = Dense::new(bank, q.len());
        for (k, place) in wide.iter_mut().take(shared).enumerate() {
            *place = projections.project(k, q);
        }
    }
    let choices = bank_stream(bank, Purpose::Choices);
    for span in bank.spans() {
        for choice in span.start * pool..span.end * pool {
            let word = choices.draw(choice as u64 / 4) >> (16 * (choice % 4));
            let index = (usize::from(word as u16) * shared) >> 16;
            best.push(wide.get(index).copied().unwrap_or(0));
        }
    }
    best.runs.flush();
}

/// What becomes of projections.
pub(super) trait Units {
    /// The next projections are those of unit `index` and the ones behind it; without
    /// this, of unit 0.
    fn start(&mut self, _index: usize) {}
    /// The next projection.
    fn push(&mut self, z: i32);
}

/// Hands over the projections of the bank's units, `pool` of each, those of a
/// transform in [`RowOrder`].
pub(super) fn project(
    bank: &Bank<'_>,
    q: &[i16],
    pool: usize,
    block: &mut [i32],
    units: &mut impl Units,
) {
    if matches!(bank.law, Law::Hadamard) || !cfg!(feature = "dense") {
        let length = crate::format::hadamard_block(q.len() as u16);
        let Some(block) = block.get_mut(..length) else { return };
        if let Some(list) = bank.listed() {
            transform_kept(bank, list, q, pool, block, units);
            return;
        }
        let count = usize::from(bank.features) * pool;
        let mut projections = Hadamard::new(bank);
        let (mut first, mut number) = (0, 0);
        while first < count {
            projections.transform(q, block);
            let order = RowOrder::new(bank, number);
            for k in 0..length.min(count - first) {
                units.push(block.get(order.row(k, length)).copied().unwrap_or(0));
            }
            first += length;
            number += 1;
        }
    } else {
        let projections = Dense::new(bank, q.len());
        for span in bank.spans() {
            units.start(span.start);
            for k in span.start * pool..span.end * pool {
                units.push(projections.project(k, q));
            }
        }
    }
}

/// The projections of a list's units from the transforms that have any.
fn transform_kept(
    bank: &Bank<'_>,
    list: Listed<'_>,
    q: &[i16],
    pool: usize,
    block: &mut [i32],
    units: &mut impl Units,
) {
    let length = block.len();
    let log = length.trailing_zeros() & 31;
    let mut order = RowOrder::default();
    let mut end = 0;
    for unit in list {
        units.start(unit);
        for k in unit * pool..(unit + 1) * pool {
            if k >= end {
                let number = k >> log;
                let first = number << log;
                Hadamard::from(bank, first, q.len()).transform(q, block);
                order = RowOrder::new(bank, number);
                end = first + length;
            }
            let row = order.row(k & (length - 1), length);
            units.push(block.get(row).copied().unwrap_or(0));
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

impl<'r, 'b> Maximum<'r, 'b> {
    fn new(bank: &'b Bank<'b>, pool: usize, sink: &'r mut dyn Sink) -> Self {
        Self { runs: Runs::new(sink), bank, pool, unit: 0, member: 0, value: i32::MIN, choice: 0 }
    }
}

impl Units for Maximum<'_, '_> {
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
