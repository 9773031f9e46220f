//! Models that run: many rows at once, on all cores, without the interpreter.

use koan::steps::probabilities;
use koan::{Error, Form, Model, Task, class_of};
use koan_data::{Column, ColumnKind, Missing, Schema, Unlisted, Values};
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::scorer::{Batch, Number, ROWS, Scorer};
use koan_trainer::with_threads;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::error::{data, guarded, model, parameter, training};
use crate::frame::Frame;

/// Work of a row beyond which a block of rows is given to several threads.
const ALONE: u64 = 2_000_000;
/// Rows that are done between two looks at signals.
const BLOCK_WORK: u64 = 200_000_000;

/// What is asked of a row.
#[derive(Clone, Copy)]
enum Asked {
    Scores,
    Values,
    Classes,
    Probabilities,
    Features,
    Codes,
}

/// The bytes of a model, checked.
#[pyclass(frozen, module = "koan._koan")]
pub struct Blob {
    bytes: Vec<u8>,
    schema: Option<Schema>,
}

#[pymethods]
impl Blob {
    /// Checks the bytes, and that this build computes what the trainer computed.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Self> {
        guarded(|| {
            // Only what is a model is copied: other files may have any size.
            let parsed = Model::parse(bytes).map_err(model)?;
            predictor(bytes).and_then(|mut p| p.self_test()).map_err(model)?;
            let schema = schema(&parsed);
            Ok(Self { bytes: bytes.to_vec(), schema })
        })?
    }

    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    #[getter]
    fn inputs(&self) -> PyResult<usize> {
        Ok(self.model()?.inputs())
    }

    #[getter]
    fn outputs(&self) -> PyResult<usize> {
        Ok(self.model()?.outputs())
    }

    #[getter]
    fn features(&self) -> PyResult<usize> {
        Ok(self.model()?.features())
    }

    #[getter]
    fn task(&self) -> PyResult<&'static str> {
        Ok(self.model()?.task().name())
    }

    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(self.model()?.seed())
    }

    /// Bytes of the buffers that a device needs.
    #[getter]
    fn ram(&self) -> PyResult<usize> {
        Ok(self.model()?.buffer_sizes(Form::Fast).bytes())
    }

    /// About how many bytes its code takes on a Cortex-M0, in the fast form.
    #[getter]
    fn code(&self) -> PyResult<usize> {
        Ok(koan_trainer::code_bytes(&self.model()?, Form::Fast))
    }

    #[getter]
    fn scale(&self) -> PyResult<f32> {
        Ok(self.model()?.score_scale())
    }

    #[getter]
    fn notes(&self) -> PyResult<&str> {
        Ok(self.model()?.notes())
    }

    /// Families of the banks.
    #[getter]
    fn families(&self) -> PyResult<Vec<&'static str>> {
        Ok(self.model()?.banks().map(|bank| bank.family().name()).collect())
    }

    /// Names of the classes.
    #[getter]
    fn classes(&self) -> PyResult<Vec<String>> {
        Ok(koan_trainer::internal::blob::classes(&self.model()?))
    }

    /// Names of the columns that a row needs, where the model knows them.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        let columns = &self.schema.as_ref()?.columns;
        let inputs = columns.iter().filter(|column| column.inputs() > 0);
        Some(inputs.map(|column| column.name.clone()).collect())
    }

    fn self_test(&self) -> PyResult<()> {
        guarded(|| predictor(&self.bytes).and_then(|mut p| p.self_test()))?.map_err(model)
    }

    /// What is asked of all rows, flat, as an array of numpy's; `zeros`: texts that the model
    /// does not know are taken as none of its values; `impute`: so are texts that are missing.
    #[pyo3(signature = (frame, asked, zeros = false, impute = false, threads = None))]
    fn run<'py>(
        &self,
        frame: &Bound<'py, Frame>,
        asked: &str,
        zeros: bool,
        impute: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = frame.py();
        let model = self.model()?;
        let frame = frame.get();
        let asked = match asked {
            "scores" => Asked::Scores,
            "values" => Asked::Values,
            "classes" => Asked::Classes,
            "probabilities" => Asked::Probabilities,
            "features" => Asked::Features,
            "codes" => Asked::Codes,
            other => return Err(parameter("asked", format!("no {other}"))),
        };
        let lent = frame.lend(py)?;
        let mut encoded = false;
        let whole = match (&frame.parts[..], &lent[..]) {
            ([part], [lent]) => {
                encoded = self.is_encoded(&model, &part.names);
                let raw = encoded || self.is_raw(&model, &part.names);
                raw.then(|| lent.values()).transpose()?
            }
            _ => None,
        };
        let runner = Runner { bytes: &self.bytes, model, asked, rows: frame.rows, threads };
        let known = self.schema.is_some();
        match whole {
            // As they lie.
            Some(Values::F32(rows)) if !known || rows.iter().all(|x| x.is_finite()) => {
                return runner.all(py, rows);
            }
            Some(Values::I16(rows)) => return runner.all(py, rows),
            Some(Values::U8(rows)) => return runner.all(py, rows),
            Some(Values::F64(rows)) if !known => {
                let rows: Vec<f32> = rows.iter().map(|&x| x as f32).collect();
                return runner.all(py, &rows);
            }
            _ => {}
        }
        let mut open;
        let schema = match &self.schema {
            Some(schema) if !encoded => schema,
            _ => {
                open = Schema::new(koan_data::Format::Svmlight);
                open.inputs = runner.model.inputs();
                &open
            }
        };
        // Nothing says whether texts were missing in training; where numbers were, they may have.
        let fills =
            |column: &Column| matches!(column.kind, ColumnKind::Numeric { missing: Some(_) });
        let fills = impute || schema.columns.iter().any(fills);
        let missing = if fills { Missing::Impute } else { Missing::Refuse };
        let builder = frame.builder(&lent)?.missing(missing);
        let unlisted = if zeros { Unlisted::Zeros } else { Unlisted::Refuse };
        let rows = guarded(|| py.detach(|| builder.rows_under(schema, unlisted)))?;
        runner.all(py, &rows.map_err(|error| data(&error))?)
    }
}

impl Blob {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The model in them.
    pub fn model(&self) -> PyResult<Model<'_>> {
        Model::parse(&self.bytes).map_err(model)
    }

    /// How raw columns become inputs.
    pub fn known_schema(&self) -> PyResult<&Schema> {
        let unknown = || parameter("model", "its notes do not say how to read rows");
        self.schema.as_ref().ok_or_else(unknown)
    }

    /// Whether columns of these names are the inputs as they are, one by one.
    fn is_raw(&self, model: &Model<'_>, names: &[String]) -> bool {
        if names.len() != model.inputs() {
            return false;
        }
        let Some(schema) = &self.schema else { return true };
        let inputs: Vec<_> = schema.columns.iter().filter(|column| column.inputs() > 0).collect();
        let numeric = |column: &&Column| matches!(column.kind, ColumnKind::Numeric { .. });
        if inputs.len() != names.len() || !inputs.iter().all(numeric) {
            return false;
        }
        let same = inputs.iter().zip(names).all(|(column, name)| column.name == *name);
        same || names.iter().all(String::is_empty)
    }

    /// Whether columns without names are inputs that texts or windows have become, which are
    /// more than the columns of the model.
    fn is_encoded(&self, model: &Model<'_>, names: &[String]) -> bool {
        let Some(schema) = &self.schema else { return false };
        let columns = schema.columns.iter().filter(|column| column.inputs() > 0).count();
        names.len() == model.inputs()
            && columns != names.len()
            && names.iter().all(String::is_empty)
    }
}

/// How raw columns become inputs, from the notes, if they say it.
fn schema(model: &Model<'_>) -> Option<Schema> {
    koan_trainer::internal::blob::schema(model).ok()
}

/// A model, what is asked of it, and of how many rows.
struct Runner<'m> {
    bytes: &'m [u8],
    model: Model<'m>,
    asked: Asked,
    rows: usize,
    threads: Option<usize>,
}

impl Runner<'_> {
    /// Runs all rows.
    fn all<'py, I: Number>(&self, py: Python<'py>, rows: &[I]) -> PyResult<Bound<'py, PyAny>> {
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
