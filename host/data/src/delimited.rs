//! Delimited text: CSV, TSV, semicolons or runs of spaces.

use super::error::DataError;
use super::lines::Lines;
use super::open::Input;
use super::records::Record;
use super::{MAX_FIELDS, ReadOptions};

/// The records of delimited text.
///
/// A field in quotes holds delimiters and line breaks, and two quotes for one; blanks
/// around the quotes are passed over. A quote within a field without them is a character
/// like any other.
pub(crate) struct Delimited<'r> {
    lines: Lines<'r>,
    delimiter: u8,
    /// The columns' numbers with a comma and with a point, where the fields are between
    /// semicolons.
    decimals: Vec<Decimals>,
    /// The first number with a decimal comma, and the first that may be of thousands.
    comma: Option<usize>,
    thousands: Option<Thousands>,
    /// The same the other way round: whether a comma is none between thousands, the first number
    /// whose comma may be one, and the first column with a decimal point.
    decimal_comma: bool,
    grouped: Option<Thousands>,
    point: Option<usize>,
}

/// A number such as 1.200, or 1,200.
struct Thousands {
    column: usize,
    line: u64,
    text: String,
}

/// The lines of the first number of each kind in a column.
#[derive(Clone, Copy, Default)]
struct Decimals {
    comma: Option<u64>,
    point: Option<u64>,
}

impl<'r> Delimited<'r> {
    pub fn new(input: Input<'r>, options: &ReadOptions, delimiter: u8) -> Delimited<'r> {
        let lines = Lines::new(input, options.comment);
        Delimited {
            lines,
            delimiter,
            decimals: Vec::new(),
            comma: None,
            thousands: None,
            decimal_comma: false,
            grouped: None,
            point: None,
        }
    }

    /// Replaces `record` by the next one, its fields trimmed; its first line, or `None` at
    /// the end. Blank lines are passed over.
    pub fn next(&mut self, record: &mut Record) -> Result<Option<u64>, DataError> {
        let Some(first) = self.lines.next()? else { return Ok(None) };
        record.clear();
        self.split(record, first)?;
        if self.delimiter == b';' {
            self.points_for_commas(record, first)?;
        }
        Ok(Some(first))
    }

    /// Takes the current line apart, and those after it that its quotes hold.
    fn split(&mut self, record: &mut Record, first: u64) -> Result<(), DataError> {
        let (mut at, mut delimiters) = (0, 0);
        loop {
            let line = self.lines.raw();
            let content = line.len() - usize::from(line.ends_with(b"\n"));
            let rest = &line[at..content];
            let quote = at + blanks(rest, self.delimiter);
            if quote < content && line[quote] == b'"' {
                at = self.quoted(quote + 1, record, first)?;
            } else {
                let delimiter = self.delimiter;
                let end = rest.iter().position(|&byte| byte == delimiter);
                let end = end.map_or(content, |end| at + end);
                let field = line[at..end].trim_ascii();
                // Between runs of spaces there are no empty fields but those in quotes.
                if !(field.is_empty() && delimiter == b' ') {
                    record.push(|bytes| bytes.extend_from_slice(field));
                }
                at = end;
            }
            let line = self.lines.raw();
            if line.get(at) != Some(&self.delimiter) {
                return self.check_rows(delimiters, first);
            }
            delimiters += 1;
            at += 1;
            if record.fields.len() == MAX_FIELDS {
                let place = self.lines.origin.at(self.lines.number);
                let problem = format!("more than {MAX_FIELDS} columns");
                return Err(DataError::MalformedLine { place, problem });
            }
        }
    }

    /// The field whose content begins at `at`, after its quote; the place after it, of the
    /// delimiter or the line's end.
    fn quoted(
        &mut self,
        mut at: usize,
        record: &mut Record,
        first: u64,
    ) -> Result<usize, DataError> {
        let opened = self.lines.number;
        let mut field = Vec::new();
        loop {
            let line = self.lines.raw();
            let Some(length) = line[at..].iter().position(|&byte| byte == b'"') else {
                field.extend_from_slice(&line[at..]);
                at = line.len();
                match self.lines.append() {
                    Ok(true) => continue,
                    Err(DataError::LineTooLong { .. }) | Ok(false) => {
                        let problem = "a quote is opened and not closed".to_owned();
                        let place = self.lines.origin.at(opened);
                        return Err(DataError::MalformedLine { place, problem });
                    }
                    Err(error) => return Err(error),
                }
            };
            field.extend_from_slice(&line[at..at + length]);
            at += length + 1;
            if line.get(at) == Some(&b'"') {
                field.push(b'"');
                at += 1;
                continue;
            }
            at += blanks(&line[at..], self.delimiter);
            // The line's own end is a blank, too.
            if at < line.len() && line[at] != self.delimiter {
                let after = self.lines.number;
                let problem = match after {
                    _ if after == first => "text after the quote that ends a field".to_owned(),
                    _ => format!(
                        "text after the quote that ends the field of line {opened}; one of the \
                         quotes is too many"
                    ),
                };
                let place = self.lines.origin.at(after);
                return Err(DataError::MalformedLine { place, problem });
            }
            record.push(|bytes| bytes.extend_from_slice(field.trim_ascii()));
            return Ok(at);
        }
    }

    /// Refuses quotes that hold what look like rows: lines each of which has the delimiters of
    /// a whole record.
    fn check_rows(&self, delimiters: usize, first: u64) -> Result<(), DataError> {
        let last = self.lines.number;
        if first == last || delimiters == 0 {
            return Ok(());
        }
        let text = self.lines.raw();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let row = |line: &[u8]| line.iter().filter(|&&b| b == self.delimiter).count() == delimiters;
        if !text.split(|&byte| byte == b'\n').all(row) {
            return Ok(());
        }
        let place = self.lines.origin.at(first);
        let problem = format!("quotes hold what look like rows, up to line {last}");
        Err(DataError::MalformedLine { place, problem })
    }

    /// Numbers with decimal commas as numbers with points; fails where a column has both.
    fn points_for_commas(&mut self, record: &mut Record, line: u64) -> Result<(), DataError> {
        self.decimals.resize(self.decimals.len().max(record.fields.len()), Decimals::default());
        for (index, field) in record.fields.iter().enumerate() {
            let bytes = &mut record.bytes[field.clone()];
            let Some(at) = bytes.iter().position(|byte| b",.".contains(byte)) else { continue };
            let seen = &mut self.decimals[index];
            if bytes[at] == b',' && is_decimal_comma(bytes) {
                if !are_thousands(bytes, b',') {
                    self.decimal_comma = true;
                } else if self.grouped.is_none() {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    self.grouped = Some(Thousands { column: index, line, text });
                }
                bytes[at] = b'.';
                seen.comma.get_or_insert(line);
                self.comma.get_or_insert(index);
            } else if bytes[at] == b'.' {
                if seen.point.is_none() {
                    let text = std::str::from_utf8(bytes);
                    let number = text.is_ok_and(|text| text.parse::<f64>().is_ok());
                    seen.point = number.then_some(line);
                }
                let thousands = are_thousands(bytes, b'.');
                if seen.point.is_some() && !thousands {
                    self.point.get_or_insert(index);
                }
                if self.thousands.is_none() && thousands {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    self.thousands = Some(Thousands { column: index, line, text });
                }
            }
            if let Decimals { comma: Some(comma), point: Some(point) } = *seen {
                let place = self.lines.origin.at(line);
                let other = if line == comma { point } else { comma };
                let problem = format!(
                    "column {} has numbers with a decimal comma and with a decimal point, in \
                     this line and in line {other}",
                    index + 1
                );
                return Err(DataError::MalformedLine { place, problem });
            }
        }
        let grouped = self.grouped.as_ref().filter(|_| !self.decimal_comma);
        for (decimal, found, mark, (is, are)) in [
            (self.comma, self.thousands.as_ref(), '.', ("commas", "points")),
            (self.point, grouped, ',', ("points", "commas")),
        ] {
            if let (Some(decimal), Some(Thousands { column, line, text })) = (decimal, found) {
                let number = text.replace(mark, "");
                let problem = format!(
                    "{text} in column {} may be {number}, since column {} has decimal {is}: write \
                     numbers without {are} between thousands",
                    column + 1,
                    decimal + 1
                );
                let place = self.lines.origin.at(*line);
                return Err(DataError::MalformedLine { place, problem });
            }
        }
        Ok(())
    }
}

/// Whether a number with such marks may have them between its thousands: 1.200, not 0.200 or 1.20.
pub(crate) fn are_thousands(field: &[u8], mark: u8) -> bool {
    let field = field.strip_prefix(b"-").unwrap_or(field);
    let mut groups = field.split(|&byte| byte == mark);
    let first = groups.next().unwrap_or_default();
    let digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    let is_first = matches!(first.len(), 1..=3) && digits(first) && first[0] != b'0';
    let (rest, groups) = (groups.clone(), groups.count());
    is_first && groups > 0 && rest.into_iter().all(|group| group.len() == 3 && digits(group))
}

/// How many blanks the text begins with that are no delimiters.
fn blanks(text: &[u8], delimiter: u8) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != delimiter).count()
}

/// Whether a field is a number with a comma in place of the point.
pub(crate) fn is_decimal_comma(field: &[u8]) -> bool {
    let Some(at) = field.iter().position(|&byte| byte == b',') else { return false };
    let Ok(text) = std::str::from_utf8(field) else { return false };
    // Not "inf", nor a second comma or a point.
    let plain = |byte: &u8| byte.is_ascii_digit() || b"+-eE".contains(byte);
    field[..at].iter().chain(&field[at + 1..]).all(plain)
        && format!("{}.{}", &text[..at], &text[at + 1..]).parse::<f64>().is_ok()
}
