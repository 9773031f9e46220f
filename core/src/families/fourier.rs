//! Fourier: cos(w·x + b), b uniform on the circle.

use bytemuck::cast_slice_mut;

use super::Offsets;
use super::dense::Dense;
use super::hadamard::{InPairs, Transforms, is_hadamard, lower_angle};
use crate::format::bank::{Bank, fourier_block, hadamard_block, in_pairs, paired_words};
use crate::generator::{Purpose, bank_draw};
use crate::needs::{Needs, Profile, known_inputs, rolled, serves};
use crate::numerics::cosine;
use crate::sink::{MAX_RUN, Runs, Sink, features_mut, hand_over, run_memory};
use crate::weigh::{clear_behind, pair};

#[inline(always)]
pub(super) fn generate<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    if !is_hadamard::<P>(bank) {
        dense::<P, N>(bank, q, sink);
        return;
    }
    let inputs = const { known_inputs::<P>() }.map_or(q.len(), usize::from);
    match (!P::SMALL && in_pairs(inputs), serves::<P>(Needs::LISTS) && bank.is_kept()) {
        (true, true) => kept_in_pairs::<P, N>(bank, q, wide, sink),
        (true, false) => whole_in_pairs::<P>(bank, q, wide, sink),
        (false, true) => kept::<P, N>(bank, q, block, sink),
        (false, false) => whole::<P, N>(bank, q, block, sink),
    }
}

/// What starts the sequence of a bank's offsets.
#[inline(always)]
fn offset_draw(bank: &Bank<'_>) -> u64 {
    bank_draw(bank.seed, bank.index, Purpose::Offsets, 0)
}

/// Phases that a transform or a part of one gives, in a block of which `most` are there:
/// another bank may need a longer one. In a browser it always is long enough for a whole
/// transform.
#[inline(always)]
fn block_length<P: Profile>(inputs: u16, most: usize) -> usize {
    let whole = hadamard_block(inputs);
    if cfg!(target_family = "wasm") && P::SMALL && most >= whole {
        return whole;
    }
    fourier_block(inputs, P::FORM)
}

/// Features of dense projections.
#[inline(never)]
fn dense<P: Profile, const N: usize>(bank: &Bank<'_>, q: &[i16], sink: &mut dyn Sink) {
    let projections = Dense::<P>::new(bank, q.len());
    let draw = offset_draw(bank);
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
fn whole<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    sink: &mut dyn Sink,
) {
    let inputs = const { known_inputs::<P>() }.unwrap_or(q.len() as u16);
    let length = block_length::<P>(inputs, block.len());
    let Some(phases) = block.get_mut(..length) else { return };
    let features = usize::from(bank.features);
    let transforms = Transforms::new::<P>(bank, q);
    let mut offsets = Offsets::from(offset_draw(bank), 0);
    let mut memory = run_memory::<N>();
    let mut first = 0;
    while first < features {
        transforms.fill::<P, i16>(first, phases);
        for phases in phases.chunks(features_mut(&mut memory).len().max(1)) {
            let length = phases.len().min(features - first);
            let phases = phases.get(..length).unwrap_or_default();
            cosines::<P>(phases, &mut offsets, features_mut(&mut memory));
            hand_over(&mut memory, first, length, sink);
            first += length;
        }
    }
}

/// The same of transforms in pairs, where the features take the place of the phases.
#[inline(never)]
fn whole_in_pairs<P: Profile>(bank: &Bank<'_>, q: &[i16], wide: &mut [i32], sink: &mut dyn Sink) {
    let inputs = const { known_inputs::<P>() }.unwrap_or(q.len() as u16);
    let each = hadamard_block(inputs) / 2;
    let Some(words) = wide.get_mut(..paired_words(inputs)) else { return };
    let features = usize::from(bank.features);
    let mut offsets = Offsets::from(offset_draw(bank), 0).rounded();
    let mut transforms = InPairs::from(bank, 0, q);
    let mut first = 0;
    while first < features {
        let mut at = 0;
        while let Some(words) = words.get_mut(at..at + each) {
            transforms.next(words);
            at += each;
        }
        let length = (2 * words.len()).min(features - first);
        let pairs = cast_slice_mut(words).as_chunks_mut().0;
        cosines_in_pairs(pairs.get_mut(..length.div_ceil(8)).unwrap_or_default(), &mut offsets);
        clear_behind(pairs, length);
        let runs = pairs.as_chunks().0.get(..length.div_ceil(MAX_RUN)).unwrap_or_default();
        sink.laid_out(first, runs, length);
        first += length;
    }
}

/// Features of phases in pairs, laid out for the head, in their place. A function of its own
/// for the registers; the offsets stay in memory.
#[inline(never)]
fn cosines_in_pairs(words: &mut [[u32; 4]], offsets: &mut Offsets) {
    for place in words {
        let mut two = |word| {
            let [even, odd] = angles(word);
            let even = i32::from(cosine(offsets.add_next(even), false));
            [even, i32::from(cosine(offsets.add_next(odd), false))]
        };
        // What is known is stored at once: registers are few.
        let [a, b] = two(place[0]);
        place[0] = pair(a, 0);
        let [c, d] = two(place[1]);
        place[1] = pair(b, 0);
        rolled();
        let [e, f] = two(place[2]);
        place[2] = pair(c, 0);
        place[0] = place[0].wrapping_add(e as u32);
        place[1] = place[1].wrapping_add(f as u32);
        rolled();
        let [g, h] = two(place[3]);
        place[2] = place[2].wrapping_add(g as u32);
        place[3] = pair(d, h);
        rolled();
    }
}

/// The angles that a word of [`InPairs`] stands for, for rounded offsets; a full
/// turn is 2^32.
#[inline(always)]
fn angles(word: u32) -> [u32; 2] {
    let lower = lower_angle(word as i32);
    [lower.wrapping_add(word), lower.wrapping_sub(word)]
}

/// Features of phases. A function of its own: small cores have too few registers to share
/// them with the caller.
#[inline(never)]
fn cosines<P: Profile>(phases: &[i16], offsets: &mut Offsets, run: &mut [i8]) {
    #[cfg(target_feature = "simd128")]
    if P::SMALL {
        crate::simd::cosines(phases, offsets, run);
        return;
    }
    // A copy, which may live in registers.
    let mut next = *offsets;
    let mut one = |phase: i16| cosine(next.add_next((phase as u32) << 16), P::SMALL);
    // In twos: fewer instructions of the loop's own.
    let (twos, last) = phases.as_chunks::<2>();
    for (place, &[first, second]) in run.as_chunks_mut::<2>().0.iter_mut().zip(twos) {
        place[0] = one(first);
        place[1] = one(second);
        rolled();
    }
    if let (Some(place), &[phase]) = (run.get_mut(2 * twos.len()), last) {
        *place = one(phase);
    }
    *offsets = next;
}

/// The features of a list, and of transforms those that have any.
#[inline(never)]
fn kept<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    block: &mut [i16],
    sink: &mut dyn Sink,
) {
    let length = block_length::<P>(q.len() as u16, block.len());
    let Some(phases) = block.get_mut(..length) else { return };
    let draw = offset_draw(bank);
    let transforms = Transforms::new::<P>(bank, q);
    let mut runs = Runs::<N>::new(sink);
    // Where the phases end that are there.
    let mut end = 0;
    for k in bank.indices_of::<P>() {
        let first = k & !(length - 1);
        if k >= end {
            transforms.fill::<P, i16>(first, phases);
            end = first + length;
        }
        let phase = phases.get(k - first).copied().unwrap_or(0);
        let angle = Offsets::from(draw, k).add_next((phase as u32) << 16);
        runs.push(cosine(angle, P::SMALL));
    }
    runs.flush();
}

/// The same of transforms in pairs.
#[inline(never)]
fn kept_in_pairs<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    let length = hadamard_block(q.len() as u16);
    let Some(words) = wide.get_mut(..length / 2) else { return };
    let draw = offset_draw(bank);
    let mut runs = Runs::<N>::new(sink);
    let mut end = 0;
    for k in bank.indices_of::<P>() {
        let first = k & !(length - 1);
        if k >= end {
            let number = first >> (length.trailing_zeros() & 31);
            InPairs::from(bank, number, q).next(words);
            end = first + length;
        }
        let word = words.get((k - first) / 2).copied().unwrap_or(0);
        let [even, odd] = angles(word as u32);
        let angle = if k % 2 == 0 { even } else { odd };
        runs.push(cosine(Offsets::from(draw, k).rounded().add_next(angle), false));
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
        cosines::<Any>(&phases, &mut start.clone(), &mut all);
        for length in 0..=phases.len() {
            let (mut offsets, mut run) = (start, [99; 8]);
            cosines::<Any>(&phases[..length], &mut offsets, &mut run);
            assert_eq!(run[..length], all[..length]);
            assert!(run[length..].iter().all(|&phi| phi == 99), "{length}");
        }
        let mut each = start;
        for (&phase, &phi) in phases.iter().zip(&all) {
            assert_eq!(phi, cosine(each.add_next((phase as u32) << 16), false));
        }
    }
}
