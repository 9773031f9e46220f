//! The runtime in C among what is not its own: flash that was damaged, and macros of vendors.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{FOLDER, SANITIZERS, WARNINGS, folder};
use crate::steps::{root, step};

/// Flips bits of models behind the program's back: the self test must find it before it runs them.
pub fn damaged() -> Result<()> {
    step(&format!(
        "gcc -std=c99 {SANITIZERS} {WARNINGS} c/koan.c c/test/damaged.c -lm -o {FOLDER}/damaged"
    ))?;
    let mut models = Vec::new();
    for from in ["tests/models", "tests/golden", "tests/golden/features"] {
        models.extend(koan_golden::paths(&root()?.join(from)).map_err(anyhow::Error::msg)?);
    }
    eprintln!("+ {FOLDER}/damaged MODELS");
    let status = Command::new(folder()?.join("damaged")).args(models).status();
    ensure!(status.context("cannot run it")?.success(), "damaged models are not all found");
    Ok(())
}
