//! `cargo xtask cost`: what a prediction costs on every emulated core, counted.
//!
//! For each core and each model of `tests/models`, in a program of its own: executed
//! instructions (by the plugin in `firmware-example/plugin`, exact and the same on every
//! host), flash without the model, and RAM (statics and the deepest stack, buffers
//! included). The figures are compared with the stored ones; one that is more than 3 %
//! worse is an error until `cargo xtask cost --update` stores it on purpose.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use koan_golden::Golden;
use serde::{Deserialize, Serialize};

use crate::elf;
use crate::machines::{self, Machine};
use crate::plugin::Plugin;
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
    pub ram: u64,
}

impl Cost {
    /// What is more than 3 % worse than `old`.
    pub fn worse(self, old: &Self) -> impl Iterator<Item = String> + use<> {
        let figures = [
            ("instructions", old.instructions, self.instructions),
            ("bytes of flash", old.flash, self.flash),
            ("bytes of RAM", old.ram, self.ram),
        ];
        let worse = figures.into_iter().filter(|&(_, old, new)| 100 * new > 103 * old);
        worse.map(|(what, old, new)| format!("{new} {what}, stored {old}"))
    }
}

/// Costs by core, then by name.
type Costs = BTreeMap<String, BTreeMap<String, Cost>>;

/// The model that is also measured in the small form.
const SMALL: &str = "digits-fourier-512";

/// A model in one of its forms.
#[derive(Clone, Debug)]
struct Subject<'g> {
    /// The name of its figures.
    name: String,
    golden: &'g Golden,
    path: PathBuf,
    small: bool,
}

impl<'g> Subject<'g> {
    /// The models of a folder, `small` too in the small form.
    fn all(models: &'g [Golden], folder: &Path, small: Option<&str>) -> Result<Vec<Self>> {
        let mut subjects = Vec::new();
        for golden in models {
            let path = std::path::absolute(folder.join(format!("{}.koan", golden.name)))?;
            let name = golden.name.clone();
            subjects.push(Self { name, golden, path: path.clone(), small: false });
            if small == Some(&golden.name) {
                let name = format!("{}, small", golden.name);
                subjects.push(Self { name, golden, path, small: true });
            }
        }
        Ok(subjects)
    }
    /// Builds the program for it.
    fn build(&self, machines: &[Machine]) -> Result<()> {
        let form = if self.small { "small" } else { "fast" };
        let path = self.path.display();
        let variables = format!("KOAN_COST_MODEL={path} KOAN_COST_FORM={form}");
        machines::build(machines, &["cost"], &variables)
    }

    /// Runs the program that was built last.
    fn measure(&self, machine: &Machine, plugin: &Plugin) -> Result<Cost> {
        let elf = machine.program("cost")?;
        let copies = elf::copies(&elf, &self.golden.blob)?;
        ensure!(copies == 1, "the program has the model {copies} times");
        let row = self.golden.rows.first().context("no row")?;
        let words = row.words().context("the row is not of whole numbers")?;
        let mut pack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        pack.extend(row.scores.iter().flat_map(|score| score.to_le_bytes()));
        let watched = plugin.run(machine, &elf, Some(&pack))?;
        let outcome = &watched.outcome;
        ensure!(outcome.code == 0, "exit code {}, wrong scores?\n{}", outcome.code, outcome.text);
        let size = elf::size(&elf)?;
        Ok(Cost {
            instructions: watched.instructions()?,
            flash: size.flash - self.golden.blob.len() as u64,
            ram: size.ram + watched.stack,
        })
    }
}

/// Measures everything and gives the table; compares with the stored figures, or
/// stores them.
pub fn run(update: bool) -> Result<String> {
    let folder = root()?.join("tests/models");
    let models = koan_golden::load(&folder).map_err(anyhow::Error::msg)?;
    let plugin = Plugin::build()?;
    let subjects = Subject::all(&models, &folder, Some(SMALL))?;
    let costs = measured(&subjects, &machines::all()?, &plugin)?;
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
    Ok(table(&subjects, &costs) + "\n" + &crate::flash::run(update, &plugin)?)
}

/// The costs of a model, or of the models of a folder whose rows lie beside them,
/// as JSON; on the machines of these targets, or on all.
pub fn of_path(path: &Path, targets: &[String]) -> Result<String> {
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let machines = if targets.is_empty() { machines::all()? } else { machines::of(&targets)? };
    let (models, folder) = if path.is_file() {
        (vec![drawn(path)?], path.parent().context("no folder")?)
    } else {
        (koan_golden::load(path).map_err(anyhow::Error::msg)?, path)
    };
    let subjects = Subject::all(&models, folder, None)?;
    Ok(serde_json::to_string_pretty(&measured(&subjects, &machines, &Plugin::build()?)?)?)
}

/// What a prediction costs on the smallest core.
pub fn of_model(path: &Path) -> Result<Cost> {
    let golden = drawn(path)?;
    let path = std::path::absolute(path)?;
    let subject = Subject { name: golden.name.clone(), golden: &golden, path, small: false };
    let machine = smallest()?;
    subject.build(std::slice::from_ref(&machine))?;
    subject.measure(&machine, &Plugin::build()?)
}

/// The machine of the smallest core.
pub fn smallest() -> Result<Machine> {
    machines::all()?.into_iter().next().context("no machine")
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
            let spread = f32::from(1i16 << 12) * 32768.0 / f32::from(map.mult().max(1));
            let value = map.offset() as f32 + spread * (2.0 * random.f32() - 1.0);
            (value / f32::from(map.shift()).exp2()).round().clamp(-32768.0, 32767.0)
        })
        .collect();
    let sizes = parsed.buffer_sizes(koan::Form::Fast);
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

/// What models cost on these machines.
fn measured(subjects: &[Subject<'_>], machines: &[Machine], plugin: &Plugin) -> Result<Costs> {
    let mut costs = Costs::new();
    for subject in subjects {
        subject.build(machines)?;
        for machine in machines {
            let name = &subject.name;
            let cost = subject.measure(machine, plugin);
            let cost = cost.with_context(|| format!("{machine}, {name}"))?;
            eprintln!("{}, {name}: {cost:?}", machine.core);
            costs.entry(machine.core.to_owned()).or_default().insert(name.clone(), cost);
        }
    }
    Ok(costs)
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
            worse.extend(cost.worse(old).map(|what| format!("{core}, {model}: {what}")));
        }
    }
    worse
}

/// Instructions for every core; flash and RAM of the first, the smallest.
fn table(subjects: &[Subject<'_>], costs: &Costs) -> String {
    let cores = machines::CORES.map(|(_, core)| core);
    let mut table = format!(
        "| model | blob | {} | flash, {first} | RAM, {first} |\n| --- |{} ---: | ---: | ---: |\n",
        cores.join(" | "),
        " ---: |".repeat(cores.len()),
        first = cores[0],
    );
    for Subject { name, golden, .. } in subjects {
        let cost = |core: &str| costs.get(core).and_then(|models| models.get(name));
        let counts: Vec<String> =
            cores.iter().filter_map(|core| Some(cost(core)?.instructions.to_string())).collect();
        let Some(Cost { flash, ram, .. }) = cost(cores[0]) else { continue };
        let (bytes, counts) = (golden.blob.len(), counts.join(" | "));
        table += &format!("| {name} | {bytes} | {counts} | {flash} | {ram} |\n");
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
