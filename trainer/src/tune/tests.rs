//! Searches with and without time.

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
