//! Models of the shapes that benchmarks time, with drawn weights: as fast as
//! trained ones, and no data is needed. `cargo run -p koan-tests --bin shapes
//! FOLDER` writes them.

use std::path::Path;

use koan::numerics::Scale;
use koan::{Family, InputMap, Law, Task, Width};
use koan_tests::arbitrary::codes;
use koan_tests::random::Random;
use koan_trainer::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};

/// Ten classes of 4-bit weights over Fourier features of a Hadamard transform.
fn model(inputs: u16, features: u16, largest: f64) -> ModelSpec {
    let mut random = Random::new(u64::from(features));
    let bank = BankSpec {
        family: Family::Fourier,
        law: Law::Hadamard,
        features,
        scale: Scale { mult: 93, shift: 7 },
        groups: Vec::new(),
        kept: None,
    };
    let width = Width { bits: 4, odd: true };
    let weights = BankWeights {
        width,
        codes: (0..10).map(|_| codes(width, usize::from(features), &mut random)).collect(),
        multipliers: (0..10).map(|_| 100 + random.below(200) as u16).collect(),
    };
    let map = MapSpec::Shared(InputMap::nearest(largest / 2.0, 8000.0 / largest, false));
    let mut spec = ModelSpec::features(random.bits(), inputs, map, vec![bank]);
    spec.task = Task::Classification;
    spec.head =
        Some(HeadSpec { scale: 0.001, shift: 14, weights: vec![weights], bias: vec![0; 10] });
    spec
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: shapes FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (name, spec) in [("digits", model(64, 512, 16.0)), ("mnist", model(784, 2048, 255.0))] {
        std::fs::write(folder.join(name).with_extension("koan"), spec.encode()?)?;
    }
    Ok(())
}
