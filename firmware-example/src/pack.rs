//! Packs: models and rows that the host puts into flash beside the firmware.
//!
//! All numbers are little-endian u32 unless said otherwise; every part is
//! filled up with zeros to a multiple of four bytes, so that rows can be read
//! where they lie.
//!
//! | part | content |
//! | --- | --- |
//! | pack | `PACK`, number of entries, the entries |
//! | entry | bytes of name, bytes of blob, inputs, outputs, rows, bytes of all rows; name; blob; rows |
//! | row | types (sum of [`FLOATS`], [`WORDS`], [`BYTES`]); the row in each of them, in this order; scores (i32) |

/// The first four bytes of a pack.
pub const MAGIC: [u8; 4] = *b"PACK";
/// The row is there as f32.
pub const FLOATS: u32 = 1;
/// The row is there as i16.
pub const WORDS: u32 = 2;
/// The row is there as u8.
pub const BYTES: u32 = 4;

/// Reads a pack from its start on.
#[derive(Clone, Copy, Debug)]
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The next `length` bytes; skips what fills them up.
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (padded, rest) = self.rest.split_at_checked(length.checked_next_multiple_of(4)?)?;
        self.rest = rest;
        padded.get(..length)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// The next `count` numbers of type `T`, where they lie.
    fn numbers<T: bytemuck::AnyBitPattern>(&mut self, count: usize) -> Option<&'a [T]> {
        bytemuck::try_cast_slice(self.bytes(count.checked_mul(size_of::<T>())?)?).ok()
    }
}

/// The entries of a pack; `None` stands for an entry that cannot be read.
#[derive(Debug)]
pub struct Entries<'a> {
    reader: Reader<'a>,
    left: usize,
}

/// A model with its rows.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The model's name.
    pub name: &'a str,
    /// The model's blob.
    pub blob: &'a [u8],
    /// What the model is to be run on.
    pub rows: Rows<'a>,
}

/// The rows of an entry; `None` stands for a row that cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    reader: Reader<'a>,
    left: usize,
    inputs: usize,
    outputs: usize,
}

/// A row in every type that holds its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// As floats.
    pub floats: Option<&'a [f32]>,
    /// As 16-bit integers.
    pub words: Option<&'a [i16]>,
    /// As bytes.
    pub bytes: Option<&'a [u8]>,
    /// The scores that it must give.
    pub scores: &'a [i32],
}

/// The entries of the pack that starts at the start of `bytes`; `None` if none does.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Entries<'_>> {
    let mut reader = Reader { rest: bytes };
    if reader.bytes(4)? != MAGIC {
        return None;
    }
    let left = reader.length()?;
    Some(Entries { reader, left })
}

impl<'a> Entries<'a> {
    fn entry(&mut self) -> Option<Entry<'a>> {
        let reader = &mut self.reader;
        let (name, blob) = (reader.length()?, reader.length()?);
        let (inputs, outputs) = (reader.length()?, reader.length()?);
        let (left, length) = (reader.length()?, reader.length()?);
        let name = core::str::from_utf8(reader.bytes(name)?).ok()?;
        let blob = reader.bytes(blob)?;
        let rows = Reader { rest: reader.bytes(length)? };
        Some(Entry { name, blob, rows: Rows { reader: rows, left, inputs, outputs } })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Option<Entry<'a>>;

    fn next(&mut self) -> Option<Option<Entry<'a>>> {
        self.left = self.left.checked_sub(1)?;
        Some(self.entry())
    }
}

impl<'a> Rows<'a> {
    fn row(&mut self) -> Option<Row<'a>> {
        let types = self.reader.number()?;
        let mut row = Row { floats: None, words: None, bytes: None, scores: &[] };
        if types & FLOATS != 0 {
            row.floats = Some(self.reader.numbers(self.inputs)?);
        }
        if types & WORDS != 0 {
            row.words = Some(self.reader.numbers(self.inputs)?);
        }
        if types & BYTES != 0 {
            row.bytes = Some(self.reader.numbers(self.inputs)?);
        }
        row.scores = self.reader.numbers(self.outputs)?;
        Some(row)
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Option<Row<'a>>;

    fn next(&mut self) -> Option<Option<Row<'a>>> {
        self.left = self.left.checked_sub(1)?;
        Some(self.row())
    }
}
