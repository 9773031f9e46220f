//! How many features fit in so many bytes.

use koan::Calibration;

use super::Base;
use crate::Error;
use crate::blob::{BankWeights, HeadSpec, ModelSpec};
use crate::fit::width;
use crate::prune::pool;

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

/// The most features of each bank, of at most `limit`, that fit in so many bytes
/// without a list of those kept, and the bytes of the model with one.
pub(super) fn most(
    base: &Base<'_>,
    flash: usize,
    bits: u8,
    limit: usize,
) -> Result<(usize, usize), Error> {
    let limit = limit.min(usize::from(u16::MAX));
    let size = |features: usize| -> Result<usize, Error> {
        Ok(blank(base, &pool(&base.spec, features as u16), bits)?.len())
    };
    let least = size(1)?;
    let fits = |features: usize| size(features).is_ok_and(|bytes| bytes <= flash);
    Ok((largest(limit, fits), least))
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
