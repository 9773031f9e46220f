//! `cargo xtask benchmark`: bytes against error on public data sets, for docs/size.md.
//!
//! What was measured is kept in `docs/size.json`, so that one data set can be
//! measured again alone; the page and its picture are made from this file, from
//! `benches/forests.json` and from the published marks in [`rivals`].

mod experiments;
mod page;
mod picture;
mod rivals;
mod shown;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::docs::{koan, replace, text};
use crate::steps::root;
use experiments::{Experiment, Part};

/// What was measured, from the root of the repository.
const STORED: &str = "docs/size.json";

/// One model.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Model {
    /// Bytes of the blob.
    bytes: u64,
    /// Error on test rows (or folds), a share.
    error: f64,
    /// Executed instructions of a prediction on a Cortex-M0; of the first seed only.
    instructions: Option<u64>,
    /// Bytes of code and constants of the runtime on a Cortex-M0; of the first seed only.
    code: Option<u64>,
}

/// One run of the commands.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    seed: u32,
    /// Wall time of all commands.
    seconds: f64,
    /// In the order of the sizes asked for.
    models: Vec<Model>,
}

/// Commands and what they gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Measured {
    train: String,
    shrink: Option<String>,
    /// What stood for BYTES in `train`.
    #[serde(default)]
    sizes: Vec<u32>,
    runs: Vec<Run>,
}

type Stored = BTreeMap<String, Vec<Measured>>;

/// Measures the parts named (all if none is), or of them what is `missing`, and writes the page
/// and its picture; without data only these two.
pub fn run(data: Option<&Path>, names: &[String], missing: bool) -> Result<()> {
    let parts = experiments::parts();
    for name in names {
        let known: Vec<&str> = parts.iter().map(|part| part.name).collect();
        ensure!(known.contains(&name.as_str()), "no part `{name}`: there are {}", known.join(", "));
    }
    let path = root()?.join(STORED);
    let mut stored: Stored = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| STORED.to_owned())?,
        Err(_) => Stored::new(),
    };
    if let Some(data) = data {
        for part in &parts {
            if !names.is_empty() && !names.iter().any(|name| name == part.name) {
                continue;
            }
            let before = stored.remove(part.name).unwrap_or_default();
            let known = |experiment: &Experiment| {
                before.iter().find(|measured| measured.is_of(experiment)).cloned()
            };
            let mut all = Vec::new();
            for (number, experiment) in part.experiments.iter().enumerate() {
                let kept = known(experiment).filter(|_| missing);
                all.push(kept.map_or_else(|| measure(experiment, data), Ok)?);
                // Stored at once, with what was known of the others: they may take long.
                let others = part.experiments[number + 1..].iter().filter_map(known);
                let now = all.iter().cloned().chain(others).collect();
                stored.insert(part.name.to_owned(), now);
                std::fs::write(&path, serde_json::to_string_pretty(&stored)? + "\n")?;
            }
        }
    }
    let rivals = rivals::all()?;
    let find = |part: &Part| stored.get(part.name).map_or(&[][..], Vec::as_slice);
    page::write(&parts, find, &rivals)?;
    let shown = shown::sentence(|name| stored.get(name).map(Vec::as_slice))?;
    replace(&root()?.join("README.md"), "small", &shown)?;
    picture::write(&parts, find, &rivals)
}

/// Runs the commands of an experiment, for every seed.
fn measure(experiment: &Experiment, data: &Path) -> Result<Measured> {
    let runs = (1..=experiment.seeds).map(|seed| seeded(experiment, seed, data));
    Ok(Measured {
        train: experiment.train.clone(),
        shrink: experiment.shrink.clone(),
        sizes: experiment.sizes.clone(),
        runs: runs.collect::<Result<_>>()?,
    })
}

fn seeded(experiment: &Experiment, seed: u32, data: &Path) -> Result<Run> {
    let scratch = tempfile::tempdir()?;
    let start = Instant::now();
    let command = |line: &str| -> Result<Value> {
        eprintln!("+ cargo koan {line}");
        let word = |word: &str| match word {
            "SEED" => seed.to_string(),
            file if file.ends_with(".koan") => text(&scratch.path().join(file)),
            word => word.replace("$DATA", &text(data)).replace("$DIGITS", &text(scratch.path())),
        };
        let mut arguments: Vec<String> = line.split_whitespace().map(word).collect();
        arguments.push("--json".into());
        Ok(serde_json::from_str(&koan(&arguments)?)?)
    };
    if experiment.train.contains("$DIGITS") {
        let words = ["demo", "--rows", "test.csv", "--train-rows", "train.csv", "-o", "d.koan"];
        let word = |word: &str| match word.contains('.') {
            true => text(&scratch.path().join(word)),
            false => word.to_owned(),
        };
        koan(&words.map(word))?;
    }
    let mut found = Vec::new();
    let mut files = Vec::new();
    if experiment.sizes.is_empty() {
        found.push(command(&experiment.train)?);
        files.push("m.koan".to_owned());
    }
    for size in &experiment.sizes {
        let line = experiment.train.replace("BYTES", &size.to_string());
        let file = format!("m-{size}.koan");
        found.push(command(&line.replace("m.koan", &file))?);
        files.push(file);
    }
    if let Some(shrink) = &experiment.shrink {
        found = match command(shrink)? {
            Value::Array(several) => several,
            one => vec![one],
        };
        let sizes = experiments::sizes(shrink);
        files = match &sizes[..] {
            [_] => vec!["s.koan".to_owned()],
            several => several.iter().map(|size| format!("s-{size}.koan")).collect(),
        };
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut models = Vec::new();
    for (value, file) in found.iter().zip(&files) {
        let bytes = value["bytes"].as_u64().context("no bytes in the output")?;
        let error = value["error"].as_f64().context("no error in the output")?;
        let cost = match seed {
            1 => Some(crate::cost::of_model(&scratch.path().join(file))?),
            _ => None,
        };
        models.push(Model {
            bytes,
            error,
            instructions: cost.map(|cost| cost.instructions),
            code: cost.map(|cost| cost.flash),
        });
    }
    Ok(Run { seed, seconds, models })
}

impl Measured {
    /// Whether the commands of an experiment were measured, for as many seeds.
    fn is_of(&self, experiment: &Experiment) -> bool {
        let Experiment { seeds, train, shrink, sizes } = experiment;
        let enough = self.runs.len() >= *seeds as usize;
        enough && self.train == *train && self.shrink == *shrink && self.sizes == *sizes
    }

    /// Of each size: largest bytes, mean error, errors by seed, and the first seed's model.
    fn models(&self) -> Vec<(u64, f64, Vec<f64>, &Model)> {
        let first = self.runs.first().map_or(&[][..], |run| &run.models);
        let of = |(i, model)| {
            let all: Vec<&Model> = self.runs.iter().filter_map(|run| run.models.get(i)).collect();
            let errors: Vec<f64> = all.iter().map(|model| model.error).collect();
            let bytes = all.iter().map(|model| model.bytes).max().unwrap_or(0);
            (bytes, errors.iter().sum::<f64>() / errors.len() as f64, errors, model)
        };
        first.iter().enumerate().map(of).collect()
    }

    /// Mean seconds of a run.
    fn seconds(&self) -> f64 {
        self.runs.iter().map(|run| run.seconds).sum::<f64>() / self.runs.len() as f64
    }
}
