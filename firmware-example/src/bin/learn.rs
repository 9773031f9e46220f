//! A model that learns on the device: labelled windows come from the host (`cargo xtask
//! device`), and so does the patch that must come of them, byte for byte.

#![no_std]
#![no_main]

use koan_firmware::{entry, exit, mark, packed};
use koan_learn::{Learner, Mean, Pace, patch_bytes};

koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

const INPUTS: usize = exercises::MODEL.inputs();
const FEATURES: usize = exercises::MODEL.features();
/// The model's, and one more class.
const CLASSES: usize = exercises::MODEL.outputs() + 1;
/// A score of 1 in real units.
const PACE: Pace = Pace { margin: 76_404_600, slowness: 0 };

#[entry]
fn main() -> ! {
    exit(if run() == Some(true) { 0 } else { 1 })
}

/// Learns the packed windows; whether the patch is the packed one.
fn run() -> Option<bool> {
    let (count, mut rest) = packed().split_first_chunk::<4>()?;
    let mut predictor = exercises::predictor();
    let mut learner = Learner::<FEATURES, CLASSES>::new(&exercises::MODEL, PACE).ok()?;
    let mut features = [0; FEATURES];
    let mut mean = Mean::new();
    // Once for what they have in common, once with their labels.
    let windows = rest;
    for labelled in [false, true] {
        rest = windows;
        for _ in 0..u32::from_le_bytes(*count) {
            let (class, others) = rest.split_first_chunk::<4>()?;
            let (row, others) = others.split_first_chunk::<{ 2 * INPUTS }>()?;
            rest = others;
            let row: &[i16] = bytemuck::try_cast_slice(row).ok()?;
            predictor.features(row, &mut features).ok()?;
            if labelled {
                let class = u32::from_le_bytes(*class) as usize;
                let scores = predictor.scores(row).ok()?;
                mark::start();
                let learned = learner.learn(scores, &features, class);
                mark::stop();
                learned.ok()?;
            } else {
                mean.see(&features).ok()?;
            }
        }
        if !labelled {
            learner.centre_on(&mean.mean());
        }
    }
    let mut patch = [0; patch_bytes(FEATURES, CLASSES)];
    let length = learner.write(&mut patch).ok()?;
    Some(rest.get(..length)? == patch.get(..length)?)
}

/// Never linked: nothing here can panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
