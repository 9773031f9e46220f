//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use koan::Law;
use koan_trainer::data::{LabelFrom, Missing, ReadOptions, Shape, Task, Window};
use koan_trainer::normalise::Kind;
use koan_trainer::plan::GroupPlan;
use koan_trainer::reproduce::Experiment;
use koan_trainer::solve::Loss;
use koan_trainer::tune::{self, Core, Limits, Metric, Space, TuneOptions};
use koan_trainer::{ConvOptions, FamilyName, Goal, Pooling, TrainOptions};

use crate::device::Device;

/// Machine-learning models that are a seed and a few weights.
#[derive(Debug, Parser)]
#[command(name = "koan", version, about)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train every family on handwritten digits and show what comes out
    Demo(Demo),
    /// Train a model on a table of data and write it to a file
    Train(Box<Train>),
    /// Search for the best models within limits of flash, RAM and instructions
    Tune(Box<Tune>),
    /// Judge a model on data with known targets
    Eval(Eval),
    /// Predict rows, one line out for each row in
    Predict(Predict),
    /// Stream rows through a device and compare every score with the host's
    Device(Device),
    /// Write the codes of rows, or the rows whose codes are nearest
    Codes(Codes),
    /// Find the best model under so many bytes, like one that was trained
    Shrink(Shrink),
    /// Show everything that is in a model
    Inspect(Inspect),
    /// Run the papers' experiments and print paper beside Koan
    Reproduce(Reproduce),
}

#[derive(Debug, Args)]
pub struct Reproduce {
    /// Folder of the data sets; those that are not there are skipped by name
    #[arg(long, value_name = "FOLDER")]
    pub data: PathBuf,
    /// Also what takes long
    #[arg(long)]
    pub full: bool,
    /// Only these experiments
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub only: Vec<Experiment>,
    /// Write tables and figures as an HTML page
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Seed of splits and models
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Where to write the best model
    #[arg(short, long, default_value = "digits.koan")]
    pub output: PathBuf,
    /// Also write the test images as rows of 64 pixels and the digit
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Also write the training images likewise
    #[arg(long, value_name = "FILE")]
    pub train_rows: Option<PathBuf>,
    /// Seed of the split and of the models
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

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
    #[arg(long, conflicts_with_all = ["test", "train_rows"])]
    pub test_fraction: Option<f64>,

    /// Target column: its name, or its number from 1 [default: the last column]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub target: Option<String>,
    /// What the outputs are: the target, a class or a number [default: guessed],
    /// or, without looking at the target, coordinates or whether a row is normal
    #[arg(long, help_heading = "Data")]
    pub task: Option<TaskName>,
    /// Anomaly: the class of the normal rows [default: all rows are normal]
    #[arg(long, value_name = "CLASS", conflicts_with = "positive", help_heading = "Data")]
    pub normal: Option<String>,
    /// Tell this class from all the others
    #[arg(long, value_name = "CLASS", help_heading = "Data")]
    pub positive: Option<String>,
    /// What to do about missing values
    #[arg(long, default_value = "refuse", help_heading = "Data")]
    pub missing: MissingName,
    /// Columns not to use, by name or number
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Data")]
    pub drop: Vec<String>,
    /// Number columns to take as text: one input for each value
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Data")]
    pub text: Vec<String>,
    /// Labels of an idx or npy test file [default for idx: the file beside it]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub test_labels: Option<PathBuf>,
    /// Arrays of an npz test file [default: those of --arrays]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Data")]
    pub test_arrays: Vec<String>,
    /// What tells recordings apart: a column, or `file`; no recording is on both
    /// sides of a split
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub group: Option<String>,
    /// Make rows of windows of so many consecutive samples
    #[arg(long, value_name = "SAMPLES", help_heading = "Data")]
    pub window: Option<usize>,
    /// Samples from one window to the next [default: those of a window]
    #[arg(long, value_name = "SAMPLES", requires = "window", help_heading = "Data")]
    pub stride: Option<usize>,
    /// Column that says how much each row counts, from 0; it is no input
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
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

#[derive(Debug, Args)]
pub struct Train {
    #[command(flatten)]
    pub source: Source,
    /// Where to write the model
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Cross-validate in so many parts; the model is then trained on all rows
    #[arg(long, value_name = "PARTS", conflicts_with_all = ["test", "train_rows", "test_fraction"])]
    pub folds: Option<usize>,

    /// Whether to read the files block by block instead of into memory
    /// [default: files of 1 GB and more together]
    #[arg(long, value_name = "yes|no", value_parser = yes_no, help_heading = "Streaming")]
    pub stream: Option<bool>,
    /// Rows of the random sample that everything but the weights is chosen on
    #[arg(long, value_name = "ROWS", default_value_t = 60_000, help_heading = "Streaming")]
    pub sample_rows: usize,
    /// Where a killed training finds what it had done [default: the output with
    /// `.checkpoint` after its name]
    #[arg(long, value_name = "FILE", help_heading = "Streaming")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds from one checkpoint to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 30, help_heading = "Streaming")]
    pub checkpoint_every: u64,

    /// Families, one bank for each (several: a sum of kernels) [default: searched if
    /// nothing below is given, else fourier]
    #[arg(long, value_delimiter = ',', help_heading = "Model")]
    pub family: Vec<FamilyName>,
    /// Bytes of the model, at most; k is 1024. Family, features and bits that are not
    /// given are searched [default: 2k if nothing below is given]
    #[arg(long, value_name = "BYTES", value_parser = bytes,
          conflicts_with_all = ["features", "box_c", "groups", "pool", "shared_pool", "slot_bits"],
          help_heading = "Model")]
    pub flash: Option<usize>,
    /// Law of the random draws [default: by family and number of inputs]
    #[arg(long, help_heading = "Model")]
    pub projection: Option<LawArgument>,
    /// Features of each bank; grids for bins [default: 512; 50 grids; 64 filters]
    #[arg(short = 'k', long, value_name = "K", value_delimiter = ',', help_heading = "Model")]
    pub features: Vec<u16>,
    /// Features of each bank to choose the best K from; the model lists which
    /// [default: the first K, without a list]
    #[arg(long, value_name = "N", help_heading = "Model",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub candidates: Option<u16>,
    /// Bits of a weight [default: 4 for classes, 8 for numbers]
    #[arg(short, long, value_parser = bits, value_name = "2|3|4|8|16", help_heading = "Model")]
    pub bits: Option<u8>,
    /// Bandwidths relative to the spread of the data [default: searched]
    #[arg(long, value_delimiter = ',', help_heading = "Model")]
    pub bandwidth: Vec<f64>,
    /// What the head minimises
    #[arg(long, default_value = "squared", help_heading = "Model")]
    pub loss: Loss,
    /// Keep every weight within ±C/K, features being at most 1
    #[arg(long = "box", value_name = "C", help_heading = "Model")]
    pub box_c: Option<f64>,
    /// Penalty on squared weights, relative to a feature's variance; in rows for bins
    /// [default: searched]
    #[arg(long, help_heading = "Model")]
    pub lambda: Option<f64>,
    /// Input map [default: chosen on held-out rows]
    #[arg(long, help_heading = "Model")]
    pub map: Option<Kind>,
    /// Learn a bandwidth for every input [default: where it helps]
    #[arg(long, value_name = "yes|no", value_parser = yes_no, help_heading = "Model")]
    pub relevance: Option<bool>,
    /// Maxout: projections of a unit
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..),
          help_heading = "Model")]
    pub pool: u8,
    /// Maxout: projections that all units share [default: each has its own]
    #[arg(long, default_value_t = 0, hide_default_value = true, help_heading = "Model")]
    pub shared_pool: u16,
    /// Bin: cells of a grid are 2 to this power
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=12),
          help_heading = "Model")]
    pub slot_bits: u8,
    /// Conv: what a row is, HEIGHTxWIDTHxCHANNELS or LENGTHxCHANNELS [default: as idx
    /// images and windows have it]
    #[arg(long, value_name = "SIZES", help_heading = "Convolution")]
    pub shape: Option<Shape>,
    /// Conv: taps of a filter in each direction [default: 3 to 7 by the image; 9 for
    /// series]
    #[arg(long, value_name = "TAPS", value_parser = clap::value_parser!(u8).range(1..),
          help_heading = "Convolution")]
    pub kernel: Option<u8>,
    /// Conv: pixels or samples from a position of a filter to the next [default: 1]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u8).range(1..=15),
          help_heading = "Convolution")]
    pub filter_stride: Option<u8>,
    /// Conv: cells in each direction that a filter's values are pooled in [default: 4 for
    /// images, 1 for series]
    #[arg(long, value_name = "CELLS", value_parser = clap::value_parser!(u8).range(1..),
          help_heading = "Convolution")]
    pub grid: Option<u8>,
    /// Conv: what becomes of a filter's values in a cell
    #[arg(long, default_value = "average", help_heading = "Convolution")]
    pub pooling: Pooling,
    /// Conv: dilate filters by powers of two
    #[arg(long, help_heading = "Convolution")]
    pub dilated: bool,
    /// Groups of inputs for a product of kernels, INPUTS:LAW[:BANDWIDTH],...
    #[arg(long, value_delimiter = ',', value_parser = group, help_heading = "Model")]
    pub groups: Vec<GroupPlan>,
    /// Add the inputs themselves, a linear term
    #[arg(long, help_heading = "Model")]
    pub linear: bool,
    /// Embedding: coordinates, principal components of the features
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..),
          help_heading = "Model")]
    pub outputs: u8,
    /// Anomaly: share of normal rows that may be called anomalies
    #[arg(long, value_name = "RATE", default_value_t = 0.01, help_heading = "Model")]
    pub false_alarm: f64,
    /// Rows to put into the model with their exact scores, for self tests
    #[arg(long, default_value_t = 0, help_heading = "Output")]
    pub golden_rows: usize,
    /// Leave the names of columns out of the model; match them by position
    #[arg(long, help_heading = "Output")]
    pub no_column_names: bool,
    /// Also write a page with plots: errors, reliability, curves over features,
    /// bits and rows, the data's facts, and how to repeat it
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print the report as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Tune {
    #[command(flatten)]
    pub source: Source,
    /// Folder for the models of the front, one file for each
    #[arg(short, long, value_name = "FOLDER", default_value = "tuned")]
    pub output: PathBuf,

    /// Bytes of the model, at most [default: 4k]; k is 1024. The runtime's code
    /// comes on top
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    pub flash: Option<usize>,
    /// Bytes of the predictor's buffers, at most, as `koan inspect` prints them;
    /// k is 1024. The stack comes on top
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    pub ram: Option<usize>,
    /// Instructions of a prediction, at most, as predicted for the core; k is
    /// 1000, m a million
    #[arg(long, value_name = "COUNT", value_parser = count, help_heading = "Limits")]
    pub instructions: Option<u64>,
    /// The core that instructions are predicted for
    #[arg(long, default_value = "cortex-m0", help_heading = "Limits")]
    pub core: Core,

    /// What is made best
    #[arg(long, default_value = "error", help_heading = "Search")]
    pub metric: Metric,
    /// Minutes that the search plans for, and at which it ends
    #[arg(long, default_value_t = 5.0, value_parser = minutes, help_heading = "Search")]
    pub minutes: f64,

    /// Carry out all that is planned for the minutes, however long it takes: the same
    /// result on every machine
    #[arg(long, help_heading = "Search")]
    pub no_clock: bool,
    /// Families to choose from [default: all but conv]
    #[arg(long, value_delimiter = ',', help_heading = "Search")]
    pub family: Vec<FamilyName>,
    /// Law of the random draws [default: searched]
    #[arg(long, help_heading = "Search")]
    pub projection: Option<LawArgument>,
    /// Bits of a weight [default: searched]
    #[arg(short, long, value_parser = bits, value_name = "2|3|4|8|16", help_heading = "Search")]
    pub bits: Option<u8>,
    /// Input map [default: searched]
    #[arg(long, help_heading = "Search")]
    pub map: Option<Kind>,
    /// Learn a bandwidth for every input [default: searched]
    #[arg(long, value_name = "yes|no", value_parser = yes_no, help_heading = "Search")]
    pub relevance: Option<bool>,

    /// Rows to put into the models with their exact scores, for self tests
    #[arg(long, default_value_t = 0, help_heading = "Output")]
    pub golden_rows: usize,
    /// Leave the names of columns out of the models [default: if they take more
    /// than a tenth of the flash]
    #[arg(long, help_heading = "Output")]
    pub no_column_names: bool,
    /// Write a page with the front as a plot
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl Tune {
    /// What is to be searched, and within what.
    pub fn tune_options(&self) -> TuneOptions {
        let given = self.family.clone();
        TuneOptions {
            space: Space {
                base: TrainOptions {
                    projection: self.projection.map(LawArgument::law),
                    bits: self.bits,
                    map: self.map,
                    relevance: self.relevance,
                    golden_rows: self.golden_rows,
                    column_names: !self.no_column_names,
                    ..self.source.base_options()
                },
                families: if given.is_empty() { tune::FAMILIES.to_vec() } else { given },
                short: false,
            },
            limits: Limits {
                flash: self.flash.unwrap_or(tune::FLASH),
                ram: self.ram,
                instructions: self.instructions,
                core: self.core,
            },
            metric: self.metric,
            time: Duration::from_secs_f64(60.0 * self.minutes),
            clock: !self.no_clock,
        }
    }
}

#[derive(Debug, Args)]
pub struct Eval {
    /// The model
    pub model: PathBuf,
    /// Data with targets
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// Also write a page with plots of the predictions
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Predict {
    /// The model
    pub model: PathBuf,
    /// Rows to predict; standard input if it is left out or `-`
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// What to write
    #[arg(long, default_value = "csv")]
    pub format: PredictFormat,
    /// Write the probability of every class too
    #[arg(long)]
    pub probabilities: bool,
    /// Write the exact integer scores too
    #[arg(long)]
    pub scores: bool,
}

#[derive(Debug, Args)]
pub struct Codes {
    /// A model with maxout units or bins
    pub model: PathBuf,
    /// Rows, as they were trained on
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// For each row the N rows with the nearest codes, `row:distance`, instead
    /// of its own code
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub nearest: Option<u32>,
    /// Rows to look for the nearest in [default: the other rows of the data]
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "nearest")]
    pub among: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Shrink {
    /// The model: its inputs, families and bandwidths are taken over
    pub model: PathBuf,
    /// What it was trained on
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Bytes that the new model may have; several sizes make a model each, from the
    /// same pools
    #[arg(long, value_name = "BYTES", required = true, value_delimiter = ',', value_parser = bytes)]
    pub flash: Vec<usize>,
    /// Where to write the new model; of several sizes each has its bytes in the name:
    /// m.koan becomes m-900.koan
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Test data, only looked at in the end [default: the part of the data that
    /// `koan train` held out]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub test: Vec<PathBuf>,
    /// Part of the rows to hold out for the test
    #[arg(long, default_value_t = 0.2, conflicts_with = "test")]
    pub test_fraction: f64,
    /// Bits of a weight to try [default: 2, 3, 4 for classes, 3, 4, 8 for numbers]
    #[arg(short, long, value_parser = bits, value_delimiter = ',')]
    pub bits: Vec<u8>,
    /// Features of the pools to keep the best of [default: by the size]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    pub candidates: Vec<u16>,
    /// What the head minimises [default: logistic for classes]
    #[arg(long)]
    pub loss: Option<Loss>,
    /// Try other seeds for so long
    #[arg(long, default_value_t = 0.0)]
    pub minutes: f64,
    #[command(flatten)]
    pub reading: Reading,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Inspect {
    /// The model
    pub model: PathBuf,
    /// Print one JSON object
    #[arg(long, conflicts_with = "hex")]
    pub json: bool,
    /// Print the bytes, field by field
    #[arg(long)]
    pub hex: bool,
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
    /// The column's median stands in; a missing text is none of the values
    Impute,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ClassWeights {
    /// Every row counts the same
    EqualRows,
    /// Every class counts the same
    Balanced,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PredictFormat {
    Csv,
    /// One JSON object a line
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LawArgument {
    /// dense normal weights (Gaussian kernel)
    Gaussian,
    /// dense Cauchy weights (Laplacian kernel)
    Cauchy,
    /// weights of ±1
    Sign,
    /// random signs and a fast transform
    Hadamard,
    /// stump thresholds from the normal law
    Normal,
    /// stump thresholds from the uniform law
    Uniform,
    /// grid pitches (Laplacian kernel)
    Gamma2,
}

impl LawArgument {
    fn law(self) -> Law {
        match self {
            Self::Gaussian => Law::Gaussian,
            Self::Cauchy => Law::Cauchy,
            Self::Sign => Law::Sign,
            Self::Hadamard => Law::Hadamard,
            Self::Normal => Law::Normal,
            Self::Uniform => Law::Uniform,
            Self::Gamma2 => Law::Gamma2,
        }
    }
}

impl Source {
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            target: self.target.clone(),
            task: self.task.and_then(|task| match task {
                TaskName::Classification => Some(Task::Classification),
                TaskName::Regression => Some(Task::Regression),
                TaskName::Anomaly if self.normal.is_some() => Some(Task::Classification),
                TaskName::Embedding | TaskName::Anomaly => None,
            }),
            positive: self.positive.clone().or_else(|| self.normal.clone()),
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

    /// How to read the test data.
    pub fn test_options(&self) -> ReadOptions {
        let labels = self.test_labels.clone();
        let mut options = ReadOptions { labels, ..self.read_options() };
        if !self.test_arrays.is_empty() {
            options.arrays.clone_from(&self.test_arrays);
        }
        options
    }

    /// Options that say what is trained for; the model is left open.
    fn base_options(&self) -> TrainOptions {
        TrainOptions {
            seed: self.seed,
            balanced: matches!(self.class_weights, ClassWeights::Balanced),
            ..TrainOptions::default()
        }
    }
}

impl Train {
    /// The bytes within which family, features and bits are to be searched; none
    /// where they are given, or where nothing could be searched.
    pub fn searched(&self) -> Option<usize> {
        let target = !matches!(self.source.task, Some(TaskName::Embedding | TaskName::Anomaly));
        let open = self.family.is_empty()
            && self.projection.is_none()
            && self.features.is_empty()
            && self.bits.is_none()
            && self.bandwidth.is_empty()
            && self.lambda.is_none()
            && self.loss == Loss::Squared
            && self.box_c.is_none()
            && self.map.is_none()
            && self.relevance.is_none()
            && self.groups.is_empty()
            && !self.linear;
        self.flash.or((target && open).then_some(tune::USUAL_FLASH))
    }

    /// Families to search.
    pub fn families(&self) -> Vec<FamilyName> {
        match self.family.as_slice() {
            [] => tune::FAMILIES.to_vec(),
            given => given.to_vec(),
        }
    }

    pub fn train_options(&self) -> TrainOptions {
        TrainOptions {
            goal: match self.source.task {
                Some(TaskName::Embedding) => Goal::Embed { outputs: self.outputs },
                Some(TaskName::Anomaly) => Goal::Detect {
                    // The class that is told from the others is the second one.
                    normal: self.source.normal.as_ref().map(|_| 1),
                    false_alarm: self.false_alarm,
                },
                _ => Goal::Predict,
            },
            loss: self.loss,
            box_c: self.box_c,
            families: match self.family.as_slice() {
                [] => vec![FamilyName::Fourier],
                given => given.to_vec(),
            },
            projection: self.projection.map(LawArgument::law),
            features: self.features.clone(),
            candidates: self.candidates,
            bits: self.bits,
            bandwidth: if self.bandwidth.is_empty() { None } else { Some(self.bandwidth.clone()) },
            lambda: self.lambda,
            map: self.map,
            relevance: self.relevance,
            pool: self.pool,
            shared: self.shared_pool,
            slot_bits: self.slot_bits,
            conv: ConvOptions {
                shape: self.shape,
                kernel: self.kernel,
                stride: self.filter_stride,
                grid: self.grid,
                pooling: self.pooling,
                dilated: self.dilated,
            },
            groups: self.groups.clone(),
            linear: self.linear,
            golden_rows: self.golden_rows,
            column_names: !self.no_column_names,
            ..self.source.base_options()
        }
    }
}

fn yes_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("yes or no".into()),
    }
}

fn bits(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(bits) if koan::Width::BITS.contains(&bits) => Ok(bits),
        _ => Err("2, 3, 4, 8 or 16".into()),
    }
}

/// A number of bytes; k is 1024.
fn bytes(text: &str) -> Result<usize, String> {
    with_suffix(text, 1024).map(|count| count as usize)
}

/// A number; k is 1000.
fn count(text: &str) -> Result<u64, String> {
    with_suffix(text, 1000)
}

fn with_suffix(text: &str, k: u64) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], k),
        Some(b'm') => (&lower[..lower.len() - 1], k * k),
        _ => (lower.as_str(), 1),
    };
    let number: f64 = digits.parse().map_err(|_| "a number such as 900, 2k or 1.5k")?;
    let value = number * unit as f64;
    if (1.0..=1e15).contains(&value) { Ok(value as u64) } else { Err("from 1 to 10^15".into()) }
}

/// Minutes, of which there are some.
fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= 10_000.0 => Ok(minutes),
        _ => Err("more than 0, at most 10000".into()),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            &[byte] => Ok(byte),
            _ => Err("one byte, `tab` or `space`".into()),
        },
    }
}

fn group(text: &str) -> Result<GroupPlan, String> {
    let mut parts = text.split(':');
    let inputs = parts.next().unwrap_or_default();
    let inputs = inputs.parse().map_err(|_| format!("`{inputs}` is no number of inputs"))?;
    let law = match parts.next().unwrap_or_default() {
        "none" => Law::None,
        name => LawArgument::from_str(name, true)?.law(),
    };
    let bandwidth = match parts.next() {
        None => 1.0,
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no bandwidth"))?,
    };
    match parts.next() {
        None => Ok(GroupPlan { inputs, law, bandwidth }),
        Some(_) => Err("INPUTS:LAW[:BANDWIDTH]".into()),
    }
}
