//! The blob, read in place and checked once. `docs/format.md` specifies every
//! byte; this module is its executable form.
//!
//! [`Model::parse`] is `const`: [`include_model!`](crate::include_model) fails
//! the build on a bad blob. After it has succeeded, the readers here cannot
//! fail; they are written so that even a wrong offset reads zeros and never
//! panics.

use crate::bank::{Bank, Family};
use crate::crc::crc32;
use crate::error::{Error, Feature, Field};
use crate::model::Model;
use crate::sink::MAX_RUN;

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
    /// One input map, with a gain for each input; not together with the former.
    pub const GAIN_PER_INPUT: u8 = 4;
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

#[inline(never)]
pub(crate) const fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte_at(bytes, at), byte_at(bytes, at + 1)])
}

#[inline(never)]
pub(crate) const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u16_at(bytes, at) as u32 | (u16_at(bytes, at + 2) as u32) << 16
}

#[inline(never)]
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

/// Whether the last four bytes are the CRC-32 of the others.
pub(crate) const fn checksum_holds(blob: &[u8]) -> bool {
    let length = blob.len().saturating_sub(4);
    crc32(blob, length) == u32_at(blob, length)
}

/// Reads a blob front to back and remembers the first thing that is wrong.
///
/// What is wrong does not stop it: reads beyond the end give numbers that nothing
/// comes of, and [`Cursor::result`] says at the end what was found first. So every
/// check is one call, without an exit of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) blob: &'a [u8],
    /// Where the next field starts.
    pub(crate) at: usize,
    /// Where the last one must end.
    end: usize,
    fault: Fault,
    field: Field,
    offset: usize,
}

/// What kind of thing is wrong with a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The blob ends before the field.
    Truncated,
    /// The field's value.
    Value,
    /// It does not start with [`MAGIC`].
    NotKoan,
    /// Its version is not [`VERSION`].
    Version,
    /// Its CRC-32 does not match its bytes.
    Checksum,
    /// The unknown section at the offset must be understood.
    RequiredSection,
    /// A cargo feature is off; the offset is the [`Feature`]'s number.
    NotBuilt,
}

/// Why a blob was refused, as numbers: for bindings that make the words elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub fault: Fault,
    /// Where, if a field is.
    pub field: Field,
    /// Where that starts.
    pub offset: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(blob: &'a [u8], at: usize, end: usize) -> Self {
        Self { blob, at, end, fault: Fault::None, field: Field::Magic, offset: 0 }
    }

    /// Whether nothing has been wrong so far.
    const fn is_sound(&self) -> bool {
        matches!(self.fault, Fault::None)
    }

    #[inline(never)]
    const fn record(&mut self, fault: Fault, field: Field, offset: usize) {
        if self.is_sound() {
            self.fault = fault;
            self.field = field;
            self.offset = offset;
        }
    }

    /// The field at `offset` must be as it `is`.
    #[inline]
    pub(crate) const fn expect(&mut self, is: bool, field: Field, offset: usize) {
        if !is {
            self.record(Fault::Value, field, offset);
        }
    }

    /// The model needs a cargo feature that is off.
    pub(crate) const fn not_built(&mut self, feature: Feature) {
        self.record(Fault::NotBuilt, Field::Bank, feature as usize);
    }

    /// Where the field of `length` bytes starts that is next.
    #[inline(never)]
    pub(crate) const fn skip(&mut self, length: usize, field: Field) -> usize {
        let at = self.at;
        if self.end - at < length {
            self.record(Fault::Truncated, field, at);
            self.at = self.end;
        } else {
            self.at = at + length;
        }
        at
    }

    /// The next byte.
    #[inline(never)]
    pub(crate) const fn byte(&mut self, field: Field) -> u8 {
        byte_at(self.blob, self.skip(1, field))
    }

    /// The next two bytes.
    #[inline(never)]
    pub(crate) const fn half(&mut self, field: Field) -> u16 {
        u16_at(self.blob, self.skip(2, field))
    }

    /// The next `length` bytes.
    pub(crate) const fn bytes(&mut self, length: usize, field: Field) -> &'a [u8] {
        slice_at(self.blob, self.skip(length, field), length)
    }
}

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
    #[inline]
    pub const fn parse(blob: &'a [u8]) -> Result<Self, Error> {
        let mut model = Self::from_words(blob, Self::UNREAD);
        match model.check() {
            Ok(()) => Ok(model.copy()),
            Err(error) => Err(error),
        }
    }

    /// [`Model::parse`] for bindings to a language that has a CRC-32 of its own: does not
    /// compute the checksum, but is told whether it holds, and refuses with numbers.
    ///
    /// # Errors
    /// As [`Model::parse`].
    pub const fn examine(blob: &'a [u8], intact: bool) -> Result<Self, Refusal> {
        let mut model = Self::from_words(blob, Self::UNREAD);
        let mut cursor = Cursor::new(blob, 0, blob.len());
        model.read(&mut cursor, intact);
        let Cursor { fault, field, offset, .. } = cursor;
        match fault {
            Fault::None => Ok(model),
            _ => Err(Refusal { fault, field, offset }),
        }
    }

    /// Reads all there is to know. A function of its own for its memory.
    #[inline(never)]
    const fn check(&mut self) -> Result<(), Error> {
        let blob = self.blob;
        let mut cursor = Cursor::new(blob, 0, blob.len());
        self.read(&mut cursor, checksum_holds(blob));
        let (field, offset) = (cursor.field, cursor.offset);
        match cursor.fault {
            Fault::None => Ok(()),
            Fault::Truncated => Err(Error::Truncated { field, offset }),
            Fault::Value => Err(Error::Field { field, offset }),
            Fault::NotKoan => Err(Error::NotKoan),
            Fault::Version => Err(Error::Version { found: byte_at(blob, field::VERSION) }),
            Fault::Checksum => Err(Error::Checksum),
            Fault::RequiredSection => {
                Err(Error::RequiredSection { tag: byte_at(blob, offset), offset })
            }
            Fault::NotBuilt => Err(Error::NotBuilt { feature: Feature::from_number(offset) }),
        }
    }

    #[inline(never)]
    const fn read(&mut self, cursor: &mut Cursor<'a>, intact: bool) {
        let blob = cursor.blob;
        let magic = u32_at(blob, cursor.skip(MAGIC.len(), Field::Magic));
        if magic != u32::from_le_bytes(MAGIC) {
            cursor.record(Fault::NotKoan, Field::Magic, 0);
        }
        if cursor.byte(Field::Version) != VERSION {
            cursor.record(Fault::Version, Field::Version, 0);
        }
        const HEADER_REST: usize = field::INPUT_MAP - field::FLAGS;
        let rest = cursor.end - cursor.at;
        if rest < HEADER_REST + TRAILER {
            let field = if rest < HEADER_REST { Field::Header } else { Field::Trailer };
            cursor.record(Fault::Truncated, field, cursor.at);
        } else {
            cursor.end -= TRAILER;
        }
        if !intact {
            cursor.record(Fault::Checksum, Field::Trailer, 0);
        }
        cursor.skip(HEADER_REST, Field::Header);
        let classes = self.flags & flag::CLASSIFICATION != 0;
        // At most one of the two for input maps.
        let known = self.flags <= flag::CLASSIFICATION | flag::GAIN_PER_INPUT;
        cursor.expect(known && (self.outputs > 0 || !classes), Field::Flags, field::FLAGS);
        cursor.expect(self.inputs > 0, Field::Inputs, field::INPUTS);
        cursor.skip(self.map_bytes(), Field::InputMap);
        if !cfg!(feature = "log") {
            let mut index = 0;
            while index < self.inputs as usize {
                if self.input_map(index).log {
                    cursor.not_built(Feature::Log);
                }
                index += 1;
            }
        }
        let weights = self.read_banks(cursor);
        self.head_at = cursor.at as u32;
        if self.outputs > 0 {
            let multipliers = self.multiplier_count();
            let at = cursor.skip(5 + 4 * self.outputs as usize + 2 * multipliers, Field::Head);
            cursor.expect(is_positive(f32_at(blob, at)), Field::ScoreScale, at);
            cursor.expect(byte_at(blob, at + 4) <= 40, Field::ScoreShift, at + 4);
        }
        cursor.skip(weights, Field::Weights);
        self.sections_at = cursor.at as u32;
        self.check_sections(cursor);
    }

    /// The banks: a chain, the last of which has no "more" bit. Gives the bytes of
    /// all weights.
    #[inline(never)]
    const fn read_banks(&mut self, cursor: &mut Cursor<'a>) -> usize {
        let (mut features, mut columns, mut weights) = (0u32, 0u32, 0usize);
        loop {
            let at = cursor.at;
            let bank = Bank::read(cursor, self.banks as usize);
            features += bank.features as u32;
            columns += bank.columns();
            let few = features <= MAX_FEATURES && columns <= MAX_COLUMNS;
            cursor.expect(few, Field::BankFeatures, at + 2);
            bank.check_groups(cursor);
            bank.check_kept(cursor);
            weights += bank.row_bytes() * self.outputs as usize;
            let limit = bank.input_limit();
            if limit < self.limit {
                self.limit = limit;
            }
            let (block, wide) = bank.buffers();
            if block > self.block {
                self.block = block;
            }
            if wide > self.wide {
                self.wide = wide;
            }
            self.banks = self.banks.wrapping_add(1);
            if !bank.more || !cursor.is_sound() {
                return weights;
            }
            cursor.expect(self.banks < 255, Field::Banks, cursor.at);
        }
    }

    /// Walks the sections up to the end and checks the ones it knows.
    #[inline(never)]
    const fn check_sections(&self, cursor: &mut Cursor<'a>) {
        let mut seen = 0u8;
        while cursor.at < cursor.end && cursor.is_sound() {
            let at = cursor.at;
            let tag = cursor.byte(Field::Section);
            let length = cursor.half(Field::Section) as usize;
            let bytes = cursor.bytes(length, Field::Section);
            if !cfg!(feature = "sections") {
                if tag >= 0x80 {
                    cursor.record(Fault::RequiredSection, Field::Section, at);
                }
                continue;
            }
            let (is, field) = match tag {
                section::CLASS_NAMES => (self.has_names(bytes), Field::ClassNames),
                section::GOLDEN_ROWS => (self.rows_in(length) > 0, Field::GoldenRows),
                section::CALIBRATION => (self.can_have(bytes), Field::Calibration),
                section::NOTES => (true, Field::Section),
                0x80.. => {
                    cursor.record(Fault::RequiredSection, Field::Section, at);
                    continue;
                }
                _ => continue,
            };
            cursor.expect(is, field, at);
            cursor.expect(seen & (1 << tag) == 0, Field::SectionTwice, at);
            seen |= 1 << tag;
        }
    }

    /// Whether the text has a line for every class, of which there are some.
    const fn has_names(&self, text: &[u8]) -> bool {
        let mut lines = !text.is_empty() as usize;
        let mut i = 0;
        while i < text.len() {
            lines += (text[i] == b'\n') as usize;
            i += 1;
        }
        lines > 0 && lines == self.classes()
    }

    /// Whether the bytes are a calibration of probabilities for the model.
    const fn can_have(&self, bytes: &[u8]) -> bool {
        // The product is what probabilities multiply scores by.
        let slope = f32_at(bytes, 0);
        let exponents = exponent(slope) + exponent(self.score_scale());
        bytes.len() == 8
            && self.classes() > 0
            && is_positive(slope)
            && exponents < 127
            && f32_at(bytes, 4).to_bits() << 1 < 0xff00_0000
    }

    /// How many golden rows `length` bytes are; 0 when they are no whole number.
    /// Counted, as small cores do not divide.
    pub(crate) const fn rows_in(&self, mut length: usize) -> usize {
        let row = self.golden_row_bytes();
        let mut rows = 0;
        // A blob that is refused may declare rows of no bytes.
        while length >= row && row > 0 && self.outputs > 0 {
            length -= row;
            rows += 1;
        }
        if length == 0 { rows } else { 0 }
    }

    /// Bytes of one golden row: inputs as f32, scores as i32.
    pub(crate) const fn golden_row_bytes(&self) -> usize {
        4 * (self.inputs as usize + self.outputs as usize)
    }

    /// The bytes of an optional section, empty when it is absent, or in a build without
    /// the cargo feature `sections`. `tag`: see [`section`](mod@section).
    #[must_use]
    pub const fn section(&self, tag: u8) -> &'a [u8] {
        let end = self.blob.len().saturating_sub(TRAILER);
        let mut at = self.sections_at as usize;
        // What was not checked is not read.
        while at < end && cfg!(feature = "sections") {
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

/// The banks of a model, in order.
#[derive(Clone, Copy, Debug)]
pub struct Banks<'a> {
    blob: &'a [u8],
    /// Where the next one is.
    at: u32,
    /// How many there are.
    count: u8,
    /// The number of the next one.
    index: u8,
}

impl<'a> Banks<'a> {
    pub(crate) const fn of(model: &Model<'a>) -> Self {
        Self { blob: model.blob, at: model.banks_at() as u32, count: model.banks, index: 0 }
    }

    /// Whether there are no more.
    pub(crate) const fn is_done(&self) -> bool {
        self.index >= self.count
    }

    /// The next bank, of which there must be one.
    pub(crate) const fn read(&mut self) -> Bank<'a> {
        // The chain was checked by `parse`.
        self.index = self.index.wrapping_add(1);
        Bank::at(self.blob, &mut self.at, self.index.wrapping_sub(1) as usize)
    }

    /// The next bank.
    pub(crate) const fn step(&mut self) -> Option<Bank<'a>> {
        if self.is_done() { None } else { Some(self.read()) }
    }
}

impl<'a> Iterator for Banks<'a> {
    type Item = Bank<'a>;

    fn next(&mut self) -> Option<Bank<'a>> {
        self.step()
    }
}

/// The power of two that a Hadamard block of `inputs` inputs has; at least 8,
/// so that a block's phases start on a whole draw.
pub(crate) const fn hadamard_block(inputs: u16) -> usize {
    let mut block = 8;
    while block < inputs as usize {
        block *= 2;
    }
    block
}

/// Numbers of a transform that fourier features are made of at a time: all of them, or,
/// where RAM counts more than time, an eighth, at least 16 and at most a run.
pub(crate) const fn fourier_block(inputs: u16) -> usize {
    let block = hadamard_block(inputs);
    if cfg!(not(feature = "small")) || cfg!(target_family = "wasm") || block < 16 {
        block
    } else if block < 8 * 16 {
        16
    } else if block > 8 * MAX_RUN {
        MAX_RUN
    } else {
        block / 8
    }
}

// A family is one nibble of the blob.
const _: () = assert!(Family::COUNT <= 16);
