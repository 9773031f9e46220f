//! First pass over one file.

use super::{check_names, leaves_out, numbered};
use crate::error::{ColumnLabel, DataError};
use crate::header::guess_header;
use crate::open::{DataFile, Origin};
use crate::records::{Known, Records};
use crate::scan::{ColumnScan, Field, parse};
use crate::{MAX_FIELDS, ReadOptions};

/// Rows in which titles are looked for.
const TITLE: usize = 5;

/// One file after the first pass over it.
pub(super) struct Scanned {
    pub origin: Origin,
    pub names: Vec<String>,
    pub scans: Vec<ColumnScan>,
    pub known: Option<Known>,
    pub rows: usize,
    pub header: bool,
    pub delimiter: Option<u8>,
    /// Number of the last line.
    pub last: u64,
    /// Number of the first line that has only empty fields.
    pub blank: Option<u64>,
}

/// Reads one file; its lines count on from `before`.
pub(super) fn scan(
    file: &DataFile,
    options: &ReadOptions,
    before: u64,
) -> Result<Scanned, DataError> {
    let named = |name: &str| {
        let single = [&options.target, &options.group, &options.weights];
        let mut wanted = single.into_iter().flatten().chain(&options.text).chain(&options.keep);
        wanted.any(|wanted| wanted == name)
    };
    let (mut records, delimiter) = Records::new(file.open()?, options, |_| false, named)?;
    let origin = records.origin.clone();
    let file = || origin.file.clone();
    let known = records.known.take();
    let mut first_line = 0;
    let first: Vec<Vec<u8>> = match &known {
        Some(known) => known.names.iter().map(|name| name.clone().into_bytes()).collect(),
        None => {
            let Some(line) = records.next()? else {
                return Err(DataError::Empty { file: file() });
            };
            first_line = line;
            (0..records.len()).map(|i| records.field(i).to_vec()).collect()
        }
    };
    let problem = match first.len() {
        0 => Some("no columns in it".to_owned()),
        1..=MAX_FIELDS => None,
        _ => Some(format!("more than {MAX_FIELDS} columns")),
    };
    if let Some(problem) = problem {
        return Err(DataError::Malformed { file: file(), problem });
    }
    let mut scans = vec![ColumnScan::default(); first.len()];
    let group = options.group.as_ref().and_then(|wanted| position(wanted, &first));
    let mut recording: Vec<u8> = Vec::new();
    let without = options.target.as_ref().filter(|_| leaves_out(options, options.window));
    let without = without.and_then(|wanted| position(wanted, &first));
    let has_target = |fields: &Records<'_>| {
        without.is_none_or(|target| parse(fields.field(target)) != Field::Missing)
    };
    let first_counts = without.is_none_or(|target| parse(&first[target]) != Field::Missing);
    let (mut rows, mut last, mut blank, mut left_out) = (0, first_line, None, None);
    let mut again = Again::default();
    while let Some(line) = records.next()? {
        if records.len() != first.len() {
            let (place, expected, found) = (origin.at(line), first.len(), records.len());
            let comment = known.is_none() && first[0].starts_with(b"#");
            // What stands above a header has an empty line below, or fewer fields than that.
            let most = if expected == 1 { TITLE } else { 1 };
            let fewer = expected <= 2 && found > expected && rows < most;
            let apart = rows == 0 && line > first_line + 1;
            let begins = (fewer || apart) && scans.iter().all(|scan| scan.numbers == 0);
            return Err(match records.ragged(line, expected) {
                DataError::Ragged { .. } | DataError::CommentLine { .. } if comment => {
                    DataError::Comment { place, expected, found }
                }
                DataError::Ragged { .. } if known.is_none() && begins => {
                    DataError::Title { place, first: first_line, expected, found }
                }
                other => other,
            });
        }
        last = line;
        if !has_target(&records) {
            left_out = left_out.or(Some(line));
            continue;
        }
        if blank.is_none()
            && known.is_none()
            && (0..first.len()).all(|index| records.field(index).is_empty())
        {
            blank = Some(before + line);
        }
        if let Some(group) = group
            && records.field(group) != recording
        {
            recording = records.field(group).to_vec();
            scans.iter_mut().for_each(ColumnScan::restart);
        }
        for (index, scan) in scans.iter_mut().enumerate() {
            scan.add(before + line, records.field(index));
        }
        if known.is_none() && (0..first.len()).all(|index| records.field(index) == first[index]) {
            again.add(line);
        }
        rows += 1;
    }

    // Each file may have numbers of its own.
    scans.iter_mut().for_each(ColumnScan::end);
    if known.is_none() && options.header != Some(false) {
        again.check(&origin, &first, &scans)?;
    }
    let header = match options.header {
        _ if known.is_some() => true,
        Some(header) => header,
        None => guess_header(&origin, options, first_line, &first, &scans, rows)?,
    };
    let mut names = vec![String::new(); first.len()];
    if header {
        for (index, (name, field)) in names.iter_mut().zip(&first).enumerate() {
            let number = index + 1;
            *name = String::from_utf8(field.clone()).map_err(|_| DataError::NotUtf8 {
                place: origin.at_column(first_line, ColumnLabel { number, name: String::new() }),
            })?;
        }
        check_names(&origin, &names)?;
    } else if !first_counts {
        left_out = Some(first_line);
    } else {
        // Apart, since it stands before those that are scanned.
        for (scan, field) in scans.iter_mut().zip(&first) {
            let mut one = ColumnScan::default();
            one.add(before + first_line, field);
            scan.merge(&one);
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(match (left_out, without) {
            (Some(line), Some(index)) => {
                let (number, name) = (index + 1, names[index].clone());
                let place = origin.at_column(line, ColumnLabel { number, name });
                DataError::NoTargets { place }
            }
            _ => DataError::NoRows { file: file() },
        });
    }
    let last = before + last;
    Ok(Scanned { origin, names, scans, known, rows, header, delimiter, last, blank })
}

/// The column of that name among those of the first line, or of that number.
fn position(wanted: &str, first: &[Vec<u8>]) -> Option<usize> {
    let named = first.iter().position(|name| name == wanted.as_bytes());
    named.or_else(|| numbered(wanted, first.len()))
}

impl Scanned {
    /// Checks that the columns are those of the files before.
    pub fn check_like(&self, before: &Scanned) -> Result<(), DataError> {
        let unlike = |problem: String| DataError::Unlike {
            file: self.origin.file.clone(),
            first: before.origin.file.clone(),
            problem,
        };
        if self.names.len() != before.names.len() {
            let (found, expected) = (self.names.len(), before.names.len());
            return Err(unlike(format!("{found} columns instead of {expected}")));
        }
        if self.header != before.header {
            return Err(unlike(if self.header { "a header" } else { "no header" }.into()));
        }
        let text = |scanned: &Scanned| scanned.known.as_ref().map(|known| known.text.clone());
        let odd = self.names.iter().zip(&before.names).position(|(a, b)| a != b);
        match odd {
            Some(column) => Err(unlike(format!(
                "column {} is `{}` instead of `{}`",
                column + 1,
                self.names[column],
                before.names[column]
            ))),
            None if text(self) != text(before) => Err(unlike("columns of other types".into())),
            None => Ok(()),
        }
    }
}

/// Lines that are the first one again.
#[derive(Default)]
struct Again {
    lines: usize,
    first: u64,
}

impl Again {
    fn add(&mut self, line: u64) {
        self.first = if self.lines == 0 { line } else { self.first };
        self.lines += 1;
    }

    /// Refuses the names of columns within the rows, as where files were put together: all else of
    /// some column that has such a name is numbers.
    fn check(
        &self,
        origin: &Origin,
        first: &[Vec<u8>],
        scans: &[ColumnScan],
    ) -> Result<(), DataError> {
        let is_name = |field: &Vec<u8>| matches!(parse(field), Field::Text(_));
        let over_numbers = |(field, scan): (&Vec<u8>, &ColumnScan)| {
            is_name(field) && scan.texts == self.lines && scan.numbers > 0
        };
        if self.lines == 0
            || !first.iter().all(is_name)
            || !first.iter().zip(scans).any(over_numbers)
        {
            return Ok(());
        }
        let place = origin.at(self.first);
        let problem = "the header again, as where files were put together: leave the line out, or \
                       give the files one by one"
            .to_owned();
        Err(DataError::MalformedLine { place, problem })
    }
}
