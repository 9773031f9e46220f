//! What is wrong with a column, and what is worth knowing of it.

use super::{ColumnScan, Rounded};
use crate::MAX_VALUES;
use crate::error::{ColumnLabel, DataError};
use crate::no_categories::{MANY, are_mostly_numbers, check_categories};
use crate::open::Origin;
use crate::warning::{DataWarning, ROUNDED};

impl ColumnScan {
    /// The line of a number that is many times as large as any other of a column of numbers.
    pub fn towering(&self) -> Option<u64> {
        let towers = self.is_numeric() && self.extremes.is_largest_far();
        towers.then_some(self.largest.1)
    }

    /// What is worth knowing of an input whose values go up from line to line.
    pub fn ordered(&self, origin: &Origin, column: &ColumnLabel) -> Option<DataWarning> {
        self.order.warning(&origin.file, column)
    }

    /// What is worth knowing of a column of numbers with a value that is far from all others.
    pub fn far_away(&self, origin: &Origin, column: &ColumnLabel) -> Option<DataWarning> {
        self.extremes.warning(&origin.file, column).filter(|_| self.is_numeric())
    }

    /// What is worth knowing of an input of numbers in an unusual unit.
    pub fn unit(&self, origin: &Origin, column: &ColumnLabel) -> Option<DataWarning> {
        self.extremes.unit(&origin.file, column).filter(|_| self.is_numeric())
    }

    /// What is worth knowing of a column that is used, as text or as numbers.
    pub fn warning(&self, origin: &Origin, column: &ColumnLabel) -> Option<DataWarning> {
        if let Some((line, text)) = self.first_text.clone().filter(|_| self.numbers > 0) {
            let place = origin.at_column(line, column.clone());
            return Some(DataWarning::AsText { place, text, numbers: self.numbers });
        }
        let (least, largest) = self.range?;
        let Rounded { by, line, text, kept } = self.rounded.clone()?;
        let share = by / (largest - least);
        let place = origin.at_column(line, column.clone());
        let warning = DataWarning::Rounded { place, text, kept, share };
        (largest > least && share > ROUNDED).then_some(warning)
    }

    /// Numbers with decimal commas where commas do not stand for points, in a column that
    /// is text by inference only.
    pub fn check_commas(&self, origin: &Origin, column: &ColumnLabel) -> Result<(), DataError> {
        match &self.first_text {
            Some((line, text)) if self.commas == self.texts => Err(DataError::DecimalComma {
                place: origin.at_column(*line, column.clone()),
                text: text.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Bytes that are no text at all, for any column that is used.
    pub fn check_utf8(&self, origin: &Origin, column: &ColumnLabel) -> Result<(), DataError> {
        if let Some(line) = self.first_nul {
            let place = origin.at_column(line, column.clone());
            let problem = "a byte 0, which text does not have".to_owned();
            return Err(DataError::MalformedLine { place, problem });
        }
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

    /// Numbers that are not written as they are read, for an input that is text by inference only:
    /// an error where they are many, else what is worth knowing.
    pub fn check_written(
        &self,
        origin: &Origin,
        column: &ColumnLabel,
    ) -> Result<Option<DataWarning>, DataError> {
        let Some((how, text)) = self.written.written(self.numbers > 0) else { return Ok(None) };
        let (file, column) = (origin.file.clone(), column.clone());
        let values = if self.crowded { MAX_VALUES + 1 } else { self.values.len() };
        let many = match how {
            how if how.may_be_categories() => {
                self.crowded || values >= MANY && 2 * values > self.texts
            }
            _ => values >= MANY,
        };
        if many {
            return Err(DataError::Units { file, column, values, text });
        }
        Ok(Some(DataWarning::Numerals { file, column, values, text }))
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

    /// Texts that are no categories, for a column that is text by inference only.
    pub fn check_texts(&self, origin: &Origin, column: &ColumnLabel) -> Result<(), DataError> {
        let texts = self.values.iter().map(String::as_str);
        let (numbers, values) = (self.numbers, self.texts + self.numbers);
        if self.crowded && !self.timeless && numbers == 0 {
            let (file, column, values) = (origin.file.clone(), column.clone(), MAX_VALUES + 1);
            return Err(DataError::Times { file, column, values });
        }
        let refused = check_categories(texts.clone(), values, &origin.file, column);
        let mostly = match &refused {
            Err(DataError::Identifier { .. }) => are_mostly_numbers(texts),
            // The different ones are no longer known.
            _ => self.crowded && numbers > self.texts,
        };
        match self.first_text.clone().filter(|_| mostly) {
            Some((line, text)) => {
                let place = origin.at_column(line, column.clone());
                Err(DataError::PartlyNumbers { place, text, numbers, values, target: false })
            }
            None => refused,
        }
    }
}
