//! Searches with and without time.

use super::variants::ENOUGH_ROWS;
use super::*;
use crate::digits;

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
    let found = tune(&table, &table, &options, &Progress::none()).unwrap();
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
    let points = |found: &Found| format!("{:?}", found.points);
    assert_eq!(points(&planned), points(&timed));
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
    let found = tune(&table, &table, &options, &Progress::none()).unwrap();
    for tuned in &found.front {
        assert!(tuned.blob.len() <= 500, "{} bytes", tuned.blob.len());
        assert!(tuned.point.options.conv.shape.is_some(), "an image is guessed");
    }
    assert!(found.front.iter().any(|tuned| tuned.point.options.candidates.is_some()));
}
