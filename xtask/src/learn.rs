//! Learning on emulated cores: from the same labelled windows `learn` must make the patch that
//! the host makes, byte for byte.

use anyhow::{Context, Result, ensure};
use koan::{Model, OwnedBuffers, Predictor};
use koan_learn::{Learner, Mean, Pace, patch_bytes};

use crate::elf;
use crate::machines;
use crate::plugin::Plugin;
use crate::steps::root;

/// The model that `learn` carries.
const MODEL: &str = "tests/models/exercises-conv-160.koan";
const FEATURES: usize = 160;
const CLASSES: usize = 5;
/// The firmware's.
const PACE: Pace = Pace { margin: 76_404_600, slowness: 0 };
/// Labelled windows.
const WINDOWS: usize = 12;
const SEED: u64 = 1;

/// Builds and runs it on the cores of these targets; gives a table.
pub fn run(targets: &[&str]) -> Result<String> {
    let blob = std::fs::read(root()?.join(MODEL)).context(MODEL)?;
    let (pack, patch) = expected(&blob)?;
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
            size.flash - blob.len() as u64,
            size.ram + watched.stack,
        );
    }
    Ok(table)
}

/// What the firmware is given: windows with their classes, and the patch; and its length.
fn expected(blob: &[u8]) -> Result<(Vec<u8>, usize)> {
    let model = Model::parse(blob)?;
    let mut predictor = Predictor::new(model, OwnedBuffers::<384, 64, 128, 4>::new())?;
    let mut learner = Learner::<FEATURES, CLASSES>::new(&model, PACE)?;
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut mean = Mean::new();
    let mut pack = (WINDOWS as u32).to_le_bytes().to_vec();
    let mut windows = Vec::new();
    for number in 0..WINDOWS {
        let row: Vec<i16> = (0..model.inputs()).map(|_| random.i16(-2..=2)).collect();
        let class = number % CLASSES;
        pack.extend((class as u32).to_le_bytes());
        pack.extend(row.iter().flat_map(|number| number.to_le_bytes()));
        let mut features = vec![0; FEATURES];
        predictor.features(&row, &mut features)?;
        mean.see(&features)?;
        windows.push((row, features, class));
    }
    learner.centre_on(&mean.mean());
    for (row, features, class) in &windows {
        learner.learn(predictor.scores(row)?, features, *class)?;
    }
    let mut patch = [0; patch_bytes(FEATURES, CLASSES)];
    let length = learner.write(&mut patch)?;
    pack.extend(&patch[..length]);
    Ok((pack, length))
}
