//! CRC-32 (IEEE 802.3, reflected), a nibble at a time: 64 bytes of table.

use crate::bytes::u32_at;

/// What the 16 nibbles come to.
#[rustfmt::skip]
const TABLE: [u32; 16] = [
    0x0000_0000, 0x1db7_1064, 0x3b6e_20c8, 0x26d9_30ac, 0x76dc_4190, 0x6b6b_51f4, 0x4db2_6158, 0x5005_713c,
    0xedb8_8320, 0xf00f_9344, 0xd6d6_a3e8, 0xcb61_b38c, 0x9b64_c2b0, 0x86d3_d2d4, 0xa00a_e278, 0xbdbd_f21c,
];

/// A running CRC-32, as at the end of blobs: for what a firmware stores beside them, too.
#[derive(Clone, Copy, Debug)]
pub struct Crc32(u32);

impl Crc32 {
    /// Of no bytes.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a default would say less")]
    pub const fn new() -> Self {
        Self(!0)
    }

    pub(crate) const fn byte(self, byte: u8) -> Self {
        let mut value = self.0 ^ byte as u32;
        value = (value >> 4) ^ TABLE[(value & 15) as usize];
        value = (value >> 4) ^ TABLE[(value & 15) as usize];
        Self(value)
    }

    /// With these bytes after those before.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |crc, &byte| crc.byte(byte))
    }

    /// The checksum.
    #[must_use]
    pub const fn finish(self) -> u32 {
        !self.0
    }
}

/// The CRC-32 of the first `length` bytes (all of them if there are fewer).
pub(crate) const fn crc32(bytes: &[u8], length: usize) -> u32 {
    let mut crc = Crc32::new();
    let mut i = 0;
    while i < length && i < bytes.len() {
        crc = crc.byte(bytes[i]);
        i += 1;
    }
    crc.finish()
}

/// Whether the last four bytes of a blob are the CRC-32 of the others.
pub(crate) const fn checksum_holds(blob: &[u8]) -> bool {
    let length = blob.len().saturating_sub(4);
    crc32(blob, length) == u32_at(blob, length)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_standard_check_value() {
        assert_eq!(super::crc32(b"123456789", 9), 0xcbf4_3926);
    }
}
