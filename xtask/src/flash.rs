//! What the core takes of flash and RAM on the smallest core: the program `flash` with the
//! parser and a classifier; of flash, less the same program without them.
//!
//! The core is compiled for size (`z`), the program around it as the firmware is. RAM is
//! all statics, buffers among them, and the deepest stack, from the reset to the class. A
//! figure that is more than 3 % worse than the stored one is an error until
//! `cargo xtask cost --update` stores it on purpose.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use koan_golden::Golden;
use serde::{Deserialize, Serialize};

use crate::cost::{counted, number};
use crate::elf;
use crate::machines::{self, Machine};
use crate::steps::root;

/// The stored figures, from the root of the repository.
const STORED: &str = "firmware-example/flash.json";
/// The model that the program must classify with, of `tests/models`.
const MODEL: &str = "digits-fourier-512";
/// The feature of the program that has the model in it, instead of being given its blob.
const INCLUDED: &str = "flash-included";

/// What is measured, and the program's features for it.
const BUILDS: [(&str, &str); 10] = [
    ("small: fourier hadamard classifier, 4 bits, model included", "flash-included,fourier,small"),
    ("small: parser and a fourier hadamard classifier, 4 bits", "flash,fourier,small"),
    (
        "small: the same with all widths of weights and sections",
        "flash,fourier,widths,sections,small",
    ),
    (
        "small: parser, all families but conv, all widths and sections",
        "flash,fourier,stump,bin,maxout,sigmoid,dense,widths,sections,small",
    ),
    ("small: the same with conv: all families", "flash,families,widths,sections,small"),
    ("parser and a fourier hadamard classifier, 4 bits", "flash,fourier"),
    ("the same with its self test", "flash-self-test,fourier"),
    ("the classifier with all widths of weights and sections", "flash,fourier,widths,sections"),
    (
        "parser, all families but conv, all widths and sections",
        "flash,fourier,stump,bin,maxout,sigmoid,dense,widths,sections",
    ),
    ("the same with conv, logarithms and kept features", "flash,families,widths,sections,kept,log"),
];

/// What a build takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cost {
    /// Code and constants of the core, without the model.
    flash: u64,
    /// Statics and deepest stack of the program, for a row of [`MODEL`].
    ram: u64,
    /// Executed instructions of that prediction.
    instructions: u64,
}

/// Measures and gives a table; compares with the stored figures, or stores them.
pub fn run(update: bool, plugin: &Path) -> Result<String> {
    let machine = machines::all()?.into_iter().next().context("no machine")?;
    let folder = root()?.join("tests/models");
    let models = koan_golden::load(&folder).map_err(anyhow::Error::msg)?;
    let model = models.iter().find(|model| model.name == MODEL).context(MODEL)?;
    let path = std::path::absolute(folder.join(format!("{MODEL}.koan")))?;
    let empty = elf::size(&build(&machine, "", &path)?)?.flash;
    let mut figures = BTreeMap::new();
    let mut table = format!(
        "| the core alone, {} | flash | RAM, {MODEL} | instructions |\n\
         | --- | ---: | ---: | ---: |\n",
        machine.core
    );
    for (name, features) in BUILDS {
        let whole = measure(&machine, features, model, &path, plugin).context(name)?;
        let cost = Cost { flash: whole.flash - empty, ..whole };
        let Cost { flash, ram, instructions } = cost;
        table += &format!("| {name} | {flash} | {ram} | {instructions} |\n");
        figures.insert(name.to_owned(), cost);
    }
    let path = root()?.join(STORED);
    if update {
        std::fs::write(&path, serde_json::to_string_pretty(&figures)? + "\n")?;
        return Ok(table);
    }
    let stored = std::fs::read_to_string(&path).context(STORED)?;
    let stored: BTreeMap<String, Cost> = serde_json::from_str(&stored).context(STORED)?;
    for (name, cost) in &figures {
        let old = stored.get(name).with_context(|| format!("{STORED}: nothing on {name}"))?;
        let figures = [
            ("bytes of flash", old.flash, cost.flash),
            ("bytes of RAM", old.ram, cost.ram),
            ("instructions", old.instructions, cost.instructions),
        ];
        for (what, old, new) in figures {
            ensure!(
                100 * new <= 103 * old,
                "{name}: {new} {what}, {STORED} has {old} (`cargo xtask cost --update` if on \
                 purpose)"
            );
        }
    }
    Ok(table)
}

/// The flash of the whole program without the model, and what a prediction costs.
fn measure(
    machine: &Machine,
    features: &str,
    model: &Golden,
    path: &Path,
    plugin: &Path,
) -> Result<Cost> {
    let program = build(machine, features, path)?;
    classifies(machine, &program, model, plugin)?;
    let size = elf::size(&program)?;
    let included = features.split(',').any(|feature| feature == INCLUDED);
    let blob = if included { model.blob.len() as u64 } else { 0 };
    // A program of its own: measuring takes flash.
    let program = build(machine, &format!("{features},stack"), path)?;
    let text = classifies(machine, &program, model, plugin)?;
    Ok(Cost {
        flash: size.flash - blob,
        ram: elf::size(&program)?.ram + number(&text, "stack: ")?,
        instructions: number(&text, "instructions ")?,
    })
}

fn build(machine: &Machine, features: &str, model: &Path) -> Result<PathBuf> {
    let features =
        if features.is_empty() { String::new() } else { format!("--features {features}") };
    let options = "--no-default-features --config profile.release.package.koan.opt-level=\"z\"";
    let variables = format!("KOAN_COST_MODEL={}", model.display());
    machine.build_with("flash", &format!("{options} {features}"), &variables)
}

/// The program must give a row's class as its exit code; what it prints.
fn classifies(machine: &Machine, program: &Path, model: &Golden, plugin: &Path) -> Result<String> {
    let row = model.rows.first().context("no row")?;
    let words = row.words().context("the row is not of whole numbers")?;
    let mut pack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    pack.extend((model.blob.len() as u32).to_le_bytes());
    pack.extend(&model.blob);
    let address = elf::symbol(program, "_pack_start")?;
    let counted = counted(machine, plugin);
    let outcome = machine.run_with(program, Some((&pack, address)), &["-plugin", &counted])?;
    let class = koan::class_of(&row.scores);
    ensure!(
        usize::try_from(outcome.code) == Ok(class),
        "exit code {}, the class is {class}\n{}",
        outcome.code,
        outcome.text
    );
    Ok(outcome.text)
}
