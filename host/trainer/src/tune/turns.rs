//! In which order the models of a front are trained, and which of them there is time for.

use std::collections::VecDeque;

use web_time::{Duration, Instant};

use crate::Point;

/// Share of the time left after the search in which small models are trained before the best one:
/// they take little, and the best one may take longer than expected.
const SMALL_FIRST: f64 = 0.25;
/// Bytes of such a model, at most, as a share of those of the best one.
const SMALL: f64 = 0.5;
/// Share of the time asked for at which the last model is to be there.
const LATEST: f64 = 1.05;

/// The models that are still to be trained.
pub(super) struct Turns {
    start: Instant,
    /// When the clock ends the turns of small models, and all turns.
    ends: Option<(Duration, Duration)>,
    /// The best model, and the others from the smallest on, with their places on the front.
    best: Option<(usize, Point)>,
    others: VecDeque<(usize, Point)>,
    /// When the last turn began.
    begun: Duration,
    /// Bytes of the best model, if the last turn was its own.
    was_best: Option<usize>,
    /// Seconds that the best model took for each of its bytes.
    of_a_byte: f64,
    /// Whether there was no time for all of them.
    pub cut: bool,
}

impl Turns {
    /// Of `points`, the last of which is the best; the clock, if there is one, gives `time` from
    /// `start` on.
    pub fn new(points: Vec<Point>, start: Instant, time: Option<Duration>) -> Self {
        let mut points: Vec<(usize, Point)> = points.into_iter().enumerate().collect();
        let best = points.pop();
        points.sort_by_key(|(_, point)| point.bytes);
        let begun = start.elapsed();
        let small = |time: Duration| begun + time.saturating_sub(begun).mul_f64(SMALL_FIRST);
        let ends = time.map(|time| (small(time), time.mul_f64(LATEST)));
        let others = points.into();
        Self { start, ends, best, others, begun, was_best: None, of_a_byte: 0.0, cut: false }
    }

    /// The next model and its place on the front.
    pub fn next(&mut self) -> Option<(usize, Point)> {
        self.next_at(self.start.elapsed())
    }

    fn next_at(&mut self, now: Duration) -> Option<(usize, Point)> {
        let took = now.saturating_sub(self.begun);
        self.begun = now;
        if let Some(bytes) = self.was_best.take() {
            self.of_a_byte = took.as_secs_f64() / bytes.max(1) as f64;
        }
        let bytes = self.others.front().map(|(_, point)| point.bytes as f64);
        if let Some((_, best)) = &self.best {
            let is_small = bytes.is_some_and(|bytes| bytes <= SMALL * best.bytes as f64);
            let in_time = self.ends.is_some_and(|(small, _)| now + took < small);
            if !(is_small && in_time) {
                self.was_best = Some(best.bytes);
                return self.best.take();
            }
        } else {
            // About: time grows with the bytes or faster, so of a smaller model no more.
            let takes = bytes? * self.of_a_byte;
            if self.ends.is_some_and(|(_, all)| now.as_secs_f64() + takes > all.as_secs_f64()) {
                self.cut = true;
                return None;
            }
        }
        self.others.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrainOptions;

    /// The places in turn where a model of so many bytes takes so many seconds for each.
    fn turns(sizes: &[usize], seconds: f64, clock: bool) -> (Vec<usize>, bool) {
        let point = |&bytes: &usize| Point {
            options: TrainOptions::default(),
            bytes,
            ram: 0,
            instructions: 0,
            loss: 0.0,
            value: 0.0,
        };
        let points = sizes.iter().map(point).collect();
        let time = clock.then_some(Duration::from_secs(10));
        let mut turns = Turns::new(points, Instant::now(), time);
        let mut now = turns.begun;
        let mut places = Vec::new();
        while let Some((place, point)) = turns.next_at(now) {
            places.push(place);
            now += Duration::from_secs_f64(seconds * point.bytes as f64);
        }
        (places, turns.cut)
    }

    #[test]
    fn small_models_are_there_even_if_the_best_takes_too_long() {
        let sizes = [500, 100, 3000, 4000];
        // In a quarter of ten seconds, one of half a second and one of a tenth.
        assert_eq!(turns(&sizes, 1e-3, true), (vec![1, 0, 3, 2], false));
        assert_eq!(turns(&sizes, 4e-3, true), (vec![1, 0, 3], true));
        assert_eq!(turns(&sizes, 2e-2, true), (vec![1, 3], true));
        // Without a clock nothing hurries.
        assert_eq!(turns(&sizes, 2e-2, false), (vec![3, 1, 0, 2], false));
        assert_eq!(turns(&[7], 1.0, true), (vec![0], false));
        assert_eq!(turns(&[], 1.0, true), (vec![], false));
    }
}
