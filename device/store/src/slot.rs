//! What lies in a slot.
//!
//! | where | what |
//! | --- | --- |
//! | first sector | header: `KNST`, number, length, CRC-32 of the model, CRC-32 of these |
//! | | a mark: the model has been tried |
//! | | a mark: the model is confirmed |
//! | other sectors | the model |
//!
//! Each begins with a whole unit of the flash, the larger of what it reads and what it writes
//! at once, and no unit is written twice. The marks lie beside the header and not beside the
//! model, so that the model can be erased first: a cut in the middle of an erase leaves
//! anything, also a header without its mark, but no model to it.

use koan::Crc32;

const MAGIC: [u8; 4] = *b"KNST";

/// Bytes of a header, without what fills its last unit up.
pub(crate) const HEADER: usize = 20;

/// What a flash reads or writes at once, at most.
pub(crate) const MOST_UNIT: usize = 64;

/// The byte that marks consist of.
pub(crate) const MARK: u8 = 0;

/// The byte of erased flash.
pub(crate) const ERASED: u8 = 0xff;

/// What makes a slot's model count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Higher than that of the model before.
    pub number: u32,
    pub length: u32,
    /// CRC-32 of the model.
    pub crc: u32,
}

impl Header {
    pub fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let words = [MAGIC, self.number.to_le_bytes(), self.length.to_le_bytes()];
        let words = words.into_iter().chain([self.crc.to_le_bytes()]);
        bytes.as_chunks_mut::<4>().0.iter_mut().zip(words).for_each(|(place, word)| *place = word);
        if let Some((written, end)) = bytes.split_last_chunk_mut::<4>() {
            *end = Crc32::new().bytes(written).finish().to_le_bytes();
        }
        bytes
    }

    /// The header in these bytes, if there is one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        let (written, crc) = bytes.split_last_chunk::<4>()?;
        if Crc32::new().bytes(written).finish() != u32::from_le_bytes(*crc) {
            return None;
        }
        let [magic, number, length, crc] = *written.as_chunks::<4>().0.first_chunk()?;
        let [number, length, crc] = [number, length, crc].map(u32::from_le_bytes);
        (magic == MAGIC).then_some(Self { number, length, crc })
    }
}

/// A unit in which something may be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing has been written.
    None,
    /// Something has, but not to the end.
    Begun,
    Whole,
}

impl Mark {
    pub fn read(unit: &[u8]) -> Self {
        if unit.iter().all(|&byte| byte == ERASED) {
            Self::None
        } else if unit.iter().all(|&byte| byte == MARK) {
            Self::Whole
        } else {
            Self::Begun
        }
    }
}

/// What is known of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub header: Option<Header>,
    pub tried: Mark,
    pub confirmed: Mark,
}

impl Slot {
    /// One that holds nothing, or that cannot be read.
    pub const EMPTY: Self = Self { header: None, tried: Mark::None, confirmed: Mark::None };
}
