//! Parquet files of flat columns, read as the CSV file that they would be.

mod notes;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::{ColumnLabel, DataError};
use super::open::{Input, Origin, Seekable};
use super::records::{Known, Record, Source};
use bytes::Bytes;
use notes::Notes;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

/// The rows of a Parquet file, row group after row group.
struct Rows {
    origin: Origin,
    rows: RowIter<'static>,
    /// For each column the unit of stored integers of 64 bits; none of those that are left out.
    units: Vec<Option<Unit>>,
    row: u64,
}

/// What a stored integer becomes: times and durations microseconds, others what they are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    multiplier: i64,
    divisor: i64,
}

impl Unit {
    const ONE: Self = Self { multiplier: 1, divisor: 1 };
    const NANOSECOND: Self = Self { divisor: 1000, ..Self::ONE };
    const MILLISECOND: Self = Self { multiplier: 1000, ..Self::ONE };
    const SECOND: Self = Self { multiplier: 1_000_000, ..Self::ONE };

    /// The unit of a column. Parquet knows no durations: of these there are notes.
    fn of(column: &Type, notes: &Notes) -> Self {
        if let Some(LogicalType::Timestamp(time)) = column.get_basic_info().logical_type_ref() {
            // The others have types of their own.
            return if time.unit == TimeUnit::NANOS { Self::NANOSECOND } else { Self::ONE };
        }
        if let Some(LogicalType::Time(time)) = column.get_basic_info().logical_type_ref() {
            return if time.unit == TimeUnit::NANOS { Self::NANOSECOND } else { Self::ONE };
        }
        notes.duration(column.name()).unwrap_or(Self::ONE)
    }

    fn apply(self, stored: i64) -> i64 {
        stored.saturating_mul(self.multiplier).div_euclid(self.divisor)
    }
}

/// Opens a Parquet file and checks that its columns are flat. The index of a table of pandas is
/// left out, but for columns that are `named`.
pub(crate) fn open<'r>(
    input: Input<'r>,
    named: impl Fn(&str) -> bool,
) -> Result<(Known, Box<dyn Source + 'r>), DataError> {
    let origin = input.origin.clone();
    let malformed = |problem: String| DataError::Malformed { file: origin.file.clone(), problem };
    let source = input.into_seekable()?;
    let opened = guarded(|| -> Result<Box<dyn FileReader>, ParquetError> {
        Ok(match source {
            Seekable::File(file) => Box::new(SerializedFileReader::new(file)?),
            Seekable::Memory(bytes) => Box::new(SerializedFileReader::new(Bytes::from(bytes))?),
        })
    });
    let reader = opened.map_err(malformed)?;
    let mut known = Known::default();
    let mut units = Vec::new();
    let notes = Notes::of(reader.metadata().file_metadata().key_value_metadata());
    let columns = reader.metadata().file_metadata().schema().get_fields();
    for (index, column) in columns.iter().enumerate() {
        if notes.is_index(column.name()) && !named(column.name()) {
            let (number, name) = (index + 1, column.name().to_owned());
            known.index.push(ColumnLabel { number, name });
            units.push(None);
            continue;
        }
        let info = column.get_basic_info();
        let repeated = info.has_repetition() && info.repetition() == Repetition::REPEATED;
        if !column.is_primitive() || repeated {
            let problem = format!("column `{}` is nested; flat columns are read", column.name());
            return Err(malformed(problem));
        }
        known.names.push(column.name().to_owned());
        known.text.push(is_text(column));
        units.push(Some(Unit::of(column, &notes)));
    }
    if known.names.is_empty() {
        return Err(malformed("no columns in it".into()));
    }
    let rows = RowIter::from_file_into(reader);
    Ok((known, Box::new(Rows { origin, rows, units, row: 0 })))
}

/// What `read` gives; the crate panics on some damaged files, which is an error
/// of the data like any other.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("damaged in a way that cannot be read".into()),
    }
}

fn is_text(column: &Type) -> bool {
    let physical = column.get_physical_type();
    let bytes = matches!(physical, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
    let number = matches!(
        column.get_basic_info().logical_type_ref(),
        Some(LogicalType::Decimal { .. } | LogicalType::Float16)
    );
    bytes && !number
}

impl Source for Rows {
    fn next(&mut self, record: &mut Record) -> Result<Option<u64>, DataError> {
        let row = guarded(|| self.rows.next().transpose()).map_err(|problem| {
            let file = self.origin.file.clone();
            DataError::Malformed { file, problem: format!("row {}: {problem}", self.row + 1) }
        })?;
        let Some(row) = row else {
            return Ok(None);
        };
        self.row += 1;
        record.clear();
        for ((_, field), unit) in row.get_column_iter().zip(&self.units) {
            if let Some(unit) = *unit {
                record.push(|bytes| write(field, unit, bytes));
            }
        }
        Ok(Some(self.row))
    }
}

/// The field as a CSV file would have it; nothing where it is missing. Dates are days; times and
/// durations are microseconds, whatever the file stores, as tables in memory have them.
fn write(field: &Field, unit: Unit, bytes: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match field {
        Field::Null => Ok(()),
        Field::Bool(value) => write!(bytes, "{}", u8::from(*value)),
        Field::Byte(value) => write!(bytes, "{value}"),
        Field::Short(value) => write!(bytes, "{value}"),
        Field::Int(value) | Field::Date(value) => write!(bytes, "{value}"),
        Field::Long(value) => write!(bytes, "{}", unit.apply(*value)),
        Field::TimestampMillis(value) => {
            write!(bytes, "{}", Unit::MILLISECOND.apply(*value))
        }
        Field::TimeMillis(value) => {
            write!(bytes, "{}", Unit::MILLISECOND.apply(i64::from(*value)))
        }
        Field::TimeMicros(value) | Field::TimestampMicros(value) => write!(bytes, "{value}"),
        Field::UByte(value) => write!(bytes, "{value}"),
        Field::UShort(value) => write!(bytes, "{value}"),
        Field::UInt(value) => write!(bytes, "{value}"),
        Field::ULong(value) => write!(bytes, "{value}"),
        Field::Float(value) => write!(bytes, "{value}"),
        Field::Double(value) => write!(bytes, "{value}"),
        Field::Str(text) => bytes.write_all(text.trim_ascii().as_bytes()),
        Field::Bytes(raw) => bytes.write_all(raw.data().trim_ascii()),
        other => write!(bytes, "{other}"),
    };
}
