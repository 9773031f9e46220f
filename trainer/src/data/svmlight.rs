//! Rows of svmlight (LIBSVM) text: `label index:value …`.

use std::io::BufRead;
use std::path::Path;

use super::error::DataError;
use super::open::{Input, Origin};
use super::scan::ColumnScan;
use super::schema::{Format, Schema};
use super::{ColumnLabel, MAX_INPUTS, ReadOptions};

/// Lines of an svmlight file, parsed but still sparse.
struct Lines<'r> {
    origin: Origin,
    reader: Box<dyn BufRead + 'r>,
    line: u64,
    buffer: Vec<u8>,
    /// Label of the current line, empty if it has none.
    label: String,
    /// Index as written and value, ascending by index.
    entries: Vec<(u32, f32)>,
}

impl<'r> Lines<'r> {
    fn new(input: Input<'r>) -> Lines<'r> {
        Lines {
            origin: input.origin.clone(),
            reader: input.into_reader(),
            line: 0,
            buffer: Vec::new(),
            label: String::new(),
            entries: Vec::new(),
        }
    }

    /// Moves on to the next line that is neither blank nor a comment.
    fn next(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            self.buffer.clear();
            let read = self.reader.read_until(b'\n', &mut self.buffer);
            if read.map_err(|e| self.origin.read_error(e))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let mut parts = self.buffer.split(|&byte| byte == b'#');
            let text = parts.next().unwrap_or_default();
            let Ok(text) = std::str::from_utf8(text) else {
                let place = self.origin.at(self.line);
                return Err(DataError::NotUtf8 { place });
            };
            let mut tokens = text.split_ascii_whitespace().peekable();
            self.label.clear();
            self.entries.clear();
            match tokens.peek() {
                None => continue,
                // A row to predict may come without a label.
                Some(first) if first.contains(':') => {}
                Some(_) => self.label.push_str(tokens.next().unwrap_or_default()),
            }
            for token in tokens.filter(|token| !token.starts_with("qid:")) {
                let last = self.entries.last().map(|&(index, _)| index);
                let entry = parse_entry(token, last).map_err(|problem| DataError::Svmlight {
                    place: self.origin.at(self.line),
                    token: token.to_string(),
                    problem,
                })?;
                self.entries.push(entry);
            }
            return Ok(Some(self.line));
        }
    }

    fn refused(&self, (index, value): (u32, f32), problem: String) -> DataError {
        DataError::Svmlight {
            place: self.origin.at(self.line),
            token: format!("{index}:{value}"),
            problem,
        }
    }
}

fn parse_entry(token: &str, last: Option<u32>) -> Result<(u32, f32), String> {
    let malformed = || "is not index:value".to_string();
    let (index, value) = token.split_once(':').ok_or_else(malformed)?;
    let index: u32 = index.parse().map_err(|_| malformed())?;
    let value: f32 = value.parse().map_err(|_| malformed())?;
    if !value.is_finite() {
        return Err("is not a finite number".to_string());
    }
    if index as usize > MAX_INPUTS {
        return Err(format!("has an index above {MAX_INPUTS}"));
    }
    match last {
        Some(last) if index <= last => Err(format!("does not come after index {last}")),
        _ => Ok((index, value)),
    }
}

/// Reads the file once: the schema and the number of rows.
pub(crate) fn infer(path: &Path, options: &ReadOptions) -> Result<(Schema, usize), DataError> {
    let mut lines = Lines::new(Input::open(path)?);
    let origin = lines.origin.clone();
    let mut labels = ColumnScan::default();
    let (mut rows, mut zero_based, mut highest) = (0, false, None);
    while let Some(line) = lines.next()? {
        labels.add(line, lines.label.as_bytes());
        // Indices ascend: the first is the lowest and the last the highest.
        zero_based |= lines.entries.first().is_some_and(|&(index, _)| index == 0);
        highest = highest.max(lines.entries.last().map(|&(index, _)| index));
        rows += 1;
    }
    if rows == 0 {
        return Err(DataError::NoRows { file: origin.file });
    }
    let Some(highest) = highest else {
        return Err(DataError::NoInputs { file: origin.file });
    };
    let label = ColumnLabel { number: 1, name: "label".to_string() };
    let schema = Schema {
        zero_based,
        inputs: highest as usize + usize::from(zero_based),
        classes: labels.into_classes(&origin, &label, options.task, false)?,
        ..Schema::new(Format::Svmlight)
    };
    Ok((schema, rows))
}

/// Rows under a schema.
pub(crate) struct SvmlightRows<'r> {
    lines: Lines<'r>,
    inputs: usize,
    zero_based: bool,
}

impl<'r> SvmlightRows<'r> {
    pub fn new(input: Input<'r>, schema: &Schema) -> SvmlightRows<'r> {
        SvmlightRows {
            lines: Lines::new(input),
            inputs: schema.inputs,
            zero_based: schema.zero_based,
        }
    }

    /// As [`CsvRows::read_row`](super::csv::CsvRows::read_row).
    pub fn read_row(
        &mut self,
        out: &mut Vec<f32>,
        target: &mut String,
    ) -> Result<Option<u64>, DataError> {
        let Some(line) = self.lines.next()? else {
            return Ok(None);
        };
        let start = out.len();
        out.resize(start + self.inputs, 0.0);
        for &(index, value) in &self.lines.entries {
            let column = match (self.zero_based, index) {
                (true, _) => index as usize,
                (false, 1..) => index as usize - 1,
                (false, 0) => {
                    let problem = "has index 0; the training data counts from 1".to_string();
                    return Err(self.lines.refused((index, value), problem));
                }
            };
            match out[start..].get_mut(column) {
                Some(input) => *input = value,
                None if value == 0.0 => {}
                None => {
                    let problem = format!("is beyond the model's {} inputs", self.inputs);
                    return Err(self.lines.refused((index, value), problem));
                }
            }
        }
        target.push_str(&self.lines.label);
        Ok(Some(line))
    }
}
