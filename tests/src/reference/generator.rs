//! The generator: 128-bit products, by the definition.

const WYRAND_ADD: u64 = 0xa076_1d64_78bd_642f;
const WYRAND_XOR: u64 = 0xe703_7ed1_a0b4_28db;
const STREAM_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mum(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// One step of wyrand from the state `s`.
pub(super) fn wyrng(s: u64) -> u64 {
    let s = s.wrapping_add(WYRAND_ADD);
    mum(s, s ^ WYRAND_XOR)
}

/// A stream of draws of a seed.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    base: u64,
}

impl Stream {
    /// Stream number `number` of `seed`.
    #[must_use]
    pub fn new(seed: u64, number: u64) -> Self {
        Self { base: wyrng(seed.wrapping_add((number + 1).wrapping_mul(STREAM_STEP))) }
    }

    /// What draw 0 is drawn from.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Draw `i`.
    #[must_use]
    pub fn draw(&self, i: usize) -> u64 {
        wyrng(self.base.wrapping_add((i as u64).wrapping_mul(WYRAND_ADD)))
    }

    /// Byte `j` of draw `i`.
    #[must_use]
    pub fn byte(&self, i: usize, j: usize) -> u8 {
        (self.draw(i) >> (8 * j)) as u8
    }

    /// The `u16` number `j` of draw `i`.
    #[must_use]
    pub fn word(&self, i: usize, j: usize) -> u16 {
        (self.draw(i) >> (16 * j)) as u16
    }

    /// Bit `j` of draw `i`.
    #[must_use]
    pub fn bit(&self, i: usize, j: usize) -> bool {
        self.draw(i) >> j & 1 == 1
    }
}

/// The check word of the generator for a seed.
pub(crate) fn check_word(seed: u64) -> u16 {
    let stream = Stream::new(seed, (1 << 32) - 1);
    let x = stream.draw(0) ^ stream.draw(1).rotate_left(32);
    (0..4).fold(0, |word, j| word ^ (x >> (16 * j)) as u16)
}
