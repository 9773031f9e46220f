//! `cargo xtask setup`: what rustup has to install, and only what is missing.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::steps::{CORTEX_M0, CORTEX_M4F, step};
use crate::wasm::WASM;

const COMPONENTS: [&str; 2] = ["rustfmt", "clippy"];

/// Adds the missing targets and components to the active toolchain.
pub fn run() -> Result<()> {
    add("target", &[CORTEX_M0, CORTEX_M4F, WASM])?;
    add("component", &COMPONENTS)?;
    crate::wasm::setup()
}

fn add(kind: &str, wanted: &[&str]) -> Result<()> {
    let installed = installed(kind, wanted)?;
    // Components are listed with the host's name behind theirs.
    let has = |name: &str| {
        installed
            .lines()
            .any(|line| line.strip_prefix(name).is_some_and(|r| r.is_empty() || r.starts_with('-')))
    };
    for name in wanted.iter().filter(|name| !has(name)) {
        step(&format!("rustup {kind} add {name}"))
            .with_context(|| format!("the {kind} {name} is needed and not installed"))?;
    }
    Ok(())
}

fn installed(kind: &str, wanted: &[&str]) -> Result<String> {
    let Ok(output) = Command::new("rustup").args([kind, "list", "--installed"]).output() else {
        bail!(
            "there is no rustup: install it from https://rustup.rs, or install {} {} for this \
             toolchain otherwise and run the steps of xtask/src/steps.rs by hand",
            if kind == "target" { "the targets" } else { "the components" },
            wanted.join(" and ")
        );
    };
    ensure!(
        output.status.success(),
        "`rustup {kind} list --installed` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8(output.stdout)?)
}
