//! First pass over delimited text: infers the schema.

use std::path::Path;

use super::csv::{Records, delimiter};
use super::error::{ColumnLabel, DataError, describe_columns};
use super::open::{Input, Origin};
use super::scan::{ColumnScan, Field, parse};
use super::schema::{Column, ColumnKind, Format, Schema, check, width};
use super::{Missing, ReadOptions};

/// What the first pass finds.
pub(crate) struct Inferred {
    pub schema: Schema,
    pub rows: usize,
    /// Whether the first line is a header.
    pub header: bool,
    pub delimiter: u8,
}

/// Reads the file once. Numeric columns with missing values have NaN as their
/// stand-in, to be replaced by the median once the values are known.
pub(crate) fn infer(path: &Path, options: &ReadOptions) -> Result<Inferred, DataError> {
    let input = Input::open(path)?;
    let delimiter = delimiter(&input, options, |_| false);
    let mut records = Records::new(input, delimiter);
    let origin = records.origin.clone();
    let file = || origin.file.clone();
    let Some(first_line) = records.next()? else {
        return Err(DataError::Empty { file: file() });
    };
    let first: Vec<Vec<u8>> = (0..records.len()).map(|i| records.field(i).to_vec()).collect();
    let mut scans = vec![ColumnScan::default(); first.len()];
    let mut rows = 0;
    while let Some(line) = records.next()? {
        if records.len() != first.len() {
            return Err(DataError::Ragged {
                place: origin.at(line),
                expected: first.len(),
                found: records.len(),
            });
        }
        for (index, scan) in scans.iter_mut().enumerate() {
            scan.add(line, records.field(index));
        }
        rows += 1;
    }

    let header = match options.header {
        Some(header) => header,
        None => guess_header(&origin, first_line, &first, &scans, rows)?,
    };
    let mut names = vec![String::new(); first.len()];
    if header {
        for (index, (name, field)) in names.iter_mut().zip(&first).enumerate() {
            let number = index + 1;
            *name = String::from_utf8(field.clone()).map_err(|_| DataError::NotUtf8 {
                place: origin.at_column(first_line, ColumnLabel { number, name: String::new() }),
            })?;
        }
    } else {
        for (scan, field) in scans.iter_mut().zip(&first) {
            scan.add(first_line, field);
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(DataError::NoRows { file: file() });
    }

    let find = |wanted: &String| find(&origin, wanted, &names);
    let target = match &options.target {
        Some(wanted) => find(wanted)?,
        None => names.len() - 1,
    };
    let dropped: Vec<usize> = options.drop.iter().map(find).collect::<Result<_, _>>()?;
    let texts: Vec<usize> = options.text.iter().map(find).collect::<Result<_, _>>()?;
    let mut columns = Vec::with_capacity(names.len());
    let mut classes = Vec::new();
    for (index, (name, scan)) in names.iter().zip(scans).enumerate() {
        let label = ColumnLabel { number: index + 1, name: name.clone() };
        let as_text = texts.contains(&index);
        let kind = if index == target {
            classes = scan.into_classes(&origin, &label, options.task, as_text)?;
            ColumnKind::Target
        } else if dropped.contains(&index) {
            ColumnKind::Dropped
        } else {
            input_kind(&origin, &label, scan, options.missing, as_text)?
        };
        let name = name.clone();
        columns.push(Column { name, kind });
    }
    check(&columns).map_err(|problem| DataError::Schema(format!("{}: {problem}", file())))?;
    let inputs = width(&columns);
    if inputs == 0 {
        return Err(DataError::NoInputs { file: file() });
    }
    let schema =
        Schema { format: Format::Csv, columns, zero_based: false, positive: None, inputs, classes };
    Ok(Inferred { schema, rows, header, delimiter })
}

fn input_kind(
    origin: &Origin,
    label: &ColumnLabel,
    scan: ColumnScan,
    missing: Missing,
    as_text: bool,
) -> Result<ColumnKind, DataError> {
    scan.check_utf8(origin, label)?;
    if scan.numbers == 0 && scan.texts == 0 {
        return Err(DataError::NoValues { file: origin.file.clone(), column: label.clone() });
    }
    if scan.is_numeric() && !as_text {
        scan.check_range(origin, label)?;
    } else if !as_text {
        scan.check_slips(origin, label)?;
    }
    if let (Some(line), Missing::Refuse) = (scan.first_missing, missing) {
        return Err(DataError::MissingValue {
            place: origin.at_column(line, label.clone()),
            hint: "; drop the column or ask for missing values to be imputed",
        });
    }
    if scan.is_numeric() && !as_text {
        let missing = scan.first_missing.map(|_| f32::NAN);
        return Ok(ColumnKind::Numeric { missing });
    }
    let values = scan.into_values(origin, label, "drop it")?;
    Ok(ColumnKind::Text { values })
}

/// The column of that name, or of that number: from 1, or from -1 for the last.
fn find(origin: &Origin, wanted: &str, names: &[String]) -> Result<usize, DataError> {
    if let Some(index) = names.iter().position(|name| name == wanted) {
        return Ok(index);
    }
    let number = wanted.parse::<isize>().ok();
    let index = number.and_then(|number| match number {
        0 => None,
        1.. => usize::try_from(number - 1).ok(),
        _ => names.len().checked_sub(number.unsigned_abs()),
    });
    match index.filter(|&index| index < names.len()) {
        Some(index) => Ok(index),
        None => Err(DataError::NoColumn {
            file: origin.file.clone(),
            wanted: wanted.to_string(),
            columns: describe_columns(wanted, names),
        }),
    }
}

/// Tells a header from a first row, by the rows below; refuses to guess where a
/// wrong guess would quietly lose a row or turn a number into text.
fn guess_header(
    origin: &Origin,
    line: u64,
    first: &[Vec<u8>],
    scans: &[ColumnScan],
    rows: usize,
) -> Result<bool, DataError> {
    let is_text = |field: &[u8]| matches!(parse(field), Field::Text(_) | Field::NotUtf8);
    let distinct = || {
        let mut fields: Vec<_> = first.iter().collect();
        fields.sort_unstable();
        fields.windows(2).all(|pair| pair[0] != pair[1])
    };
    if rows == 0 {
        return Ok(first.iter().all(|field| is_text(field)) && distinct());
    }
    let numeric = || (0..first.len()).filter(|&i| scans[i].is_numeric());
    if numeric().next().is_none() {
        // Names of categorical columns do not come back as their values; with
        // fewer rows that says little.
        let fresh = |(field, scan): (&Vec<u8>, &ColumnScan)| is_text(field) && scan.lacks(field);
        return Ok(rows >= 5 && distinct() && first.iter().zip(scans).all(fresh));
    }
    let named: Vec<usize> = numeric().filter(|&i| is_text(&first[i])).collect();
    let Some(&odd) = named.first() else {
        return Ok(false);
    };
    if 2 * named.len() >= numeric().count() {
        return Ok(true);
    }
    let label = ColumnLabel { number: odd + 1, name: String::new() };
    Err(DataError::HeaderUnclear {
        place: origin.at_column(line, label),
        text: String::from_utf8_lossy(&first[odd]).into_owned(),
    })
}
