//! How the error depends on what could have been chosen otherwise.

use super::next;
use crate::Result;
use crate::page::Page;
use crate::page::chart::wilson;
use crate::page::plot::{Plot, Point, needs_log, pareto};
use koan_data::Table;
use koan_trainer::internal::learning_curve::{LearningCurves, Run};
use koan_trainer::internal::select::{Choice, Trial};
use koan_trainer::{Report, TrainOptions};

use crate::words::error_percent;

const ERROR: &str = "test error in %";

/// Curves over features, bits and rows, and the front of bytes against error.
pub fn section(
    page: &mut Page,
    curves: &LearningCurves,
    report: &Report,
    test: &Table,
) -> Result<()> {
    page.heading("Other sizes");
    let mut text = format!(
        "Models with the input map and frequencies of this one, fitted again to {} training rows \
         and judged by {} test rows. Nothing was chosen by these errors.",
        curves.train_rows, curves.test_rows
    );
    if curves.train_rows < report.train_rows || curves.features < report.features {
        text += &format!(
            " They are kept small to be quick: the model itself has {} features and was trained on \
             {} rows.",
            report.features, report.train_rows
        );
    }
    page.text(&text);
    let classes = report.task == "classification";
    let intervals = classes && test.division.groups().is_none();
    let shown = Shown { curves, classes, intervals };
    features(page, &shown, report)?;
    bits(page, &shown, report)?;
    front(page, &shown, report)?;
    learning(page, &shown, report)?;
    front_table(page, curves, &report.task);
    Ok(())
}

/// How errors are drawn.
struct Shown<'s> {
    curves: &'s LearningCurves,
    /// Whether errors are shares of rows.
    classes: bool,
    /// Whether these have intervals, as of rows that do not depend on each other.
    intervals: bool,
}

impl Shown<'_> {
    /// A test error in percent, with its 95 % interval where there is one.
    fn point(&self, x: f64, error: f64) -> Point {
        let bar = self.intervals.then(|| wilson(error, self.curves.test_rows));
        let bar = bar.map(|(low, high)| (100.0 * low, 100.0 * high));
        Point { x, y: 100.0 * error, bar }
    }
}

/// A plot of errors over a logarithmic axis, which stops where errors do.
fn error_plot(shown: &Shown<'_>, x: &str, y: &str) -> Plot {
    Plot::new(x, y).log_x().within_y(0.0, if shown.classes { 100.0 } else { f64::INFINITY })
}

/// From 0 where that hides nothing.
fn scaled(plot: Plot, errors: impl Iterator<Item = f64>) -> Plot {
    let ends = errors.fold((f64::INFINITY, 0.0f64), |(a, b), e| (a.min(e), b.max(e)));
    if ends.0 < 0.5 * ends.1 { plot.from_zero() } else { plot }
}

fn features(page: &mut Page, shown: &Shown<'_>, report: &Report) -> Result<()> {
    let curves = shown.curves;
    let with = |bits: u8| curves.runs.iter().rev().filter(move |run| run.bits == bits);
    if with(curves.bits).count() < 2 {
        return Ok(());
    }
    let mut plot = scaled(
        error_plot(shown, "features, K", ERROR),
        with(curves.bits).map(|run| run.error).chain([report.error]),
    );
    if curves.bits != 16 && with(16).count() > 1 {
        plot = plot.series("16 bits", with(16).map(|r| (r.features as f64, 100.0 * r.error)));
    }
    let points = with(curves.bits).map(|run| shown.point(run.features as f64, run.error));
    plot = plot
        .series(&format!("{} bits a weight", curves.bits), points)
        .scatter("this model", [(report.features as f64, 100.0 * report.error)]);
    page.figure(&plot.draw()?, &format!("Error against features{}.", intervals(shown)));
    Ok(())
}

fn bits(page: &mut Page, shown: &Shown<'_>, report: &Report) -> Result<()> {
    let curves = shown.curves;
    let largest: Vec<&Run> = curves.runs.iter().filter(|r| r.features == curves.features).collect();
    if largest.len() < 2 {
        return Ok(());
    }
    let ticks: Vec<f64> = largest.iter().map(|run| f64::from(run.bits)).collect();
    let mut plot = scaled(
        error_plot(shown, "bits of a weight", ERROR).ticks_x(&ticks),
        largest.iter().map(|run| run.error),
    );
    let points = largest.iter().map(|run| shown.point(f64::from(run.bits), run.error));
    plot = plot.series(&format!("{} features", curves.features), points);
    let same = curves.features == report.features && curves.train_rows == report.train_rows;
    if let Some(error) = report.error_float.filter(|_| same) {
        plot = plot.level("real weights", 100.0 * error);
    }
    page.figure(&plot.draw()?, &format!("Error against bits of a weight{}.", intervals(shown)));
    Ok(())
}

fn intervals(shown: &Shown<'_>) -> &'static str {
    if shown.intervals { "; bars are 95 % intervals" } else { "" }
}

fn front(page: &mut Page, shown: &Shown<'_>, report: &Report) -> Result<()> {
    let curves = shown.curves;
    let points = curves.runs.iter().map(|run| (run.bytes as f64, 100.0 * run.error));
    let errors = curves.runs.iter().map(|run| run.error);
    let errors: Vec<f64> = errors.chain([report.error]).collect();
    let plot = error_plot(shown, "bytes of the model", ERROR);
    // Else the end of the front is a flat line at the bottom.
    let plot = if needs_log(&errors) { plot.log_y() } else { scaled(plot, errors.into_iter()) };
    let plot = plot
        .front("these runs", points)
        .scatter("this model", [(report.bytes as f64, 100.0 * report.error)]);
    page.figure(&plot.draw()?, "Bytes against error: what no other of these runs beats in both.");
    Ok(())
}

fn front_table(page: &mut Page, curves: &LearningCurves, task: &str) {
    let points: Vec<(f64, f64)> =
        curves.runs.iter().map(|run| (run.bytes as f64, run.error)).collect();
    let rows = pareto(&points).into_iter().map(|index| {
        let run = &curves.runs[index];
        let cells = [run.bytes, run.features, usize::from(run.bits)].map(|n| n.to_string());
        cells.into_iter().chain([error_percent(task, run.error)])
    });
    page.table("The front", &["bytes", "features", "bits", "test error"], rows);
}

fn learning(page: &mut Page, shown: &Shown<'_>, report: &Report) -> Result<()> {
    let curves = shown.curves;
    if curves.by_rows.len() < 2 {
        return Ok(());
    }
    let tests = curves.by_rows.iter().map(|l| shown.point(l.rows as f64, l.test_error));
    let own = curves.by_rows.iter().map(|l| (l.rows as f64, 100.0 * l.train_error));
    let both = curves.by_rows.iter().flat_map(|l| [l.test_error, l.train_error]);
    let plot = scaled(error_plot(shown, "training rows", "error in %"), both)
        .series("test rows", tests)
        .series("the rows trained on", own);
    let words = next::lesson(&report.task, curves).map_or_else(String::new, |(_, words)| {
        let (first, rest) = words.split_at(1);
        format!(" {}{rest}.", first.to_uppercase())
    });
    page.figure(
        &plot.draw()?,
        &format!(
            "Learning curve of this model: {} features of {} bits.{words}",
            report.features, report.bits
        ),
    );
    page.text(
        "Input map, frequencies and choice of features are those of the model, which all training \
         rows were looked at for: with few rows alone it would be a little worse.",
    );
    Ok(())
}

/// What was tried for input map and frequency.
pub fn search(page: &mut Page, choice: &Choice, options: &TrainOptions) -> Result<()> {
    let trials = &choice.trials;
    if trials.is_empty() {
        return Ok(());
    }
    page.heading("What was searched");
    page.text(
        "Input maps and frequencies are judged by squared error on training rows held out for it; \
         a map that takes more bytes must win by more. The best then meet again on more rows and \
         features: errors of the two comparisons are not the same measure.",
    );
    let mut lines: Vec<(String, Vec<&Trial>)> = Vec::new();
    for trial in trials {
        let name = named(trial);
        match lines.iter_mut().find(|(other, _)| *other == name) {
            Some((_, line)) => line.push(trial),
            None => lines.push((name, vec![trial])),
        }
    }
    for (_, line) in &mut lines {
        line.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
    }
    if options.frequency.is_none() {
        frequencies(page, &lines, false, "First comparison: squared error over the frequency.")?;
        frequencies(page, &lines, true, "Last comparison, on more rows and features.")?;
    }
    let rows = lines.iter().map(|(name, line)| {
        let best = line.iter().copied().min_by(|a, b| a.error.total_cmp(&b.error));
        let [frequency, error] =
            best.map_or([f64::NAN; 2], |t| [t.frequency, t.error]).map(Plot::label);
        [name.clone(), line.len().to_string(), frequency, error]
    });
    page.table("The best of each", &["tried", "times", "frequency", "squared error"], rows);
    Ok(())
}

/// The lines of the first or of the last comparison that have several frequencies.
fn frequencies(
    page: &mut Page,
    lines: &[(String, Vec<&Trial>)],
    last: bool,
    caption: &str,
) -> Result<()> {
    let several = |line: &[&Trial]| line.iter().any(|t| t.frequency != line[0].frequency);
    let shown = |line: &[&Trial]| line[0].last == last && several(line);
    let mut plot = Plot::new("frequency, relative to the spread of the data", "squared error");
    plot = plot.log_x();
    // No logarithm of a fit without error.
    if lines.iter().flat_map(|(_, line)| line).all(|trial| trial.error > 0.0) {
        plot = plot.log_y();
    }
    let mut any = false;
    for (name, line) in lines.iter().filter(|(_, line)| shown(line)) {
        any = true;
        plot = plot.series(name, line.iter().map(|t| (t.frequency, t.error)));
    }
    if any {
        page.figure(&plot.draw()?, caption);
    }
    Ok(())
}

/// What trials have in common that are joined by a line.
fn named(trial: &Trial) -> String {
    let mut name = format!("{} map", trial.map.name());
    if trial.relevance {
        name += ", learned relevance";
    }
    if let Some(law) = trial.threshold {
        name += &format!(", {} thresholds", law.name());
    }
    if trial.dense {
        name += ", dense";
    }
    if trial.last {
        name += " (last)";
    }
    name
}
