//! Data files: reads tables to train and test with, and rows to predict.
//!
//! The formats are told apart by content, and each may be compressed with gzip:
//! tables with columns (delimited text such as CSV and TSV, ARFF, PROBEN1,
//! NumPy's npy and npz, Parquet), svmlight text, and the idx arrays of MNIST.
//!
//! [`read`] infers a [`Schema`] from training data, [`read_with`] reads test data
//! under it, and [`rows`] streams rows to be predicted; [`read_all`],
//! [`read_all_with`] and [`rows_of`] read several files as one.

mod arff;
mod categories;
mod code;
mod compact;
mod csv;
mod delimited;
pub mod digits;
mod error;
mod extremes;
mod files;
mod fill;
mod header;
mod idx;
mod infer;
mod label_from;
mod layout;
mod lines;
mod memory;
mod no_categories;
mod npy;
mod one_class;
mod open;
mod order;
#[cfg(feature = "parquet")]
mod parquet;
mod proben1;
mod recordings;
mod records;
mod rows;
mod scan;
mod schema;
mod shape;
mod split;
pub mod stream;
mod svmlight;
mod table;
mod test_rows;
#[cfg(test)]
mod tests;
mod twins;
mod warning;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use code::{Code, CodedValues};
pub use compact::MAX_NOTES;
pub use error::{ColumnLabel, DataError, Place};
pub use files::{FileId, copies, expand};
pub use idx::labels_beside;
pub use label_from::LabelFrom;
pub use memory::{Found, TableBuilder, Unlisted, Values};
pub use recordings::{GroupBy, Recordings, Window};
pub use rows::{RowReader, rows, rows_from, rows_of};
pub use schema::{Column, ColumnKind, Format, Schema};
pub use shape::Shape;
pub use split::{SplitSize, folds, split, split_table};
pub use table::{Division, Part, Table, Target};
pub use test_rows::read_test;
pub use twins::twins;
pub use warning::DataWarning;

use files::check_distinct;
use open::{Container, DataFile, check_options};

/// Distinct values, at most, of a text column or of the classes.
pub const MAX_VALUES: usize = 1000;

/// Inputs per row, at most.
pub const MAX_INPUTS: usize = 1 << 20;

/// Fields of a record, at most: all inputs and the target.
pub(crate) const MAX_FIELDS: usize = MAX_INPUTS + 1;

/// Bytes of a line of text, at most, with its end; of a row with line breaks in quotes
/// together. That is 32 for each of the most inputs.
pub const MAX_LINE: usize = 32 * MAX_INPUTS;

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
    /// is none of the column's values. Columns of files without any value are left out, and rows
    /// without a target where [`ReadOptions::target`] names it, and rows are no windows.
    Impute,
}

/// How to read a data file; the default guesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Number of the target column, from 1, or from -1 for the last, or its name; the last
    /// by default. Only [`read`] of CSV and TSV.
    pub target: Option<String>,
    /// Whether no column is the target if none is named: all are inputs, and the targets are 0.
    /// Only [`read`] of tables.
    pub unlabelled: bool,
    /// Whether the first line of a CSV or TSV file is a header; other tables know.
    pub header: Option<bool>,
    /// What the target is; by default a text is a class, and so are integers of
    /// at most 20 distinct values that occur twice on average, and all labels of
    /// idx files. Only [`read`].
    pub task: Option<Task>,
    /// The class to tell from all the others, which makes two classes. Only
    /// [`read`]; afterwards the schema says.
    pub positive: Option<String>,
    /// Whether one class is enough: what is normal is learned from normal rows alone. Only
    /// [`read`].
    pub one_class: bool,
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
    /// File of the labels of an idx file, by default the one beside it with
    /// `labels` for `images` and `idx1` for `idx3` in its name; or of an npy file,
    /// then the last column.
    pub labels: Option<PathBuf>,
    /// First byte of lines to be passed over in a CSV or TSV file.
    pub comment: Option<u8>,
    /// Arrays of an npz file to read, in this order; all by default.
    pub arrays: Vec<String>,
    /// What tells recordings apart: a column, named or numbered as the target, or
    /// `file`. Rows of a recording stay on the same side of every split. Only
    /// [`read`] of tables; afterwards the schema says.
    pub group: Option<String>,
    /// Column, named or numbered as the target, that says how much each row
    /// counts: finite numbers, at least 0; it is no input. Only [`read`] and
    /// [`read_with`] of tables.
    pub weights: Option<String>,
    /// Takes the label from the path of a file instead of a column.
    pub label_from: Option<LabelFrom>,
    /// Columns, named or numbered as the target, whose fields are kept as they are, whether they
    /// are inputs or not: [`RowReader::kept`]. Only [`rows`] of tables.
    pub keep: Vec<String>,
    /// Makes rows of windows of consecutive samples. Only [`read`] of tables;
    /// afterwards the schema says.
    pub window: Option<Window>,
}

/// Reads training data and infers its schema; the file is read twice.
///
/// # Errors
///
/// If the file cannot be read or is no well-formed table of finite numbers and
/// categories with a target of at least two classes, or of numbers.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table, DataError> {
    read_all(&[path.as_ref().to_owned()], options)
}

/// Reads several files as one table, one file after the other, as [`read`].
///
/// # Errors
///
/// As [`read`], and if the files are not alike.
pub fn read_all(files: &[PathBuf], options: &ReadOptions) -> Result<Table, DataError> {
    check_files(files)?;
    read_files(&DataFile::on_disk(files), options)
}

/// Reads training data that is in memory, as [`read`] reads a file; messages call it `name`.
///
/// ```
/// use koan_data::{ReadOptions, read_bytes};
///
/// let text = "x,state\n0.5,on\n-1,off\n";
/// let table = read_bytes("states.csv", text.as_bytes(), &ReadOptions::default())?;
/// assert_eq!((table.rows(), &table.schema.classes[..]), (2, &["off".into(), "on".into()][..]));
/// # Ok::<(), koan_data::DataError>(())
/// ```
///
/// # Errors
///
/// As [`read`], and for idx images, whose labels are in another file.
pub fn read_bytes(
    name: &str,
    bytes: impl Into<Arc<[u8]>>,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    let file = DataFile { path: name.into(), bytes: Some(bytes.into()) };
    read_files(&[file], options)
}

/// The names of the columns of a table in memory, empty where a column has none: what a target
/// can be chosen from, before [`read_bytes`].
///
/// # Errors
///
/// If it is no table of columns.
pub fn column_names(
    name: &str,
    bytes: impl Into<Arc<[u8]>>,
    options: &ReadOptions,
) -> Result<Vec<String>, DataError> {
    let file = DataFile { path: name.into(), bytes: Some(bytes.into()) };
    let format = file.open()?.container(options.comment).format();
    if format != Format::Csv {
        let (file, found) = (name.to_owned(), format.described());
        return Err(DataError::Format { file, expected: Format::Csv.described(), found });
    }
    infer::names(&file, options)
}

fn read_files(files: &[DataFile], options: &ReadOptions) -> Result<Table, DataError> {
    let (schema, options, rows) = infer_files(files, options)?;
    let (mut table, starts) = fill::fill(files.to_vec(), schema, &options, rows)?;
    fill::impute(&mut table);
    take_parts(&mut table, files, &options)?;
    let names = files.iter().map(|file| (0, file.path.display().to_string()));
    let file = open::Origin::several(names.collect()).file;
    let told = one_class::recordings(&table, &file, &starts);
    table.schema.warnings.extend(told);
    Ok(table)
}

/// The parts that the only file divides its rows into, if it does.
fn take_parts(
    table: &mut Table,
    files: &[DataFile],
    options: &ReadOptions,
) -> Result<(), DataError> {
    let [file] = files else { return Ok(()) };
    if table.division != Division::Free {
        return Ok(());
    }
    let input = file.open()?;
    if input.container(options.comment) == Container::Proben1 {
        let parts = proben1::Proben1::parts(input)?;
        // Windows are fewer than rows.
        if parts.len() == table.rows() {
            table.division = Division::Parts(parts);
        }
    }
    Ok(())
}

/// The schema of training data, the options to read its rows with, and how many
/// there are at most (0 if that is not known).
///
/// # Errors
///
/// As [`read`].
pub fn infer_all(
    files: &[PathBuf],
    options: &ReadOptions,
) -> Result<(Schema, ReadOptions, usize), DataError> {
    check_files(files)?;
    infer_files(&DataFile::on_disk(files), options)
}

/// Refuses options that files of their formats do not know, as reading them would: before much is
/// done. What is no file, such as a pipe, is passed over.
///
/// # Errors
///
/// Such options, and files that cannot be read.
pub fn check_known(files: &[PathBuf], options: &ReadOptions) -> Result<(), DataError> {
    for path in files.iter().filter(|path| path.is_file()) {
        let input = open::Input::open(path)?;
        check_options(&input.origin.file, input.container(options.comment), options)?;
    }
    Ok(())
}

/// Refuses what is no file, and a file that is given twice.
fn check_files(files: &[PathBuf]) -> Result<(), DataError> {
    check_distinct(files)?;
    for path in files {
        let file = path.display().to_string();
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(DataError::NotAFile { file }),
            Err(source) => return Err(DataError::Unreadable { file, source }),
        }
    }
    Ok(())
}

fn infer_files(
    files: &[DataFile],
    options: &ReadOptions,
) -> Result<(Schema, ReadOptions, usize), DataError> {
    let Some(first) = files.first() else {
        return Err(DataError::NoRows { file: String::new() });
    };
    if let Some(Window { samples, stride }) = options.window {
        if samples == 0 || stride == 0 {
            let problem = "windows and strides have at least one sample";
            return Err(DataError::Contradiction { problem, options: &["window", "stride"] });
        }
        if stride < samples && options.group.is_none() {
            return Err(DataError::Overlap { samples, stride });
        }
    }
    if options.weights.is_some() && options.window.is_some() {
        let problem = "rows have weights, windows of samples have none";
        return Err(DataError::Contradiction { problem, options: &["weights", "window"] });
    }
    let file = first.path.display().to_string();
    let container = first.open()?.container(options.comment);
    check_options(&file, container, options)?;
    let format = container.format();
    if format != Format::Csv {
        let given = [
            ("target", options.target.is_some()),
            ("drop", !options.drop.is_empty()),
            ("text", !options.text.is_empty()),
            ("window", options.window.is_some()),
            ("group", options.group.is_some()),
            ("weights", options.weights.is_some()),
            ("label-from", options.label_from.is_some()),
        ];
        let format = format.described();
        if let Some(&(option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(DataError::OptionNeedsCsv { file, option, format });
        }
        if let [_, second, ..] = files {
            let (file, first) = (second.path.display().to_string(), file);
            let problem = format!("several files are read only of tables, not of {format}");
            return Err(DataError::Unlike { file, first, problem });
        }
    }
    let (schema, options, rows) = match format {
        Format::Csv => {
            let inferred = infer::infer(files, options)?;
            let options = ReadOptions {
                header: Some(inferred.header),
                delimiter: inferred.delimiter.or(options.delimiter),
                ..options.clone()
            };
            let rows = inferred.rows.checked_div(options.window.map_or(1, |w| w.stride));
            (inferred.schema, options, rows.unwrap_or(0))
        }
        Format::Svmlight => {
            let (schema, rows) = svmlight::infer(first, options)?;
            (schema, options.clone(), rows)
        }
        Format::Idx if first.bytes.is_some() => {
            let problem = "idx images in memory have their labels in another file".to_owned();
            return Err(DataError::Malformed { file, problem });
        }
        Format::Idx => (idx::infer(&first.path, options)?, options.clone(), 0),
    };
    Ok((positive(schema, &options, &file)?, options, rows))
}

/// The schema of one class against the rest, if that is asked for.
fn positive(schema: Schema, options: &ReadOptions, file: &str) -> Result<Schema, DataError> {
    if let [class] = &schema.classes[..]
        && !options.one_class
    {
        let (file, class) = (file.to_owned(), class.clone());
        let target = schema.columns.iter().position(|column| column.kind == ColumnKind::Target);
        return Err(match target.map(|index| schema.label(index)) {
            Some(column) => DataError::OneClassIn { file, column, class },
            None => DataError::OneClass { file, class },
        });
    }
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
    read_all_with(&[path.as_ref().to_owned()], schema, options)
}

/// Reads several files as one, as [`read_with`].
///
/// # Errors
///
/// As [`read_with`].
pub fn read_all_with(
    files: &[PathBuf],
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    check_distinct(files)?;
    let on_disk = DataFile::on_disk(files);
    let (mut table, _) = fill::fill(on_disk.clone(), schema.clone(), options, 0)?;
    // A pipe has been read to its end.
    if files.iter().all(|file| file.is_file()) {
        take_parts(&mut table, &on_disk, options)?;
    }
    Ok(table)
}
