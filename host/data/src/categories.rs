//! Number columns that are taken as categories: one input for each of a column's values.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::code::CodedValues;
use super::error::DataError;
use super::scan::{class_name, is_padded};
use super::schema::{Column, ColumnKind, Schema, check, width};
use super::table::Table;
use super::warning::DataWarning;
use super::{MAX_INPUTS, MAX_VALUES};

/// How many different whole numbers a column has that may be categories: two are told apart by
/// one input as well as by two.
pub(crate) const FEW: RangeInclusive<usize> = 3..=16;

/// Below this magnitude a whole number is the same in `f32`.
const EXACT: f32 = (1 << f32::MANTISSA_DIGITS) as f32;

/// Whether `f32` may have the number in place of another whole number.
pub(crate) fn is_large(number: f32) -> bool {
    number.abs() >= EXACT
}

/// The place of a text among the values of a column; numbers may be written in another way, also
/// with more digits than `f32` has, and truth values, which Parquet files and tables in memory
/// have as 0 and 1, CSV files as words.
pub(crate) fn place_of(values: &[String], text: &str) -> Option<usize> {
    let place = |text: &str| values.binary_search_by(|value| value.as_str().cmp(text)).ok();
    let truth = || words_of_truth(text)?.into_iter().find_map(place);
    let all_words = || values.iter().all(|value| TRUTH.as_flattened().contains(&value.as_str()));
    place(text)
        .or_else(|| place(&class_name(text)?))
        .or_else(|| place(&rounded(text)?))
        .or_else(|| truth().filter(|_| values.len() <= 2 && all_words()))
}

/// The same where values are known by their codes.
pub(crate) fn coded_place(values: &CodedValues, text: &str) -> Option<usize> {
    let truth = || words_of_truth(text)?.into_iter().find_map(|word| values.place(word));
    values
        .place(text)
        .or_else(|| values.place(&class_name(text)?))
        .or_else(|| values.place(&rounded(text)?))
        .or_else(|| truth().filter(|_| values.count() <= 2))
}

/// The name of the `f32` that is nearest to the number of a text, as which tables have it.
fn rounded(text: &str) -> Option<String> {
    let number: f32 = text.parse().ok().filter(|number: &f32| number.is_finite())?;
    (!is_padded(text) && !is_large(number)).then(|| name(number))
}

/// How programs write what is false and what is true.
const TRUTH: [[&str; 3]; 2] = [["False", "false", "FALSE"], ["True", "true", "TRUE"]];

/// The words for what a text says of truth, if it does.
fn words_of_truth(text: &str) -> Option<[&'static str; 3]> {
    match text {
        "0" => Some(TRUTH[0]),
        "1" => Some(TRUTH[1]),
        _ => TRUTH.into_iter().find(|words| words.contains(&text)),
    }
}

impl Table {
    /// The table with these columns of the schema, from 0, as categories: what reading it with
    /// [`ReadOptions::text`](crate::ReadOptions) would make. Columns that are no numbers stay
    /// as they are, and so does the table without columns to turn.
    ///
    /// # Errors
    /// A column that is not there, one whose missing values were imputed, one with too many
    /// values or with whole numbers that `f32` does not tell apart, windows of samples.
    pub fn with_categories(&self, columns: &[usize]) -> Result<Table, DataError> {
        // Images, arrays and windows have no columns that could be turned.
        if columns.is_empty() {
            return Ok(self.clone());
        }
        let mut schema = self.schema.clone();
        let wrong = |problem: String| DataError::Schema(problem);
        if schema.recordings.window.is_some() {
            return Err(wrong("columns of windows cannot be categories".into()));
        }
        let inputs = self.inputs_of();
        for &index in columns {
            let label = self.schema.label(index);
            let Some(column) = schema.columns.get_mut(index) else {
                return Err(wrong(format!("there is no column {}", index + 1)));
            };
            match column.kind {
                ColumnKind::Numeric { missing: None } => {}
                ColumnKind::Numeric { .. } => {
                    return Err(wrong(format!(
                        "{label} has missing values: it cannot be categories"
                    )));
                }
                _ => continue,
            }
            let mut values = BTreeSet::new();
            for row in 0..self.rows() {
                let number = self.row(row)[inputs[index]];
                if is_large(number) {
                    return Err(wrong(format!(
                        "{label} has whole numbers beyond ±16777215, which are not told apart \
                         as categories: make the column text"
                    )));
                }
                values.insert(name(number));
                if values.len() > MAX_VALUES {
                    return Err(wrong(format!("{label} has more than {MAX_VALUES} values")));
                }
            }
            column.kind = ColumnKind::Text { values: values.into_iter().collect() };
        }
        check(&schema.columns).map_err(wrong)?;
        schema.may_be_categories.clear();
        schema.image = None;
        Ok(self.of_schema(schema))
    }

    /// The table with those columns as categories that are text in `schema`, which is one of
    /// [`Self::with_categories`], or of the notes of its model: a value that it does not list is
    /// none of them; and without those that the schema leaves out. Under a schema of other columns
    /// the table stays as it is.
    #[must_use]
    pub fn with_categories_of(&self, schema: &Schema) -> Table {
        let turned = |(now, before): (&Column, &Column)| match (&now.kind, &before.kind) {
            (ColumnKind::Text { .. } | ColumnKind::Coded(_), ColumnKind::Numeric { .. })
            | (ColumnKind::Dropped, _) => true,
            _ => now.inputs() == before.inputs(),
        };
        let (now, before) = (&schema.columns, &self.schema.columns);
        let same = now.len() == before.len() && now.iter().zip(before).all(turned);
        if !same || schema.inputs == self.inputs || schema.recordings.window.is_some() {
            return self.clone();
        }
        self.of_schema(Schema { classes: self.schema.classes.clone(), ..schema.clone() })
    }

    /// The table without these columns of the schema, from 0, as a search leaves columns out without
    /// which it found better models: the table's warnings say so.
    #[must_use]
    pub fn without_columns(&self, columns: &[usize]) -> Table {
        if columns.is_empty() {
            return self.clone();
        }
        let mut schema = self.schema.clone();
        for &index in columns {
            let label = schema.label(index);
            let Some(column) = schema.columns.get_mut(index) else { continue };
            let inputs = column.inputs();
            column.kind = ColumnKind::Dropped;
            schema.warnings.push(DataWarning::LeftOut { column: label, inputs });
        }
        schema.may_be_categories.retain(|index| !columns.contains(index));
        self.of_schema(schema)
    }

    /// The first input of each column.
    fn inputs_of(&self) -> Vec<usize> {
        let mut next = 0;
        let mut of = |column: &Column| {
            let first = next;
            next += column.inputs();
            first
        };
        self.schema.columns.iter().map(&mut of).collect()
    }

    /// The rows under a schema that differs by columns that are text in place of numbers, and by
    /// those that it leaves out.
    fn of_schema(&self, mut schema: Schema) -> Table {
        schema.inputs = width(&schema.columns).min(MAX_INPUTS);
        let firsts = self.inputs_of();
        let mut values = Vec::with_capacity(self.rows() * schema.inputs);
        for row in 0..self.rows() {
            let row = self.row(row);
            for ((now, before), &first) in
                schema.columns.iter().zip(&self.schema.columns).zip(&firsts)
            {
                match (&now.kind, &before.kind) {
                    (ColumnKind::Dropped, _) => {}
                    (ColumnKind::Text { values: listed }, ColumnKind::Numeric { .. }) => {
                        let place = place_of(listed, &name(row[first]));
                        one_of(listed.len(), place, &mut values);
                    }
                    (ColumnKind::Coded(listed), ColumnKind::Numeric { .. }) => {
                        let place = coded_place(listed, &name(row[first]));
                        one_of(listed.count(), place, &mut values);
                    }
                    _ => values.extend_from_slice(&row[first..][..before.inputs()]),
                }
            }
        }
        let Table { target, division, weights, .. } = self;
        let (target, division, weights) = (target.clone(), division.clone(), weights.clone());
        Table { inputs: schema.inputs, values, target, schema, division, weights }
    }
}

impl Schema {
    /// The inputs among the columns, by their numbers from 0, that another schema of the same
    /// columns leaves out.
    #[must_use]
    pub fn left_out_by(&self, other: &Schema) -> Vec<usize> {
        let both = self.columns.iter().zip(&other.columns).enumerate();
        let left_out =
            both.filter(|(_, (own, other))| own.inputs() > 0 && other.kind == ColumnKind::Dropped);
        let places = left_out.map(|(place, _)| place);
        if self.columns.len() == other.columns.len() { places.collect() } else { Vec::new() }
    }
}

/// Appends as many inputs as there are values: 1 at this place, 0 elsewhere.
pub(crate) fn one_of(count: usize, place: Option<usize>, inputs: &mut Vec<f32>) {
    inputs.extend((0..count).map(|value| f32::from(u8::from(Some(value) == place))));
}

/// The different numbers of a column, while these are whole and few.
#[derive(Clone, Debug)]
pub(crate) struct Whole(Option<Vec<f64>>);

impl Default for Whole {
    fn default() -> Self {
        Self(Some(Vec::new()))
    }
}

impl Whole {
    /// Adds numbers.
    pub(crate) fn add_all(&mut self, numbers: &[f64]) {
        for &number in numbers {
            if self.0.is_none() {
                return;
            }
            self.add(number);
        }
    }

    pub(crate) fn add(&mut self, number: f64) {
        let Some(known) = &mut self.0 else { return };
        if known.contains(&number) {
            return;
        }
        known.push(number);
        if known.len() > *FEW.end() || number.fract() != 0.0 || is_large(number as f32) {
            self.0 = None;
        }
    }

    /// Whether they are as few as those of categories.
    pub(crate) fn few(&self) -> bool {
        self.0.as_ref().is_some_and(|known| FEW.contains(&known.len()))
    }
}

/// The name of a number: as short as `f32` tells it from others, as files mostly have it.
fn name(value: f32) -> String {
    // Adding zero turns -0 into 0.
    (value + 0.0).to_string()
}
