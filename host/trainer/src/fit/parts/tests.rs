use std::ops::Range;

use koan::generator::Stream;

use super::*;
use crate::{FamilyName, TrainOptions, train};
use koan_data::{Division, Format, Schema};

/// Rows of a recording.
const ROWS: usize = 8;

/// From −1 to 1.
fn uniform(stream: u32, index: usize) -> f64 {
    f64::from(Stream::new(3, stream).draw(index as u64) as i32) / 2f64.powi(31)
}

/// Recordings of three classes in the plane: two keep to a place each, every recording
/// of the third has a place of its own, anywhere.
fn places(recordings: usize, stream: u32) -> Table {
    let mut values = Vec::new();
    for recording in 0..recordings {
        let centre = match recording % 3 {
            0 => [0.0, 0.0],
            1 => [2.0, 0.0],
            _ => [0, 1].map(|axis| 5.0 * uniform(stream, 2 * recording + axis)),
        };
        for row in 0..ROWS {
            let number = 2 * (recording * ROWS + row);
            let noise = |axis| 0.8 * uniform(stream + 1, number + axis);
            values.extend([0, 1].map(|axis| (centre[axis] + noise(axis)) as f32));
        }
    }
    let rows = recordings * ROWS;
    let mut schema = Schema::new(Format::Csv);
    schema.inputs = 2;
    schema.classes = ["a", "b", "other"].map(str::to_owned).to_vec();
    Table {
        inputs: 2,
        values,
        target: Target::Classes { labels: (0..rows).map(|row| (row / ROWS % 3) as u32).collect() },
        schema,
        division: Division::Groups((0..rows).map(|row| (row / ROWS) as u32).collect()),
        weights: None,
    }
}

fn options(seed: u64) -> TrainOptions {
    TrainOptions {
        families: vec![FamilyName::Fourier],
        features: vec![48],
        frequency: Some(vec![2.0]),
        map: Some(crate::normalise::Kind::Shared),
        bits: Some(3),
        seed,
        ..TrainOptions::default()
    }
}

#[test]
fn recordings_stay_whole_and_without_enough_of_them_there_are_no_parts() {
    let table = places(9, 0);
    let count = |table: &Table| parts_of(table, 10, 1).map(|folds| folds.parts.len());
    assert_eq!(count(&table), Some(9));
    for part in parts_of(&table, 10, 1).unwrap().parts {
        assert!(
            part.chunks(ROWS)
                .all(|rows| rows[0] % ROWS == 0 && rows[ROWS - 1] == rows[0] + ROWS - 1)
        );
    }
    assert_eq!(count(&places(30, 0)), Some(10));
    assert_eq!(count(&places(3, 0)), None);
    assert!(parts_of(&table, MOST_FEATURES + 1, 1).is_none());
    assert_eq!(count(&Table { division: Division::Free, ..table }), None);
}

/// No head that judges the rows of such a class has seen it.
#[test]
fn rows_of_a_class_that_one_part_has_do_not_count() {
    let mut table = places(12, 60);
    let Target::Classes { labels } = &mut table.target else { unreachable!() };
    labels[ROWS..4 * ROWS].copy_from_slice(&[2, 1, 2].map(|class| [class; ROWS]).concat());
    labels[4 * ROWS..].iter_mut().for_each(|class| *class = 2 * u32::from(*class > 0));
    let problem = Problem::new(&table, false);
    let rows =
        |recordings: Range<usize>| (recordings.start * ROWS..recordings.end * ROWS).collect();
    let parts = vec![rows(0..2), rows(2..3), rows(3..12)];
    let shared = shared_classes(&problem, &Folds { parts, held: vec![0, 1, 2] });
    assert_eq!(shared, [0, 2], "the second class is in one part");
    let parts = Parts { problem: &problem, parts: Vec::new(), shared: &shared };
    let scores: Vec<f64> = (0..3 * 60).map(|place| uniform(61, place)).collect();
    let labels: Vec<u32> = (0..60).map(|row| row % 3).collect();
    let weights = vec![1.0; 60];
    let found = parts.of_classes(&scores, &labels, &weights);
    let others: Vec<usize> = (0..60).filter(|row| row % 3 != 1).collect();
    let without: Vec<f64> =
        others.iter().flat_map(|row| [scores[3 * row], scores[3 * row + 2]]).collect();
    let of_others: Vec<u32> = others.iter().map(|row| u32::from(row % 3 == 2)).collect();
    let wanted = recentred(&without, &of_others, &weights[..40], 2);
    assert_eq!(found.bias, [wanted.bias[0], 0.0, wanted.bias[1]]);
    assert_eq!((found.loss, found.slope), (wanted.loss, wanted.slope));
}

/// A fault that was recorded once, and recordings of all that is well.
#[test]
fn a_class_of_one_recording_is_told() {
    let recordings = |fault: &dyn Fn(usize) -> bool, count: usize, stream: u32| {
        let mut table = places(count, stream);
        let labels = (0..count).flat_map(|recording| [u32::from(fault(recording)); ROWS]).collect();
        let place = |recording| if fault(recording) { 1.5 } else { 0.0 };
        let noise = |at: usize| 0.8 * f64::from(uniform(stream + 1, at) as f32);
        let value = |at: usize| (place(at / (2 * ROWS)) + noise(at)) as f32;
        table.values = (0..table.values.len()).map(value).collect();
        table.target = Target::Classes { labels };
        table.schema.classes.pop();
        table
    };
    let table = recordings(&|recording| recording == 5, 12, 70);
    let test = recordings(&|recording| recording % 2 == 0, 40, 80);
    for loss in [crate::solve::Loss::Squared, crate::solve::Loss::Logistic] {
        let options = TrainOptions { loss: Some(loss), bits: Some(4), ..options(1) };
        let error = train(&table, Some(&test), &options, &Progress::none()).unwrap().report.error;
        assert!(error < 0.2, "{error}");
    }
}

#[test]
fn new_recordings_are_told_better_than_by_rows_of_the_same() {
    let test = places(300, 10);
    let (mut whole, mut mixed) = (0.0, 0.0);
    for seed in 1..=4 {
        let table = places(24, 20 + 2 * seed);
        let error = |table: &Table, candidates| {
            let options = TrainOptions { candidates, ..options(seed.into()) };
            train(table, Some(&test), &options, &Progress::none()).unwrap().report.error
        };
        for candidates in [None, Some(192)] {
            whole += error(&table, candidates) / 8.0;
            let free = Table { division: Division::Free, ..table.clone() };
            mixed += error(&free, candidates) / 8.0;
        }
    }
    assert!(whole < 0.9 * mixed, "{whole} {mixed}");
}

#[test]
fn a_selection_has_the_features_asked_for() {
    let table = places(24, 40);
    let problem = Problem::new(&table, false);
    let options = TrainOptions { candidates: Some(192), ..options(1) };
    let banks = options.banks(&table.schema).unwrap();
    let rows: Vec<usize> = (0..table.rows()).collect();
    let quiet = Progress::none();
    let choice =
        crate::select::choose(&problem, &rows, &banks, &options.choice(problem.task()), &quiet)
            .unwrap();
    let head = options.head(problem.task());
    let fitted = fit_parts(&problem, &choice.spec, &head, &quiet).unwrap().unwrap();
    let [bank] = &fitted.spec.banks[..] else { panic!("one bank") };
    assert_eq!((bank.features, bank.kept.as_ref().map(Vec::len)), (48, Some(48)));
    assert!(fitted.calibration.unwrap().slope > 0.0);
    // Too few candidates are somebody else's error.
    let few = HeadOptions { candidates: Some(10), ..head };
    assert!(fit_parts(&problem, &choice.spec, &few, &quiet).unwrap().is_none());
}

#[test]
fn values_are_fitted_too() {
    let mut table = places(24, 50);
    let values: Vec<f32> = table.values.chunks(2).map(|row| row[0] * row[0] - row[1]).collect();
    table.target = Target::Values(values);
    table.schema.classes.clear();
    let options = TrainOptions { bits: Some(8), frequency: Some(vec![1.0]), ..options(1) };
    let trained = train(&table, Some(&table), &options, &Progress::none()).unwrap();
    assert!(trained.report.error < 0.15, "{}", trained.report.error);
}
