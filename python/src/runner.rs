//! Many rows at once, on all cores, without the interpreter.

use std::ffi::CString;

use koan::steps::probabilities;
use koan::{Error, Model, Task, class_of};
use koan_data::Schema;
use koan_trainer::internal::beyond::Beyond;
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::scorer::{Batch, Number, ROWS, Scorer};
use koan_trainer::with_threads;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::error::{guarded, model, training};

/// Work of a row beyond which a block of rows is given to several threads.
const ALONE: u64 = 2_000_000;
/// Rows that are done between two looks at signals.
const BLOCK_WORK: u64 = 200_000_000;

/// What is asked of a row.
#[derive(Clone, Copy)]
pub enum Asked {
    Scores,
    Values,
    Classes,
    Probabilities,
    Features,
    Codes,
}

/// A model, what is asked of it, and of how many rows.
pub struct Runner<'m> {
    pub bytes: &'m [u8],
    pub model: Model<'m>,
    pub asked: Asked,
    pub rows: usize,
    /// Of the model's notes, for what is told of columns.
    pub schema: Option<&'m Schema>,
    pub threads: Option<usize>,
}

impl Runner<'_> {
    /// Runs all rows.
    pub fn all<'py, I: Number>(&self, py: Python<'py>, rows: &[I]) -> PyResult<Bound<'py, PyAny>> {
        let model = &self.model;
        let unsuited = |what: &str| PyValueError::new_err(format!("model: no model with {what}"));
        if matches!(self.asked, Asked::Scores | Asked::Values) && model.outputs() == 0 {
            return Err(unsuited("outputs"));
        }
        if matches!(self.asked, Asked::Classes | Asked::Probabilities)
            && model.task() != Task::Classification
        {
            return Err(unsuited("classes"));
        }
        if matches!(self.asked, Asked::Probabilities) && !model.has_probabilities() {
            let message = "model: a detector of anomalies has no probabilities";
            return Err(PyValueError::new_err(message));
        }
        if matches!(self.asked, Asked::Codes) && model.codes() == 0 {
            return Err(unsuited("codes: those of the families maxout and bin have some"));
        }
        let of_scores = !matches!(self.asked, Asked::Features | Asked::Codes);
        if of_scores && model.inputs() > 0 {
            self.warn_of_ends(py, rows)?;
        }
        let scorer = || Scorer::new(self.bytes, self.rows);
        match self.asked {
            Asked::Scores => self.fill(py, rows, model.outputs(), scorer, |scorer, rows, out| {
                scorer.run(rows, |row, scores| {
                    out[row * scores.len()..][..scores.len()].copy_from_slice(scores);
                    Ok(())
                })
            }),
            Asked::Values => self.fill(py, rows, model.outputs(), scorer, |scorer, rows, out| {
                scorer.run(rows, |row, scores| {
                    let scale = model.score_scale();
                    let places = out[row * scores.len()..].iter_mut();
                    places.zip(scores).for_each(|(place, &score)| *place = score as f32 * scale);
                    Ok(())
                })
            }),
            Asked::Classes => self.fill(py, rows, 1, scorer, |scorer, rows, out: &mut [i64]| {
                scorer.run(rows, |row, scores| {
                    out[row] = class_of(scores) as i64;
                    Ok(())
                })
            }),
            Asked::Probabilities => {
                let classes = model.classes();
                self.fill(py, rows, classes, scorer, |scorer, rows, out| {
                    scorer.run(rows, |row, scores| {
                        probabilities(model, scores, &mut out[row * classes..][..classes]);
                        Ok(())
                    })
                })
            }
            Asked::Features => {
                let batch = || predictor(self.bytes).map(|own| Batch::new(*own.model()));
                self.fill(py, rows, model.features(), batch, |batch, rows, out| {
                    batch.features(rows.chunks_exact(model.inputs()), out);
                    Ok(())
                })
            }
            Asked::Codes => {
                let (inputs, codes) = (model.inputs(), model.codes());
                self.fill(
                    py,
                    rows,
                    codes,
                    || predictor(self.bytes),
                    |own, rows, out| {
                        let mut pairs = rows.chunks_exact(inputs).zip(out.chunks_exact_mut(codes));
                        pairs.try_for_each(|(row, out)| own.codes(row, out))
                    },
                )
            }
        }
    }

    /// Warns of columns with numbers that the model does not tell apart.
    fn warn_of_ends<I: Number>(&self, py: Python<'_>, rows: &[I]) -> PyResult<()> {
        let told = guarded(|| {
            py.detach(|| {
                let mut beyond = Beyond::new(&self.model);
                rows.chunks_exact(self.model.inputs()).for_each(|row| beyond.row(row));
                beyond.told(self.schema)
            })
        })?;
        told.iter().try_for_each(|told| {
            let kind = py.get_type::<PyUserWarning>();
            // A name of a column may have any character; C's texts end at a NUL.
            let told = CString::new(format!("X: {told}").replace('\0', " "))?;
            // Whoever calls a method of the model's or an estimator's.
            PyErr::warn(py, &kind, &told, 3)
        })
    }

    /// Fills `width` numbers for each row, some rows at a time.
    fn fill<'py, I, T, S>(
        &self,
        py: Python<'py>,
        rows: &[I],
        width: usize,
        start: impl Fn() -> Result<S, Error> + Sync,
        some: impl Fn(&mut S, &[I], &mut [T]) -> Result<(), Error> + Sync,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        I: Number,
        T: numpy::Element + Default + Clone + Send,
    {
        let inputs = self.model.inputs();
        if inputs.checked_mul(self.rows) != Some(rows.len()) || inputs == 0 {
            let found = rows.len() / self.rows.max(1);
            return Err(PyValueError::new_err(format!(
                "X: {found} columns, where the model takes {inputs}"
            )));
        }
        let mut out = vec![T::default(); self.rows * width];
        if width > 0 {
            let work = u64::from(self.model.work()).max(inputs as u64).max(1);
            let block = usize::try_from(BLOCK_WORK / work).unwrap_or(1).clamp(1, 1 << 20);
            // Of heavy models fewer, so that all threads have some of a block.
            let together = block.div_ceil(4).min(ROWS);
            let sizes = (together * inputs, together * width);
            let blocks = rows.chunks(block * inputs).zip(out.chunks_mut(block * width));
            let alone = work.saturating_mul(self.rows as u64) < ALONE;
            for (rows, out) in blocks {
                let run = || in_parts(rows, out, sizes, alone, &start, &some);
                let threads = if alone { Some(1) } else { self.threads };
                let done = guarded(|| py.detach(|| pooled(alone, threads, run)))?;
                done?.map_err(model)?;
                py.check_signals()?;
            }
        }
        let flat: Bound<'py, PyArray1<T>> = out.into_pyarray(py);
        Ok(flat.reshape([self.rows, width])?.into_any())
    }
}

/// Fills `out` from `rows`, in parts of so many numbers of them: one after the other, or on the
/// threads of the pool.
fn in_parts<I: Number, T: Send, S>(
    rows: &[I],
    out: &mut [T],
    (inputs, outputs): (usize, usize),
    alone: bool,
    start: &(impl Fn() -> Result<S, Error> + Sync),
    some: &(impl Fn(&mut S, &[I], &mut [T]) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    if alone {
        let mut own = start()?;
        let mut parts = rows.chunks(inputs).zip(out.chunks_mut(outputs));
        return parts.try_for_each(|(rows, out)| some(&mut own, rows, out));
    }
    let parts = rows.par_chunks(inputs).zip(out.par_chunks_mut(outputs));
    parts.try_for_each_init(start, |own, (rows, out)| {
        some(own.as_mut().map_err(|error| *error)?, rows, out)
    })
}

/// Runs in a pool of its own, which survives a fork, or without one.
fn pooled<R: Send>(
    alone: bool,
    threads: Option<usize>,
    run: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    if alone {
        return Ok(run());
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    with_threads(Some(threads.unwrap_or_else(cores)), run).map_err(training)
}
