//! What is worth knowing of data that can be read all the same.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::{ColumnLabel, Place};
use super::no_categories::Written;

/// Part of a column's spread that rounding may change before it is told.
pub(crate) const ROUNDED: f64 = 1e-3;

/// Columns that one warning names.
const SHOWN: usize = 4;

/// What somebody who trains on the data should know.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DataWarning {
    /// A column with numbers that is read as text, since not all of it is.
    AsText {
        /// Where the first value that is no number stands.
        place: Place,
        /// That value.
        text: String,
        /// How many values are numbers.
        numbers: usize,
    },
    /// Numbers with more digits than `f32` has, where these digits tell the rows apart.
    Rounded {
        /// Where the number stands that is changed most.
        place: Place,
        /// That number.
        text: String,
        /// What is read.
        kept: f32,
        /// The difference as a part of the column's spread.
        share: f64,
    },
    /// A value that comes again, far from all others of a column.
    FarAway {
        /// The file, or the first of them.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// The value.
        value: f64,
        /// How many times it is there.
        count: usize,
        /// How many numbers the column has.
        numbers: usize,
        /// The least and the largest of the others.
        others: (f64, f64),
    },
    /// An input in a unit that is too small or too large for a model's input map.
    Unit {
        /// The file, or the first of them.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// The least and the largest value.
        range: (f64, f64),
    },
    /// A column that numbers the rows.
    Numbering {
        /// The file, or the first of them.
        file: String,
        /// The column.
        column: ColumnLabel,
    },
    /// A column whose numbers never fall from one row to the next.
    Rising {
        /// The file, or the first of them.
        file: String,
        /// The column.
        column: ColumnLabel,
    },
    /// A column without a value, which is left out: a last one without a name, or one where missing
    /// values are imputed.
    Nothing {
        /// The file, or the first of them.
        file: String,
        /// The column.
        column: ColumnLabel,
    },
    /// Recordings that are shorter than a window.
    Short {
        /// The file, or the first of them and how many more.
        file: String,
        /// All recordings.
        recordings: u64,
        /// Those that are too short.
        short: u64,
        /// Names of the first of these.
        names: Vec<String>,
        /// Samples of a window.
        samples: usize,
    },
    /// Windows of which most samples have missing values.
    Filled {
        /// The file, or the first of them and how many more.
        file: String,
        /// All windows.
        windows: u64,
        /// Those in question.
        filled: u64,
    },
    /// Files that hold the same bytes as others.
    Copy {
        /// The first such file.
        file: String,
        /// The one that it is like.
        first: String,
        /// How many files are like one before them.
        copies: usize,
    },
    /// Windows of several files, where nothing says what tells recordings apart.
    Ungrouped {
        /// The files.
        file: String,
    },
    /// Test rows that are training rows too.
    Twins {
        /// The files.
        file: String,
        /// All test rows.
        rows: usize,
        /// Those with the inputs of a training row.
        copies: usize,
    },
    /// Texts that a column does not list.
    Unlisted {
        /// The file, or the first of them and how many more.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// All rows.
        rows: u64,
        /// Those with such a text.
        unlisted: u64,
        /// One of these.
        text: String,
    },
    /// Samples at the ends of recordings, too few for another window, and between windows.
    Unused {
        /// The file, or the first of them and how many more.
        file: String,
        /// All samples.
        samples: u64,
        /// Those that are in no row.
        unused: u64,
    },
    /// A text column of numbers.
    Numerals {
        /// The file, or the first of them.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// How many different numbers it has.
        values: usize,
        /// One of them.
        text: String,
    },
    /// A column of texts or whole numbers each of which comes with one class, as those do that name
    /// recordings.
    OneClassEach {
        /// The file, or the first of them and how many more.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// How many different values it has.
        values: usize,
    },
    /// An index, as pandas writes it, which is left out: that of a Parquet file, or a first column
    /// of a text file without a name, with a different whole number in each row.
    Index {
        /// The file, or the first of them and how many more.
        file: String,
        /// The column.
        column: ColumnLabel,
    },
    /// As [`Self::FarAway`], of a target.
    FarTarget {
        /// The file, or the first of them and how many more.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// The value.
        value: f64,
        /// How often it is there.
        count: usize,
        /// All numbers of the column.
        numbers: usize,
        /// The least and the largest of the others.
        others: (f64, f64),
    },
    /// Two classes whose names differ in case only.
    CaseOnly {
        /// The file, or the first of them and how many more.
        file: String,
        /// The column.
        column: ColumnLabel,
        /// Their names.
        classes: [String; 2],
    },
    /// Files each of which has rows of one class, as recordings have.
    OneClassEachFile {
        /// The first file, and how many more.
        file: String,
        /// How many there are.
        files: usize,
    },
    /// Rows without a target, which are left out.
    NoTarget {
        /// Where the first of these targets is missing.
        place: Place,
        /// How many such rows there are.
        rows: u64,
    },
    /// A last line whose numbers are far larger than all others of their columns.
    Totals {
        /// The line.
        place: Place,
        /// In how many columns.
        columns: usize,
    },
    /// A header over rows for a model that has no names of columns.
    ByPosition {
        /// The file, or the first of them and how many more.
        file: String,
    },
    /// A column that training left out, since models without its inputs were better.
    LeftOut {
        /// The column.
        column: ColumnLabel,
        /// Inputs that it made: as many as it has different texts.
        inputs: usize,
    },
    /// Files each of which is a class of its own by its name, though names differ in a number only.
    Numbered {
        /// How many files there are.
        files: usize,
        /// The label of the first.
        label: String,
        /// A regular expression that takes the names without the numbers for labels.
        pattern: String,
        /// What that takes of the first.
        found: String,
        /// How many labels it finds.
        labels: usize,
    },
    /// Several columns of [`Self::Nothing`].
    NothingInSeveral {
        /// The file, or the first of them and how many more.
        file: String,
        /// The columns.
        columns: Vec<ColumnLabel>,
    },
    /// Rows that lack the column which tells recordings apart.
    NoGroup {
        /// The file, or the first of them and how many more.
        file: String,
        /// The column.
        column: ColumnLabel,
    },
}

impl DataWarning {
    /// What to say of columns without a value.
    pub(crate) fn of_nothing(file: &str, mut columns: Vec<ColumnLabel>) -> Option<Self> {
        let file = file.to_owned();
        match columns.len() {
            0 => None,
            1 => columns.pop().map(|column| Self::Nothing { file, column }),
            _ => Some(Self::NothingInSeveral { file, columns }),
        }
    }

    /// The same of a column that is the target.
    pub(crate) fn of_target(self) -> Self {
        match self {
            Self::FarAway { file, column, value, count, numbers, others } => {
                Self::FarTarget { file, column, value, count, numbers, others }
            }
            other => other,
        }
    }

    /// What to say of the names of a target's classes.
    pub(crate) fn of_classes(file: &str, column: &ColumnLabel, classes: &[String]) -> Option<Self> {
        let mut known = HashMap::new();
        let same = classes.iter().find_map(|class| {
            let other = known.insert(class.to_lowercase(), class)?;
            Some([other.clone(), class.clone()])
        })?;
        Some(Self::CaseOnly { file: file.to_owned(), column: column.clone(), classes: same })
    }
}

impl fmt::Display for DataWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsText { place, text, numbers } => write!(
                f,
                "{place}: \"{text}\" is not a number, so the column is read as text, though \
                 {numbers} of its values are numbers"
            ),
            Self::Rounded { place, text, kept, share } => write!(
                f,
                "{place}: {text} is read as {}, with the 24 bits that numbers have: off by {:.2} % \
                 of the column's spread; subtract an offset from the column to keep more",
                f64::from(*kept),
                100.0 * share
            ),
            Self::FarAway { file, column, value, count, numbers, others: (least, largest) } => {
                write!(
                    f,
                    "{file}: {column}: {count} of {numbers} values are {value}, far from the others \
                     ({least} to {largest}), which it makes hard to tell apart: if it stands for an \
                     unknown value, leave it empty"
                )
            }
            Self::Unit { file, column, range: (least, largest) } => write!(
                f,
                "{file}: {column}: values from {least:e} to {largest:e} are beyond what a model's \
                 input map tells apart: give the column in another unit"
            ),
            Self::Numbering { file, column } => write!(
                f,
                "{file}: {column} numbers the rows, and is an input: leave it out unless the \
                 numbers of new rows say something"
            ),
            Self::Rising { file, column } => write!(
                f,
                "{file}: {column} never falls from one row to the next, as times and counters do, \
                 and is an input: leave it out, or take differences, unless later rows lie in the \
                 same range"
            ),
            Self::Nothing { file, column } => {
                write!(f, "{file}: {column} has no value, and is left out")
            }
            Self::Short { file, recordings, short, names, samples } => {
                let more = if *short > names.len() as u64 { ", ..." } else { "" };
                write!(
                    f,
                    "{file}: {short} of {recordings} recordings are shorter than a window of \
                     {samples} samples and give no row: {}{more}",
                    names.join(", ")
                )
            }
            Self::Filled { file, windows, filled } => write!(
                f,
                "{file}: in {filled} of {windows} windows more than half of the samples have missing \
                 values, for which medians stand in"
            ),
            Self::Copy { file, first, copies } => {
                let others = match copies {
                    0 | 1 => String::new(),
                    2 => ", and another file is such a copy".to_owned(),
                    _ => format!(", and {} other files are such copies", copies - 1),
                };
                write!(
                    f,
                    "{file}: holds the same bytes as {first}{others}: rows that are trained on and \
                     tested on make the error too good"
                )
            }
            Self::Ungrouped { file } => write!(
                f,
                "{file}: windows of one file are on both sides of splits, so the error says little \
                 of other recordings: `--group file`, or `--group COLUMN` where a column tells them \
                 apart, keeps each on one side"
            ),
            Self::Twins { file, rows, copies } => write!(
                f,
                "{file}: {copies} of {rows} test rows have the inputs of a training row: if they are \
                 copies, the error is too good"
            ),
            Self::Unlisted { file, column, rows, unlisted, text } => write!(
                f,
                "{file}: {column}: {unlisted} of {rows} rows have {}",
                match text.as_str() {
                    "" => "no value, which is taken as none of its values: right for models that \
                           were trained on such rows"
                        .to_owned(),
                    text => format!(
                        "a value that training did not, such as \"{text}\": none of the column's \
                         inputs stands for it"
                    ),
                }
            ),
            Self::Unused { file, samples, unused } => write!(
                f,
                "{file}: {unused} of {samples} samples are in no window, at the ends of recordings or \
                 between windows"
            ),
            Self::OneClassEach { file, column, values } => write!(
                f,
                "{file}: each of the {values} values of {column} comes with one class only: if its \
                 rows are of one recording, the error is too good: make the column the groups of \
                 the rows (`--group`, or `groups` in Python), which are kept together, or leave it out"
            ),
            Self::OneClassEachFile { file, files } => write!(
                f,
                "{file}: each of the {files} files has rows of one class only: if a file is a \
                 recording, what is judged on other rows of it is judged too well: `--group file` \
                 keeps the rows of a file together"
            ),
            Self::Numerals { file, column, values, text } => write!(
                f,
                "{file}: {column} has {values} different numbers{}, such as \"{text}\", as texts, and \
                 each of them is an input: make them numbers if they are no categories",
                Written::of(text).map_or(String::new(), |how| format!(" {}", how.name()))
            ),
            Self::Index { file, column } => write!(
                f,
                "{file}: {column} is an index, as pandas writes it, and is left out; name it as the \
                 target, the group or a text to use it"
            ),
            Self::FarTarget { file, column, value, count, numbers, others: (least, largest) } => {
                write!(
                    f,
                    "{file}: {column}: {count} of {numbers} targets are {value}, far from the others \
                     ({least} to {largest}): if it stands for an unknown value, leave these rows out"
                )
            }
            Self::NoTarget { place, rows } => {
                let others = match rows {
                    0 | 1 => "the row is".to_owned(),
                    2 => "the row and another one are".to_owned(),
                    _ => format!("the row and {} others are", rows - 1),
                };
                write!(f, "{place}: the target is missing: {others} left out")
            }
            Self::Totals { place, columns } => write!(
                f,
                "{place}: the last line, and {columns} columns have a number in it that is many times \
                 as large as all others: if it is a line of totals, delete it"
            ),
            Self::NoGroup { file, column } => write!(
                f,
                "{file}: {column} is missing, which tells recordings apart: windows may reach from \
                 one into the next"
            ),
            Self::ByPosition { file } => write!(
                f,
                "{file}: the model has no names of columns: those of the file are taken in the order \
                 that they had in training"
            ),
            Self::CaseOnly { file, column, classes: [one, other] } => write!(
                f,
                "{file}: {column}: the classes \"{one}\" and \"{other}\" differ in case only: if they \
                 are one, give them one name"
            ),
            Self::LeftOut { column, inputs } => write!(
                f,
                "{column} is left out: its {inputs} different texts are an input each, and a short \
                 search found clearly better models without them"
            ),
            Self::Numbered { files, label, pattern, found, labels } => write!(
                f,
                "each of the {files} files is a class of its own, such as `{label}`: if the numbers \
                 are of recordings, `--label-from '{pattern}'` takes the names without them for the \
                 {labels} classes, such as `{found}`"
            ),
            Self::NothingInSeveral { file, columns } => {
                let shown: Vec<String> =
                    columns.iter().take(SHOWN).map(ToString::to_string).collect();
                let (shown, count) = (shown.join(", "), columns.len());
                let more = if count > SHOWN { ", ..." } else { "" };
                write!(f, "{file}: {count} columns have no value, and are left out: {shown}{more}")
            }
        }
    }
}
