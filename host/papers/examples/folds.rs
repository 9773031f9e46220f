//! The parts of `koan train --folds`, for other methods to be judged on the same rows:
//! `cargo run --release -p koan-papers --example folds -- DATA GROUP DROP WINDOW STRIDE PARTS
//! SEED...` prints for each window its class and then its part for each seed, between commas.

use std::path::PathBuf;

use koan_data::{ReadOptions, Target, Window, folds, read_all};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, group, drop, window, stride, parts, seeds @ ..] = &arguments[..] else {
        return Err("give DATA GROUP DROP WINDOW STRIDE PARTS SEED...".into());
    };
    let options = ReadOptions {
        group: Some(group.clone()),
        window: Some(Window { samples: window.parse()?, stride: stride.parse()? }),
        drop: drop.split(',').map(str::to_owned).collect(),
        ..ReadOptions::default()
    };
    let table = read_all(&[PathBuf::from(data)], &options)?;
    let Target::Classes { labels } = &table.target else { return Err("no classes".into()) };
    let count = parts.parse()?;
    let all: Result<Vec<Vec<usize>>, Error> =
        seeds.iter().map(|seed| Ok(folds(&table, count, seed.parse()?)?)).collect();
    let all = all?;
    for (row, &label) in labels.iter().enumerate() {
        let parts: Vec<String> = all.iter().map(|parts| parts[row].to_string()).collect();
        println!("{},{}", table.schema.classes[label as usize], parts.join(","));
    }
    Ok(())
}
