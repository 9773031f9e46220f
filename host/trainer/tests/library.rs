//! Writing, listing, normalising and planning, through the public interface.

use koan::numerics::{NORMAL_ONE, Scale};
use koan::{Calibration, Family, Group, InputMap, Law, Model, Task, Width};
use koan_data::digits;
use koan_data::{Column, ColumnKind, Division, Format, Schema, Table, Target};
use koan_trainer::internal::blob::{
    BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec, predictor,
};
use koan_trainer::internal::listing;
use koan_trainer::internal::nearest;
use koan_trainer::internal::normalise::{Kind, Normaliser};
use koan_trainer::internal::plan::{BankPlan, all_off, realise};
use koan_trainer::{FamilyName, Progress, TrainOptions, Trained, train, with_threads};

const MAP: InputMap = InputMap::new(0, 8, false, 100).unwrap();

fn bank(family: Family, law: Law, features: u16) -> BankSpec {
    BankSpec { family, law, features, scale: Scale::ONE, groups: Vec::new(), kept: None }
}

/// A head of zeros over the banks of `spec`.
fn with_head(mut spec: ModelSpec, task: Task, outputs: usize, bits: u8) -> ModelSpec {
    let width = Width::new(bits, false).unwrap();
    let weights = spec.banks.iter().map(|bank| BankWeights {
        width,
        codes: vec![vec![0; bank.columns()]; outputs],
        multipliers: vec![1; outputs],
    });
    let weights = weights.collect();
    spec.head = Some(HeadSpec { scale: 1.0, shift: 8, bias: vec![0; outputs], weights });
    spec.task = task;
    spec
}

/// As `docs/format.md` promises.
#[test]
fn the_minimal_regression_costs_48_bytes_besides_its_weights() {
    for (bits, features) in [(2, 1), (3, 9), (4, 40), (8, 17), (16, 100)] {
        let banks = vec![bank(Family::Fourier, Law::Gaussian, features)];
        let spec = ModelSpec::features(1, 3, MapSpec::Shared(MAP), banks);
        let blob = with_head(spec, Task::Regression, 1, bits).encode().unwrap();
        let weights = (usize::from(features) * usize::from(bits)).div_ceil(8);
        assert_eq!(blob.len(), 48 + weights, "{features} of {bits} bits");
    }
}

/// One model of every family, with and without head, sections and groups.
fn models() -> Vec<ModelSpec> {
    let group = |inputs, law| Group { inputs, law, scale: Scale::ONE };
    let grouped = BankSpec {
        groups: vec![group(2, Law::Gaussian), group(3, Law::None)],
        ..bank(Family::Fourier, Law::None, 9)
    };
    let banks = [
        bank(Family::Linear, Law::None, 5),
        bank(Family::Fourier, Law::Hadamard, 9),
        bank(Family::Stump, Law::Uniform, 9),
        bank(Family::Bin { slot_bits: 3 }, Law::Gamma2, 2),
        bank(Family::Maxout { pool: 2, shared: 8 }, Law::Sign, 9),
        bank(Family::Sigmoid, Law::Gaussian, 9),
        BankSpec {
            kept: Some((0..9).map(|index| 17 * index + 3).collect()),
            ..bank(Family::Stump, Law::Gaussian, 9)
        },
        BankSpec { kept: Some(vec![1, 4]), ..bank(Family::Linear, Law::None, 2) },
        grouped,
    ];
    let mut models: Vec<ModelSpec> = banks
        .iter()
        .map(|bank| ModelSpec::features(2, 5, MapSpec::Shared(MAP), vec![bank.clone()]))
        .collect();
    let all = ModelSpec::features(3, 5, MapSpec::PerInput(vec![MAP; 5]), banks.to_vec());
    models.push(with_head(all.clone(), Task::Regression, 2, 3));
    models.push(ModelSpec {
        class_names: ["one", "two", "three"].map(str::to_owned).to_vec(),
        calibration: Some(Calibration { slope: 1.0, intercept: 0.0 }),
        notes: "{}".to_owned(),
        golden_rows: vec![vec![1.0; 5]; 2],
        ..with_head(all, Task::Classification, 3, 16)
    });
    models
}

#[test]
fn the_parts_cover_the_blob_without_gaps() {
    for spec in models() {
        let blob = spec.encode().unwrap();
        let parts = listing::parts(&Model::parse(&blob).unwrap());
        let mut end = 0;
        for part in &parts {
            assert_eq!(part.offset, end, "{}", part.name);
            assert!(part.length > 0, "{}", part.name);
            end += part.length;
        }
        assert_eq!(end, blob.len());
        let sections = parts.iter().filter(|part| part.name.starts_with("section: "));
        assert_eq!(sections.count(), if spec.class_names.is_empty() { 0 } else { 4 });
    }
}

/// Features of a list are those of the whole bank: any can be made alone.
#[test]
fn kept_features_are_those_of_the_whole_bank() {
    let row = [0.5f32, -1.0, 2.0, 0.25, -0.125];
    let features = |spec: &ModelSpec| {
        let blob = spec.encode().unwrap();
        let mut predictor = predictor(&blob).unwrap();
        let mut features = vec![0; predictor.model().features()];
        predictor.features(&row, &mut features).unwrap();
        features
    };
    let lists: [&[u32]; 4] = [&[0], &[2, 3, 150], &[299], &[7, 8, 9, 16, 100, 101, 255, 256, 298]];
    for spec in models().iter().filter(|spec| spec.banks.len() == 1) {
        let mut spec = spec.clone();
        let bank = &mut spec.banks[0];
        let linear = bank.family == Family::Linear;
        (bank.features, bank.kept) = (if linear { 5 } else { 300 }, None);
        let all = features(&spec);
        for list in lists {
            let list: Vec<u32> = list.iter().copied().filter(|&k| !linear || k < 5).collect();
            if list.is_empty() {
                continue;
            }
            let bank = &mut spec.banks[0];
            let columns =
                if let Family::Bin { slot_bits } = bank.family { 1 << slot_bits } else { 1 };
            let wanted = list.iter().flat_map(|&k| {
                let first = k as usize * columns;
                all[first..first + columns].to_vec()
            });
            let wanted: Vec<i16> = wanted.collect();
            (bank.features, bank.kept) = (list.len() as u16, Some(list));
            assert_eq!(features(&spec), wanted, "{:?}", spec.banks[0]);
        }
    }
}

#[test]
fn wrong_lists_are_refused() {
    let refused = |family, law, kept: &[u32], features| {
        let bank = BankSpec { kept: Some(kept.to_vec()), ..bank(family, law, features) };
        let spec = ModelSpec::features(1, 5, MapSpec::Shared(MAP), vec![bank]);
        let error = spec.encode().unwrap_err();
        // Behind the header, an input map and the bank.
        assert_eq!(error, koan::Error::Field { field: koan::Field::KeptFeatures, offset: 31 });
    };
    refused(Family::Stump, Law::Gaussian, &[4, 4], 2);
    refused(Family::Stump, Law::Gaussian, &[4, 5], 1);
    refused(Family::Stump, Law::Gaussian, &[4, 5], 3);
    refused(Family::Stump, Law::Gaussian, &[koan::MAX_INDEX], 1);
    refused(Family::Linear, Law::None, &[1, 5], 2);
}

#[test]
fn a_section_beyond_its_length_field_is_refused() {
    let mut spec = models().swap_remove(0);
    spec.notes = "x".repeat(65_535);
    assert!(spec.encode().is_ok());
    spec.notes.push('x');
    assert!(spec.encode().is_err());
}

fn table(rows: &[[f32; 3]]) -> Table {
    let column = |kind| Column { name: String::new(), kind };
    let numeric = || column(ColumnKind::Numeric { missing: None });
    Table {
        inputs: 3,
        values: rows.concat(),
        target: Target::Values(vec![0.0; rows.len()]),
        schema: Schema {
            columns: vec![numeric(), numeric(), numeric(), column(ColumnKind::Target)],
            inputs: 3,
            ..Schema::new(Format::Csv)
        },
        division: Division::Free,
        weights: None,
    }
}

/// A wave, an indicator and a heavy tail.
fn mixed() -> Table {
    let row = |i: u16| {
        let x = f32::from(i);
        [100.0 + (x * 0.7).sin(), f32::from(u8::from(i.is_multiple_of(10))), (x / 40.0).exp()]
    };
    table(&(0..400).map(row).collect::<Vec<_>>())
}

fn all_rows(table: &Table) -> Vec<usize> {
    (0..table.rows()).collect()
}

#[test]
fn every_input_has_mean_0_and_deviation_1() {
    let table = mixed();
    let rows = all_rows(&table);
    for (kind, logged) in [(Kind::PerInput, 0), (Kind::PerInputLog, 1)] {
        let normaliser = Normaliser::fit(&table, &rows, kind);
        assert_eq!(normaliser.logged_inputs(), logged);
        for input in [0, 2] {
            let values: Vec<f64> =
                rows.iter().map(|&r| normaliser.axes[input].apply(table.row(r)[input])).collect();
            let mean = values.iter().sum::<f64>() / 400.0;
            let square = values.iter().map(|u| u * u).sum::<f64>() / 400.0;
            assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-6, "{mean} {square}");
        }
        // Indicators are ±1, however rare.
        let indicator = normaliser.axes[1];
        assert_eq!((indicator.apply(0.0), indicator.apply(1.0)), (-1.0, 1.0));
    }
}

#[test]
fn a_shared_line_is_one_map() {
    let table = mixed();
    let rows = all_rows(&table);
    let normaliser = Normaliser::fit(&table, &rows, Kind::Shared);
    assert!(normaliser.axes.iter().all(|axis| *axis == normaliser.axes[0]));
    assert!(matches!(normaliser.maps(100.0), MapSpec::Shared(_)));
    // With relevances of their own, inputs need gains of their own,
    let relevance = [1.0, 0.0, 2.0];
    let scaled = normaliser.scaled(&relevance);
    assert_eq!(scaled.axes[2].scale, 2.0 * normaliser.axes[2].scale);
    let MapSpec::GainPerInput(map, gains) = scaled.maps(100.0) else { panic!("other maps") };
    assert_eq!(map, nearest::map(scaled.axes[2].offset, 100.0 * scaled.axes[2].scale, false));
    assert_eq!(gains, [map.mult().div_ceil(2), 0, map.mult()]);
    // and maps where their lines are others.
    let other = Normaliser::fit(&table, &rows, Kind::PerInput).scaled(&relevance);
    let MapSpec::PerInput(maps) = other.maps(100.0) else { panic!("one map for three inputs") };
    assert!(maps[0].mult() > 0 && maps[1].mult() == 0);
}

#[test]
fn a_line_for_each_channel_is_a_map_for_each() {
    let mut table = mixed();
    table.inputs = 6;
    // Two samples of three channels: one number, one indicator and one that spreads far.
    table.values = (0..400usize)
        .flat_map(|i| {
            let of = |i: usize| [(i % 7) as f32, (i % 5 / 4) as f32, 1000.0 * (i % 11) as f32];
            [of(i), of(i + 3)].concat()
        })
        .collect();
    table.schema.inputs = 6;
    table.schema.image = Some("2x3".parse().unwrap());
    let rows = all_rows(&table);
    let normaliser = Normaliser::fit(&table, &rows, Kind::PerChannel);
    assert_eq!(normaliser.axes[..3], normaliser.axes[3..]);
    for channel in [0, 2] {
        let all =
            rows.iter().flat_map(|&row| [table.row(row)[channel], table.row(row)[channel + 3]]);
        let values: Vec<f64> = all.map(|x| normaliser.axes[channel].apply(x)).collect();
        let mean = values.iter().sum::<f64>() / 800.0;
        let square = values.iter().map(|u| u * u).sum::<f64>() / 800.0;
        assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-6, "{mean} {square}");
    }
    let indicator = normaliser.axes[1];
    assert_eq!((indicator.apply(0.0), indicator.apply(1.0)), (-1.0, 1.0));
    let MapSpec::PerChannel(maps) = normaliser.maps(100.0) else { panic!("other maps") };
    assert_eq!(maps.len(), 3);
    // With relevances of their own, inputs need maps of their own, unless they come again.
    let again = normaliser.scaled(&[1.0, 2.0, 0.0, 1.0, 2.0, 0.0]);
    assert!(matches!(again.maps(100.0), MapSpec::PerChannel(_)));
    let other = normaliser.scaled(&[1.0, 2.0, 0.0, 1.0, 2.0, 1.0]);
    assert!(matches!(other.maps(100.0), MapSpec::PerInput(_)));
}

/// Names are lines of the blob: two that differ by a line break alone would be one.
#[test]
fn classes_whose_names_are_the_same_in_a_blob_are_refused() {
    let mut table = digits::table().select(&(0..200).collect::<Vec<_>>());
    let options = TrainOptions { features: vec![8], ..TrainOptions::default() };
    table.schema.classes[3] = "a\nb".into();
    assert!(train(&table, None, &options, &Progress::none()).is_ok());
    table.schema.classes[4] = "a b".into();
    let error = train(&table, None, &options, &Progress::none()).unwrap_err().to_string();
    assert!(error.contains("two classes are called \"a b\""), "{error}");
}

/// Sensors of several kinds need no common unit.
#[test]
fn channels_that_spread_differently_have_maps_of_their_own() {
    // The class is whether both channels swing alike.
    let table = |offset: f32, scale: f32| {
        let sample = |row: usize, t: usize| {
            let phase = (row * 13 % 17) as f32 + 0.8 * t as f32;
            let second = if row.is_multiple_of(2) { phase } else { -phase };
            [phase.sin(), offset + scale * second.sin()]
        };
        let values = (0..240).flat_map(|row| (0..16).flat_map(move |t| sample(row, t))).collect();
        let labels = (0..240).map(|row| row % 2).collect();
        let classes = vec!["against".to_owned(), "alike".to_owned()];
        let image = Some("16x2".parse().unwrap());
        Table {
            inputs: 32,
            values,
            target: Target::Classes { labels },
            schema: Schema { inputs: 32, classes, image, ..Schema::new(Format::Csv) },
            division: Division::Free,
            weights: None,
        }
    };
    for family in [FamilyName::Series, FamilyName::Conv] {
        let options =
            TrainOptions { families: vec![family], features: vec![64], ..TrainOptions::default() };
        let error = |offset: f32, scale: f32, per_channel: bool| {
            let all = table(offset, scale);
            let (even, odd): (Vec<usize>, Vec<usize>) = (0..240).partition(|row| row % 4 < 2);
            let (train_table, test) = (all.select(&even), all.select(&odd));
            let trained = train(&train_table, Some(&test), &options, &Progress::none()).unwrap();
            let maps = &trained.choice.spec.maps;
            assert_eq!(matches!(maps, MapSpec::PerChannel(_)), per_channel, "{maps:?}");
            trained.report.error
        };
        let alike = error(0.0, 1.0, false);
        // One spreads farther, or alike around a number far from that of the other.
        for unlike in [error(0.0, 250.0, true), error(-90.0, 1.0, true)] {
            assert!(unlike <= alike + 0.05 && unlike < 0.2, "{family:?}: {alike} {unlike}");
        }
    }
}

#[test]
fn constant_inputs_are_off() {
    let table = table(&[[3.0, 0.1, -7.0]; 50]);
    let rows = all_rows(&table);
    for kind in [Kind::Shared, Kind::PerInput, Kind::PerInputLog] {
        let normaliser = Normaliser::fit(&table, &rows, kind);
        assert!(normaliser.axes.iter().all(|axis| axis.scale == 0.0), "{kind:?}");
        assert!(all_off(&normaliser.maps(1000.0)), "{kind:?}");
    }
    let mixed = mixed();
    let normaliser = Normaliser::fit(&mixed, &all_rows(&mixed), Kind::PerInput);
    assert!(!all_off(&normaliser.maps(1000.0)));
}

fn plan(family: Family, law: Law, frequency: f64) -> BankPlan {
    BankPlan { family, law, features: 8, frequency, groups: Vec::new(), kept: None }
}

/// At frequency 1, phases spread by 1 radian over the spread of the data.
#[test]
fn plans_give_the_frequency_that_was_asked_for() {
    let table = mixed();
    let rows = all_rows(&table);
    let normaliser = Normaliser::fit(&table, &rows, Kind::PerInput);
    let spread = normaliser.spread(&table, &rows);
    for frequency in [0.25, 1.0, 4.0] {
        let banks = [plan(Family::Fourier, Law::Gaussian, frequency)];
        let spec = realise(1, &banks, &normaliser, &spread);
        let MapSpec::PerInput(maps) = &spec.maps else { panic!("one map for three inputs") };
        // Gain of the map, times the bank's scale, times a weight of 1: phase
        // units of a full turn of 65,536.
        let gain = f64::from(maps[0].mult()) * 2f64.powi(i32::from(maps[0].shift()) - 15);
        let phase = gain * spec.banks[0].scale.factor() * f64::from(NORMAL_ONE);
        let radians = phase * std::f64::consts::TAU / 65_536.0 / normaliser.axes[0].scale;
        let expected = frequency / spread.variance.sqrt();
        assert!((radians / expected - 1.0).abs() < 0.02, "{radians} {expected}");
    }
}

/// Whatever is planned can be written.
#[test]
fn every_plan_is_a_valid_model() {
    let table = mixed();
    let rows = all_rows(&table);
    for kind in [Kind::Shared, Kind::PerInput, Kind::PerInputLog] {
        let normaliser = Normaliser::fit(&table, &rows, kind);
        let spread = normaliser.spread(&table, &rows);
        for frequency in [1e-6, 0.1, 1.0, 10.0, 1e6] {
            let banks = [
                plan(Family::Fourier, Law::Cauchy, frequency),
                plan(Family::Fourier, Law::Hadamard, frequency),
                plan(Family::Stump, Law::Gaussian, frequency),
                plan(Family::Stump, Law::Uniform, frequency),
                plan(Family::Bin { slot_bits: 2 }, Law::Gamma2, frequency),
                plan(Family::Maxout { pool: 3, shared: 0 }, Law::Gaussian, frequency),
                plan(Family::Sigmoid, Law::Sign, frequency),
            ];
            for bank in &banks {
                realise(1, std::slice::from_ref(bank), &normaliser, &spread).encode().unwrap();
            }
            realise(1, &banks, &normaliser, &spread).encode().unwrap();
        }
    }
}

#[test]
fn a_shared_map_has_gains_where_relevance_is_asked_for() {
    let table = digits::table().select(&(0..600).collect::<Vec<_>>());
    let options = TrainOptions {
        map: Some(Kind::Shared),
        frequency: Some(vec![0.5]),
        features: vec![64],
        ..TrainOptions::default()
    };
    for relevance in [Some(true), Some(false), None] {
        let options = TrainOptions { relevance, ..options.clone() };
        let Trained { report, choice, .. } =
            train(&table, Some(&table), &options, &Progress::none()).unwrap();
        let learned = relevance == Some(true);
        assert_eq!((report.relevance, choice.relevance), (learned, learned), "{relevance:?}");
        let gains = matches!(choice.spec.maps, MapSpec::GainPerInput(..));
        assert_eq!(gains, learned, "{:?}", choice.spec.maps);
    }
}

/// Sums in floating point depend on their order, which no number of threads changes.
fn threads_change_nothing(family: FamilyName, features: u16) {
    let table = digits::table().select(&(0..300).collect::<Vec<_>>());
    let options = TrainOptions {
        families: vec![family],
        features: vec![features],
        ..TrainOptions::default()
    };
    let train = || train(&table, None, &options, &Progress::none()).unwrap().blob;
    let alone = with_threads(Some(1), train).unwrap();
    for threads in [None, Some(5)] {
        assert!(with_threads(threads, train).unwrap() == alone, "{threads:?}");
    }
}

#[test]
fn projections_are_the_same_with_any_number_of_threads() {
    threads_change_nothing(FamilyName::Fourier, 96);
}

#[test]
fn grids_are_the_same_with_any_number_of_threads() {
    threads_change_nothing(FamilyName::Bin, 8);
}

#[test]
fn filters_are_the_same_with_any_number_of_threads() {
    threads_change_nothing(FamilyName::Conv, 96);
}

/// Tables that are built by hand can have what readers refuse.
#[test]
fn numbers_that_no_sum_can_have_are_refused() {
    let rows = 40;
    let mut schema = Schema::new(Format::Csv);
    schema.inputs = 2;
    let values: Vec<f32> = (0..2 * rows).map(|place| (place * 7 % 11) as f32).collect();
    let table = Table {
        inputs: 2,
        target: Target::Values(values.chunks(2).map(|row| row[0]).collect()),
        values,
        schema,
        division: Division::Free,
        weights: Some(vec![1.0; rows]),
    };
    let refused = |change: fn(&mut Table)| {
        let mut changed = table.clone();
        change(&mut changed);
        let options = TrainOptions { features: vec![20], ..TrainOptions::default() };
        train(&changed, None, &options, &Progress::none()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|table| table.values[5] = f32::NAN),
        "input 2 of row 3 is not a finite number"
    );
    let target = |table: &mut Table| table.target = Target::Values(vec![f32::INFINITY; 40]);
    assert_eq!(refused(target), "the target of row 1 is not a finite number");
    let weight = |table: &mut Table| table.weights.as_mut().unwrap()[3] = f32::NAN;
    assert_eq!(refused(weight), "the weight of row 4 is not a finite number");
    for (name, options) in [
        ("slot bits", TrainOptions { slot_bits: 64, ..TrainOptions::default() }),
        ("maximum", TrainOptions { pool: 0, ..TrainOptions::default() }),
    ] {
        let error = train(&table, None, &options, &Progress::none()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

/// A recording of which no row counts, be it held out or not, does not make λ the least one.
#[test]
fn a_recording_without_weight_does_not_choose_lambda() {
    let rows = 60;
    let mut schema = Schema::new(Format::Csv);
    schema.inputs = 1;
    let values: Vec<f32> = (0..rows).map(|row| (row * 7 % 31) as f32).collect();
    let noise = |row: usize| (row * 7919 % 101) as f32 / 10.0;
    let table = Table {
        inputs: 1,
        target: Target::Values((0..rows).map(|row| values[row] + noise(row)).collect()),
        values,
        schema,
        division: Division::Groups((0..rows).map(|row| u32::from(row >= 30)).collect()),
        weights: Some((0..rows).map(|row| f32::from(u8::from(row >= 30))).collect()),
    };
    // Many features of few rows are fitted through the rows.
    for features in [20, 2000] {
        for seed in 1..=6 {
            let features = vec![features];
            let options = TrainOptions { features, seed, ..TrainOptions::default() };
            let trained = train(&table, None, &options, &Progress::none()).unwrap();
            assert!(trained.report.lambda > 1e-6, "{:?}, seed {seed}", options.features);
        }
    }
}
