//! The command `koan`, its terminal and its pages.

mod arguments;
mod codes;
mod demo;
mod device;
mod eval;
mod files;
mod inspect;
mod output;
pub mod page;
mod predict;
mod report;
mod shrink;
pub mod terminal;
mod train;
mod tune;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;

/// Runs the command with the arguments of this process.
#[must_use]
pub fn run() -> ExitCode {
    // A reader such as `head` that has seen enough ends the command, as it ends
    // other Unix tools; Rust would ignore the signal, and `println!` panic.
    sigpipe::reset();
    let result = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Codes(arguments) => codes::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Device(arguments) => device::run(&arguments),
        Command::Shrink(arguments) => shrink::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", described(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, without those that a message tells already.
fn described(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
