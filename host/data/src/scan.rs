//! First pass over a column: what kind it is and which values it has.

use std::collections::HashSet;

use super::error::{ColumnLabel, DataError};
use super::open::Origin;
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

/// A number as the name of a class: "+1", "1" and "1.0" are all "1".
pub(crate) fn class_name(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    // Adding zero turns -0 into 0.
    Some((number + 0.0).to_string())
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
    /// Distinct values; emptied and no longer kept up once there are too many.
    values: HashSet<String>,
    crowded: bool,
}

impl ColumnScan {
    pub fn add(&mut self, line: u64, field: &[u8]) {
        match parse(field) {
            Field::NotUtf8 => note(&mut self.first_not_utf8, line),
            Field::Missing => note(&mut self.first_missing, line),
            Field::Number(number) => {
                self.numbers += 1;
                self.fractions |= number.fract() != 0.0;
                if number.is_infinite() {
                    note_text(&mut self.first_infinite, line, field);
                }
                self.add_value(field);
            }
            Field::Text(_) => {
                self.texts += 1;
                note_text(&mut self.first_text, line, field);
                self.add_value(field);
            }
        }
    }

    /// Adds what has been seen of the same column in another file.
    pub fn merge(&mut self, other: &ColumnScan) {
        self.numbers += other.numbers;
        self.texts += other.texts;
        self.fractions |= other.fractions;
        for (mine, theirs) in [
            (&mut self.first_missing, other.first_missing),
            (&mut self.first_not_utf8, other.first_not_utf8),
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

    /// Whether there is at least one value and each is a number.
    pub fn is_numeric(&self) -> bool {
        self.numbers > 0 && self.texts == 0
    }

    /// Whether the values are few enough to be kept and `field` is not one.
    pub fn lacks(&self, field: &[u8]) -> bool {
        let text = std::str::from_utf8(field).unwrap_or_default();
        !self.crowded && !self.values.contains(text)
    }

    /// Bytes that are no text at all, for any column that is used.
    pub fn check_utf8(&self, origin: &Origin, column: &ColumnLabel) -> Result<(), DataError> {
        match self.first_not_utf8 {
            None => Ok(()),
            Some(line) => Err(DataError::NotUtf8 { place: origin.at_column(line, column.clone()) }),
        }
    }

    /// Numbers beyond the range of `f32`, for a numeric column.
    pub fn check_range(&self, origin: &Origin, column: &ColumnLabel) -> Result<(), DataError> {
        match &self.first_infinite {
            None => Ok(()),
            Some((line, text)) => Err(DataError::OutOfRange {
                place: origin.at_column(*line, column.clone()),
                text: text.clone(),
            }),
        }
    }

    /// A few texts among numbers, for a column that is text by inference only.
    pub fn check_slips(&self, origin: &Origin, column: &ColumnLabel) -> Result<(), DataError> {
        match &self.first_text {
            // Categories mix numbers and texts now and then, but hardly 19 to 1.
            Some((line, text)) if self.numbers >= 19 * self.texts => {
                Err(DataError::MostlyNumbers {
                    place: origin.at_column(*line, column.clone()),
                    text: text.clone(),
                    numbers: self.numbers,
                })
            }
            _ => Ok(()),
        }
    }

    /// The distinct values, ascending as text.
    pub fn into_values(
        self,
        origin: &Origin,
        column: &ColumnLabel,
        hint: &'static str,
    ) -> Result<Vec<String>, DataError> {
        if self.crowded {
            return Err(DataError::TooManyValues {
                file: origin.file.clone(),
                column: column.clone(),
                limit: MAX_VALUES,
                hint,
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
            self.check_slips(origin, column)?;
        }
        match task.unwrap_or_else(|| self.guess_task(numeric)) {
            Task::Classification => {}
            Task::Regression => {
                return match self.first_text {
                    None => Ok(Vec::new()),
                    Some((line, text)) => Err(DataError::NotANumber {
                        place: origin.at_column(line, column.clone()),
                        text,
                    }),
                };
            }
        }
        let mut names = self.into_values(origin, column, "too many to be classes")?;
        if numeric {
            names = numeric_names(&names);
        }
        if let [class] = &names[..] {
            return Err(DataError::OneClass { file: origin.file.clone(), class: class.clone() });
        }
        Ok(names)
    }

    fn guess_task(&self, numeric: bool) -> Task {
        if !numeric {
            return Task::Classification;
        }
        let distinct = numeric_names(&self.values).len();
        let few = !self.crowded && distinct <= MAX_GUESSED_CLASSES;
        if few && !self.fractions && self.numbers >= 2 * distinct {
            Task::Classification
        } else {
            Task::Regression
        }
    }
}

/// Distinct names of numeric classes, ascending as numbers.
fn numeric_names<'a>(texts: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = texts.into_iter().filter_map(|t| class_name(t)).collect();
    let number = |name: &String| name.parse::<f64>().unwrap_or(f64::NAN);
    names.sort_by(|a, b| number(a).total_cmp(&number(b)));
    names.dedup();
    names
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
