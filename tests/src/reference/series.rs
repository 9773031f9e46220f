//! Series: filters at several dilations, and how often their sums are above a threshold.

use super::banks::{Bank, Series};
use super::features::{hadamard, offset, weights_stream};

/// What the filters of a block slide over.
pub struct Slide {
    /// D.
    pub dilation: usize,
    /// Whether over differences.
    pub difference: bool,
    /// c.
    pub channel: usize,
    /// s_i for 0 ≤ i < P.
    pub s: Vec<i64>,
    /// The signs of the taps.
    pub signs: Vec<i64>,
}

/// That of block `b`.
pub fn slide(bank: &Bank, series: &Series, seed: u64, b: usize, q: &[i64]) -> Slide {
    let (e, a) = (b % series.dilations, b / series.dilations);
    let (dilation, difference, channel) = (1 << e, a % 2 == 1, a / 2 % series.channels);
    let sample = |i: usize| q[i * series.channels + channel];
    let x: Vec<i64> = match difference {
        false => (0..series.length).map(sample).collect(),
        true => (0..series.length - dilation).map(|i| sample(i + dilation) - sample(i)).collect(),
    };
    let [level, slope] = series.gains[usize::from(difference)];
    let l = level + slope * e as i64;
    let (m, h) = (16 + l % 16, l / 16);
    let s = x.iter().map(|x| (x * m * 64).div_euclid(1 << (15 - h)).clamp(-32767, 32767)).collect();
    let stream = weights_stream(bank, seed);
    let signs = (0..series.kernel).map(|v| if stream.bit(b, 63 - v) { -1 } else { 1 }).collect();
    Slide { dilation, difference, channel, s, signs }
}

impl Slide {
    /// t_j at position `y`.
    pub fn folded(&self, y: usize) -> [i64; 8] {
        let mut t = [0; 8];
        let before = (self.signs.len() - 1) * self.dilation / 2;
        for (v, sign) in self.signs.iter().enumerate() {
            let place = (y + v * self.dilation).checked_sub(before);
            t[v % 8] += sign * place.and_then(|i| self.s.get(i)).unwrap_or(&0);
        }
        t
    }
}

/// The sum of a row.
pub fn sum(row: usize, t: &[i64; 8]) -> i64 {
    t.iter().enumerate().map(|(j, t)| hadamard(row, j) * t).sum()
}

/// b_k as an i16.
pub fn threshold(bank: &Bank, seed: u64, k: usize) -> i64 {
    i64::from(offset(bank, seed, k) as u16 as i16)
}

/// φ of a filter with `n` of so many positions.
pub fn feature(n: usize, positions: usize) -> i64 {
    ((508 * n + positions) / (2 * positions)) as i64 - 127
}

pub(super) fn series(bank: &Bank, series: &Series, seed: u64, q: &[i64]) -> Vec<i64> {
    let feature = |&k: &usize| {
        let slide = slide(bank, series, seed, k / 8, q);
        let b = threshold(bank, seed, k);
        let positions = slide.s.len();
        let above = |&y: &usize| sum(k % 8, &slide.folded(y)) + b >= 0;
        feature((0..positions).filter(above).count(), positions)
    };
    bank.indices.iter().map(feature).collect()
}
