//! Searches with and without time.

use super::halving::{Search, Searched};
use super::pace::Clock;
use super::refine::{Allowance, Refinement};
use super::search::{faster, rungs_of, small_sizes, smaller};
use super::*;
use crate::folds::Folds;
use crate::problem::Problem;
use crate::train;
use koan::{Form, Model};
use koan_data::{TableBuilder, digits};

mod ferns;

fn options(clock: bool, time: Duration) -> TuneOptions {
    TuneOptions {
        space: Space {
            base: TrainOptions { relevance: Some(false), ..TrainOptions::default() },
            families: vec![FamilyName::Fourier, FamilyName::Stump],
        },
        limits: Limits::of_flash(600),
        metric: Metric::Error,
        time,
        clock,
    }
}

#[test]
fn without_time_there_is_one_model_of_the_largest_size() {
    let table = digits::table().select(&(0..400).collect::<Vec<_>>());
    let options = options(true, Duration::from_nanos(1));
    let found = tune(&table, Some(&table), &options, &Progress::none()).unwrap();
    assert!(found.cut && found.rungs.is_empty());
    let [best] = found.front.as_slice() else { panic!("{} models", found.front.len()) };
    assert!((500..=600).contains(&best.blob.len()), "{} bytes", best.blob.len());
    assert_eq!(found.judged.len(), 1, "more sizes take more time");
}

/// The same models come of machines that are about as fast as the plan counts on.
#[test]
fn a_plan_stands_on_machines_that_are_a_little_slower() {
    super::trial::with_refinement(|refinement| {
        (refinement.left, refinement.growth) = (1000.0 * budget::SPEED, 100.0 * budget::SPEED);
        let mut with = |share: f64| {
            let deadline = Instant::now().checked_add(Duration::from_secs(1000));
            refinement.clock = Clock { deadline, speed: share * budget::SPEED };
            *refinement.hurried.get_mut() = false;
            let found = [refinement.available(0.0) / refinement.left, refinement.growth_in_time()];
            (found, *refinement.hurried.get_mut())
        };
        assert_eq!(with(0.9), ([1.0, 100.0 * budget::SPEED], false));
        let ([available, growth], hurried) = with(0.5);
        assert!(available < 0.51 && growth < 51.0 * budget::SPEED && hurried);
    });
}

/// A part to fit on has a single row or class then, and every loss is flat.
#[test]
fn a_search_on_three_rows_ends() {
    let (a, y) = ([1.0, 2.0, 3.0], ["x", "y", "x"]);
    let table = TableBuilder::new(3).column("a", &a[..]).classes("y", &y[..]).build().unwrap();
    let mut options = options(false, Duration::from_millis(50));
    options.space.families.push(FamilyName::Fern);
    options.limits.flash = USUAL_FLASH;
    let found = tune(&table, None, &options, &Progress::none()).unwrap();
    assert!(!found.front.is_empty());
    for model in &found.front {
        assert!(model.blob.len() <= USUAL_FLASH && model.point.loss <= 1.0);
    }
}

/// Few rows, of which a small model says all that there is to say.
#[test]
fn smaller_models_are_judged_too() {
    let x: Vec<f64> = (0..120).map(|row| f64::from(row * 37 % 120) / 120.0).collect();
    let noise = |row: usize| f64::from((row * 7919 % 101) as u32) / 101.0 - 0.5;
    let y: Vec<f64> = x.iter().enumerate().map(|(row, x)| x + 0.6 * noise(row)).collect();
    let table = TableBuilder::new(120).column("x", &x[..]).values("y", &y[..]).build().unwrap();
    let mut options = options(false, Duration::from_secs(1));
    options.limits.flash = 1500;
    let found = tune(&table, None, &options, &Progress::none()).unwrap();
    let room = |share: usize| found.judged.iter().filter(|(bytes, _)| bytes * share < 1500).count();
    assert!(room(3) > 0 && room(7) > 0, "{:?}", found.judged);
    // Four features a row are the most, and 256 here.
    assert!(found.judged.iter().all(|(bytes, _)| *bytes < 256 * 4 + 200), "{:?}", found.judged);
}

/// A sensor's calibration: rounding to 8 bits would be most of the error.
#[test]
fn a_linear_truth_has_weights_of_16_bits() {
    let input =
        |stream: u32| (0..300).map(|row| f64::from(row * stream % 307) / 307.0).collect::<Vec<_>>();
    let (a, b, c) = (input(37), input(101), input(211));
    let y: Vec<f64> = (0..300).map(|row| 31.5 * a[row] - 4.2 * b[row] + 0.3 * c[row]).collect();
    let table = TableBuilder::new(300)
        .column("a", &a[..])
        .column("b", &b[..])
        .column("c", &c[..])
        .values("y", &y[..])
        .build()
        .unwrap();
    let mut options = options(false, Duration::from_secs(1));
    options.space.families.push(FamilyName::Linear);
    options.limits.flash = USUAL_FLASH;
    let best = |options: &TuneOptions| {
        let found = tune(&table, Some(&table), options, &Progress::none()).unwrap();
        found.front.last().unwrap().clone()
    };
    let Tuned { point, blob, test, .. } = best(&options);
    assert_eq!(
        (&point.options.families[..], point.options.bits),
        (&[FamilyName::Linear][..], Some(16))
    );
    assert!(blob.len() < 150 && test.error < 1e-3, "{} bytes, {}", blob.len(), test.error);
    options.space.base.bits = Some(8);
    assert_eq!(best(&options).point.options.bits, Some(8), "bits that are given stay");
}

#[test]
fn a_clock_that_is_not_needed_changes_nothing() {
    let table = digits::table();
    let table = table.select(&(0..400).collect::<Vec<_>>());
    // Planned for little, with a deadline that is far.
    let found = |deadline: Option<Instant>| {
        let options = options(false, Duration::from_millis(200));
        let problem = Problem::new(&table, false);
        let (space, limits, metric) = (&options.space, options.limits, options.metric);
        let progress = &Progress::none();
        let (seconds, targets) = (0.2, budget::OF_A_FRONT);
        Search { problem: &problem, space, limits, metric, targets, seconds, deadline, progress }
            .run()
            .unwrap()
    };
    let (planned, timed) =
        (found(None), found(Instant::now().checked_add(Duration::from_secs(100_000))));
    assert!(!planned.cut && !timed.cut);
    let points = |found: &Searched| format!("{:?}", found.entries);
    assert_eq!(points(&planned), points(&timed));
}

#[test]
fn rows_stay_where_fits_take_the_time() {
    let table = digits::table();
    let many: Vec<usize> = (0..30_000).map(|row| row % table.rows()).collect();
    let table = table.select(&many);
    let problem = Problem::new(&table, false);
    let extent = |flash: usize| {
        let mut options = options(false, Duration::from_secs(1));
        options.limits.flash = flash;
        options.space.families = vec![FamilyName::Fourier];
        let progress = &Progress::none();
        let search = rungs_of(&problem, &options.space, &options, 8, None, progress);
        let folds = Folds::new(&table, 1).unwrap();
        let candidates = options.space.candidates(&problem);
        let inputs = inputs::Inputs::new(&problem, &[candidates[0].map.unwrap()]);
        let plans = search.plan(0, vec![candidates[0].clone()], &[], &inputs).unwrap();
        let whole = search.extent(0, &plans, &folds, f64::INFINITY);
        assert_eq!(whole.rows, 30_000);
        let budget = 0.4 * search.works(0, &plans, whole, folds.held.len() as f64).all();
        let less = search.extent(0, &plans, &folds, budget);
        (less.rows as f64 / 30_000.0, less.columns as f64 / whole.columns as f64)
    };
    // Thousands of columns, then a hundred.
    let (rows, columns) = extent(8000);
    assert!(rows == 1.0 && columns < 1.0, "{rows} {columns}");
    let (rows, columns) = extent(400);
    assert!(rows < 1.0 && columns == 1.0, "{rows} {columns}");
}

#[test]
fn what_cannot_fit_is_not_judged() {
    let table = digits::table();
    let problem = Problem::new(&table, false);
    let mut options = options(false, Duration::from_secs(1));
    // Filters fit; 64 inputs beside them, with a weight for each of ten classes, do not.
    options.limits.flash = 250;
    options.space.families = vec![FamilyName::Conv, FamilyName::Linear];
    let progress = &Progress::none();
    let search = rungs_of(&problem, &options.space, &options, 1, None, progress);
    let filters = options.space.candidates(&problem).swap_remove(0);
    assert_eq!(filters.families, [FamilyName::Conv]);
    let inputs = inputs::Inputs::new(&problem, &[filters.map.unwrap()]);
    let both = options.space.with_linear(&filters).unwrap();
    let plans = search.plan(0, vec![filters.clone(), both], &[], &inputs).unwrap();
    assert_eq!(plans.iter().map(|plan| &plan.options).collect::<Vec<_>>(), [&filters]);
}

/// What refinement with so much `work` makes of what the rungs found.
fn refined(table: &Table, options: &TuneOptions, work: f64, end: Option<Instant>) -> Vec<Point> {
    refined_at(table, options, &[options.limits.flash], work, end)
}

/// The same for models of several sizes.
fn refined_at(
    table: &Table,
    options: &TuneOptions,
    targets: &[usize],
    work: f64,
    end: Option<Instant>,
) -> Vec<Point> {
    let problem = Problem::new(table, false);
    let progress = &Progress::none();
    let search = rungs_of(&problem, &options.space, options, 1, None, progress);
    let found = search.run().unwrap();
    let allowance = Allowance { work, reserved: 0.0, clock: Clock::new(end), growth: work };
    let mut refinement = Refinement::new(&search, found.inputs.clone(), allowance).unwrap();
    let points = refinement.run(&found, targets, &[]).unwrap();
    assert_eq!(refinement.cut || *refinement.hurried.get_mut(), end.is_some());
    points
}

#[test]
fn a_front_goes_down_to_small_sizes() {
    let sizes = |flash| small_sizes(&Limits::of_flash(flash));
    assert_eq!(
        (sizes(16_384), sizes(4096), sizes(2048)),
        (vec![1638, 819, 409], vec![409], vec![])
    );
    let limits = Limits { code: Some(Form::Fast), ..Limits::of_flash(10_000) };
    let least = limits.share(0.0);
    let sizes = small_sizes(&limits);
    assert!(!sizes.is_empty() && sizes.iter().all(|&bytes| bytes >= least + 400), "{sizes:?}");
    // They are judged there, too.
    let numbers = |factor| (0..150).map(|row| f64::from(row * factor % 101)).collect::<Vec<_>>();
    let (x, z) = (numbers(37), numbers(59));
    let y: Vec<i64> = x.iter().zip(&z).map(|(x, z)| i64::from(x + z > 100.0)).collect();
    let table = TableBuilder::new(150).column("x", &x[..]).column("z", &z[..]);
    let table = table.classes("y", &y[..]).build().unwrap();
    let mut options = options(false, Duration::from_millis(300));
    options.limits.flash = 4096;
    let found = tune(&table, None, &options, &Progress::none()).unwrap();
    assert!(found.judged.iter().any(|(bytes, _)| *bytes <= 409), "{:?}", found.judged);
}

#[test]
fn what_was_judged_small_grows_to_the_limit() {
    let table = digits::table().select(&(0..400).collect::<Vec<_>>());
    let options = TuneOptions {
        limits: Limits { flash: 2000, ..options(false, Duration::ZERO).limits },
        ..options(false, Duration::from_millis(300))
    };
    let points = refined(&table, &options, 1e9, None);
    let best = points.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
    assert!((1900..=2000).contains(&best.bytes), "{} bytes", best.bytes);
    let judged = points.iter().filter(|point| point.bytes < best.bytes);
    assert!(judged.clone().count() + 1 == points.len(), "all others are smaller");
}

#[test]
fn a_small_model_that_was_judged_best_grows_to_every_size() {
    let table = digits::table().select(&(0..600).collect::<Vec<_>>());
    let options = TuneOptions {
        limits: Limits { flash: 2000, ..options(false, Duration::ZERO).limits },
        ..options(false, Duration::from_millis(300))
    };
    // Large models are judged with few features, small ones with all of theirs.
    let points = refined_at(&table, &options, &[2000, 1500], 1e9, None);
    let front = crate::front::front(&points, 8);
    let best = front.last().unwrap();
    assert!((1900..=2000).contains(&best.bytes), "{} bytes", best.bytes);
}

#[test]
fn refinement_tries_losses_bits_sums_and_pools_within_the_limits() {
    let table = digits::table().select(&(0..200).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_millis(300));
    options.limits = Limits { flash: 400, instructions: Some(400_000), ..options.limits };
    let points = refined(&table, &options, 1e10, None);
    let tried = |what: fn(&TrainOptions) -> bool| points.iter().any(|point| what(&point.options));
    assert!(tried(|options| options.loss() == Loss::Logistic));
    assert!(tried(|options| options.loss() == Loss::Squared));
    assert!(tried(|options| options.families.len() == 2));
    assert!(tried(|options| options.lambda.is_some()));
    assert!(tried(|options| options.candidates.is_some()));
    let bits: std::collections::BTreeSet<_> = points.iter().map(|p| p.options.bits).collect();
    assert!(bits.len() >= 3, "{bits:?}");
    for Point { options, bytes, instructions, value, .. } in &points {
        assert!(*bytes <= 400 && *instructions <= 400_000 && value.is_finite());
        let trained = train(&table, None, options, &Progress::none()).unwrap();
        let apart = trained.blob.len().abs_diff(*bytes);
        let most = if options.candidates.is_some() { 4 } else { 0 };
        assert!(apart <= most, "{} bytes instead of {bytes}: {options:?}", trained.blob.len());
    }
}

#[test]
fn a_pool_that_is_given_is_kept() {
    let table = digits::table().select(&(0..300).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_millis(300));
    options.space.base.candidates = Some(300);
    let points = refined(&table, &options, 2e9, None);
    assert!(points.iter().all(|point| point.options.candidates == Some(300)));
    assert!(points.iter().all(|point| point.options.features[0] < 300));
}

#[test]
fn without_time_one_model_is_judged() {
    let table = digits::table().select(&(0..400).collect::<Vec<_>>());
    let options = options(false, Duration::from_millis(50));
    assert_eq!(refined(&table, &options, 0.0, None).len(), 1);
    assert_eq!(refined(&table, &options, 4e10, Some(Instant::now())).len(), 1);
}

#[test]
fn models_of_kept_features_fit_the_flash() {
    let table = digits::table().select(&(0..500).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_secs(2));
    options.space.families = vec![FamilyName::Conv];
    options.limits.flash = 700;
    let found = tune(&table, Some(&table), &options, &Progress::none()).unwrap();
    for tuned in &found.front {
        assert!(tuned.blob.len() <= 700, "{} bytes", tuned.blob.len());
        assert!(tuned.point.options.conv.shape.is_some(), "an image is guessed");
    }
    assert!(found.front.iter().any(|tuned| tuned.point.options.candidates.is_some()));
}

/// Inputs beside kept features have a weight for each output, too.
#[test]
fn kept_features_beside_the_inputs_fit_the_flash() {
    let options = TrainOptions {
        features: vec![40],
        candidates: Some(160),
        linear: true,
        frequency: Some(vec![1.0]),
        map: Some(crate::MapKind::Shared),
        relevance: Some(false),
        ..TrainOptions::default()
    };
    super::trial::with_refinement(|refinement| {
        let sized = |flash: usize| refinement.sized(&options, 4, flash).unwrap();
        let Point { options, bytes, .. } = sized(1000).unwrap().point;
        let table = refinement.search.problem.table;
        let trained = train(table, None, &options, &Progress::none()).unwrap();
        let length = trained.blob.len();
        // The list is taken for one of features kept at random.
        let near = (bytes - 32..=bytes).contains(&length);
        assert!(bytes <= 1000 && near, "{length} instead of {bytes}");
        assert!(sized(400).is_none(), "64 inputs take 320 bytes of weights");
    });
}

/// Few rows that are series: two kinds of waves, at any place, on any level.
#[test]
fn few_series_are_searched_by_their_family() {
    let wave = |row: usize, i: usize| {
        let (phase, level) = ((row * 7 % 13) as f32, (row * 5 % 9) as f32);
        let (kind, x) = (row % 2, i as f32 * 0.35 + phase);
        level + if kind == 0 { x.sin() } else { x.sin().signum() }
    };
    let values: Vec<f32> = (0..80).flat_map(|row| (0..50).map(move |i| wave(row, i))).collect();
    let kinds: Vec<i64> = (0..80).map(|row| row % 2).collect();
    let table = koan_data::TableBuilder::new(80)
        .matrix(50, &values[..])
        .classes("kind", &kinds[..])
        .build()
        .unwrap();
    let (fit, test): (Vec<usize>, Vec<usize>) = (0..80).partition(|row| row / 2 % 2 == 0);
    let (fit, test) = (table.select(&fit), table.select(&test));
    let space = Space { base: TrainOptions::default(), families: FAMILIES.to_vec() };
    let options = TuneOptions {
        space: space.clone(),
        limits: Limits::of_flash(400),
        ..options(false, Duration::from_secs(2))
    };
    let (trained, point) = train_best(&fit, Some(&test), &options, &Progress::none()).unwrap();
    assert_eq!(point.options.families, [FamilyName::Series]);
    assert!(trained.blob.len() <= 400);
    assert!(trained.report.error < 0.05, "{}", trained.report.error);
    // Convolutions take fewer instructions.
    assert_eq!(space.of(&fit, false).families, [FamilyName::Series]);
    assert_eq!(space.of(&fit, true).families, [FamilyName::Series, FamilyName::Conv]);
}

/// The blob and its code are within the flash, whatever the model needs.
#[test]
fn code_counts_as_flash_where_it_is_to() {
    let table = digits::table().select(&(0..120).collect::<Vec<_>>());
    let searched = |flash: usize, form: Form| {
        let mut options = options(false, Duration::from_secs(3));
        options.space.base.loss = Some(Loss::Squared);
        options.limits = Limits { code: Some(form), ..Limits::of_flash(flash) };
        options.space.families = vec![FamilyName::Fourier, FamilyName::Fern];
        let (trained, _) = train_best(&table, None, &options, &Progress::none())?;
        let model = Model::parse(&trained.blob).unwrap();
        let whole = trained.blob.len() + code_bytes(&model, form);
        assert!(whole <= flash, "{whole} of {flash}");
        // What is left goes to the model.
        assert!(10 * whole >= 9 * flash, "{whole} of {flash}");
        Ok(trained.blob.len())
    };
    let fast = searched(5000, Form::Fast).unwrap();
    assert!(searched(5000, Form::Small).unwrap() > fast);
    let error: Error = searched(2048, Form::Fast).unwrap_err();
    assert!(error.to_string().contains("bytes with the code"), "{error}");
}

/// Without test rows, the search's own held-out rows say that a model is of little use.
#[test]
fn noise_is_doubted_without_test_rows() {
    let x: Vec<f64> = (0..90).map(|row| f64::from(row * 37 % 90)).collect();
    let doubts = |classes: Vec<i64>| {
        let table = TableBuilder::new(90).column("x", &x[..]).classes("y", &classes[..]);
        let (base, quiet) = (TrainOptions::default(), Progress::none());
        let families = [FamilyName::Linear];
        let table = table.build().unwrap();
        let found =
            train_usual(&table, None, &base, &families, Limits::of_flash(100), &quiet).unwrap();
        found.0.report.warnings
    };
    let noise = doubts((0..90).map(|row| i64::from(row * 7919 % 101 % 3 == 0)).collect());
    assert!(noise[0].starts_with("the model is no better than always predicting"), "{noise:?}");
    assert!(noise[0].ends_with(", on held-out rows"), "{noise:?}");
    let far = doubts(x.iter().map(|&x| i64::from((30.0..60.0).contains(&x))).collect());
    assert!(far[0].contains("no better than"), "a line does not tell the middle: {far:?}");
}

/// The same of the best model of a front.
#[test]
fn the_best_of_a_front_is_doubted_without_test_rows() {
    // A few steps are a bad line.
    let x: Vec<f64> = (0..300).map(|row| f64::from(row * 37 % 300)).collect();
    let y: Vec<f64> = x.iter().map(|x| 5.0 - 3.0 * x).collect();
    let table = TableBuilder::new(300).column("x", &x[..]).values("y", &y[..]).build().unwrap();
    let mut options = options(false, Duration::from_secs(1));
    (options.space.families, options.limits.flash) = (vec![FamilyName::Stump], 80);
    let doubts = |test: Option<&koan_data::Table>| {
        let front = tune(&table, test, &options, &Progress::none()).unwrap().front;
        front.last().unwrap().report.warnings.clone()
    };
    let said = doubts(None);
    assert!(said[0].starts_with("the model is no better than a linear one"), "{said:?}");
    assert!(said[0].ends_with(", on held-out rows"), "{said:?}");
    assert!(doubts(Some(&table)).iter().all(|doubt| !doubt.ends_with("held-out rows")));
}

#[test]
fn a_much_smaller_model_that_is_nearly_as_good_is_told() {
    let judged = [(2000, 0.1), (1500, 0.1), (1000, 0.1), (600, 0.104), (500, 0.2)];
    let found = smaller(&judged, (2000, 0.1)).unwrap();
    assert_eq!((found.bytes, found.held_out, found.than), (600, 0.104, 0.1));
    assert_eq!(smaller(&judged[..2], (2000, 0.1)), None);
    // Nothing is wrong, nor with fewer bytes.
    let none = [(2000, 0.0), (300, 0.0), (200, 0.01)];
    assert_eq!(smaller(&none, (2000, 0.0)).unwrap().bytes, 300);
}

#[test]
fn a_much_faster_model_that_is_nearly_as_good_is_told() {
    let judged = [(80_000, 0.1), (30_000, 0.1), (20_000, 0.1), (9000, 0.104), (2000, 0.2)];
    let found = faster(&judged, (80_000, 0.1)).unwrap();
    assert_eq!((found.instructions, found.than_instructions), (9000, 80_000));
    assert_eq!((found.held_out, found.than), (0.104, 0.1));
    assert_eq!(faster(&judged[..2], (80_000, 0.1)), None);
}

/// Other rows choose other ferns, which want another λ.
#[test]
fn ferns_that_were_judged_on_a_part_of_the_rows_choose_lambda_in_the_end() {
    let table = digits::table().select(&(0..400).collect::<Vec<_>>());
    let options = options(false, Duration::from_millis(50));
    let (problem, progress) = (Problem::new(&table, false), Progress::none());
    let search = rungs_of(&problem, &options.space, &options, 1, None, &progress);
    let inputs = search.run().unwrap().inputs;
    let allowance = Allowance { work: 1e9, reserved: 0.0, clock: Clock::new(None), growth: 1e11 };
    let mut refinement = Refinement::new(&search, inputs, allowance).unwrap();
    let of = |family| TrainOptions {
        families: vec![family],
        features: vec![10],
        loss: Some(Loss::Logistic),
        ..TrainOptions::default()
    };
    let ferns = TrainOptions { candidates: Some(64), depth: 2, ..of(FamilyName::Fern) };
    let chosen = |refinement: &Refinement<'_>, options: &TrainOptions| {
        refinement.last_lambda(options, Some(0.01)).unwrap()
    };
    assert!(chosen(&refinement, &ferns).is_some(), "all rows were looked at");
    refinement.folds = refinement.folds.sample(200);
    assert_eq!(chosen(&refinement, &ferns), None);
    assert!(chosen(&refinement, &of(FamilyName::Fourier)).is_some());
    refinement.growth = 0.0;
    assert!(chosen(&refinement, &ferns).is_some(), "no time to choose");
}

/// The notes that tell the texts of a column apart do not fit, whatever the model.
#[test]
fn texts_that_leave_no_room_are_told_of() {
    let names: Vec<String> = (0..19).map(|number| format!("place {number}")).collect();
    let texts: Vec<&str> = (0..360).map(|row| names[row % 19].as_str()).collect();
    let (x, y): (Vec<i64>, Vec<i64>) = (0..360).map(|row| (row * 7 % 23, row % 2)).unzip();
    let table = TableBuilder::new(360).column("x", &x[..]).column("place", &texts[..]);
    let table = table.classes("y", &y[..]).build().unwrap();
    let of = |flash: usize| {
        let base = TrainOptions::default();
        let quiet = Progress::none();
        let families = [FamilyName::Linear];
        train_usual(&table, None, &base, &families, Limits::of_flash(flash), &quiet)
    };
    let Err(error) = of(100) else { panic!("a model in 100 bytes") };
    let said = error.to_string();
    assert!(said.contains("column 2 (`place`) has 19 different texts"), "{said}");
    assert!(of(1000).is_ok());
}

/// A small model has room for names that would be too much for a large one.
#[test]
fn names_of_columns_come_back_where_the_model_is_small() {
    let x: Vec<f64> = (0..90).map(|row| f64::from(row * 37 % 90)).collect();
    let y: Vec<f64> = x.iter().map(|x| 5.0 - 3.0 * x).collect();
    let table = TableBuilder::new(90).column("a name that is longer than most are", &x[..]);
    let table = table.values("y", &y[..]).build().unwrap();
    let named = |flash: usize, column_names: bool| {
        let base = TrainOptions { column_names, ..TrainOptions::default() };
        let quiet = Progress::none();
        let families = [FamilyName::Linear];
        let (found, _) =
            train_usual(&table, None, &base, &families, Limits::of_flash(flash), &quiet).unwrap();
        assert!(found.blob.len() <= flash);
        let notes = koan::Model::parse(&found.blob).unwrap().notes().to_owned();
        (notes.contains("a name"), found.report.nameless)
    };
    assert_eq!(named(300, true), (true, false));
    assert_eq!(named(110, true), (false, true));
    assert_eq!(named(300, false), (false, false), "its user wants none");
    // Those of a front have room for them all together.
    let found = |flash: usize| {
        let limits = Limits::of_flash(flash);
        let options = TuneOptions { limits, ..options(false, Duration::from_millis(300)) };
        let found = tune(&table, None, &options, &Progress::none()).unwrap();
        let named = |tuned: &Tuned| {
            koan::Model::parse(&tuned.blob).unwrap().notes().contains("a name")
                && tuned.blob.len() <= flash
        };
        let named: Vec<bool> = found.front.iter().map(named).collect();
        (named.iter().all(|&named| named), named.contains(&true), found.nameless)
    };
    assert_eq!(found(400), (true, true, false));
    assert_eq!(found(110), (false, false, true));
}
