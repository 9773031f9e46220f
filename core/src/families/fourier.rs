//! Fourier: cos(w·x + b), b uniform on 256 angles.
//!
//! 256 equally spaced phases average products of cosines exactly as the
//! continuous uniform law does (three would), so a byte of phase costs nothing.

use super::projection::{Dense, Hadamard, phase_input};
use super::{FeatureBytes, Runs, Sink};
use crate::bank::{Bank, Law};
use crate::generator::{Purpose, bank_stream};
use crate::numerics::cos;

pub(super) fn generate(
    bank: &Bank<'_>,
    seed: u64,
    q: &[i16],
    block: &mut [i16],
    sink: &mut dyn Sink,
) {
    let features = usize::from(bank.features);
    let mut offsets = FeatureBytes::new(bank_stream(seed, bank.index, Purpose::Offsets));
    let mut phase = |z: i16| z.wrapping_add(i16::from(offsets.next()) << 8);
    if matches!(bank.law, Law::Hadamard) {
        let projections = Hadamard::new(bank, seed, q.len());
        let (mut first, mut number) = (0, 0);
        while first < features && !block.is_empty() {
            projections.transform(number, q, block, |value| phase_input(bank.scale, value));
            let length = block.len().min(features - first);
            if let Some(phases) = block.get_mut(..length) {
                phases.iter_mut().for_each(|place| *place = phase(*place));
                cosines(phases);
                sink.run(first, phases);
            }
            first += length;
            number += 1;
        }
        return;
    }
    let projections = Dense::new(bank, seed, q.len());
    let grouped = bank.is_grouped();
    let mut runs = Runs::new(sink);
    for k in 0..features {
        let z = if grouped {
            projections.project_groups(k, q)
        } else {
            bank.scale.apply_wrapping(projections.project(k, q))
        };
        runs.push(cos(phase(z as i16)));
    }
    runs.flush();
}

/// Phases to features in place.
fn cosines(phases: &mut [i16]) {
    #[cfg(target_feature = "simd128")]
    let phases = {
        let (eights, rest) = phases.as_chunks_mut::<8>();
        eights.iter_mut().for_each(|eight| *eight = crate::simd::cos(*eight));
        rest
    };
    phases.iter_mut().for_each(|place| *place = cos(*place));
}
