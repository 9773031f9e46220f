//! Ferns find what they can find, and what is written is what was fitted.

use koan::generator::Stream;
use koan::numerics::Scale;
use koan::{Family, Law};
use koan_data::{Table, TableBuilder, digits};

use super::chosen::codes;
use super::pool::Pool;
use crate::blob::{BankSpec, ModelSpec};
use crate::evaluate::evaluate;
use crate::features::FeatureMap;
use crate::normalise::{Kind, Normaliser};
use crate::problem::Problem;
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
        loss: Some(Loss::Logistic),
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
        let options = TrainOptions {
            families: families.clone(),
            loss: Some(loss),
            bits: Some(bits),
            ..options(40, 3)
        };
        let trained = train(&table, None, &options, &Progress::none()).unwrap();
        let error = evaluate(&trained.blob, &table).unwrap().error;
        assert!(error < most, "{families:?} {loss:?}: {error}");
        let model = koan::Model::parse(&trained.blob).unwrap();
        assert!(model.banks().any(|bank| bank.is_kept() && bank.features() == 40));
    }
}

/// The pool makes codes by itself, from the comparisons that the core tells.
#[test]
fn codes_of_the_pool_are_those_of_the_core() {
    let table = digits::table();
    let problem = Problem::new(&table, false);
    let rows: Vec<usize> = (0..150).rev().collect();
    for (depth, law, kind) in [
        (1, Law::Uniform, Kind::Shared),
        (2, Law::Gaussian, Kind::PerInputLog),
        (3, Law::Uniform, Kind::PerInput),
        (4, Law::Gaussian, Kind::Shared),
    ] {
        let options = TrainOptions { candidates: Some(5000), ..options(300, depth) };
        // A normalised 1 is 1,000 in the input map, and 44 in the table of normal quantiles.
        let maps = Normaliser::fit(&table, &rows, kind).maps(1000.0);
        let bank = |kept: Option<Vec<u32>>| BankSpec {
            family: Family::Fern { depth },
            law,
            features: 300,
            scale: Scale::new(91, 2).unwrap(),
            groups: Vec::new(),
            kept,
        };
        let spec = |kept| ModelSpec::features(7, 64, maps.clone(), vec![bank(None), bank(kept)]);
        let kept: Vec<u32> = (0..300).map(|fern| 16 * fern + 11).collect();
        let listed = spec(Some(kept.clone()));
        let of_core = codes(&FeatureMap::new(&listed).unwrap(), &listed, &problem, &rows).unwrap();
        let (pool, sample) =
            Pool::new(&problem, &spec(None), 1, rows.clone(), options.candidates).unwrap();
        let some = sample.select(&(3..70).collect::<Vec<_>>());
        for (place, &fern) in kept.iter().enumerate() {
            let all = pool.codes_of_all(fern as usize, &sample);
            assert_eq!(all, of_core.of(place), "depth {depth}, fern {fern}");
            assert_eq!(pool.codes_of_all(fern as usize, &some), all[3..70]);
        }
    }
}

/// Of 4,005 pairs of inputs one tells the classes: a small pool has hardly a fern of it.
#[test]
fn what_counts_is_found_among_many_inputs() {
    let rows = 1200;
    let draws = Stream::new(5, 0);
    let draw = |place: usize| f32::from(draws.draw(place as u64) as i16) / 32768.0;
    let columns: Vec<Vec<f32>> =
        (0..90).map(|input| (0..rows).map(|row| draw(90 * row + input)).collect()).collect();
    let both = |row: usize| columns[17][row] > 0.1 && columns[62][row] > -0.3;
    let classes: Vec<&str> = (0..rows).map(|row| if both(row) { "yes" } else { "no" }).collect();
    let names: Vec<String> = (0..90).map(|input| format!("x{input}")).collect();
    let table = names
        .iter()
        .zip(&columns)
        .fold(TableBuilder::new(rows), |table, (name, column)| table.column(name, &column[..]));
    let table = table.classes("both", &classes[..]).build().unwrap();
    let error = |pool: u16| {
        let options = TrainOptions { candidates: Some(pool), ..options(1, 2) };
        let trained = train(&table, None, &options, &Progress::none()).unwrap();
        evaluate(&trained.blob, &table).unwrap().error
    };
    let (few, many) = (error(2048), error(u16::MAX));
    assert!(many < 0.06 && few > 2.0 * many, "{few} {many}");
}
