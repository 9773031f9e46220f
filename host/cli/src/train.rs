//! `koan train`.

mod check;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use koan::{Form, Model};
use koan_data::{ColumnKind, Schema, Table, expand, folds};
use koan_report::{Training, of_training};
use koan_trainer::internal::stream;
use koan_trainer::tune::train_usual;
use koan_trainer::{
    Checkpoint, Detection, Loss, Progress, Report, Smaller, StreamOptions, TrainOptions, Trained,
    train, train_stream,
};
use serde_json::json;

use crate::arguments::{TaskName, Train};
use crate::grid::wrapped;
use crate::origin::origin;
use crate::out::{self, say};
use crate::output::{self, counted, error_percent, named_error, percent, quoted, write_whole};
use crate::read::{
    BY_FILE, TEST_FRACTION, are_mixed, check_golden_rows, copied, golden, name, shaped, table,
    tables, test_files, ungrouped,
};
use crate::terminal::Terminal;

/// Bytes of all files from which they are streamed.
const STREAM_BYTES: u64 = 1_000_000_000;
/// Rows of the sample that everything but the weights of streamed files is chosen on.
const SAMPLE_ROWS: usize = 60_000;
/// Seconds from one checkpoint to the next.
const CHECKPOINT_EVERY: u64 = 30;
/// Recordings and rows to test on that are few.
const FEW_RECORDINGS: usize = 20;
const FEW_ROWS: usize = 20;

pub fn run(arguments: &Train) -> Result<()> {
    let start = Instant::now();
    check::options(arguments)?;
    let files = expand(&arguments.source.data)?;
    let streamed = arguments.stream.unwrap_or_else(|| are_large(&files));
    if !streamed {
        check::in_memory(arguments)?;
    }
    let output = output::model_path(arguments.output.as_deref(), &arguments.source.data)?;
    let streamed = streamed.then(|| stream_options(arguments, &files, &output)).transpose()?;
    let report = arguments.report.as_deref();
    let checkpoint = streamed.as_ref().map(|stream| stream.checkpoint.as_path());
    let outputs = [Some(output.as_path()), report, checkpoint];
    crate::files::check(&arguments.source.files()?, outputs.into_iter().flatten())?;
    let terminal = Terminal::stderr();
    let progress = terminal.progress();
    progress.phase("reading")?;
    let made = match &streamed {
        Some(stream) => in_blocks(arguments, stream, progress).map(|trained| Made {
            trained,
            target: None,
            numbers_as_classes: None,
            recordings: None,
            tables: None,
        }),
        None => in_memory(arguments, &files, progress),
    };
    let Made { mut trained, target, numbers_as_classes, recordings, tables } = made?;
    write_whole(&output, &trained.blob)?;
    if let Some(stream) = &streamed {
        stream::remove(&stream.checkpoint);
    }
    trained.report.seconds = start.elapsed().as_secs_f64();
    if let (Some(path), Some((train, test))) = (&arguments.report, &tables) {
        let format = train.schema.format;
        let data = arguments.source.reading.labelled(&files, format);
        let tested = arguments.source.labelled_tests(format)?;
        let options = arguments.train_options();
        let origin = origin(&output, &data, &tested)?;
        let training =
            Training { trained: &trained, train, test, options: &options, origin: &origin };
        write_whole(path, of_training(&training, progress)?.as_bytes())?;
    }
    // Before more is printed: the line would stand in it.
    drop(terminal);
    let report = &trained.report;
    let guessed = numbers_as_classes.is_some() && arguments.source.task.is_none();
    for warning in &report.warnings {
        // Counts that were taken for classes are hardly told apart as such.
        let task = if guessed && warning.contains("the most frequent class") {
            "; numbers were taken for classes: --task regression predicts numbers"
        } else {
            ""
        };
        out::warn(&format!("warning: {warning}{task}"));
    }
    if report.nameless {
        out::warn(
            "warning: the names of the columns, too long for the bytes, are left out: the model \
             takes columns in their order",
        );
    }
    let model = Model::parse(&trained.blob)?;
    let schema = koan_trainer::internal::blob::schema(&model)?;
    let held_out = arguments.source.test.is_empty() && report.fold_errors.is_empty();
    if held_out
        && arguments.source.has_target()
        && (1..FEW_ROWS).contains(&report.rows)
        && schema.recordings.group.is_none()
    {
        let rows = counted(report.rows, "test row");
        let say = if report.rows == 1 { "says" } else { "say" };
        out::warn(&format!(
            "warning: {rows} {say} little of others: `--folds 5` tests on every row in turn"
        ));
    }
    // Of files that are streamed, and of columns without names, the notes tell which it is.
    let target = target.or_else(|| schema.target_name().map(str::to_owned));
    let number = target_number(&schema).map(|number| format!("column {number}"));
    if arguments.json {
        let mut object = serde_json::to_value(report)?;
        object["output"] = json!(output.display().to_string());
        object["target"] = json!(target.or(number));
        out::object(&object)?;
        return Ok(());
    }
    let error = named_error(&report.task, report.error);
    match report.fold_errors.len() {
        0 => out::headline(&format!(
            "{}: {error} on {}{}, in {} bytes",
            output.display(),
            counted(report.rows, "test row"),
            recordings.map_or_else(String::new, |count| match count {
                1 => " of 1 recording".to_owned(),
                _ => format!(" of {count} recordings"),
            }),
            report.bytes
        ))?,
        parts => out::headline(&format!(
            "{}: {error} on average over {parts} parts, each tested by a model of the others, \
             in {} bytes",
            output.display(),
            report.bytes
        ))?,
    }
    let few = |&count: &usize| count < FEW_RECORDINGS && arguments.source.test.is_empty();
    if let Some(count) = recordings.filter(few) {
        let text = format!(
            "  {} little: the error depends on which they are; `--folds 5` tests on all",
            if count == 1 {
                "1 recording says".to_owned()
            } else {
                format!("{count} recordings say")
            }
        );
        say!("{}", wrapped(&text, 4))?;
    }
    // A linear model has no projection.
    let projection = match report.projection.as_str() {
        "none" => String::new(),
        name => format!(" ({name})"),
    };
    say!(
        "  {} {} features{projection}, {} output{}, {} bits a weight",
        report.features,
        report.family,
        report.outputs,
        if report.outputs == 1 { "" } else { "s" },
        report.bits
    )?;
    say!(
        "  trained on {} of {} in {:.1} s, seed {}",
        counted(report.train_rows, "row"),
        counted(report.inputs, "input"),
        report.seconds,
        report.seed
    )?;
    let names = bytes_of_names(&model, &schema)?;
    if 3 * names > report.bytes {
        let told = format!(
            "  {names} of the bytes are names of columns: `--no-column-names` leaves them out"
        );
        say!("{}", wrapped(&told, 4))?;
    }
    let form = arguments.with_code.unwrap_or(Form::Fast);
    say!("{}", wrapped(&output::on_device("on a Cortex-M0", &model, form), 4))?;
    let logs = match report.logged_inputs {
        0 => String::new(),
        n => format!(", logarithm of {}", counted(n, "input")),
    };
    let relevance = if report.relevance { ", a frequency learned for every input" } else { "" };
    let chosen = format!(
        "  chosen: {} input map{logs}{relevance}{}{}",
        report.map,
        frequencies(report),
        head(report)
    );
    say!("{}", wrapped(&chosen, 4))?;
    if !report.categories.is_empty() {
        let columns = numbers(&report.categories);
        say!("  columns of whole numbers taken as categories: --text {columns}")?;
    }
    if let Some(weighted) = report.weighted_error {
        let error = named_error(&report.task, weighted);
        let all = if report.baselines.is_some() { ", as for the baselines" } else { "" };
        say!("  {error} with test rows counted by their weights{all}; all else counts them once")?;
    }
    if let (Some(float), Some(nearest), Some(compensated)) =
        (report.error_float, report.error_nearest, report.error_compensated)
    {
        let cost = format!(
            "  cost of rounding: {} with real weights, {} as they are rounded here, {} if each were \
             rounded by itself",
            error_percent(&report.task, float),
            error_percent(&report.task, compensated),
            error_percent(&report.task, nearest)
        );
        say!("{}", wrapped(&cost, 4))?;
    }
    if let Some(Smaller { bytes, held_out, than }) = report.smaller {
        let told = format!(
            "  {bytes} bytes may do (`--flash {bytes}`): {} on rows that the search held out, where \
             this model had {}",
            named_error(&report.task, held_out),
            error_percent(&report.task, than)
        );
        say!("{}", wrapped(&told, 4))?;
    }
    if let Some(found) = &report.baselines {
        say!("  baselines: {}", output::baselines(&report.task, found))?;
    }
    if let Some(rmse) = report.rmse {
        say!("  {}", output::rmse(rmse, report.baselines.as_ref()))?;
    }
    if let Some(detection) = &report.detection {
        say!("  {}", described(detection))?;
    }
    if let (Some(_), None) = (schema.recordings.group, &arguments.source.group) {
        say!("  {BY_FILE}")?;
    }
    if schema.unlabelled() {
        say!("  all columns are inputs: `--target COLUMN` leaves one with labels out")?;
    } else if let (Some(target), None) =
        (target.map(|name| quoted(&out::name(&name))).or(number), &arguments.source.target)
    {
        say!("  target: {target}, the last column; `--target` names another")?;
    }
    let of_notes = || streamed.as_ref().and_then(|_| self::numbers_as_classes(&schema));
    if let (Some(classes), None) = (numbers_as_classes.or_else(of_notes), arguments.source.task) {
        let told = format!(
            "  task: classification, {classes} classes, since the target has few different whole \
             numbers; `--task regression` predicts numbers"
        );
        say!("{}", wrapped(&told, 4))?;
    }
    if arguments.could_be_searched() && streamed.is_none() {
        let told = "  not searched, since options of the model are given: with `--flash 2k` these \
                    are kept, and the rest is chosen for the best model of so many bytes";
        say!("{}", wrapped(told, 4))?;
    }
    let model = quoted(&output.display().to_string());
    say!("Next: `koan inspect {model}` tells what a device needs for it.")?;
    Ok(())
}

/// Bytes of a model's notes that are names of columns: of this schema, as the notes have it.
fn bytes_of_names(model: &Model<'_>, schema: &Schema) -> Result<usize> {
    let nameless = serde_json::to_string(&schema.clone().without_names().for_notes())?;
    Ok(model.notes().len().saturating_sub(nameless.len()))
}

/// The number of the target among the columns, if it is one of them.
fn target_number(schema: &Schema) -> Option<usize> {
    let place = schema.columns.iter().position(|column| column.kind == ColumnKind::Target);
    place.map(|place| place + 1)
}

/// Numbers of columns, as options take them.
pub fn numbers(columns: &[usize]) -> String {
    columns.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Whether the files together are better streamed.
fn are_large(files: &[PathBuf]) -> bool {
    let lengths = files.iter().filter_map(|file| file.metadata().ok()).map(|m| m.len());
    lengths.sum::<u64>() >= STREAM_BYTES
}

/// The frequencies of the banks that have one.
fn frequencies(report: &Report) -> String {
    let banks = report.family.split(',').zip(&report.frequency);
    let drawn = banks.filter(|(family, _)| !["linear", "maxout"].contains(family));
    let all: Vec<String> = drawn.map(|(_, frequency)| format!("{frequency:.3}")).collect();
    if all.is_empty() { String::new() } else { format!(", frequency {}", all.join(", ")) }
}

/// How the head was fitted.
fn head(report: &Report) -> String {
    let Some(loss) = report.loss else { return String::new() };
    let boxed = report.box_c.map_or(String::new(), |c| format!(" within a box of {c}"));
    match loss {
        Loss::Squared if report.box_c.is_none() => format!(", lambda {:.1e}", report.lambda),
        _ => format!(", {} loss{boxed}, lambda {:.1e}", loss.name(), report.lambda),
    }
}

/// What a detector does on the test rows.
fn described(detection: &Detection) -> String {
    let part = |share: Option<f64>, what: &str| match share {
        Some(share) => format!("{} of {what}", percent(share)),
        None => format!("no {what} to judge by"),
    };
    let auc = detection.auc.map_or(String::new(), |auc| format!(", AUC {auc:.4}"));
    format!(
        "alarms: {}, {}{auc}",
        part(detection.false_alarms, "normal rows"),
        part(detection.detected, "anomalies")
    )
}

/// What was made.
struct Made {
    trained: Trained,
    /// The target's name, if it has one that is known.
    target: Option<String>,
    /// Classes that are numbers; none where they could be nothing else, or are only two.
    numbers_as_classes: Option<usize>,
    /// Recordings that the test rows are of, where rows are of some.
    recordings: Option<usize>,
    /// The tables to train and to test on, where a report asks for them.
    tables: Option<(Table, Table)>,
}

/// How to train on the files block by block.
fn stream_options(arguments: &Train, files: &[PathBuf], output: &Path) -> Result<StreamOptions> {
    let sample_rows = arguments.sample_rows.unwrap_or(SAMPLE_ROWS);
    anyhow::ensure!(
        arguments.golden_rows <= sample_rows,
        "--golden-rows {}: from 0 to {sample_rows}, the rows of the sample",
        arguments.golden_rows
    );
    let given = [
        ("--train-rows", arguments.source.train_rows.is_some()),
        ("--folds", arguments.folds.is_some()),
        ("--task embedding", matches!(arguments.source.task, Some(TaskName::Embedding))),
        ("--task anomaly", matches!(arguments.source.task, Some(TaskName::Anomaly))),
        ("--loss hinge", arguments.loss == Some(Loss::Hinge)),
        ("--box", arguments.box_c.is_some()),
        ("--candidates", arguments.candidates.is_some()),
        ("--flash", arguments.flash.is_some()),
        ("--report", arguments.report.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        anyhow::bail!("{option} needs the rows in memory: say `--stream no` or leave it out");
    }
    let mut beside = output.as_os_str().to_owned();
    beside.push(".checkpoint");
    Ok(StreamOptions {
        files: files.to_vec(),
        read: arguments.source.read_options(),
        test: test_files(&arguments.source)?,
        read_test: arguments.source.test_options(),
        test_fraction: arguments.source.test_fraction.unwrap_or(TEST_FRACTION),
        sample_rows,
        checkpoint: arguments.checkpoint.clone().unwrap_or_else(|| beside.into()),
        interval: Duration::from_secs(arguments.checkpoint_every.unwrap_or(CHECKPOINT_EVERY)),
    })
}

/// Trains on files block by block, from a checkpoint if there is one.
fn in_blocks(arguments: &Train, stream: &StreamOptions, progress: &Progress) -> Result<Trained> {
    let options = arguments.train_options();
    let checkpoint = Checkpoint::load(stream, &options)?;
    if let Some(checkpoint) = &checkpoint {
        let (done, rows) = checkpoint.progress();
        let file = stream.checkpoint.display();
        out::warn(&format!("resuming from {file}: {done} of {rows} rows done"));
    }
    let trained = train_stream(stream, &options, checkpoint, progress);
    let mut trained = trained.map_err(|error| match error {
        // Those of data name the file themselves.
        koan_trainer::Error::Data(_) => anyhow::Error::from(error),
        _ => anyhow::Error::from(error).context(name(&stream.files)),
    })?;
    if are_mixed(&arguments.source) && stream.test.is_empty() {
        trained.report.warnings.push(ungrouped(&stream.files).to_string());
    }
    let copied = copied(&arguments.source, &stream.files)?;
    trained.report.warnings.extend(copied.map(|warning| warning.to_string()));
    Ok(trained)
}

/// Trains on tables in memory.
fn in_memory(arguments: &Train, files: &[PathBuf], progress: &Progress) -> Result<Made> {
    let given = arguments.train_options();
    // What is searched sees the training rows alone.
    let trained = |table: &Table, test: &Table| -> Result<Trained, koan_trainer::Error> {
        let Some(limits) = arguments.searched() else {
            return train(table, Some(test), &given, progress);
        };
        let families = arguments.families();
        let found = train_usual(table, Some(test), &given, &families, limits, progress)
            .map_err(|error| golden(error, arguments.golden_rows))?;
        Ok(found.0)
    };
    let trained = match arguments.folds {
        Some(count) => {
            let table = table(&arguments.source, files)?;
            let table = shaped(table, arguments.shape, arguments.map)?;
            check_golden_rows(arguments.golden_rows, &table)?;
            let target = table.schema.target_name().map(str::to_owned);
            let numbers_as_classes = numbers_as_classes(&table.schema);
            cross_validated(&table, count, &given, &trained).map(|trained| Made {
                trained,
                target,
                numbers_as_classes,
                recordings: None,
                tables: None,
            })
        }
        None => {
            let (train_table, test_table) =
                tables(&arguments.source, files, arguments.shape, arguments.map)?;
            check_golden_rows(arguments.golden_rows, &train_table)?;
            let trained = trained(&train_table, &test_table);
            let trained = trained.with_context(|| name(files))?;
            let target = train_table.schema.target_name().map(str::to_owned);
            let numbers_as_classes = numbers_as_classes(&train_table.schema);
            let recordings = test_table.division.groups();
            if arguments.report.is_none() {
                let tables = None;
                return Ok(Made { trained, target, numbers_as_classes, recordings, tables });
            }
            let columns: Vec<usize> = trained.report.categories.iter().map(|n| n - 1).collect();
            let train = train_table.with_categories(&columns)?;
            let test = test_table.with_categories_of(&train.schema);
            let tables = Some((train, test));
            Ok(Made { trained, target, numbers_as_classes, recordings, tables })
        }
    };
    trained.with_context(|| name(files))
}

/// How many classes a table of columns has, if they are whole numbers, and more than two.
fn numbers_as_classes(schema: &Schema) -> Option<usize> {
    let classes = &schema.classes;
    let of_columns = schema.columns.iter().any(|column| column.kind == ColumnKind::Target);
    let numbers = classes.iter().all(|class| class.parse::<i64>().is_ok());
    (of_columns && numbers && classes.len() > 2).then_some(classes.len())
}

/// A model of all rows, with the errors of models of all parts but one on that
/// one.
fn cross_validated(
    table: &Table,
    count: usize,
    options: &TrainOptions,
    trained: &dyn Fn(&Table, &Table) -> Result<Trained, koan_trainer::Error>,
) -> Result<Trained> {
    let parts = folds(table, count, options.seed)?;
    let mut reports = Vec::new();
    for part in 0..count {
        let (test, fit): (Vec<usize>, Vec<usize>) =
            (0..table.rows()).partition(|&row| parts[row] == part);
        let fit = table.select(&fit);
        reports.push(trained(&fit, &table.select(&test))?.report);
    }
    let mut trained = trained(table, table)?;
    trained.report.over_folds(&reports, table, options);
    Ok(trained)
}
