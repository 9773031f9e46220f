//! `koan tune --report`: the search as a page.

use std::path::{Path, PathBuf};

use anyhow::Result;
use koan_report::of_search;
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
    let page = of_search(&search, &recommendation(outcome, paths, arguments), &commands)?;
    write_whole(path, page.as_bytes())
}
