//! NumPy's arrays: `.npy` files of one array and `.npz` archives of several.
//!
//! The first axis counts rows; the others are flattened into columns. Arrays of
//! one axis in an archive are columns that have the array's name.

mod header;

use std::io::{self, Cursor, Read, Write};

use zip::ZipArchive;

use super::error::DataError;
use super::open::{Input, Origin, Seekable};
use super::records::{Known, Record, Source};
use super::{MAX_INPUTS, MAX_LINE, ReadOptions};
use header::{Header, Kind};

/// One element, as text is made of it.
enum Element {
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
    Text(String),
}

/// The elements of an array, row after row.
struct Array<'r> {
    name: String,
    shape: Vec<u64>,
    element: header::Element,
    /// Elements that have not been taken.
    left: u64,
    stored: Stored,
    reader: Box<dyn Read + 'r>,
}

/// In which order the file has the elements.
enum Stored {
    /// Row after row: the bytes of the one that was read last.
    Rows(Vec<u8>),
    /// Column after column: the bytes of all of them.
    Columns(Vec<u8>),
}

impl Element {
    fn from_bytes(stored: header::Element, bytes: &[u8]) -> io::Result<Element> {
        let bad = |problem: &str| io::Error::new(io::ErrorKind::InvalidData, problem);
        let text = |text: &str| Element::Text(text.trim_end_matches('\0').to_owned());
        match stored.kind {
            Kind::Bytes => {
                let utf8 = std::str::from_utf8(bytes).map_err(|_| bad("a text that is not UTF-8"));
                return utf8.map(text);
            }
            Kind::Points => {
                let points: Option<String> = bytes
                    .chunks_exact(4)
                    .map(|point| char::from_u32(number(stored, point) as u32))
                    .collect();
                return points.as_deref().map(text).ok_or(bad("a text that is not Unicode"));
            }
            _ => {}
        }
        let bits = number(stored, bytes);
        Ok(match (stored.kind, stored.size) {
            (Kind::Boolean, _) if bits > 1 => return Err(bad("a boolean that is neither 0 nor 1")),
            (Kind::Signed, 1) => Element::Signed((bits as i8).into()),
            (Kind::Signed, 2) => Element::Signed((bits as i16).into()),
            (Kind::Signed, 4) => Element::Signed((bits as i32).into()),
            (Kind::Signed, _) => Element::Signed(bits as i64),
            (Kind::Float, 4) => Element::Single(f32::from_bits(bits as u32)),
            (Kind::Float, _) => Element::Double(f64::from_bits(bits)),
            _ => Element::Unsigned(bits),
        })
    }
}

/// At most eight bytes as a number, without regard to a sign.
fn number(stored: header::Element, bytes: &[u8]) -> u64 {
    let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    if stored.big { bytes.iter().fold(0, append) } else { bytes.iter().rev().fold(0, append) }
}

impl<'r> Array<'r> {
    fn new(name: &str, mut reader: impl Read + 'r) -> Result<Array<'r>, String> {
        let Header { element, fortran, shape } = header::read(&mut reader)?;
        if shape.is_empty() {
            return Err("an array without axes has no rows".into());
        }
        if element.size > MAX_LINE {
            return Err(format!("texts of {} bytes; at most {MAX_LINE} are read", element.size));
        }
        let left = if shape.contains(&0) {
            Some(0)
        } else {
            shape.iter().try_fold(1u64, |product, &axis| product.checked_mul(axis))
        };
        let Some(left) = left else {
            return Err(format!("an array of {shape:?} has more elements than there can be"));
        };
        let stored = if fortran && shape.len() > 1 && left > 0 {
            Stored::Columns(read_columns(&mut reader, left, element.size)?)
        } else {
            Stored::Rows(vec![0; element.size])
        };
        let (name, reader) = (name.to_owned(), Box::new(reader));
        Ok(Array { name, shape, element, left, stored, reader })
    }

    fn next(&mut self) -> io::Result<Option<Element>> {
        if self.left == 0 {
            return Ok(None);
        }
        let size = self.element.size;
        let bytes = match &mut self.stored {
            Stored::Rows(bytes) => {
                self.reader.read_exact(bytes)?;
                &bytes[..]
            }
            Stored::Columns(bytes) => {
                let number = (bytes.len() / size) as u64 - self.left;
                let place = place_in_columns(&self.shape, number) as usize;
                &bytes[place * size..][..size]
            }
        };
        self.left -= 1;
        Element::from_bytes(self.element, bytes).map(Some)
    }

    fn is_text(&self) -> bool {
        matches!(self.element.kind, Kind::Bytes | Kind::Points)
    }

    fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Checks that no bytes follow the elements that have been read.
    fn finish(&mut self, origin: &Origin) -> Result<(), DataError> {
        let mut next = Vec::new();
        let read = self.reader.by_ref().take(1).read_to_end(&mut next);
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
}

/// The bytes of so many elements that are stored column after column.
fn read_columns(reader: impl Read, elements: u64, size: usize) -> Result<Vec<u8>, String> {
    let length = elements.checked_mul(size as u64);
    let length = length.ok_or("an array of more bytes than there can be")?;
    let mut bytes = Vec::new();
    let read = reader.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if read as u64 != length {
        return Err("the file ends within the array".into());
    }
    Ok(bytes)
}

/// Where an array that is stored column after column has element `number` of row order.
fn place_in_columns(shape: &[u64], mut number: u64) -> u64 {
    let mut stride: u64 = shape.iter().product();
    let mut place = 0;
    for &size in shape.iter().rev() {
        stride /= size;
        place += number % size * stride;
        number /= size;
    }
    place
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
            known.text.extend(std::iter::repeat_n(array.is_text(), width));
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
                let element = match array.next() {
                    Ok(Some(element)) => element,
                    Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => {
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
        Element::Text(text) => bytes.write_all(text.trim_ascii().as_bytes()),
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
    let there: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".npy")).collect();
    if there.is_empty() {
        let problem = "a zip archive without arrays of numpy's, such as an Excel workbook or a \
                       packed table: save it as CSV, unpacked or with gzip";
        return Err(malformed(problem.into()));
    }
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
        let file = format!("{name}.npy");
        let in_array = |problem: String| malformed(format!("array `{name}`: {problem}"));
        let mut contents = Vec::new();
        let mut member = archive.by_name(&file).map_err(|e| in_array(e.to_string()))?;
        member.read_to_end(&mut contents).map_err(|e| in_array(e.to_string()))?;
        arrays.push(Array::new(name, Cursor::new(contents)).map_err(in_array)?);
    }
    Arrays::join(origin, arrays, true)
}
