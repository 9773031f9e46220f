//! Rows under a known schema, one at a time: the second pass over training
//! data, and the stream of rows to predict.

use std::io::Read;
use std::path::Path;

use super::ReadOptions;
use super::csv::CsvRows;
use super::error::{ColumnLabel, DataError, Place};
use super::idx::IdxRows;
use super::open::{Input, Origin};
use super::schema::{Format, Schema};
use super::svmlight::SvmlightRows;

/// Reads the rows of a file to be predicted; see [`RowReader`].
///
/// # Errors
///
/// If the file cannot be opened, is empty, is of another format than the
/// schema's, or its columns do not match the schema's.
pub fn rows(
    path: impl AsRef<Path>,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<RowReader<'static>, DataError> {
    RowReader::new(Input::open(path.as_ref())?, schema, options, false)
}

/// Reads rows to be predicted from a stream, which messages call `name`; see
/// [`RowReader`].
///
/// # Errors
///
/// As [`rows`].
pub fn rows_from<'r>(
    stream: impl Read + 'r,
    name: &str,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<RowReader<'r>, DataError> {
    RowReader::new(Input::new(stream, name)?, schema, options, false)
}

/// Rows of inputs under a schema, one at a time and in bounded memory.
///
/// The target may be present or absent; it is not looked at. CSV columns are
/// matched by name if both the schema and the file have names, otherwise by
/// position, where the target, the dropped columns or both may be absent. Of the
/// options only `header` and `delimiter` matter.
///
/// Yields the line of each row (the row's number in idx files) and its inputs.
/// After a row that is in error the next can be read; after a failed read there
/// are no more.
pub struct RowReader<'r> {
    rows: Rows<'r>,
    origin: Origin,
    inputs: usize,
    target: String,
    ended: bool,
}

enum Rows<'r> {
    Csv(CsvRows<'r>),
    Svmlight(SvmlightRows<'r>),
    Idx(IdxRows<'r>),
}

impl<'r> RowReader<'r> {
    pub(crate) fn new(
        input: Input<'r>,
        schema: &Schema,
        options: &ReadOptions,
        want_target: bool,
    ) -> Result<RowReader<'r>, DataError> {
        let origin = input.origin.clone();
        let found = input.format();
        // Svmlight rows without values look like CSV: there its own errors do.
        if found != schema.format && (schema.format, found) != (Format::Svmlight, Format::Csv) {
            return Err(DataError::Format {
                file: origin.file,
                expected: schema.format.described(),
                found: found.described(),
            });
        }
        let rows = match schema.format {
            Format::Csv => Rows::Csv(CsvRows::new(input, schema, options, want_target)?),
            Format::Svmlight => Rows::Svmlight(SvmlightRows::new(input, schema)),
            Format::Idx => {
                let rows = IdxRows::new(input)?;
                if rows.inputs() != schema.inputs {
                    return Err(DataError::Inputs {
                        file: origin.file,
                        expected: schema.inputs,
                        found: rows.inputs(),
                    });
                }
                Rows::Idx(rows)
            }
        };
        Ok(RowReader { rows, origin, inputs: schema.inputs, target: String::new(), ended: false })
    }

    /// Inputs per row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Replaces `row` by the next row's inputs; its line, or `None` at the end.
    /// As the iterator, without a new vector for each row.
    pub fn next_into(&mut self, row: &mut Vec<f32>) -> Option<Result<u64, DataError>> {
        row.clear();
        self.append(row).transpose()
    }

    /// Appends the next row's inputs, all or none.
    pub(crate) fn append(&mut self, out: &mut Vec<f32>) -> Result<Option<u64>, DataError> {
        if self.ended {
            return Ok(None);
        }
        self.target.clear();
        let start = out.len();
        let row = match &mut self.rows {
            Rows::Csv(rows) => rows.read_row(out, &mut self.target),
            Rows::Svmlight(rows) => rows.read_row(out, &mut self.target),
            Rows::Idx(rows) => rows.read_row(out, &mut self.target),
        };
        if let Err(error) = &row {
            out.truncate(start);
            self.ended = matches!(
                error,
                DataError::Unreadable { .. }
                    | DataError::CorruptGzip { .. }
                    | DataError::Idx { .. }
            );
        }
        row
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(crate) fn set_labels(&mut self, labels: Vec<u8>) -> Result<(), DataError> {
        match &mut self.rows {
            Rows::Idx(rows) => rows.set_labels(labels),
            Rows::Csv(_) | Rows::Svmlight(_) => Ok(()),
        }
    }

    /// The raw target of the last row, empty where it is missing.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The place of the target in the last row.
    pub(crate) fn target_place(&self, schema: &Schema, line: u64) -> Place {
        match &self.rows {
            Rows::Csv(rows) => {
                let (field, column) = rows.target().unwrap_or_default();
                let ColumnLabel { name, .. } = schema.label(column);
                let number = field + 1;
                self.origin.at_column(line, ColumnLabel { number, name })
            }
            Rows::Svmlight(_) | Rows::Idx(_) => self.origin.at(line),
        }
    }
}

impl Iterator for RowReader<'_> {
    type Item = Result<(u64, Vec<f32>), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut row = Vec::with_capacity(self.inputs);
        let line = self.next_into(&mut row)?;
        Some(line.map(|line| (line, row)))
    }
}
