//! What `maxout.rs` and `sigmoid.rs` do, where bytes count more than time: one loop
//! for both, with lists and without. A sigmoid is a unit with a pool of one.

use super::Runs;
use super::projection::{Dense, Hadamard};
use super::row_order::RowOrder;
use crate::bank::{Bank, Family, Law, SIGMOID_BIAS};
use crate::format::hadamard_block;
use crate::generator::{Purpose, bank_stream};
use crate::numerics::{NORMAL_ONE, logistic, normal};
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
    // A dense projection is a block of its own.
    let (mut length, mut one, mut block) = (1, [0], wide);
    let hadamard = matches!(bank.law, Law::Hadamard) || !cfg!(feature = "dense");
    if hadamard {
        length = hadamard_block(q.len() as u16);
    } else if shared == 0 {
        block = &mut one;
    }
    let log = length.trailing_zeros() & 31;
    let dense = Dense::new(bank, q.len());
    let project = |number: usize, block: &mut [i32]| {
        if hadamard {
            Hadamard::from(bank, number << log, q.len()).transform(q, block);
        } else if let [place] = block {
            *place = dense.project(number, q);
        }
    };
    if shared > 0 {
        // The pool needs memory; the units then only look up.
        let (mut number, mut rest) = (0, &mut *block);
        while let Some((block, others)) = rest.split_at_mut_checked(length)
            && number << log < shared
        {
            project(number, block);
            (number, rest) = (number + 1, others);
        }
    } else {
        block = block.get_mut(..length).unwrap_or_default();
    }
    let choices = bank_stream(bank, Purpose::Choices);
    let (mut order, mut there) = (RowOrder::default(), usize::MAX);
    let mut runs = Runs::new(sink);
    for (place, unit) in bank.indices().enumerate() {
        let (mut best, mut choice) = (i32::MIN, 0);
        for member in 0..pool {
            let k = unit * pool + member;
            let row = if shared > 0 {
                let word = choices.draw(k as u64 / 4) >> (16 * (k % 4));
                (usize::from(word as u16) * shared) >> 16
            } else {
                let number = k >> log;
                if number != there {
                    there = number;
                    project(number, block);
                    order = RowOrder::new(bank, number);
                }
                order.row(k, length)
            };
            // The lowest index wins a tie; no projection is as low as the start.
            let z = block.get(row).copied().unwrap_or(0);
            if z > best {
                (best, choice) = (z, member);
            }
        }
        if matches!(bank.family, Family::Sigmoid) {
            let byte =
                bank_stream(bank, Purpose::Offsets).draw(unit as u64 / 8) >> (8 * (unit % 8));
            let one = if matches!(bank.law, Law::Gaussian) { 1 } else { NORMAL_ONE };
            best += normal(byte as u8) * (SIGMOID_BIAS / one);
        }
        let mut feature = bank.scale.apply_saturating(best);
        if matches!(bank.family, Family::Sigmoid) {
            feature = logistic(feature);
        }
        runs.put(feature);
        runs.sink.code(place, choice as u16);
    }
    runs.flush();
}
