//! What can be wrong with a data file, and where in it.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use super::delimited::are_thousands;
use super::no_categories::Written;
use super::{MAX_LINE, MAX_VALUES};

/// What messages call a table that no file holds.
pub(crate) const IN_MEMORY: &str = "the table";

/// A place in a data file; shown as ``sensors.csv:17: column 3 (`temp`)``.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the caller named it, or the name given to a stream.
    pub file: String,
    /// Line in the file, from 1; the row in formats that have no lines.
    pub line: u64,
    /// The column of a table, where one column is at fault.
    pub column: Option<ColumnLabel>,
}

/// A column's number and name; shown as ``column 3 (`temp`)``.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct ColumnLabel {
    /// Position in the file, from 1.
    pub number: usize,
    /// Name in the header; empty where there is none.
    pub name: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == IN_MEMORY {
            write!(f, "{}: row {}", self.file, self.line)?;
        } else {
            write!(f, "{}:{}", self.file, self.line)?;
        }
        match &self.column {
            Some(column) => write!(f, ": {column}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ColumnLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}", self.number)?;
        if !self.name.is_empty() {
            write!(f, " (`{}`)", self.name)?;
        }
        Ok(())
    }
}

/// Why a data file could not be read as a table.
///
/// Every message names the file and, where there is one, the line and the
/// column at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant shows what each field is")]
pub enum DataError {
    /// The operating system would not open or read the file.
    #[error("{file}: cannot be read: {source}")]
    Unreadable { file: String, source: io::Error },
    /// The file begins as gzip but does not decompress.
    #[error("{file}: corrupt gzip data: {source}")]
    CorruptGzip { file: String, source: io::Error },
    /// A file of a kind that is known, and not read.
    #[error(
        "{file}: {what}, which is not supported: use {}",
        if what.starts_with("UTF-16") { "UTF-8" } else { "gzip, or text in UTF-8" }
    )]
    NotRead { file: String, what: &'static str },
    /// Training data is read twice, which a pipe or a directory does not allow.
    #[error("{file}: not a regular file; training data is read twice, so a pipe will not do")]
    NotAFile { file: String },
    /// Nothing but blanks in the file.
    #[error("{file}: the file is empty")]
    Empty { file: String },
    /// A header or comments, but no data.
    #[error("{file}: no rows of data")]
    NoRows { file: String },
    /// The table would not fit in memory.
    #[error("{file}: too large for memory: {rows} rows of {inputs} inputs")]
    TooLarge { file: String, rows: usize, inputs: usize },
    /// The file is of another format than the model's training data.
    #[error("{file}: looks like {found}, but the model takes {expected}")]
    Format { file: String, expected: &'static str, found: &'static str },
    /// An option that only tables with columns know.
    #[error("{file}: `{option}` applies to tables such as CSV files; this is {format}")]
    OptionNeedsCsv { file: String, option: &'static str, format: &'static str },
    /// An option that only files of other formats know.
    #[error("{file}: `{option}` applies to {needs}; this is {format}")]
    OptionNeeds { file: String, option: &'static str, needs: &'static str, format: &'static str },
    /// No column of that name or number; `columns` describes those there are.
    #[error("{file}: no column `{wanted}`; {columns}")]
    NoColumn { file: String, wanted: String, columns: String },
    /// No column with the name of which the model keeps a code; `number` is that of the training
    /// data, `others` are the columns that have none of the model's codes.
    #[error(
        "{file}: the model's column {number} is missing; the model keeps codes of names, not the \
         names{}",
        if others.is_empty() { String::new() }
        else { format!("; columns of the file that are none of the model's: {others}") }
    )]
    NoCodedColumn { file: String, number: usize, others: String },
    /// Two columns of the same name.
    #[error("{file}: columns {first} and {second} are both called `{name}`")]
    SameName { file: String, name: String, first: usize, second: usize },
    /// Two names that the model's notes do not tell apart.
    #[error(
        "{file}: the model, which keeps codes of names, cannot tell column `{first}` from \
         `{second}`; rename the one that it does not need"
    )]
    SameCode { file: String, first: String, second: String },
    /// A number that is a column's number and another column's name.
    #[error(
        "{file}: `{wanted}` is the number of column {numbered} and the name of column {named}; \
         counted from the last column they are -{} and -{}: say one of these",
        columns - numbered + 1, columns - named + 1
    )]
    NumberOrName { file: String, wanted: String, numbered: usize, named: usize, columns: usize },
    /// The target was asked for and the file has none.
    #[error("{file}: the target {target} is missing from the file")]
    NoTarget { file: String, target: String },
    /// The target is the only column that was not dropped.
    #[error("{file}: no inputs; the target is the only column left")]
    NoInputs { file: String },
    /// It cannot be told whether the first line is a header.
    #[error(
        "{place}: \"{text}\" is not a number, unlike the rest of its column, yet the line \
         does not look like a header; say whether it is one"
    )]
    HeaderUnclear { place: Place, text: String },
    /// A line longer than lines may be.
    #[error("{place}: a line of more than {MAX_LINE} bytes")]
    LineTooLong { place: Place },
    /// The first line is of numbers only, and yet unlike the others.
    #[error(
        "{place}: the line may be a header of numbers, or the first row; say whether it is a \
         header"
    )]
    HeaderOfNumbers { place: Place },
    /// A row with more or fewer fields than the first line.
    #[error("{place}: {}, where the first line has {expected}", counted(*found, "field"))]
    Ragged { place: Place, expected: usize, found: usize },
    /// Rows of another number of fields than the first line, which may be a comment.
    #[error("{place}: {}, where the first line, which begins with `#`, has {expected}", counted(*found, "field"))]
    Comment { place: Place, expected: usize, found: usize },
    /// Another number of columns than the training data had.
    #[error("{file}: {}, where the model was trained on {expected}", counted(*found, "column"))]
    ColumnCount { file: String, expected: usize, found: usize },
    /// A field of a numeric column or target that is no number.
    #[error("{place}: \"{text}\" is not a number")]
    NotANumber { place: Place, text: String },
    /// The numbers of a column have commas for points, where they are not read so.
    #[error(
        "{place}: \"{text}\" is a number with a {}, which is read between semicolons only",
        if are_thousands(text.as_bytes(), b',') { "comma, decimal or between thousands" }
        else { "decimal comma" }
    )]
    DecimalComma { place: Place, text: String },
    /// Nearly all of a column is numeric: more likely a slip than categories.
    #[error("{place}: \"{text}\" is not a number, but {numbers} other values of this column are")]
    MostlyNumbers { place: Place, text: String, numbers: usize },
    /// The same of the target.
    #[error(
        "{place}: the target \"{text}\" is not a number, but {numbers} other values of this column \
         are"
    )]
    TargetMostlyNumbers { place: Place, text: String, numbers: usize },
    /// An infinite number, or one beyond the range of `f32`.
    #[error("{place}: {text} is beyond the range of numbers, ±3.4e38")]
    OutOfRange { place: Place, text: String },
    /// A row's weight below 0.
    #[error("{place}: a weight of {text} is below 0")]
    NegativeWeight { place: Place, text: String },
    /// Weights that leave no row.
    #[error("{file}: the weights of all rows are 0")]
    NoWeight { file: String },
    /// A missing value where none is allowed.
    #[error("{place}: the value is missing{}", if *training { "" } else { ", and was never missing in the training data" })]
    MissingValue { place: Place, training: bool },
    /// A row without a weight.
    #[error("{place}: the weight is missing")]
    MissingWeight { place: Place },
    /// A column without a single value.
    #[error("{file}: {column} has no values")]
    NoValues { file: String, column: ColumnLabel },
    /// A text column or target with more distinct values than categories have.
    #[error(
        "{file}: {column} has more than {limit} distinct values{}",
        if *target { ", too many to be classes" } else { "" }
    )]
    TooManyValues { file: String, column: ColumnLabel, limit: usize, target: bool },
    /// A text column that is an input and tells rows apart: names, numbers of rows, times.
    #[error(
        "{file}: {column} has {values} different texts in {rows} rows: it tells these rows apart \
         and says nothing of others, as names and times do"
    )]
    Identifier { file: String, column: ColumnLabel, values: usize, rows: usize },
    /// A text column that is an input and has many numbers.
    #[error(
        "{file}: {column} has {values} different numbers, such as \"{text}\", as texts, which are \
         no categories: make them numbers"
    )]
    Numerals { file: String, column: ColumnLabel, values: usize, text: String },
    /// A text column of dates or times of day that is an input.
    #[error(
        "{file}: {column} has {} different dates or times, which are no categories: what they say \
         must be told by numbers, such as the hour of the day",
        if *values > MAX_VALUES { format!("more than {MAX_VALUES}") } else { values.to_string() }
    )]
    Times { file: String, column: ColumnLabel, values: usize },
    /// A text column that is an input and has numbers as they are not read, such as those with a
    /// unit.
    #[error(
        "{file}: {column} has {} different numbers {}, such as \"{text}\", which is text: {} they \
         are read as numbers",
        if *values > MAX_VALUES { format!("more than {MAX_VALUES}") } else { values.to_string() },
        Written::of(text).unwrap_or(Written::Unit).name(),
        Written::of(text).unwrap_or(Written::Unit).remedy()
    )]
    Units { file: String, column: ColumnLabel, values: usize, text: String },
    /// Bytes that are not UTF-8 where text is needed.
    #[error("{place}: not UTF-8 text")]
    NotUtf8 { place: Place },
    /// A row whose target is missing.
    #[error("{place}: the target is missing")]
    TargetMissing { place: Place },
    /// The class to tell from all others is none of the data's.
    #[error(
        "{file}: there is no class \"{class}\"{}",
        if classes.is_empty() { ": the target is numbers".to_owned() }
        else { format!("; the classes are: {classes}") }
    )]
    NoSuchClass { file: String, class: String, classes: String },
    /// A class that the training data did not have.
    #[error("{place}: class \"{text}\" is not among the model's classes: {classes}")]
    UnknownClass { place: Place, text: String, classes: String },
    /// A value that the header of the file does not declare.
    #[error("{place}: \"{text}\" is not among the declared values: {values}")]
    NotDeclared { place: Place, text: String, values: String },
    /// Nothing to tell apart.
    #[error("{file}: every row has the same class, \"{class}\"; classification needs two")]
    OneClass { file: String, class: String },
    /// The same, where the target is a column.
    #[error(
        "{file}: {column} is the target, and every row has the same class, \"{class}\"; \
         classification needs two"
    )]
    OneClassIn { file: String, column: ColumnLabel, class: String },
    /// A malformed line of an svmlight file.
    #[error("{place}: `{token}` {problem}")]
    Svmlight { place: Place, token: String, problem: String },
    /// A file that is not as its format demands.
    #[error("{file}: {problem}")]
    Malformed { file: String, problem: String },
    /// A line that is not as its format demands.
    #[error("{place}: {problem}")]
    MalformedLine { place: Place, problem: String },
    /// A folder without files to read.
    #[error("{file}: no data files in this folder; they are known by their ends: {ends}")]
    NoDataFiles { file: String, ends: String },
    /// One of several files is not like the first.
    #[error("{file}: {problem}, unlike {first}; files that are read as one must be alike")]
    Unlike { file: String, first: String, problem: String },
    /// A file that is given twice, perhaps by two names.
    #[error("{file}: the file is given twice, first as {first}")]
    Twice { file: String, first: String },
    /// A path that does not say what the label is.
    #[error("{file}: the path has no label as `{from}` would find it")]
    NoLabel { file: String, from: String },
    /// Overlapping windows that nothing keeps on one side of a split.
    #[error(
        "windows of {samples} samples every {stride} overlap; say what tells recordings apart, so \
         that none is on both sides of a split"
    )]
    Overlap { samples: usize, stride: usize },
    /// No recording is long enough.
    #[error(
        "{file}: no recording has the {samples} samples of a window: the longest of {recordings} \
         has {longest}; the rows of a recording must stand one after the other"
    )]
    NoWindows { file: String, samples: usize, recordings: u64, longest: usize },
    /// Options that exclude each other.
    #[error("{problem}")]
    Contradiction {
        problem: &'static str,
        /// The fields of [`ReadOptions`](super::ReadOptions) in question.
        options: &'static [&'static str],
    },
    /// Arrays of an archive that cannot stand side by side.
    #[error("{file}: arrays of different numbers of rows: {shapes}; some must be chosen")]
    UnevenArrays { file: String, shapes: String },
    /// A malformed idx file; `offset` counts bytes of the decompressed file.
    #[error("{file}: at byte {offset}: {problem}")]
    Idx { file: String, offset: u64, problem: String },
    /// No labels beside an idx file of images.
    #[error("{file}: no labels found; looked for {tried}")]
    NoLabels { file: String, tried: String },
    /// Another number of inputs than the model takes.
    #[error("{file}: {}, where the model takes {expected}", counted(*found, "input"))]
    Inputs { file: String, expected: usize, found: usize },
    /// A schema that contradicts itself or its model.
    #[error("data schema: {0}")]
    Schema(String),
    /// A split that leaves nothing to train on or asks for more than there is.
    #[error("cannot split {rows} rows: {problem}")]
    Split { rows: usize, problem: String },
    /// A target of so many different values that they are no classes; `what` they look like.
    #[error(
        "{file}: {column} is the target, and has {values} different {what} in {rows} rows, such as \
         \"{text}\": too many to be classes{}",
        Written::of(text).filter(|how| what.ends_with(how.name()))
            .map_or(String::new(), |how| format!("; {} they are numbers", how.remedy()))
    )]
    NoClasses {
        file: String,
        column: ColumnLabel,
        values: usize,
        rows: usize,
        what: String,
        text: String,
    },
    /// Most of what tells the rows apart is numbers, and some values are none: of an input, or of
    /// the target.
    #[error(
        "{place}: {}\"{text}\" is not a number, but {numbers} of the {values} values of this column \
         are",
        if *target { "the target " } else { "" }
    )]
    PartlyNumbers { place: Place, text: String, numbers: usize, values: usize, target: bool },
    /// A line of delimiters alone.
    #[error("{place}: the line has only empty fields: leave such lines out")]
    EmptyLine { place: Place },
    /// A row whose target is missing, where the last column was taken as the target.
    #[error("{place}: the target is missing: the last column was taken as the target")]
    LastMissing { place: Place },
    /// The first lines have another number of fields than one that comes soon.
    #[error(
        "{place}: {}, where line {first} has {expected}: the first lines may be a title, which is \
         no data",
        counted(*found, "field")
    )]
    Title { place: Place, first: u64, expected: usize, found: usize },
    /// A row with a field more than the first line, which is empty.
    #[error(
        "{place}: {}, where the first line has {expected}: the line ends in a delimiter",
        counted(*found, "field")
    )]
    DelimiterAtEnd { place: Place, expected: usize, found: usize },
    /// A line with another number of fields than the first one, which may be a comment.
    #[error(
        "{place}: {}, where the first line has {expected}, and the line begins with `#`",
        counted(*found, "field")
    )]
    CommentLine { place: Place, expected: usize, found: usize },
    /// A row that does not say which recording it is of.
    #[error("{place}: the group is missing")]
    MissingGroup { place: Place },
    /// Rows without a target were left out, and there are no others.
    #[error("{place}: the target is missing, as in every row")]
    NoTargets { place: Place },
    /// A text where the target is to be numbers.
    #[error("{place}: the target \"{text}\" is not a number, as regression needs")]
    TargetNotANumber { place: Place, text: String },
    /// Several columns that something is wrong with, each of them once, in order.
    #[error("{first}{}", also(others))]
    Columns { first: Box<DataError>, others: Vec<DataError> },
    /// Columns without a name, of which the order does not tell which is which.
    #[error(
        "{file}: {found} columns have no name in the header, and {expected} had none in training: \
         which of them is which cannot be told; write the columns as they were in training"
    )]
    Nameless { file: String, expected: usize, found: usize },
}

impl DataError {
    /// Columns that a message tells of beside the first.
    pub const TOLD: usize = 7;

    /// How many more columns there are than [`Self::TOLD`], on a line of its own.
    pub fn untold(others: &[DataError]) -> Option<String> {
        let more = others.len().checked_sub(Self::TOLD).filter(|&more| more > 0)?;
        Some(format!("also {}", counted(more, "other column")))
    }

    /// What is wrong with columns, if anything is.
    pub(crate) fn of_columns(mut refused: Vec<DataError>) -> Result<(), DataError> {
        match refused.len() {
            0 => Ok(()),
            1 => Err(refused.remove(0)),
            _ => Err(Self::Columns { first: Box::new(refused.remove(0)), others: refused }),
        }
    }
}

/// What is wrong with other columns, each on a line of its own.
fn also(others: &[DataError]) -> String {
    let told = others.iter().take(DataError::TOLD).map(|other| format!("also {other}"));
    told.chain(DataError::untold(others)).map(|line| format!("\n{line}")).collect()
}

/// So many of a thing.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The first of these names, for messages.
pub(crate) fn some_of<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut quoted: Vec<String> = names.take(9).map(|name| format!("`{name}`")).collect();
    if let Some(last) = quoted.get_mut(8) {
        *last = "...".to_owned();
    }
    quoted.join(", ")
}

/// The columns there are, for messages: all of a few, the closest of many.
pub(crate) fn describe_columns(wanted: &str, names: &[String]) -> String {
    const LISTED: usize = 8;
    let quote = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let mut named: Vec<&str> = names.iter().map(String::as_str).collect();
    named.retain(|name| !name.is_empty());
    if named.is_empty() {
        return format!("the columns are numbered 1 to {}", names.len());
    }
    // A number is that of a column, and like no name.
    if wanted.parse::<i64>().is_ok() && !named.iter().any(|name| name.parse::<i64>().is_ok()) {
        let few =
            if named.len() <= LISTED { format!(": {}", quote(&named)) } else { String::new() };
        return format!("the file has {} columns{few}", names.len());
    }
    let wanted = wanted.to_lowercase();
    // Similarity from 0 to 1, which favours a common beginning.
    let similarity = |name: &str| strsim::jaro_winkler(&wanted, &name.to_lowercase());
    named.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)));
    if named.len() <= LISTED {
        format!("there are {}", quote(&named))
    } else {
        format!("the closest of {} are {}", names.len(), quote(&named[..3]))
    }
}
