//! The command `koan` and its terminal.

mod arguments;
mod codes;
mod columns;
mod demo;
mod device;
mod eval;
mod export;
mod files;
mod grid;
mod hint;
mod inspect;
mod origin;
mod out;
mod output;
mod predict;
mod read;
mod shrink;
mod sign;
pub mod terminal;
mod train;
mod tune;

use std::process::ExitCode;

use arguments::{Arguments, Command, Threads};
use clap::Parser;
use koan_trainer::with_threads;

/// Runs the command with the arguments of this process.
#[must_use]
pub fn run() -> ExitCode {
    // A reader such as `head` that has seen enough ends the command, as it ends
    // other Unix tools; Rust would ignore the signal.
    sigpipe::reset();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => {
            let printed = out::failed(told.print()).and_then(|()| out::flush());
            // 0 for the help that was asked for, 2 for arguments that are wrong.
            let code = u8::try_from(told.exit_code()).unwrap_or(2);
            return if told.use_stderr() { ExitCode::from(code) } else { finished(printed) };
        }
    };
    finished(execute(arguments.command).and_then(|()| out::flush()))
}

fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Train(arguments) => with(arguments.threads, || train::run(&arguments)),
        Command::Tune(arguments) => with(arguments.threads, || tune::run(&arguments)),
        Command::Eval(arguments) => with(arguments.threads, || eval::run(&arguments)),
        Command::Codes(arguments) => codes::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Device(arguments) => device::run(&arguments),
        Command::Shrink(arguments) => with(arguments.threads, || shrink::run(&arguments)),
        Command::Export(arguments) => export::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Keygen(arguments) => sign::keygen(&arguments),
        Command::Sign(arguments) => sign::sign(&arguments),
    }
}

/// Runs with the threads that were asked for.
fn with(threads: Threads, run: impl FnOnce() -> anyhow::Result<()> + Send) -> anyhow::Result<()> {
    with_threads(threads.threads.map(usize::from), run)?
}

/// Tells what went wrong.
fn finished(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            out::error(&hint::lines(described(&error), &error));
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
