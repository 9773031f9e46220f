//! `cargo xtask emulate`: the firmware on every emulated core.
//!
//! - `golden` replays every golden model, fast and in the small form, and must notice a
//!   changed score.
//! - `flips` must refuse every blob with a flipped bit.
//! - `predict` must give the right class, notice flips of its own flash, and
//!   contain no panic, no heap and no float operation; all of them are found in `planted`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use koan_golden::Golden;

use crate::elf::{self, Size};
use crate::machines::{self, Machine, Outcome};
use crate::pack::packs;
use crate::plugin::Plugin;
use crate::steps::root;

/// The model that `predict` carries and whose bits are flipped.
const MODEL: &str = "firmware-example/digits.koan";
/// The line that `predict` prints: the digit of its row.
const CLASS: &str = "0";
/// Bits of the header, all of which are flipped.
const HEADER_BITS: usize = 19 * 8;
/// Further bits that are flipped, drawn from the seed.
const FLIPS: usize = 1000;
/// Bits that are flipped in the flash of `predict`.
const FLASH_FLIPS: usize = 8;
const SEED: u64 = 1;

/// What was equal on one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Equal {
    models: usize,
    rows: usize,
    scores: usize,
}

/// A line of the table.
#[derive(Clone, Debug)]
struct Line {
    machine: Machine,
    equal: Equal,
    flips: usize,
    /// What `predict` takes.
    predict: Size,
    stack: u64,
}

/// Builds and runs everything on the cores of these targets; gives a table.
pub fn run(targets: &[&str]) -> Result<String> {
    let models = koan_golden::load(&root()?.join("tests/golden")).map_err(anyhow::Error::msg)?;
    let blob = read(&root()?.join(MODEL))?;
    let flipped = flipped(&blob);
    let plugin = Plugin::build()?;
    let machines = machines::of(targets)?;
    machines::build(&machines, &["golden", "flips", "predict", "planted"], "")?;
    let lines: Vec<Line> = machines
        .into_iter()
        .map(|machine| {
            let equal = replay(&machine, &models)?;
            let flips = refuse(&machine, &flipped)?;
            let (predict, stack) = predict(&machine, &blob, &plugin)?;
            Ok(Line { machine, equal, flips, predict, stack })
        })
        .collect::<Result<_>>()?;
    Ok(table(&lines))
}

fn table(lines: &[Line]) -> String {
    let mut table = "| core | machine | models | rows | scores equal | flips refused | \
                     flash | statics | stack |\n\
                     | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for Line { machine, equal, flips, predict, stack } in lines {
        table += &format!(
            "| {} | {} | {} | {} | {} | {flips} | {} | {} | {stack} |\n",
            machine.core,
            machine.name,
            equal.models,
            equal.rows,
            equal.scores,
            predict.flash,
            predict.ram,
        );
    }
    table
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}

/// Where packs go, and how long they may be.
fn pack_region(elf: &Path) -> Result<(u64, usize)> {
    let start = elf::symbol(elf, "_pack_start")?;
    Ok((start, (elf::symbol(elf, "_pack_end")? - start) as usize))
}

/// Replays all models; what was equal.
fn replay(machine: &Machine, models: &[Golden]) -> Result<Equal> {
    let elf = machine.program("golden")?;
    let (address, limit) = pack_region(&elf)?;
    let mut equal = Equal::default();
    for pack in packs(models, limit)? {
        let text = machine.pass(&elf, Some((&pack, address)))?;
        let numbers = numbers_of(&text, "equal: ");
        let &[models, rows, scores] = &numbers[..] else {
            anyhow::bail!("{machine}: no count of what is equal in\n{text}");
        };
        equal.models += models;
        equal.rows += rows;
        equal.scores += scores;
    }
    let rows = || models.iter().flat_map(|model| &model.rows);
    let expected = Equal {
        models: models.len(),
        rows: rows().count(),
        // In both forms.
        scores: rows().map(|row| 2 * row.typed().len() * row.scores.len()).sum(),
    };
    ensure!(equal == expected, "{machine}: {equal:?} of {expected:?} were replayed");
    notices_a_changed_score(machine, &elf, &models[models.len() / 2])?;
    Ok(equal)
}

/// A single score that is off by one must fail the replay, and be named.
fn notices_a_changed_score(machine: &Machine, elf: &Path, model: &Golden) -> Result<()> {
    let (address, limit) = pack_region(elf)?;
    let mut changed = model.clone();
    let score = changed.rows.last_mut().and_then(|row| row.scores.last_mut());
    let score = score.with_context(|| format!("model {} has no scores", model.name))?;
    let actual = *score;
    *score ^= 1;
    let (name, row) = (&model.name, model.rows.len() - 1);
    let output = model.rows[row].scores.len() - 1;
    let line = format!(
        "model {name}, fast, row {row} as f32, output {output}: expected {score}, actual {actual}\n"
    );
    let pack = packs(&[changed], limit)?.remove(0);
    let Outcome { code, text } = machine.run(elf, Some((&pack, address)))?;
    ensure!(
        code == 1 && text.contains(&line),
        "{machine}: a changed score of {name} was not noticed: exit code {code}\n{text}"
    );
    Ok(())
}

/// The numbers of the line that starts with `start`.
fn numbers_of(text: &str, start: &str) -> Vec<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default();
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// The bit of a blob, flipped.
fn flip(blob: &[u8], bit: usize) -> Vec<u8> {
    let mut blob = blob.to_vec();
    blob[bit / 8] ^= 1 << (bit % 8);
    blob
}

/// The blob with every bit of its header, and with random bits, flipped.
fn flipped(blob: &[u8]) -> Vec<Golden> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut bits: BTreeSet<usize> = (0..HEADER_BITS).collect();
    while bits.len() < HEADER_BITS + FLIPS {
        bits.insert(random.usize(..8 * blob.len()));
    }
    let model = |bit| Golden {
        name: format!("byte {} with bit {} flipped", bit / 8, bit % 8),
        blob: flip(blob, bit),
        rows: Vec::new(),
    };
    bits.into_iter().map(model).collect()
}

/// Lets a core load all damaged blobs; how many it refused.
fn refuse(machine: &Machine, flipped: &[Golden]) -> Result<usize> {
    let elf = machine.program("flips")?;
    let (address, limit) = pack_region(&elf)?;
    let whole =
        Golden { name: MODEL.to_owned(), blob: read(&root()?.join(MODEL))?, rows: Vec::new() };
    // Every pack starts with the whole blob: a firmware that refuses
    // everything would pass otherwise.
    let entry = packs(std::slice::from_ref(&whole), limit)?.remove(0).len() + 32;
    let mut refused = 0;
    for chunk in flipped.chunks(limit / entry - 1) {
        let models: Vec<Golden> = std::iter::once(&whole).chain(chunk).cloned().collect();
        let packs = packs(&models, limit)?;
        ensure!(packs.len() == 1, "the flips do not fit one pack");
        let text = machine.pass(&elf, Some((&packs[0], address)))?;
        let count = numbers_of(&text, "refused: ");
        ensure!(count == [chunk.len()], "{machine}: {} flips, but\n{text}", chunk.len());
        refused += chunk.len();
    }
    Ok(refused)
}

/// The firmware that users copy: its class, flips of its flash, its contents;
/// gives its size and the bytes of its stack.
fn predict(machine: &Machine, blob: &[u8], plugin: &Plugin) -> Result<(Size, u64)> {
    let elf = machine.program("predict")?;
    let watched = plugin.run(machine, &elf, None)?;
    let text = &watched.outcome.text;
    ensure!(watched.outcome.code == 0, "{machine}: predict failed\n{text}");
    ensure!(text.lines().any(|line| line == CLASS), "{machine}: predict printed\n{text}");
    let found = elf::findings(&elf)?;
    ensure!(
        found.all().is_empty(),
        "{machine}: the firmware for prediction contains\n  {}",
        found.all().join("\n  ")
    );
    notices_flips_in_flash(machine, &elf, blob)?;

    // The checks above are only worth something if they can fail.
    let planted = elf::findings(&machine.program("planted")?)?;
    ensure!(!planted.panics.is_empty(), "{machine}: a planted unwrap was not found");
    ensure!(!planted.floats.is_empty(), "{machine}: a planted float was not found");
    ensure!(!planted.heap.is_empty(), "{machine}: a planted allocation was not found");
    Ok((elf::size(&elf)?, watched.stack))
}

/// Flips bits of the model where it lies in the program's flash.
fn notices_flips_in_flash(machine: &Machine, elf: &Path, blob: &[u8]) -> Result<()> {
    let program = read(elf)?;
    let places: Vec<usize> = program
        .windows(blob.len())
        .enumerate()
        .filter_map(|(at, bytes)| (bytes == blob).then_some(at))
        .collect();
    ensure!(!places.is_empty(), "{machine}: the model is not in {}", elf.display());
    let scratch = tempfile::tempdir()?;
    let damaged = scratch.path().join("predict");
    let mut random = fastrand::Rng::with_seed(SEED);
    for _ in 0..FLASH_FLIPS {
        let bit = random.usize(..8 * blob.len());
        let mut program = program.clone();
        for &place in &places {
            program[place + bit / 8] ^= 1 << (bit % 8);
        }
        std::fs::write(&damaged, program)?;
        let Outcome { code, text } = machine.run(&damaged, None)?;
        ensure!(
            code == 1 && text.contains("checksum mismatch: the blob is damaged"),
            "{machine}: bit {bit} of the model flipped in flash: exit code {code}\n{text}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_firmware_is_read() {
        let text = "Timer\nequal: 2 models, 8 rows, 48 scores\n";
        assert_eq!(numbers_of(text, "equal: "), [2, 8, 48]);
        assert!(numbers_of("equal", "equal: ").is_empty());
    }

    #[test]
    fn flips_are_distinct_and_cover_the_header() {
        let blob = vec![0; 300];
        let flipped = flipped(&blob);
        assert_eq!(flipped.len(), HEADER_BITS + FLIPS);
        let ones = |blob: &[u8]| blob.iter().map(|byte| byte.count_ones()).sum::<u32>();
        assert!(flipped.iter().all(|model| ones(&model.blob) == 1));
        let blobs: BTreeSet<_> = flipped.iter().map(|model| &model.blob).collect();
        assert_eq!(blobs.len(), flipped.len());
    }
}
