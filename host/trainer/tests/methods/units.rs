//! Units of a regression's target, and of the weights of rows.

use koan_data::{Table, TableBuilder};
use koan_trainer::{FamilyName, Progress, TrainOptions, train};

#[test]
fn errors_do_not_depend_on_units() {
    let rows = 400;
    let column = |seed: usize| -> Vec<f64> {
        (0..rows).map(|i| ((i * seed + i * i * 7) % 401) as f64 / 100.0 - 2.0).collect()
    };
    let inputs: Vec<Vec<f64>> = [37, 53, 71, 91, 113].map(column).to_vec();
    let wave = |i: usize| (3.0 * inputs[0][i]).sin();
    let table = |unit: f64, weight: f32| {
        let mut builder = TableBuilder::new(rows);
        for (name, values) in ["a", "b", "c", "d", "e"].into_iter().zip(&inputs) {
            builder = builder.column(name, &values[..]);
        }
        let y: Vec<f64> = (0..rows).map(|i| unit * wave(i)).collect();
        let mut table = builder.values("y", &y[..]).build().unwrap();
        table.weights = (weight != 1.0).then(|| vec![weight; rows]);
        table
    };
    let error = |table: &Table, family: FamilyName| {
        let options = TrainOptions {
            families: vec![family],
            features: vec![64],
            lambda: (family == FamilyName::Fourier).then_some(1e-3),
            ..TrainOptions::default()
        };
        train(table, Some(table), &options, &Progress::none()).unwrap().report.error
    };
    for unit in [1e-6, 1e6] {
        let [own, other] = [1.0, unit].map(|unit| error(&table(unit, 1.0), FamilyName::Fourier));
        assert!((other / own - 1.0).abs() < 0.05, "{unit}: {own} {other}");
    }
    for weight in [1e-6, 1e6] {
        let [own, other] = [1.0, weight].map(|weight| error(&table(1.0, weight), FamilyName::Bin));
        assert!((other / own - 1.0).abs() < 0.05, "{weight}: {own} {other}");
    }
}
