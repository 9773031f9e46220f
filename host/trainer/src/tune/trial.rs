//! A refinement of a few digits, for tests of its parts.

use std::time::Duration;

use super::pace::Clock;
use super::refine::{Allowance, Refined, Refinement};
use super::search::rungs_of;
use super::sizes::Limits;
use super::{FAMILIES, Metric, Space, TuneOptions};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::{FamilyName, MapKind, Point, TrainOptions};
use koan_data::digits;

/// Models of four bits that were judged in 500 bytes: family, bytes, value.
pub(super) fn judged(models: &[(FamilyName, usize, f64)]) -> Vec<Refined> {
    let of = |&(family, bytes, value): &(FamilyName, usize, f64)| {
        let options = TrainOptions {
            families: vec![family],
            features: vec![40],
            bits: Some(4),
            frequency: Some(vec![1.0]),
            map: Some(MapKind::Shared),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let point = Point { options, bytes, ram: 0, instructions: 0, loss: value, value };
        let mut model = Refined::new(point);
        (model.lambda, model.room) = (Some(1e-2), bytes);
        model
    };
    models.iter().map(of).collect()
}

pub(super) fn with_refinement(work: impl FnOnce(&mut Refinement<'_>)) {
    let table = digits::table().select(&(0..300).collect::<Vec<_>>());
    let options = TuneOptions {
        space: Space { base: TrainOptions::default(), families: FAMILIES[..2].to_vec() },
        limits: Limits::of_flash(2000),
        metric: Metric::Error,
        time: Duration::from_millis(50),
        clock: false,
    };
    let (problem, quiet) = (Problem::new(&table, false), Progress::none());
    let search = rungs_of(&problem, &options.space, &options, 1, None, &quiet);
    let inputs = search.run().unwrap().inputs;
    let allowance = Allowance { work: 1e9, reserved: 0.0, clock: Clock::new(None), growth: 1e11 };
    work(&mut Refinement::new(&search, inputs, allowance).unwrap());
}
