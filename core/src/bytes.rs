//! Reading little-endian numbers from bytes at any alignment. Whatever the offset, a read
//! gives a number and never panics: what lies beyond the end reads as zero.

use crate::error::Field;

/// Byte `at`, or 0 beyond the end.
#[inline]
pub(crate) const fn byte_at(bytes: &[u8], at: usize) -> u8 {
    if at < bytes.len() { bytes[at] } else { 0 }
}

#[inline(never)]
pub(crate) const fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte_at(bytes, at), byte_at(bytes, at.wrapping_add(1))])
}

#[inline(never)]
pub(crate) const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    if let Some((_, tail)) = bytes.split_at_checked(at)
        && let Some(&four) = tail.first_chunk()
    {
        return u32::from_le_bytes(four);
    }
    u16_at(bytes, at) as u32 | (u16_at(bytes, at.wrapping_add(2)) as u32) << 16
}

#[inline(never)]
pub(crate) const fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) as u64 | (u32_at(bytes, at.wrapping_add(4)) as u64) << 32
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

/// What kind of thing is wrong with a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Fault {
    /// Nothing.
    None,
    /// The blob ends before the field.
    Truncated,
    /// The field's value.
    Value,
    /// It does not start with the bytes `KOAN`.
    NotKoan,
    /// Its version is not the one that is read.
    Version,
    /// Its CRC-32 does not match its bytes.
    Checksum,
    /// The unknown section at the offset must be understood.
    RequiredSection,
}

/// Why a blob was refused, as numbers: for bindings that make the words elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Refusal {
    /// What is wrong.
    pub fault: Fault,
    /// Where, if a field is.
    pub field: Field,
    /// Where that starts.
    pub offset: usize,
}

/// Reads a blob front to back and remembers the first thing that is wrong.
///
/// What is wrong does not stop it: reads beyond the end give numbers that nothing
/// comes of, and [`Cursor::refusal`] says at the end what was found first. So every
/// check is one call, without an exit of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) blob: &'a [u8],
    /// Where the next field starts.
    pub(crate) at: usize,
    /// Where the last one must end.
    pub(crate) end: usize,
    found: Refusal,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(blob: &'a [u8], at: usize, end: usize) -> Self {
        let found = Refusal { fault: Fault::None, field: Field::Magic, offset: 0 };
        Self { blob, at, end, found }
    }

    /// Whether nothing has been wrong so far.
    pub(crate) const fn is_sound(&self) -> bool {
        matches!(self.found.fault, Fault::None)
    }

    /// What was wrong first; the fault is none where nothing was.
    pub(crate) const fn refusal(&self) -> Refusal {
        self.found
    }

    #[inline(never)]
    pub(crate) const fn record(&mut self, fault: Fault, field: Field, offset: usize) {
        if self.is_sound() {
            self.found = Refusal { fault, field, offset };
        }
    }

    /// The field at `offset` must be as it `is`.
    #[inline]
    pub(crate) const fn expect(&mut self, is: bool, field: Field, offset: usize) {
        if !is {
            self.record(Fault::Value, field, offset);
        }
    }

    /// Where the field of `length` bytes starts that is next.
    #[inline(never)]
    pub(crate) const fn skip(&mut self, length: usize, field: Field) -> usize {
        let at = self.at;
        if self.end.saturating_sub(at) < length {
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

    /// The next `length` bytes, or as many as there are.
    pub(crate) const fn bytes(&mut self, length: usize, field: Field) -> &'a [u8] {
        let at = self.skip(length, field);
        slice_at(self.blob, at, self.at.saturating_sub(at))
    }
}
