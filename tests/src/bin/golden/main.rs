//! Rewrites the golden models, on purpose: `cargo run -p koan-tests --bin golden`.
//!
//! Small models of every family, law, width and number of outputs, with and without
//! lists of kept features; one as large as a digit recogniser; and models for what goes
//! wrong at the edges of the specification. The scores are the reference's, not the
//! core's. Also models without outputs, with their features (`tests/golden/features`),
//! the example of the documentation, `core/tests/tiny.koan`, and the parts of
//! `docs/format.md` that are computed.

mod edges;
mod feature_maps;
mod ferns;
mod lists;
mod maps;
mod parts;
mod series;
mod shapes;
mod usual;

use std::path::Path;
use std::{fs, io};

use koan_tests::feature_map::FeatureMap;
use koan_tests::golden::{Golden, folder, load};
use koan_tests::random::Random;
use koan_tests::{page, tiny};

fn every_model() -> Vec<Golden> {
    let mut models = usual::models();
    let first = models.len();
    models.extend(shapes::models(first));
    let first = models.len();
    models.extend(lists::models(first));
    models.extend(usual::with_gains(models.len()));
    models.extend(edges::models());
    models.extend(maps::models());
    models.extend(ferns::models());
    models.extend(series::models());
    models.extend(usual::with_channels(400));
    models
}

/// Writes the example and the page with its listing and what else is computed.
fn write_tiny() -> io::Result<()> {
    let blob = tiny::blob().map_err(|error| io::Error::other(error.to_string()))?;
    let page = fs::read_to_string(page::path())?;
    let page = page::with_parts(&page, &blob).map_err(io::Error::other)?;
    fs::create_dir_all(tiny::path().parent().expect("it has a folder"))?;
    fs::write(tiny::path(), blob)?;
    fs::write(page::path(), page)
}

/// Removes the models of a folder, which may be new.
fn clear(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let ours = ["koan", "json"].map(|ours| path.extension().is_some_and(|its| its == ours));
        if ours.contains(&true) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let folder = folder();
    fs::create_dir_all(folder.join("bad"))?;
    clear(&folder)?;
    let models = every_model();
    let mut bytes = 0;
    for model in &models {
        let json = model.to_json();
        bytes += model.blob.len() + json.len();
        fs::write(folder.join(&model.name).with_extension("koan"), &model.blob)?;
        fs::write(folder.join(&model.name).with_extension("json"), json)?;
    }
    let mut random = Random::new(0xbad);
    let garbage: Vec<u8> = (0..100).map(|_| random.bits() as u8).collect();
    fs::write(folder.join("bad").join("garbage.bin"), garbage)?;
    // The decimal texts must read back as the very numbers that were scored.
    let read = load(&folder).map_err(io::Error::other)?;
    for model in &models {
        let found = read.iter().find(|found| found.name == model.name).expect("just written");
        let bits = |model: &Golden| -> Vec<u32> {
            model.rows.iter().flat_map(|row| row.row.iter().map(|x| x.to_bits())).collect()
        };
        assert_eq!(bits(found), bits(model), "{}", model.name);
    }
    clear(&FeatureMap::folder())?;
    let maps = feature_maps::models();
    maps.iter().try_for_each(FeatureMap::write)?;
    write_tiny()?;
    println!("{} models, {bytes} bytes, {} feature maps, the page", models.len(), maps.len());
    Ok(())
}
