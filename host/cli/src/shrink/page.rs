//! `koan shrink --report`: bytes against error as a page.

use std::path::Path;

use anyhow::Result;
use koan_report::page::Page;
use koan_report::page::plot::{Plot, needs_log};
use koan_trainer::{Point, Shrunk, TrainOptions};

use super::Quality;
use super::told::{HEADERS, cells};
use crate::arguments::Shrink;
use crate::output::{error_percent, named_error, write_whole};

/// Writes the page. `before` is the model that was shrunk, the others are the new
/// ones, in the order of the sizes.
pub fn write(
    path: &Path,
    arguments: &Shrink,
    task: &str,
    before: Quality,
    found: &[(Shrunk, Quality)],
) -> Result<()> {
    let mut page = Page::new(&format!("{}, shrunk", arguments.model.display()));
    for (shrunk, now) in found {
        let [_, candidates, kept, bits, ..] = cells(task, &shrunk.best);
        page.text(&format!(
            "{} in {} bytes: {kept} features of {bits} bits, kept from {candidates}; before {} in \
             {} bytes.",
            named_error(task, now.error),
            now.bytes,
            error_percent(task, before.error),
            before.bytes
        ));
        for warning in &shrunk.warnings {
            page.warning(warning);
        }
    }
    page.heading("Bytes against error");
    page.text(
        "Validation errors are of ridge heads on rows that were held out; test errors of the \
         models that were written.",
    );
    let at = |bytes: usize, error: f64| (bytes as f64, 100.0 * error);
    let attempts = |of: fn(&Shrunk) -> &[Point]| {
        found.iter().flat_map(move |(shrunk, _)| {
            of(shrunk).iter().map(move |attempt| at(attempt.bytes, attempt.loss))
        })
    };
    let plot = Plot::new("bytes", "error in %").log_x().within_y(0.0, f64::INFINITY);
    let errors: Vec<f64> = attempts(|shrunk| &shrunk.attempts)
        .chain(attempts(|shrunk| &shrunk.front))
        .map(|at| at.1)
        .chain(found.iter().map(|(_, now)| 100.0 * now.error))
        .chain([100.0 * before.error])
        .collect();
    let plot = if needs_log(&errors) { plot.log_y() } else { plot };
    let plot = plot
        .front("best pool, validation rows", attempts(|shrunk| &shrunk.front))
        .cloud("all attempts, validation rows", attempts(|shrunk| &shrunk.attempts))
        .scatter("written, test rows", found.iter().map(|(_, now)| at(now.bytes, now.error)))
        .scatter("before, test rows", [at(before.bytes, before.error)]);
    page.figure(&plot.draw()?, "What other sizes would give, and what was written.");
    let all = found.iter().flat_map(|(shrunk, _)| shrunk.attempts.iter().chain(&shrunk.front));
    let mut all: Vec<&Point> = all.collect();
    let key = |point: &&Point| {
        let TrainOptions { seed, candidates, bits, features, .. } = &point.options;
        (point.bytes, *seed, *candidates, *bits, features[0])
    };
    all.sort_by_key(key);
    all.dedup_by_key(|point| key(point));
    page.table("Attempts", &HEADERS, all.iter().map(|point| cells(task, point)));
    write_whole(path, page.render().as_bytes())
}
