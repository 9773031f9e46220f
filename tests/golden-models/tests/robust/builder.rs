//! Blobs by their bytes, as no trainer would write them.

use koan::generator::check_word;

use crate::mutate::fix_crc;

/// What the blobs are drawn from.
const SEED: u64 = 1;

/// A model of some banks.
#[derive(Clone, Default)]
pub struct Builder {
    pub inputs: u16,
    /// 0 for features only. With outputs, all weights, biases and multipliers are 0.
    pub outputs: u8,
    pub banks: Vec<Vec<u8>>,
    /// Bytes of all weights.
    pub weights: usize,
    pub sections: Vec<u8>,
    pub digest: u32,
}

impl Builder {
    /// The blob, a classification if it has outputs.
    pub fn blob(&self) -> Vec<u8> {
        let mut blob = b"KOAN\x01".to_vec();
        blob.push(u8::from(self.outputs > 0));
        blob.extend(self.inputs.to_le_bytes());
        blob.push(self.outputs);
        blob.extend(SEED.to_le_bytes());
        blob.extend(check_word(SEED).to_le_bytes());
        // The map of all inputs: no offset, shift 0.
        blob.extend([0, 0, 0, 0, 64, 255]);
        for (number, bank) in self.banks.iter().enumerate() {
            let at = blob.len();
            blob.extend(bank);
            if number + 1 < self.banks.len() {
                blob[at + 1] |= koan::option::MORE;
            }
        }
        if self.outputs > 0 {
            blob.extend(0.001f32.to_le_bytes());
            blob.push(8);
            let multipliers = self.banks.len() * usize::from(self.outputs);
            let multipliers = if multipliers == 1 { 0 } else { multipliers };
            let zeros = 4 * usize::from(self.outputs) + 2 * multipliers + self.weights;
            blob.resize(blob.len() + zeros, 0);
        }
        blob.extend(&self.sections);
        blob.extend(self.digest.to_le_bytes());
        blob.extend([0; 4]);
        fix_crc(&mut blob);
        blob
    }
}

/// A bank of a family and a law, by their codes, with the scale 1 and weights of 2 bits.
pub fn bank(family: u8, law: u8, features: u16, parameters: &[u8]) -> Vec<u8> {
    let mut bank = vec![family | law << 4, 0];
    bank.extend(features.to_le_bytes());
    bank.extend([1, 0]);
    bank.extend(parameters);
    bank
}

/// A section.
pub fn section(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut section = vec![tag];
    section.extend((bytes.len() as u16).to_le_bytes());
    section.extend(bytes);
    section
}
