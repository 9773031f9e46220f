//! How the error depends on what could have been chosen otherwise.

use anyhow::Result;
use koan_trainer::page::{Page, plot::Plot, plot::pareto};
use koan_trainer::select::{Choice, Trial};
use koan_trainer::study::{Run, Study};
use koan_trainer::{Report, TrainOptions};

use crate::output::percent;

const ERROR: &str = "test error in %";

/// Curves over features, bits and rows, and the front of bytes against error.
pub fn section(page: &mut Page, study: &Study, report: &Report) -> Result<()> {
    page.heading("Other sizes");
    let mut text = format!(
        "Models with the input map and bandwidths of this one, fitted again to {} training rows \
         and judged by {} test rows. Nothing was chosen by these errors.",
        study.train_rows, study.test_rows
    );
    if study.train_rows < report.train_rows || study.features < report.features {
        text += &format!(
            " To be quick they see at most {} features and {} rows; the model itself has {} and {}.",
            study.features, study.train_rows, report.features, report.train_rows
        );
    }
    page.text(&text);
    let model = [(report.features as f64, 100.0 * report.error)];
    let own: Vec<&Run> = study.runs.iter().filter(|run| run.bits == study.bits).collect();
    if own.len() > 1 {
        let points = own.iter().rev().map(|run| (run.features as f64, 100.0 * run.error));
        let mut plot = Plot::new("features, K", ERROR).log_x().from_zero();
        plot = plot.series(&format!("{} bits a weight", study.bits), points);
        let full = study.runs.iter().filter(|run| run.bits == 16).count();
        if study.bits != 16 && full > 1 {
            let exact = study.runs.iter().rev().filter(|run| run.bits == 16);
            plot = plot.series("16 bits", exact.map(|r| (r.features as f64, 100.0 * r.error)));
        }
        page.figure(&plot.scatter("this model", model).draw()?, "Error against features.");
    }
    let largest = study.runs.iter().filter(|run| run.features == study.features);
    let points: Vec<_> = largest.map(|r| (f64::from(r.bits), 100.0 * r.error)).collect();
    if points.len() > 1 {
        let ticks: Vec<f64> = points.iter().map(|point| point.0).collect();
        let mut plot = Plot::new("bits of a weight", ERROR).log_x().ticks_x(&ticks).from_zero();
        plot = plot.series(&format!("{} features", study.features), points);
        if let Some(error) = report.error_float.filter(|_| study.features == report.features) {
            plot = plot.level("real weights", 100.0 * error);
        }
        page.figure(&plot.draw()?, "Error against bits of a weight.");
    }
    front(page, study, report)?;
    learning(page, study)
}

fn front(page: &mut Page, study: &Study, report: &Report) -> Result<()> {
    let points: Vec<(f64, f64)> =
        study.runs.iter().map(|run| (run.bytes as f64, 100.0 * run.error)).collect();
    let model = [(report.bytes as f64, 100.0 * report.error)];
    let plot = Plot::new("bytes of the model", ERROR).log_x().from_zero();
    page.figure(
        &plot.front("these runs", points.iter().copied()).scatter("this model", model).draw()?,
        "Bytes against error: what no other of these runs beats in both.",
    );
    let rows = pareto(&points).into_iter().map(|index| {
        let run = &study.runs[index];
        let cells = [run.bytes, run.features, usize::from(run.bits)].map(|n| n.to_string());
        cells.into_iter().chain([percent(run.error)])
    });
    page.table("The front", &["bytes", "features", "bits", "test error"], rows);
    Ok(())
}

fn learning(page: &mut Page, study: &Study) -> Result<()> {
    if study.lessons.len() < 2 {
        return Ok(());
    }
    let points = |error: fn(&koan_trainer::study::Lesson) -> f64| {
        study.lessons.iter().map(move |lesson| (lesson.rows as f64, 100.0 * error(lesson)))
    };
    let plot = Plot::new("training rows", "error in %")
        .log_x()
        .from_zero()
        .series("test rows", points(|lesson| lesson.test_error))
        .series("the rows trained on", points(|lesson| lesson.train_error));
    page.figure(
        &plot.draw()?,
        &format!(
            "Learning curve, {} features of {} bits: if it still falls, more rows would help.",
            study.features, study.bits
        ),
    );
    Ok(())
}

/// What was tried for input map and bandwidth.
pub fn search(page: &mut Page, choice: &Choice, options: &TrainOptions) -> Result<()> {
    let trials = &choice.trials;
    if trials.is_empty() {
        return Ok(());
    }
    page.heading("What was searched");
    page.text(
        "Input maps and bandwidths are judged by squared error on training rows held out for it; \
         a map that takes more bytes must win by more. The last comparison has more rows and \
         features than those before: compare errors within a line.",
    );
    let mut lines: Vec<(String, Vec<&Trial>)> = Vec::new();
    for trial in trials {
        let name = named(trial);
        match lines.iter_mut().find(|(other, _)| *other == name) {
            Some((_, line)) => line.push(trial),
            None => lines.push((name, vec![trial])),
        }
    }
    let several = |line: &[&Trial]| line.iter().any(|t| t.bandwidth != line[0].bandwidth);
    if options.bandwidth.is_none() && lines.iter().any(|(_, line)| several(line)) {
        let mut plot = Plot::new("bandwidth, relative to the spread of the data", "squared error");
        plot = plot.log_x();
        for (name, line) in &mut lines {
            line.sort_by(|a, b| a.bandwidth.total_cmp(&b.bandwidth));
            plot = plot.series(name, line.iter().map(|t| (t.bandwidth, t.error)));
        }
        page.figure(&plot.draw()?, "Bandwidth search: squared error on held-out training rows.");
    }
    let rows = lines.iter().map(|(name, line)| {
        let best = line.iter().copied().min_by(|a, b| a.error.total_cmp(&b.error));
        let [bandwidth, error] =
            best.map_or([f64::NAN; 2], |t| [t.bandwidth, t.error]).map(Plot::label);
        [name.clone(), line.len().to_string(), bandwidth, error]
    });
    page.table("The best of each", &["tried", "times", "bandwidth", "squared error"], rows);
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
