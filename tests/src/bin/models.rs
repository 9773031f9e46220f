//! Rewrites the rows of the models in `tests/models`, on purpose:
//! `cargo run -p koan-tests --bin models`.
//!
//! Each gets one drawn row of whole numbers as its data has them, and the scores
//! that the reference gives. `tests/models/README.md` tells where the blobs come
//! from.

use std::{fs, io};

use koan_tests::golden::{Golden, GoldenRow, paths};
use koan_tests::random::Random;
use koan_tests::reference::Reference;

/// The largest number that an input of a data set has, and how many of a hundred
/// inputs are not 0.
fn range(name: &str) -> (usize, usize) {
    match name.split('-').next() {
        Some("adult") => (1, 11),
        Some("digits") => (16, 51),
        Some("mnist") => (255, 19),
        // Accelerations in g.
        Some("gestures" | "exercises") => (2, 100),
        _ => (3000, 20),
    }
}

fn main() -> io::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models");
    for path in paths(folder.as_ref()).map_err(io::Error::other)? {
        let blob = fs::read(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let reference = Reference::parse(&blob).map_err(io::Error::other)?;
        let inputs = koan::Model::parse(&blob).map_err(io::Error::other)?.inputs();
        let (most, filled) = range(&name);
        let mut random = Random::new(1);
        let row: Vec<f32> = (0..inputs)
            .map(|_| if random.below(100) < filled { 1 + random.below(most) } else { 0 })
            .map(|number| number as f32)
            .collect();
        let rows = vec![GoldenRow { scores: reference.scores(&row), row }];
        let model = Golden { name, blob, rows };
        fs::write(path.with_extension("json"), model.to_json())?;
        println!("{}: {:?}", model.name, model.rows[0].scores);
    }
    Ok(())
}
