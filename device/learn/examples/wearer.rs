//! What labelled windows of a new wearer are worth, on sets that say who wore the sensor:
//!
//! ```sh
//! cargo run --release -p koan-learn --example wearer -- \
//!     --wisdm $DATA/WISDM_ar_v1.1_transformed.arff --hmp $DATA/HMP_Dataset
//! ```
//!
//! - *WISDM*, the set "Activity Prediction" of the Wireless Sensor Data Mining Lab at Fordham
//!   University, v1.1, transformed: ten seconds of a phone as 43 numbers, six activities, 36 persons.
//!   The distributed file's rows without its header: number of the row and of the person, the
//!   numbers, the activity. Some copies have lost the column of persons; those will not do.
//! - *HMP*, the "Dataset for ADL Recognition with Wrist-worn Accelerometer" of the UCI Machine
//!   Learning Repository, by B. Bruno and others: a folder of recordings for each movement, three
//!   accelerations at 32 Hz, `…-PERSON.txt`. The seven movements with a hundred recordings each;
//!   windows of 64 samples, every 32.
//!
//! Each person with 40 windows at least and more than one class is held out in turn: the others'
//! windows train a model. Half of the person's recordings (WISDM has none: windows) are there to
//! be shown, drawn in any order; the others are judged. Means over persons and three draws.
//!
//! Beside the steps of the crate stands recursive least squares on the model's few outputs, in
//! floats: it is what they were chosen over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use koan::{Model, class_of};
use koan_data::{Division, Missing, ReadOptions, Table, Target, Window, read, read_all};
use koan_learn::{Learner, Mean, Pace};
use koan_trainer::internal::blob::predictor;
use koan_trainer::{ConvOptions, FamilyName, Progress, TrainOptions, train};

/// Features of the models.
const FEATURES: usize = 160;
/// Classes, at most.
const CLASSES: usize = 7;
/// Labelled windows.
const SHOWN: [usize; 4] = [0, 1, 5, 20];
/// Windows of a person who is held out, at least.
const LEAST: usize = 40;
const DRAWS: u64 = 3;
const MOVEMENTS: [&str; CLASSES] = [
    "Climb_stairs",
    "Drink_glass",
    "Getup_bed",
    "Pour_water",
    "Sitdown_chair",
    "Standup_chair",
    "Walk",
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    ensure!(!arguments.is_empty(), "--wisdm FILE or --hmp FOLDER is missing");
    println!("| set | persons | learning | none | 1 window | 5 windows | 20 windows |");
    println!("| --- | ---: | --- | ---: | ---: | ---: | ---: |");
    for argument in arguments.chunks(2) {
        let [name, path] = argument else { bail!("{}: a path is missing", argument[0]) };
        let (name, set) = match name.as_str() {
            "--wisdm" => ("WISDM", wisdm(Path::new(path))?),
            "--hmp" => ("HMP", hmp(Path::new(path))?),
            other => bail!("{other}: there are --wisdm FILE and --hmp FOLDER"),
        };
        let mut errors = Errors::new();
        let mut persons = 0;
        for person in 0..=*set.persons.iter().max().context("no rows")? {
            persons += usize::from(held_out(&set, person, &mut errors)?);
        }
        for (learning, errors) in &errors {
            let mean = |sum: f64| 100.0 * sum / errors.runs as f64;
            let cells = errors.sums.map(|sum| format!("{:.1} %", mean(sum))).join(" | ");
            println!("| {name} | {persons} | {learning} | {cells} |");
        }
    }
    Ok(())
}

/// Rows with who they are of.
struct Set {
    table: Table,
    persons: Vec<u32>,
    /// What is on one side as a whole.
    recordings: Vec<u32>,
    options: TrainOptions,
}

fn wisdm(path: &Path) -> Result<Set> {
    let options = ReadOptions {
        group: Some("2".into()),
        drop: vec!["1".into()],
        missing: Missing::Impute,
        ..ReadOptions::default()
    };
    let table = read(path, &options)?;
    let persons = groups(&table)?;
    let recordings = (0..persons.len() as u32).collect();
    let options = TrainOptions { families: vec![FamilyName::Fourier], ..of_all() };
    Ok(Set { table, persons, recordings, options })
}

fn hmp(folder: &Path) -> Result<Set> {
    let mut files = Vec::new();
    for movement in MOVEMENTS {
        let folder = folder.join(movement);
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let mut here = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
        here.sort();
        files.extend(here);
    }
    let options = ReadOptions {
        group: Some("file".into()),
        header: Some(false),
        label_from: Some("folder".parse().map_err(anyhow::Error::msg)?),
        window: Some(Window { samples: 64, stride: 32 }),
        ..ReadOptions::default()
    };
    let table = read_all(&files, &options)?;
    let recordings = groups(&table)?;
    let mut names = Vec::new();
    let mut person = |&file: &u32| {
        let stem = files[file as usize].file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.rsplit('-').next().unwrap_or_default().to_owned();
        let place = names.iter().position(|other| *other == name);
        place.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        }) as u32
    };
    let persons = recordings.iter().map(&mut person).collect();
    let options = TrainOptions {
        families: vec![FamilyName::Conv],
        candidates: Some(512),
        conv: ConvOptions { kernel: Some(12), dilated: true, ..ConvOptions::default() },
        ..of_all()
    };
    Ok(Set { table, persons, recordings, options })
}

fn of_all() -> TrainOptions {
    TrainOptions {
        features: vec![FEATURES as u16],
        bits: Some(4),
        column_names: false,
        ..TrainOptions::default()
    }
}

fn groups(table: &Table) -> Result<Vec<u32>> {
    match &table.division {
        Division::Groups(groups) => Ok(groups.clone()),
        _ => bail!("no groups"),
    }
}

/// What a device has of a window, and its class.
struct Row {
    scores: Vec<i32>,
    features: Vec<i16>,
    class: usize,
}

/// A way to learn.
trait Learning {
    fn learn(&mut self, row: &Row) -> Result<()>;
    fn class(&mut self, row: &Row) -> Result<usize>;
}

/// Errors of a way to learn, by how many windows were shown.
#[derive(Default)]
struct Error {
    sums: [f64; SHOWN.len()],
    runs: usize,
}

/// By the way to learn.
type Errors = BTreeMap<String, Error>;

/// Trains on all others and has the person's windows learned; whether there are enough.
fn held_out(set: &Set, person: u32, errors: &mut Errors) -> Result<bool> {
    let Set { table, persons, recordings, options } = set;
    let (own, others): (Vec<usize>, Vec<usize>) =
        (0..persons.len()).partition(|&row| persons[row] == person);
    if own.len() < LEAST || own.iter().all(|&row| label(table, row) == label(table, own[0])) {
        return Ok(false);
    }
    let mut part = table.select(&others);
    // λ is chosen by persons who are left out, too.
    part.division = Division::Groups(others.iter().map(|&row| persons[row]).collect());
    let blob = train(&part, None, options, &Progress::none())?.blob;
    let model = Model::parse(&blob)?;
    let mut predictor = predictor(&blob)?;
    let mut row = |&row: &usize| {
        let (values, mut features) = (table.row(row), vec![0; FEATURES]);
        let scores = predictor.scores(values)?.to_vec();
        predictor.features(values, &mut features)?;
        Ok(Row { scores, features, class: label(table, row) })
    };
    let rows = own.iter().map(&mut row).collect::<Result<Vec<Row>>>()?;
    let mut whole: Vec<u32> = own.iter().map(|&row| recordings[row]).collect();
    whole.sort_unstable();
    whole.dedup();
    let mut enough = false;
    for draw in 0..DRAWS {
        let mut random = fastrand::Rng::with_seed(draw);
        random.shuffle(&mut whole);
        let first = &whole[..whole.len() / 2];
        let in_first = |place: &usize| first.contains(&recordings[own[*place]]);
        let (mut shown, judged): (Vec<usize>, Vec<usize>) =
            (0..own.len()).partition(|place| in_first(place));
        random.shuffle(&mut shown);
        if shown.len() < SHOWN[3] || judged.is_empty() {
            continue;
        }
        enough = true;
        let parts = [shown, judged].map(|part| part.iter().map(|&row| &rows[row]).collect());
        measure(&model, &parts, errors)?;
    }
    Ok(enough)
}

fn label(table: &Table, row: usize) -> usize {
    match &table.target {
        Target::Classes { labels } => labels[row] as usize,
        Target::Values(_) => 0,
    }
}

/// Every way to learn, on windows that are shown and windows that are judged.
fn measure(model: &Model<'_>, parts: &[Vec<&Row>; 2], errors: &mut Errors) -> Result<()> {
    let mut mean = Mean::<FEATURES>::new();
    parts[0].iter().try_for_each(|row| mean.see(&row.features))?;
    let margin = (1.0 / model.score_scale()) as i32;
    for (name, centre) in [("", [0; FEATURES]), (", centred", mean.mean())] {
        for slowness in 0..4 {
            let mut learner = Learner::<FEATURES, CLASSES>::new(model, Pace { margin, slowness })?;
            learner.centre_on(&centre);
            let error = errors.entry(format!("steps, slowness {slowness}{name}")).or_default();
            shown_and_judged(learner, parts, error)?;
        }
    }
    for prior in [0.01, 0.1, 1.0] {
        let learning = LeastSquares::new(model, prior);
        let error = errors.entry(format!("least squares, prior {prior}")).or_default();
        shown_and_judged(learning, parts, error)?;
    }
    Ok(())
}

/// Shows windows, and judges the others after each number of them.
fn shown_and_judged(
    mut learning: impl Learning,
    [shown, judged]: &[Vec<&Row>; 2],
    error: &mut Error,
) -> Result<()> {
    let mut learned = 0;
    for (sum, count) in error.sums.iter_mut().zip(SHOWN) {
        shown[learned..count].iter().try_for_each(|row| learning.learn(row))?;
        learned = count;
        let mut wrong = 0;
        for row in judged {
            wrong += usize::from(learning.class(row)? != row.class);
        }
        *sum += wrong as f64 / judged.len() as f64;
    }
    error.runs += 1;
    Ok(())
}

impl Learning for Learner<FEATURES, CLASSES> {
    fn learn(&mut self, row: &Row) -> Result<()> {
        Learner::learn(self, &row.scores, &row.features, row.class)?;
        Ok(())
    }

    fn class(&mut self, row: &Row) -> Result<usize> {
        // Rows of weights that nothing was learned for are below all others.
        Ok(class_of(self.scores(&row.scores, &row.features)?))
    }
}

/// Recursive least squares from the model's scores, and a constant, to 1 for the right class and
/// -1 for all others. It starts with the model's scores as they are.
struct LeastSquares {
    /// In real units.
    scale: f64,
    outputs: usize,
    weights: [[f64; CLASSES + 1]; CLASSES],
    /// The inverse of the matrix of second moments.
    inverse: [[f64; CLASSES + 1]; CLASSES + 1],
}

impl LeastSquares {
    fn new(model: &Model<'_>, prior: f64) -> Self {
        let mut weights = [[0.0; CLASSES + 1]; CLASSES];
        weights.iter_mut().enumerate().for_each(|(place, row)| row[place] = 1.0);
        let mut inverse = [[0.0; CLASSES + 1]; CLASSES + 1];
        inverse.iter_mut().enumerate().for_each(|(place, row)| row[place] = prior);
        Self { scale: model.score_scale().into(), outputs: model.outputs(), weights, inverse }
    }

    fn inputs(&self, row: &Row) -> [f64; CLASSES + 1] {
        let mut inputs = [0.0; CLASSES + 1];
        let scores = row.scores.iter().map(|&score| f64::from(score) * self.scale);
        inputs.iter_mut().zip(scores).for_each(|(input, score)| *input = score);
        inputs[CLASSES] = 1.0;
        inputs
    }
}

impl Learning for LeastSquares {
    fn learn(&mut self, row: &Row) -> Result<()> {
        let inputs = self.inputs(row);
        let product = self.inverse.map(|line| dot(&line, &inputs));
        let gain = product.map(|x| x / (1.0 + dot(&product, &inputs)));
        for (class, weights) in self.weights.iter_mut().enumerate().take(self.outputs) {
            let wanted = if class == row.class { 1.0 } else { -1.0 };
            let missing = wanted - dot(weights, &inputs);
            weights.iter_mut().zip(gain).for_each(|(weight, gain)| *weight += missing * gain);
        }
        for (line, gain) in self.inverse.iter_mut().zip(gain) {
            line.iter_mut().zip(product).for_each(|(cell, x)| *cell -= gain * x);
        }
        Ok(())
    }

    fn class(&mut self, row: &Row) -> Result<usize> {
        let inputs = self.inputs(row);
        let scores = self.weights[..self.outputs].iter().map(|weights| dot(weights, &inputs));
        let best = scores.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        Ok(best.context("no outputs")?.0)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
