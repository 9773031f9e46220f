//! Verdicts and jumps.

use super::*;

fn steps(list: &[(usize, f64, f64)]) -> Vec<Step> {
    list.iter()
        .map(|&(count, error, seconds)| Step { count, error, deviation: 0.0, seconds })
        .collect()
}

#[test]
fn jumps_are_told() {
    let curve = steps(&[(50, 0.15, 0.1), (100, 0.155, 0.4), (200, 0.09, 0.9), (400, 0.12, 1.0)]);
    let text = jumps("set", "a", &curve).unwrap();
    assert!(text.contains(": from 9.00 ± 0.00 at 200 to 12.00 ± 0.00 at 400 ("), "{text}");
    assert_eq!(jumps("set", "a", &curve[..3]), None);
}

#[test]
fn a_verdict_compares_times_at_equal_error() {
    let boosted = steps(&[(10, 0.2, 1.0), (20, 0.1, 2.0), (30, 0.12, 3.0)]);
    let quick = steps(&[(50, 0.15, 0.1), (100, 0.1, 0.4), (200, 0.09, 0.9)]);
    let never = steps(&[(50, 0.2, 0.1)]);
    let text = verdict("set", boosted[1], &boosted, &[("a", &quick), ("b", &never)]);
    assert!(text.contains("10.00 % after the 20 rounds that held-out rows choose, 2.000 s"));
    assert!(!text.contains("Chosen by the test rows"), "{text}");
    assert!(text.contains("a reach it with K = 100 in 0.400 s (0.20 of"), "{text}");
    assert!(text.contains("b do not reach it: 20.00 %"), "{text}");
    assert!(text.contains("AdaBoost has after 1.000 s"), "{text}");
    assert!(text.contains("Within a tenth of AdaBoost's time they have 15.00 % (K = 50)"));
    let text = verdict("set", boosted[2], &boosted, &[("b", &steps(&[(50, 0.13, 0.5)]))]);
    assert!(text.contains("Chosen by the test rows it were 10.00 % after 20 rounds"), "{text}");
    assert!(text.contains("tenth of AdaBoost's time is 0.300 s, the quickest of them takes 0.500"));
}
