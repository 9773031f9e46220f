//! How many features fit in so many bytes.

use koan::{Calibration, Family};

use super::Base;
use crate::Error;
use crate::blob::{BankWeights, HeadSpec, ModelSpec};
use crate::fit::width;
use crate::prune::{only, pool};

/// The blob with these features, and weights of so many bits that are all 0.
pub(super) fn blank(
    base: &Base<'_>,
    features: &ModelSpec,
    bits: u8,
) -> Result<Vec<u8>, koan::Error> {
    let outputs = base.problem.outputs;
    let width = width(bits, false);
    let weights = features
        .banks
        .iter()
        .map(|bank| BankWeights {
            width,
            codes: vec![vec![0; bank.columns()]; outputs],
            multipliers: vec![1; outputs],
        })
        .collect();
    let head = HeadSpec { scale: 1.0, shift: 0, bias: vec![0; outputs], weights };
    let calibration = Some(Calibration { slope: 1.0, intercept: 0.0 });
    base.whole(features, head, calibration).encode()
}

/// The bytes of the model with one feature, which is of the first bank.
pub(super) fn least(base: &Base<'_>, bits: u8) -> Result<usize, Error> {
    Ok(blank(base, &only(&pool(&base.spec, 1), &[0]), bits)?.len())
}

/// The most features of each bank that fit in so many bytes without a list of those kept; where
/// not even all inputs of a linear bank do, as many of these at most.
pub(super) fn most(base: &Base<'_>, flash: usize, bits: u8) -> usize {
    let fits = |spec: &ModelSpec| blank(base, spec, bits).is_ok_and(|blob| blob.len() <= flash);
    let limit = usize::from(u16::MAX);
    match largest(limit, |features| fits(&pool(&base.spec, features as u16))) {
        0 => largest(limit, |features| fits(&first_inputs(&base.spec, features as u16))),
        most => most,
    }
}

/// A pool of which linear banks have the first inputs alone.
fn first_inputs(spec: &ModelSpec, features: u16) -> ModelSpec {
    let mut pool = pool(spec, features);
    for bank in pool.banks.iter_mut().filter(|bank| bank.family == Family::Linear) {
        if features < bank.features {
            bank.features = features;
            bank.kept = Some((0..features.into()).collect());
        }
    }
    pool
}

/// The largest number from 1 to `limit` that satisfies what holds for all numbers
/// below one that it holds for; 0 if none does.
pub(super) fn largest(limit: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn finds_the_last_number_that_holds() {
        for last in 0..20 {
            assert_eq!(largest(19, |n| n <= last), last.min(19));
        }
    }
}
