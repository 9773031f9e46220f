//! What a few labelled windows are worth, on recordings of movements:
//!
//! ```sh
//! cargo run --release -p koan-learn --example shown -- $DATA/har_emlearn/har_exercise_1.csv.gz
//! ```
//!
//! Half of the recordings of each class train a model, the others are halved again: windows of the
//! one part are shown to the device, those of the other are judged. Means over seeds.
//!
//! Learning is centred on the mean of the windows that are there to be shown, which needs no
//! labels, or it is not. Which windows are shown is drawn.
//!
//! - *A class that is shown*: each class in turn is left out of the training.
//! - *Worn otherwise*: shown and judged windows are those of a sensor turned by 40° about a drawn
//!   axis. Other persons are in `wearer.rs`; this set does not say who wore the sensor.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use koan::{Model, class_of};
use koan_data::{Division, ReadOptions, Table, Target, Window, read};
use koan_learn::{Learner, Mean, Pace};
use koan_trainer::internal::blob::predictor;
use koan_trainer::{ConvOptions, FamilyName, Progress, TrainOptions, train};

/// Windows, and numbers of a sample.
const SAMPLES: usize = 128;
const STRIDE: usize = 32;
const CHANNELS: usize = 3;
/// Features of the models; classes of the data.
const FEATURES: usize = 160;
const CLASSES: usize = 4;
const SEEDS: u64 = 5;
/// Labelled windows.
const SHOWN: [usize; 4] = [0, 1, 5, 20];
const DEGREES: f32 = 40.0;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("the file of recordings is missing")?;
    let options = ReadOptions {
        group: Some("file".into()),
        drop: vec!["time".into(), "subject".into()],
        window: Some(Window { samples: SAMPLES, stride: STRIDE }),
        ..ReadOptions::default()
    };
    let table = read(&path, &options)?;
    anyhow::ensure!(table.schema.classes.len() == CLASSES, "{CLASSES} classes are expected");
    let mut errors = Errors::new();
    for seed in 1..=SEEDS {
        let split = Split::new(&table, seed)?;
        let worn = |task, blob: &[u8], table: &Table, left_out, errors: &mut Errors| {
            Worn { task, blob, table, split: &split, left_out, seed }.measure(errors)
        };
        for left_out in 0..CLASSES {
            let known = split.train.iter().copied();
            let known: Vec<usize> = known.filter(|&row| label(&table, row) != left_out).collect();
            let blob = trained(&table, &known, Some(left_out), seed)?;
            worn("a class that is shown", &blob, &table, left_out, &mut errors)?;
        }
        let blob = trained(&table, &split.train, None, seed)?;
        worn("worn as before", &blob, &table, CLASSES, &mut errors)?;
        worn("worn otherwise", &blob, &turned(&table, seed), CLASSES, &mut errors)?;
    }
    println!("| task | centred | slowness | none | 1 window | 5 windows | 20 windows |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    let mut line = String::new();
    for ((task, centred, slowness, shown), errors) in &errors {
        if *shown == 0 {
            line = format!("| {task} | {} | {slowness} |", if *centred { "yes" } else { "no" });
        }
        line += &format!(" {:.1} % |", 100.0 * errors.iter().sum::<f64>() / errors.len() as f64);
        if *shown == SHOWN[3] {
            println!("{line}");
        }
    }
    Ok(())
}

fn label(table: &Table, row: usize) -> usize {
    match &table.target {
        Target::Classes { labels } => labels[row] as usize,
        Target::Values(_) => 0,
    }
}

/// Rows by what they are for; a recording is on one side.
struct Split {
    train: Vec<usize>,
    shown: Vec<usize>,
    judged: Vec<usize>,
}

impl Split {
    fn new(table: &Table, seed: u64) -> Result<Self> {
        let Division::Groups(groups) = &table.division else { anyhow::bail!("no recordings") };
        let mut random = fastrand::Rng::with_seed(seed);
        let mut recordings = vec![Vec::new(); CLASSES];
        for (row, &group) in groups.iter().enumerate() {
            let class: &mut Vec<u32> = &mut recordings[label(table, row)];
            if !class.contains(&group) {
                class.push(group);
            }
        }
        let mut parts = BTreeMap::new();
        for class in &mut recordings {
            random.shuffle(class);
            for (number, &group) in class.iter().enumerate() {
                parts.insert(group, 4 * number / class.len());
            }
        }
        let rows = |wanted: std::ops::Range<usize>| {
            (0..groups.len()).filter(|&row| wanted.contains(&parts[&groups[row]])).collect()
        };
        Ok(Self { train: rows(0..2), shown: rows(2..3), judged: rows(3..4) })
    }
}

/// A model of these rows; the classes behind one that is left out move up.
fn trained(table: &Table, rows: &[usize], left_out: Option<usize>, seed: u64) -> Result<Vec<u8>> {
    let mut table = table.select(rows);
    if let (Some(out), Target::Classes { labels }) = (left_out, &mut table.target) {
        table.schema.classes.remove(out);
        labels.iter_mut().for_each(|label| *label -= u32::from(*label as usize > out));
    }
    let options = TrainOptions {
        families: vec![FamilyName::Conv],
        features: vec![FEATURES as u16],
        candidates: Some(512),
        bits: Some(2),
        frequency: Some(vec![3.5]),
        conv: ConvOptions { kernel: Some(12), dilated: true, ..ConvOptions::default() },
        seed,
        column_names: false,
        ..TrainOptions::default()
    };
    Ok(train(&table, None, &options, &Progress::none())?.blob)
}

/// The data of a sensor that is turned.
fn turned(table: &Table, seed: u64) -> Table {
    let mut random = fastrand::Rng::with_seed(100 + seed);
    let axis = [(); 3].map(|()| random.f32() - 0.5);
    let length = axis.iter().map(|x| x * x).sum::<f32>().sqrt();
    let [x, y, z] = axis.map(|x| x / length);
    let (s, c) = DEGREES.to_radians().sin_cos();
    let d = 1.0 - c;
    // Rodrigues.
    let matrix = [
        [c + x * x * d, x * y * d - z * s, x * z * d + y * s],
        [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
        [z * x * d - y * s, z * y * d + x * s, c + z * z * d],
    ];
    let mut table = table.clone();
    for sample in table.values.as_chunks_mut::<CHANNELS>().0 {
        *sample = matrix.map(|row| row.iter().zip(&*sample).map(|(a, b)| a * b).sum());
    }
    table
}

/// Errors by task, whether centred, slowness, and windows that were shown.
type Errors = BTreeMap<(&'static str, bool, u8, usize), Vec<f64>>;

/// A model, and who wears it.
struct Worn<'w> {
    task: &'static str,
    blob: &'w [u8],
    table: &'w Table,
    split: &'w Split,
    /// The class that was left out of the training, and is shown; behind the last one if none.
    left_out: usize,
    seed: u64,
}

impl Worn<'_> {
    /// What the model calls a row's class: the one that is left out comes last.
    fn class(&self, row: usize) -> usize {
        match label(self.table, row) {
            class if class == self.left_out => CLASSES - 1,
            class => class - usize::from(class > self.left_out),
        }
    }

    /// Shows windows and judges, at every pace.
    fn measure(&self, errors: &mut Errors) -> Result<()> {
        let model = Model::parse(self.blob)?;
        let margin = (1.0 / model.score_scale()) as i32;
        let Split { shown, judged, .. } = self.split;
        let mut mean = Mean::<FEATURES>::new();
        let mut rows = BTreeMap::new();
        for &row in shown {
            rows.insert(row, Row::new(self.blob, self.table.row(row))?);
            mean.see(&rows[&row].features)?;
        }
        for &row in judged {
            rows.insert(row, Row::new(self.blob, self.table.row(row))?);
        }
        let all = self.left_out == CLASSES;
        let mut order = shown.clone();
        order.retain(|&row| all || label(self.table, row) == self.left_out);
        fastrand::Rng::with_seed(self.seed).shuffle(&mut order);
        let paces = [false, true].into_iter().flat_map(|centred| (0..3).map(move |s| (centred, s)));
        for (centred, slowness) in paces {
            let pace = Pace { margin, slowness };
            let mut learner = Learner::<FEATURES, CLASSES>::new(&model, pace)?;
            if centred {
                learner.centre_on(&mean.mean());
            }
            let mut learned = 0;
            for count in SHOWN {
                for row in order.iter().take(count).skip(learned) {
                    let Row { scores, features } = &rows[row];
                    learner.learn(scores, features, self.class(*row))?;
                }
                learned = count;
                let mut wrong = 0;
                for row in judged {
                    let Row { scores, features } = &rows[row];
                    let found = class_of(learner.scores(scores, features)?);
                    wrong += usize::from(found != self.class(*row));
                }
                let error = wrong as f64 / judged.len() as f64;
                errors.entry((self.task, centred, slowness, count)).or_default().push(error);
            }
        }
        Ok(())
    }
}

/// What the device has of a window.
struct Row {
    scores: Vec<i32>,
    features: Vec<i16>,
}

impl Row {
    fn new(blob: &[u8], row: &[f32]) -> Result<Self> {
        let mut predictor = predictor(blob)?;
        let scores = predictor.scores(row)?.to_vec();
        let mut features = vec![0; FEATURES];
        predictor.features(row, &mut features)?;
        Ok(Self { scores, features })
    }
}
