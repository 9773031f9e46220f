//! Which sizes of a candidate are judged: as many features as limits allow.

use koan::{Family, Form};

use super::code;
use super::cost::Core;
use super::curve::Size;
use super::footprint::Footprint;
use crate::blob::{BankSpec, ModelSpec, columns, whole};

/// What a model may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of the blob, and of the runtime's code where that counts.
    pub flash: usize,
    /// Whether the code counts as flash, in this form on a Cortex-M0 (about, [`code_bytes`]).
    ///
    /// [`code_bytes`]: super::code_bytes
    pub code: Option<Form>,
    /// Bytes of the core's buffers.
    pub ram: Option<usize>,
    /// Instructions of a prediction.
    pub instructions: Option<u64>,
    /// The core that instructions are counted on.
    pub core: Core,
}

impl Limits {
    /// A model of at most so many bytes; nothing else is limited.
    #[must_use]
    pub const fn of_flash(flash: usize) -> Self {
        Self { flash, code: None, ram: None, instructions: None, core: Core::CortexM0 }
    }

    /// A share of the flash; of what the smallest code leaves where code counts.
    pub(super) fn share(&self, share: f64) -> usize {
        let least = self.code.map_or(0, code::least).min(self.flash);
        least + (share * (self.flash - least) as f64) as usize
    }
}

/// The largest sizes of at most `most` columns whose blobs fit `targets` bytes,
/// for each of `bits`; without repetition.
#[must_use]
pub fn sizes(
    spec: &ModelSpec,
    footprint: &Footprint,
    limits: &Limits,
    targets: &[usize],
    bits: &[u8],
    most: usize,
) -> Vec<Size> {
    let mut sizes = Vec::new();
    for &target in targets {
        for &bits in bits {
            if let Some(features) = largest(spec, footprint, limits, target, bits, most) {
                let size = Size { features, bits };
                if !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
        }
    }
    sizes
}

/// Features of each bank when the first has about `count`: a bank of inputs has all, one of
/// convolutions whole filters, at least one.
fn features(spec: &ModelSpec, count: u16) -> Vec<u16> {
    let of = |bank: &BankSpec| match bank.family {
        Family::Linear => bank.features,
        family => whole(family, count),
    };
    spec.banks.iter().map(of).collect()
}

/// Bytes of flash with so many features.
#[must_use]
pub fn bytes(spec: &ModelSpec, footprint: &Footprint, size: &Size) -> usize {
    footprint.bytes(&columns_of(spec, &size.features), size.bits)
}

/// The columns of each bank with so many features.
pub(super) fn columns_of(spec: &ModelSpec, features: &[u16]) -> Vec<usize> {
    spec.banks.iter().zip(features).map(|(bank, &f)| columns(bank.family, f)).collect()
}

/// The most features that fit; none if not even one does.
fn largest(
    spec: &ModelSpec,
    footprint: &Footprint,
    limits: &Limits,
    target: usize,
    bits: u8,
    most: usize,
) -> Option<Vec<u16>> {
    let fits = |count: u16| {
        let features = features(spec, count);
        let columns = columns_of(spec, &features);
        let cost = || footprint.instructions(limits.core, &features, bits);
        (count == 1 || columns.iter().sum::<usize>() <= most)
            && footprint.bytes(&columns, bits) <= target
            && limits.instructions.is_none_or(|limit| cost() <= limit)
    };
    if !fits(1) {
        return None;
    }
    // All that is bounded grows with the number of features.
    let (mut low, mut high) = (1u16, 1u16);
    while high < u16::MAX / 2 && fits(high * 2) {
        high *= 2;
        low = high;
    }
    high = high.saturating_mul(2);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    // Banks of inputs alone do not grow.
    let grows = spec.banks.iter().any(|bank| bank.family != Family::Linear);
    Some(features(spec, if grows { low } else { 1 }))
}
