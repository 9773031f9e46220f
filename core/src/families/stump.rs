//! Stump: sign(x_i − t).
//!
//! Feature k looks at input (start + k·stride) mod n of the n inputs in use,
//! start and stride drawn once: every input gets the same number of stumps,
//! which estimates the same kernel as independent choices with less variance,
//! and leaves a whole draw for 8 thresholds.

use super::{FEATURE_ONE, FeatureBytes, Runs, Sink};
use crate::bank::{Bank, Group, Law};
use crate::generator::{Purpose, Stream, bank_stream};
use crate::numerics::{NORMAL, uniform};

pub(super) fn generate(bank: &Bank<'_>, seed: u64, q: &[i16], sink: &mut dyn Sink) {
    let used = bank
        .groups()
        .filter(|group| !matches!(group.law, Law::None))
        .map(|group| usize::from(group.inputs))
        .sum();
    let mut choices = Choices::new(bank_stream(seed, bank.index, Purpose::Choices), used);
    let mut thresholds = FeatureBytes::new(bank_stream(seed, bank.index, Purpose::Weights));
    let mut runs = Runs::new(sink);
    for _ in 0..bank.features {
        let (input, group) = locate(bank, choices.next());
        let byte = thresholds.next();
        let quantile = match group.law {
            Law::Uniform => uniform(byte),
            _ => i32::from(NORMAL[usize::from(byte)]),
        };
        let value = i32::from(q.get(input).copied().unwrap_or(0));
        let above = value > group.scale.apply_wrapping(quantile);
        runs.push(if above { FEATURE_ONE } else { -FEATURE_ONE });
    }
    runs.flush();
}

/// Which of `count` inputs each feature looks at.
struct Choices {
    next: usize,
    stride: usize,
    count: usize,
}

impl Choices {
    fn new(stream: Stream, count: usize) -> Self {
        let below = |draw: u64, n: usize| ((draw as u32 as u64 * n as u64) >> 32) as usize;
        let mut stride = 1 + below(stream.draw(1), count.saturating_sub(1));
        while gcd(stride, count) > 1 {
            stride += 1;
        }
        Self { next: below(stream.draw(0), count), stride: stride % count.max(1), count }
    }

    #[inline]
    fn next(&mut self) -> usize {
        let choice = self.next;
        self.next += self.stride;
        if self.next >= self.count {
            self.next -= self.count;
        }
        choice
    }
}

const fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Input number `choice` among those that are in use, and its group.
#[inline]
fn locate(bank: &Bank<'_>, mut choice: usize) -> (usize, Group) {
    let mut before = 0;
    let mut last = None;
    for group in bank.groups() {
        let inputs = usize::from(group.inputs);
        if !matches!(group.law, Law::None) {
            if choice < inputs {
                return (before + choice, group);
            }
            choice -= inputs;
            last = Some(group);
        }
        before += inputs;
    }
    // Not reached: `choice` is below the number of inputs in use.
    let whole = Group { inputs: 0, law: bank.law, scale: bank.scale };
    (before, last.unwrap_or(whole))
}
