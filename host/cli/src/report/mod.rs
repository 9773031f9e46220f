//! `--report`: what was done and how good it is, as a page for people.

mod curves;
mod data;
mod drift;
mod importance;
mod model;
mod next;
mod parts;
mod quality;
mod thresholds;
mod verdict;
mod worst;

use std::path::{Path, PathBuf};

use crate::page::Page;
use anyhow::{Context, Result};
use koan::Model;
use koan_data::Table;
use koan_trainer::internal::learning_curve::learning_curves;
use koan_trainer::{Baselines, Goal, Progress, Report, TrainOptions, Trained};

use crate::output::percent;
use verdict::Judged;

/// What a training was given.
pub struct Given<'g> {
    /// Files that were trained on.
    pub files: &'g [PathBuf],
    /// Files of the test rows; none if they were held out.
    pub test_files: &'g [PathBuf],
    /// The rows.
    pub train: &'g Table,
    /// The rows to judge by.
    pub test: &'g Table,
    /// What was asked for.
    pub options: &'g TrainOptions,
}

/// Writes the page of a training.
pub fn of_training(
    path: &Path,
    name: &Path,
    given: &Given<'_>,
    trained: &Trained,
    progress: &Progress,
) -> Result<()> {
    let Trained { blob, report, choice } = trained;
    let model = Model::parse(blob)?;
    let predicts = given.options.goal == Goal::Predict;
    let curves = if predicts {
        let options = as_chosen(given.options, report);
        Some(learning_curves(
            (blob, report.lambda),
            given.train,
            given.test,
            &choice.spec,
            &options,
            progress,
        )?)
    } else {
        None
    };
    let mut page = Page::new(&format!("{}: a koan model", file_name(name)));
    let found = if predicts { quality::found(blob, given.test)? } else { Vec::new() };
    let judged = Judged {
        model: &model,
        task: &report.task,
        error: report.error,
        rows: report.rows,
        called: "test rows",
        baselines: report.baselines.as_ref(),
    };
    let drift = drift::measure(given.train, given.test);
    let steps = if predicts {
        next::steps(report, &model, curves.as_ref(), &found, drift.as_ref())
    } else {
        Vec::new()
    };
    page.verdict(&verdict::of(&judged, steps));
    // The verdict says it already.
    for warning in report.warnings.iter().filter(|w| !w.starts_with("the model is no better")) {
        page.warning(warning);
    }
    page.heading("How good it is");
    errors(&mut page, trained);
    if let (Some(detection), Goal::Detect { normal, .. }) = (&report.detection, given.options.goal)
    {
        quality::detection(&mut page, detection, blob, given.test, normal)?;
    }
    match given.options.goal {
        Goal::Predict => quality::predictions(&mut page, blob, &model, given.test)?,
        Goal::Embed { .. } => quality::embedding(&mut page, blob, given.test)?,
        Goal::Features | Goal::Detect { .. } => {}
    }
    if predicts {
        progress.phase("report: shuffling inputs")?;
        quality::details(&mut page, &model, given.test)?;
    }
    if let Some(curves) = &curves {
        curves::section(&mut page, curves, report)?;
    }
    curves::search(&mut page, choice, given.options)?;
    page.heading("The data");
    data::files(&mut page, given.files, given.test_files)?;
    data::facts(&mut page, &[("training", given.train), ("test", given.test)], predicts);
    drift::section(&mut page, drift.as_ref());
    model::section(&mut page, &model, Some(choice));
    repeat(&mut page, &model, Some(report.seconds));
    page.write(path).with_context(|| format!("cannot write {}", path.display()))
}

/// The options with the loss and the bits that a search chose.
fn as_chosen(options: &TrainOptions, report: &Report) -> TrainOptions {
    let loss = report.loss.unwrap_or(options.loss);
    TrainOptions { loss, bits: Some(report.bits), ..options.clone() }
}

/// What an evaluation was given and found.
pub struct Evaluated<'j> {
    /// Files of the rows.
    pub files: &'j [PathBuf],
    /// The rows.
    pub table: &'j Table,
    /// The model's error on them.
    pub error: f64,
}

/// Writes the page of an evaluation.
pub fn of_evaluation(
    path: &Path,
    name: &Path,
    model: &Model<'_>,
    judged: &Evaluated<'_>,
    baselines: Option<&Baselines>,
) -> Result<()> {
    let &Evaluated { files, table, error } = judged;
    let mut page = Page::new(&format!("{}: an evaluation", file_name(name)));
    page.verdict(&verdict::of(
        &Judged {
            model,
            task: crate::output::task_name(table.schema.task()),
            error,
            rows: table.rows(),
            called: "rows",
            baselines,
        },
        Vec::new(),
    ));
    page.heading("How good it is");
    let mut rows = vec![("the model".to_owned(), error)];
    rows.extend(baselines.map(baseline_rows).unwrap_or_default());
    let caption = "Error on these rows; baselines are cross-validated on them";
    errors_table(&mut page, caption, rows);
    quality::predictions(&mut page, model.blob(), model, table)?;
    quality::details(&mut page, model, table)?;
    page.heading("The data");
    data::files(&mut page, files, &[])?;
    data::facts(&mut page, &[("rows", table)], true);
    model::section(&mut page, model, None);
    repeat(&mut page, model, None);
    page.write(path).with_context(|| format!("cannot write {}", path.display()))
}

/// The model beside what it must beat and what rounding costs.
fn errors(page: &mut Page, trained: &Trained) {
    let report = &trained.report;
    let mut rows = vec![("the model".to_owned(), report.error)];
    for (name, error) in [
        ("the same with real weights", report.error_float),
        ("with each weight rounded to the nearest level", report.error_nearest),
    ] {
        rows.extend(error.map(|error| (name.to_owned(), error)));
    }
    rows.extend(report.baselines.as_ref().map(baseline_rows).unwrap_or_default());
    let measure = match report.task.as_str() {
        "regression" => "Relative RMS error: RMSE over the RMS of the target",
        "embedding" => "Share of the features' variance that is lost",
        _ => "Share of the test rows that are misclassified",
    };
    errors_table(page, measure, rows);
}

/// Predictors with their errors, and bars.
fn errors_table(page: &mut Page, caption: &str, rows: Vec<(String, f64)>) {
    let largest = rows.iter().map(|row| row.1).fold(f64::MIN_POSITIVE, f64::max);
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, error)| (vec![name, percent(error)], vec![error / largest]))
        .collect();
    page.bars(caption, &["predictor", "error"], &["error"], &rows);
}

fn baseline_rows(baselines: &Baselines) -> Vec<(String, f64)> {
    let mut rows = vec![("baseline: a constant".to_owned(), baselines.constant)];
    let linear = baselines.linear;
    rows.extend(linear.map(|error| ("baseline: linear in the inputs".to_owned(), error)));
    rows
}

/// All that is needed to do it again.
fn repeat(page: &mut Page, model: &Model<'_>, seconds: Option<f64>) {
    page.heading("How to repeat it");
    page.text(
        "The same files, command and version give the same bytes, with any number of threads.",
    );
    page.code(&command_line(std::env::args().skip(1)));
    let mut facts = vec![
        ("koan", env!("CARGO_PKG_VERSION").to_owned()),
        ("format", koan::format::VERSION.to_string()),
        ("seed", model.seed().to_string()),
        ("CRC-32 of the model", format!("{:08x}", crc32fast::hash(model.blob()))),
    ];
    facts.extend(
        seconds.map(|seconds| ("seconds (this page not counted)", format!("{seconds:.1}"))),
    );
    page.facts("This run", facts);
}

/// The command as it can be typed into a shell.
fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,+-@%".contains(c);
    let quoted = arguments.map(|argument| {
        if !argument.is_empty() && argument.chars().all(plain) {
            argument
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    });
    std::iter::once("koan".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use koan_trainer::{Loss, Progress, train};

    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let arguments = ["train", "my data.csv", "--target", "it's", "--drop", ""];
        let line = command_line(arguments.into_iter().map(str::to_owned));
        assert_eq!(line, r"koan train 'my data.csv' --target 'it'\''s' --drop ''");
    }

    #[test]
    fn other_sizes_have_the_loss_and_the_bits_of_the_model() {
        let table = koan_data::digits::table().select(&(0..100).collect::<Vec<_>>());
        let found = TrainOptions {
            features: vec![16],
            frequency: Some(vec![1.0]),
            lambda: Some(0.01),
            loss: Loss::Logistic,
            bits: Some(3),
            ..TrainOptions::default()
        };
        let report = train(&table, None, &found, &Progress::none()).unwrap().report;
        let options = as_chosen(&TrainOptions::default(), &report);
        assert_eq!((options.loss, options.bits), (Loss::Logistic, Some(3)));
    }
}
