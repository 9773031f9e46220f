//! Tables of pandas, polars, pyarrow and others, by Arrow's C stream.

use std::ffi::CStr;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal128Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::frame::{Data, Frame, Part};

/// The name that such capsules have.
const NAME: &CStr = c"arrow_array_stream";

/// The stream of a table, taken out of its capsule.
#[allow(unsafe_code, reason = "Arrow's C interface is a pointer in a capsule")]
pub fn stream(table: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("X: __arrow_c_stream__ gave no capsule"))?;
    let pointer = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: a capsule of this name points to a stream, as Arrow's specification has it.
    // What is moved out leaves a released stream behind, which the capsule then drops.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) })
}

/// Reads the stream to its end.
pub fn read(stream: FFI_ArrowArrayStream) -> PyResult<Frame> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("X: {error}"));
    let reader = RecordBatchStreamReader::try_new(stream).map_err(|e| wrong(&e))?;
    let schema = reader.schema();
    let mut columns: Vec<Growing> = schema.fields().iter().map(|_| Growing::default()).collect();
    let mut rows = 0;
    for batch in reader {
        let batch = batch.map_err(|e| wrong(&e))?;
        rows += batch.num_rows();
        for ((column, array), field) in columns.iter_mut().zip(batch.columns()).zip(schema.fields())
        {
            column
                .add(array)
                .map_err(|problem| wrong(&format!("column `{}`: {problem}", field.name())))?;
        }
    }
    let fields = schema.fields().iter();
    let parts = columns.into_iter().zip(fields).map(|(column, field)| Part {
        rounded: *field.data_type() == DataType::UInt64
            && matches!(&column, Growing::Floats(all) if all.iter().any(|&n| n >= 2f64.powi(63))),
        names: vec![field.name().clone()],
        data: column.data(),
    });
    Ok(Frame { parts: parts.collect(), rows })
}

/// A column, batch by batch.
#[derive(Default)]
enum Growing {
    #[default]
    Nothing,
    Whole(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<String>),
    /// Numbers, and as texts.
    Categories(Box<Growing>, Vec<String>),
}

impl Growing {
    fn data(self) -> Data {
        match self {
            Self::Categories(numbers, texts) => Data::Categories(Box::new(numbers.data()), texts),
            Self::Nothing => Data::Floats(Vec::new()),
            Self::Whole(values) => Data::Whole(values),
            Self::Floats(values) => Data::Floats(values),
            Self::Texts(texts) => Data::Texts(texts),
        }
    }

    /// Appends numbers; where one is missing they become floats.
    fn numbers(&mut self, values: impl Iterator<Item = Option<i64>>) -> Result<(), String> {
        if matches!(self, Self::Nothing) {
            *self = Self::Whole(Vec::new());
        }
        for value in values {
            match (&mut *self, value) {
                (Self::Whole(all), Some(value)) => all.push(value),
                (Self::Whole(all), None) => {
                    let mut floats: Vec<f64> = all.iter().map(|&n| n as f64).collect();
                    floats.push(f64::NAN);
                    *self = Self::Floats(floats);
                }
                (Self::Floats(all), value) => all.push(value.map_or(f64::NAN, |n| n as f64)),
                _ => return Err("numbers and texts".into()),
            }
        }
        Ok(())
    }

    fn floats(&mut self, values: impl Iterator<Item = Option<f64>>) -> Result<(), String> {
        if let Self::Whole(all) = self {
            *self = Self::Floats(all.iter().map(|&n| n as f64).collect());
        }
        if matches!(self, Self::Nothing) {
            *self = Self::Floats(Vec::new());
        }
        let Self::Floats(all) = self else { return Err("numbers and texts".into()) };
        all.extend(values.map(|value| value.unwrap_or(f64::NAN)));
        Ok(())
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = Option<&'t str>>) -> Result<(), String> {
        if matches!(self, Self::Nothing) {
            *self = Self::Texts(Vec::new());
        }
        let Self::Texts(all) = self else { return Err("numbers and texts".into()) };
        // Without blanks around them, as files are read.
        all.extend(texts.map(|text| text.unwrap_or_default().trim_ascii().to_owned()));
        Ok(())
    }

    /// Appends a batch.
    fn add(&mut self, array: &ArrayRef) -> Result<(), String> {
        macro_rules! whole {
            ($kind:ty) => {
                self.numbers(array.as_primitive::<$kind>().iter().map(|n| n.map(i64::from)))
            };
        }
        macro_rules! stored {
            ($kind:ty) => {
                self.numbers(array.as_primitive::<$kind>().iter())
            };
        }
        // Times, in microseconds, and dates, in days.
        macro_rules! micro {
            ($kind:ty, $per_unit:expr, $units:expr) => {{
                let times = array.as_primitive::<$kind>().iter();
                self.numbers(
                    times.map(|time| {
                        time.map(|time| time.saturating_mul($per_unit).div_euclid($units))
                    }),
                )
            }};
        }
        // Times of day, of 32 bits.
        macro_rules! time {
            ($kind:ty, $per_unit:expr) => {{
                let times = array.as_primitive::<$kind>().iter();
                self.numbers(times.map(|time| time.map(|time| i64::from(time) * $per_unit)))
            }};
        }
        match array.data_type() {
            DataType::Boolean => self.numbers(array.as_boolean().iter().map(|b| b.map(i64::from))),
            DataType::Int8 => whole!(Int8Type),
            DataType::Int16 => whole!(Int16Type),
            DataType::Int32 => whole!(Int32Type),
            DataType::Int64 => whole!(Int64Type),
            DataType::UInt8 => whole!(UInt8Type),
            DataType::UInt16 => whole!(UInt16Type),
            DataType::UInt32 => whole!(UInt32Type),
            DataType::UInt64 => {
                let numbers = array.as_primitive::<UInt64Type>();
                match numbers.iter().flatten().all(|number| i64::try_from(number).is_ok()) {
                    true => self.numbers(numbers.iter().map(|n| n.map(|n| n as i64))),
                    false => self.floats(numbers.iter().map(|n| n.map(|n| n as f64))),
                }
            }
            DataType::Float16 => {
                self.floats(array.as_primitive::<Float16Type>().iter().map(|n| n.map(f64::from)))
            }
            DataType::Float32 => {
                self.floats(array.as_primitive::<Float32Type>().iter().map(|n| n.map(f64::from)))
            }
            DataType::Float64 => self.floats(array.as_primitive::<Float64Type>().iter()),
            // As Parquet files are read: days.
            DataType::Date32 => whole!(Date32Type),
            DataType::Date64 => micro!(Date64Type, 1, 86_400_000),
            // Of one unit, whichever it was: another one when predicting would be silently wrong.
            DataType::Timestamp(TimeUnit::Second, _) => micro!(TimestampSecondType, 1_000_000, 1),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                micro!(TimestampMillisecondType, 1000, 1)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => stored!(TimestampMicrosecondType),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                micro!(TimestampNanosecondType, 1, 1000)
            }
            DataType::Time32(TimeUnit::Second) => time!(Time32SecondType, 1_000_000),
            DataType::Time32(_) => time!(Time32MillisecondType, 1000),
            DataType::Time64(TimeUnit::Microsecond) => stored!(Time64MicrosecondType),
            DataType::Time64(_) => micro!(Time64NanosecondType, 1, 1000),
            DataType::Duration(TimeUnit::Second) => micro!(DurationSecondType, 1_000_000, 1),
            DataType::Duration(TimeUnit::Millisecond) => micro!(DurationMillisecondType, 1000, 1),
            DataType::Duration(TimeUnit::Microsecond) => stored!(DurationMicrosecondType),
            DataType::Duration(TimeUnit::Nanosecond) => micro!(DurationNanosecondType, 1, 1000),
            DataType::Decimal128(_, scale) => {
                let unit = 10f64.powi(i32::from(*scale));
                let numbers = array.as_primitive::<Decimal128Type>().iter();
                self.floats(numbers.map(|number| number.map(|number| number as f64 / unit)))
            }
            DataType::Utf8 => self.texts(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => self.texts(array.as_string::<i64>().iter()),
            DataType::Utf8View => self.texts(array.as_string_view().iter()),
            DataType::Null => self.floats(std::iter::repeat_n(None, array.len())),
            DataType::Dictionary(keys, _) => match **keys {
                DataType::Int8 => self.dictionary::<Int8Type>(array),
                DataType::Int16 => self.dictionary::<Int16Type>(array),
                DataType::Int32 => self.dictionary::<Int32Type>(array),
                DataType::Int64 => self.dictionary::<Int64Type>(array),
                DataType::UInt8 => self.dictionary::<UInt8Type>(array),
                DataType::UInt16 => self.dictionary::<UInt16Type>(array),
                DataType::UInt32 => self.dictionary::<UInt32Type>(array),
                DataType::UInt64 => self.dictionary::<UInt64Type>(array),
                ref other => Err(format!("values of the type {other} are not read")),
            },
            other => Err(format!("values of the type {other} are not read: numbers and texts are")),
        }
    }

    /// Appends categories.
    fn dictionary<K: ArrowDictionaryKeyType>(&mut self, array: &ArrayRef) -> Result<(), String> {
        let array = array.as_dictionary::<K>();
        let mut listed = Self::default();
        listed.add(array.values())?;
        let places = (0..array.len()).map(|row| array.key(row));
        match &listed {
            Self::Texts(texts) => {
                self.texts(places.map(|place| place.map(|place| texts[place].as_str())))
            }
            Self::Whole(values) => {
                let name: fn(i64) -> String = match array.values().data_type() {
                    // As files have them.
                    DataType::Boolean => |value| if value == 0 { "False" } else { "True" }.into(),
                    _ => |value| value.to_string(),
                };
                let (numbers, texts) = self.categories()?;
                numbers.numbers(places.clone().map(|place| place.map(|place| values[place])))?;
                texts.extend(
                    places.map(|place| place.map_or_else(String::new, |p| name(values[p]))),
                );
                Ok(())
            }
            Self::Floats(values) => {
                let (numbers, texts) = self.categories()?;
                numbers.floats(places.clone().map(|place| place.map(|place| values[place])))?;
                let known = places.map(|place| place.map(|p| values[p]).filter(|n| !n.is_nan()));
                // Adding zero turns -0 into 0.
                let name: fn(f64) -> String = match array.values().data_type() {
                    // Of fewer digits.
                    DataType::Float16 | DataType::Float32 => |n| (n as f32 + 0.0).to_string(),
                    _ => |n| (n + 0.0).to_string(),
                };
                texts.extend(known.map(|n| n.map_or_else(String::new, name)));
                Ok(())
            }
            Self::Nothing => self.texts(places.map(|_| None)),
            Self::Categories(..) => Err("categories of categories are not read".into()),
        }
    }

    /// Where numbers that are categories go, and their texts.
    fn categories(&mut self) -> Result<(&mut Self, &mut Vec<String>), String> {
        if matches!(self, Self::Nothing) {
            *self = Self::Categories(Box::default(), Vec::new());
        }
        match self {
            Self::Categories(numbers, texts) => Ok((&mut **numbers, texts)),
            _ => Err("numbers and texts".into()),
        }
    }
}
