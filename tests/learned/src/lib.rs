//! Learning is to give the same bits everywhere. Here are windows to learn from, drawn from a
//! seed, and the patch that comes of them. Emulated cores make it in `firmware-example`'s program
//! `learn`, node and Chromium in the module of WebAssembly that `examples/` has.

use koan::Error;
use koan_learn::{Learner, Mean, Pace, patch_bytes};

koan::include_model!(mod exercises = "../../models/exercises-conv-160.koan");

const FEATURES: usize = exercises::MODEL.features();
/// The model's, and one more class.
const CLASSES: usize = exercises::MODEL.outputs() + 1;
/// A score of 1 in real units, as in the firmware.
const PACE: Pace = Pace { margin: 76_404_600, slowness: 0 };
/// Labelled windows.
const WINDOWS: usize = 12;
const SEED: u64 = 1;

/// A window of samples, and what was shown in it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// As the model reads it.
    pub row: Vec<i16>,
    /// The class.
    pub class: usize,
}

/// The windows.
#[must_use]
pub fn windows() -> Vec<Shown> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut row = || (0..exercises::MODEL.inputs()).map(|_| random.i16(-2..=2)).collect();
    (0..WINDOWS).map(|number| Shown { row: row(), class: number % CLASSES }).collect()
}

/// Bytes that the patch takes at most.
pub const ROOM: usize = patch_bytes(FEATURES, CLASSES);

/// The patch that comes of them.
///
/// # Errors
/// Those of predictor and learner.
///
/// # Panics
/// If `patch_bytes` is wrong.
pub fn patch() -> Result<Vec<u8>, Error> {
    let windows = windows();
    let mut predictor = exercises::predictor();
    let mut learner = Learner::<FEATURES, CLASSES>::new(&exercises::MODEL, PACE)?;
    let mut features = [0; FEATURES];
    // Once for what they have in common, once with their labels.
    let mut mean = Mean::new();
    for Shown { row, .. } in &windows {
        predictor.features(row, &mut features)?;
        mean.see(&features)?;
    }
    learner.centre_on(&mean.mean());
    for Shown { row, class } in &windows {
        predictor.features(row, &mut features)?;
        learner.learn(predictor.scores(row)?, &features, *class)?;
    }
    let mut patch = vec![0; ROOM];
    let length = learner.write(&mut patch).expect("`patch_bytes` is room for any patch");
    patch.truncate(length);
    Ok(patch)
}
