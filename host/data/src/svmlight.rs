//! Rows of svmlight (LIBSVM) text: `label index:value …`.

use super::error::DataError;
use super::lines::Lines;
use super::open::{DataFile, Input};
use super::scan::ColumnScan;
use super::schema::{Format, Schema};
use super::{ColumnLabel, MAX_INPUTS, ReadOptions};

/// Entries of an svmlight file, row by row: parsed but still sparse.
struct Entries<'r> {
    lines: Lines<'r>,
    /// Label of the current line, empty if it has none.
    label: String,
    /// Index as written and value, ascending by index.
    entries: Vec<(u32, f32)>,
}

impl<'r> Entries<'r> {
    fn new(input: Input<'r>) -> Entries<'r> {
        Entries { lines: Lines::new(input, Some(b'#')), label: String::new(), entries: Vec::new() }
    }

    /// Moves on to the next row, and tells its line.
    fn next(&mut self) -> Result<Option<u64>, DataError> {
        while let Some(line) = self.lines.next()? {
            let mut parts = self.lines.text().split(|&byte| byte == b'#');
            let Ok(text) = std::str::from_utf8(parts.next().unwrap_or_default()) else {
                return Err(DataError::NotUtf8 { place: self.lines.origin.at(line) });
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
            if self.label.contains([',', ';', '"']) {
                return Err(DataError::Svmlight {
                    place: self.lines.origin.at(line),
                    token: self.label.clone(),
                    problem: "is not a label".to_owned(),
                });
            }
            for token in tokens.filter(|token| !token.starts_with("qid:")) {
                let last = self.entries.last().map(|&(index, _)| index);
                let entry = parse_entry(token, last).map_err(|problem| DataError::Svmlight {
                    place: self.lines.origin.at(line),
                    token: token.to_string(),
                    problem,
                })?;
                self.entries.push(entry);
            }
            return Ok(Some(line));
        }
        Ok(None)
    }

    fn refused(&self, (index, value): (u32, f32), problem: String) -> DataError {
        DataError::Svmlight {
            place: self.lines.origin.at(self.lines.number),
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
pub(crate) fn infer(file: &DataFile, options: &ReadOptions) -> Result<(Schema, usize), DataError> {
    let mut sparse = Entries::new(file.open()?);
    let origin = sparse.lines.origin.clone();
    let mut labels = ColumnScan::default();
    let (mut rows, mut zero_based, mut highest) = (0, false, None);
    while let Some(line) = sparse.next()? {
        labels.add(line, sparse.label.as_bytes());
        // Indices ascend: the first is the lowest and the last the highest.
        zero_based |= sparse.entries.first().is_some_and(|&(index, _)| index == 0);
        highest = highest.max(sparse.entries.last().map(|&(index, _)| index));
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
    rows: Entries<'r>,
    inputs: usize,
    zero_based: bool,
}

impl<'r> SvmlightRows<'r> {
    pub fn new(input: Input<'r>, schema: &Schema) -> SvmlightRows<'r> {
        SvmlightRows {
            rows: Entries::new(input),
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
        let Some(line) = self.rows.next()? else {
            return Ok(None);
        };
        let start = out.len();
        out.resize(start + self.inputs, 0.0);
        for &(index, value) in &self.rows.entries {
            let column = match (self.zero_based, index) {
                (true, _) => index as usize,
                (false, 1..) => index as usize - 1,
                (false, 0) => {
                    let problem = "has index 0; the training data counts from 1".to_string();
                    return Err(self.rows.refused((index, value), problem));
                }
            };
            match out[start..].get_mut(column) {
                Some(input) => *input = value,
                None if value == 0.0 => {}
                None => {
                    let problem = format!("is beyond the model's {} inputs", self.inputs);
                    return Err(self.rows.refused((index, value), problem));
                }
            }
        }
        target.push_str(&self.rows.label);
        Ok(Some(line))
    }
}
