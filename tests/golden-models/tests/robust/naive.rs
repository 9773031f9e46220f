//! What the reference takes, which the bound on a model's work does not say.

use crate::reference::{Family, Reference};

/// Products for a row: the reference multiplies matrices that the core transforms, and looks
/// for the group of every input.
#[must_use]
pub fn naive_work(reference: &Reference) -> usize {
    let d = reference.inputs;
    let of_banks = reference.banks.iter().map(|bank| {
        let projections = match bank.family {
            Family::Maxout { pool, shared: 0 } => bank.features * pool,
            Family::Maxout { pool, shared } => return shared * d + bank.features * pool,
            Family::Conv(conv) => {
                let positions: usize = conv.positions(1).iter().product();
                return bank.features * positions * (conv.taps() + conv.transform);
            }
            _ => bank.features,
        };
        projections * d * bank.groups.len()
    });
    of_banks.sum()
}
