//! What `weigher.rs` does, where bytes count more than time: one loop for codes of all
//! widths.

/// Σ u·φ over a run of at most 256, for codes of `bits` bits (of 16, the bytes that
/// `codes` starts with).
pub(super) struct Weigher(u8);

impl Weigher {
    #[inline]
    pub(super) fn new(bits: u8) -> Self {
        Self(bits)
    }

    // Not inlined: for the caller's memory.
    #[inline(never)]
    pub(super) fn weigh(&self, codes: &[u8], run: &[i16]) -> i32 {
        if self.0 == 4 { nibbles(codes, run) } else { packed(self.0, codes, run) }
    }
}

/// Codes of 4 bits, the usual width, two from a byte.
#[inline(always)]
fn nibbles(codes: &[u8], run: &[i16]) -> i32 {
    let (mut sum, mut phis) = (0, run.iter());
    for &byte in codes {
        let Some(&phi) = phis.next() else { break };
        sum += i32::from(byte & 15) * i32::from(phi);
        let Some(&phi) = phis.next() else { break };
        sum += i32::from(byte >> 4) * i32::from(phi);
    }
    sum
}

/// Codes of any width, those of 16 bits `step` bytes apart.
#[inline(always)]
fn packed(width: u8, mut codes: &[u8], run: &[i16]) -> i32 {
    let bits = u32::from(width.min(8));
    let (mut sum, mut word, mut left) = (0, 0, 0);
    for &phi in run {
        if left < bits
            && let Some((&byte, rest)) = codes.split_first()
        {
            word |= u32::from(byte) << left;
            left += 8;
            codes = rest;
            if width == 16 {
                codes = codes.get(1..).unwrap_or(&[]);
            }
        }
        sum += (word & ((1 << bits) - 1)) as i32 * i32::from(phi);
        word >>= bits;
        left = left.saturating_sub(bits);
    }
    sum
}
