//! `koan tune --report`: the search as a page.

use std::path::{Path, PathBuf};

use anyhow::Result;
use koan_report::page::Page;
use koan_report::page::plot::{Plot, needs_log};
use koan_trainer::tune::{Metric, Outcome};

use super::{features, recommendation, shown};
use crate::arguments::Tune;
use crate::output::write_whole;

/// Writes the page.
pub fn write(
    path: &Path,
    outcome: &Outcome,
    paths: &[PathBuf],
    command: &dyn Fn(usize) -> String,
    arguments: &Tune,
) -> Result<()> {
    let metric = arguments.metric;
    let name = metric.name();
    let mut page = Page::new("A search for models");
    page.text(&recommendation(outcome, paths, arguments));
    if outcome.cut {
        page.warning("The time was over before the search was.");
    }
    page.heading("Bytes against error");
    let percent = matches!(metric, Metric::Error | Metric::BalancedError);
    let unit = if percent { 100.0 } else { 1.0 };
    let of = |loss: f64| unit * metric.value(loss);
    let axis = if percent { format!("{name} in %") } else { name.to_owned() };
    let held = outcome.front.iter().map(|t| (t.report.bytes as f64, of(t.point.loss)));
    let test = outcome.front.iter().map(|t| (t.report.bytes as f64, of(metric.loss(&t.test))));
    let judged = outcome.judged.iter().map(|&(bytes, loss)| (bytes as f64, of(loss)));
    let plot = Plot::new("bytes", &axis).log_x();
    let plot = if metric == Metric::Rmse {
        plot.within_y(0.0, f64::INFINITY)
    } else {
        plot.within_y(0.0, unit)
    };
    let losses = outcome.front.iter().map(|tuned| of(tuned.point.loss));
    let all: Vec<f64> = losses
        .chain(outcome.front.iter().map(|tuned| of(metric.loss(&tuned.test))))
        .chain(outcome.judged.iter().map(|&(_, loss)| of(loss)))
        .collect();
    let rising = matches!(metric, Metric::Auc | Metric::MacroF1);
    let plot = if !rising && needs_log(&all) { plot.log_y() } else { plot };
    let plot = plot
        .cloud("judged as finished models", judged)
        .series("front, held-out training rows", held)
        .scatter("front, test rows", test);
    let caption = "The models that no other beats in bytes, error and instructions, and what else was judged.";
    page.figure(&plot.draw()?, caption);
    page.table(
        "The front",
        &["bytes", "held out", "test", "family", "features", "bits", "buffers", "instructions"],
        outcome.front.iter().map(|tuned| {
            let (point, report) = (&tuned.point, &tuned.report);
            [
                report.bytes.to_string(),
                shown(metric, point.loss),
                shown(metric, metric.loss(&tuned.test)),
                format!("{} ({})", report.family, report.projection),
                features(tuned),
                report.bits.to_string(),
                point.ram.to_string(),
                point.instructions.to_string(),
            ]
        }),
    );
    page.heading("The search");
    page.table(
        "Rounds: in each the better ones of the round before, on more rows",
        &["round", "candidates", "rows", "columns of the largest", "sizes judged"],
        outcome.rungs.iter().enumerate().map(|(number, rung)| {
            let counts = [number + 1, rung.candidates, rung.rows, rung.columns, rung.points];
            counts.map(|count| count.to_string())
        }),
    );
    page.heading("How to repeat it");
    for index in 0..paths.len() {
        page.code(&command(index));
    }
    write_whole(path, page.render().as_bytes())
}
