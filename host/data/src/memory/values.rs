//! Columns of any type, lent.

use std::ops::Range;

/// Values that are lent: of a column one for each row, of a matrix row by row.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values<'a> {
    /// Numbers; NaN is a missing one.
    F32(&'a [f32]),
    /// Numbers; NaN is a missing one.
    F64(&'a [f64]),
    /// Whole numbers.
    I64(&'a [i64]),
    /// Whole numbers.
    I32(&'a [i32]),
    /// Whole numbers.
    I16(&'a [i16]),
    /// Whole numbers.
    U8(&'a [u8]),
    /// Texts; an empty one is missing.
    Text(&'a [&'a str]),
}

/// A value, to look it up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<'a> {
    Number(u64),
    Text(&'a str),
}

macro_rules! lent {
    ($($kind:ident: $type:ty,)+) => {$(
        impl<'a> From<&'a [$type]> for Values<'a> {
            fn from(values: &'a [$type]) -> Self {
                Self::$kind(values)
            }
        }
    )+};
}

lent!(F32: f32, F64: f64, I64: i64, I32: i32, I16: i16, U8: u8, Text: &'a str,);

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// The number at `i`; none of texts.
    pub(super) fn number(&self, i: usize) -> Option<f64> {
        Some(match self {
            Self::F32(values) => values[i].into(),
            Self::F64(values) => values[i],
            Self::I64(values) => values[i] as f64,
            Self::I32(values) => values[i].into(),
            Self::I16(values) => values[i].into(),
            Self::U8(values) => values[i].into(),
            Self::Text(_) => return None,
        })
    }

    /// Calls with the numbers at these places, in order; not at all of texts.
    pub(super) fn each(&self, places: Range<usize>, mut call: impl FnMut(f64)) {
        match self {
            Self::F32(values) => values[places].iter().for_each(|&value| call(value.into())),
            Self::F64(values) => values[places].iter().for_each(|&value| call(value)),
            Self::I64(values) => values[places].iter().for_each(|&value| call(value as f64)),
            Self::I32(values) => values[places].iter().for_each(|&value| call(value.into())),
            Self::I16(values) => values[places].iter().for_each(|&value| call(value.into())),
            Self::U8(values) => values[places].iter().for_each(|&value| call(value.into())),
            Self::Text(_) => {}
        }
    }

    /// Writes the numbers at these places, as many as there are `floats`; nothing of texts.
    pub(super) fn floats(&self, places: Range<usize>, floats: &mut [f32]) {
        match self {
            Self::F32(values) => floats.copy_from_slice(&values[places]),
            Self::F64(values) => {
                let numbers = floats.iter_mut().zip(&values[places]);
                numbers.for_each(|(float, &value)| *float = value as f32);
            }
            _ => {
                let mut floats = floats.iter_mut();
                self.each(places, |number| {
                    floats.next().into_iter().for_each(|float| *float = number as f32);
                });
            }
        }
    }

    /// What is equal where [`name`](Self::name) is.
    pub(super) fn key(&self, i: usize) -> Key<'_> {
        match self {
            Self::Text(values) => Key::Text(values[i]),
            Self::I64(values) => Key::Number(values[i] as u64),
            _ => Key::Number((self.number(i).unwrap_or_default() + 0.0).to_bits()),
        }
    }

    /// The name of the class or group at `i`, and the number to order it by.
    pub(super) fn name(&self, i: usize) -> (f64, String) {
        match self {
            Self::Text(values) => (0.0, values[i].to_owned()),
            Self::I64(values) => (values[i] as f64, values[i].to_string()),
            // Adding zero turns -0 into 0.
            _ => self.number(i).map_or_else(Default::default, |n| (n, (n + 0.0).to_string())),
        }
    }
}
