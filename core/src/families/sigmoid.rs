//! Sigmoid: σ(w·x + b), b from the normal law.

use super::maxout::project;
use super::projection::bias_divisor;
use super::{FeatureBytes, Runs};
use crate::bank::{Bank, SIGMOID_BIAS};
use crate::generator::{Purpose, bank_stream};
use crate::numerics::{NORMAL, logistic};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    seed: u64,
    q: &[i16],
    wide: &mut [i32],
    sink: &mut Sink<'_, '_>,
) {
    let mut biases = FeatureBytes::new(bank_stream(seed, bank.index, Purpose::Offsets));
    let unit = SIGMOID_BIAS / bias_divisor(bank.law);
    let mut runs = Runs::new(sink);
    project(bank, seed, q, usize::from(bank.features), wide, |z| {
        let bias = i32::from(NORMAL[usize::from(biases.next())]) * unit;
        runs.push(logistic(bank.scale.apply_saturating(z + bias)));
    });
    runs.flush();
}
