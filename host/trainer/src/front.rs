//! Points that no other beats in bytes, loss and instructions.

use crate::Point;

/// A smaller point must save this share of the bytes, and a larger one this
/// share of the loss, to be worth a line of its own.
const WORTH: f64 = 0.01;
/// Points that are there for their few instructions, at most.
const FAST: usize = 3;
/// Such a point takes this share of the instructions of every better one, at most.
const FASTER: f64 = 0.5;
/// A loss so many times as large as the least one is not worth any speed.
const POOR: f64 = 2.0;

/// The Pareto front of `points` in bytes, loss and instructions, from the largest loss to
/// the least: at most `most` points for their bytes, and a few more that are larger or worse
/// than others and much faster.
#[must_use]
pub fn front(points: &[Point], most: usize) -> Vec<Point> {
    let mut front = small(points, most);
    let least = front.last().map_or(f64::INFINITY, |best| best.value);
    let mut by_value: Vec<&Point> =
        points.iter().filter(|point| point.value <= POOR * least).collect();
    by_value.sort_by(|a, b| a.value.total_cmp(&b.value));
    let mut left = if most > 1 { FAST } else { 0 };
    for point in by_value {
        let better = front.iter().filter(|other| other.value <= point.value);
        let fastest = better.map(|other| other.instructions).min().unwrap_or(u64::MAX);
        if left > 0 && point.instructions as f64 <= FASTER * fastest as f64 {
            front.push(point.clone());
            left -= 1;
        }
    }
    front.sort_by(|a, b| b.value.total_cmp(&a.value));
    // What looks beaten by the figures that are told is no choice; the best by what is compared is.
    if let Some(best) = front.pop() {
        let beaten =
            |point: &Point| front.iter().chain([&best]).any(|other| looks_better(other, point));
        let kept: Vec<Point> = front.iter().filter(|point| !beaten(point)).cloned().collect();
        front = kept;
        front.push(best);
    }
    front
}

/// Whether a point is no worse than another by bytes, instructions and loss, and better by one.
pub fn looks_better(one: &Point, other: &Point) -> bool {
    let figures = |point: &Point| (point.bytes, point.instructions, point.loss);
    let ((bytes, instructions, loss), others) = (figures(one), figures(other));
    let no_worse = bytes <= others.0 && instructions <= others.1 && loss <= others.2;
    no_worse && (bytes, instructions, loss) != others
}

/// The Pareto front of `points`, smallest first, of at most `most`: by bytes
/// and by what points are compared by.
fn small(points: &[Point], most: usize) -> Vec<Point> {
    let mut sorted: Vec<&Point> = points.iter().filter(|point| point.value.is_finite()).collect();
    sorted.sort_by(|a, b| (a.bytes, a.value).partial_cmp(&(b.bytes, b.value)).expect("finite"));
    let mut front: Vec<Point> = Vec::new();
    for point in sorted {
        let least = front.last().map_or(f64::INFINITY, |last| last.value);
        if point.value < least * (1.0 - WORTH) {
            // Hardly larger than the one before and better: it takes its place.
            if front
                .last()
                .is_some_and(|last| (point.bytes as f64) < last.bytes as f64 * (1.0 + 3.0 * WORTH))
            {
                front.pop();
            }
            front.push(point.clone());
        }
    }
    // The best of all stays, however little better it is.
    if let (Some(best), Some(last)) = (
        points.iter().filter(|p| p.value.is_finite()).min_by(|a, b| a.value.total_cmp(&b.value)),
        front.last(),
    ) && best.value < last.value
    {
        if (best.bytes as f64) < last.bytes as f64 * (1.0 + 3.0 * WORTH) {
            front.pop();
        }
        front.push(best.clone());
    }
    // Too many: the one goes that is missed least, for the bytes up to the next one and for what it
    // is better than the one before, both as ratios.
    while front.len() > most.max(2) {
        let missed = |i: usize| {
            let [before, point, next] = &front[i - 1..=i + 1] else { unreachable!("three") };
            (next.bytes as f64 / point.bytes as f64).ln() * (1.0 - point.value / before.value)
        };
        let places = 1..front.len() - 1;
        let Some(least) = places.min_by(|&a, &b| missed(a).total_cmp(&missed(b))) else { break };
        front.remove(least);
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrainOptions;

    fn point(bytes: usize, value: f64) -> Point {
        timed(bytes, value, 1000)
    }

    fn timed(bytes: usize, value: f64, instructions: u64) -> Point {
        Point { options: TrainOptions::default(), bytes, ram: 0, instructions, loss: value, value }
    }

    #[test]
    fn nothing_on_the_front_is_beaten_and_the_best_is_on_it() {
        let mut random = koan_random(1);
        for _ in 0..100 {
            let points: Vec<Point> = (0..40)
                .map(|_| point(50 + random() as usize % 1000, (random() % 1000) as f64 / 1000.0))
                .collect();
            let front = front(&points, 6);
            assert!((1..=6).contains(&front.len()));
            for pair in front.windows(2) {
                assert!(pair[0].bytes < pair[1].bytes && pair[0].value > pair[1].value);
            }
            let least = points.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
            assert_eq!(front.last().unwrap().value, least);
        }
    }

    #[test]
    fn a_fast_model_stays_beside_a_better_one() {
        let best = timed(900, 0.10, 40_000);
        let points = [
            timed(500, 0.15, 30_000),
            best.clone(),
            // Larger than the best and worse, but much faster.
            timed(1000, 0.11, 9_000),
            // Not much faster than that one.
            timed(1000, 0.12, 8_000),
            timed(700, 0.16, 900),
            // Too bad for any speed.
            timed(700, 0.30, 10),
        ];
        let front = front(&points, 8);
        let found: Vec<(usize, u64)> = front.iter().map(|p| (p.bytes, p.instructions)).collect();
        assert_eq!(found, [(700, 900), (500, 30_000), (1000, 9_000), (900, 40_000)]);
        assert_eq!(super::front(&points, 1).len(), small(&points, 1).len());
    }

    #[test]
    fn of_too_many_those_stay_that_would_be_missed() {
        let points = [(100, 0.14), (250, 0.135), (480, 0.067), (600, 0.066), (2000, 0.05)];
        let points = points.map(|(bytes, value)| point(bytes, value));
        for (most, kept) in [(4, &[100, 250, 480, 2000][..]), (3, &[100, 480, 2000])] {
            let front: Vec<usize> = front(&points, most).iter().map(|point| point.bytes).collect();
            assert_eq!(front, kept);
        }
    }

    #[test]
    fn what_looks_beaten_is_left_out_but_for_the_best() {
        let told = |bytes, value, loss| Point { loss, ..point(bytes, value) };
        // Compared by a smoothed loss, told by a counted one.
        let points = [
            told(100, 0.30, 0.20),
            told(200, 0.25, 0.22),
            told(300, 0.20, 0.10),
            told(400, 0.15, 0.12),
        ];
        let found: Vec<usize> = front(&points, 8).iter().map(|point| point.bytes).collect();
        assert_eq!(found, [100, 300, 400]);
    }

    fn koan_random(seed: u64) -> impl FnMut() -> u64 {
        let stream = koan::generator::Stream::new(seed, 0);
        let mut i = 0;
        move || {
            i += 1;
            stream.draw(i) >> 16
        }
    }
}
