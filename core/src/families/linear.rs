//! Linear: the quantised inputs themselves, without their lowest bit.

use crate::format::bank::Bank;
use crate::needs::Profile;
use crate::sink::Sink;

/// Features of a run: they are wide, and few models have many.
const RUN: usize = 16;

#[inline(never)]
pub(super) fn generate<P: Profile>(bank: &Bank<'_>, q: &[i16], sink: &mut dyn Sink) {
    let mut indices = bank.indices_of::<P>();
    // Zeros that the compiler does not know: no routine that clears memory.
    let mut run = [core::hint::black_box(0i16); RUN];
    let mut first = 0;
    loop {
        let mut length = 0;
        for place in &mut run {
            let Some(index) = indices.next() else { break };
            *place = q.get(index).copied().unwrap_or(0) & !1;
            length += 1;
        }
        match run.get(..length) {
            Some(run @ [_, ..]) => sink.wide_run(first, run),
            _ => return,
        }
        first += length;
    }
}
