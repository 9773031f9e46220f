use koan::Model;
use koan::generator::Stream;

use super::{capped, fitted, halved, kept, learning_curves};
use crate::blob::ModelSpec;
use crate::evaluate::evaluate;
use crate::features::{FeatureBlock, FeatureMap};
use crate::folds::shuffled;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::train::encode;
use koan_data::digits;
use koan_data::{Shape, SplitSize, Table, split};

use crate::{FamilyName, TrainOptions, train};

/// The pixels of a digit one after the other.
const SERIES: Shape = Shape { height: 1, width: 64, channels: 1 };

/// Few rows of digits: to train on, to test.
fn tables() -> (Table, Table) {
    let all = digits::table();
    let (fit, test) = split(&all.target, SplitSize::TrainRows(500), 1).unwrap();
    (all.select(&fit), all.select(&test[..200]))
}

fn options(family: FamilyName) -> TrainOptions {
    TrainOptions {
        families: vec![family],
        features: vec![if family == FamilyName::Bin { 8 } else { 96 }],
        slot_bits: 4,
        relevance: Some(false),
        frequency: Some(vec![1.0]),
        conv: crate::ConvOptions {
            shape: (family == FamilyName::Series).then_some(SERIES),
            ..crate::ConvOptions::default()
        },
        ..TrainOptions::default()
    }
}

#[test]
fn the_first_features_do_not_depend_on_how_many_follow() {
    let (table, test) = tables();
    // What the rows are is not asked.
    let table = table.select(&(0..150).collect::<Vec<_>>());
    for family in FamilyName::ALL {
        for shared in [0, 20] {
            let options = TrainOptions { shared, linear: true, ..options(family) };
            let spec = train(&table, Some(&test), &options, &Progress::none()).unwrap().choice.spec;
            let fewer = ModelSpec { banks: halved(&spec.banks, 1), ..spec.clone() };
            let features = |spec: &ModelSpec| {
                let mut block = FeatureBlock::default();
                FeatureMap::new(spec).unwrap().block(&test, &[0, 7, 11], &mut block).unwrap();
                block.matrix()
            };
            let (all, some) = (features(&spec), features(&fewer));
            let kept = kept(&spec.banks, &fewer.banks);
            assert_eq!(kept.len(), some.nrows());
            for (k, &column) in kept.iter().enumerate() {
                for row in 0..3 {
                    assert_eq!(some[(k, row)], all[(column, row)], "{family:?}, feature {k}");
                }
            }
        }
    }
}

#[test]
fn the_largest_run_is_the_model_itself() {
    let (table, test) = tables();
    for family in [FamilyName::Fourier, FamilyName::Bin] {
        let options = options(family);
        let trained = train(&table, Some(&test), &options, &Progress::none()).unwrap();
        let spec = &trained.choice.spec;
        assert_eq!(&capped(spec, &options.head(table.schema.task())), spec);
        assert_eq!(&ModelSpec::features_of(&Model::parse(&trained.blob).unwrap()), spec);
        let own = (&trained.blob[..], trained.report.lambda);
        let progress = Progress::none();
        let curves = learning_curves(own, &table, &test, &options, &progress).unwrap();
        let same = curves
            .runs
            .iter()
            .find(|run| run.features == trained.report.features && run.bits == trained.report.bits)
            .unwrap();
        assert_eq!((same.bytes, same.error), (trained.report.bytes, trained.report.error));
        assert_eq!(curves.features, trained.report.features);
        // A learning curve ends with all rows, and there with the model as well.
        let last = curves.by_rows.last().unwrap();
        assert_eq!(last.rows, table.rows());
        assert_eq!(last.test_error, trained.report.error);
        let first = curves.by_rows.first().unwrap();
        assert!(first.rows < 40 * 2 && first.test_error > last.test_error);
        // More features and bits take more bytes.
        let run = |features, bits| {
            curves.runs.iter().find(|run| run.features == features && run.bits == bits).unwrap()
        };
        let least = curves.runs.iter().map(|run| run.features).min().unwrap();
        let own = trained.report.bits;
        assert!(run(least, own).bytes < run(curves.features, own).bytes);
        assert!(run(curves.features, 2).bytes < run(curves.features, 16).bytes);
        assert!(run(least, own).error > run(curves.features, own).error);
    }
}

#[test]
fn a_learning_curve_has_the_features_of_the_model() {
    let (table, test) = tables();
    let options = TrainOptions { features: vec![1032], ..options(FamilyName::Fourier) };
    let trained = train(&table, Some(&test), &options, &Progress::none()).unwrap();
    let own = (&trained.blob[..], trained.report.lambda);
    let progress = Progress::none();
    let curves = learning_curves(own, &table, &test, &options, &progress).unwrap();
    // The runs of other sizes are smaller than the model; the curve is not.
    assert!(curves.features < 1032);
    let rows: Vec<usize> = curves.by_rows.iter().map(|lesson| lesson.rows).collect();
    assert_eq!(rows, [62, 125, 250, 500]);
    assert_eq!(curves.by_rows[3].test_error, trained.report.error);
}

/// Features kept from a pool, and ferns, are chosen once.
#[test]
fn a_learning_curve_has_the_features_that_the_model_keeps() {
    let (table, test) = tables();
    let few = |family| TrainOptions { features: vec![24], ..options(family) };
    for options in [
        TrainOptions { candidates: Some(200), ..few(FamilyName::Fourier) },
        few(FamilyName::Fern),
        TrainOptions {
            families: vec![FamilyName::Fourier, FamilyName::Fern],
            features: vec![16, 8],
            ..few(FamilyName::Fourier)
        },
    ] {
        let options = TrainOptions { bits: Some(4), ..options };
        let trained = train(&table, Some(&test), &options, &Progress::none()).unwrap();
        let lambda = trained.report.lambda;
        let own = (&trained.blob[..], lambda);
        let curves = learning_curves(own, &table, &test, &options, &Progress::none()).unwrap();
        let spec = ModelSpec::features_of(&Model::parse(&trained.blob).unwrap());
        assert!(spec.banks.iter().any(|bank| bank.kept.is_some()));
        // Half of the rows, by hand.
        let order = shuffled(table.rows(), Stream::new(options.seed, 9));
        let half = table.select(&order[..table.rows() / 2]);
        let problem = Problem::new(&half, false);
        let own = TrainOptions { lambda: Some(lambda), ..options.clone() };
        let fit = fitted(&problem, spec.clone(), &own.head(problem.task())).unwrap();
        let blob = encode(&problem, &fit, &fit.compensated, own.blob()).unwrap();
        assert_eq!(ModelSpec::features_of(&Model::parse(&blob).unwrap()), spec);
        let [.., before, last] = &curves.by_rows[..] else { panic!("{curves:?}") };
        assert_eq!(before.test_error, evaluate(&blob, &test).unwrap().error);
        assert_eq!(last.test_error, trained.report.error);
        assert!(before.test_error < 2.0 * last.test_error + 0.02, "{before:?} {last:?}");
        // All features of the model with its bits: what was trained.
        let (features, bits) = (trained.report.features, trained.report.bits);
        let whole = curves.runs.iter().find(|run| run.features == features && run.bits == bits);
        assert_eq!(whole.map(|run| run.bytes), Some(trained.report.bytes));
    }
}

/// Linear terms stay whole, however many there are.
#[test]
fn runs_are_no_smaller_than_one_feature_of_each_bank() {
    let (table, test) = tables();
    let table = table.select(&(0..60).collect::<Vec<_>>());
    let options = TrainOptions {
        features: vec![2],
        slot_bits: 10,
        linear: true,
        lambda: Some(1e-2),
        ..options(FamilyName::Bin)
    };
    let trained = train(&table, Some(&test), &options, &Progress::none()).unwrap();
    let spec = &trained.choice.spec;
    let head = options.head(table.schema.task());
    let features =
        |spec: &ModelSpec| -> Vec<u16> { spec.banks.iter().map(|bank| bank.features).collect() };
    assert_eq!(features(&capped(spec, &head)), [1, 64]);
    // As many as 16 bits count.
    let mut most = spec.clone();
    most.banks[0].family = koan::Family::Fourier;
    most.banks[0].features = u16::MAX;
    assert_eq!(features(&capped(&most, &head)), [511, 64]);
    most.banks[1].features = u16::MAX;
    assert_eq!(features(&capped(&most, &head)), [1, u16::MAX]);
}

#[test]
fn the_runs_are_the_same_every_time() {
    let (table, test) = tables();
    let options = options(FamilyName::Fourier);
    let trained = train(&table, Some(&test), &options, &Progress::none()).unwrap();
    let own = (&trained.blob[..], trained.report.lambda);
    let run = || learning_curves(own, &table, &test, &options, &Progress::none()).unwrap();
    assert_eq!(run(), run());
}

#[test]
fn what_was_tried_is_recorded() {
    let (table, test) = tables();
    let options = TrainOptions { frequency: None, ..options(FamilyName::Fourier) };
    let choice = train(&table, Some(&test), &options, &Progress::none()).unwrap().choice;
    let tried: Vec<f64> = choice.trials.iter().map(|trial| trial.frequency).collect();
    for grid in [0.25, 0.5, 1.0, 2.0, 4.0] {
        assert!(tried.contains(&grid), "{grid} of {tried:?}");
    }
    let last = choice.trials.iter().filter(|trial| trial.last);
    let best = last.min_by(|a, b| a.error.total_cmp(&b.error)).unwrap();
    assert_eq!(best.frequency, choice.banks[0].frequency);
    assert_eq!(best.map, choice.kind);
}
