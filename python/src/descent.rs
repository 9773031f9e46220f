//! Training on rows in parts by the logistic loss: steps, their gradients, the descent.

use std::sync::Arc;

use koan_trainer::distributed::{self, Batch, Step, Summed};
use koan_trainer::{Error, Progress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::clusters::{Plan, Sums};
use crate::error::guarded;
use crate::frame::Frame;
use crate::reading::{Reading, wrong};
use crate::train::report_json;
use crate::work;

/// Sums over rows of the logistic loss and its gradient at a step.
#[pyclass(module = "koan._koan")]
pub struct Gradients {
    reading: Reading,
    plan: Arc<distributed::Plan>,
    step: Arc<Step>,
    own: distributed::Gradients,
}

#[pymethods]
impl Gradients {
    #[new]
    fn new(plan: &Plan, step: &[u8]) -> PyResult<Self> {
        let step = Step::from_bytes(&plan.own, step).map_err(wrong)?;
        let own = distributed::Gradients::new(&plan.own, &step);
        let (reading, plan) = (plan.reading.clone(), plan.own.clone());
        Ok(Self { reading, plan, step: Arc::new(step), own })
    }

    /// Adds rows; none are fine.
    #[pyo3(signature = (frame, threads = None))]
    fn add(&mut self, frame: &Bound<'_, Frame>, threads: Option<usize>) -> PyResult<()> {
        if frame.get().rows == 0 {
            return Ok(());
        }
        let (table, groups) = self.reading.rows(frame, self.plan.schema())?;
        let (own, plan, step) = (&mut self.own, &self.plan, &self.step);
        let add = || {
            let batch = Batch { table: &table, groups: &groups };
            let added = koan_trainer::with_threads(threads, || own.add(plan, step, batch));
            added.and_then(|added| added)
        };
        guarded(|| frame.py().detach(add))?.map_err(wrong)
    }

    /// Adds the gradients of other rows.
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
    fn from_bytes(plan: &Plan, step: &[u8], bytes: &[u8]) -> PyResult<Self> {
        let nothing = Self::new(plan, step)?;
        let own =
            distributed::Gradients::from_bytes(&plan.own, &nothing.step, bytes).map_err(wrong)?;
        Ok(Self { own, ..nothing })
    }
}

/// The fit by the logistic loss.
#[pyclass(module = "koan._koan")]
pub struct Descent {
    plan: Arc<distributed::Plan>,
    /// None after work on it was interrupted.
    own: Option<Box<distributed::Descent>>,
}

impl Descent {
    fn own(&self) -> PyResult<&distributed::Descent> {
        self.own.as_deref().ok_or_else(interrupted)
    }

    /// Does something with it, beside the interpreter.
    fn with<T: Send + 'static>(
        &mut self,
        py: Python<'_>,
        threads: Option<usize>,
        work: impl FnOnce(&distributed::Plan, &mut distributed::Descent, &Progress) -> Result<T, Error>
        + Send
        + 'static,
    ) -> PyResult<T> {
        let mut own = self.own.take().ok_or_else(interrupted)?;
        let plan = self.plan.clone();
        let (own, done) = work::run(py, threads, None, move |progress| {
            let done = work(&plan, &mut own, progress);
            Ok((own, done))
        })?;
        self.own = Some(own);
        done.map_err(wrong)
    }
}

#[pymethods]
impl Descent {
    #[new]
    #[pyo3(signature = (plan, sums, threads = None))]
    fn new(py: Python<'_>, plan: &Plan, sums: &Sums, threads: Option<usize>) -> PyResult<Self> {
        let sums = sums.own.clone();
        Self::made(py, plan, threads, move |plan, progress| {
            distributed::Descent::new(plan, &sums, progress)
        })
    }

    /// Whether no more passes are needed.
    #[getter]
    fn done(&self) -> PyResult<bool> {
        Ok(self.own()?.is_done())
    }

    /// Passes so far.
    #[getter]
    fn passes(&self) -> PyResult<u32> {
        Ok(self.own()?.passes())
    }

    /// The step that gradients are wanted of, as bytes.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.own()?.step().to_bytes().map_err(wrong)?))
    }

    /// Takes the gradients of all rows.
    #[pyo3(signature = (gradients, threads = None))]
    fn advance(
        &mut self,
        py: Python<'_>,
        gradients: &Gradients,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let gradients = gradients.own.clone();
        self.with(py, threads, move |plan, own, progress| own.advance(plan, &gradients, progress))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.own()?.to_bytes().map_err(wrong)?))
    }

    #[staticmethod]
    #[pyo3(signature = (plan, sums, bytes, threads = None))]
    fn from_bytes(
        py: Python<'_>,
        plan: &Plan,
        sums: &Sums,
        bytes: Vec<u8>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let sums = sums.own.clone();
        Self::made(py, plan, threads, move |plan, _| {
            distributed::Descent::from_bytes(plan, &sums, &bytes)
        })
    }

    /// The bytes of the model, and the report as JSON.
    #[pyo3(signature = (threads = None))]
    fn finish<'py>(
        &mut self,
        py: Python<'py>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyBytes>, String)> {
        let finished = self.with(py, threads, |plan, own, progress| {
            distributed::finish(plan, Summed::from(&*own), progress)
        })?;
        Ok((PyBytes::new(py, &finished.blob), report_json(&finished.report)?))
    }
}

impl Descent {
    fn made(
        py: Python<'_>,
        plan: &Plan,
        threads: Option<usize>,
        make: impl FnOnce(&distributed::Plan, &Progress) -> Result<distributed::Descent, Error>
        + Send
        + 'static,
    ) -> PyResult<Self> {
        let plan = plan.own.clone();
        let of = plan.clone();
        // What is wrong with the plan is no trouble of training.
        let own = work::run(py, threads, None, move |progress| Ok(make(&of, progress)))?;
        Ok(Self { plan, own: Some(Box::new(own.map_err(wrong)?)) })
    }
}

fn interrupted() -> PyErr {
    PyValueError::new_err("this descent was interrupted: begin anew, or with its last bytes")
}
