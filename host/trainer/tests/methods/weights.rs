//! Rows of weight n are n rows, for every loss.

use koan_data::{Column, ColumnKind, Division, Format, Schema, Table, Target};
use koan_trainer::internal::fit::{fit_dense, fit_loss, fit_sparse};
use koan_trainer::internal::normalise::{Kind, Normaliser};
use koan_trainer::internal::plan::realise;
use koan_trainer::internal::problem::Problem;
use koan_trainer::{FamilyName, Loss, Progress, TrainOptions};

const ROWS: usize = 240;

/// Two inputs, three classes that overlap, a weight of 0 to 3 for each row.
fn weighted() -> Table {
    let stream = koan::generator::Stream::new(11, 0);
    let number = |i: usize| f64::from(stream.draw(i as u64) as i32) / 2f64.powi(30);
    let column = |kind| Column { name: String::new(), kind };
    let mut columns = vec![column(ColumnKind::Numeric { missing: None }); 2];
    columns.push(column(ColumnKind::Target));
    let label = |row: usize| {
        let score = number(2 * row) + 0.4 * number(1000 + row);
        u32::from(score > -0.6) + u32::from(score > 0.6)
    };
    Table {
        inputs: 2,
        values: (0..2 * ROWS).map(|i| number(i) as f32).collect(),
        target: Target::Classes { labels: (0..ROWS).map(label).collect() },
        schema: Schema {
            columns,
            inputs: 2,
            classes: ["a", "b", "c"].map(Into::into).to_vec(),
            ..Schema::new(Format::Csv)
        },
        division: Division::Free,
        weights: Some((0..ROWS).map(|row| (row % 4) as f32).collect()),
    }
}

#[test]
fn integer_weights_equal_repeated_rows() {
    let table = weighted();
    let rows: Vec<usize> = (0..ROWS).flat_map(|row| std::iter::repeat_n(row, row % 4)).collect();
    let repeated = Table { weights: None, ..table.select(&rows) };
    // The same features for both, so that the heads alone are compared.
    let all: Vec<usize> = (0..ROWS).collect();
    let normaliser = Normaliser::fit(&table, &all, Kind::Shared);
    let spread = normaliser.spread(&table, &all);
    for (family, loss, box_c, lambda, tolerance) in [
        (FamilyName::Fourier, Loss::Squared, None, 1e-2, 1e-6),
        (FamilyName::Fourier, Loss::Squared, Some(30.0), 1e-3, 2e-2),
        (FamilyName::Fourier, Loss::Logistic, None, 1e-2, 5e-2),
        (FamilyName::Fourier, Loss::Hinge, None, 1e-2, 8e-2),
        (FamilyName::Bin, Loss::Squared, None, 4.0, 1e-2),
    ] {
        for balanced in [false, true] {
            let options = TrainOptions {
                families: vec![family],
                features: vec![if family == FamilyName::Bin { 6 } else { 32 }],
                slot_bits: 3,
                frequency: Some(vec![1.0]),
                lambda: Some(lambda),
                loss: Some(loss),
                box_c,
                balanced,
                ..TrainOptions::default()
            };
            let banks = options.banks(&table.schema).unwrap();
            let spec = realise(1, &banks, &normaliser, &spread);
            let scores = |table: &Table| {
                let problem = Problem::new(table, balanced);
                let (head, quiet) = (options.head(problem.task()), Progress::none());
                let fitted = match (family, loss, box_c) {
                    (FamilyName::Bin, ..) => fit_sparse(&problem, spec.clone(), 3, &head, &quiet),
                    (_, Loss::Squared, None) => fit_dense(&problem, spec.clone(), &head, &quiet),
                    _ => fit_loss(&problem, spec.clone(), &head, &quiet),
                };
                (fitted.unwrap().float)(&weighted()).unwrap()
            };
            let (weights, copies) = (scores(&table), scores(&repeated));
            let largest = copies.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            let apart = weights.iter().zip(&copies).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            assert!(
                apart <= tolerance * largest,
                "{family:?} {loss:?} {balanced}: {apart} of {largest}"
            );
            // And they are not the scores of rows that all count the same.
            let plain = scores(&Table { weights: None, ..table.clone() });
            let other = plain.iter().zip(&copies).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            assert!(other > 2.0 * apart, "{family:?} {loss:?} {balanced}: {other} {apart}");
        }
    }
}

/// Whatever the loss: a logistic fit to one class would have no end.
#[test]
fn weights_that_leave_one_class_are_refused() {
    for loss in [Loss::Squared, Loss::Logistic] {
        let table = koan_data::TableBuilder::new(4)
            .column("x", &[1.0, 2.0, 3.0, 4.0][..])
            .classes("y", &["a", "b", "a", "b"][..])
            .weights(&[1u8, 0, 2, 0][..])
            .build()
            .unwrap();
        let options = TrainOptions { loss: Some(loss), ..TrainOptions::default() };
        let error = koan_trainer::train(&table, None, &options, &koan_trainer::Progress::none());
        let expected = "all rows of weight above 0 are of one class; classification needs two";
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}
