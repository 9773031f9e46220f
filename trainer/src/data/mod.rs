//! Data files: reads tables to train and test with, and rows to predict.
//!
//! Three formats, told apart by content, each also compressed with gzip:
//! delimited text (CSV, TSV), svmlight text, and the idx arrays of MNIST.
//!
//! [`read`] infers a [`Schema`] from training data, [`read_with`] reads test data
//! under it, and [`rows`] streams rows to be predicted.

mod compact;
mod csv;
mod error;
mod fill;
mod idx;
mod infer;
mod layout;
mod open;
mod rows;
mod scan;
mod schema;
mod split;
mod svmlight;
mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use error::{ColumnLabel, DataError, Place};
pub use rows::{RowReader, rows, rows_from};
pub use schema::{Column, ColumnKind, Format, Schema};
pub use split::{SplitSize, split};
pub use table::{Table, Target};

use open::Input;

/// Distinct values, at most, of a text column or of the classes.
pub const MAX_VALUES: usize = 1000;

/// Inputs per row, at most.
pub const MAX_INPUTS: usize = 1 << 20;

/// What is to be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One of several classes.
    Classification,
    /// A number.
    Regression,
}

/// What to do about missing values in training data: an empty field, `?`, `NA`,
/// `NaN` or `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// A missing value is an error.
    #[default]
    Refuse,
    /// The median of the column stands in for a missing number; a missing text
    /// is none of the column's values.
    Impute,
}

/// How to read a data file; the default guesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Name of the target column, or its number from 1, or from -1 for the last;
    /// the last by default. Only [`read`] of CSV and TSV.
    pub target: Option<String>,
    /// Whether the first line of a CSV or TSV file is a header.
    pub header: Option<bool>,
    /// What the target is; by default a text is a class, and so are integers of
    /// at most 20 distinct values that occur twice on average, and all labels of
    /// idx files. Only [`read`].
    pub task: Option<Task>,
    /// The class to tell from all the others, which makes two classes. Only
    /// [`read`]; afterwards the schema says.
    pub positive: Option<String>,
    /// What to do about missing values. Only [`read`]; afterwards the schema says.
    pub missing: Missing,
    /// Byte between fields of a CSV or TSV file; a space stands for runs of spaces.
    pub delimiter: Option<u8>,
    /// Columns, named or numbered as the target, not to be used. Only [`read`] of
    /// CSV and TSV.
    pub drop: Vec<String>,
    /// Columns, named or numbered as the target, to be taken as text although
    /// their values are numbers. Only [`read`] of CSV and TSV.
    pub text: Vec<String>,
    /// File of the labels of an idx file; by default the one beside it with
    /// `labels` for `images` and `idx1` for `idx3` in its name.
    pub labels: Option<PathBuf>,
}

/// Reads training data and infers its schema; the file is read twice.
///
/// # Errors
///
/// If the file cannot be read or is no well-formed table of finite numbers and
/// categories with a target of at least two classes, or of numbers.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table, DataError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(DataError::NotAFile { file }),
        Err(source) => return Err(DataError::Unreadable { file, source }),
    }
    let format = Input::open(path)?.format();
    if format != Format::Csv {
        let given = [
            ("target", options.target.is_some()),
            ("drop", !options.drop.is_empty()),
            ("text", !options.text.is_empty()),
        ];
        if let Some(&(option, _)) = given.iter().find(|(_, given)| *given) {
            let format = format.described();
            return Err(DataError::OptionNeedsCsv { file, option, format });
        }
    }
    match format {
        Format::Csv => {
            let inferred = infer::infer(path, options)?;
            let options = ReadOptions {
                header: Some(inferred.header),
                delimiter: Some(inferred.delimiter),
                ..options.clone()
            };
            let schema = positive(inferred.schema, &options, &file)?;
            let mut table = fill::fill(path, schema, &options, inferred.rows)?;
            fill::impute(&mut table);
            Ok(table)
        }
        Format::Svmlight => {
            let (schema, rows) = svmlight::infer(path, options)?;
            fill::fill(path, positive(schema, options, &file)?, options, rows)
        }
        Format::Idx => {
            let schema = positive(idx::infer(path, options)?, options, &file)?;
            fill::fill(path, schema, options, 0)
        }
    }
}

/// The schema of one class against the rest, if that is asked for.
fn positive(schema: Schema, options: &ReadOptions, file: &str) -> Result<Schema, DataError> {
    match &options.positive {
        Some(class) => schema.against_rest(class, file),
        None => Ok(schema),
    }
}

/// Reads test data under the schema of the training data.
///
/// A text value that the schema does not list becomes all zeros. A missing
/// number becomes the schema's stand-in for it.
///
/// # Errors
///
/// If the file cannot be read, is of another format, lacks the target or a
/// column, or holds a class that the schema does not list.
pub fn read_with(
    path: impl AsRef<Path>,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    fill::fill(path.as_ref(), schema.clone(), options, 0)
}
