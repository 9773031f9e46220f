//! Fourier, cos(w·x + b), of a list: only the features that are kept, and of
//! transforms the blocks that have any.

use super::projection::{Dense, Hadamard};
use super::{Runs, offset_of};
use crate::bank::{Bank, Law};
use crate::format::fourier_block;
use crate::generator::{Purpose, bank_draw};
use crate::kept::Listed;
use crate::numerics::cos;
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    list: Listed<'_>,
    q: &[i16],
    block: &mut [i16],
    sink: &mut dyn Sink,
) {
    let is_dense = !matches!(bank.law, Law::Hadamard) && cfg!(feature = "dense");
    let dense = Dense::new(bank, q.len());
    let length = fourier_block(q.len() as u16);
    // Where the block ends that the phases are of.
    let mut end = 0;
    let draw = bank_draw(bank, Purpose::Offsets, 0);
    let mut runs = Runs::new(sink);
    for k in list {
        let phase = if is_dense {
            dense.phase(k, q)
        } else {
            let Some(block) = block.get_mut(..length) else { return };
            if k >= end {
                let first = k & !(length - 1);
                Hadamard::from(bank, first, q.len()).phases(q, block);
                end = first + length;
            }
            block.get(k & (length - 1)).copied().unwrap_or(0)
        };
        runs.put(cos(phase.wrapping_add(offset_of(draw, k))));
    }
    runs.flush();
}
