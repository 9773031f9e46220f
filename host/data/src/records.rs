//! Records of fields as text: what every table-like format becomes before its
//! columns are looked at.

use std::ops::Range;
use std::path::Path;

use super::ReadOptions;
use super::arff::Arff;
use super::delimited::{Delimited, is_decimal_comma};
use super::error::{ColumnLabel, DataError};
use super::npy;
use super::open::{Container, Input, Origin};
use super::proben1::Proben1;

/// One record's fields, as places in its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub bytes: Vec<u8>,
    pub fields: Vec<Range<usize>>,
}

impl Record {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    /// Appends a field that `write` writes.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.fields.push(start..self.bytes.len());
    }
}

/// A format that knows its columns before its first record.
pub(crate) trait Source {
    /// Replaces `record` by the next one; its line or row, or `None` at the end.
    fn next(&mut self, record: &mut Record) -> Result<Option<u64>, DataError>;

    /// Moves on without telling what is there.
    fn skip(&mut self) -> Result<Option<u64>, DataError> {
        self.next(&mut Record::default())
    }
}

/// What a format tells of its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Known {
    /// Their names; empty where a column has none.
    pub names: Vec<String>,
    /// Which of them are text even if their values are numbers.
    pub text: Vec<bool>,
    /// How many at the end are targets: those that are not chosen are no inputs.
    pub targets: usize,
    /// Columns of the file that are none of these: the index of a table of pandas.
    pub index: Vec<ColumnLabel>,
}

/// Records with their fields trimmed; blank lines are skipped.
pub(crate) struct Records<'r> {
    pub origin: Origin,
    /// The columns, where the format knows them.
    pub known: Option<Known>,
    source: Kind<'r>,
    record: Record,
}

enum Kind<'r> {
    Delimited(Box<Delimited<'r>>),
    Known(Box<dyn Source + 'r>),
}

impl<'r> Records<'r> {
    /// Opens the records of an input; `fits` says which numbers of fields are to
    /// be expected, where a delimiter must be guessed, and `named` which columns are asked
    /// for by name. Also tells the delimiter, if the file has a single one.
    pub fn new(
        mut input: Input<'r>,
        options: &ReadOptions,
        fits: impl Fn(usize) -> bool,
        named: impl Fn(&str) -> bool,
    ) -> Result<(Records<'r>, Option<u8>), DataError> {
        let origin = input.origin.clone();
        let known = |(known, source): (Known, Box<dyn Source + 'r>)| Records {
            origin: origin.clone(),
            known: Some(known),
            source: Kind::Known(source),
            record: Record::default(),
        };
        let records = match input.container(options.comment) {
            Container::Arff => known(Arff::open(input)?),
            Container::Proben1 => known(Proben1::open(input)?),
            Container::Npy => known(npy::open(input, options)?),
            Container::Npz => known(npy::open_archive(input, options)?),
            #[cfg(feature = "parquet")]
            Container::Parquet => known(super::parquet::open(input, named)?),
            #[cfg(not(feature = "parquet"))]
            Container::Parquet => {
                let _ = named;
                let problem = "this build of koan reads no Parquet (cargo feature `parquet`)";
                return Err(DataError::Malformed { file: origin.file, problem: problem.into() });
            }
            Container::Text | Container::Svmlight | Container::Idx => {
                let told = named_delimiter(&mut input, options);
                let head = input.head.trim_ascii();
                if head.contains(&b'\r') && !head.contains(&b'\n') {
                    let problem = "its lines end in carriage returns alone, not in line feeds";
                    return Err(DataError::Malformed {
                        file: origin.file,
                        problem: problem.into(),
                    });
                }
                let delimiter = told.unwrap_or_else(|| delimiter(&input, options, fits));
                check_frame(&input, options, delimiter)?;
                let guess = options.delimiter.is_none() && told.is_none();
                let spaced = guess && spaced_rows(&mut input, options, delimiter);
                let rows = if spaced { b' ' } else { delimiter };
                let source = Kind::Delimited(Box::new(Delimited::new(input, options, rows)));
                return Ok((
                    Records { origin, known: None, source, record: Record::default() },
                    (!spaced).then_some(delimiter),
                ));
            }
        };
        Ok((records, None))
    }

    /// Moves on to the next record; its first line, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<u64>, DataError> {
        match &mut self.source {
            Kind::Delimited(delimited) => delimited.next(&mut self.record),
            Kind::Known(source) => source.next(&mut self.record),
        }
    }

    /// Moves on without the record's fields.
    pub fn skip(&mut self) -> Result<Option<u64>, DataError> {
        match &mut self.source {
            Kind::Delimited(delimited) => delimited.next(&mut self.record),
            Kind::Known(source) => source.skip(),
        }
    }

    /// Number of fields of the current record.
    pub fn len(&self) -> usize {
        self.record.fields.len()
    }

    /// What is wrong with a current record, from that line on, that should have so many fields.
    pub fn ragged(&self, line: u64, expected: usize) -> DataError {
        let (place, found) = (self.origin.at(line), self.len());
        let delimited = matches!(self.source, Kind::Delimited(_));
        let is_last_empty = found.checked_sub(1).is_some_and(|last| self.field(last).is_empty());
        let is_comment = found > 0 && self.field(0).starts_with(b"#");
        match delimited {
            true if is_comment => DataError::CommentLine { place, expected, found },
            true if is_last_empty && found == expected + 1 => {
                DataError::DelimiterAtEnd { place, expected, found }
            }
            _ => DataError::Ragged { place, expected, found },
        }
    }

    /// Field `index` of the current record.
    pub fn field(&self, index: usize) -> &[u8] {
        &self.record.bytes[self.record.fields[index].clone()]
    }

    /// The current record as names.
    pub fn names(&self) -> Vec<String> {
        (0..self.len()).map(|i| String::from_utf8_lossy(self.field(i)).into_owned()).collect()
    }
}

/// Delimiters that a line `sep=` names.
const NAMED: &[u8] = b",;\t|: ";

/// The delimiter that a first line `sep=;` names, as programs for sheets write it. The line is
/// then made a blank one.
fn named_delimiter(input: &mut Input<'_>, options: &ReadOptions) -> Option<u8> {
    let end = input.head.iter().position(|&byte| byte == b'\n').unwrap_or(input.head.len());
    let line = &mut input.head[..end];
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    // Saved again, the line may end in as many delimiters as the others have.
    let &[b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter, ref more @ ..] = text else {
        return None;
    };
    if !NAMED.contains(&delimiter) || more.iter().any(|&byte| byte != delimiter) {
        return None;
    }
    line.fill(b' ');
    Some(options.delimiter.unwrap_or(delimiter))
}

/// Refuses lines that begin and end with their delimiter, where that is a bar.
fn check_frame(input: &Input<'_>, options: &ReadOptions, delimiter: u8) -> Result<(), DataError> {
    let mut lines = input.lines(options.comment).map(<[u8]>::trim_ascii);
    let framed = |line: &[u8]| line.len() > 1 && line.starts_with(b"|") && line.ends_with(b"|");
    // A line alone may have empty fields at both ends.
    if delimiter == b'|' && lines.next().is_some_and(framed) && lines.next().is_some_and(framed) {
        let problem = "its lines begin and end with `|`, as tables of Markdown do: leave these bars \
                       out, and the line of dashes";
        let (file, problem) = (input.origin.file.clone(), problem.to_owned());
        return Err(DataError::Malformed { file, problem });
    }
    Ok(())
}

/// Bars outside quotes.
fn bars(line: &[u8]) -> usize {
    let mut quoted = false;
    line.iter().fold(0, |bars, &byte| {
        quoted ^= byte == b'"';
        bars + usize::from(byte == b'|' && !quoted)
    })
}

/// The delimiter that `options` or else the first line tells; `fits` says which
/// numbers of fields are to be expected.
fn delimiter(input: &Input<'_>, options: &ReadOptions, fits: impl Fn(usize) -> bool) -> u8 {
    if let Some(delimiter) = options.delimiter {
        return delimiter;
    }
    let line = input.lines(options.comment).next().unwrap_or_default().trim_ascii();
    // Commas that are all within numbers delimit nothing.
    let decimal = |delimiter: &u8| {
        let mut parts = line.split(|byte| byte == delimiter).map(<[u8]>::trim_ascii);
        let commas = parts.clone().filter(|part| part.contains(&b','));
        commas.clone().next().is_some()
            && commas.clone().all(is_decimal_comma)
            && parts.nth(1).is_some()
    };
    if let Some(delimiter) = [b';', b'\t'].into_iter().find(decimal) {
        return delimiter;
    }
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
    // The last of equal maxima wins: comma before tab before semicolon.
    let fitting = counts.iter().rev().filter(|(_, n)| *n > 0 && fits(n + 1));
    let fitting = fitting.max_by_key(|(_, count)| *count);
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    if let Some(&(delimiter, 1..)) = fitting.or(most) {
        return delimiter;
    }
    // Where nothing else delimits, and as many bars are in the next line: a text may have some.
    let bars_here = bars(line);
    let is_next_alike =
        input.lines(options.comment).nth(1).is_none_or(|next| bars(next) == bars_here);
    if bars_here > 0 && is_next_alike && (fits(bars_here + 1) || !fits(1)) {
        return b'|';
    }
    let words = line.split(|&byte| byte == b' ').filter(|w| !w.is_empty());
    match words.count() {
        2.. if !fits(1) => b' ',
        words @ 2.. if fits(words) => b' ',
        _ => b',',
    }
}

/// Whether a header between `delimiter` bytes stands over rows between spaces,
/// as loggers write now and then. The header is then given spaces too.
fn spaced_rows(input: &mut Input<'_>, options: &ReadOptions, delimiter: u8) -> bool {
    let mut lines = input.lines(options.comment);
    let (Some(header), Some(row)) = (lines.next(), lines.next()) else {
        return false;
    };
    let plain = |line: &[u8]| !line.trim_ascii().iter().any(|byte| b" \t\"".contains(byte));
    let words = row.trim_ascii().split(|&b| b == b' ').filter(|w| !w.is_empty()).count();
    let names = header.split(|&byte| byte == delimiter).count();
    if row.contains(&delimiter) || names < 2 || words != names || !plain(header) {
        return false;
    }
    let start = header.as_ptr() as usize - input.head.as_ptr() as usize;
    let range = start..start + header.len();
    drop(lines);
    for byte in &mut input.head[range] {
        if *byte == delimiter {
            *byte = b' ';
        }
    }
    true
}
