//! Embassy's tasks on emulated cores: samples come at the ticks of a clock while windows are
//! scored. Every window must have the host's scores and steady class, and no sample may be late.

use anyhow::{Context, Result, ensure};

use crate::elf;
use crate::machines::{self, Machine, Outcome};
use crate::plugin::{Plugin, number};
use crate::steps::{CORTEX_M0, CORTEX_M4F, root, step};
use crate::stream::{self, Told};

/// With a clock of the program's own; embassy interrupts no executor on RISC-V.
const TARGETS: [&str; 2] = [CORTEX_M0, CORTEX_M4F];
const PACKAGE: &str = "koan-embassy-emulated";
/// The machine's time is that of its instructions, 128 ns each, and not the host's: what waits
/// when is the same on every run. A core of 16 MHz with two cycles for each is as fast.
const CLOCK: [&str; 2] = ["-icount", "shift=7,sleep=off"];
/// Milliseconds from sample to sample.
const PERIOD: u64 = 10;
/// Samples that the program has room for.
const ROOM: u64 = 32;

/// Builds and runs it on those of these targets that it is for; gives a table.
pub fn run(targets: &[&str]) -> Result<String> {
    let targets: Vec<_> = TARGETS.into_iter().filter(|target| targets.contains(target)).collect();
    let mut table = "| core | samples | windows | samples that waited at most | flash | RAM |\n\
                     | --- | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    let blob = std::fs::read(root()?.join(stream::MODEL)).context(stream::MODEL)?;
    let told = stream::expected(&blob)?;
    let plugin = Plugin::build()?;
    for machine in machines::of(&targets)? {
        step(&format!(
            "cargo build --quiet --manifest-path {} --target-dir {} --release --locked --package \
             {PACKAGE} --target {}",
            machines::MANIFEST,
            machines::TARGET_FOLDER,
            machine.target
        ))?;
        let elf = machine.program(PACKAGE)?;
        let watched = plugin.run_with(&machine, &elf, Some(&told.pack), &CLOCK)?;
        let waited = check(&machine, &watched.outcome, &told)?;
        // The checks above are only worth something if they can fail.
        let mut wrong = told.pack.clone();
        let last = wrong.len() - 1;
        wrong[last] ^= 1;
        let code = plugin.run_with(&machine, &elf, Some(&wrong), &CLOCK)?.outcome.code;
        ensure!(code == 1, "{machine}: a changed score was not noticed: exit code {code}");
        let size = elf::size(&elf)?;
        table += &format!(
            "| {} | {} | {} | {waited} | {} | {} |\n",
            machine.core,
            told.samples,
            told.classes.len(),
            size.flash - blob.len() as u64,
            size.ram + watched.stack,
        );
    }
    Ok(table)
}

/// What is printed must be the host's; the samples that waited at most.
fn check(machine: &Machine, outcome: &Outcome, told: &Told) -> Result<u64> {
    let Outcome { code, text } = outcome;
    ensure!(*code == 0, "{machine}: exit code {code}\n{text}");
    let heard: Vec<_> = text.lines().filter_map(|line| line.split_once(", ")).collect();
    // Its ticks are counted from the start on, and one comes after the last sample.
    let all = format!("{} samples", told.samples);
    let on_time = format!("{} ms", (told.samples as u64 + 1) * PERIOD);
    ensure!(heard.contains(&(&*all, &*on_time)), "{machine}: not {all}, {on_time}\n{text}");
    let windows: Vec<_> =
        heard.into_iter().filter(|(_, what)| what.ends_with(" samples wait")).collect();
    let classes: Vec<_> = windows.iter().map(|(class, _)| *class).collect();
    ensure!(
        classes == told.classes,
        "{machine}: not the host's classes {:?}\n{text}",
        told.classes
    );
    let waited = windows.iter().map(|(_, what)| number(what, ""));
    let waited = waited.collect::<Result<Vec<_>>>()?.into_iter().max().context("no window")?;
    // Nothing waits where a window is scored within a tick, and then nothing was tested.
    ensure!(waited > 0 && waited < ROOM, "{machine}: {waited} samples waited\n{text}");
    Ok(waited)
}
