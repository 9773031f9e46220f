//! Pages about models: what `koan eval --report` and `koan train --report` write, of rows from
//! memory.

use std::collections::HashMap;

use koan_data::{ColumnKind, Division, Missing, Schema, Table, Target as Labels, Unlisted, Values};
use koan_report::{
    Error, Evaluation, Origin, Search, Training, of_evaluation, of_search, of_training,
};
use koan_trainer::{Baselines, Goal, TrainOptions, evaluate};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{data, guarded, parameter};
use crate::frame::{Data, Frame};
use crate::model::Blob;
use crate::options::Parameters;
use crate::train::{Target, table};
use crate::work;

/// Rows to judge by: their inputs, their targets (places of classes, or numbers), whether texts that
/// the model does not know are none of its values, stand-ins for missing numbers, where the model
/// has none, and how much each row counts.
type Judged<'py> =
    (Bound<'py, Frame>, Bound<'py, PyAny>, bool, Option<Vec<Option<f32>>>, Option<Vec<f32>>);

/// Rows that were trained on, as `train` takes them, with the parameters of the estimator and
/// those that make what its search found again.
type Learned<'py> = (
    Bound<'py, Frame>,
    HashMap<usize, String>,
    Target<'py>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyDict>,
    Option<Bound<'py, PyDict>>,
);

/// The page of a model that is judged by rows. `called` is its name, and what is typed to have
/// the page again.
#[pyfunction]
#[pyo3(signature = (blob, judged, called, threads = None, listener = None))]
pub fn evaluation(
    py: Python<'_>,
    blob: &Bound<'_, Blob>,
    judged: Judged<'_>,
    called: (String, String),
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let blob = blob.get();
    let table = judged_table(py, blob.known_schema()?, &judged)?;
    let (bytes, seed) = (blob.as_bytes().to_vec(), blob.model()?.seed());
    let origin = Origin::of_python(&called.0, &called.1);
    // A detector learned from no target: what does, had more to go by.
    let comparable = !table.schema.unlabelled();
    done(work::run(py, threads, listener, move |_| {
        let baselines = match comparable {
            true => Baselines::cross_validated(&table, seed)?,
            false => None,
        };
        let baselines = baselines.as_ref();
        let evaluation = Evaluation { blob: &bytes, table: &table, baselines, origin: &origin };
        apart(of_evaluation(&evaluation))
    }))
}

/// The page of a training: the model is trained again, which gives its bytes, and judged by other
/// rows. `seconds` are those of the fit.
#[pyfunction]
#[pyo3(signature = (blob, judged, learned, called, seconds, threads = None, listener = None))]
#[allow(clippy::too_many_arguments, reason = "Python has names for them")]
pub fn training(
    py: Python<'_>,
    blob: &Bound<'_, Blob>,
    mut judged: Judged<'_>,
    learned: Learned<'_>,
    called: (String, String),
    seconds: f64,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (frame, roles, target, weights, groups, given, found) = learned;
    let given = Parameters(&given);
    let train = table(&frame, &roles, &target, weights.as_ref(), groups.as_ref(), &given, threads)
        .map_err(|error| of_training_rows(py, error))?;
    let own = blob.get().known_schema()?;
    // What a search left out is no input.
    let train = match &train.schema.left_out_by(own)[..] {
        [] => train,
        left_out => train.without_columns(left_out),
    };
    // A missing number is none of the values where numbers are categories.
    for (stand_in, column) in judged.3.iter_mut().flatten().zip(&own.columns) {
        if !matches!(column.kind, ColumnKind::Numeric { .. }) {
            *stand_in = Some(f32::NAN);
        }
    }
    let test = judged_table(py, &train.schema, &judged)?;
    let asked = given.train_options(Goal::Predict)?;
    let wanted = match &found {
        Some(found) => Parameters(found).train_options(Goal::Predict)?,
        None => asked.clone(),
    };
    let bytes = blob.get().as_bytes().to_vec();
    let origin = Origin::of_python(&called.0, &called.1);
    done(work::run(py, threads, listener, move |progress| {
        let mut trained = koan_trainer::train(&train, Some(&test), &wanted, progress)?;
        if trained.blob != bytes {
            return Ok(Err(None));
        }
        trained.report.seconds = seconds;
        trained.report.nameless = asked.column_names && !wanted.column_names;
        // The tables that the model was made of; what is fitted to them has no categories.
        let categories: Vec<usize> = trained.report.categories.iter().map(|n| n - 1).collect();
        let train = train.with_categories(&categories)?;
        let test = test.with_categories_of(&train.schema);
        let options = TrainOptions { categories: Vec::new(), ..asked };
        let training = Training {
            trained: &trained,
            train: &train,
            test: &test,
            options: &options,
            origin: &origin,
        };
        apart(of_training(&training, progress))
    }))
}

/// The page of a search, and of the models of its front by rows to judge them by, if there are
/// any. `made` is what is typed to have them again.
#[pyfunction]
#[pyo3(signature = (search, blobs, judged, made, threads = None, listener = None))]
pub fn search(
    py: Python<'_>,
    search: &str,
    blobs: Vec<Bound<'_, Blob>>,
    judged: Option<Judged<'_>>,
    made: String,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut search: Search =
        serde_json::from_str(search).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut tables = Vec::new();
    if let Some(judged) = judged {
        for blob in &blobs {
            let blob = blob.get();
            let table = judged_table(py, blob.known_schema()?, &judged)?;
            tables.push((blob.as_bytes().to_vec(), table));
        }
    }
    done(work::run(py, threads, listener, move |_| {
        for (model, (blob, table)) in search.front.iter_mut().zip(&tables) {
            let found = evaluate(blob, table)?;
            model.test = search.metric.is_defined(&found).then(|| search.metric.loss(&found));
        }
        apart(of_search(&search, &search.verdict(), &[made]))
    }))
}

/// Rows to judge by, under the schema of a model or of the rows that it was trained on.
fn judged_table(py: Python<'_>, schema: &Schema, judged: &Judged<'_>) -> PyResult<Table> {
    let (frame, target, zeros, stand_ins, weights) = judged;
    let frame = frame.get();
    let target = Data::of(target)?;
    let lent = target.lend(py)?;
    let target = match (lent.values()?, schema.classes.len()) {
        (Values::F64(values), 0) => Labels::Values(values.iter().map(|&y| y as f32).collect()),
        (Values::I64(places), classes) if classes > 0 => {
            let place =
                |&place: &i64| u32::try_from(place).ok().filter(|&p| (p as usize) < classes);
            let labels = places.iter().map(place).collect::<Option<_>>();
            Labels::Classes { labels: labels.ok_or_else(|| parameter("y", "no such class"))? }
        }
        _ => return Err(parameter("y", "neither classes nor numbers")),
    };
    let lent = frame.lend_to(py, schema)?;
    // What training has taken is taken.
    let builder = frame.builder(&lent)?.missing(Missing::Impute);
    let unlisted = if *zeros { Unlisted::Zeros } else { Unlisted::Refuse };
    let under = schema.clone().with_stand_ins(stand_ins.as_deref().unwrap_or_default());
    let values = guarded(|| py.detach(|| builder.rows_under(&under, unlisted)))?;
    let values = values.map_err(|error| data(&error))?;
    let (inputs, schema) = (schema.inputs, schema.clone());
    let weights = weights.clone();
    if weights.as_ref().is_some_and(|weights| weights.len() != target.len()) {
        return Err(parameter("sample_weight", "another number of them than of rows"));
    }
    Ok(Table { inputs, values, target, schema, division: Division::Free, weights })
}

/// What is wrong with the rows that were trained on, by the names that they have here.
fn of_training_rows(py: Python<'_>, error: PyErr) -> PyErr {
    let text = error.value(py).to_string();
    match text.split_once(": ") {
        Some((name @ ("X" | "y" | "sample_weight" | "groups"), problem)) => {
            PyValueError::new_err(format!("{name}_train: {problem}"))
        }
        _ => error,
    }
}

/// A page, or why there is none: a fault in words, or none if the rows are not those of the fit.
type Made = Result<String, Option<String>>;

/// What training fails with apart from the rest.
fn apart(page: Result<String, Error>) -> Result<Made, koan_trainer::Error> {
    match page {
        Ok(page) => Ok(Ok(page)),
        Err(Error::Training(error)) => Err(error),
        Err(other) => Ok(Err(Some(other.to_string()))),
    }
}

fn done(made: PyResult<Made>) -> PyResult<String> {
    made?.map_err(|problem| match problem {
        Some(problem) => PyRuntimeError::new_err(problem),
        None => PyValueError::new_err(
            "X_train: other rows, targets, weights or groups than those of fit, or parameters that \
             were changed since: they make another model",
        ),
    })
}
