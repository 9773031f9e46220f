//! Training on rows in parts: columns, sample, plan, sums.

use std::sync::Arc;

use koan_data::{Found, Task};
use koan_trainer::distributed::{self, Batch, Roles, Slab};
use koan_trainer::{Error, Goal};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{guarded, parameter};
use crate::frame::Frame;
use crate::options::Parameters;
use crate::reading::{Reading, pack, unpack, wrong, wrong_rows};
use crate::train::{json, report_json};
use crate::work;

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

/// How good a model is on the test rows.
#[pyclass(module = "koan._koan")]
pub struct Verdict {
    reading: Reading,
    plan: Arc<distributed::Plan>,
    blob: Vec<u8>,
    own: distributed::Verdict,
}

#[pymethods]
impl Verdict {
    #[new]
    fn new(plan: &Plan, blob: Vec<u8>) -> Self {
        let (reading, plan) = (plan.reading.clone(), plan.own.clone());
        Self { reading, plan, blob, own: distributed::Verdict::default() }
    }

    /// Adds rows, of which those for the test count; none are fine.
    fn add(&mut self, frame: &Bound<'_, Frame>) -> PyResult<()> {
        if frame.get().rows == 0 {
            return Ok(());
        }
        let (table, groups) = self.reading.rows(frame, self.plan.schema())?;
        let (own, plan, blob) = (&mut self.own, &self.plan, &self.blob);
        let add = || own.add(plan, blob, Batch { table: &table, groups: &groups });
        guarded(|| frame.py().detach(add))?.map_err(wrong)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let own =
            serde_json::to_vec(&self.own).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(PyBytes::new(py, &own))
    }
}

/// The verdicts of several parts as one.
#[pyfunction]
pub fn merge_verdicts<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let merged = serde_json::to_vec(&merged(&parts)?);
    Ok(PyBytes::new(py, &merged.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// What a verdict says, as JSON; none where there are no rows for the test.
#[pyfunction]
pub fn judged(verdict: Vec<u8>) -> PyResult<Option<String>> {
    merged(&[verdict])?.finish().map(|evaluation| json(&evaluation)).transpose()
}

fn merged(parts: &[Vec<u8>]) -> PyResult<distributed::Verdict> {
    let mut merged = distributed::Verdict::default();
    for part in parts {
        let part = serde_json::from_slice(part)
            .map_err(|_| PyValueError::new_err("these bytes are not those of a verdict"))?;
        merged.merge(&part);
    }
    Ok(merged)
}

/// The bytes of the model, and the report as JSON.
#[pyfunction]
#[pyo3(signature = (plan, sums, threads = None, listener = None))]
pub fn finish<'py>(
    py: Python<'py>,
    plan: &Plan,
    sums: &Sums,
    threads: Option<usize>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let (plan, sums) = (plan.own.clone(), sums.own.clone());
    let finished = work::run(py, threads, listener, move |progress| {
        distributed::finish(&plan, sums, progress)
    })?;
    Ok((PyBytes::new(py, &finished.blob), report_json(&finished.report)?))
}
