//! What `stump.rs` does, where bytes count more than time: each feature by itself.

use super::{FEATURE_ONE, GOLDEN, Runs};
use crate::bank::{Bank, Law};
use crate::generator::{Purpose, bank_stream};
use crate::numerics::{normal, uniform};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate(bank: &Bank<'_>, q: &[i16], sink: &mut dyn Sink) {
    let mut count = 0;
    for group in bank.groups() {
        if !matches!(group.law, Law::None) {
            count += u32::from(group.inputs);
        }
    }
    // Not 0: the parser refuses a bank that leaves all inputs out.
    count = count.max(1);
    let draws = bank_stream(bank, Purpose::Choices);
    let below = |draw: u64| ((u64::from(draw as u32) * u64::from(count)) >> 32) as u32;
    let start = below(draws.draw(0));
    let step = (GOLDEN + (below(draws.draw(1)) << 16)) / count;
    let first = draws.draw(2) as u32;
    let mut runs = Runs::new(sink);
    for k in bank.indices() {
        let k = k as u32;
        let mut choice = ((start + k) % count) as usize;
        let byte = (first.wrapping_add(step.wrapping_mul(k)) >> 8) as u8;
        let mut before = 0;
        for group in bank.groups() {
            let inputs = usize::from(group.inputs);
            let threshold = match group.law {
                Law::None => {
                    before += inputs;
                    continue;
                }
                Law::Uniform => uniform(byte),
                _ => normal(byte),
            };
            if choice < inputs {
                let value = q.get(before + choice).copied().unwrap_or(0);
                let above = i32::from(value) > group.scale.apply_wrapping(threshold);
                runs.put(if above { FEATURE_ONE } else { -FEATURE_ONE });
                break;
            }
            choice -= inputs;
            before += inputs;
        }
    }
    runs.flush();
}
