//! Models, and rows of tables as what they take.

use koan::{Form, Model};
use koan_data::{Column, ColumnKind, Missing, Schema, Unlisted, Values};
use koan_trainer::internal::blob::predictor;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{data, guarded, model, parameter};
use crate::frame::Frame;
use crate::runner::{Asked, Runner};

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

    /// Instructions of a prediction from a row of integers, as predicted for a core.
    fn instructions(&self, core: &str) -> PyResult<u64> {
        Ok(crate::options::core_of(core)?.instructions_of(&self.model()?))
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
    /// `stand_ins` are those for missing numbers, of each column of the table that was trained on,
    /// where the model has none.
    #[pyo3(signature = (frame, asked, zeros = false, impute = false, threads = None, stand_ins = None))]
    fn run<'py>(
        &self,
        frame: &Bound<'py, Frame>,
        asked: &str,
        zeros: bool,
        impute: bool,
        threads: Option<usize>,
        stand_ins: Option<Vec<Option<f32>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = frame.py();
        let model = self.model()?;
        let own = stand_ins.and_then(|stand_ins| self.completed(&stand_ins));
        let own = own.as_ref().or(self.schema.as_ref());
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
        let lent = match own {
            Some(schema) => frame.lend_to(py, schema)?,
            None => frame.lend(py)?,
        };
        let mut encoded = false;
        let whole = match (&frame.parts[..], &lent[..]) {
            ([part], [lent]) => {
                encoded = self.is_encoded(&model, &part.names);
                let raw = encoded || self.is_raw(&model, &part.names);
                raw.then(|| lent.values()).transpose()?
            }
            _ => None,
        };
        let schema = self.schema.as_ref();
        let runner = Runner { bytes: &self.bytes, model, asked, rows: frame.rows, schema, threads };
        let known = own.is_some();
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
        let schema = match own {
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

    /// How raw columns become inputs, with stand-ins for columns that have none.
    fn completed(&self, stand_ins: &[Option<f32>]) -> Option<Schema> {
        Some(self.schema.clone()?.with_stand_ins(stand_ins))
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
