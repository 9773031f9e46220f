//! `cargo xtask wasm-size`: bytes that a page must load, and what they may be.

use anyhow::Result;

use crate::steps::step;

/// Builds the package, prints its sizes, and fails above the budget.
pub fn run() -> Result<()> {
    crate::wasm::package()?;
    crate::wasm::training()?;
    check("")
}

/// The same for a package that is built: `wasm/scripts/size.mjs` has the budget, and the `option`.
pub fn check(option: &str) -> Result<()> {
    step(&format!("node wasm/scripts/size.mjs {option}"))
}
