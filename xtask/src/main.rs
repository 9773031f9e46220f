//! The project's own commands: `cargo xtask`.

mod cost;
mod docs;
mod elf;
mod emulate;
mod flash;
mod machines;
mod outside;
mod pack;
mod plugin;
mod serial;
mod setup;
mod size;
mod sizes;
mod steps;
mod wasm;

use std::path::PathBuf;

use std::process::ExitCode;

use clap::Parser;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Install the compiler targets and components that the tests need
    Setup,
    /// Check everything: format, lints, documentation, bare metal, tests
    Test {
        /// Only format, lints and the workspace's tests
        #[arg(long)]
        quick: bool,
    },
    /// Build the firmware for every emulated core and run it there
    Emulate,
    /// Count what a prediction costs on every emulated core
    Cost {
        /// Store the figures: those that are worse are so on purpose
        #[arg(long)]
        update: bool,
        /// Count this model, or those of this folder whose rows lie beside them, instead; print
        /// JSON and store nothing
        #[arg(long, value_name = "PATH", conflicts_with = "update")]
        models: Option<PathBuf>,
    },
    /// Build firmwares as users do: their size has limits, and nothing may panic
    Outside,
    /// Stream rows and faults through the serial ports of emulated devices
    Serial,
    /// Build the npm package for browsers and node into wasm/dist
    Npm,
    /// Build the demo page into target/page
    Page,
    /// Print what a page must load, raw and compressed; fail above the budget
    Size,
    /// Only the tests of the npm package and the demo page
    TestWasm,
    /// Print the time of predictions in node and Chromium
    BenchWasm,
    /// Measure bytes against error on public data sets and write docs/size.md and its picture
    Sizes {
        /// Folder of the data sets; without it the page is made from what was measured before
        #[arg(long, value_name = "FOLDER")]
        data: Option<PathBuf>,
        /// Data sets to measure [default: all]
        #[arg(value_name = "PART", requires = "data")]
        parts: Vec<String>,
    },
    /// Write what commands print into the README and docs/measurements.md
    Docs {
        /// Folder of the data sets; without it only the demo and the firmware are renewed
        #[arg(long, value_name = "FOLDER")]
        data: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Setup => setup::run(),
        Command::Test { quick } => steps::test(quick),
        Command::Emulate => emulate::run().map(|table| print!("{table}")),
        Command::Cost { models: Some(path), .. } => {
            cost::of_path(&path).map(|json| println!("{json}"))
        }
        Command::Cost { update, .. } => cost::run(update).map(|table| print!("{table}")),
        Command::Outside => outside::run(),
        Command::Serial => serial::test(),
        Command::Npm => wasm::package(),
        Command::Page => wasm::page(),
        Command::Size => size::run(),
        Command::TestWasm => wasm::setup().and_then(|()| wasm::test()),
        Command::BenchWasm => wasm::bench(),
        Command::Sizes { data, parts } => sizes::run(data.as_deref(), &parts),
        Command::Docs { data } => docs::run(data.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
