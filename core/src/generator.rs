//! The integer generator from which every random draw of a model comes.
//!
//! It is wyrand (the [`wyhash`] crate's final version 3), used by *counter*:
//! draw `i` of stream `s` is a pure function of `(seed, s, i)`. So a device can
//! make feature 1,734 alone, in any order, without the 1,733 before it.
//!
//! The `wyhash` feature `mum32bit` changes the numbers, and cargo unifies
//! features across a whole build. A blob therefore carries a [`check_word`],
//! and [`Predictor::new`](crate::Predictor::new) refuses a model whose
//! generator differs from the one that was linked.

use rand_core::{RngCore, impls};
#[cfg(target_pointer_width = "64")]
use wyhash::final3::wyrng;

#[cfg(not(target_pointer_width = "64"))]
use narrow::wyrng;

/// wyrand's additive constant: the state advances by it on every draw.
const WEYL: u64 = 0xa076_1d64_78bd_642f;

/// Separates the streams of one seed: an odd constant (the golden ratio, 2^64/φ).
const STREAM_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// What wyrand draws from a state. Of a number, not of a place in memory, and where a product
/// of 64 bits is long once in the program.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
#[cfg_attr(target_pointer_width = "64", inline)]
fn drawn(mut state: u64) -> u64 {
    wyrng(&mut state)
}

/// One stream of draws of a seed.
///
/// Reading by counter with [`Stream::draw`] and reading in order through
/// [`rand_core::RngCore`] give the same numbers.
///
/// ```
/// use koan::generator::Stream;
/// use rand_core::RngCore;
///
/// let mut in_order = Stream::new(42, 0);
/// let by_counter = Stream::new(42, 0);
/// for i in 0..100 {
///     assert_eq!(in_order.next_u64(), by_counter.draw(i));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    base: u64,
    position: u64,
}

impl Stream {
    /// Stream number `stream` of `seed`.
    #[must_use]
    pub fn new(seed: u64, stream: u32) -> Self {
        let state = seed.wrapping_add(STREAM_STEP.wrapping_mul(u64::from(stream) + 1));
        Self { base: drawn(state), position: 0 }
    }

    /// Draw `index` of this stream: 64 uniform bits.
    #[inline]
    #[must_use]
    pub fn draw(&self, index: u64) -> u64 {
        drawn(self.base.wrapping_add(WEYL.wrapping_mul(index)))
    }

    /// The draws from `index` on, in order.
    #[inline]
    pub(crate) fn draws(&self, index: u64) -> Draws {
        Draws { state: self.base.wrapping_add(WEYL.wrapping_mul(index)) }
    }
}

/// Consecutive draws of a stream: cheaper than counting, as the state itself
/// advances.
#[derive(Clone, Default)]
pub(crate) struct Draws {
    state: u64,
}

impl Draws {
    /// Those that start so many further.
    #[inline]
    pub(crate) fn after(&self, count: usize) -> Self {
        Self { state: self.state.wrapping_add(WEYL.wrapping_mul(count as u64)) }
    }

    /// The next draw.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let state = self.state;
        self.state = state.wrapping_add(WEYL);
        drawn(state)
    }
}

impl RngCore for Stream {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        let value = self.draw(self.position);
        self.position = self.position.wrapping_add(1);
        value
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        impls::fill_bytes_via_next(self, bytes);
    }
}

/// wyrand from 32-bit products, for targets without a 64-bit multiply: the crate's
/// 128-bit product costs a Cortex-M0 three times as much.
#[cfg(any(test, not(target_pointer_width = "64")))]
mod narrow {
    use super::WEYL;

    /// wyrand's second constant: its other factor is the state XOR this.
    const MASK: u64 = 0xe703_7ed1_a0b4_28db;

    /// The same numbers as `wyhash::final3::wyrng`.
    #[inline]
    pub(super) fn wyrng(state: &mut u64) -> u64 {
        *state = state.wrapping_add(WEYL);
        fold_product(*state, *state ^ MASK)
    }

    /// The two halves of the 128-bit product `a·b`, XORed.
    fn fold_product(a: u64, b: u64) -> u64 {
        let (a0, a1) = (a as u32, (a >> 32) as u32);
        let (b0, b1) = (b as u32, (b >> 32) as u32);
        let low = product(a0, b0);
        let cross = product(a0, b1);
        // At most (2^32 - 1)^2 + 2·(2^32 - 1) = 2^64 - 1.
        let middle = product(a1, b0) + (low >> 32) + u64::from(cross as u32);
        let high = product(a1, b1) + (cross >> 32) + (middle >> 32);
        high ^ (middle << 32 | u64::from(low as u32))
    }

    /// The 64-bit product of two 32-bit numbers; ARMv6-M multiplies to 32 bits only.
    #[inline]
    fn product(a: u32, b: u32) -> u64 {
        if cfg!(all(target_arch = "arm", not(target_has_atomic = "32"))) {
            return product_of_halves(a, b);
        }
        u64::from(a) * u64::from(b)
    }

    /// The same from 16-bit halves.
    #[inline]
    pub(super) fn product_of_halves(a: u32, b: u32) -> u64 {
        let (a0, a1) = (a & 0xffff, a >> 16);
        let (b0, b1) = (b & 0xffff, b >> 16);
        let low = a0 * b0;
        // Neither sum exceeds (2^16 - 1)^2 + 2^16 - 1.
        let cross = a0 * b1 + (low >> 16);
        let middle = a1 * b0 + (cross & 0xffff);
        let high = a1 * b1 + (cross >> 16) + (middle >> 16);
        u64::from(high) << 32 | u64::from(middle << 16 | low & 0xffff)
    }
}

/// Streams of one bank: what a draw is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Projection weights or signs, grid pitches and shifts.
    Weights = 0,
    /// The sequence of fourier offsets, biases of sigmoid features.
    Offsets = 1,
    /// Where a stump's inputs and thresholds start, which projections a maxout unit
    /// takes, in which order the rows of a wide transform come, where a bin's hash
    /// starts, what a fern compares.
    Choices = 2,
}

impl Stream {
    /// The stream for one purpose of the bank number `bank` of a model.
    pub(crate) fn of_bank(seed: u64, bank: u8, purpose: Purpose) -> Self {
        Self::new(seed, u32::from(bank) * 4 + purpose as u32)
    }
}

/// Draw `index` for one purpose of a bank. A function of its own, with numbers alone: for
/// the memory of its callers.
#[inline(never)]
pub(crate) fn bank_draw(seed: u64, bank: u8, purpose: Purpose, index: u32) -> u64 {
    Stream::of_bank(seed, bank, purpose).draw(index.into())
}

/// The stream that draws the rows of the golden digest.
pub(crate) fn golden_stream(seed: u64) -> Stream {
    Stream::new(seed, u32::MAX - 1)
}

/// 16 bits that tell whether two builds draw the same numbers from `seed`.
///
/// A blob carries the word of the generator that it was trained with.
#[must_use]
#[inline(never)]
pub fn check_word(seed: u64) -> u16 {
    let stream = Stream::new(seed, u32::MAX);
    let word = stream.draw(0) ^ stream.draw(1).rotate_left(32);
    (word ^ (word >> 16) ^ (word >> 32) ^ (word >> 48)) as u16
}

/// Mixes `word` into `hash`: the hash of a bin's cell vector, four cells a call.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    drawn(hash ^ word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STRIDE;

    #[test]
    fn draws_are_the_published_wyrand_sequence() {
        // The stream's base as a plain wyrand state gives the same sequence.
        let stream = Stream::new(7, 3);
        let mut state = stream.base;
        for i in 0..if cfg!(miri) { 20 } else { 1000 } {
            assert_eq!(stream.draw(i), wyrng(&mut state));
        }
    }

    #[test]
    fn draws_from_narrow_products_are_the_same() {
        for seed in 0..2000u64 {
            let state = seed.wrapping_mul(STREAM_STEP) ^ seed;
            let (mut wide, mut narrow) = (state, state);
            assert_eq!(wyhash::final3::wyrng(&mut wide), narrow::wyrng(&mut narrow));
            assert_eq!(wide, narrow);
            let (a, b) = (state as u32, (state >> 32) as u32);
            assert_eq!(narrow::product_of_halves(a, b), u64::from(a) * u64::from(b));
        }
        assert_eq!(narrow::product_of_halves(!0, !0), 0xffff_fffe_0000_0001);
    }

    #[test]
    fn streams_and_seeds_differ() {
        let mut seen = std::collections::HashSet::new();
        for seed in (0..50).step_by(STRIDE.min(10)) {
            for stream in 0..50 {
                for i in 0..4 {
                    assert!(seen.insert(Stream::new(seed, stream).draw(i)));
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "many draws, no memory")]
    fn bytes_of_draws_are_uniform() {
        let stream = Stream::new(1, 0);
        let mut counts = [0u32; 256];
        for i in 0..32_768 {
            for byte in stream.draw(i).to_le_bytes() {
                counts[usize::from(byte)] += 1;
            }
        }
        // chi-square with 255 degrees of freedom: mean 255, deviation 22.6.
        let expected = 1024.0;
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!((chi - 255.0).abs() < 4.0 * 22.6, "chi-square {chi}");
    }
}
