//! `cargo xtask cost`: what a prediction costs on every emulated core, counted.
//!
//! For each core and each model of `tests/models`: executed instructions (by the
//! plugin in `firmware-example/plugin`, exact and the same on every host), flash
//! without the model, and RAM (statics and the deepest stack, buffers included).
//! The figures are compared with the stored ones; one that is more than 3 % worse
//! is an error until `cargo xtask cost --update` stores it on purpose.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use koan_golden::Golden;
use serde::{Deserialize, Serialize};

use crate::elf;
use crate::machines::{self, Machine};
use crate::steps::root;

/// The stored figures, from the root of the repository.
const STORED: &str = "firmware-example/cost.json";

/// What a prediction costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Executed instructions.
    pub instructions: u64,
    /// Bytes of code and constants without the model: the runtime, the model's
    /// families and the measuring itself.
    pub flash: u64,
    /// Bytes of statics and of the deepest stack together.
    ram: u64,
}

/// Costs by core, then by model.
type Costs = BTreeMap<String, BTreeMap<String, Cost>>;

/// Measures everything and gives the table; compares with the stored figures, or
/// stores them.
pub fn run(update: bool) -> Result<String> {
    let folder = root()?.join("tests/models");
    let models = koan_golden::load(&folder).map_err(anyhow::Error::msg)?;
    let plugin = plugin()?;
    let costs = measured(&models, &folder, &machines::all()?, &plugin)?;
    let path = root()?.join(STORED);
    if update {
        std::fs::write(&path, serde_json::to_string_pretty(&costs)? + "\n")?;
    } else {
        let stored = std::fs::read_to_string(&path).with_context(|| STORED.to_owned())?;
        let stored: Costs = serde_json::from_str(&stored).with_context(|| STORED.to_owned())?;
        let worse = worse(&stored, &costs);
        ensure!(
            worse.is_empty(),
            "costs more than what {STORED} has (`cargo xtask cost --update` if on purpose):\n  {}",
            worse.join("\n  ")
        );
    }
    Ok(table(&models, &costs) + "\n" + &crate::flash::run(update, &plugin)?)
}

/// The costs of a model, or of the models of a folder whose rows lie beside them,
/// as JSON.
pub fn of_path(path: &Path) -> Result<String> {
    let (models, folder) = if path.is_file() {
        (vec![drawn(path)?], path.parent().context("no folder")?)
    } else {
        (koan_golden::load(path).map_err(anyhow::Error::msg)?, path)
    };
    Ok(serde_json::to_string_pretty(&measured(&models, folder, &machines::all()?, &plugin()?)?)?)
}

/// What a prediction costs on the smallest core.
pub fn of_model(path: &Path) -> Result<Cost> {
    let model = drawn(path)?;
    let machines = machines::all()?;
    measure(&machines[0], &model, &std::path::absolute(path)?, &plugin()?)
}

/// A model with a row drawn for it, and the scores that the host gives.
fn drawn(path: &Path) -> Result<Golden> {
    let blob = std::fs::read(path).with_context(|| path.display().to_string())?;
    let parsed = koan::Model::parse(&blob)?;
    let mut random = fastrand::Rng::with_seed(1);
    // Whole numbers about where the input maps have their zero.
    let row: Vec<f32> = (0..parsed.inputs())
        .map(|input| {
            let map = parsed.input_map(input);
            let spread = f32::from(1i16 << 12) * 32768.0 / f32::from(map.mult.max(1));
            let value = map.offset as f32 + spread * (2.0 * random.f32() - 1.0);
            (value / f32::from(map.shift).exp2()).round().clamp(-32768.0, 32767.0)
        })
        .collect();
    let sizes = parsed.buffer_sizes();
    let workspace = koan::Workspace {
        inputs: &mut vec![0; sizes.inputs],
        block: &mut vec![0; sizes.block],
        wide: &mut vec![0; sizes.wide],
        sums: &mut vec![[0; 2]; sizes.outputs],
    };
    let scores = koan::Predictor::new(parsed, workspace)?.scores(&row[..])?.to_vec();
    let rows = vec![koan_golden::GoldenRow { scores, row }];
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Golden { name, blob, rows })
}

/// What the models of a folder cost on every machine.
fn measured(
    models: &[Golden],
    folder: &Path,
    machines: &[Machine],
    plugin: &Path,
) -> Result<Costs> {
    let mut costs = Costs::new();
    for machine in machines {
        let of_core = costs.entry(machine.core.to_owned()).or_default();
        for model in models {
            let path = std::path::absolute(folder.join(format!("{}.koan", model.name)))?;
            let cost = measure(machine, model, &path, plugin)
                .with_context(|| format!("{machine}, {}", model.name))?;
            eprintln!("{}, {}: {cost:?}", machine.core, model.name);
            of_core.insert(model.name.clone(), cost);
        }
    }
    Ok(costs)
}

/// Builds the plugin with the system's C compiler; renamed when it is whole, since
/// another run may be using it.
pub fn plugin() -> Result<PathBuf> {
    let target = root()?.join("target");
    let output = target.join("count.so");
    std::fs::create_dir_all(&target)?;
    let scratch = tempfile::tempdir_in(&target)?;
    let built = scratch.path().join("count.so");
    let status = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden", "-o"])
        .arg(&built)
        .arg(root()?.join("firmware-example/plugin/count.c"))
        .status()
        .context("cannot run `cc`, the C compiler that builds the counting plugin")?;
    ensure!(status.success(), "the counting plugin does not build");
    std::fs::rename(built, &output)?;
    Ok(std::path::absolute(output)?)
}

/// The cargo features that the model needs.
fn features(blob: &[u8]) -> Result<String> {
    let model = koan::Model::parse(blob)?;
    let mut features = Vec::new();
    for bank in model.banks() {
        if bank.family != koan::Family::Linear {
            features.push(bank.family.name());
        }
        if bank.needs_dense() {
            features.push("dense");
        }
        if bank.is_kept() {
            features.push("kept");
        }
        if model.outputs() > 0 && bank.width.bits != 4 {
            features.push("widths");
        }
    }
    if (0..model.inputs()).any(|input| model.input_map(input).log) {
        features.push("log");
    }
    Ok(features.join(","))
}

fn measure(machine: &Machine, model: &Golden, path: &Path, plugin: &Path) -> Result<Cost> {
    let features = match features(&model.blob)? {
        none if none.is_empty() => none,
        some => format!("--features {some}"),
    };
    let elf = machine.build_with(
        "cost",
        &format!("--no-default-features {features}"),
        &format!("KOAN_COST_MODEL={}", path.display()),
    )?;
    let row = model.rows.first().context("no row")?;
    let words = row.words().context("the row is not of whole numbers")?;
    let mut pack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    pack.extend(row.scores.iter().flat_map(|score| score.to_le_bytes()));
    let address = elf::symbol(&elf, "_pack_start")?;
    let counted = counted(machine, plugin);
    let outcome = machine.run_with(&elf, Some((&pack, address)), &["-plugin", &counted])?;
    ensure!(outcome.code == 0, "exit code {}, wrong scores?\n{}", outcome.code, outcome.text);
    let size = elf::size(&elf)?;
    Ok(Cost {
        instructions: number(&outcome.text, "instructions ")?,
        flash: size.flash - model.blob.len() as u64,
        ram: size.ram + number(&outcome.text, "stack: ")?,
    })
}

/// The emulator's argument for the plugin: the markers of the machine.
pub fn counted(machine: &Machine, plugin: &Path) -> String {
    let (start, stop, size) = if machine.target.starts_with("thumb") {
        ("46db", "46e4", 2)
    } else {
        ("102013", "202013", 4)
    };
    format!("{},start={start},stop={stop},size={size}", plugin.display())
}

/// The number behind `start`, at the start of a line.
pub fn number(text: &str, start: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(start));
    let digits: String = line.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    digits.parse().with_context(|| format!("no `{start}` in\n{text}"))
}

/// What is more than 3 % worse than stored, or not stored at all.
fn worse(stored: &Costs, costs: &Costs) -> Vec<String> {
    let mut worse = Vec::new();
    for (core, models) in costs {
        for (model, cost) in models {
            let Some(old) = stored.get(core).and_then(|models| models.get(model)) else {
                worse.push(format!("{core}, {model}: no stored figures"));
                continue;
            };
            let figures = [
                ("instructions", old.instructions, cost.instructions),
                ("bytes of flash", old.flash, cost.flash),
                ("bytes of RAM", old.ram, cost.ram),
            ];
            for (what, old, new) in figures {
                if 100 * new > 103 * old {
                    worse.push(format!("{core}, {model}: {new} {what}, stored {old}"));
                }
            }
        }
    }
    worse
}

/// Instructions for every core; flash and RAM of the first, the smallest.
fn table(models: &[Golden], costs: &Costs) -> String {
    let cores = machines::CORES.map(|(_, core)| core);
    let mut table = format!(
        "| model | blob | {} | flash, {first} | RAM, {first} |\n| --- |{} ---: | ---: | ---: |\n",
        cores.join(" | "),
        " ---: |".repeat(cores.len()),
        first = cores[0],
    );
    for model in models {
        let cost = |core: &str| costs.get(core).and_then(|models| models.get(&model.name));
        let counts: Vec<String> =
            cores.iter().filter_map(|core| Some(cost(core)?.instructions.to_string())).collect();
        let Some(first) = cost(cores[0]) else { continue };
        table += &format!(
            "| {} | {} | {} | {} | {} |\n",
            model.name,
            model.blob.len(),
            counts.join(" | "),
            first.flash,
            first.ram
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(instructions: u64, flash: u64, ram: u64) -> Costs {
        let cost = Cost { instructions, flash, ram };
        [("core".to_owned(), [("model".to_owned(), cost)].into())].into()
    }

    #[test]
    fn three_percent_are_allowed_and_no_more() {
        let stored = costs(10_000, 1_000, 500);
        assert!(worse(&stored, &costs(10_300, 1_030, 515)).is_empty());
        assert!(worse(&stored, &costs(5_000, 10, 5)).is_empty());
        assert_eq!(worse(&stored, &costs(10_301, 1_000, 500)).len(), 1);
        assert_eq!(worse(&stored, &costs(10_301, 1_031, 516)).len(), 3);
        assert_eq!(worse(&Costs::new(), &stored).len(), 1);
    }
}
