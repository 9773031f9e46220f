//! The blob, read in place and checked once. `docs/format.md` specifies every
//! byte; this module is its executable form.
//!
//! [`Model::parse`] is `const`: [`include_model!`](crate::include_model) fails
//! the build on a bad blob. After it has succeeded, the readers here cannot
//! fail; they are written so that even a wrong offset reads zeros and never
//! panics.

use crate::bank::{Bank, Family};
use crate::crc::crc32;
use crate::error::Error;
use crate::input::InputMap;
use crate::model::{Model, Task};

/// The first four bytes of every blob.
pub const MAGIC: [u8; 4] = *b"KOAN";
/// The format version that this build reads and writes.
pub const VERSION: u8 = 1;
/// The most features (grids, for bins) that a model may have, over all its
/// banks: so many products an accumulator holds for certain.
pub const MAX_FEATURES: u32 = 65_535;
/// The most columns that a model's head may have weights for: features, and
/// slots of grids.
pub const MAX_COLUMNS: u32 = 1 << 20;

/// Offsets of the fixed fields.
pub mod field {
    /// Format version, u8.
    pub const VERSION: usize = 4;
    /// Flags, u8: see [`flag`](super::flag).
    pub const FLAGS: usize = 5;
    /// Number of inputs, u16.
    pub const INPUTS: usize = 6;
    /// Number of outputs, u8; 0 for a model that is features only.
    pub const OUTPUTS: usize = 8;
    /// Seed, u64.
    pub const SEED: usize = 9;
    /// Generator check word, u16.
    pub const CHECK_WORD: usize = 17;
    /// First input map.
    pub const INPUT_MAP: usize = 19;
}

/// Bits of the flags byte; the others must be zero.
pub mod flag {
    /// The outputs are class scores.
    pub const CLASSIFICATION: u8 = 1;
    /// One input map for each input instead of one for all.
    pub const MAP_PER_INPUT: u8 = 2;
}

/// Tags of the optional sections. A tag of 128 or more must be understood.
pub mod section {
    /// Class names, UTF-8, separated by line feeds.
    pub const CLASS_NAMES: u8 = 1;
    /// Notes of the trainer: UTF-8 JSON.
    pub const NOTES: u8 = 2;
    /// Golden rows: inputs (f32) and their exact scores (i32), row by row.
    pub const GOLDEN_ROWS: u8 = 3;
    /// Calibration of the probabilities: slope and intercept, f32 each.
    pub const CALIBRATION: u8 = 4;
}

/// Bytes behind the sections: golden digest and CRC-32.
pub(crate) const TRAILER: usize = 8;

/// Byte `at`, or 0 beyond the end.
#[inline]
pub(crate) const fn byte_at(bytes: &[u8], at: usize) -> u8 {
    if at < bytes.len() { bytes[at] } else { 0 }
}

#[inline]
pub(crate) const fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte_at(bytes, at), byte_at(bytes, at + 1)])
}

#[inline]
pub(crate) const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u16_at(bytes, at) as u32 | (u16_at(bytes, at + 2) as u32) << 16
}

#[inline]
pub(crate) const fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) as u64 | (u32_at(bytes, at + 4) as u64) << 32
}

#[inline]
pub(crate) const fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_bits(u32_at(bytes, at))
}

/// `bytes[start..start + length]`, or as much of it as there is.
#[inline]
pub(crate) const fn slice_at(bytes: &[u8], start: usize, length: usize) -> &[u8] {
    match bytes.split_at_checked(start) {
        None => &[],
        Some((_, tail)) => match tail.split_at_checked(length) {
            None => tail,
            Some((head, _)) => head,
        },
    }
}

/// `Err` when the `length` bytes of `field` at `offset` do not end before `end`.
pub(crate) const fn need(
    end: usize,
    field: &'static str,
    offset: usize,
    length: usize,
) -> Result<(), Error> {
    if offset > end || end - offset < length {
        Err(Error::Truncated { field, offset })
    } else {
        Ok(())
    }
}

/// Whether the last four bytes are the CRC-32 of the others.
pub(crate) const fn checksum_holds(blob: &[u8]) -> bool {
    let length = blob.len().saturating_sub(4);
    crc32(blob, length) == u32_at(blob, length)
}

/// `?` for `const fn`.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
pub(crate) use attempt;

/// `Err(Field)` unless the condition holds.
macro_rules! require {
    ($condition:expr, $field:expr, $offset:expr) => {
        if !$condition {
            return Err(Error::Field { field: $field, offset: $offset });
        }
    };
}
pub(crate) use require;

impl<'a> Model<'a> {
    /// Checks a blob and gives the model that lies in it.
    ///
    /// Nothing is copied: the model is a view, `blob` may lie in flash and at
    /// any alignment. One pass over the bytes for the checksum; the work is
    /// proportional to the blob's length.
    ///
    /// # Errors
    /// Every truncation, damaged byte or value outside the format's limits,
    /// named by field and offset.
    pub const fn parse(blob: &'a [u8]) -> Result<Self, Error> {
        attempt!(need(blob.len(), "magic", 0, MAGIC.len()));
        let mut i = 0;
        while i < MAGIC.len() {
            if blob[i] != MAGIC[i] {
                return Err(Error::NotKoan);
            }
            i += 1;
        }
        attempt!(need(blob.len(), "version", field::VERSION, 1));
        if byte_at(blob, field::VERSION) != VERSION {
            return Err(Error::Version { found: byte_at(blob, field::VERSION) });
        }
        attempt!(need(blob.len(), "header", field::FLAGS, field::INPUT_MAP - field::FLAGS));
        attempt!(need(blob.len(), "trailer", field::INPUT_MAP, TRAILER));
        let end = blob.len() - TRAILER;
        if !checksum_holds(blob) {
            return Err(Error::Checksum);
        }
        Self::parse_checked(blob, end)
    }

    /// Everything behind the checksum; `end` is where the trailer starts.
    const fn parse_checked(blob: &'a [u8], end: usize) -> Result<Self, Error> {
        let flags = byte_at(blob, field::FLAGS);
        require!(flags & !(flag::CLASSIFICATION | flag::MAP_PER_INPUT) == 0, "flags", field::FLAGS);
        let inputs = u16_at(blob, field::INPUTS);
        require!(inputs > 0, "inputs", field::INPUTS);
        let outputs = byte_at(blob, field::OUTPUTS);
        let maps = if flags & flag::MAP_PER_INPUT != 0 { inputs as usize } else { 1 };
        attempt!(need(end, "input map", field::INPUT_MAP, maps * InputMap::BYTES));
        let banks_at = field::INPUT_MAP + maps * InputMap::BYTES;

        // Banks: a chain, the last of which has no "more" bit.
        let mut at = banks_at;
        let mut banks = 0usize;
        let mut features = 0u32;
        let mut columns = 0u32;
        let mut weight_bytes = 0usize;
        let mut limit = i16::MAX as i32;
        let mut block = 0usize;
        let mut wide = 0usize;
        let mut codes = 0u32;
        loop {
            let (bank, next, more) = attempt!(Bank::parse(blob, at, end, banks, inputs, outputs));
            require!(bank.check_kept(), "kept features", next - bank.kept_bytes());
            features += bank.features as u32;
            require!(features <= MAX_FEATURES, "bank features", at + 2);
            columns += bank.columns();
            require!(columns <= MAX_COLUMNS, "bank features", at + 2);
            weight_bytes += bank.row_bytes() * outputs as usize;
            codes += bank.codes() as u32;
            if bank.input_limit(inputs) < limit {
                limit = bank.input_limit(inputs);
            }
            let (bank_block, bank_wide) = bank.buffers(inputs);
            if bank_block > block {
                block = bank_block;
            }
            if bank_wide > wide {
                wide = bank_wide;
            }
            at = next;
            banks += 1;
            if !more {
                break;
            }
            require!(banks < 255, "banks", at);
        }

        let task = match (outputs, flags & flag::CLASSIFICATION != 0) {
            (0, false) => Task::Features,
            (0, true) => return Err(Error::Field { field: "flags", offset: field::FLAGS }),
            (_, true) => Task::Classification,
            (_, false) => Task::Regression,
        };
        let head_at = at;
        let mut weights_at = at;
        if outputs > 0 {
            let multipliers = banks * outputs as usize;
            let bias_bytes = 4 * outputs as usize;
            let length = 5 + bias_bytes + if multipliers > 1 { 2 * multipliers } else { 0 };
            attempt!(need(end, "head", head_at, length));
            let scale = f32_at(blob, head_at);
            require!(is_positive(scale), "score scale", head_at);
            require!(byte_at(blob, head_at + 4) <= 40, "score shift", head_at + 4);
            weights_at += length;
        }
        attempt!(need(end, "weights", weights_at, weight_bytes));
        let model = Self {
            blob,
            inputs,
            outputs,
            task,
            map_per_input: flags & flag::MAP_PER_INPUT != 0,
            limit: limit as i16,
            banks: banks as u8,
            columns,
            codes,
            block,
            wide,
            banks_at,
            head_at,
            weights_at,
            sections_at: weights_at + weight_bytes,
        };
        attempt!(model.check_sections(end));
        Ok(model)
    }

    /// Walks the sections up to `end` and checks the ones it knows.
    const fn check_sections(&self, end: usize) -> Result<(), Error> {
        let mut at = self.sections_at;
        let mut seen = 0u8;
        while at < end {
            attempt!(need(end, "section", at, 3));
            let tag = byte_at(self.blob, at);
            let length = u16_at(self.blob, at + 1) as usize;
            attempt!(need(end, "section", at + 3, length));
            let bytes = slice_at(self.blob, at + 3, length);
            let known = match tag {
                section::CLASS_NAMES => {
                    require!(
                        lines(bytes) == self.classes() && self.classes() > 0,
                        "class names",
                        at
                    );
                    true
                }
                section::NOTES => true,
                section::GOLDEN_ROWS => {
                    let row = self.golden_row_bytes();
                    require!(self.outputs > 0 && length > 0, "golden rows", at);
                    require!(length.is_multiple_of(row), "golden rows", at);
                    true
                }
                section::CALIBRATION => {
                    require!(length == 8 && self.classes() > 0, "calibration", at);
                    // The product is what probabilities multiply scores by.
                    let slope = f32_at(bytes, 0);
                    let exponents = exponent(slope) + exponent(self.score_scale());
                    require!(is_positive(slope) && exponents < 127, "calibration", at);
                    require!(f32_at(bytes, 4).to_bits() << 1 < 0xff00_0000, "calibration", at);
                    true
                }
                _ => {
                    if tag >= 128 {
                        return Err(Error::RequiredSection { tag, offset: at });
                    }
                    false
                }
            };
            if known {
                require!(seen & (1 << tag) == 0, "section (twice)", at);
                seen |= 1 << tag;
            }
            at += 3 + length;
        }
        Ok(())
    }

    /// Bytes of one golden row: inputs as f32, scores as i32.
    pub(crate) const fn golden_row_bytes(&self) -> usize {
        4 * (self.inputs as usize + self.outputs as usize)
    }

    /// The bytes of an optional section, empty when it is absent. `tag`: see
    /// [`section`](mod@section).
    #[must_use]
    pub const fn section(&self, tag: u8) -> &'a [u8] {
        let end = self.blob.len().saturating_sub(TRAILER);
        let mut at = self.sections_at;
        while at < end {
            let length = u16_at(self.blob, at + 1) as usize;
            if byte_at(self.blob, at) == tag {
                return slice_at(self.blob, at + 3, length);
            }
            at += 3 + length;
        }
        &[]
    }
}

/// Whether `value` is finite and above zero; no float operation is executed.
const fn is_positive(value: f32) -> bool {
    value.to_bits() > 0 && value.to_bits() < 0x7f80_0000
}

/// Binary exponent of a positive number: it is below 2^(exponent + 1).
const fn exponent(value: f32) -> i32 {
    (value.to_bits() >> 23) as i32 - 127
}

/// Lines of a text without a trailing line feed; 0 for no text.
const fn lines(text: &[u8]) -> usize {
    if text.is_empty() {
        return 0;
    }
    let mut count = 1;
    let mut i = 0;
    while i < text.len() {
        count += (text[i] == b'\n') as usize;
        i += 1;
    }
    count
}

/// The banks of a model, in order.
#[derive(Clone, Copy, Debug)]
pub struct Banks<'a> {
    pub(crate) blob: &'a [u8],
    pub(crate) inputs: u16,
    pub(crate) outputs: u8,
    /// How many there are.
    pub(crate) count: u8,
    /// Where the next one lies, and its number.
    pub(crate) at: usize,
    pub(crate) index: usize,
}

impl<'a> Iterator for Banks<'a> {
    type Item = Bank<'a>;

    fn next(&mut self) -> Option<Bank<'a>> {
        if self.index >= usize::from(self.count) {
            return None;
        }
        let end = self.blob.len();
        // The chain was checked by `parse`; a second failure cannot happen and
        // would only end the iteration.
        let (bank, next, _) =
            Bank::parse(self.blob, self.at, end, self.index, self.inputs, self.outputs).ok()?;
        self.at = next;
        self.index += 1;
        Some(bank)
    }
}

/// The power of two that a Hadamard block of `inputs` inputs has; at least 8,
/// so that a block's phases start on a whole draw.
pub(crate) const fn hadamard_block(inputs: u16) -> usize {
    let block = (inputs as usize).next_power_of_two();
    if block < 8 { 8 } else { block }
}

// A family is one nibble of the blob.
const _: () = assert!(Family::COUNT <= 16);
