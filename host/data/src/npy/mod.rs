//! NumPy's arrays: `.npy` files of one array and `.npz` archives of several.
//!
//! The first axis counts rows; the others are flattened into columns. Arrays of
//! one axis in an archive are columns that have the array's name.

use std::cell::RefCell;
use std::io::{self, Cursor, Read, Write};
use std::rc::Rc;

use npyz::{DType, NpyFile, Order, TypeChar};
use zip::ZipArchive;

use super::error::DataError;
use super::open::{Input, Origin, Seekable};
use super::records::{Known, Record, Source};
use super::{MAX_INPUTS, ReadOptions};

/// One element, as text is made of it.
enum Element {
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
    Text(String),
}

type Elements<'r> = Box<dyn Iterator<Item = io::Result<Element>> + 'r>;

/// Bytes of a header, at most; those of plain arrays have some hundred.
const MAX_HEADER: usize = 1 << 16;
/// Brackets within each other in a header, at most: the axes within the whole take two.
const MAX_NESTING: usize = 4;

/// A reader that is asked for what is left when others are done with it.
#[derive(Clone)]
struct Shared<'r>(Rc<RefCell<Box<dyn Read + 'r>>>);

impl Read for Shared<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

/// The array from its start, its header being one that the parser is quick with: it takes
/// twice as long for every bracket within another.
fn with_checked_header<'r>(mut reader: impl Read + 'r) -> Result<Shared<'r>, String> {
    let unread = |e: io::Error| e.to_string();
    let mut start = Vec::new();
    // Magic, version and length; of version 1 the length has 2 bytes, later 4.
    (&mut reader).take(10).read_to_end(&mut start).map_err(unread)?;
    let length = match start[..] {
        [.., 1, _, low, high] if start.len() == 10 => usize::from(low) | usize::from(high) << 8,
        [.., _, _, _, _] if start.len() == 10 => {
            (&mut reader).take(2).read_to_end(&mut start).map_err(unread)?;
            let length = start.last_chunk::<4>().filter(|_| start.len() == 12);
            length.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
        }
        _ => return Err("the file ends within the header".into()),
    };
    if length > MAX_HEADER {
        return Err(format!("a header of {length} bytes; at most {MAX_HEADER} are read"));
    }
    let begin = start.len();
    (&mut reader).take(length as u64).read_to_end(&mut start).map_err(unread)?;
    if start.len() < begin + length {
        return Err("the file ends within the header".into());
    }
    let (mut depth, mut deepest, mut quote) = (0usize, 0, None);
    for &byte in &start[begin..] {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'{' | b'[' | b'(') => depth += 1,
            (None, b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > MAX_NESTING {
        return Err(format!("a header of {deepest} brackets within each other"));
    }
    Ok(Shared(Rc::new(RefCell::new(Box::new(Cursor::new(start).chain(reader))))))
}

/// The elements of an array, row after row.
struct Array<'r> {
    name: String,
    shape: Vec<u64>,
    text: bool,
    elements: Elements<'r>,
    /// What is left of the file.
    rest: Shared<'r>,
}

impl<'r> Array<'r> {
    fn new(name: &str, reader: impl Read + 'r) -> Result<Array<'r>, String> {
        let rest = with_checked_header(reader)?;
        let file = NpyFile::new(rest.clone()).map_err(|e| e.to_string())?;
        let DType::Plain(kind) = file.dtype() else {
            return Err("a structured array; plain arrays are read".into());
        };
        let shape = file.shape().to_vec();
        if shape.is_empty() {
            return Err("an array without axes has no rows".into());
        }
        let order = file.order();
        let text = matches!(kind.type_char(), TypeChar::UnicodeStr | TypeChar::ByteStr);
        let unread = |e: npyz::DTypeError| e.to_string();
        macro_rules! elements {
            ($type:ty, $variant:ident) => {{
                let data = file.data::<$type>().map_err(unread)?;
                Box::new(data.map(|item| item.map(|v| Element::$variant(v.into()))))
            }};
        }
        let elements: Elements<'r> = match (kind.type_char(), kind.size_field()) {
            (TypeChar::Bool, _) => {
                let data = file.data::<bool>().map_err(unread)?;
                Box::new(data.map(|item| item.map(|v| Element::Unsigned(v.into()))))
            }
            (TypeChar::Int, 1) => elements!(i8, Signed),
            (TypeChar::Int, 2) => elements!(i16, Signed),
            (TypeChar::Int, 4) => elements!(i32, Signed),
            (TypeChar::Int, 8) => elements!(i64, Signed),
            (TypeChar::Uint, 1) => elements!(u8, Unsigned),
            (TypeChar::Uint, 2) => elements!(u16, Unsigned),
            (TypeChar::Uint, 4) => elements!(u32, Unsigned),
            (TypeChar::Uint, 8) => elements!(u64, Unsigned),
            (TypeChar::Float, 4) => elements!(f32, Single),
            (TypeChar::Float, 8) => elements!(f64, Double),
            (TypeChar::UnicodeStr | TypeChar::ByteStr, _) => elements!(String, Text),
            _ => {
                return Err(format!(
                    "elements of type {}; booleans, integers, 32- and 64-bit floats and texts \
                     are read",
                    file.dtype().descr()
                ));
            }
        };
        let mut array = Array { name: name.to_owned(), shape, text, elements, rest };
        if order == Order::Fortran && array.shape.len() > 1 {
            array.transpose()?;
        }
        Ok(array)
    }

    fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Checks that no bytes follow the elements that have been read.
    fn finish(&mut self, origin: &Origin) -> Result<(), DataError> {
        let mut next = Vec::new();
        let read = self.rest.by_ref().take(1).read_to_end(&mut next);
        if read.map_err(|e| origin.read_error(e))? == 0 {
            return Ok(());
        }
        let problem = format!("{}: bytes after the last element", self.name);
        Err(DataError::Malformed { file: origin.file.clone(), problem })
    }

    /// Columns of a row.
    fn width(&self) -> Option<usize> {
        let product = self.shape[1..].iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        product.and_then(|width| usize::try_from(width).ok()).filter(|&width| width <= MAX_INPUTS)
    }

    /// Brings an array that was stored column after column into row order, in
    /// memory.
    fn transpose(&mut self) -> Result<(), String> {
        let read: io::Result<Vec<Element>> =
            std::mem::replace(&mut self.elements, Box::new(std::iter::empty())).collect();
        let mut all: Vec<Option<Element>> =
            read.map_err(|e| e.to_string())?.into_iter().map(Some).collect();
        let sizes: Vec<usize> = self.shape.iter().map(|&n| n as usize).collect();
        let mut ordered = Vec::with_capacity(all.len());
        for mut index in 0..all.len() {
            // The place in row order, taken apart from the last axis on.
            let mut place = 0;
            let mut stride = all.len();
            for &size in sizes.iter().rev() {
                stride /= size;
                place += index % size * stride;
                index /= size;
            }
            ordered.extend(all[place].take());
        }
        self.elements = Box::new(ordered.into_iter().map(Ok));
        Ok(())
    }
}

/// Arrays side by side, row by row.
struct Arrays<'r> {
    origin: Origin,
    arrays: Vec<Array<'r>>,
    widths: Vec<usize>,
    rows: u64,
    row: u64,
}

impl<'r> Arrays<'r> {
    fn join(
        origin: Origin,
        arrays: Vec<Array<'r>>,
        named: bool,
    ) -> Result<(Known, Box<dyn Source + 'r>), DataError> {
        let malformed = |problem| DataError::Malformed { file: origin.file.clone(), problem };
        let Some(first) = arrays.first() else {
            return Err(malformed("no arrays in it".into()));
        };
        let rows = first.rows();
        let shapes = || {
            let shape = |array: &Array<'_>| format!("{} {:?}", array.name, array.shape);
            arrays.iter().map(shape).collect::<Vec<_>>().join(", ")
        };
        if arrays.iter().any(|array| array.rows() != rows) {
            return Err(DataError::UnevenArrays { file: origin.file.clone(), shapes: shapes() });
        }
        let widths: Option<Vec<usize>> = arrays.iter().map(Array::width).collect();
        let total = widths.as_ref().map_or(usize::MAX, |widths| widths.iter().sum());
        let Some(widths) = widths.filter(|_| total > 0 && total <= MAX_INPUTS) else {
            let problem = format!("{}; rows of 1 to {MAX_INPUTS} values can be read", shapes());
            return Err(malformed(problem));
        };
        let mut known = Known::default();
        for (array, &width) in arrays.iter().zip(&widths) {
            let own =
                if named && array.shape.len() == 1 { array.name.clone() } else { String::new() };
            known.names.extend(std::iter::repeat_n(own, width));
            known.text.extend(std::iter::repeat_n(array.text, width));
        }
        Ok((known, Box::new(Arrays { origin, arrays, widths, rows, row: 0 })))
    }
}

impl Source for Arrays<'_> {
    fn next(&mut self, record: &mut Record) -> Result<Option<u64>, DataError> {
        if self.row == self.rows {
            for array in &mut self.arrays {
                array.finish(&self.origin)?;
            }
            return Ok(None);
        }
        self.row += 1;
        record.clear();
        for (array, &width) in self.arrays.iter_mut().zip(&self.widths) {
            for _ in 0..width {
                let element = match array.elements.next() {
                    Some(Ok(element)) => element,
                    Some(Err(e)) if e.kind() != io::ErrorKind::UnexpectedEof => {
                        return Err(self.origin.read_error(e));
                    }
                    _ => {
                        let file = self.origin.file.clone();
                        let problem =
                            format!("the file ends within row {} of {}", self.row, self.rows);
                        return Err(DataError::Malformed { file, problem });
                    }
                };
                record.push(|bytes| write(&element, bytes));
            }
        }
        Ok(Some(self.row))
    }
}

fn write(element: &Element, bytes: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match element {
        Element::Signed(value) => write!(bytes, "{value}"),
        Element::Unsigned(value) => write!(bytes, "{value}"),
        Element::Single(value) => write!(bytes, "{value}"),
        Element::Double(value) => write!(bytes, "{value}"),
        Element::Text(text) => bytes.write_all(text.trim().as_bytes()),
    };
}

/// Opens an array; `labels` of the options names one more of them, the last
/// column.
pub(crate) fn open<'r>(
    input: Input<'r>,
    options: &ReadOptions,
) -> Result<(Known, Box<dyn Source + 'r>), DataError> {
    let origin = input.origin.clone();
    let malformed =
        |origin: &Origin, problem| DataError::Malformed { file: origin.file.clone(), problem };
    let array = Array::new("array", input.into_reader()).map_err(|p| malformed(&origin, p))?;
    let mut arrays = vec![array];
    if let Some(path) = &options.labels {
        let labels = Input::open(path)?;
        let beside = labels.origin.clone();
        let labels =
            Array::new("labels", labels.into_reader()).map_err(|p| malformed(&beside, p))?;
        if labels.shape.len() != 1 {
            return Err(malformed(&beside, format!("{} axes, labels have 1", labels.shape.len())));
        }
        arrays.push(labels);
    }
    Arrays::join(origin, arrays, options.labels.is_some())
}

/// Opens the arrays of an archive, all or those that the options name.
pub(crate) fn open_archive<'r>(
    input: Input<'r>,
    options: &ReadOptions,
) -> Result<(Known, Box<dyn Source + 'r>), DataError> {
    let origin = input.origin.clone();
    let malformed = |problem: String| DataError::Malformed { file: origin.file.clone(), problem };
    let bytes = match input.into_seekable()? {
        Seekable::Memory(bytes) => bytes,
        Seekable::File(mut file) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(|e| origin.read_error(e))?;
            bytes
        }
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| malformed(e.to_string()))?;
    let files: Result<Vec<String>, _> =
        archive.file_names().map(|name| name.map(|name| name.into_owned())).collect();
    let files = files.map_err(|e| malformed(e.to_string()))?;
    let there: Vec<&str> =
        files.iter().filter_map(|f| npyz::npz::array_name_from_file_name(f)).collect();
    let wanted: Vec<&str> = if options.arrays.is_empty() {
        there.clone()
    } else {
        options.arrays.iter().map(String::as_str).collect()
    };
    let mut arrays = Vec::new();
    for name in wanted {
        if !there.contains(&name) {
            let there = there.join(", ");
            return Err(malformed(format!("no array `{name}`; there are {there}")));
        }
        let file = npyz::npz::file_name_from_array_name(name);
        let in_array = |problem: String| malformed(format!("array `{name}`: {problem}"));
        let mut contents = Vec::new();
        let mut member = archive.by_name(&file).map_err(|e| in_array(e.to_string()))?;
        member.read_to_end(&mut contents).map_err(|e| in_array(e.to_string()))?;
        arrays.push(Array::new(name, Cursor::new(contents)).map_err(in_array)?);
    }
    Arrays::join(origin, arrays, true)
}
