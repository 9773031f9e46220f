//! What the core takes of flash and RAM on the smallest core, by what a program contains of
//! it: the programs `flash_…` of the firmware; of flash, less the empty one.
//!
//! RAM is all statics and the deepest stack, buffers among them, from the reset to the
//! class. A figure that is more than 3 % worse than the stored one is an error until
//! `cargo xtask cost --update` stores it on purpose.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use koan_golden::Golden;

use crate::cost::{Cost, smallest};
use crate::elf;
use crate::machines::{self, Machine};
use crate::plugin::Plugin;
use crate::steps::root;

/// The stored figures, from the root of the repository.
const STORED: &str = "firmware-example/flash.json";
/// The model that the programs classify with, of `tests/models`.
pub const MODEL: &str = "digits-fourier-512";
/// What the others are compared with.
const EMPTY: &str = "flash_empty";

/// The program with the model in it.
const INCLUDED: &str = "model included";

/// What is measured, and the program for it; whether it has the model in it, instead of
/// being given its blob.
const PROGRAMS: [(&str, &str, bool); 8] = [
    (INCLUDED, "flash_included", true),
    ("model included, small", "flash_included_small", true),
    ("parser and fourier hadamard classifiers of 4 bits", "flash_profile", false),
    ("the same, small", "flash_profile_small", false),
    ("the same with its self test", "flash_profile_test", false),
    ("the same with its self test, small", "flash_profile_test_small", false),
    ("parser and every model", "flash_any", false),
    ("parser and every model, small", "flash_any_small", false),
];

/// Measures and gives a table; compares with the stored figures, or stores them.
pub fn run(update: bool, plugin: &Plugin) -> Result<String> {
    let machine = smallest()?;
    let folder = root()?.join("tests/models");
    let models = koan_golden::load(&folder).map_err(anyhow::Error::msg)?;
    let model = models.iter().find(|model| model.name == MODEL).context(MODEL)?;
    let names: Vec<&str> = PROGRAMS.iter().map(|(_, name, _)| *name).chain([EMPTY]).collect();
    machines::build(std::slice::from_ref(&machine), &names, "")?;
    let empty = elf::size(&machine.program(EMPTY)?)?.flash;
    let mut figures = BTreeMap::new();
    let mut table = format!(
        "| the core alone, {} | flash | RAM, {MODEL} | instructions |\n\
         | --- | ---: | ---: | ---: |\n",
        machine.core
    );
    for (name, program, included) in PROGRAMS {
        let whole = measure(&machine, program, model, plugin).context(name)?;
        let blob = if included { model.blob.len() as u64 } else { 0 };
        let cost = Cost { flash: whole.flash - empty - blob, ..whole };
        let Cost { flash, ram, instructions } = cost;
        table += &format!("| {name} | {flash} | {ram} | {instructions} |\n");
        figures.insert(name.to_owned(), cost);
    }
    if update {
        std::fs::write(root()?.join(STORED), serde_json::to_string_pretty(&figures)? + "\n")?;
        return Ok(table);
    }
    let stored = stored()?;
    for (name, cost) in &figures {
        let old = stored.get(name).with_context(|| format!("{STORED}: nothing on {name}"))?;
        let worse: Vec<String> = cost.worse(old).collect();
        ensure!(
            worse.is_empty(),
            "{name}: {} ({STORED}, `cargo xtask cost --update` if on purpose)",
            worse.join(", ")
        );
    }
    Ok(table)
}

fn stored() -> Result<BTreeMap<String, Cost>> {
    let text = std::fs::read_to_string(root()?.join(STORED)).context(STORED)?;
    serde_json::from_str(&text).context(STORED)
}

/// The stored figures of the core with [`MODEL`] in it.
pub fn included() -> Result<Cost> {
    stored()?.remove(INCLUDED).with_context(|| format!("{STORED}: nothing on {INCLUDED}"))
}

/// What a prediction costs, with the flash of the whole program. It must give a row's class
/// as its exit code.
fn measure(machine: &Machine, program: &str, model: &Golden, plugin: &Plugin) -> Result<Cost> {
    let elf = machine.program(program)?;
    let row = model.rows.first().context("no row")?;
    let words = row.words().context("the row is not of whole numbers")?;
    let mut pack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    pack.extend((model.blob.len() as u32).to_le_bytes());
    pack.extend(&model.blob);
    let watched = plugin.run(machine, &elf, Some(&pack))?;
    let (code, class) = (watched.outcome.code, koan::class_of(&row.scores));
    ensure!(
        usize::try_from(code) == Ok(class),
        "exit code {code}, the class is {class}\n{}",
        watched.outcome.text
    );
    let size = elf::size(&elf)?;
    Ok(Cost {
        instructions: watched.instructions()?,
        flash: size.flash,
        ram: size.ram + watched.stack,
    })
}
