//! Linear: the quantised inputs themselves.

use super::{Runs, sum};
use crate::bank::Bank;
use crate::kept::Listed;
use crate::sink::{MAX_RUN, Sink};

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], sink: &mut dyn Sink) {
    if let Some(list) = bank.listed() {
        kept(list, q, sink);
    } else {
        let mut first = 0;
        for run in q.chunks(MAX_RUN) {
            sink.run(first, run, sum(run));
            first += run.len();
        }
    }
}

/// Only the inputs of the list. A function of its own for its memory.
#[inline(never)]
fn kept(list: Listed<'_>, q: &[i16], sink: &mut dyn Sink) {
    let mut runs = Runs::new(sink);
    for index in list {
        runs.put(q.get(index).copied().unwrap_or(0));
    }
    runs.flush();
}
