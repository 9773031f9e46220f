//! Fourier: cos(w·x + b), b uniform on the circle.

use bytemuck::{Pod, cast_slice_mut};

use super::Offsets;
use super::projection::{Dense, UPPER, is_hadamard, transform, two_transforms};
use crate::format::bank::{Bank, fourier_block, hadamard_block, in_pairs};
use crate::generator::{Purpose, bank_draw};
use crate::needs::{Needs, Profile, known_inputs, serves};
use crate::numerics::cosine;
use crate::sink::{Runs, Sink, hand_over, run_memory};

#[inline(never)]
pub(super) fn generate<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    let draw = bank_draw(bank.seed, bank.index, Purpose::Offsets, 0);
    if !is_hadamard::<P>(bank) {
        dense::<P, N>(bank, q, draw, sink);
        return;
    }
    // Another bank may need longer buffers. In a browser they always are long enough for a
    // whole transform.
    let whole = hadamard_block(q.len() as u16);
    let is_whole = cfg!(target_family = "wasm") && P::SMALL && block.len() >= whole;
    let length = if is_whole { whole } else { fourier_block(q.len() as u16, P::FORM) };
    let inputs = const { known_inputs::<P>() }.map_or(q.len(), usize::from);
    if !P::SMALL && in_pairs(inputs) {
        let words = wide.get_mut(..length).unwrap_or_default();
        transformed::<P, N, i32>(bank, q, words, draw, sink);
    } else {
        let block = block.get_mut(..length).unwrap_or_default();
        transformed::<P, N, i16>(bank, q, block, draw, sink);
    }
}

/// Phases of a transform or a part of one, or, in words, of two transforms.
trait Phase: Pod {
    /// How many phases are in one.
    const EACH: usize;

    /// Makes those from number `first` on, a multiple of how many they are.
    fn fill<P: Profile>(bank: &Bank<'_>, first: usize, q: &[i16], phases: &mut [Self]);

    /// The angle of the only or the lower phase; a full turn is 2^32.
    fn angle(self) -> u32;
}

impl Phase for i16 {
    const EACH: usize = 1;

    fn fill<P: Profile>(bank: &Bank<'_>, first: usize, q: &[i16], phases: &mut [Self]) {
        transform::<P, i16>(bank, first, q, phases);
    }

    #[inline(always)]
    fn angle(self) -> u32 {
        (self as u32) << 16
    }
}

impl Phase for i32 {
    const EACH: usize = 2;

    fn fill<P: Profile>(bank: &Bank<'_>, first: usize, q: &[i16], phases: &mut [Self]) {
        two_transforms(bank, first >> (phases.len().trailing_zeros() & 31), q, phases);
    }

    #[inline(always)]
    fn angle(self) -> u32 {
        (self as u32) << UPPER
    }
}

/// Features of transforms.
#[inline(always)]
fn transformed<P: Profile, const N: usize, T: Phase + Into<i32>>(
    bank: &Bank<'_>,
    q: &[i16],
    phases: &mut [T],
    draw: u64,
    sink: &mut dyn Sink,
) {
    if phases.is_empty() {
        return;
    }
    if serves::<P>(Needs::LISTS) && bank.is_kept() {
        kept::<P, N, T>(bank, q, phases, draw, sink);
    } else {
        whole::<P, N, T>(bank, q, phases, draw, sink);
    }
}

/// Features of dense projections.
#[inline(never)]
fn dense<P: Profile, const N: usize>(bank: &Bank<'_>, q: &[i16], draw: u64, sink: &mut dyn Sink) {
    let projections = Dense::<P>::new(bank, q.len());
    let mut runs = Runs::<N>::new(sink);
    for k in bank.indices_of::<P>() {
        let phase = projections.phase(k, q) as u32;
        let angle = Offsets::from(draw, k).add_next(phase << 16);
        runs.push(cosine(angle, P::SMALL));
    }
    runs.flush();
}

/// Transform after transform, all features.
#[inline(never)]
fn whole<P: Profile, const N: usize, T: Phase + Into<i32>>(
    bank: &Bank<'_>,
    q: &[i16],
    phases: &mut [T],
    draw: u64,
    sink: &mut dyn Sink,
) {
    let features = usize::from(bank.features);
    let mut offsets = Offsets::from(draw, 0);
    let mut memory = run_memory::<N>();
    let run: &mut [i8] = cast_slice_mut(&mut memory);
    let mut first = 0;
    while first < features {
        T::fill::<P>(bank, first, q, phases);
        for part in 0..T::EACH {
            for phases in phases.chunks(run.len()) {
                let length = phases.len().min(features.saturating_sub(first));
                let phases = phases.get(..length).unwrap_or_default();
                if part == 0 {
                    cosines::<P, T>(phases, T::angle, &mut offsets, run);
                } else {
                    let mut raised = offsets.of_uppers();
                    cosines::<P, T>(phases, |word| word.into() as u32, &mut raised, run);
                    offsets = raised.of_lowers();
                }
                hand_over(run, first, length, sink);
                first += length;
            }
        }
    }
}

/// Features of phases. A function of its own: small cores have too few registers to share
/// them with the caller.
#[inline(never)]
fn cosines<P: Profile, T: Pod>(
    phases: &[T],
    angle: impl Fn(T) -> u32,
    offsets: &mut Offsets,
    run: &mut [i8],
) {
    // Phases of the small form are of 16 bits.
    #[cfg(target_feature = "simd128")]
    if P::SMALL {
        crate::simd::cosines(bytemuck::cast_slice(phases), offsets, run);
        return;
    }
    // A copy, which may live in registers.
    let mut next = *offsets;
    let mut one = |phase| cosine(next.add_next(angle(phase)), P::SMALL);
    // In twos: fewer instructions of the loop's own.
    let (twos, last) = phases.as_chunks::<2>();
    for (place, &[first, second]) in run.as_chunks_mut::<2>().0.iter_mut().zip(twos) {
        place[0] = one(first);
        place[1] = one(second);
    }
    if let (Some(place), &[phase]) = (run.get_mut(2 * twos.len()), last) {
        *place = one(phase);
    }
    *offsets = next;
}

/// The features of a list, and of transforms those that have any.
#[inline(never)]
fn kept<P: Profile, const N: usize, T: Phase + Into<i32>>(
    bank: &Bank<'_>,
    q: &[i16],
    phases: &mut [T],
    draw: u64,
    sink: &mut dyn Sink,
) {
    let (length, all) = (phases.len(), phases.len() * T::EACH);
    let mut runs = Runs::<N>::new(sink);
    // Where the phases end that are there.
    let mut end = 0;
    for k in bank.indices_of::<P>() {
        let first = k & !(all - 1);
        if k >= end {
            T::fill::<P>(bank, first, q, phases);
            end = first + all;
        }
        let mut offset = Offsets::from(draw, k);
        let angle = match (phases.get(k - first), phases.get((k - first).wrapping_sub(length))) {
            (Some(phase), _) => offset.add_next(phase.angle()),
            (_, Some(&word)) if T::EACH > 1 => offset.of_uppers().add_next(word.into() as u32),
            _ => 0,
        };
        runs.push(cosine(angle, P::SMALL));
    }
    runs.flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needs::Any;

    #[test]
    fn any_number_of_cosines_is_made() {
        let phases = [-20_000i16, -300, 0, 9000, 32_767];
        let (start, mut all) = (Offsets::from(0x1230_4560_7890, 0), [0; 8]);
        cosines::<Any, i16>(&phases, Phase::angle, &mut start.clone(), &mut all);
        for length in 0..=phases.len() {
            let (mut offsets, mut run) = (start, [99; 8]);
            cosines::<Any, i16>(&phases[..length], Phase::angle, &mut offsets, &mut run);
            assert_eq!(run[..length], all[..length]);
            assert!(run[length..].iter().all(|&phi| phi == 99), "{length}");
        }
        let mut each = start;
        for (&phase, &phi) in phases.iter().zip(&all) {
            assert_eq!(phi, cosine(each.add_next(phase.angle()), false));
        }
    }
}
