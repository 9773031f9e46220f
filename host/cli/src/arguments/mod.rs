//! The command line.

mod choices;
mod source;
mod train;
mod tune;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use koan_trainer::Loss;

use self::choices::{LossArgument, choice};
pub use self::source::{ClassWeights, Reading, Source, TaskName, for_tests};
pub use self::train::Train;
pub use self::tune::Tune;
use self::values::{bits, bytes, column, minutes_or_none};
use crate::device::Device;
use crate::sign::{Keygen, Sign};

/// Machine-learning models that are a seed and a few weights.
#[derive(Debug, Parser)]
#[command(name = "koan", version, about)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train seven families on handwritten digits and show what comes out
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
    /// Make a pair of keys to sign models with
    Keygen(Keygen),
    /// Sign a model, so that devices can tell it from a stranger's
    Sign(Sign),
    /// Write a model as source of a program: C, a sketch for Arduino, or Rust
    Export(Export),
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

/// What a command may take of the machine.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Threads that work; the result is the same with any number [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
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
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct Predict {
    /// The model
    pub model: PathBuf,
    /// Rows to predict; standard input if it is left out or `-`
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// Write these columns of the data too, as they are there, by name or number; of a window
    /// those of its first row
    #[arg(
        allow_hyphen_values = true,
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        value_parser = column
    )]
    pub keep: Vec<String>,
    /// What to write
    #[arg(long, default_value = "csv")]
    pub format: PredictFormat,
    /// File to write to [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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
    /// The model: its inputs, families and frequencies are taken over
    pub model: PathBuf,
    /// What it was trained on
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Column that says how much each row counts, from 0: a model does not tell whether its
    /// training had one [default: all rows count the same]
    #[arg(allow_negative_numbers = true, long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Weights of the classes, which a model does not tell either; those of rows, if any, are
    /// scaled by them
    #[arg(long, default_value = "equal-rows")]
    pub class_weights: ClassWeights,
    /// Bytes that the new model may have; several sizes make a model each, from the
    /// same pools
    #[arg(allow_negative_numbers = true, long, value_name = "BYTES", required = true, value_delimiter = ',', value_parser = bytes)]
    pub flash: Vec<usize>,
    /// Where to write the new model; of several sizes each has its bytes in the name:
    /// m.koan becomes m-900.koan
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Test data, only looked at in the end [default: the part of the data that
    /// `koan train` holds out if it is not told; a model that was trained with another
    /// split, or with `--folds`, may have been trained on that: its error is then too low]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub test: Vec<PathBuf>,
    /// Labels of an idx or npy test file [default for idx: the file beside it]
    #[arg(long, value_name = "FILE", requires = "test")]
    pub test_labels: Option<PathBuf>,
    /// Arrays of an npz test file [default: those of --arrays]
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "test")]
    pub test_arrays: Vec<String>,
    /// Rows to train on, as `koan train` was told; the others are the test rows
    #[arg(long, value_name = "ROWS", conflicts_with = "test")]
    pub train_rows: Option<usize>,
    /// Part of the rows to hold out for the test, as `koan train` was told [default: 0.2, or what a
    /// PROBEN1 file says]
    #[arg(allow_negative_numbers = true, long, conflicts_with_all = ["test", "train_rows"])]
    pub test_fraction: Option<f64>,
    /// Bits of a weight to try [default: 2, 3, 4 for classes, 3, 4, 8 for numbers]
    #[arg(short, long, value_parser = bits, value_delimiter = ',')]
    pub bits: Vec<u8>,
    /// Features of the pools to keep the best of [default: by the size]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    pub candidates: Vec<u16>,
    /// What the head minimises [default: logistic for classes]
    #[arg(long, value_parser = choice::<LossArgument, Loss>())]
    pub loss: Option<Loss>,
    /// Try other seeds for so long
    #[arg(allow_negative_numbers = true, long, default_value_t = 0.0, value_parser = minutes_or_none)]
    pub minutes: f64,
    #[command(flatten)]
    pub reading: Reading,
    /// Write a page with a plot of bytes against error
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print the result as one JSON object, of several sizes as an array of one for each
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
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
    /// Also write a Rust file with the places of the columns in a row as constants
    #[arg(long, value_name = "FILE.rs")]
    pub rust: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PredictFormat {
    Csv,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Args)]
pub struct Export {
    /// The model
    pub model: PathBuf,
    /// Names constants of columns and values for which the model has codes, or no names, by what
    /// such data have: a file with the columns of the training data
    #[arg(long, value_name = "DATA")]
    pub names: Option<PathBuf>,
    #[command(flatten)]
    pub target: ExportTarget,
}

/// What a model is written as.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ExportTarget {
    /// A folder with the runtime in C, the model and an example
    #[arg(long, value_name = "FOLDER")]
    pub c: Option<PathBuf>,
    /// The same as a sketch for Arduino, of the folder's name
    #[arg(long, value_name = "FOLDER")]
    pub arduino: Option<PathBuf>,
    /// A Rust file, or a folder for one: the model as a module, and the places of the columns in a
    /// row as constants. The blob goes beside it
    #[arg(long, value_name = "FILE.rs|FOLDER")]
    pub rust: Option<PathBuf>,
}
