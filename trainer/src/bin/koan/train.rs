//! `koan train`.

use std::time::Instant;

use anyhow::{Context, Result};
use koan_trainer::data::{ReadOptions, SplitSize, Table, read, read_with, split};
use koan_trainer::progress::Progress;
use koan_trainer::{Trained, train};

use crate::arguments::Train;
use crate::output::{named_error, percent, task_name, write_whole};

pub fn run(arguments: &Train) -> Result<()> {
    let start = Instant::now();
    let progress = Progress::stderr();
    progress.phase("reading");
    let (train_table, test_table) = tables(arguments)?;
    let trained = train(&train_table, &test_table, &arguments.train_options(), &progress);
    progress.finish();
    let Trained { blob, mut report } =
        trained.with_context(|| arguments.data.display().to_string())?;
    write_whole(&arguments.output, &blob)?;
    report.seconds = start.elapsed().as_secs_f64();
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    if arguments.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    println!(
        "{}: {} on {} test rows",
        arguments.output.display(),
        named_error(&report.task, report.error),
        report.rows
    );
    println!(
        "  {} bytes: {} {} features ({}), {} output{}, {} bits a weight",
        report.bytes,
        report.features,
        report.family,
        report.projection,
        report.outputs,
        if report.outputs == 1 { "" } else { "s" },
        report.bits
    );
    println!(
        "  trained on {} rows of {} inputs in {:.1} s, seed {}",
        report.train_rows, report.inputs, report.seconds, report.seed
    );
    let logs = match report.logged_inputs {
        0 => String::new(),
        n => format!(", logarithm of {n} inputs"),
    };
    let relevance = if report.relevance { ", a bandwidth learned for every input" } else { "" };
    let bandwidths: Vec<String> = report.bandwidth.iter().map(|b| format!("{b:.3}")).collect();
    println!(
        "  chosen: {} input map{logs}{relevance}, bandwidth {}, lambda {:.1e}",
        report.map,
        bandwidths.join(", "),
        report.lambda
    );
    println!(
        "  cost of rounding: {} with real weights, {} rounded to the nearest, {} compensated",
        percent(report.error_float),
        percent(report.error_nearest),
        percent(report.error_compensated)
    );
    Ok(())
}

/// Training and test table.
fn tables(arguments: &Train) -> Result<(Table, Table)> {
    let options = arguments.read_options();
    let table = read(&arguments.data, &options)?;
    if let Some(path) = &arguments.test {
        let labels = arguments.test_labels.clone();
        let test = read_with(path, &table.schema, &ReadOptions { labels, ..options })?;
        return Ok((table, test));
    }
    let size = match arguments.train_rows {
        Some(rows) => SplitSize::TrainRows(rows),
        None => SplitSize::TestFraction(arguments.test_fraction),
    };
    let (train_rows, test_rows) = split(&table.target, size, arguments.seed)
        .with_context(|| arguments.data.display().to_string())?;
    anyhow::ensure!(
        !test_rows.is_empty(),
        "{}: no rows are left for the test ({} task, {} rows)",
        arguments.data.display(),
        task_name(table.schema.task()),
        table.rows()
    );
    Ok((table.select(&train_rows), table.select(&test_rows)))
}
