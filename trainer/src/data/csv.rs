//! Rows of delimited text: CSV, TSV, semicolons or runs of spaces.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use super::ReadOptions;
use super::error::{ColumnLabel, DataError, Place, describe_columns};
use super::layout::{Layouts, looks_like_header, match_names};
use super::open::{Input, Origin};
use super::scan::{Field, parse};
use super::schema::{Column, ColumnKind, Schema};

/// Records of delimited text with their fields trimmed; blank lines are skipped.
pub(crate) struct Records<'r> {
    pub origin: Origin,
    reader: csv::Reader<Box<dyn Read + 'r>>,
    record: csv::ByteRecord,
    fields: Vec<Range<usize>>,
    /// Delimited by runs of spaces: there are no empty fields.
    spaces: bool,
}

impl<'r> Records<'r> {
    /// Records with fields between `delimiter` bytes; a space stands for runs of
    /// spaces.
    pub fn new(input: Input<'r>, delimiter: u8) -> Records<'r> {
        // Only "\n" ends a record, also the last one: then the reader's line
        // count is exact for CRLF files and after blank lines. The "\r" goes with
        // the blanks around fields.
        let reader: Box<dyn Read + 'r> = Box::new(input.reader.chain(&b"\n"[..]));
        Records {
            origin: input.origin,
            reader: csv::ReaderBuilder::new()
                .delimiter(delimiter)
                .has_headers(false)
                .flexible(true)
                .terminator(csv::Terminator::Any(b'\n'))
                .buffer_capacity(1 << 16)
                .from_reader(reader),
            record: csv::ByteRecord::new(),
            fields: Vec::new(),
            spaces: delimiter == b' ',
        }
    }

    /// Moves on to the next record; its first line, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            match self.reader.read_byte_record(&mut self.record) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(e) => {
                    return Err(self.origin.read_error(match e.into_kind() {
                        csv::ErrorKind::Io(e) => e,
                        other => io::Error::other(format!("{other:?}")),
                    }));
                }
            }
            self.fields.clear();
            let bytes = self.record.as_slice();
            for index in 0..self.record.len() {
                let range = self.record.range(index).unwrap_or_default();
                let start = range.end - bytes[range.clone()].trim_ascii_start().len();
                let end = start + bytes[start..range.end].trim_ascii_end().len();
                if !(self.spaces && start == end) {
                    self.fields.push(start..end);
                }
            }
            let blank = match &self.fields[..] {
                [] => true,
                [only] => only.is_empty(),
                _ => false,
            };
            if !blank {
                let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
                let after = self.reader.position().line();
                return Ok(Some(after.saturating_sub(1 + breaks)));
            }
        }
    }

    /// Number of fields of the current record.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Field `index` of the current record.
    pub fn field(&self, index: usize) -> &[u8] {
        &self.record.as_slice()[self.fields[index].clone()]
    }

    /// The current record as names.
    pub fn names(&self) -> Vec<String> {
        (0..self.len()).map(|i| String::from_utf8_lossy(self.field(i)).into_owned()).collect()
    }
}

/// The delimiter that `options` or else the first line tells; `fits` says which
/// numbers of fields are to be expected.
pub(crate) fn delimiter(
    input: &Input<'_>,
    options: &ReadOptions,
    fits: impl Fn(usize) -> bool,
) -> u8 {
    if let Some(delimiter) = options.delimiter {
        return delimiter;
    }
    let line = input.first_line().trim_ascii();
    let mut counts = [(b',', 0), (b'\t', 0), (b';', 0)];
    let mut quoted = false;
    for &byte in line {
        quoted ^= byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += usize::from(byte == *delimiter && !quoted);
        }
    }
    let file = input.origin.file.to_ascii_lowercase();
    let extension = Path::new(file.strip_suffix(".gz").unwrap_or(&file)).extension();
    let tabbed = extension.is_some_and(|e| e == "tsv" || e == "tab");
    if tabbed && counts[1].1 > 0 {
        return b'\t';
    }
    let fitting = counts.iter().find(|(_, n)| *n > 0 && fits(n + 1));
    // The last of equal maxima wins: comma before tab before semicolon.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    if let Some(&(delimiter, 1..)) = fitting.or(most) {
        return delimiter;
    }
    let words = line.split(|&byte| byte == b' ').filter(|w| !w.is_empty());
    match words.count() {
        2.. if !fits(1) => b' ',
        words @ 2.. if fits(words) => b' ',
        _ => b',',
    }
}

/// Rows under a schema.
pub(crate) struct CsvRows<'r> {
    records: Records<'r>,
    columns: Vec<Column>,
    /// Field and column of each column that becomes inputs.
    sources: Vec<(usize, usize)>,
    /// Field and column of the target.
    target: Option<(usize, usize)>,
    fields: usize,
    /// Line of the first record while that is still to be read as a row.
    pending: Option<u64>,
}

impl<'r> CsvRows<'r> {
    /// Reads the first line and matches the columns: by name if the schema has
    /// names and the line is a header, otherwise by position.
    pub fn new(
        input: Input<'r>,
        schema: &Schema,
        options: &ReadOptions,
        want_target: bool,
    ) -> Result<CsvRows<'r>, DataError> {
        let columns = schema.columns.clone();
        let layouts = Layouts::new(&columns, want_target);
        let delimiter = delimiter(&input, options, |fields| layouts.of(fields).is_some());
        let mut records = Records::new(input, delimiter);
        let file = records.origin.file.clone();
        let Some(line) = records.next()? else {
            return Err(DataError::Empty { file });
        };
        let fields = records.len();
        let names = records.names();
        let named = columns.iter().any(|c| c.inputs() > 0 && !c.name.is_empty());
        let by_name = match_names(&columns, &names);
        let by_position = layouts.of(fields);
        let header = options.header.unwrap_or_else(|| {
            (named && by_name.is_ok())
                || by_position.is_some_and(|layout| looks_like_header(&columns, layout, &records))
        });
        let matched = if header && named {
            by_name.map_err(Some)
        } else {
            by_position.cloned().ok_or_else(|| {
                // A header that lacks a column, or rows of another width?
                let known = |name: &String| columns.iter().any(|c| c.name == *name);
                let some = named && names.iter().any(|n| !n.is_empty() && known(n));
                by_name.err().filter(|_| some)
            })
        };
        let matched = matched.map_err(|lacking| match lacking {
            Some(wanted) => DataError::NoColumn {
                file: file.clone(),
                columns: describe_columns(&wanted, &names),
                wanted,
            },
            None => DataError::ColumnCount {
                file: file.clone(),
                expected: columns.len(),
                found: fields,
            },
        })?;
        let (mut sources, mut target) = (Vec::new(), None);
        for (column, field) in matched.iter().enumerate() {
            match (&columns[column].kind, field) {
                (ColumnKind::Target, Some(field)) if want_target => target = Some((*field, column)),
                (ColumnKind::Target | ColumnKind::Dropped, _) | (_, None) => {}
                (_, Some(field)) => sources.push((*field, column)),
            }
        }
        if want_target && target.is_none() {
            let is_target = |c: &Column| c.kind == ColumnKind::Target;
            let position = columns.iter().position(is_target).unwrap_or(columns.len());
            let target = schema.label(position).to_string();
            return Err(DataError::NoTarget { file, target });
        }
        Ok(CsvRows {
            records,
            columns,
            sources,
            target,
            fields,
            pending: (!header).then_some(line),
        })
    }

    /// Appends the inputs of the next row to `out` and puts the raw target into
    /// `target`; the row's line, or `None` at the end.
    pub fn read_row(
        &mut self,
        out: &mut Vec<f32>,
        target: &mut String,
    ) -> Result<Option<u64>, DataError> {
        let line = match self.pending.take() {
            Some(line) => line,
            None => match self.records.next()? {
                Some(line) => line,
                None => return Ok(None),
            },
        };
        if self.records.len() != self.fields {
            return Err(DataError::Ragged {
                place: self.records.origin.at(line),
                expected: self.fields,
                found: self.records.len(),
            });
        }
        for &(field, column) in &self.sources {
            self.push(line, field, &self.columns[column], out)?;
        }
        if let Some((field, column)) = self.target {
            match parse(self.records.field(field)) {
                Field::NotUtf8 => {
                    let place = self.place(line, field, &self.columns[column]);
                    return Err(DataError::NotUtf8 { place });
                }
                _ => target.push_str(&String::from_utf8_lossy(self.records.field(field))),
            }
        }
        Ok(Some(line))
    }

    /// Field and column of the target, if it is read.
    pub fn target(&self) -> Option<(usize, usize)> {
        self.target
    }

    fn push(
        &self,
        line: u64,
        field: usize,
        column: &Column,
        out: &mut Vec<f32>,
    ) -> Result<(), DataError> {
        let value = parse(self.records.field(field));
        let place = || self.place(line, field, column);
        match (&column.kind, value) {
            (_, Field::NotUtf8) => Err(DataError::NotUtf8 { place: place() }),
            (ColumnKind::Text { values }, _) => {
                let start = out.len();
                out.resize(start + values.len(), 0.0);
                let text = std::str::from_utf8(self.records.field(field)).unwrap_or_default();
                // An unlisted value, also a missing one, stays all zeros.
                if let Ok(index) = values.binary_search_by(|v| v.as_str().cmp(text)) {
                    out[start + index] = 1.0;
                }
                Ok(())
            }
            (_, Field::Number(number)) if number.is_finite() => {
                out.push(number);
                Ok(())
            }
            (ColumnKind::Numeric { missing: Some(m) }, Field::Missing) => {
                out.push(*m);
                Ok(())
            }
            (_, Field::Missing) => Err(DataError::MissingValue {
                place: place(),
                hint: ", and was never missing in the training data",
            }),
            (_, Field::Number(_)) => Err(DataError::OutOfRange {
                place: place(),
                text: String::from_utf8_lossy(self.records.field(field)).into_owned(),
            }),
            (_, Field::Text(text)) => {
                Err(DataError::NotANumber { place: place(), text: text.to_string() })
            }
        }
    }

    fn place(&self, line: u64, field: usize, column: &Column) -> Place {
        let name = column.name.clone();
        let number = field + 1;
        let origin = &self.records.origin;
        origin.at_column(line, ColumnLabel { number, name })
    }
}
