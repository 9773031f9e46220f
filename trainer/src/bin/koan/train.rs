//! `koan train`.

use std::time::Instant;

use anyhow::{Context, Result};
use koan_trainer::data::{ReadOptions, SplitSize, Table, read, read_with, split};
use koan_trainer::progress::Progress;
use koan_trainer::solve::Loss;
use koan_trainer::unsupervised::Detection;
use koan_trainer::{Report, Trained, train};

use crate::arguments::{TaskName, Train};
use crate::output::{baselines, named_error, percent, task_name, write_whole};

pub fn run(arguments: &Train) -> Result<()> {
    let start = Instant::now();
    check(arguments)?;
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
        "  chosen: {} input map{logs}{relevance}, bandwidth {}{}",
        report.map,
        bandwidths.join(", "),
        head(&report)
    );
    if let (Some(float), Some(nearest), Some(compensated)) =
        (report.error_float, report.error_nearest, report.error_compensated)
    {
        println!(
            "  cost of rounding: {} with real weights, {} rounded to the nearest, {} compensated",
            percent(float),
            percent(nearest),
            percent(compensated)
        );
    }
    if let Some(found) = &report.baselines {
        println!("  baselines: {}", baselines(found));
    }
    if let Some(detection) = &report.detection {
        println!("  {}", described(detection));
    }
    Ok(())
}

/// Options that only mean something to one task.
fn check(arguments: &Train) -> Result<()> {
    let anomaly = matches!(arguments.task, Some(TaskName::Anomaly));
    anyhow::ensure!(arguments.normal.is_none() || anomaly, "--normal goes with --task anomaly");
    let target = !anomaly && !matches!(arguments.task, Some(TaskName::Embedding));
    anyhow::ensure!(
        target || (arguments.loss == Loss::Squared && arguments.box_c.is_none()),
        "--loss and --box are for tasks with a target"
    );
    Ok(())
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
