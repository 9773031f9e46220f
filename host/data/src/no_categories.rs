//! Texts that are no categories, though an input for each of them could be made.

use super::MAX_VALUES;
use super::error::{ColumnLabel, DataError};

/// Different texts from which a column may be refused.
const MANY: usize = 20;

/// Refuses the different `texts` of a column of so many rows that are names of the rows, since
/// most of them stand in one row only; times; numbers with a unit; or too many numbers.
///
/// # Errors
/// What they are.
pub(crate) fn check_categories<'a>(
    texts: impl ExactSizeIterator<Item = &'a str> + Clone,
    rows: usize,
    file: &str,
    column: &ColumnLabel,
) -> Result<(), DataError> {
    let values = texts.len();
    if values < MANY {
        return Ok(());
    }
    let (file, column) = (file.to_owned(), column.clone());
    if texts.clone().all(is_time) {
        return Err(DataError::Times { file, column, values });
    }
    if let Some(text) = numeral(texts.clone())
        && (2 * values > rows || values > MAX_VALUES)
    {
        return Err(DataError::Numerals { file, column, values, text: text.to_owned() });
    }
    let mut units = texts.clone().map(unit);
    let first = units.next().flatten();
    if first.is_some() && units.all(|unit| unit == first) {
        let text = texts.clone().min().unwrap_or_default().to_owned();
        return Err(DataError::Units { file, column, values, text });
    }
    if 2 * values > rows {
        return Err(DataError::Identifier { file, column, values, rows });
    }
    Ok(())
}

/// One of the different `texts` of a column, if they are many, and numbers all of them.
pub(crate) fn numeral<'a>(
    mut texts: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let first = texts.clone().next();
    let is_number = |text: &str| text.trim().parse().is_ok_and(f64::is_finite);
    first.filter(|_| texts.len() >= MANY && texts.all(is_number))
}

/// Whether a text is a date, a time of day, or both: numbers between the signs that such have.
fn is_time(text: &str) -> bool {
    let text = text.trim_end_matches("UTC").trim_end_matches(['Z', ' ']);
    let mut fields = text.split(|c: char| !c.is_ascii_digit());
    let digits = fields.all(|field| matches!(field.len(), 1..=9));
    let count = |wanted: &[char]| text.chars().filter(|c| wanted.contains(c)).count();
    let known = text.chars().all(|c| c.is_ascii_digit() || "-/.:T +,".contains(c));
    let date = ['-', '/', '.'].iter().any(|&sign| count(&[sign]) >= 2);
    digits && known && (date || count(&[':']) >= 1)
}

/// What stands behind a number, if anything does.
fn unit(text: &str) -> Option<&str> {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+');
    let unit = text.trim_start_matches(digits);
    let number = &text[..text.len() - unit.len()];
    (number.replace(',', ".").parse::<f64>().is_ok() && !unit.trim().is_empty()).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_from_other_texts() {
        for time in [
            "2026-01-31",
            "2026-01-31T10:20:30",
            "2026-01-31 10:20:30.123456",
            "2026-01-31T10:20:30Z",
            "2026-01-31T10:20:30+01:00",
            "31.1.2026",
            "1/31/2026 7:05",
            "07:05",
            "10:20:30 UTC",
        ] {
            assert!(is_time(time), "{time}");
        }
        for text in ["", "a", "1", "1.5", "-3", "1-2", "2-3 rooms", "v1.2.3", ":", "1e-5", "10:b"] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn units_stand_behind_numbers() {
        let units = [("20.1C", "C"), ("-3 %", " %"), ("7,5V", "V"), ("1e", "e")];
        for (text, found) in units {
            assert_eq!(unit(text), Some(found), "{text}");
        }
        for text in ["", "C", "20", "20 ", "-", "1.2.3x", "a1"] {
            assert_eq!(unit(text), None, "{text}");
        }
    }
}
