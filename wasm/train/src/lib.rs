//! Training in a browser: what a Worker of the demo page calls.
//!
//! A [`Trainer`] takes a table's bytes and makes models of it, as the command `koan train`
//! does with the same options: the same reading, the same split into training and test rows,
//! the same trainer. It has one thread.

use std::cell::RefCell;
use std::ops::ControlFlow;

use js_sys::{Error, Function, Reflect};
use koan_data::{
    DataError, Division, Missing, Part, ReadOptions, SplitSize, Table, read_bytes, split_table,
};
use koan_trainer::tune::{FAMILIES, Limits, train_usual};
use koan_trainer::{Event, FamilyName, Progress, TrainOptions, Trained};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// Rows, at most: more take a browser minutes.
const MOST_ROWS: usize = 10_000;
/// Features of a model, at most.
const MOST_FEATURES: u16 = 2048;
/// Part of the rows for the test, as the command's.
const TEST_FRACTION: f64 = 0.2;

/// What the Worker asks for; the command's options of these names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    /// `--target`
    target: Option<String>,
    /// `--drop`
    #[serde(default)]
    drop: Vec<String>,
    /// `--seed`
    #[serde(default = "first_seed")]
    seed: u64,
}

/// The command's.
fn first_seed() -> u64 {
    1
}

/// What is known of a table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    train_rows: usize,
    test_rows: usize,
    inputs: usize,
    /// The classes' names; none of a target of numbers.
    classes: Vec<String>,
}

thread_local! {
    /// Who is told what is being done. A listener must be fit for threads, which functions of
    /// JavaScript are not; here there is one thread.
    static LISTENER: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// A defect becomes an error with its message, instead of a trap without.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| wasm_bindgen::throw_str(&panic.to_string())));
}

/// The names of a table's columns, as a JSON array; empty where a column has none.
///
/// # Errors
/// If it is no table.
#[wasm_bindgen]
pub fn columns(name: &str, bytes: &[u8]) -> Result<String, JsError> {
    let names = koan_data::column_names(name, bytes, &ReadOptions::default())?;
    Ok(serde_json::to_string(&names)?)
}

/// A table, divided into rows to train on and rows to test with.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Trainer {
    train: Table,
    test: Table,
    seed: u64,
}

/// A model.
#[wasm_bindgen(getter_with_clone)]
#[derive(Debug)]
pub struct Model {
    /// The model itself.
    pub blob: Vec<u8>,
    /// What `koan train --json` prints.
    pub report: String,
}

#[wasm_bindgen]
impl Trainer {
    /// Reads a table; missing numbers become the medians of their columns, as by the option
    /// `--missing impute`.
    ///
    /// - `choices`: a JSON object, with `target`, `drop` and `seed`
    ///
    /// # Errors
    /// A table that cannot be read, or has too many rows. Where it could be read without one of
    /// its columns, the error's `column` is that one's number, from 1.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: &[u8], choices: &str) -> Result<Self, JsValue> {
        let choices: Choices = serde_json::from_str(choices).map_err(JsError::from)?;
        let Choices { target, drop, seed } = choices;
        let options =
            ReadOptions { target, drop, missing: Missing::Impute, ..ReadOptions::default() };
        let table = read_bytes(name, bytes, &options).map_err(|error| refused(&error))?;
        Ok(Self::divided(name, table, seed)?)
    }

    /// What is known of the table, as JSON.
    ///
    /// # Errors
    /// None that is known.
    pub fn facts(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&Facts {
            train_rows: self.train.rows(),
            test_rows: self.test.rows(),
            inputs: self.train.inputs,
            classes: self.train.schema.classes.clone(),
        })?)
    }

    /// A model of so many Fourier features, as by `koan train --features`.
    ///
    /// - `listen`: called with a text for each step
    ///
    /// # Errors
    /// What the trainer refuses.
    pub fn features(&self, features: u16, listen: &Function) -> Result<Model, JsError> {
        if features > MOST_FEATURES {
            let message = format!("{features} features; a browser trains at most {MOST_FEATURES}");
            return Err(JsError::new(&message));
        }
        let options = TrainOptions {
            families: vec![FamilyName::Fourier],
            features: vec![features],
            ..self.options()
        };
        let test = Some(&self.test);
        model(koan_trainer::train(&self.train, test, &options, &listened(listen))?)
    }

    /// The best model of at most `flash` bytes that a search finds, as by `koan train --flash`.
    ///
    /// - `listen`: called with a text for each step
    ///
    /// # Errors
    /// What the search refuses.
    pub fn search(&self, flash: usize, listen: &Function) -> Result<Model, JsError> {
        let test = Some(&self.test);
        let (options, progress) = (self.options(), listened(listen));
        let limits = Limits::of_flash(flash);
        let (trained, _) = train_usual(&self.train, test, &options, &FAMILIES, limits, &progress)?;
        model(trained)
    }
}

impl Trainer {
    /// A table of which some rows are kept for the test.
    fn divided(name: &str, table: Table, seed: u64) -> Result<Self, JsError> {
        if table.rows() > MOST_ROWS {
            return Err(JsError::new(&format!(
                "{name}: {} rows; a browser trains on at most {MOST_ROWS}: leave rows out, or use \
                 the command `koan train`",
                table.rows()
            )));
        }
        let (train, test) = match &table.division {
            Division::Parts(parts) => (0..table.rows()).partition(|&row| parts[row] != Part::Test),
            _ => split_table(&table, SplitSize::TestFraction(TEST_FRACTION), seed)?,
        };
        if test.is_empty() {
            let message = format!("{name}: no rows are left for the test ({} rows)", table.rows());
            return Err(JsError::new(&message));
        }
        Ok(Self { train: table.select(&train), test: table.select(&test), seed })
    }

    fn options(&self) -> TrainOptions {
        TrainOptions { seed: self.seed, ..TrainOptions::default() }
    }
}

/// Why a table was refused, and because of which column.
fn refused(error: &DataError) -> JsValue {
    let thrown = Error::new(&error.to_string());
    if let Some(number) = column_of(error) {
        // An error takes properties as every object does.
        let _ = Reflect::set(&thrown, &"column".into(), &(number as f64).into());
    }
    thrown.into()
}

/// The number of the column without which a table could be read, or of the first of several.
fn column_of(error: &DataError) -> Option<usize> {
    use DataError as E;
    match error {
        E::Identifier { column, .. }
        | E::Times { column, .. }
        | E::Units { column, .. }
        | E::NoValues { column, .. }
        | E::TooManyValues { column, target: false, .. } => Some(column.number),
        E::MostlyNumbers { place, .. }
        | E::PartlyNumbers { place, target: false, .. }
        | E::DecimalComma { place, .. }
        | E::OutOfRange { place, .. }
        | E::NotUtf8 { place } => place.column.as_ref().map(|column| column.number),
        // One after the other.
        E::Columns { first, others } => std::iter::once(&**first).chain(others).find_map(column_of),
        _ => None,
    }
}

fn model(trained: Trained) -> Result<Model, JsError> {
    let report = serde_json::to_string(&trained.report)?;
    Ok(Model { blob: trained.blob, report })
}

/// Tells `listen` what is being done. If it throws, the work ends.
fn listened(listen: &Function) -> Progress {
    LISTENER.set(Some(listen.clone()));
    Progress::new(|event: &Event<'_>| {
        let steps = event.parts.iter().map(String::as_str).chain([event.phase]);
        let text = steps.collect::<Vec<_>>().join(": ");
        LISTENER.with_borrow(|listener| match listener {
            Some(listener)
                if listener.call1(&JsValue::NULL, &JsValue::from_str(&text)).is_err() =>
            {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        })
    })
}
