//! Damaged blobs.

use crate::random::Random;
use crate::reference::crc32;

/// A damaged copy of `blob`: one to four bit flips, changed, swapped, inserted
/// or removed bytes, or parts of `other`. May by chance equal `blob`.
#[must_use]
pub fn mutated(blob: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = blob.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        // Half of the damage at the front, where the structure is.
        let reach = if random.below(2) == 0 { bytes.len().min(64) } else { bytes.len() };
        let at = random.below(reach);
        match random.below(8) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.bits() as u8,
            3 => bytes[at] = [0, 1, 127, 128, 255][random.below(5)],
            4 => {
                let second = random.below(bytes.len());
                bytes.swap(at, second);
            }
            5 => bytes.insert(at, random.bits() as u8),
            6 => {
                let end = (at + 1 + random.below(4)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => splice(&mut bytes, at, other, random),
        }
    }
    bytes
}

/// Replaces some bytes from `at` on by some of `other`.
fn splice(bytes: &mut Vec<u8>, at: usize, other: &[u8], random: &mut Random) {
    if other.is_empty() {
        return;
    }
    let from = random.below(other.len());
    let until = (from + 1 + random.below(24)).min(other.len());
    let end = (at + random.below(24)).min(bytes.len());
    bytes.splice(at..end, other[from..until].iter().copied());
}

/// Makes the last four bytes the CRC-32 of all before them.
pub fn fix_crc(blob: &mut [u8]) {
    if let Some((body, crc)) = blob.split_last_chunk_mut::<4>() {
        *crc = crc32(body).to_le_bytes();
    }
}
