//! `koan shrink`.

mod page;
mod told;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use koan::{Form, Model, Task};
use koan_data::{Division, ReadOptions, Schema, Table, Target, copies, expand, read_all_with};
use koan_trainer::tune::{Core, code_bytes};
use koan_trainer::{Loss, ShrinkOptions, Shrunk, evaluate, shrink};

use crate::arguments::{ClassWeights, Shrink, for_tests};
use crate::files::check;
use crate::out;
use crate::output::{read_blob, schema_with_target, task_name, tested, write_whole};
use crate::read::{divided, known_tests, ungrouped};
use crate::terminal::Terminal;
use told::Told;

pub fn run(arguments: &Shrink) -> Result<()> {
    let data = expand(&arguments.data)?;
    let test_files = expand(&arguments.test)?;
    let names: Vec<PathBuf> = arguments.flash.iter().map(|&flash| name(arguments, flash)).collect();
    let mut inputs = arguments.reading.with_labels(data.clone());
    inputs.extend(arguments.reading.with_labels(test_files.clone()));
    inputs.extend(arguments.test_labels.clone());
    inputs.push(arguments.model.clone());
    let outputs = names.iter().map(PathBuf::as_path).chain(arguments.report.as_deref());
    check(&inputs, outputs)?;
    let old = read_blob(&arguments.model)?;
    let model = tested(&arguments.model, &old)?;
    let schema = schema_with_target(&arguments.model, &model)?;
    can_be_shrunk(&arguments.model, &model, &schema)?;
    let reading = arguments.reading.options();
    let read = ReadOptions { weights: arguments.weights.clone(), ..reading };
    let labels = arguments.test_labels.as_deref();
    let read_test = for_tests(read.clone(), &arguments.test, labels, &arguments.test_arrays);
    known_tests(&arguments.test, &read_test, &arguments.test_arrays)?;
    let planned = Duration::from_secs_f64(60.0 * arguments.minutes);
    let terminal = Terminal::within(Some(planned).filter(|planned| !planned.is_zero()));
    let progress = terminal.progress();
    progress.phase("reading")?;
    let table = read_all_with(&data, &schema, &read)?;
    let own_parts = matches!(table.division, Division::Parts(_));
    let (mut train, test) = if arguments.test.is_empty() {
        divided(table, arguments.train_rows, arguments.test_fraction, model.seed(), &data)?
    } else {
        (table, read_all_with(&test_files, &schema, &read_test)?)
    };
    let mixed = schema.recordings.window.is_some() && schema.recordings.group.is_none();
    if mixed && arguments.test.is_empty() {
        train.schema.warnings.push(ungrouped(&data));
    }
    train.schema.warnings.extend(copies(&[&data[..], &test_files].concat()));
    has_all_classes(&train, &arguments.data)?;
    terminal.suspend(|| out::warnings(&train.schema.warnings));
    let classes = !schema.classes.is_empty();
    let options = ShrinkOptions {
        flash: arguments.flash.clone(),
        bits: arguments.bits.clone(),
        candidates: arguments.candidates.clone(),
        loss: arguments.loss.unwrap_or(if classes { Loss::Logistic } else { Loss::Squared }),
        balanced: arguments.class_weights == ClassWeights::Balanced,
        time: planned,
    };
    let start = Instant::now();
    let found = shrink(&old, &train, &options, progress);
    let took = start.elapsed();
    drop(terminal);
    let found = found.with_context(|| arguments.model.display().to_string())?;
    if !options.time.is_zero() {
        out::overrun(
            took,
            options.time,
            "reading and the first candidates do not look at the clock",
        );
    }
    for (found, name) in found.iter().zip(&names) {
        write_whole(name, &found.blob)?;
        for warning in &found.warnings {
            out::warn(&format!("warning: {warning}"));
        }
    }
    let before = Quality::new(&old, &test)?;
    let judge = |found: Shrunk| Quality::new(&found.blob, &test).map(|now| (found, now));
    let found = found.into_iter().map(judge).collect::<Result<Vec<_>>>()?;
    let task = task_name(schema.task());
    if let Some(path) = &arguments.report {
        page::write(path, arguments, task, before, &found)?;
    }
    let mut told = Vec::new();
    for ((found, now), name) in found.iter().zip(&names) {
        let own_seed = match found.own_seed == found.blob {
            true => now.error,
            false => Quality::new(&found.own_seed, &test)?.error,
        };
        let (options, before, old, rows) = (&options, &before, &old[..], test.rows());
        told.push(Told { arguments, options, task, name, found, now, own_seed, before, old, rows });
    }
    if arguments.json {
        return told::objects(&told);
    }
    told.iter().try_for_each(|told| told.print(own_parts, took))
}

/// Refuses models that have no target which a smaller one could be fitted to.
fn can_be_shrunk(path: &Path, model: &Model<'_>, schema: &Schema) -> Result<()> {
    anyhow::ensure!(
        model.task() != Task::Regression || model.outputs() == 1,
        "{}: an embedding has no target that a smaller model could be fitted to: `koan train --task \
         embedding` with fewer --features, or --bits, makes a smaller one",
        path.display()
    );
    anyhow::ensure!(
        schema.classes.is_empty() || model.has_probabilities(),
        "{}: a detector of anomalies, which shrinking would make a classification of those that \
         these rows have: `koan train --task anomaly` with fewer --features or --bits makes a \
         smaller one",
        path.display()
    );
    Ok(())
}

/// A smaller model of rows that lack a class would never say it.
fn has_all_classes(table: &Table, data: &[PathBuf]) -> Result<()> {
    let Target::Classes { labels } = &table.target else { return Ok(()) };
    let mut found = vec![false; table.schema.classes.len()];
    for &label in labels {
        if let Some(found) = found.get_mut(label as usize) {
            *found = true;
        }
    }
    let lacking = table.schema.classes.iter().zip(found).filter(|(_, found)| !found);
    let lacking: Vec<String> = lacking.map(|(class, _)| out::name(class)).collect();
    let data: Vec<String> = data.iter().map(|path| path.display().to_string()).collect();
    anyhow::ensure!(
        lacking.is_empty(),
        "{}: no rows to train on of {} {} that the model has: the smaller one would never say it; \
         give it the data that the model was trained on",
        data.join(" "),
        if lacking.len() == 1 { "the class" } else { "the classes" },
        lacking.join(", ")
    );
    Ok(())
}

/// The file of the model of so many bytes: with several sizes these are in its name.
fn name(arguments: &Shrink, flash: usize) -> PathBuf {
    let output = &arguments.output;
    if arguments.flash.len() == 1 {
        return output.clone();
    }
    let mut name = output.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{flash}"));
    if let Some(extension) = output.extension() {
        name.push(".");
        name.push(extension);
    }
    output.with_file_name(name)
}

/// A model on test rows.
#[derive(Clone, Copy)]
struct Quality {
    bytes: usize,
    error: f64,
    /// With rows counted by their weights, if they have some.
    weighted: Option<f64>,
    /// The mean over the classes.
    balanced: Option<f64>,
    /// Of a prediction on a Cortex-M0, about.
    instructions: u64,
    /// Bytes of the code that it needs there, about.
    code: usize,
}

impl Quality {
    fn new(blob: &[u8], test: &Table) -> Result<Self> {
        let model = Model::parse(blob)?;
        let found = evaluate(blob, test)?;
        Ok(Self {
            bytes: blob.len(),
            error: found.error,
            weighted: found.weighted_error,
            balanced: (!found.confusion.is_empty()).then(|| found.balanced_error()),
            instructions: Core::CortexM0.instructions_of(&model),
            code: code_bytes(&model, Form::Fast),
        })
    }

    /// Bytes of the model and its code.
    fn flash(&self) -> usize {
        self.bytes + self.code
    }

    /// Errors in which rows or classes count as they do for the new model, with their names in
    /// JSON and in words.
    fn by_weight(&self, options: &ShrinkOptions) -> Vec<(&'static str, &'static str, f64)> {
        let balanced = self.balanced.filter(|_| options.balanced);
        let weighted = self
            .weighted
            .map(|error| ("weighted_error", "with test rows counted by their weights", error));
        let balanced =
            balanced.map(|error| ("balanced_error", "mean error over the classes", error));
        weighted.into_iter().chain(balanced).collect()
    }
}
