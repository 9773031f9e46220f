//! A model over a stream of samples on emulated cores.
//!
//! The scores of every window must be those that the host has for the whole window, and the
//! steady class at the end the host's. Counted are the instructions of a sample with which no
//! window is whole, of the first window, of which all is new, and of the one with the most
//! after it.

use anyhow::{Context, Result, ensure};
use koan::{Model, OwnedBuffers, Predictor};
use koan_stream::{Rules, Steady, cache_words};

use crate::elf;
use crate::machines;
use crate::plugin::Plugin;
use crate::steps::root;

/// The model that `stream` carries.
pub const MODEL: &str = "tests/models/exercises-conv-160.koan";
/// Its windows, as it was trained.
const SAMPLES: usize = 128;
const HOP: usize = 32;
const CHANNELS: usize = 3;
/// Windows that are run.
const WINDOWS: usize = 6;
/// Those of the firmware.
const RULES: Rules = Rules { enter: 3, keep: 2, margin: 0 };
const SEED: u64 = 1;

/// Builds and runs it on the cores of these targets; gives a table.
pub fn run(targets: &[&str]) -> Result<String> {
    let blob = std::fs::read(root()?.join(MODEL)).context(MODEL)?;
    let Told { pack, classes, .. } = expected(&blob)?;
    let class = classes.last().context("no windows")?;
    let words = cache_words(&Model::parse(&blob)?, HOP * CHANNELS);
    let plugin = Plugin::build()?;
    let machines = machines::of(targets)?;
    machines::build(&machines, &["stream"], "")?;
    let mut table = "| core | a sample | the first window | a window after it | flash | RAM | \
                     words kept |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for machine in machines {
        let elf = machine.program("stream")?;
        let watched = plugin.run(&machine, &elf, Some(&pack))?;
        let (code, text) = (watched.outcome.code, &watched.outcome.text);
        ensure!(
            code == 0 && text.lines().any(|line| line == class),
            "{machine}: a stream gives other scores, or not the class {class}\n{text}"
        );
        let counts: Vec<u64> = watched.intervals().collect();
        let (filling, hops) = counts.split_at_checked(SAMPLES).context("no counts")?;
        let (sample, first) = (filling.iter().min(), filling.iter().max());
        let (sample, first) = sample.zip(first).context("no counts")?;
        let later = hops.iter().max().context("no counts")?;
        let size = elf::size(&elf)?;
        table += &format!(
            "| {} | {sample} | {first} | {later} | {} | {} | {words} |\n",
            machine.core,
            size.flash - blob.len() as u64,
            size.ram + watched.stack,
        );
    }
    Ok(table)
}

/// What the firmware is given, and what it must answer.
#[derive(Clone, Debug)]
pub struct Told {
    /// The samples, and the scores of the whole windows.
    pub pack: Vec<u8>,
    pub samples: usize,
    /// The steady class after each window.
    pub classes: Vec<String>,
}

/// What a firmware with the model is given.
pub fn expected(blob: &[u8]) -> Result<Told> {
    let model = Model::parse(blob)?;
    let mut predictor = Predictor::new(model, OwnedBuffers::<384, 64, 128, 4>::new())?;
    let mut steady = Steady::<5>::new(RULES).context("the rules")?;
    let (series, mut classes) = (series(), Vec::new());
    let samples = series.len() / CHANNELS;
    let mut pack = (samples as u32).to_le_bytes().to_vec();
    pack.extend(series.iter().flat_map(|number| number.to_le_bytes()));
    for row in series.windows(SAMPLES * CHANNELS).step_by(HOP * CHANNELS) {
        let scores = predictor.scores(row)?;
        pack.extend(scores.iter().flat_map(|score| score.to_le_bytes()));
        let class = steady.push(scores).and_then(|class| model.class_name(class));
        classes.push(class.unwrap_or("unknown").to_owned());
    }
    Ok(Told { pack, samples, classes })
}

/// Accelerations of something that swings, in g.
fn series() -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let samples = SAMPLES + (WINDOWS - 1) * HOP;
    let swing = |sample: usize, channel: usize| {
        let angle = sample as f32 * (0.06 + 0.03 * channel as f32);
        angle.sin() * (0.4 + 0.2 * channel as f32)
    };
    (0..samples * CHANNELS)
        .map(|place| swing(place / CHANNELS, place % CHANNELS) + 0.3 * random.f32())
        .collect()
}
