//! Parsing: one pass over the blob, every rule checked.

use crate::bytes::{Cursor, Fault, Refusal, byte_at, f32_at, u32_at};
use crate::crc::checksum_holds;
use crate::error::{Error, Field};
use crate::format::bank::Bank;
use crate::format::model::Model;
use crate::format::sections::is_positive;
use crate::format::work::{self, MAX_WORK};
use crate::format::{MAGIC, MAX_COLUMNS, MAX_FEATURES, TRAILER, VERSION, field, flag};
use crate::needs::Form;

/// What a model may need at most: see [`Model::parse_within`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limits {
    /// Work of a prediction: see [`Model::work`].
    pub work: u32,
    /// Bytes of the buffers together, in the form fast.
    pub memory: u32,
}

impl Limits {
    /// Those of the format.
    pub const NONE: Self = Self { work: MAX_WORK, memory: u32::MAX };
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
        Self::parse_within(blob, Limits::NONE)
    }

    /// [`Model::parse`], and refuses a model that needs more than the `limits`: for programs
    /// that have a deadline, or only so much memory. What a model needs follows from what it
    /// declares: nothing is predicted.
    ///
    /// # Errors
    /// As [`Model::parse`]; [`Error::Limit`].
    pub const fn parse_within(blob: &'a [u8], limits: Limits) -> Result<Self, Error> {
        let mut model = Self::from_words(blob, Self::UNREAD);
        match model.check() {
            Ok(()) => {}
            Err(error) => return Err(error),
        }
        if model.work > limits.work {
            return Err(Error::Limit { what: "work", needed: model.work, limit: limits.work });
        }
        let needed = model.buffer_sizes(Form::Fast).bytes() as u32;
        if needed > limits.memory {
            return Err(Error::Limit { what: "memory", needed, limit: limits.memory });
        }
        Ok(model)
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
        match cursor.refusal() {
            Refusal { fault: Fault::None, .. } => Ok(model),
            refusal => Err(refusal),
        }
    }

    /// Reads all there is to know. A function of its own for its memory.
    #[inline(never)]
    const fn check(&mut self) -> Result<(), Error> {
        let blob = self.blob;
        let mut cursor = Cursor::new(blob, 0, blob.len());
        self.read(&mut cursor, checksum_holds(blob));
        let Refusal { fault, field, offset } = cursor.refusal();
        match fault {
            Fault::None => Ok(()),
            Fault::Truncated => Err(Error::Truncated { field, offset }),
            Fault::Value => Err(Error::Field { field, offset }),
            Fault::NotKoan => Err(Error::NotKoan),
            Fault::Version => Err(Error::Version { found: byte_at(blob, field::VERSION) }),
            Fault::Checksum => Err(Error::Checksum),
            Fault::RequiredSection => {
                Err(Error::RequiredSection { tag: byte_at(blob, offset), offset })
            }
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
            cursor.record(Fault::Version, Field::Version, field::VERSION);
        }
        const HEADER_REST: usize = field::INPUT_MAP - field::FLAGS;
        let rest = cursor.end.saturating_sub(cursor.at);
        if rest < HEADER_REST + TRAILER {
            let (field, at) = match rest {
                ..HEADER_REST => (Field::Header, field::FLAGS),
                _ => (Field::Trailer, field::INPUT_MAP),
            };
            cursor.record(Fault::Truncated, field, at);
        } else {
            cursor.end -= TRAILER;
        }
        if !intact {
            cursor.record(Fault::Checksum, Field::Trailer, 0);
        }
        cursor.skip(HEADER_REST, Field::Header);
        let classes = self.flags & flag::CLASSIFICATION != 0;
        let known = self.flags <= flag::CLASSIFICATION | flag::MAP_PER_CHANNEL;
        cursor.expect(known && (self.outputs > 0 || !classes), Field::Flags, field::FLAGS);
        cursor.expect(self.inputs > 0, Field::Inputs, field::INPUTS);
        let maps = self.map_period();
        let several = !self.map_per_channel() || (maps > 1 && maps <= self.inputs as usize);
        cursor.expect(several, Field::InputMap, field::INPUT_MAP);
        cursor.skip(self.map_bytes(), Field::InputMap);
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
        let mut total = self.inputs as u64;
        loop {
            let at = cursor.at;
            let bank = Bank::read(cursor, self.banks);
            features += bank.features as u32;
            columns = columns.saturating_add(bank.columns());
            let few = features <= MAX_FEATURES && columns <= MAX_COLUMNS;
            cursor.expect(few, Field::BankFeatures, at + 2);
            bank.check_groups(cursor);
            let last = bank.check_list(cursor);
            self.banks = self.banks.wrapping_add(1);
            if !cursor.is_sound() {
                return weights;
            }
            // Columns are few: at most 2 MB for each of 255 outputs.
            weights += bank.row_bytes() * self.outputs as usize;
            total += work::of_bank(&bank, last, self.inputs, self.outputs);
            let bounded = total <= MAX_WORK as u64;
            cursor.expect(bounded, Field::Work, at);
            self.work = if bounded { total as u32 } else { 0 };
            let limit = bank.input_limit();
            if limit < self.limit {
                self.limit = limit;
            }
            self.fast = larger(self.fast, bank.buffers(Form::Fast));
            self.small = larger(self.small, bank.buffers(Form::Small));
            if !bank.more || !cursor.is_sound() {
                return weights;
            }
            cursor.expect(self.banks < 255, Field::Banks, cursor.at);
        }
    }
}

/// The larger of each.
const fn larger([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    [if a > c { a } else { c }, if b > d { b } else { d }]
}
