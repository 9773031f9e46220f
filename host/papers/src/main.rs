//! `cargo xtask reproduce`: the papers' experiments, paper beside Koan.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use koan_cli::terminal::Terminal;
use koan_papers::{Experiment, Section, Settings, page};
use koan_trainer::atomic_write;

/// The experiments of the papers that Koan comes from, run again.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask reproduce", bin_name = "cargo xtask reproduce")]
struct Reproduce {
    /// Folder of the data sets; those that are not there are skipped by name
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// Also what takes long
    #[arg(long)]
    full: bool,
    /// Only these experiments
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<Experiment>,
    /// Write tables and figures as an HTML page, anew after each experiment
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the tables as Markdown, anew after each experiment
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Seed of splits and models
    #[arg(long, default_value_t = Self::SEED)]
    seed: u64,
}

impl Reproduce {
    /// The seed that need not be told.
    const SEED: u64 = 1;
}

fn main() -> ExitCode {
    match run(&Reproduce::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Reproduce) -> Result<()> {
    if !arguments.data.is_dir() {
        bail!("{}: no such folder", arguments.data.display());
    }
    let terminal = Terminal::stderr();
    let progress = terminal.progress();
    let chosen = if arguments.only.is_empty() { &Experiment::ALL[..] } else { &arguments.only };
    let mut run = Run { sections: Vec::new(), failed: Vec::new(), start: Instant::now() };
    for (index, &experiment) in chosen.iter().enumerate() {
        let name = name(experiment);
        let part = format!("part {} of {}, {name}", index + 1, chosen.len());
        terminal.suspend(|| eprintln!("{part}"));
        let settings = Settings {
            data: arguments.data.clone(),
            full: arguments.full,
            seed: arguments.seed,
            progress: progress.within(&part),
        };
        match experiment.run(&settings) {
            Ok(section) => {
                terminal.suspend(|| println!("{}", section.markdown()));
                run.sections.push(section);
            }
            // The other parts may well be sound.
            Err(error) => {
                terminal.suspend(|| eprintln!("error: {name}: {error}"));
                run.failed.push(format!("{name} ({error})"));
            }
        }
        // After each part: an end of the run must not take what there is along.
        run.write(arguments, &chosen[index + 1..])?;
    }
    drop(terminal);
    println!("{:.0} s in all.", run.seconds());
    if !run.failed.is_empty() {
        bail!("{} of {} parts failed: {}", run.failed.len(), chosen.len(), run.failed.join("; "));
    }
    Ok(())
}

/// The parts that have ended.
struct Run {
    sections: Vec<Section>,
    /// Name and error of the parts that failed.
    failed: Vec<String>,
    start: Instant,
}

impl Run {
    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Writes the files that were asked for; `left`: what has not been run yet.
    fn write(&self, arguments: &Reproduce, left: &[Experiment]) -> Result<()> {
        if let Some(path) = &arguments.output {
            atomic_write(path, self.document(arguments, left).as_bytes())?;
        }
        if let Some(path) = arguments.report.as_ref().filter(|_| !self.sections.is_empty()) {
            atomic_write(path, page(&self.sections)?.render().as_bytes())?;
        }
        Ok(())
    }

    /// The page of all sections, with how it came about.
    fn document(&self, arguments: &Reproduce, left: &[Experiment]) -> String {
        let mut text = String::from("# The papers' experiments, run again\n");
        let mut command = String::from("cargo xtask reproduce --data $DATA");
        if arguments.full {
            command += " --full";
        }
        if arguments.seed != Reproduce::SEED {
            let _ = write!(command, " --seed {}", arguments.seed);
        }
        if !arguments.only.is_empty() {
            command += " --only";
        }
        for &experiment in &arguments.only {
            let _ = write!(command, " {}", name(experiment));
        }
        let _ = write!(
            text,
            "\nEverything below is written by\n\n```sh\n{command} --output \
             docs/reproduction.md\n```\n\nwith the public data sets of \
             [measurements](measurements.md) in `$DATA`; `--report FILE` draws the figures too. \
             Sets that are not there are skipped by name. Errors are of test rows; where anything \
             was chosen by them, the text says so. Seconds are wall seconds on two cores, and \
             vary; the papers' are of machines of 2007 to 2015. This run took {:.0} s.\n",
            self.seconds()
        );
        if !left.is_empty() {
            let names: Vec<_> = left.iter().map(|&experiment| name(experiment)).collect();
            let _ = write!(text, "\nNot complete: {} not run yet.\n", names.join(", "));
        }
        for failed in &self.failed {
            let _ = write!(text, "\nFailed: {failed}.\n");
        }
        for section in &self.sections {
            let _ = write!(text, "\n{}", section.markdown());
        }
        text
    }
}

/// The name of an experiment on the command line.
fn name(experiment: Experiment) -> String {
    experiment.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
