//! Models of shapes that benchmarks time and that `tests/models` has none of, with drawn
//! weights: as fast as trained ones, and no data is needed. `cargo run -p koan-tests --bin
//! shapes FOLDER` writes them.

use std::path::Path;

use koan::format::Conv;
use koan::numerics::Scale;
use koan::{Family, Law, Task, Width};
use koan_tests::arbitrary::codes;
use koan_tests::random::Random;
use koan_trainer::internal::blob::{BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec};
use koan_trainer::internal::nearest;

/// Inputs of the digits that come with the build, from 0 to 16.
const INPUTS: u16 = 64;

/// What `koan demo` trains of the family conv.
const CONV: Conv = Conv {
    height: 8,
    channels: 1,
    kernel: 3,
    stride: 1,
    grid: 4,
    proportion: false,
    dilated: false,
    transform: 16,
};

/// Ten classes of digits over so many features, each with a weight of so many bits.
fn model(family: Family, law: Law, scale: Scale, features: u16, bits: u8) -> ModelSpec {
    let mut random = Random::new(u64::from(features));
    let bank = BankSpec { family, law, features, scale, groups: Vec::new(), kept: None };
    let width = Width::new(bits, true).unwrap();
    let weights = BankWeights {
        width,
        codes: (0..10).map(|_| codes(width, usize::from(features), &mut random)).collect(),
        multipliers: (0..10).map(|_| 100 + random.below(200) as u16).collect(),
    };
    let map = MapSpec::Shared(nearest::map(8.0, 500.0, false));
    let mut spec = ModelSpec::features(random.bits(), INPUTS, map, vec![bank]);
    spec.task = Task::Classification;
    spec.head =
        Some(HeadSpec { scale: 0.001, shift: 14, weights: vec![weights], bias: vec![0; 10] });
    spec
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: shapes FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let own = Family::Maxout { pool: 4, shared: 0 };
    let shared = Family::Maxout { pool: 4, shared: 128 };
    let byte = Scale::new(1, 8).unwrap();
    let dense = Scale::new(93, 12).unwrap();
    for (name, spec) in [
        ("digits-conv-1024", model(Family::Conv(CONV), Law::Hadamard, Scale::ONE, 1024, 2)),
        ("digits-fourier-gaussian-512", model(Family::Fourier, Law::Gaussian, dense, 512, 4)),
        ("digits-linear-64", model(Family::Linear, Law::None, Scale::ONE, 64, 8)),
        ("digits-maxout-512x4", model(own, Law::Hadamard, byte, 512, 3)),
        ("digits-maxout-shared-512x4", model(shared, Law::Hadamard, byte, 512, 3)),
        ("digits-sigmoid-gaussian-256", model(Family::Sigmoid, Law::Gaussian, dense, 256, 4)),
    ] {
        std::fs::write(folder.join(name).with_extension("koan"), spec.encode()?)?;
    }
    Ok(())
}
