//! The project's own commands: `cargo xtask`.

mod benchmark;
mod c;
mod cost;
mod docs;
mod elf;
mod embassy;
mod emulate;
mod exercise;
mod flash;
mod fuzz;
mod guide;
mod learn;
mod machines;
mod outside;
mod pack;
mod passed;
mod plugin;
mod power;
mod python;
mod semver;
mod serial;
mod setup;
mod steps;
mod stream;
mod updates;
mod verify;
mod wasm;
mod wasm_size;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Install the compiler targets and components that the tests need
    Setup,
    /// Run the tests: on the host, on emulated Cortex-M0 and RV32, in node, Chromium and Python
    Test {
        /// Run what the tests leave out: lints, every core, boards, other runtimes, Miri, costs, fuzzing
        #[arg(long)]
        thorough: bool,
        /// Run those that take long even where nothing changed since they passed
        #[arg(long, conflicts_with = "thorough")]
        again: bool,
    },
    /// Build the firmware for every emulated core and run it there
    Emulate,
    /// Compile the runtime in C and replay the golden models, on the host and on every machine
    C {
        /// On the host only
        #[arg(long)]
        host: bool,
        /// Only print what predictions cost
        #[arg(long, conflicts_with = "host")]
        cost: bool,
    },
    /// Count what a prediction costs on every emulated core
    Cost {
        /// Store the figures: those that are worse are so on purpose
        #[arg(long)]
        update: bool,
        /// Count this model, or those of this folder whose rows lie beside them, instead; print
        /// JSON and store nothing
        #[arg(long, value_name = "PATH", conflicts_with = "update")]
        models: Option<PathBuf>,
        /// Count them for this target only; may be given several times
        #[arg(long, value_name = "TARGET", requires = "models",
              value_parser = machines::CORES.map(|(target, _)| target))]
        target: Vec<String>,
    },
    /// Build firmwares as users do: their size has limits, and nothing may panic
    Outside,
    /// Run streams, embassy's tasks, signed models and learning on emulated cores, and count what they cost
    Device,
    /// Compare the libraries' public interfaces with those that the version number stands for
    Semver {
        /// Compare with this revision [default: the newest tag of a version, or the commit in
        /// xtask/semver-baseline]
        #[arg(long, value_name = "REV")]
        baseline: Option<String>,
    },
    /// Send rows, samples, updates and faults through the serial ports of emulated devices
    Serial,
    /// Feed every parser with damaged and made-up input: the core's, the serial session's, C's
    Fuzz {
        /// How long each of the four targets runs
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1440))]
        minutes: u32,
    },
    /// Build the Python package's wheel and run its tests
    Python {
        /// Run all of them: searches, the docs' page, types
        #[arg(long)]
        thorough: bool,
    },
    /// Build the npm package for browsers and node into wasm/dist
    Npm,
    /// Build the demo page into target/page
    Page,
    /// Print what a page must load, raw and compressed; fail above the budget
    WasmSize,
    /// Only the tests of the npm package and the demo page
    TestWasm {
        /// Run instead what these leave out: other runtimes and bundlers, older TypeScript
        #[arg(long)]
        runtimes: bool,
    },
    /// Print the time of predictions in node and Chromium
    BenchWasm,
    /// Run the papers' experiments and print paper beside Koan
    #[command(disable_help_flag = true)]
    Reproduce {
        /// What `--help` names
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Measure bytes against error on public data sets and write docs/size.md and its picture
    Benchmark {
        /// Folder of the data sets; without it the page is made from what was measured before
        #[arg(long, value_name = "FOLDER")]
        data: Option<PathBuf>,
        /// Measure only what these very commands have not measured before
        #[arg(long, requires = "data")]
        missing: bool,
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
    let result =
        match Command::parse() {
            Command::Setup => setup::run(),
            Command::Test { thorough: false, again } => steps::test(again),
            Command::Test { thorough: true, .. } => steps::thorough(),
            Command::Emulate => emulate::run(&machines::CORES.map(|(target, _)| target))
                .map(|table| print!("{table}")),
            Command::C { cost: true, .. } => c::costs().map(|table| print!("{table}")),
            Command::C { host: true, .. } => steps::build().and_then(|()| c::host()),
            Command::C { .. } => c::run(),
            Command::Cost { models: Some(path), target, .. } => {
                cost::of_path(&path, &target).map(|json| println!("{json}"))
            }
            Command::Cost { update, .. } => cost::run(update).map(|table| print!("{table}")),
            Command::Outside => outside::run(),
            Command::Device => steps::device(&machines::CORES.map(|(target, _)| target))
                .map(|text| print!("{text}")),
            Command::Semver { baseline } => semver::run(baseline.as_deref()),
            Command::Serial => serial::test(),
            Command::Fuzz { minutes } => fuzz::all(minutes),
            Command::Python { thorough } => {
                let tests = if thorough { python::Tests::All } else { python::Tests::Quick };
                python::setup().and_then(|()| steps::build()).and_then(|()| python::test(tests))
            }
            Command::Npm => wasm::package(),
            Command::Page => wasm::page(),
            Command::WasmSize => wasm_size::run(),
            Command::TestWasm { runtimes: true } => wasm::setup().and_then(|()| wasm::runtimes()),
            Command::TestWasm { .. } => wasm::setup().and_then(|()| wasm::test()),
            Command::BenchWasm => wasm::bench(),
            Command::Reproduce { arguments } => reproduce(&arguments),
            Command::Benchmark { data, missing, parts } => {
                benchmark::run(data.as_deref(), &parts, missing)
            }
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

/// The papers' experiments are a program of their own, which takes the trainer along.
fn reproduce(arguments: &[OsString]) -> Result<()> {
    let status = std::process::Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "koan-papers", "--"])
        .args(arguments)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the experiments failed ({status})");
    Ok(())
}
