//! Stump: sign(x_i − t).
//!
//! Feature k looks at input (start + k) mod n of the n inputs in use, and its
//! threshold is the quantile at (first + k·step) mod 2^16; start, first and step
//! are drawn once. Every input gets the same number of stumps, and its thresholds
//! follow each other by the golden ratio: they fill the range evenly. Both
//! estimate the same kernel as independent draws with less variance, and cost no
//! draw.

use crate::format::bank::Bank;
use crate::format::family::{Group, Law};
use crate::generator::{Purpose, Stream};
use crate::needs::{Needs, Profile, serves};
use crate::numerics::{normal, quotient, uniform};
use crate::sink::{FEATURE_ONE, Runs, Sink, features_mut, hand_over, run_memory};

/// 2^16 divided by the golden ratio.
const GOLDEN: u32 = 40_503;

#[inline(never)]
pub(super) fn generate<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    q: &[i16],
    sink: &mut dyn Sink,
) {
    let mut walk = Walk::new(bank);
    if serves::<P>(Needs::LISTS) && bank.is_kept() {
        walk.kept::<P, N>(bank, q, sink);
        return;
    }
    let mut memory = run_memory::<N>();
    let mut first = 0;
    while first < usize::from(bank.features) {
        let features = features_mut(&mut memory);
        let length = features.len().min(usize::from(bank.features) - first);
        let Some(run) = features.get_mut(..length) else { return };
        walk.fill::<P>(bank, run, q);
        hand_over(&mut memory, first, length, sink);
        first += length;
    }
}

/// Which input each feature looks at, and where its threshold lies.
struct Walk {
    /// Inputs in use.
    count: u32,
    /// Among them.
    next: usize,
    /// In the high half.
    place: u32,
    step: u32,
}

impl Walk {
    fn new(bank: &Bank<'_>) -> Self {
        let used = bank.groups().filter(|group| !matches!(group.law, Law::None));
        // Not 0: the parser refuses a bank that leaves all inputs out.
        let count = used.map(|group| u32::from(group.inputs)).sum::<u32>().max(1);
        let draws = Stream::of_bank(bank.seed, bank.index, Purpose::Choices);
        let below = |draw: u64| ((u64::from(draw as u32) * u64::from(count)) >> 32) as u32;
        // `count` steps go GOLDEN further, modulo 2^16.
        let step = quotient(GOLDEN + (below(draws.draw(1)) << 16), count);
        Self {
            count,
            next: below(draws.draw(0)) as usize,
            place: (draws.draw(2) as u32) << 16,
            step: step << 16,
        }
    }

    /// The features of a list. A function of its own for its memory.
    #[inline(never)]
    fn kept<P: Profile, const N: usize>(
        &mut self,
        bank: &Bank<'_>,
        q: &[i16],
        sink: &mut dyn Sink,
    ) {
        let mut runs = Runs::<N>::new(sink);
        let mut at = 0;
        for k in bank.indices_of::<P>() {
            self.skip(k.wrapping_sub(at) as u32);
            let mut feature = [0];
            self.fill::<P>(bank, &mut feature, q);
            let [feature] = feature;
            runs.push(feature);
            at = k + 1;
        }
        runs.flush();
    }

    /// Leaves `count` features out.
    fn skip(&mut self, count: u32) {
        self.place = self.place.wrapping_add(self.step.wrapping_mul(count));
        let mut next = (self.next as u32).wrapping_add(count);
        // Mostly once around at most: division is slow on small cores.
        if next >= self.count {
            next -= self.count;
        }
        if next >= self.count {
            next -= quotient(next, self.count) * self.count;
        }
        self.next = next as usize;
    }

    /// The next features.
    fn fill<P: Profile>(&mut self, bank: &Bank<'_>, mut run: &mut [i8], q: &[i16]) {
        while !run.is_empty() {
            let Some((input, left, group)) = locate(bank, self.next) else {
                // Behind the last input, or, in a bank that was not checked, none at all.
                if core::mem::take(&mut self.next) == 0 {
                    return;
                }
                continue;
            };
            let length = run.len().min(left);
            let Some((part, rest)) = run.split_at_mut_checked(length) else { return };
            let values = q.get(input..).unwrap_or(&[]);
            let scale = group.scale;
            match group.law {
                Law::Uniform => self.stumps(part, values, |i| scale.apply_wrapping(uniform(i))),
                _ => self.stumps(part, values, |i| scale.apply_wrapping(normal(i, P::SMALL))),
            }
            self.next += length;
            run = rest;
        }
    }

    /// Features of consecutive inputs. A function of its own: small cores have too
    /// few registers to share them with the caller.
    #[inline(never)]
    fn stumps(&mut self, run: &mut [i8], q: &[i16], threshold: impl Fn(u8) -> i32) {
        let (mut place, step) = (self.place, self.step);
        for (feature, &value) in run.iter_mut().zip(q) {
            // -1 above the threshold, else 0.
            let above = threshold((place >> 24) as u8).wrapping_sub(value.into()) >> 31;
            let sign = (above & (2 * i32::from(FEATURE_ONE))) - i32::from(FEATURE_ONE);
            *feature = sign as i8;
            place = place.wrapping_add(step);
        }
        self.place = place;
    }
}

/// Input number `choice` among those that are in use: where it lies in the row,
/// how many inputs of its group lie from it on, and the group. None beyond them.
fn locate(bank: &Bank<'_>, mut choice: usize) -> Option<(usize, usize, Group)> {
    let mut before = 0;
    for group in bank.groups() {
        let inputs = usize::from(group.inputs);
        if !matches!(group.law, Law::None) {
            if choice < inputs {
                return Some((before + choice, inputs - choice, group));
            }
            choice -= inputs;
        }
        before += inputs;
    }
    None
}
