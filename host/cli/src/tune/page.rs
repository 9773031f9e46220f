//! `koan tune --report`: the search as a page.

use std::path::{Path, PathBuf};

use anyhow::Result;
use koan_report::of_search_with_warnings;
use koan_trainer::tune::Outcome;

use super::{recommendation, searched};
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
    let search = searched(outcome, arguments);
    let commands: Vec<String> = (0..paths.len()).map(command).collect();
    let verdict = recommendation(outcome, paths, arguments);
    let best = outcome.front.get(search.recommended());
    let warnings = best.map_or(&[][..], |best| &best.report.warnings);
    let page = of_search_with_warnings(&search, &verdict, &commands, warnings)?;
    write_whole(path, page.as_bytes())
}
