//! How candidates are compared.

use super::metric::Metric;
use crate::{Point, TrainOptions};
use koan_data::Task;

/// A candidate with its points at the last rung that it was in.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub options: TrainOptions,
    pub points: Vec<Point>,
    /// Mean squared error of each point.
    pub squares: Vec<f64>,
}

/// The share of the squared error in what points are compared by. Where two models differ
/// on 1,200 of 30,000 rows, chance alone makes their shares misclassified differ by about
/// √1200/30000, 0.1 points; that is why the metric `error` has the smaller part.
pub(super) fn weight(task: Task, metric: Metric) -> f64 {
    match (task, metric) {
        (Task::Regression, _) => 0.0,
        (_, Metric::Error) => 0.75,
        _ => 0.25,
    }
}

/// What a prediction of twice the instructions must save of the loss: where models are as
/// good as each other, the fast one is taken (dense projections take many times the
/// instructions of Hadamard ones).
const DOUBLING: f64 = 0.0005;

/// The factor by which `instructions` make the value of a point larger.
pub(super) fn slowness(instructions: u64) -> f64 {
    1.0 + DOUBLING * (instructions.max(1) as f64).log2()
}

/// Sets what points are compared by: the metric's loss, `weight` of it replaced
/// by the squared error in the same units, and a little more for slow ones. The share
/// misclassified of a few thousand rows is a coarse measure; the squared error tells more
/// of the same.
pub(super) fn value(entries: &mut [Entry], weight: f64) {
    let mut points: Vec<(&mut Point, f64)> = entries
        .iter_mut()
        .flat_map(|entry| entry.points.iter_mut().zip(entry.squares.iter().copied()))
        .collect();
    let mut losses: Vec<(f64, f64)> =
        points.iter().map(|(point, square)| (point.loss, *square)).collect();
    losses.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The units of the better half: that is where it matters.
    losses.truncate(losses.len().div_ceil(2));
    let (loss, square) = losses.iter().fold((0.0, 0.0), |sum, l| (sum.0 + l.0, sum.1 + l.1));
    let unit = if square > 0.0 { loss / square } else { 1.0 };
    for (point, square) in &mut points {
        let value = (1.0 - weight) * point.loss + weight * unit * *square;
        point.value = value * slowness(point.instructions);
    }
}

/// Entries in the order in which they stay: in turns the best of what fits each
/// of `targets` bytes, the largest target twice as often.
pub(super) fn ranked(entries: &[Entry], targets: &[usize]) -> Vec<usize> {
    let orders: Vec<Vec<usize>> = targets
        .iter()
        .map(|&target| {
            let best = |entry: &Entry| {
                let fitting = entry.points.iter().filter(|point| point.bytes <= target);
                fitting.map(|point| point.value).fold(f64::INFINITY, f64::min)
            };
            let mut order: Vec<usize> =
                (0..entries.len()).filter(|&i| best(&entries[i]).is_finite()).collect();
            order.sort_by(|&a, &b| best(&entries[a]).total_cmp(&best(&entries[b])));
            order
        })
        .collect();
    let mut ranked: Vec<usize> = Vec::new();
    let mut turns: Vec<_> = orders.iter().map(|order| order.iter()).collect();
    while ranked.len() < entries.len() {
        let before = ranked.len();
        for turn in std::iter::once(0).chain(0..turns.len()) {
            let Some(turn) = turns.get_mut(turn) else { break };
            // The next one that is not there yet.
            if let Some(&index) = turn.find(|index| !ranked.contains(index)) {
                ranked.push(index);
            }
        }
        if ranked.len() == before {
            break;
        }
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_models_as_good_as_each_other_the_fast_one_is_better() {
        let point = |loss: f64, instructions: u64| Point {
            options: TrainOptions::default(),
            bytes: 1000,
            ram: 0,
            instructions,
            loss,
            value: 0.0,
        };
        let better = |a: Point, b: Point| {
            let entry = |point: Point| Entry {
                options: TrainOptions::default(),
                squares: vec![point.loss],
                points: vec![point],
            };
            let mut entries = [entry(a), entry(b)];
            value(&mut entries, 0.5);
            entries[0].points[0].value < entries[1].points[0].value
        };
        assert!(better(point(0.15, 100_000), point(0.15, 200_000)));
        assert!(better(point(0.15, 100_000), point(0.1497, 6_400_000)));
        assert!(better(point(0.149, 6_400_000), point(0.15, 100_000)));
    }
}
