//! Models as source of programs, by the library that the command writes them with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use koan::Model;
use koan_data::{Column, ColumnKind, Format, Schema, Table, Values};
use koan_export::{Error, Export, Language, Warning, Written, lacks_names};
use koan_trainer::internal::blob;
use pyo3::prelude::*;

use crate::error::{guarded, parameter};
use crate::files::told;
use crate::frame::{Data, Frame};
use crate::model::Blob;

/// Writes a model as source, as `koan export` does: the files, and what is to be said of them.
/// `file` is what the model's file is called. Names that the model lacks are those of the columns
/// of `rows`, or else those that [`names_of`] has `kept`.
#[pyfunction]
#[pyo3(signature = (blob, folder, language, file, rows = None, kept = None))]
pub fn export(
    py: Python<'_>,
    blob: &Blob,
    folder: PathBuf,
    language: &str,
    file: &str,
    rows: Option<&Bound<'_, Frame>>,
    kept: Option<&str>,
) -> PyResult<(Vec<PathBuf>, Vec<String>)> {
    let Some(language) = Language::ALL.into_iter().find(|one| one.name() == language) else {
        let known = Language::ALL.map(|one| format!("'{}'", one.name()));
        let [others @ .., last] = &known;
        let known = format!("{} and {last}", others.join(", "));
        return Err(parameter("language", format!("no '{language}'; there are {known}")));
    };
    let model = blob.model()?;
    let mut export = Export::new(&model, file).map_err(|error| wrong(py, error))?;
    if let Some(rows) = rows {
        let unknown = |_| parameter("names", "the model has no columns that could be named");
        let names = columns_of(rows, blob.known_schema().map_err(unknown)?)?;
        export = export.named_by(&names).map_err(|error| wrong(py, error))?;
    } else if let Some(names) = kept {
        // What this package wrote.
        let names = serde_json::from_str(names).map_err(|error| parameter("names", error))?;
        export = export.named_by(&names).map_err(|error| wrong(py, error))?;
    }
    let written = guarded(|| py.detach(|| export.write(language, &folder)))?;
    let Written { files, warnings, .. } = written.map_err(|error| wrong(py, error))?;
    Ok((files, warnings.iter().map(line).collect()))
}

/// The names of the columns that a model was trained on, as JSON, where it lacks some.
pub fn names_of(table: &Table, blob: &[u8]) -> Option<String> {
    let model = Model::parse(blob).ok()?;
    let own = blob::schema(&model).ok()?;
    if !lacks_names(&own) {
        return None;
    }
    let table = &table.without_columns(&table.schema.left_out_by(&own));
    // Numbers that were taken as categories.
    let turned = own.columns.iter().zip(&table.schema.columns).enumerate();
    let turned = turned.filter(|(_, (own, its))| is_coded(own) && is_number(its));
    let turned: Vec<usize> = turned.map(|(place, _)| place).collect();
    let names = match &turned[..] {
        [] => table.schema.clone(),
        turned => table.with_categories(turned).ok()?.schema,
    };
    let is_known = own.columns.iter().any(is_coded)
        || names.columns.iter().any(|column| !column.name.is_empty());
    is_known.then(|| serde_json::to_string(&names).ok()).flatten()
}

fn is_coded(column: &Column) -> bool {
    matches!(column.kind, ColumnKind::Coded(_))
}

fn is_number(column: &Column) -> bool {
    matches!(column.kind, ColumnKind::Numeric { .. })
}

/// The columns of a table as names for those of `own`: all of them, or only the inputs. Values are
/// listed where the model has codes for them.
fn columns_of(rows: &Bound<'_, Frame>, own: &Schema) -> PyResult<Schema> {
    let frame = rows.get();
    let given = frame.parts.iter().flat_map(|part| {
        // Of a matrix only the names are taken.
        let data = Some(&part.data).filter(|_| part.names.len() == 1);
        part.names.iter().map(move |name| (name, data))
    });
    let given: Vec<(&String, Option<&Data>)> = given.collect();
    let inputs = own.columns.iter().filter(|column| column.inputs() > 0).count();
    let (found, all) = (given.len(), own.columns.len());
    if found != inputs && found != all {
        let taken = format!("the model takes {inputs}, and its training data had {all} in all");
        return Err(parameter("names", format!("columns: {found}, where {taken}")));
    }
    let only_inputs = found != all;
    let mut names = Schema::new(Format::Csv);
    let mut next = given.iter();
    for column in &own.columns {
        if only_inputs && column.inputs() == 0 {
            names.columns.push(Column { name: String::new(), kind: ColumnKind::Dropped });
            continue;
        }
        let Some((name, data)) = next.next() else { break };
        let kind = match data {
            Some(data) if is_coded(column) => values_of(rows.py(), data)?,
            Some(Data::Texts(_) | Data::Categories(..)) => ColumnKind::Text { values: Vec::new() },
            _ => ColumnKind::Numeric { missing: None },
        };
        names.columns.push(Column { name: (*name).clone(), kind });
    }
    Ok(names)
}

/// The values of a column, as texts; without rows there are none that could be told.
fn values_of(py: Python<'_>, data: &Data) -> PyResult<ColumnKind> {
    // Numbers are called as training calls those that are categories.
    fn named<T: Copy>(numbers: &[T], number: impl Fn(T) -> f32) -> BTreeSet<String> {
        let numbers = numbers.iter().map(|&n| number(n) + 0.0);
        numbers.filter(|number| !number.is_nan()).map(|number| number.to_string()).collect()
    }
    let lent = data.lend(py)?;
    let mut values = match lent.values()? {
        Values::Text(texts) => texts.iter().map(|&text| text.to_owned()).collect(),
        Values::F32(numbers) => named(numbers, |number| number),
        Values::F64(numbers) => named(numbers, |number| number as f32),
        Values::I64(numbers) => named(numbers, |number| number as f32),
        Values::I32(numbers) => named(numbers, |number| number as f32),
        Values::I16(numbers) => named(numbers, f32::from),
        Values::U8(numbers) => named(numbers, f32::from),
        _ => BTreeSet::new(),
    };
    values.remove("");
    Ok(match values.is_empty() {
        true => ColumnKind::Numeric { missing: None },
        false => ColumnKind::Text { values: values.into_iter().collect() },
    })
}

/// The error as Python has it.
fn wrong(py: Python<'_>, error: Error) -> PyErr {
    match &error {
        Error::Io { path, source, .. } => told(py, path, source).unwrap_or_else(|other| other),
        Error::Names { .. } | Error::NoNames => parameter("names", error),
        Error::FileName { file } => {
            let name = file.strip_suffix(".koan").unwrap_or(file);
            parameter("name", format!("{name:?} cannot name files"))
        }
        Error::RuntimeName { .. } => {
            parameter("name", "a file of the runtime has it: give the model another one")
        }
        Error::OneName { .. } => {
            parameter("name", "the blob and the file of Rust would have one name")
        }
        _ => parameter("folder", error),
    }
}

/// The warning, with the parameter that helps.
fn line(warning: &Warning) -> String {
    match warning {
        Warning::Coded { .. } | Warning::Nameless => {
            format!("{warning}: `names` takes those of the training data, as a list or a table")
        }
        warning => warning.to_string(),
    }
}
