//! Fern: a few comparisons of single inputs, whose bits together choose one of the fern's
//! weights: a small tree that has the same question at all nodes of a level.
//!
//! All of a fern comes from its number: 16 bits of one draw are an input and the threshold
//! it is compared with. The trainer chooses, of very many, those that are worth their index.

use crate::format::bank::Bank;
use crate::format::family::Law;
use crate::generator::{Purpose, Stream};
use crate::needs::{Any, Profile};
use crate::numerics::{normal, uniform};
use crate::sink::Sink;

/// What a bit of a fern's code says: whether an input lies above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The number of the input.
    pub input: usize,
    /// In the units of the input map.
    pub threshold: i32,
}

impl Comparison {
    /// The one that the lowest 16 bits of a draw say.
    #[inline(always)]
    fn of<P: Profile>(bank: &Bank<'_>, word: u64, inputs: usize) -> Self {
        // Below 2^16 · 2^16: the input in the high half, the threshold's place in the low one.
        // Inputs are below 2^16.
        let place = u32::from(word as u16).wrapping_mul(inputs as u32);
        let byte = (place >> 8) as u8;
        let threshold = match bank.law {
            Law::Uniform => uniform(byte),
            _ => normal(byte, P::SMALL),
        };
        Self { input: (place >> 16) as usize, threshold: bank.scale.apply_wrapping(threshold) }
    }
}

/// The comparisons of fern `number` of a bank over so many inputs, the lowest bit first: a fern
/// of depth D has the first D of them. For hosts, which look at many ferns at once.
#[must_use]
pub fn comparisons(bank: &Bank<'_>, number: usize, inputs: usize) -> [Comparison; 4] {
    let words = Stream::of_bank(bank.seed, bank.index, Purpose::Choices).draw(number as u64);
    core::array::from_fn(|bit| Comparison::of::<Any>(bank, words >> (16 * bit), inputs))
}

#[inline(never)]
pub(super) fn generate<P: Profile>(bank: &Bank<'_>, depth: u8, q: &[i16], sink: &mut dyn Sink) {
    let stream = Stream::of_bank(bank.seed, bank.index, Purpose::Choices);
    let leaves = 1usize << (depth & 15);
    for (column, number) in bank.indices_of::<P>().enumerate() {
        let mut words = stream.draw(number as u64);
        let (mut code, mut bit) = (0usize, 1usize);
        while bit < leaves {
            let Comparison { input, threshold } = Comparison::of::<P>(bank, words, q.len());
            if i32::from(q.get(input).copied().unwrap_or(0)) > threshold {
                code |= bit;
            }
            bit <<= 1;
            words >>= 16;
        }
        sink.one_hot(column * leaves + code, leaves);
        sink.code(column, code as u16);
    }
}
