//! Packed codes of weights times features.

use crate::format::{byte_at, u32_at};

/// Σ u·φ over a run of at most 256, for codes of `bits` bits (of 16, the bytes
/// that `codes` starts with).
pub(super) struct Weigher(u8);

impl Weigher {
    #[inline]
    pub(super) fn new(bits: u8) -> Self {
        Self(bits)
    }

    #[inline]
    pub(super) fn weigh(&self, codes: &[u8], run: &[i16]) -> i32 {
        match self.0 {
            4 => nibbles(codes, run),
            8 | 16 => bytes(codes, run, usize::from(self.0 / 8)),
            bits => packed(bits, codes, run),
        }
    }
}

/// Σ u·φ for codes of 4 bits, the usual width: sixteen at a time, without a branch,
/// every shift a constant.
#[inline(never)]
fn nibbles(codes: &[u8], run: &[i16]) -> i32 {
    let (groups, features) = run.as_chunks::<16>();
    let mut sum = 0;
    for (codes, features) in codes.as_chunks::<8>().0.iter().zip(groups) {
        sum += sixteen(codes, features);
    }
    if !features.is_empty() {
        sum += packed(4, codes.get(groups.len() * 8..).unwrap_or(&[]), features);
    }
    sum
}

#[inline(always)]
fn sixteen(codes: &[u8; 8], features: &[i16; 16]) -> i32 {
    let &[a, b, c, d, e, f, g, h] = codes;
    let pair = |i: usize, byte: u8| {
        i32::from(byte & 15) * i32::from(features[i])
            + i32::from(byte >> 4) * i32::from(features[i + 1])
    };
    let half = pair(0, a) + pair(2, b) + pair(4, c) + pair(6, d);
    half + pair(8, e) + pair(10, f) + pair(12, g) + pair(14, h)
}

/// The same for any codes of less than a byte, eight of `bits` bits in as many bytes.
#[inline(never)]
fn packed(bits: u8, codes: &[u8], run: &[i16]) -> i32 {
    let (mut sum, mut codes) = (0, codes);
    let mask = (1 << bits) - 1;
    for features in run.chunks(8) {
        let mut word = u32_at(codes, 0);
        for &phi in features {
            sum += (word & mask) as i32 * i32::from(phi);
            word >>= bits;
        }
        codes = codes.get(usize::from(bits)..).unwrap_or(&[]);
    }
    sum
}

/// The same for codes of a byte, `step` bytes apart.
#[inline(never)]
fn bytes(codes: &[u8], run: &[i16], step: usize) -> i32 {
    let mut sum = 0;
    let mut at = 0;
    for &phi in run {
        sum += i32::from(byte_at(codes, at)) * i32::from(phi);
        at += step;
    }
    sum
}
