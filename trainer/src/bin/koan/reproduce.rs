//! `koan reproduce`: the papers' experiments, paper beside Koan.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum;
use koan_trainer::progress::Progress;
use koan_trainer::reproduce::{Experiment, Section, Settings, page};

use crate::arguments::Reproduce;
use crate::output::write_whole;

pub fn run(arguments: &Reproduce) -> Result<()> {
    if !arguments.data.is_dir() {
        bail!("{}: no such folder", arguments.data.display());
    }
    let start = Instant::now();
    let settings = Settings {
        data: arguments.data.clone(),
        full: arguments.full,
        seed: arguments.seed,
        progress: Progress::stderr(),
    };
    let chosen = if arguments.only.is_empty() { &Experiment::ALL[..] } else { &arguments.only };
    let mut sections = Vec::new();
    for experiment in chosen {
        let section = experiment.run(&settings)?;
        println!("{}", section.markdown());
        sections.push(section);
    }
    settings.progress.finish();
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds:.0} s in all.");
    if let Some(path) = &arguments.output {
        write_whole(path, document(&sections, arguments, seconds).as_bytes())?;
    }
    if let Some(path) = &arguments.report {
        page(&sections)?.write(path)?;
    }
    Ok(())
}

/// The page of all sections, with how it came about.
fn document(sections: &[Section], arguments: &Reproduce, seconds: f64) -> String {
    let mut text = String::from("# The papers' experiments, run again\n");
    let mut command = String::from("cargo koan reproduce --data $DATA");
    if arguments.full {
        command += " --full";
    }
    if !arguments.only.is_empty() {
        command += " --only";
    }
    for name in arguments.only.iter().filter_map(ValueEnum::to_possible_value) {
        let _ = write!(command, " {}", name.get_name());
    }
    let _ = write!(
        text,
        "\nEverything below is written by\n\n```sh\n{command} --output docs/reproduction.md\n```\n\nwith the public data sets of [measurements](measurements.md) \
         in `$DATA`; `--report FILE` draws the figures too. Sets that are not there are skipped by \
         name. Errors are of test rows; where anything was chosen by them, the text says so. Seconds are wall seconds on two \
         cores, and vary; the papers' are of machines of 2007 to 2015. This run took {seconds:.0} s.\n"
    );
    for section in sections {
        let _ = write!(text, "\n{}", section.markdown());
    }
    text
}
