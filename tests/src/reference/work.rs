//! The bound on a model's work.

use koan::Law;

use super::banks::{Bank, Conv, Family};
use super::parse::Reference;

impl Reference {
    /// The most work that a model may have.
    pub const MOST_WORK: u64 = 1 << 28;

    /// Additions, products and look-ups of a prediction, as the specification counts
    /// them.
    #[must_use]
    pub fn work(&self) -> u64 {
        let (inputs, outputs) = (self.inputs as u64, self.outputs as u64);
        let of_bank = |bank: &Bank| {
            let list = match bank.has_list() {
                true => 8 * (bank.list_bytes as u64 - 3),
                false => 0,
            };
            features(bank, inputs) + list + outputs * bank.features as u64
        };
        inputs + self.banks.iter().map(of_bank).sum::<u64>()
    }
}

/// What an input of a dense projection counts as, with its part of a draw.
const DENSE: u64 = 4;
/// What an input of a grid counts as, with its part of a draw and of a hash.
const BIN: u64 = 16;
/// What a fern counts as, with its draw.
const FERN: u64 = 16;

/// The work of a bank's features without those of its list and of the head.
fn features(bank: &Bank, d: u64) -> u64 {
    let k = bank.features as u64;
    let last = *bank.indices.last().expect("a bank has features") as u64;
    let groups = if bank.grouped { bank.groups.len() as u64 } else { 0 };
    let hadamard = bank.groups[0].law == Law::Hadamard;
    let p = d.next_power_of_two().max(8);
    let transform = p * u64::from(p.ilog2());
    // Units of q projections of their own.
    let own = |q: u64| match hadamard {
        true => (k * q).min((last * q + q - 1) / p + 1) * transform + k * q,
        false => DENSE * k * q * d,
    };
    match bank.family {
        Family::Linear => k,
        Family::Fourier if hadamard => k.min(last / p + 1) * transform + k,
        Family::Fourier => DENSE * k * (d + groups),
        Family::Bin { .. } => BIN * k * (d + groups),
        Family::Stump => k * (1 + groups),
        Family::Fern { .. } => FERN * k,
        Family::Maxout { pool, shared: 0 } => own(pool as u64),
        Family::Maxout { pool, shared } => {
            let (q, shared) = (pool as u64, shared as u64);
            let all = if hadamard { shared.div_ceil(p) * transform } else { DENSE * shared * d };
            all + k * q
        }
        Family::Sigmoid => own(1),
        Family::Conv(conv) => filters(&conv, k, last) + k,
        Family::Series(series) => {
            let each = 4 * series.kernel as u64 + 32;
            k.min(last / 8 + 1) * series.length as u64 * each + k
        }
    }
}

fn filters(conv: &Conv, k: u64, last: u64) -> u64 {
    let length = conv.transform as u64;
    let positions: usize = conv.positions(1).iter().product();
    let each = conv.taps() as u64 + length * u64::from(length.ilog2()) + length;
    let blocks = k.min(last / (length * conv.cells() as u64) + 1);
    blocks * positions as u64 * each
}
