//! Power that is cut in the middle of an update's writes and erases, on an emulated device: the
//! next start must have the old model or the new one, and take updates.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::machines::Machine;
use crate::serial::{Emulator, Host};
use crate::updates::send;

/// The firmware's exit code for a cut.
const CUT: i32 = 103;

/// The models after cuts.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    old: usize,
    new: usize,
}

/// Cuts power in some writes and erases, more of them towards the end, where the header and its
/// marks are written: with `linear.signed` in force, while `digits.signed` comes.
pub fn test(host: &Host, machine: &Machine) -> Result<()> {
    let elf = machine.program("updates")?;
    let start = || Emulator::start(machine, &elf, host.folder.path());
    let (flash, power) = (host.path("flash.bin"), host.path("power.bin"));
    let _ = std::fs::remove_file(&flash);
    host.stream(&start()?, "linear.signed few.csv --upload", 3)?;
    let before = std::fs::read(&flash)?;
    let update = std::fs::read(host.path("digits.signed"))?;
    let mut found = Found::default();
    // Whether power was cut, where it is cut after so many.
    let mut cut = |count: u32| -> Result<bool> {
        std::fs::write(&flash, &before)?;
        std::fs::write(&power, count.to_le_bytes())?;
        let device = start()?;
        // Not for the rows: the device has greeted whoever looked whether it is there.
        host.stream(&device, "linear.koan few.csv", 3)?;
        let answer = send(&device, &update, update.len());
        let cut = answer.is_err();
        if cut {
            let code = device.code()?;
            ensure!(code == CUT, "the emulator ended with the exit code {code}");
        } else {
            drop(device);
        }
        std::fs::remove_file(&power)?;
        let device = start()?;
        if let Ok(report) = host.stream(&device, "digits.koan few.csv", 3) {
            // The one that is built in would be none from the flash.
            ensure!(report["built_in"] == json!(false), "the flash has no model: {report}");
            found.new += usize::from(cut);
        } else {
            ensure!(cut, "an update that was not cut is lost");
            host.stream(&device, "linear.koan few.csv", 3).context("neither model is in force")?;
            found.old += 1;
            let report = host.stream(&device, "digits.signed few.csv --upload", 3)?;
            ensure!(report["uploaded"] == json!(true), "{report}");
        }
        Ok(cut)
    };
    let mut cut = |count: u32| cut(count).with_context(|| format!("{machine}: cut after {count}"));
    let (mut least, mut all) = (0, 1);
    while cut(all)? {
        (least, all) = (all, 2 * all);
    }
    while all - least > 1 {
        let middle = least.midpoint(all);
        if cut(middle)? {
            least = middle;
        } else {
            all = middle;
        }
    }
    let Found { old, new } = found;
    // The new one only counts once it is confirmed, which is the last that is written.
    ensure!(old > 0, "{machine}: power was never cut");
    eprintln!(
        "  {machine}: power was cut in {} of {all} writes and erases: {old} times the old model, \
         {new} times the new one",
        old + new
    );
    Ok(())
}
