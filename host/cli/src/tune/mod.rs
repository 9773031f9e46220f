//! `koan tune`.

mod command;
mod page;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use koan::{Form, Model};
use koan_data::{Table, expand};
use koan_report::{Search, shown};
use koan_trainer::tune::{Metric, Outcome, Tuned, code_bytes, tune};
use serde_json::{Value, json};

use crate::arguments::Tune;
use crate::files::{check, prepare_folder};
use crate::grid::{Grid, wrapped};
use crate::out::{self, say};
use crate::output::{baselines, counted, number, quoted, write_whole};
use crate::read::{BY_FILE, check_golden_rows, golden, name, tables};
use crate::terminal::Terminal;
use command::train_command;

pub fn run(arguments: &Tune) -> Result<()> {
    let start = Instant::now();
    anyhow::ensure!(
        arguments.source.has_target(),
        "a search needs a target to judge models by: anomalies and embeddings are trained by \
         `koan train`"
    );
    anyhow::ensure!(arguments.source.normal.is_none(), "--normal goes with --task anomaly");
    if let Some(report) = &arguments.report {
        let named = report.extension().is_some_and(|end| end == "koan");
        anyhow::ensure!(
            !named || !report.starts_with(&arguments.output),
            "{}: a model may have this name: a report is a page",
            report.display()
        );
    }
    let files = expand(&arguments.source.data)?;
    // Before minutes are spent.
    let inputs = arguments.source.files()?;
    prepare_folder(&arguments.output, &inputs)?;
    check(&inputs, arguments.report.as_deref())?;
    let planned = Duration::from_secs_f64(60.0 * arguments.minutes);
    let terminal = Terminal::within(Some(planned).filter(|_| !arguments.no_clock));
    let progress = terminal.progress();
    progress.phase("reading")?;
    let (train, test) = tables(&arguments.source, &files, arguments.shape, arguments.map)?;
    check_golden_rows(arguments.golden_rows, &train)?;
    terminal.suspend(|| out::warnings(&train.schema.warnings));
    let options = arguments.tune_options();
    let outcome = tune(&train, Some(&test), &options, progress);
    drop(terminal);
    let outcome = outcome.map_err(|error| golden(error, arguments.golden_rows));
    let outcome = outcome.with_context(|| name(&files))?;
    let reports = outcome.front.iter().map(|tuned| &tuned.report);
    let names = file_names(reports.map(|report| (report.bytes, report.family.as_str())));
    let paths: Vec<PathBuf> = names.iter().map(|name| arguments.output.join(name)).collect();
    for (path, tuned) in paths.iter().zip(&outcome.front) {
        write_whole(path, &tuned.blob)?;
    }
    let others = others(&arguments.output, &paths);
    let seconds = start.elapsed().as_secs_f64();
    let given: Vec<OsString> = std::env::args_os().collect();
    let left_out = left_out(&outcome, &train)?;
    let command = |index: usize| {
        let options = &outcome.front[index].point.options;
        train_command(&given, options, &left_out, &paths[index])
    };
    if let Some(path) = &arguments.report {
        page::write(path, &outcome, &paths, &command, arguments)?;
    }
    if outcome.cut {
        out::warn(
            "warning: there was not time for all of the search that was planned: another machine, \
             or another run, may find another model; more --minutes, or --no-clock, avoid that",
        );
    }
    if !arguments.no_clock {
        out::overrun(
            start.elapsed(),
            planned,
            "reading, the smallest search and the training of the best model on all rows do not \
             look at the clock",
        );
    }
    let recommended = searched(&outcome, arguments).recommended();
    if let Some(best) = outcome.front.get(recommended) {
        // Of the data they have been told.
        let told: Vec<String> = train.schema.warnings.iter().map(ToString::to_string).collect();
        for warning in best.report.warnings.iter().filter(|warning| !told.contains(warning)) {
            out::warn(&format!("warning: {warning}"));
        }
    }
    if arguments.json {
        let points: Vec<Value> = (0..outcome.front.len())
            .map(|index| {
                point_json(&outcome.front[index], &paths[index], &command(index), arguments)
            })
            .collect();
        let object = json!({
            "metric": arguments.metric.name(),
            "core": arguments.core.name(),
            "train_rows": train.rows(),
            "rows": test.rows(),
            "seconds": seconds,
            "rungs": outcome.rungs,
            "cut": outcome.cut,
            "column_names": !outcome.nameless && !arguments.no_column_names,
            "front": points,
            "recommended": recommended,
            "other_files": others,
        });
        out::object(&object)?;
        return Ok(());
    }
    say!("{}\n", wrapped(&legend(arguments), 0))?;
    say!("{}\n", front_table(&outcome, arguments))?;
    let best = outcome.front.get(recommended);
    if let Some(told) = best.and_then(|best| compared(best, arguments.metric)) {
        say!("{}\n", wrapped(&told, 2))?;
    }
    let folder = arguments.output.join("BYTES-FAMILY.koan");
    say!("Each is a file {}.{}\n", folder.display(), earlier(others))?;
    out::headline(&wrapped(&recommendation(&outcome, &paths, arguments), 0))?;
    say!("It is what this command makes:\n\n  {}\n", command(recommended))?;
    if train.schema.recordings.group.is_some() && arguments.source.group.is_none() {
        say!("{}\n", wrapped(BY_FILE, 0))?;
    }
    let rungs: Vec<String> = outcome
        .rungs
        .iter()
        .map(|rung| {
            format!("{} on {}", counted(rung.candidates, "candidate"), counted(rung.rows, "row"))
        })
        .collect();
    let searched = format!(
        "Searched: {}, then {}; {seconds:.0} s in all.",
        rungs.join(", then "),
        counted(outcome.judged.len(), "finished model")
    );
    say!("{}", wrapped(&searched, 0))?;
    let best = paths.get(recommended).map(|path| path.display().to_string());
    let best = quoted(&best.unwrap_or_default());
    let next = format!("Next: `koan inspect {best}` tells what a device needs for it.");
    say!("{}", wrapped(&next, 2))?;
    Ok(())
}

/// The columns of the table that the search left out, from 0: the same for all models.
fn left_out(outcome: &Outcome, table: &Table) -> Result<Vec<usize>> {
    let Some(first) = outcome.front.first() else { return Ok(Vec::new()) };
    let schema = koan_trainer::internal::blob::schema(&Model::parse(&first.blob)?)?;
    Ok(table.schema.left_out_by(&schema))
}

/// How many models are in the folder beside those that were written.
fn others(folder: &Path, written: &[PathBuf]) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let models = entries.flatten().map(|entry| entry.path()).filter(|path| {
        path.extension().is_some_and(|end| end == "koan") && !written.contains(path)
    });
    models.count()
}

/// What is said of them.
fn earlier(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " The other .koan file there is of an earlier run.".to_owned(),
        _ => format!(" The {others} other .koan files there are of earlier runs."),
    }
}

/// What baselines reach on the test rows.
fn compared(best: &Tuned, metric: Metric) -> Option<String> {
    let found = best.report.baselines.as_ref()?;
    Some(match (metric, found.constant_rmse) {
        (Metric::Rmse, Some(constant)) => {
            let linear = found.linear_rmse.map(|rmse| format!(", linear {}", number(rmse)));
            format!(
                "Baselines on the test rows: constant {}{}",
                number(constant),
                linear.unwrap_or_default()
            )
        }
        _ => {
            let measure = if metric == Metric::Error { "" } else { ", by their error" };
            let task = &best.report.task;
            format!("Baselines on the test rows{measure}: {}", baselines(task, found))
        }
    })
}

/// Names of files for models of so many bytes and of these families, no two of them the same.
fn file_names<'a>(models: impl Iterator<Item = (usize, &'a str)>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (bytes, family) in models {
        let stem = format!("{bytes}-{}", family.replace(',', "-"));
        let numbered = (2..).map(|number| format!("{stem}-{number}.koan"));
        let mut free = std::iter::once(format!("{stem}.koan")).chain(numbered);
        names.extend(free.find(|name| !names.contains(name)));
    }
    names
}

/// The form whose code is told: the one that counts, if one does.
fn form(arguments: &Tune) -> Form {
    arguments.with_code.unwrap_or(Form::Fast)
}

/// About how many bytes the code of a model takes in this form.
fn code_of(tuned: &Tuned, form: Form) -> usize {
    Model::parse(&tuned.blob).map_or(tuned.report.code_bytes, |model| code_bytes(&model, form))
}

/// The search, with the code in the form that is told.
fn searched(outcome: &Outcome, arguments: &Tune) -> Search {
    let mut search = Search::of(outcome, arguments.metric, true);
    for (model, tuned) in search.front.iter_mut().zip(&outcome.front) {
        model.code = code_of(tuned, form(arguments));
    }
    search
}

/// What the columns of the table are.
fn legend(arguments: &Tune) -> String {
    let (metric, core) = (arguments.metric.name(), arguments.core.name());
    let (form, other) = match form(arguments) {
        Form::Fast => ("fast", ""),
        Form::Small => ("small", ", in the fast form"),
    };
    let by_weight = if arguments.source.weights.is_none() || arguments.metric != Metric::Error {
        ""
    } else {
        ", each counted by its weight"
    };
    format!(
        "{metric} on training rows held out and on test rows{by_weight}; code: about, in the {form} \
         form in Rust on a Cortex-M0; RAM: bytes of buffers{other}; instructions: about, of a prediction on a \
         {core}{other}."
    )
}

/// In place of a figure that the test rows do not give.
const NONE: &str = "–";

fn front_table(outcome: &Outcome, arguments: &Tune) -> Grid {
    let metric = arguments.metric;
    let headers =
        ["bytes", "code", "held out", "test", "family", "features", "bits", "RAM", "instructions"];
    let mut table = Grid::new(headers).text(&[4]);
    let search = searched(outcome, arguments);
    let shown = |loss| shown(&search.task, metric, loss);
    for model in search.front {
        table.row([
            model.bytes.to_string(),
            model.code.to_string(),
            shown(model.held_out),
            model.test.map_or_else(|| NONE.to_owned(), shown),
            model.family,
            model.features,
            model.bits.to_string(),
            model.ram.to_string(),
            model.instructions.to_string(),
        ]);
    }
    table
}

/// What to take, in a sentence.
fn recommendation(outcome: &Outcome, paths: &[PathBuf], arguments: &Tune) -> String {
    let recommended = searched(outcome, arguments).recommended();
    let (Some(best), Some(path)) = (outcome.front.get(recommended), paths.get(recommended)) else {
        return String::new();
    };
    let metric = arguments.metric;
    let shown = |loss| shown(&best.report.task, metric, loss);
    let tested = match metric.is_defined(&best.test) {
        true => format!("{} on the test rows", shown(metric.loss(&best.test))),
        false => format!("the test rows give no {}", metric.name()),
    };
    let mut text = format!(
        "Take {}: {} {} in {} bytes ({tested})",
        path.display(),
        metric.name(),
        shown(best.point.loss),
        best.report.bytes,
    );
    // One that is nearly as good and much smaller, or much faster, is worth a mention.
    let least = |suits: &dyn Fn(&Tuned) -> bool| {
        let good = |tuned: &&Tuned| tuned.point.loss <= 1.15 * best.point.loss;
        outcome.front.iter().filter(good).find(|tuned| suits(tuned))
    };
    let small = least(&|tuned| 2 * tuned.report.bytes <= best.report.bytes);
    let fast = least(&|tuned| 4 * tuned.point.instructions <= best.point.instructions);
    let instructions = |tuned: &Tuned| format!("about {} instructions", tuned.point.instructions);
    let mut enough = Vec::new();
    match (small, fast) {
        (Some(both), Some(fast)) if both.report.bytes == fast.report.bytes => {
            enough.push((format!("{} bytes and {}", both.report.bytes, instructions(both)), both));
        }
        _ => {
            enough.extend(small.map(|small| (format!("{} bytes", small.report.bytes), small)));
            enough.extend(fast.map(|fast| (instructions(fast), fast)));
        }
    }
    for (what, tuned) in enough {
        let _ = write!(text, "; {what} are enough for {}", shown(tuned.point.loss));
    }
    if let Some(first) = outcome.front.get(recommended + 1..).and_then(<[Tuned]>::last) {
        let _ = write!(
            text,
            "; by the smoothed error that the search compares models by, which depends less on \
             chance, the model of {} bytes is better, but on held-out rows its {} is {}, and it needs \
             no fewer bytes or instructions",
            first.report.bytes,
            metric.name(),
            shown(first.point.loss)
        );
    }
    if outcome.nameless {
        text.push_str(
            "; the names of columns, which would take too much of the flash, are left out",
        );
    }
    text.push('.');
    text
}

fn point_json(tuned: &Tuned, path: &Path, command: &str, arguments: &Tune) -> Value {
    let Tuned { point, report, test, .. } = tuned;
    let (metric, form) = (arguments.metric, form(arguments));
    json!({
        "file": path.display().to_string(),
        "bytes": report.bytes,
        "code_bytes": code_of(tuned, form),
        "code_form": if form == Form::Small { "small" } else { "fast" },
        "ram": point.ram,
        "instructions": point.instructions,
        "held_out": metric.value(point.loss),
        "test": metric.is_defined(test).then(|| metric.value(metric.loss(test))),
        "command": command,
        "report": report,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_the_same_size_and_family_do_not_replace_each_other() {
        let models =
            [(330, "fourier"), (330, "fourier,linear"), (330, "fourier"), (330, "fourier")];
        assert_eq!(
            file_names(models.into_iter()),
            [
                "330-fourier.koan",
                "330-fourier-linear.koan",
                "330-fourier-2.koan",
                "330-fourier-3.koan"
            ]
        );
    }
}
