//! Searches with and without time.

use super::variants::ENOUGH_ROWS;
use super::*;
use koan_data::digits;

fn options(clock: bool, time: Duration) -> TuneOptions {
    TuneOptions {
        space: Space {
            base: TrainOptions { relevance: Some(false), ..TrainOptions::default() },
            families: vec![FamilyName::Fourier, FamilyName::Stump],
            short: false,
        },
        limits: Limits { flash: 600, ram: None, instructions: None, core: Core::CortexM0 },
        metric: Metric::Error,
        time,
        clock,
    }
}

#[test]
fn without_time_there_is_one_model_of_the_largest_size() {
    let table = digits::table();
    let options = options(true, Duration::from_nanos(1));
    let found = tune(&table, Some(&table), &options, &Progress::none()).unwrap();
    assert!(found.cut && found.rungs.is_empty());
    let [best] = found.front.as_slice() else { panic!("{} models", found.front.len()) };
    assert!((500..=600).contains(&best.blob.len()), "{} bytes", best.blob.len());
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
        let seconds = 0.2;
        Search { problem: &problem, space, limits, metric, seconds, deadline, progress }
            .run()
            .unwrap()
    };
    let (planned, timed) =
        (found(None), found(Instant::now().checked_add(Duration::from_secs(100_000))));
    assert!(!planned.cut && !timed.cut);
    let points = |found: &Searched| format!("{:?}", found.points);
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
        let search = rungs_of(&problem, &options.space, &options, None, progress);
        let folds = folds::Folds::new(&table, 1).unwrap();
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
fn what_rungs_keep_small_is_judged_at_its_largest() {
    let table = digits::table().select(&(0..400).collect::<Vec<_>>());
    let options = options(false, Duration::from_millis(300));
    let problem = Problem::new(&table, false);
    let progress = &Progress::none();
    let found = rungs_of(&problem, &options.space, &options, None, progress).run().unwrap();
    let most = found.points.iter().map(|point| point.options.features[0]).max().unwrap();
    let columns = found.rungs.last().unwrap().columns;
    assert!(!found.cut && usize::from(most) > columns, "{most} features, {columns} columns");
    assert!(found.points.iter().all(|point| point.bytes <= 600 && point.value > 0.0));
    // With other bits as well: those that are best at as many features need not be the
    // best at as many bytes.
    let large = |point: &&Point| point.bytes > 570;
    let best = found.points.iter().filter(large).min_by(|a, b| a.value.total_cmp(&b.value));
    let best = best.unwrap();
    let same = |point: &&Point| {
        let TrainOptions { features, bits, lambda, .. } = point.options.clone();
        point.options == TrainOptions { features, bits, lambda, ..best.options.clone() }
    };
    let large = found.points.iter().filter(large).filter(same);
    let bits: std::collections::BTreeSet<_> = large.map(|point| point.options.bits).collect();
    assert!(bits.len() >= 3, "{bits:?}");
}

#[test]
fn variants_keep_features_from_a_larger_pool_within_the_limits() {
    let table = digits::table().select(&(0..500).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_secs(20));
    options.limits = Limits { flash: 400, instructions: Some(400_000), ..options.limits };
    let problem = Problem::new(&table, false);
    let (space, progress) = (&options.space, &Progress::none());
    let (limits, metric) = (options.limits, options.metric);
    let search =
        Search { problem: &problem, space, limits, metric, seconds: 0.2, deadline: None, progress };
    let points = search.run().unwrap().points;
    let variants = |limits: Limits, seconds: f64, deadline: Option<Instant>| {
        let search =
            Search { problem: &problem, space, limits, metric, seconds: 0.2, deadline, progress };
        let mut variants = Variants::new(&search, seconds, 1e10).unwrap();
        (variants.of(&points).unwrap(), variants.cut)
    };
    let (found, cut) = variants(limits, 20.0, None);
    assert!(!cut);
    let kept: Vec<_> = found.iter().filter(|p| p.options.candidates.is_some()).collect();
    assert!(!kept.is_empty() && found.iter().any(|p| p.options.loss == Loss::Logistic));
    for point in &kept {
        let candidates = point.options.candidates.unwrap();
        assert!(point.options.features[0] * 2 <= candidates, "{:?}", point.options);
        assert!(point.bytes <= 400 && point.instructions <= 400_000 && point.value.is_finite());
        let blob = crate::train::train_blob(&table, &point.options, &Progress::none()).unwrap();
        let apart = blob.len().abs_diff(point.bytes);
        assert!(apart <= 4, "{} bytes instead of {}", blob.len(), point.bytes);
    }
    // Neither without time, nor where a pool takes too many instructions.
    assert!(variants(limits, 0.0, None).0.is_empty());
    let over = variants(limits, 20.0, Some(Instant::now()));
    assert!(over.0.is_empty() && over.1);
    let mut late = Variants::new(&search, 20.0, 1e10).unwrap();
    late.end = Some(Instant::now());
    assert!(late.of(&points).unwrap().is_empty() && late.cut);
    let few = Limits { instructions: Some(1000), ..limits };
    assert!(variants(few, 20.0, None).0.iter().all(|p| p.options.candidates.is_none()));
}

#[test]
fn one_part_is_enough_where_there_is_not_time_for_all() {
    let table = digits::table();
    let many: Vec<usize> = (0..4 * ENOUGH_ROWS).map(|row| row % table.rows()).collect();
    let many = table.select(&many);
    let options = options(false, Duration::from_secs(1));
    let (space, progress) = (&options.space, &Progress::none());
    let (limits, metric) = (options.limits, options.metric);
    // A second, of which a variant may have three tenths.
    let parts = |table: &Table, work: f64, origin: f64| {
        let problem = Problem::new(table, false);
        let search = Search {
            problem: &problem,
            space,
            limits,
            metric,
            seconds: 1.0,
            deadline: None,
            progress,
        };
        Variants::new(&search, 1.0, 1e10).unwrap().parts(work, origin)
    };
    assert_eq!(parts(&many, 0.9e9, 9e9).unwrap(), [0, 1, 2]);
    assert_eq!(parts(&many, 1.4e9, 1.4e9).unwrap().len(), 1);
    assert_eq!(parts(&many, 2.4e9, 0.4e9).unwrap().len(), 1);
    assert!(parts(&many, 1.6e9, 1.6e9).is_none());
    assert!(parts(&table, 1.4e9, 1.4e9).is_none());
}

#[test]
fn models_of_kept_features_fit_the_flash() {
    let table = digits::table().select(&(0..500).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_secs(5));
    options.space.families = vec![FamilyName::Conv];
    options.limits.flash = 500;
    let found = tune(&table, Some(&table), &options, &Progress::none()).unwrap();
    for tuned in &found.front {
        assert!(tuned.blob.len() <= 500, "{} bytes", tuned.blob.len());
        assert!(tuned.point.options.conv.shape.is_some(), "an image is guessed");
    }
    assert!(found.front.iter().any(|tuned| tuned.point.options.candidates.is_some()));
}
