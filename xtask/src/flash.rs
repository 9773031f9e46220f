//! What the core takes of flash on the smallest core: the program `flash` with the
//! parser and a classifier, less the same program without them.
//!
//! The core is compiled for size (`z`), the program around it as the firmware is. A
//! figure that is more than 3 % worse than the stored one is an error until
//! `cargo xtask cost --update` stores it on purpose.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::elf;
use crate::machines::{self, Machine};
use crate::steps::root;

/// The stored figures, from the root of the repository.
const STORED: &str = "firmware-example/flash.json";
/// The model that the program must classify with, of `tests/models`.
const MODEL: &str = "digits-fourier-512";

/// What is measured, and the program's features for it.
const BUILDS: [(&str, &str); 6] = [
    ("parser and a fourier hadamard classifier: 4 bits, no sections", "flash,fourier"),
    ("the same with its self test", "flash-self-test,fourier"),
    ("the classifier with all widths of weights and sections", "flash,fourier,widths,sections"),
    (
        "parser, all families but conv, all widths and sections",
        "flash,fourier,stump,bin,maxout,sigmoid,dense,widths,sections",
    ),
    ("the same with conv", "flash,families,widths,sections"),
    ("the same with logarithms and kept features", "flash,families,widths,sections,kept,log"),
];

/// Measures and gives a table; compares with the stored figures, or stores them.
pub fn run(update: bool) -> Result<String> {
    let machine = machines::all()?.into_iter().next().context("no machine")?;
    let empty = elf::size(&build(&machine, "")?)?.flash;
    let mut sizes = BTreeMap::new();
    let mut table = format!("| flash of the core, {} | bytes |\n| --- | ---: |\n", machine.core);
    for (name, features) in BUILDS {
        let program = build(&machine, features)?;
        classifies(&machine, &program).context(name)?;
        let size = elf::size(&program)?.flash - empty;
        table += &format!("| {name} | {size} |\n");
        sizes.insert(name.to_owned(), size);
    }
    let path = root()?.join(STORED);
    if update {
        std::fs::write(&path, serde_json::to_string_pretty(&sizes)? + "\n")?;
        return Ok(table);
    }
    let stored = std::fs::read_to_string(&path).context(STORED)?;
    let stored: BTreeMap<String, u64> = serde_json::from_str(&stored).context(STORED)?;
    for (name, &size) in &sizes {
        let &old = stored.get(name).with_context(|| format!("{STORED}: nothing on {name}"))?;
        ensure!(
            100 * size <= 103 * old,
            "{name}: {size} bytes of flash, {STORED} has {old} (`cargo xtask cost --update` if \
             on purpose)"
        );
    }
    Ok(table)
}

fn build(machine: &Machine, features: &str) -> Result<PathBuf> {
    let features =
        if features.is_empty() { String::new() } else { format!("--features {features}") };
    let options = "--no-default-features --config profile.release.package.koan.opt-level=\"z\"";
    machine.build_with("flash", &format!("{options} {features}"), "")
}

/// The program must give a row's class as its exit code.
fn classifies(machine: &Machine, program: &Path) -> Result<()> {
    let models = koan_golden::load(&root()?.join("tests/models")).map_err(anyhow::Error::msg)?;
    let model = models.iter().find(|model| model.name == MODEL).context(MODEL)?;
    let row = model.rows.first().context("no row")?;
    let words = row.words().context("the row is not of whole numbers")?;
    let mut pack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    pack.extend((model.blob.len() as u32).to_le_bytes());
    pack.extend(&model.blob);
    let address = elf::symbol(program, "_pack_start")?;
    let outcome = machine.run(program, Some((&pack, address)))?;
    let class = koan::class_of(&row.scores);
    ensure!(
        usize::try_from(outcome.code) == Ok(class),
        "exit code {}, the class is {class}\n{}",
        outcome.code,
        outcome.text
    );
    Ok(())
}
