//! Ferns find what they can find, and what is written is what was fitted.

use koan::generator::Stream;
use koan_data::{Table, TableBuilder, digits};

use crate::evaluate::evaluate;
use crate::normalise::Kind;
use crate::progress::Progress;
use crate::solve::Loss;
use crate::{FamilyName, TrainOptions, train};

/// Rows of two inputs whose class is whether they lie in opposite corners: no sum of
/// functions of one input each tells the classes apart.
fn corners(rows: usize) -> Table {
    let draws = Stream::new(3, 0);
    let draw = |place: usize| f32::from(draws.draw(place as u64) as i16) / 32768.0;
    let [a, b]: [Vec<f32>; 2] =
        [0, 1].map(|input| (0..rows).map(|r| draw(2 * r + input)).collect());
    let class = |(a, b): (&f32, &f32)| if (*a > 0.3) == (*b > -0.2) { "same" } else { "opposite" };
    let classes: Vec<&str> = a.iter().zip(&b).map(class).collect();
    let table = TableBuilder::new(rows).column("a", &a[..]).column("b", &b[..]);
    table.classes("corners", &classes[..]).build().unwrap()
}

fn options(features: u16, depth: u8) -> TrainOptions {
    TrainOptions {
        families: vec![FamilyName::Fern],
        features: vec![features],
        candidates: Some(600),
        depth,
        map: Some(Kind::PerInput),
        frequency: Some(vec![1.0]),
        loss: Loss::Logistic,
        column_names: false,
        ..TrainOptions::default()
    }
}

#[test]
fn two_comparisons_find_what_one_cannot() {
    let table = corners(1500);
    let error = |depth: u8| {
        let trained = train(&table, None, &options(12, depth), &Progress::none()).unwrap();
        evaluate(&trained.blob, &table).unwrap().error
    };
    let (one, two) = (error(1), error(2));
    assert!(one > 0.25 && two < 0.05, "{one} {two}");
}

#[test]
fn the_threads_do_not_matter_and_pools_bound_the_ferns() {
    let table = digits::table();
    let rows: Vec<usize> = (0..400).collect();
    let table = table.select(&rows);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(&table, None, &options(20, 3), &Progress::none()).unwrap().blob)
    };
    assert_eq!(with(1), with(3));
    let many = train(&table, None, &options(601, 3), &Progress::none());
    assert!(many.is_err_and(|error| error.to_string().contains("600 candidates for 601 ferns")));
}

#[test]
fn ferns_of_every_loss_and_beside_others_are_better_than_chance() {
    let table = digits::table();
    let rows: Vec<usize> = (0..400).collect();
    let table = table.select(&rows);
    let fern = vec![FamilyName::Fern];
    for (families, loss, bits, most) in [
        (fern.clone(), Loss::Logistic, 2, 0.1),
        (fern.clone(), Loss::Squared, 4, 0.1),
        (fern, Loss::Hinge, 4, 0.2),
        (vec![FamilyName::Fourier, FamilyName::Fern], Loss::Squared, 4, 0.1),
    ] {
        let options =
            TrainOptions { families: families.clone(), loss, bits: Some(bits), ..options(40, 3) };
        let trained = train(&table, None, &options, &Progress::none()).unwrap();
        let error = evaluate(&trained.blob, &table).unwrap().error;
        assert!(error < most, "{families:?} {loss:?}: {error}");
        let model = koan::Model::parse(&trained.blob).unwrap();
        assert!(model.banks().any(|bank| bank.is_kept() && bank.features() == 40));
    }
}
