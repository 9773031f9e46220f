//! What writers note of the columns of a Parquet file: pandas its index, and pandas and Arrow which
//! integers are durations, since Parquet has no type for these.

use std::collections::HashMap;

use parquet::file::metadata::KeyValue;
use serde::Deserialize;
use serde_json::Value;

use super::Unit;

/// The notes of a file.
#[derive(Default)]
pub(super) struct Notes {
    pandas: Pandas,
    /// The units of the columns that are durations.
    durations: HashMap<String, Unit>,
}

/// What pandas notes of a table.
#[derive(Default, Deserialize)]
struct Pandas {
    #[serde(default)]
    columns: Vec<Value>,
    /// Names of the columns that hold the index; an index that only counts is no column.
    #[serde(default)]
    index_columns: Vec<Value>,
}

impl Notes {
    /// Of notes that cannot be read nothing is known.
    pub fn of(notes: Option<&Vec<KeyValue>>) -> Self {
        let text = |key: &str| notes?.iter().find(|note| note.key == key)?.value.as_deref();
        let pandas = text("pandas").and_then(|text| serde_json::from_str(text).ok());
        let durations = text("ARROW:schema").and_then(|text| durations(&decoded(text)?));
        Self { pandas: pandas.unwrap_or_default(), durations: durations.unwrap_or_default() }
    }

    /// Whether the column holds the index of a table of pandas.
    pub fn is_index(&self, name: &str) -> bool {
        self.pandas.index_columns.iter().any(|column| column.as_str() == Some(name))
    }

    /// The unit of a column, if it is of durations.
    pub fn duration(&self, name: &str) -> Option<Unit> {
        let known = self.durations.get(name).copied();
        known.or_else(|| {
            let text = |noted: &Value, key| noted.get(key)?.as_str().map(str::to_owned);
            let named = |noted: &&Value| text(noted, "field_name").as_deref() == Some(name);
            let noted = self.pandas.columns.iter().find(named)?;
            match text(noted, "numpy_type")?.as_str() {
                "timedelta64[ns]" => Some(Unit::NANOSECOND),
                "timedelta64[us]" => Some(Unit::ONE),
                "timedelta64[ms]" => Some(Unit::MILLISECOND),
                "timedelta64[s]" => Some(Unit::SECOND),
                _ => None,
            }
        })
    }
}

/// The bytes of a text in base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0;
        for &letter in group {
            let six = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(six);
        }
        let missing = 4 - group.len();
        let whole = (bits << (6 * missing)).to_be_bytes();
        bytes.extend_from_slice(&whole[1..4 - missing.min(2)]);
    }
    Some(bytes)
}

/// The columns of a schema of Arrow that are durations, with their units: a message of Arrow's
/// format for streams, which is a buffer of FlatBuffers behind its length.
fn durations(message: &[u8]) -> Option<HashMap<String, Unit>> {
    const SCHEMA: u8 = 1;
    const DURATION: u8 = 18;
    let buffer = message.strip_prefix(&[0xff; 4]).unwrap_or(message).get(4..)?;
    let message = Table { buffer, at: 0 }.follow(0)?;
    if message.byte(1)? != SCHEMA {
        return None;
    }
    let fields = message.table(2)?.table(1)?;
    let mut found = HashMap::new();
    for index in 0..fields.number(0)? {
        let field = fields.follow(4 + 4 * index)?;
        if field.byte(2) != Some(DURATION) {
            continue;
        }
        let kind = field.table(3)?;
        // Left out where it is what the format takes for granted.
        let unit = match kind.byte(0) {
            Some(0) => Unit::SECOND,
            None | Some(1) => Unit::MILLISECOND,
            Some(2) => Unit::ONE,
            Some(3) => Unit::NANOSECOND,
            Some(_) => return None,
        };
        let name = field.table(0)?;
        let (start, length) = (name.at + 4, name.number(0)?);
        let name = buffer.get(start..start.checked_add(length)?)?;
        found.insert(String::from_utf8(name.to_vec()).ok()?, unit);
    }
    Some(found)
}

/// A table, or a vector, in a buffer of FlatBuffers.
#[derive(Clone, Copy)]
struct Table<'b> {
    buffer: &'b [u8],
    at: usize,
}

impl<'b> Table<'b> {
    /// The four bytes at so many from the start.
    fn word(self, from: usize) -> Option<[u8; 4]> {
        let start = self.at.checked_add(from)?;
        self.buffer.get(start..start.checked_add(4)?)?.try_into().ok()
    }

    fn number(self, from: usize) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.word(from)?)).ok()
    }

    /// What the offset there leads to.
    fn follow(self, from: usize) -> Option<Table<'b>> {
        let at = self.at.checked_add(from)?.checked_add(self.number(from)?)?;
        Some(Table { at, ..self })
    }

    /// Where a field of the table is, if it is there.
    fn field(self, index: usize) -> Option<usize> {
        let back = i64::from(i32::from_le_bytes(self.word(0)?));
        let places = usize::try_from(i64::try_from(self.at).ok()?.checked_sub(back)?).ok()?;
        let short = |at: usize| {
            let bytes = self.buffer.get(at..at.checked_add(2)?)?;
            Some(usize::from(u16::from_le_bytes(bytes.try_into().ok()?)))
        };
        let place = 4 + 2 * index;
        let size = short(places)?;
        let field = if place + 2 <= size { short(places.checked_add(place)?)? } else { 0 };
        (field > 0).then_some(field)
    }

    fn byte(self, index: usize) -> Option<u8> {
        self.buffer.get(self.at.checked_add(self.field(index)?)?).copied()
    }

    fn table(self, index: usize) -> Option<Table<'b>> {
        self.follow(self.field(index)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_base64() {
        for (text, bytes) in [("", &b""[..]), ("YQ==", b"a"), ("YWI=", b"ab"), ("YWJj", b"abc")] {
            assert_eq!(decoded(text).unwrap(), bytes);
        }
        assert_eq!(decoded("+/8").unwrap(), [0xfb, 0xff]);
        assert!(decoded("a b").is_none());
    }

    /// An entry that says less than others leaves these as they are.
    #[test]
    fn notes_of_pandas() {
        let text = r#"{"index_columns": ["id", {"kind": "range"}], "columns": [7, {"field_name":
            null}, {"field_name": "a", "numpy_type": null}, {"field_name": "b", "numpy_type":
            "timedelta64[ms]"}]}"#;
        let note = |key: &str, text: &str| KeyValue::new(key.to_owned(), text.to_owned());
        let notes = Notes::of(Some(&vec![note("ARROW:schema", "?"), note("pandas", text)]));
        assert!(notes.is_index("id") && !notes.is_index("a"));
        assert_eq!((notes.duration("a"), notes.duration("b")), (None, Some(Unit::MILLISECOND)));
        assert!(Notes::of(None).duration("b").is_none());
    }

    /// Damaged bytes say nothing, or something else, without a panic.
    #[test]
    fn damaged_schemas() {
        let whole = decoded(include_str!("units.txt").trim()).unwrap();
        assert_eq!(durations(&whole).unwrap().len(), 4);
        for place in 0..whole.len() {
            let _ = durations(&whole[..place]);
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] = byte;
                let _ = durations(&bytes);
            }
        }
    }
}
