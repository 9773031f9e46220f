//! Training and searching.

use std::collections::HashMap;
use std::time::Instant;

use koan_data::{Missing, Table, TableBuilder};
use koan_report::Search;
use koan_trainer::{Goal, Outcome, Progress, Report, Tuned};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::Serialize;

use crate::error::{guarded, parameter, shortened, to_train_on};
use crate::export::names_of;
use crate::frame::{Data, Frame};
use crate::options::{Parameters, parameters};
use crate::work;

/// What rows are learned from besides their inputs: name and values, and whether these are
/// classes.
pub type Target<'py> = Option<(String, Bound<'py, PyAny>, bool)>;

/// The columns of `frame` as a table. `roles` says which columns, from 0, are no inputs:
/// `target`, `weights`, `groups` or `unused`; their values are given apart.
#[allow(clippy::too_many_arguments, reason = "they are what Python gives")]
pub fn table(
    frame: &Bound<'_, Frame>,
    roles: &HashMap<usize, String>,
    target: &Target<'_>,
    weights: Option<&Bound<'_, PyAny>>,
    groups: Option<&Bound<'_, PyAny>>,
    given: &Parameters<'_, '_>,
    threads: Option<usize>,
) -> PyResult<Table> {
    let py = frame.py();
    let frame = frame.get();
    let own = |values: Option<&Bound<'_, PyAny>>| values.map(Data::of).transpose();
    let labels = own(target.as_ref().map(|(_, values, _)| values))?;
    let (weights, groups) = (own(weights)?, own(groups)?);
    let lent = frame.lend(py)?;
    let lent_labels = labels.as_ref().map(|data| data.lend(py)).transpose()?;
    let lent_weights = weights.as_ref().map(|data| data.lend(py)).transpose()?;
    let lent_groups = groups.as_ref().map(|data| data.lend(py)).transpose()?;
    let mut labels = match (&lent_labels, target) {
        (Some(lent), Some((name, _, classes))) => Some((lent.values()?, name.as_str(), *classes)),
        _ => None,
    };
    let mut weights = lent_weights.as_ref().map(|lent| lent.values()).transpose()?;
    let mut groups = lent_groups.as_ref().map(|lent| lent.values()).transpose()?;
    let mut builder = TableBuilder::new(frame.rows).threads(work::wanted(threads));
    let mut index = 0;
    for (part, lent) in frame.parts.iter().zip(&lent) {
        let role = roles.get(&index).map(String::as_str);
        index += part.names.len();
        let name = part.names.first().map_or("", String::as_str);
        builder = match role {
            None => part.input(builder, lent.values()?),
            Some("target") => match labels.take() {
                Some((values, _, true)) => builder.classes(name, values),
                Some((values, _, false)) => builder.values(name, values),
                None => builder.unused(name),
            },
            Some("weights") => match weights.take() {
                Some(values) => builder.weight_column(name, values),
                None => builder.unused(name),
            },
            Some("groups") => match groups.take() {
                Some(values) => builder.group_column(name, values),
                None => builder.unused(name),
            },
            Some(_) => builder.unused(name),
        };
    }
    builder = match labels {
        Some((values, name, true)) => builder.classes(name, values),
        Some((values, name, false)) => builder.values(name, values),
        None if lent_labels.is_none() => builder.unlabelled(),
        None => builder,
    };
    if let Some(values) = weights {
        builder = builder.weights(values);
    }
    if let Some(values) = groups {
        builder = builder.groups(values);
    }
    let impute = given.impute()?;
    if impute {
        builder = builder.missing(Missing::Impute);
    }
    if let Some(shape) = given.shape()? {
        builder = builder.shape(shape);
    }
    guarded(|| py.detach(|| builder.build()))?.map_err(|error| to_train_on(&error, !impute))
}

/// What a training gives: the bytes, the report as JSON, and of a search how good the model was on
/// held-out rows (the share misclassified, or the relative error) and its parameters; the names of
/// [`names_of`]; and of each column what stands in for missing values, if they are imputed.
type Learned<'py> = (
    Bound<'py, PyBytes>,
    String,
    Option<f64>,
    Option<Bound<'py, PyDict>>,
    Option<String>,
    Option<Vec<Option<f32>>>,
);

/// What [`tune`] gives.
type Searched<'py> = (Bound<'py, PyList>, bool, String, Option<Vec<Option<f32>>>);

/// Trains a model.
#[pyfunction]
#[pyo3(signature = (frame, roles, target, weights, groups, given, threads = None, listener = None))]
#[allow(clippy::too_many_arguments, reason = "Python has names for them")]
pub fn train<'py>(
    py: Python<'py>,
    frame: &Bound<'py, Frame>,
    roles: HashMap<usize, String>,
    target: Target<'py>,
    weights: Option<Bound<'py, PyAny>>,
    groups: Option<Bound<'py, PyAny>>,
    given: &Bound<'py, PyDict>,
    threads: Option<usize>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<Learned<'py>> {
    let given = Parameters(given);
    let options = given.train_options(given.goal()?)?;
    let searched = given.searched(&options)?;
    given.check(&options, searched.as_ref().map(|(_, families)| &families[..]))?;
    let table = table(frame, &roles, &target, weights.as_ref(), groups.as_ref(), &given, threads)?;
    let impute = given.impute()?;
    let start = Instant::now();
    let (mut trained, point, names, stand_ins) =
        work::run(py, threads, listener, move |progress| {
            let (trained, point) = match searched {
                Some((limits, families)) => {
                    koan_trainer::train_usual(&table, None, &options, &families, limits, progress)
                        .map(|(trained, point)| (trained, Some(point)))
                }
                None => koan_trainer::train(&table, None, &options, progress).map(|t| (t, None)),
            }?;
            let names = names_of(&table, &trained.blob);
            let stand_ins = impute.then(|| table.stand_ins());
            Ok((trained, point, names, stand_ins))
        })?;
    // The search is a part of it, as in what the command tells.
    trained.report.seconds = start.elapsed().as_secs_f64();
    let found = point.as_ref().map(|point| parameters(py, &point.options)).transpose()?;
    let blob = PyBytes::new(py, &trained.blob);
    let held_out = point.map(|point| point.loss);
    Ok((blob, report_json(&trained.report)?, held_out, found, names, stand_ins))
}

/// Searches for models: those of the front, the best last, and whether there was not time for
/// all that was planned; what [`search`](crate::report::search) makes a page of; and stand-ins, as
/// [`train`].
#[pyfunction]
#[pyo3(signature = (frame, roles, target, weights, groups, given, threads = None, listener = None))]
#[allow(clippy::too_many_arguments, reason = "Python has names for them")]
pub fn tune<'py>(
    py: Python<'py>,
    frame: &Bound<'py, Frame>,
    roles: HashMap<usize, String>,
    target: Target<'py>,
    weights: Option<Bound<'py, PyAny>>,
    groups: Option<Bound<'py, PyAny>>,
    given: &Bound<'py, PyDict>,
    threads: Option<usize>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<Searched<'py>> {
    let given = Parameters(given);
    let options = given.tune_options()?;
    let table = table(frame, &roles, &target, weights.as_ref(), groups.as_ref(), &given, threads)?;
    let (metric, impute) = (options.metric, given.impute()?);
    let work = move |progress: &Progress| {
        let outcome = koan_trainer::tune(&table, None, &options, progress)?;
        let names = outcome.front.iter().map(|found| names_of(&table, &found.blob)).collect();
        Ok((outcome, names, impute.then(|| table.stand_ins())))
    };
    let (outcome, names, stand_ins): (Outcome, Vec<_>, _) = work::run(py, threads, listener, work)?;
    let front = PyList::empty(py);
    for (Tuned { point, blob, report, .. }, names) in outcome.front.iter().zip(names) {
        let found = PyDict::new(py);
        found.set_item("blob", PyBytes::new(py, blob))?;
        found.set_item("ram", point.ram)?;
        found.set_item("instructions", point.instructions)?;
        found.set_item("held_out", metric.value(point.loss))?;
        found.set_item("params", parameters(py, &point.options)?)?;
        found.set_item("report", report_json(report)?)?;
        found.set_item("names", names)?;
        front.append(found)?;
    }
    let search = json(&Search::of(&outcome, metric, false))?;
    Ok((front, outcome.cut, search, stand_ins))
}

/// A report as JSON, its warnings without hundreds of digits.
pub(crate) fn report_json(report: &Report) -> PyResult<String> {
    let mut report = report.clone();
    for warning in &mut report.warnings {
        *warning = shortened(warning);
    }
    json(&report)
}

pub(crate) fn json(found: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(found).map_err(|error| PyValueError::new_err(error.to_string()))
}

impl Parameters<'_, '_> {
    /// What the outputs are to be.
    fn goal(&self) -> PyResult<Goal> {
        let text = |name: &str| -> PyResult<Option<String>> {
            let value = self.0.get_item(name)?.filter(|value| !value.is_none());
            value.map(|value| value.extract()).transpose()
        };
        Ok(match text("goal")?.as_deref() {
            None | Some("predict") => Goal::Predict,
            Some("features") => Goal::Features,
            Some("detect") => {
                let rate = self.number("false_alarm", 0.01, "a number between 0 and 1")?;
                Goal::Detect { normal: None, false_alarm: rate }
            }
            Some(other) => return Err(parameter("goal", format!("no {other}"))),
        })
    }

    /// Whether stand-ins are made for missing values.
    fn impute(&self) -> PyResult<bool> {
        let all = ["refuse", "impute"];
        Ok(self.named("missing", &all, |name| name)? == Some("impute"))
    }
}
