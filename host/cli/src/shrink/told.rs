//! What `koan shrink` says of the models that it made.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use koan::{Form, Model};
use koan_trainer::{Core, Point, ShrinkOptions, Shrunk, TrainOptions};
use serde_json::{Value, json};

use super::Quality;
use crate::arguments::Shrink;
use crate::grid::{Grid, wrapped};
use crate::out::{self, say};
use crate::output::{counted, error_percent, named_error, on_device, quoted};
use crate::read::TEST_FRACTION;

/// A smaller model beside the one that it was made from.
pub(super) struct Told<'t> {
    pub arguments: &'t Shrink,
    pub options: &'t ShrinkOptions,
    pub task: &'static str,
    /// Its file.
    pub name: &'t Path,
    pub found: &'t Shrunk,
    pub now: &'t Quality,
    /// The error with the seed of the model before.
    pub own_seed: f64,
    pub before: &'t Quality,
    /// The blob of the model before.
    pub old: &'t [u8],
    /// Test rows.
    pub rows: usize,
}

/// All of it as JSON: a list where there are several.
pub(super) fn objects(all: &[Told<'_>]) -> Result<()> {
    let objects: Vec<Value> = all.iter().map(Told::object).collect();
    match &objects[..] {
        [one] => out::object(one),
        _ => out::object(&Value::from(objects)),
    }
}

impl Told<'_> {
    fn object(&self) -> Value {
        let Told { found, now, before, .. } = self;
        let mut object = json!({
            "bytes": found.blob.len(), "error": now.error, "rows": self.rows,
            "instructions": now.instructions, "code_bytes": now.code,
            "before": {
                "bytes": before.bytes, "error": before.error,
                "instructions": before.instructions, "code_bytes": before.code,
            },
            "own_seed": {"bytes": found.own_seed.len(), "error": self.own_seed},
            "seeds": found.seeds, "best": object(&found.best),
            "front": found.front.iter().map(object).collect::<Vec<_>>(),
            "attempts": found.attempts.iter().map(object).collect::<Vec<_>>(),
        });
        for (of, quality) in [("", now), ("before", before)] {
            let object = if of.is_empty() { &mut object } else { &mut object[of] };
            for (name, _, error) in quality.by_weight(self.options) {
                object[name] = json!(error);
            }
        }
        object
    }

    /// The same in sentences; `own_parts`: whether the file divides its rows itself.
    pub fn print(&self, own_parts: bool, took: Duration) -> Result<()> {
        let Told { found, now, before, task, options, .. } = self;
        print(task, found, options)?;
        out::headline(&format!(
            "{}: {} on {}, in {} bytes",
            self.name.display(),
            named_error(task, now.error),
            counted(self.rows, "test row"),
            found.blob.len()
        ))?;
        say!("  before: {} in {} bytes", named_error(task, before.error), before.bytes)?;
        let both = now.by_weight(options).into_iter().zip(before.by_weight(options));
        for ((_, what, error), (_, _, before)) in both {
            let percent = |error| error_percent(task, error);
            say!("  {what}: {}, before {}", percent(error), percent(before))?;
        }
        say!("{}", wrapped(&self.tested_on(own_parts), 4))?;
        if self.arguments.weights.is_none() && !options.balanced {
            let classes = now.balanced.is_some();
            say!("{}", wrapped(&alike(classes), 4))?;
        }
        for (what, blob) in [("on a Cortex-M0 in Rust", &found.blob[..]), ("before", self.old)] {
            let told = on_device(what, &Model::parse(blob)?, Form::Fast, Core::CortexM0);
            say!("{}", wrapped(&told, 4))?;
        }
        if now.bytes >= before.bytes {
            let told = format!(
                "  not smaller than the model it was made from: a `--flash` below {} shrinks it",
                before.bytes
            );
            say!("{}", wrapped(&told, 4))?;
        }
        if now.bytes < before.bytes && now.flash() > before.flash() {
            say!("  the model is smaller, but not with the code that it needs")?;
        }
        say!(
            "  {} tried in {:.1} s; with the model's own seed {} on the test rows",
            counted(found.seeds, "seed"),
            took.as_secs_f64(),
            error_percent(task, self.own_seed)
        )?;
        let output = quoted(&self.name.display().to_string());
        say!("Next: `koan inspect {output}` tells what a device needs for it.")?;
        Ok(())
    }

    /// What the test rows are.
    fn tested_on(&self, own_parts: bool) -> String {
        let arguments = self.arguments;
        if !arguments.test.is_empty() {
            return "  test rows: all of --test; no model should have been trained on them"
                .to_owned();
        }
        let told = match (arguments.train_rows, arguments.test_fraction) {
            (Some(rows), _) => format!("`koan train --train-rows {rows}` leaves"),
            (None, None) if own_parts => {
                "the file has for it, on which `koan train` tests as well".to_owned()
            }
            (None, fraction) => {
                let fraction = fraction.unwrap_or(TEST_FRACTION);
                format!("`koan train --test-fraction {fraction}` holds out")
            }
        };
        format!(
            "  test rows: those that {told}; a model of another split, or of --folds, may have been \
             trained on them: `--test FILE` names others"
        )
    }
}

/// What is said where nothing counts more than something else.
fn alike(classes: bool) -> String {
    let (what, options) = match classes {
        true => ("rows and classes count", "`--weights` and `--class-weights`"),
        false => ("rows count", "`--weights`"),
    };
    format!("  all {what} alike; if the model was trained with {options}, give them here as well")
}

/// What is told of a model that was tried.
pub(super) const HEADERS: [&str; 8] =
    ["seed", "candidates", "kept", "bits", "bytes", "RAM", "instructions", "validation error"];

/// This for a table.
pub(super) fn cells(task: &str, point: &Point) -> [String; 8] {
    let object = object(point);
    let number = |name: &str| object[name].to_string();
    let [seed, candidates, kept] = ["seed", "candidates", "features"].map(number);
    let [bits, bytes, ram, instructions] = ["bits", "bytes", "ram", "instructions"].map(number);
    let error = error_percent(task, point.loss);
    [seed, candidates, kept, bits, bytes, ram, instructions, error]
}

/// The same for JSON.
fn object(point: &Point) -> Value {
    let TrainOptions { seed, candidates, features, bits, .. } = &point.options;
    json!({
        "seed": seed, "candidates": candidates, "features": features[0], "bits": bits,
        "bytes": point.bytes, "ram": point.ram, "instructions": point.instructions,
        "error": point.loss,
    })
}

/// What was tried, and the front.
fn print(task: &str, found: &Shrunk, options: &ShrinkOptions) -> Result<()> {
    let seed = |point: &Point| point.options.seed;
    let own = found.attempts.first().map(seed);
    let shown = |point: &&Point| Some(seed(point)) == own || seed(point) == seed(&found.best);
    let grid = |points: &mut dyn Iterator<Item = &Point>| {
        let mut grid = Grid::new(HEADERS).text(&[]);
        points.for_each(|point| grid.row(cells(task, point)));
        grid
    };
    let legend = format!(
        "What was tried with the model's own seed, and the best; validation errors are of ridge \
         regression on training rows held out{}:",
        if options.balanced { ", the mean over the classes" } else { "" }
    );
    say!("{}\n", wrapped(&legend, 0))?;
    say!("{}\n", grid(&mut found.attempts.iter().filter(shown)))?;
    say!("Bytes against error, with the best candidates:\n\n{}\n", grid(&mut found.front.iter()))?;
    Ok(())
}
