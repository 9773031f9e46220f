//! Points that no other beats in both bytes and loss.

use super::rank::Point;

/// A smaller point must save this share of the bytes, and a larger one this
/// share of the loss, to be worth a line of its own.
const WORTH: f64 = 0.01;

/// The Pareto front of `points`, smallest first, of at most `most`: by bytes
/// and by what points are compared by.
#[must_use]
pub fn front(points: &[Point], most: usize) -> Vec<Point> {
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
    // Too many: the one goes whose neighbours are nearest in bytes.
    while front.len() > most.max(2) {
        let gap = |i: usize| front[i + 1].bytes as f64 / front[i - 1].bytes as f64;
        let Some(least) = (1..front.len() - 1).min_by(|&a, &b| gap(a).total_cmp(&gap(b))) else {
            break;
        };
        front.remove(least);
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrainOptions;

    fn point(bytes: usize, value: f64) -> Point {
        Point {
            options: TrainOptions::default(),
            bytes,
            ram: 0,
            instructions: 0,
            loss: value,
            value,
        }
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

    fn koan_random(seed: u64) -> impl FnMut() -> u64 {
        let stream = koan::generator::Stream::new(seed, 0);
        let mut i = 0;
        move || {
            i += 1;
            stream.draw(i) >> 16
        }
    }
}
