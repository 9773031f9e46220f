//! Whether the first line is a header.

use super::ReadOptions;
use super::error::{ColumnLabel, DataError};
use super::infer::numbered;
use super::open::Origin;
use super::scan::{ColumnScan, Field, parse};

/// Whether the options name a column by a field of the first line.
fn names_a_field(options: &ReadOptions, first: &[Vec<u8>]) -> bool {
    let single = [&options.target, &options.group, &options.weights];
    let mut wanted = single.into_iter().flatten().chain(&options.drop).chain(&options.text);
    wanted.any(|wanted| {
        let field = first.iter().any(|field| field == wanted.as_bytes());
        field && numbered(wanted, first.len()).is_none()
    })
}

/// Whether a first line of numbers may be a header: they count the columns, also over texts and
/// behind an empty field, or are whole over columns that never are.
fn may_be_header_of_numbers(first: &[Vec<u8>], scans: &[ColumnScan], rows: usize) -> bool {
    const ROWS: usize = 5;
    // What pandas writes: 0,1,2 over all columns, and nothing over its index.
    let counted = first.strip_prefix(&[Vec::new()]).unwrap_or(first);
    let numbers: Option<Vec<u32>> = counted.iter().map(|field| whole_number(field)).collect();
    let lacks = |(field, scan): (&Vec<u8>, &ColumnScan)| {
        !field.is_empty() && scan.texts > 0 && scan.lacks(field)
    };
    let lacking = || first.iter().zip(scans).any(lacks);
    if let Some(numbers @ [0 | 1, _, ..]) = numbers.as_deref()
        && are_counted(numbers)
        && (numbers.len() > 2 || lacking())
    {
        return true;
    }
    let mut numbers = Vec::new();
    for (field, scan) in first.iter().zip(scans) {
        match whole_number(field) {
            Some(number) if scan.is_numeric() => numbers.push(number),
            // A name among the numbers, not one of a text column's values.
            None if !scan.is_numeric() && scan.lacks(field) => {}
            _ => return false,
        }
    }
    let above_fractions = scans.iter().filter(|scan| scan.is_never_whole()).count();
    count_columns(&numbers) || (above_fractions > 1 && rows >= ROWS)
}

/// A number without a sign or fraction.
pub(crate) fn whole_number(field: &[u8]) -> Option<u32> {
    field.iter().all(u8::is_ascii_digit).then_some(())?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Whether numbers count columns, as those of a header may.
pub(crate) fn count_columns(numbers: &[u32]) -> bool {
    are_counted(numbers) && numbers.len() > 2
}

/// Whether each number is the one before and 1.
fn are_counted(numbers: &[u32]) -> bool {
    numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
}

/// Tells a header from a first row, by the options and the rows below; refuses to guess
/// where a wrong guess would quietly lose a row or turn a number into text.
pub(super) fn guess_header(
    origin: &Origin,
    options: &ReadOptions,
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
    if names_a_field(options, first) {
        return Ok(true);
    }
    if rows == 0 {
        return Ok(first.iter().all(|field| is_text(field)) && distinct());
    }
    let numeric = || (0..first.len()).filter(|&i| scans[i].is_numeric());
    if numeric().next().is_none() && !first.iter().any(|field| whole_number(field).is_some()) {
        // Names of categorical columns do not come back as their values; with
        // fewer rows that says little.
        let fresh = |(field, scan): (&Vec<u8>, &ColumnScan)| is_text(field) && scan.lacks(field);
        return Ok(rows >= 5 && distinct() && first.iter().zip(scans).all(fresh));
    }
    let named: Vec<usize> = numeric().filter(|&i| is_text(&first[i])).collect();
    let Some(&odd) = named.first() else {
        return match may_be_header_of_numbers(first, scans, rows) {
            true => Err(DataError::HeaderOfNumbers { place: origin.at(line) }),
            false => Ok(false),
        };
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
