//! Learning on emulated cores: from the same labelled windows `learn` must make the patch that
//! the host makes, byte for byte.

use anyhow::{Context, Result, ensure};
use koan_learned::Shown;

use crate::elf;
use crate::machines;
use crate::plugin::Plugin;
use crate::steps::root;

/// The model that `learn` carries.
const MODEL: &str = "tests/models/exercises-conv-160.koan";

/// Builds and runs it on the cores of these targets; gives a table.
pub fn run(targets: &[&str]) -> Result<String> {
    let blob = root()?.join(MODEL).metadata().context(MODEL)?.len();
    let (pack, patch) = expected()?;
    let mut wrong = pack.clone();
    let last = wrong.len() - 5;
    wrong[last] ^= 1;
    let plugin = Plugin::build()?;
    let machines = machines::of(targets)?;
    machines::build(&machines, &["learn"], "")?;
    let mut table = "| core | a window learned | flash | RAM | bytes of the patch |\n\
                     | --- | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for machine in machines {
        let elf = machine.program("learn")?;
        let watched = plugin.run(&machine, &elf, Some(&pack))?;
        let code = watched.outcome.code;
        ensure!(code == 0, "{machine}: another patch than the host's: exit code {code}");
        let code = plugin.run(&machine, &elf, Some(&wrong))?.outcome.code;
        ensure!(code == 1, "{machine}: a changed patch was not noticed: exit code {code}");
        let learned = watched.intervals().max().context("no counts")?;
        let size = elf::size(&elf)?;
        table += &format!(
            "| {} | {learned} | {} | {} | {patch} |\n",
            machine.core,
            size.flash - blob,
            size.ram + watched.stack,
        );
    }
    Ok(table)
}

/// What the firmware is given: windows with their classes, and the patch; and its length.
fn expected() -> Result<(Vec<u8>, usize)> {
    let windows = koan_learned::windows();
    let mut pack = (windows.len() as u32).to_le_bytes().to_vec();
    for Shown { row, class } in windows {
        pack.extend((class as u32).to_le_bytes());
        pack.extend(row.iter().flat_map(|number| number.to_le_bytes()));
    }
    let patch = koan_learned::patch()?;
    pack.extend(&patch);
    Ok((pack, patch.len()))
}
