//! First pass over a column: what kind it is and which values it has.

mod checks;

use std::cmp::Ordering;
use std::collections::HashSet;

use super::categories::{FEW, is_large};
use super::delimited::is_decimal_comma;
use super::error::{ColumnLabel, DataError};
use super::extremes::Extremes;
use super::no_categories::{Numbers, is_time};
use super::open::Origin;
use super::order::Order;
use super::{MAX_VALUES, Task};

/// Numeric targets of at most so many distinct integers are taken as classes.
const MAX_GUESSED_CLASSES: usize = 20;

/// One field, trimmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    Missing,
    /// May be infinite, never NaN.
    Number(f32),
    Text(&'a str),
    NotUtf8,
}

pub(crate) fn parse(field: &[u8]) -> Field<'_> {
    let Ok(text) = std::str::from_utf8(field) else {
        return Field::NotUtf8;
    };
    if matches!(text, "" | "?" | "NA") || text.eq_ignore_ascii_case("null") {
        return Field::Missing;
    }
    match text.parse::<f32>() {
        Ok(number) if number.is_nan() => Field::Missing,
        Ok(number) => Field::Number(number),
        Err(_) => Field::Text(text),
    }
}

/// The number of a field, of which `kept` is what `f32` has.
fn exact(field: &[u8], kept: f32) -> f64 {
    // f32 holds all integers of up to seven digits.
    let exact = match field {
        digits if digits.len() <= 7 && digits.iter().all(u8::is_ascii_digit) => None,
        _ => std::str::from_utf8(field).ok().and_then(|text| text.parse().ok()),
    };
    exact.unwrap_or(kept.into())
}

/// A number as the name of a class: "+1", "1" and "1.0" are all "1". None for what is no
/// number, or would lose something: zeros before a number ("007"), or more digits than
/// numbers have.
pub(crate) fn class_name(text: &str) -> Option<String> {
    const DIGITS: usize = 15;
    let number: f64 = text.parse().ok()?;
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if is_padded(text) || digits > DIGITS {
        return None;
    }
    // Adding zero turns -0 into 0.
    Some((number + 0.0).to_string())
}

/// Whether a number has zeros before it.
pub(crate) fn is_padded(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    matches!(digits, [b'0', b'0'..=b'9', ..])
}

/// What has been seen of a column. Lines are the smallest at fault, so that rows
/// may be added in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnScan {
    pub numbers: usize,
    pub texts: usize,
    pub first_text: Option<(u64, String)>,
    pub first_missing: Option<u64>,
    first_infinite: Option<(u64, String)>,
    first_not_utf8: Option<u64>,
    fractions: bool,
    /// Numbers without a fraction.
    whole: usize,
    /// Whether the values go up from line to line.
    order: Order,
    /// The values at both ends, and the line of the largest above 0.
    extremes: Extremes,
    largest: (f64, u64),
    /// Texts that are numbers with a comma in place of the point.
    commas: usize,
    /// Whether the texts are numbers that are not read as such.
    written: Numbers,
    /// Whether some text is neither a date nor a time.
    timeless: bool,
    /// Whether the values of some file are no different whole numbers.
    pub no_index: bool,
    /// The first text with a byte that none has.
    first_nul: Option<u64>,
    /// The smallest and the largest number.
    range: Option<(f64, f64)>,
    /// The number that `f32` changes most, and by how much.
    rounded: Option<Rounded>,
    /// Distinct values; emptied and no longer kept up once there are too many.
    values: HashSet<String>,
    crowded: bool,
}

#[derive(Clone, Debug)]
struct Rounded {
    by: f64,
    line: u64,
    text: String,
    kept: f32,
}

impl ColumnScan {
    pub fn add(&mut self, line: u64, field: &[u8]) {
        let value = parse(field);
        let exact = match value {
            Field::Number(number) => Some(exact(field, number)),
            _ => None,
        };
        self.order.add(exact);
        if let Some(number) = exact {
            self.extremes.add(number);
            if number > self.largest.0 {
                self.largest = (number, line);
            }
        }
        match value {
            Field::NotUtf8 => note(&mut self.first_not_utf8, line),
            Field::Missing => note(&mut self.first_missing, line),
            Field::Number(number) => {
                self.numbers += 1;
                self.fractions |= number.fract() != 0.0;
                self.whole += usize::from(number.fract() == 0.0);
                if number.is_infinite() {
                    note_text(&mut self.first_infinite, line, field);
                } else {
                    self.note_rounding(line, field, number, exact.unwrap_or(number.into()));
                }
                self.add_value(field);
            }
            Field::Text(text) => {
                self.texts += 1;
                self.written.add(text);
                self.timeless = self.timeless || !is_time(text);
                if text.contains('\0') {
                    note(&mut self.first_nul, line);
                }
                self.commas += usize::from(is_decimal_comma(field));
                note_text(&mut self.first_text, line, field);
                self.add_value(field);
            }
        }
    }

    /// The lines that come next are of another recording.
    pub fn restart(&mut self) {
        self.order.restart();
    }

    fn note_rounding(&mut self, line: u64, field: &[u8], kept: f32, exact: f64) {
        let (least, largest) = self.range.unwrap_or((exact, exact));
        self.range = Some((least.min(exact), largest.max(exact)));
        let by = (exact - f64::from(kept)).abs();
        if by > self.rounded.as_ref().map_or(0.0, |rounded| rounded.by) {
            let text = String::from_utf8_lossy(field).into_owned();
            self.rounded = Some(Rounded { by, line, text, kept });
        }
    }

    /// Adds what has been seen of the same column in another file.
    pub fn merge(&mut self, other: &ColumnScan) {
        self.numbers += other.numbers;
        self.texts += other.texts;
        self.fractions |= other.fractions;
        self.whole += other.whole;
        self.order.merge(&other.order);
        self.extremes.merge(&other.extremes);
        // Of equals no one is far from the others.
        if other.largest.0 > self.largest.0 {
            self.largest = other.largest;
        }
        self.commas += other.commas;
        self.written.merge(&other.written);
        self.timeless |= other.timeless;
        self.no_index |= other.no_index;
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        let by = |rounded: &Option<Rounded>| rounded.as_ref().map_or(0.0, |r| r.by);
        // Of equals the first, which is the other file's.
        if by(&other.rounded) >= by(&self.rounded) {
            self.rounded.clone_from(&other.rounded);
        }
        for (mine, theirs) in [
            (&mut self.first_missing, other.first_missing),
            (&mut self.first_not_utf8, other.first_not_utf8),
            (&mut self.first_nul, other.first_nul),
        ] {
            theirs.into_iter().for_each(|line| note(mine, line));
        }
        for (mine, theirs) in [
            (&mut self.first_text, &other.first_text),
            (&mut self.first_infinite, &other.first_infinite),
        ] {
            if let Some((line, text)) = theirs {
                note_text(mine, *line, text.as_bytes());
            }
        }
        self.crowded |= other.crowded;
        if self.crowded {
            self.values = HashSet::new();
        }
        other.values.iter().for_each(|value| self.add_value(value.as_bytes()));
    }

    fn add_value(&mut self, field: &[u8]) {
        if self.crowded {
            return;
        }
        // Both kinds of value were parsed from UTF-8.
        let text = std::str::from_utf8(field).unwrap_or_default();
        if !self.values.contains(text) {
            self.values.insert(text.to_string());
            if self.values.len() > MAX_VALUES {
                self.crowded = true;
                self.values = HashSet::new();
            }
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.numbers == 0 && self.texts == 0
    }

    /// Whether there is at least one value and each is a number.
    pub fn is_numeric(&self) -> bool {
        self.numbers > 0 && self.texts == 0
    }

    /// Whether the values are few enough to be kept and `field` is not one.
    pub fn lacks(&self, field: &[u8]) -> bool {
        let text = std::str::from_utf8(field).unwrap_or_default();
        !self.crowded && !self.values.contains(text)
    }

    /// The file is at its end: whether its values may be different whole numbers, as those of an
    /// index are.
    pub fn end(&mut self) {
        let whole = self.is_numeric() && !self.fractions && self.first_missing.is_none();
        let room = self.range.is_some_and(|(low, high)| high - low + 1.0 >= self.numbers as f64);
        self.no_index = !(whole && room && (self.crowded || self.values.len() == self.numbers));
    }

    /// Whether each value is a number with a fraction.
    pub fn is_never_whole(&self) -> bool {
        self.is_numeric() && self.whole == 0
    }

    /// Whether all values are whole numbers that `f32` tells apart, none is missing, and they are
    /// as few as those of categories.
    pub fn may_be_categories(&self) -> bool {
        self.is_numeric()
            && !self.fractions
            && !self.crowded
            && self.first_missing.is_none()
            && self.first_infinite.is_none()
            && !self.range.is_some_and(|(low, high)| is_large(low as f32) || is_large(high as f32))
            && FEW.contains(&numeric_names(&self.values).len())
    }

    /// The distinct values of a column of numbers that are taken as text: as the names of
    /// classes, so that "1.0" and "1" are one.
    pub fn into_names(
        self,
        origin: &Origin,
        column: &ColumnLabel,
    ) -> Result<Vec<String>, DataError> {
        let mut names = numeric_names(&self.into_values(origin, column, false)?);
        names.sort_unstable();
        Ok(names)
    }

    /// The distinct values, ascending as text.
    pub fn into_values(
        self,
        origin: &Origin,
        column: &ColumnLabel,
        target: bool,
    ) -> Result<Vec<String>, DataError> {
        if self.crowded {
            return Err(DataError::TooManyValues {
                file: origin.file.clone(),
                column: column.clone(),
                limit: MAX_VALUES,
                target,
            });
        }
        let mut values: Vec<String> = self.values.into_iter().collect();
        values.sort_unstable();
        Ok(values)
    }

    /// Takes the column as the target of `rows` rows: the names of the classes,
    /// none for regression.
    pub fn into_classes(
        self,
        origin: &Origin,
        column: &ColumnLabel,
        task: Option<Task>,
        as_text: bool,
    ) -> Result<Vec<String>, DataError> {
        self.check_utf8(origin, column)?;
        if let Some(line) = self.first_missing {
            return Err(DataError::TargetMissing { place: origin.at_column(line, column.clone()) });
        }
        let numeric = self.texts == 0 && !as_text;
        if numeric {
            self.check_range(origin, column)?;
        } else if task.is_none() && !as_text {
            self.check_slips(origin, column).map_err(|error| match error {
                DataError::MostlyNumbers { place, text, numbers } => {
                    DataError::TargetMostlyNumbers { place, text, numbers }
                }
                other => other,
            })?;
        }
        match task.unwrap_or_else(|| self.guess_task(numeric)) {
            Task::Classification => {}
            Task::Regression => {
                return match self.first_text {
                    None => Ok(Vec::new()),
                    Some((line, text)) => Err(DataError::TargetNotANumber {
                        place: origin.at_column(line, column.clone()),
                        text,
                    }),
                };
            }
        }
        if let Some((line, text)) = &self.first_text
            && self.crowded
            && self.numbers > self.texts
        {
            return Err(DataError::PartlyNumbers {
                place: origin.at_column(*line, column.clone()),
                text: text.clone(),
                numbers: self.numbers,
                values: self.numbers + self.texts,
                target: true,
            });
        }
        let mut names = self.into_values(origin, column, true)?;
        if numeric {
            names = numeric_names(&names);
        }
        Ok(names)
    }

    fn guess_task(&self, numeric: bool) -> Task {
        if !numeric {
            return Task::Classification;
        }
        let distinct = numeric_names(&self.values).len();
        let classes = !self.crowded && are_classes(distinct, self.numbers as u64, self.fractions);
        if classes { Task::Classification } else { Task::Regression }
    }
}

/// Whether so many numbers, with so many different ones among them, are guessed to be classes.
pub(crate) fn are_classes(distinct: usize, numbers: u64, fractions: bool) -> bool {
    distinct <= MAX_GUESSED_CLASSES && !fractions && numbers >= 2 * distinct as u64
}

/// Distinct names of numeric classes, ascending as numbers.
fn numeric_names<'a>(texts: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> =
        texts.into_iter().map(|t| class_name(t).unwrap_or_else(|| t.clone())).collect();
    sort_as_numbers(&mut names);
    names.dedup();
    names
}

/// Names of numeric classes, ascending as numbers.
pub(crate) fn sort_as_numbers(names: &mut [String]) {
    let number = |name: &String| name.parse::<f64>().unwrap_or(f64::NAN);
    names.sort_by(|a, b| as_numbers((number(a), a), (number(b), b)));
}

/// How numbers with their names are ordered: whole ones exactly, though more than one of them may
/// be the same `f64`.
pub(crate) fn as_numbers(a: (f64, &str), b: (f64, &str)) -> Ordering {
    let whole = |name: &str| name.parse::<i128>().map_or((true, 0), |number| (false, number));
    let exact = || whole(a.1).cmp(&whole(b.1));
    a.0.total_cmp(&b.0).then_with(exact).then_with(|| a.1.cmp(b.1))
}

fn note(first: &mut Option<u64>, line: u64) {
    if first.is_none_or(|earlier| line < earlier) {
        *first = Some(line);
    }
}

fn note_text(first: &mut Option<(u64, String)>, line: u64, field: &[u8]) {
    if first.as_ref().is_none_or(|(earlier, _)| line < *earlier) {
        *first = Some((line, String::from_utf8_lossy(field).into_owned()));
    }
}
