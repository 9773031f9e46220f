//! CRC-32 (IEEE 802.3, reflected), a nibble at a time: 64 bytes of table.

use crate::bytes::u32_at;

const fn table() -> [u32; 16] {
    let mut table = [0u32; 16];
    let mut i = 0;
    while i < 16 {
        let mut value = i as u32;
        let mut bit = 0;
        while bit < 4 {
            value = (value >> 1) ^ (0xedb8_8320 & (0u32.wrapping_sub(value & 1)));
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
}

const TABLE: [u32; 16] = table();

/// A running CRC-32.
#[derive(Clone, Copy)]
pub(crate) struct Crc32(u32);

impl Crc32 {
    pub(crate) const fn new() -> Self {
        Self(!0)
    }

    pub(crate) const fn byte(self, byte: u8) -> Self {
        let mut value = self.0 ^ byte as u32;
        value = (value >> 4) ^ TABLE[(value & 15) as usize];
        value = (value >> 4) ^ TABLE[(value & 15) as usize];
        Self(value)
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |crc, &byte| crc.byte(byte))
    }

    pub(crate) const fn finish(self) -> u32 {
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
