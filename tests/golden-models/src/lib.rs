//! Golden models: blobs that are checked in, with the exact scores that they
//! must give on every target.
//!
//! Beside each `NAME.koan` lies `NAME.json`:
//! `{"rows": [{"row": [numbers], "scores": [integers]}, ...]}`. Numbers that JSON
//! has no notation for are the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
//! The scores are the reference implementation's. A row of whole numbers that
//! fit `i16` or `u8` is also to be run as such.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One golden model.
#[derive(Clone, Debug)]
pub struct Golden {
    /// File name without extension.
    pub name: String,
    /// The blob.
    pub blob: Vec<u8>,
    /// Rows and the scores that they must give.
    pub rows: Vec<GoldenRow>,
}

/// A row and its exact scores.
#[derive(Clone, Debug)]
pub struct GoldenRow {
    /// The numbers, as floats.
    pub row: Vec<f32>,
    /// One score for each output.
    pub scores: Vec<i32>,
}

/// A row in one of the types that it may be run in.
#[derive(Clone, Debug)]
pub enum Typed {
    /// As `f32`.
    Floats(Vec<f32>),
    /// As `i16`.
    Words(Vec<i16>),
    /// As `u8`.
    Bytes(Vec<u8>),
}

impl Typed {
    /// The type's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Floats(_) => "f32",
            Self::Words(_) => "i16",
            Self::Bytes(_) => "u8",
        }
    }
}

impl GoldenRow {
    /// The row in every type that holds its numbers.
    #[must_use]
    pub fn typed(&self) -> Vec<Typed> {
        let mut typed = vec![Typed::Floats(self.row.clone())];
        let bytes: Option<Vec<u8>> = self.row.iter().map(|&x| whole(x)).collect();
        typed.extend(self.words().map(Typed::Words));
        typed.extend(bytes.map(Typed::Bytes));
        typed
    }

    /// The row as i16, if all its numbers are such.
    #[must_use]
    pub fn words(&self) -> Option<Vec<i16>> {
        self.row.iter().map(|&x| whole(x)).collect()
    }
}

/// `x` as an integer, if it is one that fits.
fn whole<T: TryFrom<i64>>(x: f32) -> Option<T> {
    (x.fract() == 0.0 && x.abs() < 1e6).then(|| T::try_from(x as i64).ok()).flatten()
}

impl Golden {
    /// Replays all rows in all types through `scores`; what the browser and
    /// firmware runners share.
    ///
    /// # Errors
    /// The first difference: model, row, type, output, expected and actual.
    pub fn replay(
        &self,
        mut scores: impl FnMut(&Typed) -> Result<Vec<i32>, String>,
    ) -> Result<(), String> {
        for (number, row) in self.rows.iter().enumerate() {
            for typed in row.typed() {
                let place = format!("model {}, row {number} as {}", self.name, typed.name());
                let actual = scores(&typed).map_err(|error| format!("{place}: {error}"))?;
                if actual.len() != row.scores.len() {
                    let (needed, given) = (row.scores.len(), actual.len());
                    return Err(format!("{place}: {needed} scores expected, {given} given"));
                }
                for (output, (expected, actual)) in row.scores.iter().zip(&actual).enumerate() {
                    if expected != actual {
                        return Err(format!(
                            "{place}, output {output}: expected {expected}, actual {actual}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The rows and scores as the text of `NAME.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let list = |items: Vec<String>| items.join(", ");
        let row = |row: &GoldenRow| {
            let numbers = list(row.row.iter().map(|&x| number_text(x)).collect());
            let scores = list(row.scores.iter().map(i32::to_string).collect());
            format!("  {{\"row\": [{numbers}], \"scores\": [{scores}]}}")
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        format!("{{\"rows\": [\n{}\n]}}\n", rows.join(",\n"))
    }
}

/// A float as JSON, the shortest text that reads back as the same bits.
fn number_text(x: f32) -> String {
    match x {
        _ if x.is_nan() => "\"NaN\"".to_owned(),
        f32::INFINITY => "\"Infinity\"".to_owned(),
        f32::NEG_INFINITY => "\"-Infinity\"".to_owned(),
        // `{:?}` keeps a point or an exponent: -0.0 stays a float.
        _ => format!("{x:?}"),
    }
}

fn number(value: &Value) -> Option<f32> {
    match value {
        Value::String(text) => text.parse().ok(),
        _ => value.as_f64().map(|x| x as f32),
    }
}

/// Rows of the text of a `NAME.json`; `None` if it has another form.
fn rows_of_json(text: &str) -> Option<Vec<GoldenRow>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let rows = value.get("rows")?.as_array()?.iter().map(|row| {
        let numbers = row.get("row")?.as_array()?;
        let scores = row.get("scores")?.as_array()?;
        let score = |score: &Value| score.as_i64().and_then(|score| i32::try_from(score).ok());
        Some(GoldenRow {
            row: numbers.iter().map(number).collect::<Option<_>>()?,
            scores: scores.iter().map(score).collect::<Option<_>>()?,
        })
    });
    rows.collect()
}

/// Where the golden models are.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// The paths of every `*.koan` of a folder, by name: none can be forgotten.
///
/// # Errors
/// An unreadable folder, and one without models.
pub fn paths(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|error| at(folder, &error)))
        .collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "koan"));
    // As bytes: parts of paths are found anew for each comparison, which takes Miri a minute.
    paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    if paths.is_empty() { Err(at(folder, &"no golden models")) } else { Ok(paths) }
}

/// Reads one model and its rows.
///
/// # Errors
/// An unreadable file, and a model without rows.
pub fn read(path: &Path) -> Result<Golden, String> {
    let json = path.with_extension("json");
    let text = fs::read_to_string(&json).map_err(|error| at(&json, &error))?;
    let rows = rows_of_json(&text).filter(|rows| !rows.is_empty());
    Ok(Golden {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        blob: fs::read(path).map_err(|error| at(path, &error))?,
        rows: rows.ok_or_else(|| at(&json, &"no rows of the form that is specified"))?,
    })
}

/// Every model of a folder with its rows.
///
/// # Errors
/// As [`paths`] and [`read`].
pub fn load(folder: &Path) -> Result<Vec<Golden>, String> {
    paths(folder)?.iter().map(|path| read(path)).collect()
}

/// The golden models of this repository.
///
/// # Panics
/// When they cannot be read.
#[must_use]
pub fn all() -> Vec<Golden> {
    load(&folder()).unwrap_or_else(|error| panic!("{error}"))
}
