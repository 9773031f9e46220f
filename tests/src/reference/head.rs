//! Scores, golden digest and CRC-32.

use super::banks::Family;
use super::features::{bank_codes, bank_features};
use super::generator::Stream;
use super::parse::Reference;

impl Reference {
    /// The scores of a quantised row.
    #[must_use]
    pub fn scores_of(&self, q: &[i64]) -> Vec<i32> {
        let Some(head) = &self.head else { return Vec::new() };
        let features: Vec<_> =
            self.banks.iter().map(|bank| bank_features(bank, self.seed, q)).collect();
        let score = |t: usize| {
            let mut sum = 0i128;
            for (b, phi) in features.iter().enumerate() {
                let dot: i128 = phi
                    .iter()
                    .zip(&head.weights[b][t])
                    .map(|(&phi, &weight)| i128::from(phi) * i128::from(weight))
                    .sum();
                sum += dot * i128::from(head.multipliers[b][t]);
            }
            assert!(i64::try_from(sum).is_ok(), "the specification says that it fits an i64");
            let half = (1i128 << head.shift) / 2;
            let rounded = (sum + half).div_euclid(1 << head.shift);
            let bounded = rounded.clamp(i128::from(i32::MIN), i128::from(i32::MAX));
            let biased = bounded + i128::from(head.bias[t]);
            biased.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i32
        };
        (0..self.outputs).map(score).collect()
    }

    /// The golden digest: over scores, or features when there is no head.
    #[must_use]
    pub fn digest(&self) -> u32 {
        let stream = Stream::new(self.seed, (1 << 32) - 2);
        let mut bytes = Vec::new();
        for r in 0..4 {
            let q: Vec<i64> = (0..self.inputs)
                .map(|i| {
                    let n = r * self.inputs + i;
                    let drawn = i64::from(stream.word(n / 4, n % 4) as i16);
                    drawn.div_euclid(1 << (2 * r)).clamp(-self.limit, self.limit)
                })
                .collect();
            bytes.extend(self.scores_of(&q).iter().flat_map(|score| score.to_le_bytes()));
            if self.outputs == 0 {
                for bank in &self.banks {
                    if let Family::Bin { slot_bits: bits } | Family::Fern { depth: bits } =
                        bank.family
                    {
                        for (k, code) in bank_codes(bank, self.seed, &q).iter().enumerate() {
                            let column = (k << bits) as u32 + u32::from(*code);
                            bytes.extend(column.to_le_bytes());
                        }
                    } else {
                        let features = bank_features(bank, self.seed, &q);
                        bytes.extend(features.iter().flat_map(|&phi| (phi as i16).to_le_bytes()));
                    }
                }
            }
        }
        crc32(&bytes)
    }
}

/// CRC-32 of IEEE 802.3, bit by bit.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    // 0x04c11db7 with its bits in reverse order.
    let polynomial = 0x04c1_1db7u32.reverse_bits();
    let mut crc = 0xffff_ffffu32;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ polynomial } else { crc >> 1 };
        }
    }
    crc ^ 0xffff_ffff
}
