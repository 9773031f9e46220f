//! The optional sections behind the weights: names, notes, golden rows, calibration.

use crate::bytes::{Cursor, Fault, byte_at, f32_at, slice_at, u16_at, u32_at};
use crate::error::Field;
use crate::format::model::{Model, Task};
use crate::format::{TRAILER, section};
use crate::numerics::quotient;

impl<'a> Model<'a> {
    /// Walks the sections up to the end and checks the ones it knows.
    #[inline(never)]
    pub(super) const fn check_sections(&self, cursor: &mut Cursor<'a>) {
        let mut seen = 0u8;
        while cursor.at < cursor.end && cursor.is_sound() {
            let at = cursor.at;
            let tag = cursor.byte(Field::Section);
            let length = cursor.half(Field::Section) as usize;
            let bytes = cursor.bytes(length, Field::Section);
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
    pub(crate) const fn rows_in(&self, length: usize) -> usize {
        // Not 0: a blob that is refused may declare rows of no bytes.
        let row = self.golden_row_bytes() as u32 | (self.inputs == 0) as u32;
        let rows = quotient(length as u32, row);
        if rows * row == length as u32 && self.outputs > 0 { rows as usize } else { 0 }
    }

    /// Bytes of one golden row: inputs as f32, scores as i32.
    pub(crate) const fn golden_row_bytes(&self) -> usize {
        4 * (self.inputs as usize + self.outputs as usize)
    }

    /// The bytes of an optional section, empty when it is absent.
    /// `tag`: see [`section`](mod@section).
    #[must_use]
    pub const fn section(&self, tag: u8) -> &'a [u8] {
        let end = self.blob.len().saturating_sub(TRAILER);
        let mut at = self.sections_at as usize;
        while at < end {
            let length = u16_at(self.blob, at.wrapping_add(1)) as usize;
            if byte_at(self.blob, at) == tag {
                return slice_at(self.blob, at.saturating_add(3), length);
            }
            at = at.saturating_add(3 + length);
        }
        &[]
    }

    /// Name of class `index`, if the model carries names.
    #[must_use]
    pub fn class_name(&self, index: usize) -> Option<&'a str> {
        let names = self.section(section::CLASS_NAMES);
        if names.is_empty() {
            return None;
        }
        let mut lines = names.split(|&byte| byte == b'\n');
        core::str::from_utf8(lines.nth(index)?).ok()
    }

    /// The trainer's notes (JSON), empty if there are none.
    #[must_use]
    pub fn notes(&self) -> &'a str {
        core::str::from_utf8(self.section(section::NOTES)).unwrap_or("")
    }

    /// The calibration of the probabilities, if the model carries one.
    #[must_use]
    pub const fn calibration(&self) -> Option<Calibration> {
        let bytes = self.section(section::CALIBRATION);
        if bytes.is_empty() {
            return None;
        }
        Some(Calibration { slope: f32_at(bytes, 0), intercept: f32_at(bytes, 4) })
    }

    /// Whether the classes have probabilities: those of a detector of anomalies, a single score
    /// without calibration, have none.
    #[must_use]
    pub const fn has_probabilities(&self) -> bool {
        matches!(self.task(), Task::Classification)
            && (self.outputs() > 1 || self.calibration().is_some())
    }

    /// How many golden rows the model carries.
    #[must_use]
    pub const fn golden_rows(&self) -> usize {
        self.golden().count()
    }

    /// The golden rows.
    #[must_use]
    pub const fn golden(&self) -> GoldenRows<'a> {
        let bytes = self.section(section::GOLDEN_ROWS);
        let count = self.rows_in(bytes.len());
        GoldenRows { bytes, count, inputs: self.inputs, outputs: self.outputs }
    }
}

/// How scores become probabilities: the stored slope and intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Factor on the real-valued scores.
    pub slope: f32,
    /// Added afterwards; used by models with a single class score.
    pub intercept: f32,
}

/// Rows that a model carries with their exact scores.
#[derive(Clone, Copy, Debug)]
pub struct GoldenRows<'a> {
    bytes: &'a [u8],
    count: usize,
    inputs: u16,
    outputs: u8,
}

impl GoldenRows<'_> {
    /// How many.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Input `input` of row `row`; 0 where there is none.
    #[must_use]
    pub const fn input(&self, row: usize, input: usize) -> f32 {
        if row >= self.count || input >= self.inputs as usize {
            return 0.0;
        }
        f32_at(self.bytes, 4 * (row * self.numbers() + input))
    }

    /// Expected score `output` of row `row`; 0 where there is none.
    #[must_use]
    pub const fn score(&self, row: usize, output: usize) -> i32 {
        if row >= self.count || output >= self.outputs as usize {
            return 0;
        }
        u32_at(self.bytes, 4 * (row * self.numbers() + self.inputs as usize + output)) as i32
    }

    /// Numbers of a row and its scores.
    const fn numbers(&self) -> usize {
        self.inputs as usize + self.outputs as usize
    }
}

/// Whether `value` is finite and above zero; no float operation is executed.
pub(super) const fn is_positive(value: f32) -> bool {
    value.to_bits() > 0 && value.to_bits() < 0x7f80_0000
}

/// Binary exponent of a positive number: it is below 2^(exponent + 1).
const fn exponent(value: f32) -> i32 {
    (value.to_bits() >> 23) as i32 - 127
}
