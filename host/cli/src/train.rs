//! `koan train`.

mod check;
mod summary;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use koan::Model;
use koan_data::{ColumnKind, Schema, Table, Target, expand, folds};
use koan_report::{Training, of_training};
use koan_trainer::internal::stream;
use koan_trainer::tune::train_usual;
use koan_trainer::{
    Checkpoint, Evaluation, Loss, Progress, StreamOptions, TrainOptions, Trained, evaluate, train,
    train_stream,
};

use crate::arguments::{TaskName, Train};
use crate::origin::origin;
use crate::out;
use crate::output::{self, write_whole};
use crate::read::{
    TEST_FRACTION, are_mixed, check_golden_rows, copied, golden, name, shaped, table, tables,
    test_files, ungrouped,
};
use crate::terminal::Terminal;
use summary::Summary;

/// Bytes of all files from which they are streamed.
const STREAM_BYTES: u64 = 1_000_000_000;
/// Rows of the sample that everything but the weights of streamed files is chosen on.
const SAMPLE_ROWS: usize = 60_000;
/// Seconds from one checkpoint to the next.
const CHECKPOINT_EVERY: u64 = 30;

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
            uneven: None,
            tables: None,
        }),
        None => in_memory(arguments, &files, progress),
    };
    let Made { mut trained, target, numbers_as_classes, recordings, uneven, tables } = made?;
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
    let model = Model::parse(&trained.blob)?;
    let schema = koan_trainer::internal::blob::schema(&model)?;
    let of_notes = || streamed.as_ref().and_then(|_| self::numbers_as_classes(&schema));
    let summary = Summary {
        arguments,
        output: &output,
        report: &trained.report,
        model: &model,
        schema: &schema,
        // Of files that are streamed, and of columns without names, the notes tell which it is.
        target: target.or_else(|| schema.target_name().map(str::to_owned)),
        numbers_as_classes: numbers_as_classes.or_else(of_notes),
        recordings,
        uneven,
        streamed: streamed.is_some(),
    };
    summary.warn();
    if arguments.json { summary.object() } else { summary.print() }
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

/// What was made.
struct Made {
    trained: Trained,
    /// The target's name, if it has one that is known.
    target: Option<String>,
    /// Classes that are numbers; none where they could be nothing else, or are only two.
    numbers_as_classes: Option<usize>,
    /// Recordings that the test rows are of, where rows are of some.
    recordings: Option<usize>,
    /// How good the model is on the test rows, where some classes have many more of them.
    uneven: Option<Evaluation>,
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
        ("--ram", arguments.ram.is_some()),
        ("--instructions", arguments.instructions.is_some()),
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
                uneven: None,
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
            let mut made = Made {
                trained,
                target,
                numbers_as_classes,
                recordings,
                uneven: None,
                tables: None,
            };
            // Detectors and embeddings have labels beside them, and predict none.
            let predicts = Model::parse(&made.trained.blob)?.has_probabilities();
            let uneven = predicts && is_uneven(&test_table);
            if uneven || arguments.report.is_some() {
                let train = as_trained(&train_table, &made.trained)?;
                let test = test_table.with_categories_of(&train.schema);
                made.uneven = uneven.then(|| evaluate(&made.trained.blob, &test)).transpose()?;
                made.tables = arguments.report.is_some().then_some((train, test));
            }
            Ok(made)
        }
    };
    trained.with_context(|| name(files))
}

/// Whether a class has at least twice as many rows as another one that occurs.
fn is_uneven(table: &Table) -> bool {
    let Target::Classes { labels } = &table.target else { return false };
    let mut counts = vec![0; table.schema.classes.len()];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    let there = || counts.iter().filter(|&&count| count > 0);
    there().min().zip(there().max()).is_some_and(|(least, most)| 2 * least <= *most)
}

/// The table that a model was made of: what was asked for, but for what the search chose.
fn as_trained(table: &Table, trained: &Trained) -> Result<Table> {
    let schema = koan_trainer::internal::blob::schema(&Model::parse(&trained.blob)?)?;
    let table = table.without_columns(&table.schema.left_out_by(&schema));
    let categories: Vec<usize> = trained.report.categories.iter().map(|n| n - 1).collect();
    Ok(table.with_categories(&categories)?)
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
