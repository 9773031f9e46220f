//! Fern: a few comparisons of single inputs, whose bits together choose one of the fern's
//! weights: a small tree that has the same question at all nodes of a level.
//!
//! All of a fern comes from its number: 16 bits of one draw are an input and the threshold
//! it is compared with. The trainer chooses, of very many, those that are worth their index.

use crate::format::bank::Bank;
use crate::format::family::Law;
use crate::generator::{Purpose, Stream};
use crate::needs::Profile;
use crate::numerics::{normal, uniform};
use crate::sink::Sink;

#[inline(never)]
pub(super) fn generate<P: Profile>(bank: &Bank<'_>, depth: u8, q: &[i16], sink: &mut dyn Sink) {
    let stream = Stream::of_bank(bank.seed, bank.index, Purpose::Choices);
    let leaves = 1usize << (depth & 15);
    for (column, number) in bank.indices_of::<P>().enumerate() {
        let mut words = stream.draw(number as u64);
        let (mut code, mut bit) = (0usize, 1usize);
        while bit < leaves {
            // Below 2^16 · 2^16: the input in the high half, the threshold's place in the low
            // one. Inputs are below 2^16.
            let place = u32::from(words as u16).wrapping_mul(q.len() as u32);
            let value = q.get((place >> 16) as usize).copied().unwrap_or(0);
            let byte = (place >> 8) as u8;
            let threshold = match bank.law {
                Law::Uniform => uniform(byte),
                _ => normal(byte, P::SMALL),
            };
            if i32::from(value) > bank.scale.apply_wrapping(threshold) {
                code |= bit;
            }
            bit <<= 1;
            words >>= 16;
        }
        sink.one_hot(column * leaves + code, leaves);
        sink.code(column, code as u16);
    }
}
