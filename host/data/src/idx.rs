//! Rows of idx files, the binary arrays of MNIST.
//!
//! Two zero bytes, the element type (8 for unsigned bytes), the number of
//! dimensions, each dimension as 32 bits big-endian, then the elements.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use super::error::DataError;
use super::open::{Input, Origin};
use super::scan::ColumnScan;
use super::schema::{Format, Schema};
use super::shape::Shape;
use super::{ColumnLabel, MAX_INPUTS, ReadOptions, Task};

/// An idx file of unsigned bytes, read up to its elements.
struct Array<'r> {
    origin: Origin,
    reader: Box<dyn BufRead + 'r>,
    offset: u64,
    dimensions: Vec<u32>,
}

impl<'r> Array<'r> {
    fn new(input: Input<'r>) -> Result<Array<'r>, DataError> {
        let origin = input.origin.clone();
        let mut array =
            Array { origin, reader: input.into_reader(), offset: 0, dimensions: Vec::new() };
        let mut bytes = Vec::new();
        array.fill(&mut bytes, 4, "the header")?;
        if bytes[..2] != [0, 0] {
            return Err(array.problem(0, "not the start of an idx file".to_string()));
        }
        if bytes[2] != 8 {
            let problem =
                format!("elements of type 0x{:02x}; only unsigned bytes, 0x08, are read", bytes[2]);
            return Err(array.problem(2, problem));
        }
        for _ in 0..bytes[3] {
            array.fill(&mut bytes, 4, "the header")?;
            let size = bytes.iter().fold(0, |size, &byte| size << 8 | u32::from(byte));
            array.dimensions.push(size);
        }
        Ok(array)
    }

    fn problem(&self, offset: u64, problem: String) -> DataError {
        let file = self.origin.file.clone();
        DataError::Idx { file, offset, problem }
    }

    /// Replaces `bytes` by the next `count` bytes, which are part of `what`.
    fn fill(&mut self, bytes: &mut Vec<u8>, count: u64, what: &str) -> Result<(), DataError> {
        bytes.clear();
        // Grows as bytes arrive: the count is only what the header claims.
        let read = (&mut self.reader).take(count).read_to_end(bytes);
        let read = read.map_err(|e| self.origin.read_error(e))? as u64;
        self.offset += read;
        if read < count {
            return Err(self.problem(self.offset, format!("the file ends within {what}")));
        }
        Ok(())
    }

    /// Checks that no bytes follow.
    fn finish(&mut self) -> Result<(), DataError> {
        let rest = self.reader.fill_buf();
        if rest.map_err(|e| self.origin.read_error(e))?.is_empty() {
            return Ok(());
        }
        Err(self.problem(self.offset, "bytes after the last element".to_string()))
    }
}

/// The labels that go with a file of images: those of the options, or the file
/// beside it with the customary name, compressed or not.
pub(crate) fn read_labels(path: &Path, options: &ReadOptions) -> Result<Vec<u8>, DataError> {
    let found = match &options.labels {
        Some(labels) => labels.clone(),
        None => find_labels(path)?,
    };
    let mut array = Array::new(Input::open(&found)?)?;
    let [count] = array.dimensions[..] else {
        let problem = format!("{} dimensions, labels have 1", array.dimensions.len());
        return Err(array.problem(3, problem));
    };
    let mut labels = Vec::new();
    array.fill(&mut labels, u64::from(count), &format!("its {count} labels"))?;
    array.finish()?;
    Ok(labels)
}

/// The file of labels that is read with a file of images if none is named.
pub fn labels_beside(images: &Path) -> Option<PathBuf> {
    find_labels(images).ok()
}

fn find_labels(path: &Path) -> Result<PathBuf, DataError> {
    let file = path.display().to_string();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let labels = name.replace("images", "labels").replace("idx3", "idx1");
    let other = match labels.strip_suffix(".gz") {
        Some(plain) => plain.to_string(),
        None => format!("{labels}.gz"),
    };
    if labels == name {
        let tried = "\"labels\" in place of \"images\" in the name".to_string();
        return Err(DataError::NoLabels { file, tried });
    }
    let candidates = [path.with_file_name(labels), path.with_file_name(other)];
    match candidates.iter().find(|candidate| candidate.exists()) {
        Some(found) => Ok(found.clone()),
        None => Err(DataError::NoLabels {
            file,
            tried: format!("{} and {}", candidates[0].display(), candidates[1].display()),
        }),
    }
}

/// Reads the header of the images and the labels: the schema.
pub(crate) fn infer(path: &Path, options: &ReadOptions) -> Result<Schema, DataError> {
    let mut rows = IdxRows::new(Input::open(path)?)?;
    if rows.rows == 0 {
        return Err(DataError::NoRows { file: rows.array.origin.file });
    }
    rows.set_labels(read_labels(path, options)?)?;
    let mut labels = ColumnScan::default();
    for (row, label) in (1..).zip(rows.labels.iter().flatten()) {
        labels.add(row, label.to_string().as_bytes());
    }
    let task = options.task.unwrap_or(Task::Classification);
    let label = ColumnLabel { number: 1, name: "label".to_string() };
    Ok(Schema {
        inputs: rows.inputs,
        classes: labels.into_classes(&rows.array.origin, &label, Some(task), false)?,
        image: rows.image(),
        ..Schema::new(Format::Idx)
    })
}

/// Rows of an idx file: the first dimension counts them, the product of the
/// others is their number of inputs, 0 to 255 each.
pub(crate) struct IdxRows<'r> {
    array: Array<'r>,
    rows: u64,
    inputs: usize,
    row: u64,
    bytes: Vec<u8>,
    labels: Option<Vec<u8>>,
}

impl<'r> IdxRows<'r> {
    pub fn new(input: Input<'r>) -> Result<IdxRows<'r>, DataError> {
        let array = Array::new(input)?;
        let (rows, shape) = match &array.dimensions[..] {
            [rows, shape @ ..] if !shape.is_empty() => (u64::from(*rows), shape),
            dimensions => {
                let problem = format!("{} dimensions, images have 3", dimensions.len());
                return Err(array.problem(3, problem));
            }
        };
        let inputs = shape.iter().try_fold(1usize, |product, &size| {
            let size = usize::try_from(size).ok()?;
            product.checked_mul(size).filter(|&p| p <= MAX_INPUTS)
        });
        match inputs {
            Some(inputs) if inputs > 0 => {
                Ok(IdxRows { array, rows, inputs, row: 0, bytes: Vec::new(), labels: None })
            }
            _ => {
                let problem = format!("rows of {shape:?}; 1 to {MAX_INPUTS} values can be read");
                Err(array.problem(8, problem))
            }
        }
    }

    /// Inputs per row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The shape of a row of three or four dimensions; none of other ones.
    fn image(&self) -> Option<Shape> {
        let size = |at: usize| self.array.dimensions[at] as usize;
        let channels = match self.array.dimensions.len() {
            3 => 1,
            4 => size(3),
            _ => return None,
        };
        Some(Shape { height: size(1), width: size(2), channels })
    }

    /// Gives each row its label.
    pub fn set_labels(&mut self, labels: Vec<u8>) -> Result<(), DataError> {
        if labels.len() as u64 != self.rows {
            let problem = format!("{} rows, but there are {} labels", self.rows, labels.len());
            return Err(self.array.problem(4, problem));
        }
        self.labels = Some(labels);
        Ok(())
    }

    /// As [`CsvRows::read_row`](super::csv::CsvRows::read_row).
    pub fn read_row(
        &mut self,
        out: &mut Vec<f32>,
        target: &mut String,
    ) -> Result<Option<u64>, DataError> {
        if self.row == self.rows {
            self.array.finish()?;
            return Ok(None);
        }
        let label = self.labels.as_ref().and_then(|l| l.get(self.row as usize));
        self.row += 1;
        let what = format!("row {} of {}", self.row, self.rows);
        self.array.fill(&mut self.bytes, self.inputs as u64, &what)?;
        out.extend(self.bytes.iter().map(|&byte| f32::from(byte)));
        if let Some(label) = label {
            target.push_str(&label.to_string());
        }
        Ok(Some(self.row))
    }
}
