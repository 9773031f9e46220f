//! Errors as Python has them: wrong values are `ValueError` with the parameter's name.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use koan::Field;
use koan_data::DataError;
use koan_trainer::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};

/// The parameters of the estimators, where the library has another name.
const NAMES: [(&str, &str); 16] = [
    ("box_c", "box"),
    ("class_weights", "class_weight"),
    ("classes", "y"),
    ("conv", "shape"),
    ("families", "family"),
    ("features", "n_features"),
    ("goal", "task"),
    ("grid", "pooling_grid"),
    ("lambda", "penalty"),
    ("limits", "flash"),
    ("map", "input_map"),
    ("seed", "random_state"),
    ("shared", "shared_pool"),
    ("threads", "n_jobs"),
    ("time", "minutes"),
    ("weights", "sample_weight"),
];

/// How the library ends what it says of a text that is missing.
const NO_VALUE: &str = "the value is missing, which is none of the values";
/// How it ends what it says of numbers that cannot be categories since some are missing.
const NO_CATEGORIES: &str = "has missing values: it cannot be categories";
/// How it ends what it says of numbers that are not told apart as categories.
const NOT_APART: &str = "which are not told apart as categories: make the column text";
/// How it ends what it says of any value that is missing.
const MISSING: &str = ": the value is missing";

/// A value that a parameter cannot have.
pub fn parameter(name: &str, problem: impl std::fmt::Display) -> PyErr {
    let known = NAMES.iter().find(|(ours, _)| *ours == name);
    let name = known.map_or(name, |(_, python)| python);
    PyValueError::new_err(format!("{name}: {}", shortened(&problem.to_string())))
}

/// A message in which numbers of hundreds of digits are shorter.
pub fn shortened(text: &str) -> String {
    const LONG: usize = 60;
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut short = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_digit) {
        let (before, from) = rest.split_at(start);
        let (digits, after) = from.split_at(from.find(|c| !is_digit(c)).unwrap_or(from.len()));
        short.push_str(before);
        match digits.parse::<f64>() {
            Ok(number) if digits.len() > LONG => short.push_str(&format!("{number:e}")),
            _ => short.push_str(digits),
        }
        rest = after;
    }
    short + rest
}

/// What is wrong with a table to train on; `refused` says that missing values are.
pub fn to_train_on(error: &DataError, refused: bool) -> PyErr {
    let missing = refused && error.to_string().ends_with(MISSING);
    hinted(error, if missing { ", and is allowed by missing=\"impute\"" } else { "" })
}

/// What is wrong with a table.
pub fn data(error: &DataError) -> PyErr {
    hinted(error, "")
}

/// The same, with what helps if it is nothing that is known here.
fn hinted(error: &DataError, otherwise: &str) -> PyErr {
    let text = error.to_string();
    let text = text.strip_prefix("the table: ").unwrap_or(&text);
    let what = match error {
        DataError::OneClass { .. } | DataError::TooManyValues { target: true, .. } => "y",
        DataError::NoWeight { .. } => "sample_weight",
        DataError::Split { .. } if text.contains("one group") => "groups",
        _ if text.contains("a weight is") => "sample_weight",
        _ if text.starts_with("groups: ") => "groups",
        _ => "X",
    };
    let hint = match error {
        DataError::Numerals { .. } => ", as pandas.to_numeric does",
        _ if text.ends_with(NO_VALUE) => ", and is allowed by unknown=\"zeros\"",
        _ if text.ends_with(NO_CATEGORIES) => {
            ", unless its type says so, by astype(\"category\") or astype(\"string\")"
        }
        _ if text.ends_with(NOT_APART) => ", by astype(\"category\") or astype(\"string\")",
        _ => otherwise,
    };
    let text = text.strip_prefix("data schema: ").unwrap_or(text);
    PyValueError::new_err(format!("{what}: {}{hint}", shortened(text)))
}

/// Why training stopped.
pub fn training(error: Error) -> PyErr {
    match error {
        Error::Parameter { name, problem } => parameter(name, problem),
        Error::Data(error) => data(&error),
        Error::Cancelled => PyKeyboardInterrupt::new_err("cancelled"),
        Error::TooMany { what: "features", .. } => parameter("features", error),
        Error::TooMany { what: "features for this loss", .. } => {
            let slots = "of the family bin, every slot is one, 2^slot_bits for each of n_features";
            parameter("features", format!("{error} ({slots})"))
        }
        Error::TooMany { what: "candidates", .. } => parameter("candidates", error),
        Error::TooMany { what: "families", .. } => parameter("families", error),
        Error::TooMany { what: "classes", .. } => parameter("y", error),
        Error::TooMany { .. } => parameter("X", error),
        // The real value of a score would be too close to 0 for the 32 bits that it has.
        Error::Model(koan::Error::Field { field: Field::ScoreScale, .. }) => {
            parameter("y", "the values are too close to each other: multiply them, such as by 1e30")
        }
        Error::Impossible(problem) => PyValueError::new_err(problem),
        other => PyRuntimeError::new_err(other.to_string()),
    }
}

/// A blob that is refused, or a row.
pub fn model(error: koan::Error) -> PyErr {
    PyValueError::new_err(format!("model: {error}"))
}

/// Does `work`; a panic, a fault of ours, becomes an error like others.
pub fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, PyErr> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| fault(&*panic))
}

/// A panic as an error.
pub fn fault(panic: &(dyn Any + Send)) -> PyErr {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    PyRuntimeError::new_err(format!("a fault of koan's, which should be reported: {message}"))
}
