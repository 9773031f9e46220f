//! The example of `docs/format.md` and of the core's documentation: a tiny model
//! with every part.

use std::path::{Path, PathBuf};

use koan::numerics::Scale;
use koan::{Calibration, Error, Family, Law, Task, Width};
use koan_trainer::internal::blob::{
    BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec, predictor,
};
use koan_trainer::internal::nearest;

/// Where the model is.
#[must_use]
pub fn path() -> PathBuf {
    root().join("core/tests/tiny.koan")
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The model: `right` if the first of two numbers is above 0, else `left`.
///
/// # Errors
/// None, unless core and writer contradict each other.
pub fn blob() -> Result<Vec<u8>, Error> {
    const FEATURES: u16 = 8;
    let bank = BankSpec {
        family: Family::Fourier,
        law: Law::Gaussian,
        features: FEATURES,
        scale: Scale::new(93, 12).unwrap(),
        groups: Vec::new(),
        kept: None,
    };
    let map = MapSpec::Shared(nearest::map(0.0, 4000.0, false));
    let mut spec = ModelSpec::features(1, 2, map, vec![bank]);
    let features = spec.encode()?;
    let mut features = predictor(&features)?;
    // The difference of the classes' means over a grid, rounded to the widest
    // weights: integers only, so that it is the same on every machine.
    let mut row = [0; FEATURES as usize];
    let mut sums = [0i64; FEATURES as usize];
    for (x, y) in (-4i8..=4).flat_map(|x| (-4i8..=4).map(move |y| (x, y))) {
        features.features(&[f32::from(x) / 2.0, f32::from(y) / 2.0], &mut row)?;
        for (sum, &feature) in sums.iter_mut().zip(&row) {
            *sum += i64::from(x.signum()) * i64::from(feature);
        }
    }
    let most = sums.iter().map(|sum| sum.abs()).max().unwrap_or(0).max(1);
    let codes = sums.iter().map(|sum| ((sum * 15 + most * 16) / (2 * most)).clamp(0, 15) as u32);
    spec.task = Task::Classification;
    spec.head = Some(HeadSpec {
        scale: 0.001,
        shift: 0,
        bias: vec![0],
        weights: vec![BankWeights {
            width: Width::new(4, true).unwrap(),
            codes: vec![codes.collect()],
            multipliers: vec![1],
        }],
    });
    spec.class_names = ["left", "right"].map(str::to_owned).to_vec();
    spec.calibration = Some(Calibration { slope: 1.0, intercept: 0.0 });
    spec.golden_rows = vec![vec![0.5, -1.25]];
    spec.encode()
}
