//! `koan eval`.

use std::time::Instant;

use anyhow::Result;
use koan::Task;
use koan_data::{expand, read_all_with};
use koan_report::{Evaluation, of_evaluation};
use koan_trainer::internal::beyond::Beyond;
use koan_trainer::{Baselines, evaluate};
use serde_json::json;

use crate::arguments::Eval;
use crate::files;
use crate::grid::Grid;
use crate::inspect::summary;
use crate::origin::origin;
use crate::out::{self, say};
use crate::output::{
    self, baselines, counted, error_percent, named_error, read_blob, schema_with_target, task_name,
    tested, write_whole,
};

pub fn run(arguments: &Eval) -> Result<()> {
    let start = Instant::now();
    let files = expand(&arguments.data)?;
    let read = arguments.reading.with_labels(files.clone());
    let inputs = std::iter::once(&arguments.model).chain(&read);
    files::check(inputs, arguments.report.as_deref())?;
    let blob = read_blob(&arguments.model)?;
    // Refuses a foreign generator, and a core that computes otherwise, before any row is read.
    let model = tested(&arguments.model, &blob)?;
    let schema = schema_with_target(&arguments.model, &model)?;
    anyhow::ensure!(
        model.task() != Task::Regression || model.outputs() == 1,
        "{}: an embedding has no target to be judged by",
        arguments.model.display()
    );
    let table = read_all_with(&files, &schema, &arguments.reading.options())?;
    out::warnings(&table.schema.warnings);
    if model.inputs() == table.inputs {
        let mut beyond = Beyond::new(&model);
        (0..table.rows()).for_each(|row| beyond.row(table.row(row)));
        let told = beyond.told(Some(&table.schema));
        told.iter().for_each(|told| out::warn(&format!("warning: {told}")));
    }
    let result = evaluate(&blob, &table)?;
    let seconds = start.elapsed().as_secs_f64();
    // A detector was not told the classes.
    let detects = model.task() == Task::Classification && !model.has_probabilities();
    let compared = if detects { None } else { Baselines::cross_validated(&table, model.seed())? };
    if let Some(path) = &arguments.report {
        let data = arguments.reading.labelled(&files, schema.format);
        let origin = origin(&arguments.model, &data, &[])?;
        let baselines = compared.as_ref();
        let evaluation = Evaluation { blob: &blob, table: &table, baselines, origin: &origin };
        write_whole(path, of_evaluation(&evaluation)?.as_bytes())?;
    }
    if arguments.json {
        let mut object = summary(&model);
        object["error"] = json!(result.error);
        object["rows"] = json!(result.rows);
        object["seconds"] = json!(seconds);
        if let Some(rmse) = result.rmse {
            object["rmse"] = json!(rmse);
        }
        if let Some(auc) = result.auc {
            object["auc"] = json!(auc);
        }
        if let Some(compared) = compared {
            object["baselines"] = json!(compared);
        }
        if !result.confusion.is_empty() {
            object["balanced_error"] = json!(result.balanced_error());
            object["classes"] = json!(schema.classes);
            object["confusion"] = json!(result.confusion);
        }
        out::object(&object)?;
        return Ok(());
    }
    let task = task_name(schema.task());
    say!(
        "{}: {} on {} ({} bytes, {seconds:.2} s)",
        arguments.model.display(),
        named_error(task, result.error),
        counted(result.rows, "row"),
        blob.len()
    )?;
    if let Some(rmse) = result.rmse {
        say!("  {}", output::rmse(rmse, compared.as_ref()))?;
    }
    // Where all classes that occur have as many rows it is the error itself.
    let counts =
        || result.confusion.iter().map(|row| row.iter().sum::<u64>()).filter(|&count| count > 0);
    if counts().min() != counts().max() {
        let balanced = error_percent(task, result.balanced_error());
        say!("  balanced error, the mean over the classes: {balanced}")?;
    }
    if let Some(auc) = result.auc {
        say!("  AUC {auc:.4}")?;
    }
    if let Some(compared) = &compared {
        say!("  baselines, cross-validated on these rows: {}", baselines(task, compared))?;
    }
    if !result.confusion.is_empty() {
        let names: Vec<String> = schema.classes.iter().map(|class| out::name(class)).collect();
        let header = ["actual \\ predicted"].into_iter().chain(names.iter().map(String::as_str));
        let mut table = Grid::new(header);
        for (name, row) in names.iter().zip(&result.confusion) {
            table.row([name.clone()].into_iter().chain(row.iter().map(u64::to_string)));
        }
        say!("{table}")?;
    }
    Ok(())
}
