//! Tables that Python lends: arrays of numpy without a copy, columns of Arrow, texts.

use std::collections::HashSet;

use koan_data::{Column, ColumnKind, Schema, TableBuilder, Values};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrow;
use crate::error::guarded;

/// Values of a column, or of a matrix row by row.
#[derive(Debug)]
pub enum Data {
    /// An array of numpy's.
    Singles(Py<PyArrayDyn<f32>>),
    /// An array of numpy's.
    Doubles(Py<PyArrayDyn<f64>>),
    /// An array of numpy's.
    Longs(Py<PyArrayDyn<i64>>),
    /// An array of numpy's.
    Ints(Py<PyArrayDyn<i32>>),
    /// An array of numpy's.
    Shorts(Py<PyArrayDyn<i16>>),
    /// An array of numpy's.
    Bytes(Py<PyArrayDyn<u8>>),
    /// Numbers of our own; NaN is a missing one.
    Floats(Vec<f64>),
    /// Whole numbers of our own.
    Whole(Vec<i64>),
    /// Texts; an empty one is missing.
    Texts(Vec<String>),
    /// Numbers that are categories, and as texts.
    Categories(Box<Data>, Vec<String>),
}

/// The same, for as long as it is used.
pub enum Lent<'py, 'd> {
    Singles(PyReadonlyArrayDyn<'py, f32>),
    Doubles(PyReadonlyArrayDyn<'py, f64>),
    Longs(PyReadonlyArrayDyn<'py, i64>),
    Ints(PyReadonlyArrayDyn<'py, i32>),
    Shorts(PyReadonlyArrayDyn<'py, i16>),
    Bytes(PyReadonlyArrayDyn<'py, u8>),
    Floats(&'d [f64]),
    Whole(&'d [i64]),
    Texts(Vec<&'d str>),
}

impl Data {
    /// An array of numpy's of a type that is read as it is, or a list of texts.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        macro_rules! arrays {
            ($($kind:ident),+) => {$(
                if let Ok(array) = given.cast::<PyArrayDyn<_>>() {
                    if !array.is_c_contiguous() {
                        return Err(PyValueError::new_err("an array whose rows are not in order"));
                    }
                    return Ok(Self::$kind(array.clone().unbind()));
                }
            )+};
        }
        arrays!(Singles, Doubles, Longs, Ints, Shorts, Bytes);
        let texts: Result<Vec<String>, _> = given.extract();
        texts
            .map(Self::Texts)
            .map_err(|_| PyTypeError::new_err("neither an array of numbers nor a list of texts"))
    }

    /// Lends the values.
    pub fn lend<'py, 'd>(&'d self, py: Python<'py>) -> PyResult<Lent<'py, 'd>> {
        macro_rules! lent {
            ($array:ident, $kind:ident) => {
                Lent::$kind($array.bind(py).try_readonly().map_err(|e| {
                    PyValueError::new_err(format!("an array that is being written to: {e}"))
                })?)
            };
        }
        Ok(match self {
            Self::Singles(array) => lent!(array, Singles),
            Self::Doubles(array) => lent!(array, Doubles),
            Self::Longs(array) => lent!(array, Longs),
            Self::Ints(array) => lent!(array, Ints),
            Self::Shorts(array) => lent!(array, Shorts),
            Self::Bytes(array) => lent!(array, Bytes),
            Self::Floats(values) => Lent::Floats(values),
            Self::Whole(values) => Lent::Whole(values),
            Self::Texts(texts) | Self::Categories(_, texts) => {
                Lent::Texts(texts.iter().map(String::as_str).collect())
            }
        })
    }

    /// The values as numbers where they are numbers.
    pub fn as_numbers(&self) -> &Self {
        match self {
            Self::Categories(numbers, _) => numbers,
            other => other,
        }
    }

    /// These numbers as categories, which have texts.
    fn categories(self, py: Python<'_>) -> PyResult<Self> {
        // Adding zero turns -0 into 0.
        let double = |number: f64| match number.is_nan() {
            true => String::new(),
            false => (number + 0.0).to_string(),
        };
        // Of fewer digits.
        let single = |number: f32| match number.is_nan() {
            true => String::new(),
            false => (number + 0.0).to_string(),
        };
        let texts = match self.lend(py)?.values()? {
            Values::F64(numbers) => numbers.iter().map(|&number| double(number)).collect(),
            Values::F32(numbers) => numbers.iter().map(|&number| single(number)).collect(),
            Values::I64(numbers) => numbers.iter().map(i64::to_string).collect(),
            Values::I32(numbers) => numbers.iter().map(i32::to_string).collect(),
            Values::I16(numbers) => numbers.iter().map(i16::to_string).collect(),
            Values::U8(numbers) => numbers.iter().map(u8::to_string).collect(),
            _ => return Err(PyTypeError::new_err("texts are categories anyway")),
        };
        Ok(Self::Categories(Box::new(self), texts))
    }

    /// Rows, and numbers in each.
    fn shape(&self, py: Python<'_>) -> (usize, usize) {
        macro_rules! shape {
            ($array:ident) => {{
                let shape = $array.bind(py).shape();
                (shape.first().copied().unwrap_or(1), shape.iter().skip(1).product())
            }};
        }
        match self {
            Self::Singles(array) => shape!(array),
            Self::Doubles(array) => shape!(array),
            Self::Longs(array) => shape!(array),
            Self::Ints(array) => shape!(array),
            Self::Shorts(array) => shape!(array),
            Self::Bytes(array) => shape!(array),
            Self::Floats(values) => (values.len(), 1),
            Self::Whole(values) => (values.len(), 1),
            Self::Texts(texts) | Self::Categories(_, texts) => (texts.len(), 1),
        }
    }
}

impl Lent<'_, '_> {
    /// The values, as the library takes them.
    pub fn values(&self) -> PyResult<Values<'_>> {
        let uneven = |_| PyValueError::new_err("an array whose rows are not in order");
        Ok(match self {
            Self::Singles(array) => Values::F32(array.as_slice().map_err(uneven)?),
            Self::Doubles(array) => Values::F64(array.as_slice().map_err(uneven)?),
            Self::Longs(array) => Values::I64(array.as_slice().map_err(uneven)?),
            Self::Ints(array) => Values::I32(array.as_slice().map_err(uneven)?),
            Self::Shorts(array) => Values::I16(array.as_slice().map_err(uneven)?),
            Self::Bytes(array) => Values::U8(array.as_slice().map_err(uneven)?),
            Self::Floats(values) => Values::F64(values),
            Self::Whole(values) => Values::I64(values),
            Self::Texts(texts) => Values::Text(texts),
        })
    }
}

/// A column, or several side by side.
#[derive(Debug)]
pub struct Part {
    /// Names; empty where there are none.
    pub names: Vec<String>,
    /// Values, row by row.
    pub data: Data,
    /// Whether they were whole numbers too large to be exact.
    pub rounded: bool,
}

/// A table that Python lends.
#[pyclass(frozen, module = "koan._koan")]
#[derive(Debug)]
pub struct Frame {
    /// Its columns.
    pub parts: Vec<Part>,
    /// Its rows.
    #[pyo3(get)]
    pub rows: usize,
}

#[pymethods]
impl Frame {
    /// A matrix of numbers, with names of its columns or without.
    #[staticmethod]
    #[pyo3(signature = (matrix, names = None))]
    fn of_matrix(matrix: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<Self> {
        let data = Data::of(matrix)?;
        let (rows, columns) = data.shape(matrix.py());
        let names = names.unwrap_or_else(|| vec![String::new(); columns]);
        if names.len() != columns {
            let problem = format!("X: {} names for {columns} columns", names.len());
            return Err(PyValueError::new_err(problem));
        }
        Ok(Self { parts: vec![Part { names, data, rounded: false }], rows })
    }

    /// Columns with their names: arrays of numbers, and lists of texts. The numbers in some
    /// places are `categories`.
    #[staticmethod]
    #[pyo3(signature = (columns, rows, categories = HashSet::new()))]
    fn of_columns(
        columns: Vec<(String, Bound<'_, PyAny>)>,
        rows: usize,
        categories: HashSet<usize>,
    ) -> PyResult<Self> {
        let mut parts = Vec::with_capacity(columns.len());
        for (place, (name, values)) in columns.into_iter().enumerate() {
            let mut data = Data::of(&values)?;
            if categories.contains(&place) {
                data = data.categories(values.py())?;
            }
            let found = data.shape(values.py()).0;
            if found != rows {
                let problem = format!("X: column `{name}` has {found} values for {rows} rows");
                return Err(PyValueError::new_err(problem));
            }
            parts.push(Part { names: vec![name], data, rounded: false });
        }
        Ok(Self { parts, rows })
    }

    /// A table that can be had as a stream of Arrow's.
    #[staticmethod]
    fn of_arrow(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let stream = arrow::stream(table)?;
        guarded(|| table.py().detach(|| arrow::read(stream)))?
    }

    /// Names of the columns; empty where they have none.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.parts.iter().flat_map(|part| part.names.iter().cloned()).collect()
    }
}

impl Frame {
    /// Lends all columns.
    pub fn lend<'py>(&self, py: Python<'py>) -> PyResult<Vec<Lent<'py, '_>>> {
        self.parts.iter().map(|part| part.data.lend(py)).collect()
    }

    /// Lends all columns to a model: numbers that are categories as numbers where it takes these.
    pub fn lend_to<'py>(&self, py: Python<'py>, schema: &Schema) -> PyResult<Vec<Lent<'py, '_>>> {
        let is_number = |part: &Part| {
            let numeric = |column: &&Column| matches!(column.kind, ColumnKind::Numeric { .. });
            schema.columns.iter().filter(numeric).any(|column| part.names == [&*column.name])
        };
        let data = self.parts.iter().map(|part| match is_number(part) {
            true => part.data.as_numbers(),
            false => &part.data,
        });
        data.map(|data| data.lend(py)).collect()
    }

    /// A builder with all columns as inputs.
    pub fn builder<'a>(&self, lent: &'a [Lent<'_, '_>]) -> PyResult<TableBuilder<'a>> {
        let mut builder = TableBuilder::new(self.rows);
        for (part, lent) in self.parts.iter().zip(lent) {
            builder = part.input(builder, lent.values()?);
        }
        Ok(builder)
    }
}

impl Part {
    /// Adds the columns as inputs.
    pub fn input<'a>(&self, builder: TableBuilder<'a>, values: Values<'a>) -> TableBuilder<'a> {
        match (&self.names[..], values) {
            ([name], values) => builder.column(name, values),
            (names, values) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                builder.named_matrix(&names, values)
            }
        }
    }
}
