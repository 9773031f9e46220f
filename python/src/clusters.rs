//! Training on rows in parts: columns, sample, plan, sums.

use std::sync::Arc;

use koan_data::{DataError, Found, Missing, Schema, Table, TableBuilder, Task, Unlisted};
use koan_trainer::distributed::{self, Batch, Roles, Slab};
use koan_trainer::{Error, Goal};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::error::{guarded, parameter};
use crate::frame::Frame;
use crate::options::Parameters;
use crate::work;

/// What the columns of a table are for, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    target: String,
    weights: Option<String>,
    groups: Option<String>,
    /// Whether missing values are imputed.
    impute: bool,
    /// Whether unknown texts are none of a column's values, and no error.
    zeros: bool,
}

pub(crate) type Rows = (Table, Vec<Vec<u8>>);

impl Reading {
    /// Does something with the columns of `frame`.
    fn with<T: Send>(
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
        let lent = frame.lend(py)?;
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
fn wrong_rows(error: &DataError) -> PyErr {
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
fn pack<'py>(py: Python<'py>, reading: &Reading, own: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let reading =
        serde_json::to_vec(reading).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let length = (reading.len() as u32).to_le_bytes();
    Ok(PyBytes::new(py, &[&length[..], &reading, own].concat()))
}

/// What [`pack`] made.
fn unpack<'b>(bytes: &'b [u8], what: &str) -> PyResult<(Reading, &'b [u8])> {
    let read = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (reading, own) = rest.split_at_checked(length)?;
        Some((serde_json::from_slice(reading).ok()?, own))
    };
    read().ok_or_else(|| PyValueError::new_err(format!("these bytes are not those of {what}")))
}

/// What the columns of some rows are.
#[pyclass(module = "koan._koan")]
pub struct Columns {
    reading: Reading,
    /// None before the first rows.
    found: Option<Found>,
}

#[pymethods]
impl Columns {
    #[new]
    #[pyo3(signature = (target, weights = None, groups = None, impute = false, zeros = false))]
    fn new(
        target: String,
        weights: Option<String>,
        groups: Option<String>,
        impute: bool,
        zeros: bool,
    ) -> PyResult<Self> {
        let columns = [Some(&target), weights.as_ref(), groups.as_ref()];
        for (i, column) in columns.iter().enumerate() {
            if column.is_some() && columns[..i].contains(column) {
                let problem = "one column cannot be target, weights and groups at once";
                return Err(parameter("target", problem));
            }
        }
        Ok(Self { reading: Reading { target, weights, groups, impute, zeros }, found: None })
    }

    /// Adds rows; none are fine.
    fn add(&mut self, frame: &Bound<'_, Frame>) -> PyResult<()> {
        if frame.get().rows == 0 {
            return Ok(());
        }
        let more = self.reading.with(frame, |builder| builder.found())?;
        self.take(Some(more))
    }

    /// Adds what was found of other rows.
    fn merge(&mut self, other: &Self) -> PyResult<()> {
        self.take(other.found.clone())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let own = serde_json::to_vec(&self.found)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        pack(py, &self.reading, &own)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let (reading, own) = unpack(bytes, "columns")?;
        let found = serde_json::from_slice(own)
            .map_err(|_| PyValueError::new_err("these bytes are not those of columns"))?;
        Ok(Self { reading, found })
    }

    /// An empty sample of rows with all these columns.
    fn sample(
        &self,
        task: Option<&str>,
        seed: u64,
        test_fraction: f64,
        rows: usize,
    ) -> PyResult<Sample> {
        let task = match task {
            None => None,
            Some("classification") => Some(Task::Classification),
            Some("regression") => Some(Task::Regression),
            Some(other) => {
                let problem = format!("no {other:?}; there are classification and regression");
                return Err(parameter("task", problem));
            }
        };
        let found = self.found.as_ref();
        let found = found.ok_or_else(|| PyValueError::new_err("rows: there are none"))?;
        let schema = found.schema(task).map_err(|error| wrong_rows(&error))?;
        let roles = Roles::new(seed, test_fraction).map_err(wrong)?;
        let weighted = self.reading.weights.is_some();
        let own = distributed::Sample::new(&schema, weighted, roles, rows).map_err(wrong)?;
        Ok(Sample { reading: self.reading.clone(), own })
    }
}

impl Columns {
    fn take(&mut self, more: Option<Found>) -> PyResult<()> {
        match (&mut self.found, more) {
            (Some(found), Some(more)) => found.merge(&more).map_err(|error| wrong_rows(&error)),
            (found @ None, more) => {
                *found = more;
                Ok(())
            }
            (Some(_), None) => Ok(()),
        }
    }
}

/// The rows that everything is chosen on.
#[pyclass(module = "koan._koan")]
pub struct Sample {
    reading: Reading,
    own: distributed::Sample,
}

#[pymethods]
impl Sample {
    /// Adds rows; none are fine.
    fn add(&mut self, frame: &Bound<'_, Frame>) -> PyResult<()> {
        if frame.get().rows == 0 {
            return Ok(());
        }
        let (table, groups) = self.reading.rows(frame, self.own.schema())?;
        let own = &mut self.own;
        let add = || own.add(Batch { table: &table, groups: &groups });
        guarded(|| frame.py().detach(add))?.map_err(wrong)
    }

    /// Adds the rows of another sample.
    fn merge(&mut self, other: &Self) -> PyResult<()> {
        self.own.merge(other.own.clone()).map_err(wrong)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        pack(py, &self.reading, &self.own.to_bytes().map_err(wrong)?)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let (reading, own) = unpack(bytes, "a sample")?;
        Ok(Self { reading, own: distributed::Sample::from_bytes(own).map_err(wrong)? })
    }

    /// Chooses everything that the parameters leave open.
    #[pyo3(signature = (given, threads = None, listener = None))]
    fn plan(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyDict>,
        threads: Option<usize>,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Plan> {
        let options = Parameters(given).train_options(Goal::Predict)?;
        let sample = self.own.clone();
        let (own, _) = work::run(py, threads, listener, move |progress| {
            distributed::plan(sample, &options, progress)
        })?;
        Ok(Plan { reading: self.reading.clone(), own: Arc::new(own) })
    }
}

/// Everything that is chosen before rows are summed up.
#[pyclass(frozen, module = "koan._koan")]
pub struct Plan {
    pub(crate) reading: Reading,
    pub(crate) own: Arc<distributed::Plan>,
}

#[pymethods]
impl Plan {
    /// The plan as bytes, for workers without its sample.
    #[pyo3(signature = (for_workers = false))]
    fn to_bytes<'py>(&self, py: Python<'py>, for_workers: bool) -> PyResult<Bound<'py, PyBytes>> {
        let own = match for_workers {
            true => self.own.for_workers().to_bytes(),
            false => self.own.to_bytes(),
        };
        pack(py, &self.reading, &own.map_err(wrong)?)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let (reading, own) = unpack(bytes, "a plan")?;
        let own = distributed::Plan::from_bytes(own).map_err(wrong)?;
        Ok(Self { reading, own: Arc::new(own) })
    }

    /// Number of features.
    #[getter]
    fn features(&self) -> usize {
        self.own.features()
    }

    /// What the weights are fitted to minimise.
    #[getter]
    fn loss(&self) -> &'static str {
        self.own.loss().name()
    }
}

/// Sums over rows.
#[pyclass(module = "koan._koan")]
pub struct Sums {
    reading: Reading,
    plan: Arc<distributed::Plan>,
    pub(crate) own: distributed::Sums,
}

#[pymethods]
impl Sums {
    #[new]
    fn new(plan: &Plan) -> Self {
        let own = distributed::Sums::new(&plan.own);
        Self { reading: plan.reading.clone(), plan: plan.own.clone(), own }
    }

    /// Adds rows; none are fine.
    #[pyo3(signature = (frame, threads = None))]
    fn add(&mut self, frame: &Bound<'_, Frame>, threads: Option<usize>) -> PyResult<()> {
        if frame.get().rows == 0 {
            return Ok(());
        }
        let (table, groups) = self.reading.rows(frame, self.plan.schema())?;
        let (own, plan) = (&mut self.own, &self.plan);
        let add = || {
            let batch = Batch { table: &table, groups: &groups };
            koan_trainer::with_threads(threads, || own.add(plan, batch)).and_then(|added| added)
        };
        guarded(|| frame.py().detach(add))?.map_err(wrong)
    }

    /// Adds the sums of other rows.
    fn merge(&mut self, other: &Self) -> PyResult<()> {
        self.own.merge(&other.own).map_err(wrong)
    }

    /// Rows to train on so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.own.rows()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.own.to_bytes().map_err(wrong)?))
    }

    #[staticmethod]
    fn from_bytes(plan: &Plan, bytes: &[u8]) -> PyResult<Self> {
        let own = distributed::Sums::from_bytes(&plan.own, bytes).map_err(wrong)?;
        Ok(Self { reading: plan.reading.clone(), plan: plan.own.clone(), own })
    }

    /// The sums as so many slabs, each to be merged with the same of others.
    fn slabs<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let bytes = |slab: &Slab| Ok(PyBytes::new(py, &slab.to_bytes().map_err(wrong)?));
        self.own.slabs(count).iter().map(bytes).collect()
    }

    /// The sums of all slabs.
    #[staticmethod]
    fn from_slabs(plan: &Plan, slabs: Vec<Vec<u8>>) -> PyResult<Self> {
        let slabs: Result<Vec<Slab>, Error> = slabs.iter().map(|s| Slab::from_bytes(s)).collect();
        let own = distributed::Sums::from_slabs(&plan.own, slabs.map_err(wrong)?).map_err(wrong)?;
        Ok(Self { reading: plan.reading.clone(), plan: plan.own.clone(), own })
    }
}

/// The same slab of several sums as one.
#[pyfunction]
pub fn merge_slabs<'py>(py: Python<'py>, slabs: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let mut merged: Option<Slab> = None;
    for bytes in &slabs {
        let slab = Slab::from_bytes(bytes).map_err(wrong)?;
        match &mut merged {
            Some(merged) => merged.merge(&slab).map_err(wrong)?,
            None => merged = Some(slab),
        }
    }
    let merged = merged.ok_or_else(|| PyValueError::new_err("no slabs to merge"))?;
    Ok(PyBytes::new(py, &merged.to_bytes().map_err(wrong)?))
}

/// The bytes of the model.
#[pyfunction]
#[pyo3(signature = (plan, sums, threads = None, listener = None))]
pub fn finish<'py>(
    py: Python<'py>,
    plan: &Plan,
    sums: &Sums,
    threads: Option<usize>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (plan, sums) = (plan.own.clone(), sums.own.clone());
    let finished = work::run(py, threads, listener, move |progress| {
        distributed::finish(&plan, sums, progress)
    })?;
    Ok(PyBytes::new(py, &finished.blob))
}
