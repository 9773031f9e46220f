//! Searches for ferns alone.

use super::*;

#[test]
fn ferns_alone_are_searched_within_the_limits() {
    let table = digits::table().select(&(0..200).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_millis(300));
    options.space.families = vec![FamilyName::Fern];
    options.space.base.candidates = Some(200);
    options.limits = Limits { flash: 700, instructions: Some(50_000), ..options.limits };
    let points = refined(&table, &options, 5e9, None);
    assert!(points.len() > 2);
    for Point { options, bytes, instructions, .. } in &points {
        assert!(options.families == [FamilyName::Fern] && *instructions <= 50_000);
        let trained = train(&table, None, options, &Progress::none()).unwrap();
        // The list is taken for one of ferns kept at random.
        assert!(trained.blob.len().abs_diff(*bytes) <= 8 && *bytes <= 700, "{options:?}");
    }
}

#[test]
fn ferns_whose_buffers_are_too_large_are_refused() {
    let table = digits::table().select(&(0..200).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_millis(300));
    options.space.families = vec![FamilyName::Fern];
    options.limits = Limits { flash: 700, ram: Some(50), ..options.limits };
    let error = tune(&table, None, &options, &Progress::none()).unwrap_err().to_string();
    assert!(error.contains("ram 50") && error.contains("bytes of buffers"), "{error}");
    options.limits.ram = Some(4000);
    options.space.base.candidates = Some(200);
    let points = refined(&table, &options, 5e9, None);
    assert!(!points.is_empty() && points.iter().all(|point| point.ram <= 4000));
}

#[test]
fn ferns_that_were_judged_small_grow_to_the_limit() {
    let table = digits::table().select(&(0..200).collect::<Vec<_>>());
    let mut options = options(false, Duration::from_millis(300));
    options.space.families = vec![FamilyName::Fern];
    options.space.base.map = Some(crate::MapKind::Shared);
    options.limits.flash = 4000;
    let points = refined(&table, &options, 1e10, None);
    let best = points.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
    // One for two rows is the most.
    assert_eq!(best.options.features[0], 100);
    assert_eq!(best.options.lambda, None, "to be chosen for so many");
    let others = points.iter().map(|point| point.options.features[0]).filter(|&count| count != 100);
    assert_eq!(others.clone().count() + 1, points.len(), "all others are smaller");
    assert!(others.max().unwrap() < 67);
}

/// Ways to make ferns that there is not time for on all rows are compared on some.
#[test]
fn ferns_alone_are_found_in_any_time() {
    let table = digits::table();
    let rows: Vec<usize> = (0..6 * table.rows()).map(|row| row / 6).collect();
    let table = table.select(&rows);
    let mut options = options(false, Duration::from_millis(20));
    options.space.families = vec![FamilyName::Fern];
    options.space.base.candidates = Some(200);
    let points = refined(&table, &options, 1e8, None);
    assert!(!points.is_empty() && points.iter().all(|point| point.loss < 0.9), "{points:?}");
}
