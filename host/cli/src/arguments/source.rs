//! The data that commands read.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use koan_data::{Format, LabelFrom, Missing, ReadOptions, Task, Window, expand, labels_beside};
use koan_trainer::TrainOptions;

use super::values::{column, delimiter, samples, yes_no};

/// How data files are read.
#[derive(Debug, Args)]
pub struct Reading {
    /// Whether the first line of a CSV file is a header [default: guessed]
    #[arg(long, value_name = "yes|no", value_parser = yes_no)]
    pub header: Option<bool>,
    /// Byte between fields of a CSV file [default: guessed]
    #[arg(long, value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Labels of an idx images file [default: the file beside it], or of an npy
    /// array
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Pass over lines of a CSV file that begin with this byte
    #[arg(long, value_parser = delimiter)]
    pub comment: Option<u8>,
    /// Arrays of an npz file to read, in this order [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub arrays: Vec<String>,
    /// Take the label from the path of the file: `file` (its name up to the first
    /// dot), `folder`, or a regular expression with a (group)
    #[arg(long, value_name = "PART")]
    pub label_from: Option<LabelFrom>,
}

impl Reading {
    /// The files, and those of labels that are read with them.
    pub fn with_labels(&self, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
        let beside: Vec<PathBuf> = files.iter().filter_map(|file| labels_beside(file)).collect();
        files.extend(self.labels.clone());
        files.extend(beside);
        files
    }

    /// The files, which have this format, and those of labels that are read with them.
    pub fn labelled(&self, files: &[PathBuf], format: Format) -> Vec<PathBuf> {
        labelled(files, self.labels.as_deref(), format)
    }

    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            header: self.header,
            delimiter: self.delimiter,
            labels: self.labels.clone(),
            comment: self.comment,
            arrays: self.arrays.clone(),
            label_from: self.label_from.clone(),
            ..ReadOptions::default()
        }
    }
}

/// The data to train on and to test with, and what they mean.
#[derive(Debug, Args)]
pub struct Source {
    /// Training data: CSV, TSV, ARFF, PROBEN1, npy, npz, Parquet, svmlight or idx
    /// images, also gzipped; several tables, or a folder of them, are read as one
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Test data, also several files; without it, part of the training data is
    /// held out
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub test: Vec<PathBuf>,
    /// Rows to train on; the others are the test rows
    #[arg(long, value_name = "ROWS", conflicts_with = "test")]
    pub train_rows: Option<usize>,
    /// Part of the rows to hold out for the test [default: 0.2, or what a PROBEN1
    /// file says]
    #[arg(allow_negative_numbers = true, long, conflicts_with_all = ["test", "train_rows"])]
    pub test_fraction: Option<f64>,

    /// Target column: its name, or its number from 1; -1 is the last column [default: the last]
    #[arg(allow_negative_numbers = true, long, value_name = "COLUMN", help_heading = "Data")]
    pub target: Option<String>,
    /// What the outputs are: the target, a class or a number [default: guessed],
    /// or, without looking at the target, coordinates or whether a row is normal
    #[arg(long, help_heading = "Data")]
    pub task: Option<TaskName>,
    /// Anomaly: the class of the normal rows [default: all rows are normal, no column is a target]
    #[arg(
        allow_negative_numbers = true,
        long,
        value_name = "CLASS",
        conflicts_with = "positive",
        help_heading = "Data"
    )]
    pub normal: Option<String>,
    /// Train a two-class model: this class against the rest
    #[arg(allow_negative_numbers = true, long, value_name = "CLASS", help_heading = "Data")]
    pub positive: Option<String>,
    /// What to do about missing values
    #[arg(long, default_value = "refuse", help_heading = "Data")]
    pub missing: MissingName,
    /// Columns not to use, by name or number; -1 is the last column
    #[arg(
        allow_hyphen_values = true,
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        value_parser = column,
        help_heading = "Data"
    )]
    pub drop: Vec<String>,
    /// Number columns to take as text: one input for each value
    #[arg(
        allow_hyphen_values = true,
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        value_parser = column,
        help_heading = "Data"
    )]
    pub text: Vec<String>,
    /// Labels of an idx or npy test file [default for idx: the file beside it]
    #[arg(long, value_name = "FILE", requires = "test", help_heading = "Data")]
    pub test_labels: Option<PathBuf>,
    /// Arrays of an npz test file [default: those of --arrays]
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        requires = "test",
        help_heading = "Data"
    )]
    pub test_arrays: Vec<String>,
    /// What tells recordings apart: a column, or `file`; no recording is on both
    /// sides of a split [default for windows of several files: `file`, if each class
    /// is in three of them]
    #[arg(allow_negative_numbers = true, long, value_name = "COLUMN", help_heading = "Data")]
    pub group: Option<String>,
    /// Make rows of windows of so many consecutive samples
    #[arg(long, value_name = "SAMPLES", value_parser = samples, help_heading = "Data")]
    pub window: Option<usize>,
    /// Samples from one window to the next [default: those of a window]
    #[arg(
        long,
        value_name = "SAMPLES",
        value_parser = samples,
        requires = "window",
        help_heading = "Data"
    )]
    pub stride: Option<usize>,
    /// Column that says how much each row counts, from 0; it is no input
    #[arg(allow_negative_numbers = true, long, value_name = "COLUMN", help_heading = "Data")]
    pub weights: Option<String>,
    /// Weights of the classes; those of rows, if any, are scaled by them
    #[arg(long, default_value = "equal-rows", help_heading = "Data")]
    pub class_weights: ClassWeights,
    /// Seed of the model and of the split
    #[arg(short, long, default_value_t = 1, help_heading = "Model")]
    pub seed: u64,
    #[command(flatten, next_help_heading = "Data")]
    pub reading: Reading,
}

impl Source {
    /// Whether the task is to tell the target.
    pub fn has_target(&self) -> bool {
        !matches!(self.task, Some(TaskName::Anomaly | TaskName::Embedding))
    }

    /// Whether no column is a target: rows are normal or not by their inputs alone.
    fn unlabelled(&self) -> bool {
        matches!(self.task, Some(TaskName::Anomaly))
            && self.normal.is_none()
            && self.target.is_none()
    }

    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            target: self.target.clone(),
            unlabelled: self.unlabelled(),
            task: self.task.and_then(|task| match task {
                TaskName::Classification => Some(Task::Classification),
                TaskName::Regression => Some(Task::Regression),
                TaskName::Anomaly if self.normal.is_some() => Some(Task::Classification),
                TaskName::Embedding | TaskName::Anomaly => None,
            }),
            positive: self.positive.clone().or_else(|| self.normal.clone()),
            one_class: matches!(self.task, Some(TaskName::Anomaly)),
            missing: match self.missing {
                MissingName::Refuse => Missing::Refuse,
                MissingName::Impute => Missing::Impute,
            },
            drop: self.drop.clone(),
            text: self.text.clone(),
            group: self.group.clone(),
            weights: self.weights.clone(),
            window: self
                .window
                .map(|samples| Window { samples, stride: self.stride.unwrap_or(samples) }),
            ..self.reading.options()
        }
    }

    /// All files that will be read.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.reading.with_labels(expand(&self.data)?);
        files.extend(self.reading.with_labels(expand(&self.test)?));
        files.extend(self.test_labels.clone());
        Ok(files)
    }

    /// The test files, which have this format, and those of labels that are read with them.
    pub fn labelled_tests(&self, format: Format) -> Result<Vec<PathBuf>> {
        Ok(labelled(&expand(&self.test)?, self.test_labels.as_deref(), format))
    }

    /// How to read the test data.
    pub fn test_options(&self) -> ReadOptions {
        for_tests(self.read_options(), &self.test, self.test_labels.as_deref(), &self.test_arrays)
    }

    /// Options that say what is trained for; the model is left open.
    pub(super) fn base_options(&self) -> TrainOptions {
        TrainOptions {
            seed: self.seed,
            balanced: self.class_weights == ClassWeights::Balanced,
            ..TrainOptions::default()
        }
    }
}

/// The files with those of labels: the one that is named, or those beside idx images.
fn labelled(files: &[PathBuf], labels: Option<&Path>, format: Format) -> Vec<PathBuf> {
    let beside = || files.iter().filter_map(|file| labels_beside(file)).collect();
    let labels = match labels {
        Some(labels) => vec![labels.to_owned()],
        None if format == Format::Idx => beside(),
        None => Vec::new(),
    };
    [files, &labels].concat()
}

/// How test files are read, where the rows to train on are read by `options`.
pub fn for_tests(
    options: ReadOptions,
    files: &[PathBuf],
    labels: Option<&Path>,
    arrays: &[String],
) -> ReadOptions {
    let mut options = ReadOptions { labels: labels.map(Path::to_owned), ..options };
    // Those of the training go with an archive alone.
    if !arrays.is_empty() || !files.iter().all(|file| may_be_archive(file)) {
        options.arrays = arrays.to_vec();
    }
    options
}

/// Whether a file may be a zip archive, such as npz: one that does not begin as those do, nor is
/// compressed, is none. Of pipes and folders it is not known.
fn may_be_archive(path: &Path) -> bool {
    let mut first = [0; 2];
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut first));
    !path.is_file() || read().is_err() || [*b"PK", [0x1f, 0x8b]].contains(&first)
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TaskName {
    Classification,
    Regression,
    /// Principal components of the features
    Embedding,
    /// Whether a row is like the normal ones
    Anomaly,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MissingName {
    /// A missing value is an error
    Refuse,
    /// The column's median stands in; a missing text is none of the values; columns without a value
    /// are left out, and rows without a target where --target names it
    Impute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClassWeights {
    /// Every row counts the same
    EqualRows,
    /// Every class counts the same
    Balanced,
}
