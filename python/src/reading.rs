//! What rows in parts are read as.

use koan_data::{DataError, Missing, Schema, Table, TableBuilder, Unlisted};
use koan_trainer::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};

use crate::error::{guarded, parameter};
use crate::frame::Frame;

/// What the columns of a table are for, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) target: String,
    pub(crate) weights: Option<String>,
    pub(crate) groups: Option<String>,
    /// Whether missing values are imputed.
    pub(crate) impute: bool,
    /// Whether unknown texts are none of a column's values, and no error.
    pub(crate) zeros: bool,
}

pub(crate) type Rows = (Table, Vec<Vec<u8>>);

impl Reading {
    /// Does something with the columns of `frame`.
    pub(crate) fn with<T: Send>(
        &self,
        frame: &Bound<'_, Frame>,
        work: impl FnOnce(&TableBuilder<'_>) -> Result<T, DataError> + Send,
    ) -> PyResult<T> {
        let py = frame.py();
        let frame = frame.get();
        let names: Vec<&String> = frame.parts.iter().flat_map(|part| &part.names).collect();
        let columns = [Some(&self.target), self.weights.as_ref(), self.groups.as_ref()];
        for (what, name) in ["target", "sample_weight", "groups"].into_iter().zip(columns) {
            if let Some(name) = name
                && !names.contains(&name)
            {
                let known: Vec<String> =
                    names.iter().take(10).map(|name| format!("`{name}`")).collect();
                let known = known.join(", ");
                let problem = format!("the rows have no column `{name}`; there are {known}");
                return Err(parameter(what, problem));
            }
        }
        let mut lent = Vec::with_capacity(frame.parts.len());
        for part in &frame.parts {
            let is_target = part.names[..] == [self.target.clone()];
            if is_target && part.rounded {
                let problem = format!(
                    "the column `{}` has whole numbers of 2^63 or more: make them texts if they \
                     are classes, and else floats",
                    self.target
                );
                return Err(parameter("target", problem));
            }
            // Classes that are categories have the order of their numbers.
            let data = if is_target { part.data.as_numbers() } else { &part.data };
            lent.push(data.lend(py)?);
        }
        let mut builder = TableBuilder::new(frame.rows);
        for (part, lent) in frame.parts.iter().zip(&lent) {
            let values = lent.values()?;
            let [name] = &part.names[..] else {
                builder = part.input(builder, values);
                continue;
            };
            let is = |column: &Option<String>| column.as_ref() == Some(name);
            builder = if *name == self.target {
                builder.classes(name, values)
            } else if is(&self.weights) {
                builder.weight_column(name, values)
            } else if is(&self.groups) {
                builder.group_column(name, values)
            } else {
                part.input(builder, values)
            };
        }
        if self.impute {
            builder = builder.missing(Missing::Impute);
        }
        guarded(|| py.detach(|| work(&builder)))?.map_err(|error| wrong_rows(&error))
    }

    /// The rows of `frame` under a schema.
    pub(crate) fn rows(&self, frame: &Bound<'_, Frame>, schema: &Schema) -> PyResult<Rows> {
        let unlisted = if self.zeros { Unlisted::Zeros } else { Unlisted::Refuse };
        self.with(frame, |builder| builder.table_under(schema, unlisted))
    }
}

/// What is wrong with rows.
pub(crate) fn wrong_rows(error: &DataError) -> PyErr {
    let text = error.to_string();
    let text = text.strip_prefix("the table: ").unwrap_or(&text);
    PyValueError::new_err(format!("rows: {text}"))
}

/// What is wrong with parts.
pub(crate) fn wrong(error: Error) -> PyErr {
    match error {
        Error::Data(error) => wrong_rows(&error),
        Error::Impossible(problem) => PyValueError::new_err(problem),
        other => crate::error::training(other),
    }
}

/// Both as bytes.
pub(crate) fn pack<'py>(
    py: Python<'py>,
    reading: &Reading,
    own: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let reading =
        serde_json::to_vec(reading).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let length = (reading.len() as u32).to_le_bytes();
    Ok(PyBytes::new(py, &[&length[..], &reading, own].concat()))
}

/// What [`pack`] made.
pub(crate) fn unpack<'b>(bytes: &'b [u8], what: &str) -> PyResult<(Reading, &'b [u8])> {
    let read = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (reading, own) = rest.split_at_checked(length)?;
        Some((serde_json::from_slice(reading).ok()?, own))
    };
    read().ok_or_else(|| PyValueError::new_err(format!("these bytes are not those of {what}")))
}
