//! What the weights of ferns make small, row by row.

use crate::parallel;
use crate::problem::Problem;
use crate::solve::{Loss, loss::softplus};
use koan_data::Task;

/// The least second derivative that a row counts with.
const LEAST: f32 = 1e-6;
/// Rows whose slopes are computed at a time.
const BLOCK: usize = 512;

/// Which curvature the logistic loss counts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    /// The second derivative.
    Here,
    /// That of the parabola with the same slope that lies above the loss everywhere: steps by
    /// it never raise the loss, however many are taken.
    Bound,
}

impl Curve {
    /// Of a probability and its log-odds.
    fn of(self, p: f32, odds: f32) -> f32 {
        match self {
            Self::Here => (p * (1.0 - p)).max(LEAST),
            Self::Bound if odds.abs() < 1e-2 => 0.25,
            Self::Bound => (p - 0.5) / odds,
        }
    }
}

/// Targets and weights of some rows, and a loss.
pub(super) struct Objective {
    /// Whether scores are those of classes that exclude each other, of two classes, or
    /// numbers.
    logistic: bool,
    /// T.
    pub outputs: usize,
    /// Rows × T: values, or for the logistic loss 1 for the class and 0 for others.
    targets: Vec<f32>,
    /// Of the rows; empty where all are 1.
    weights: Vec<f32>,
    /// Rows.
    pub rows: usize,
}

impl Objective {
    /// That of `rows`. The loss is squared unless it is logistic.
    pub fn new(problem: &Problem<'_>, rows: &[usize], loss: Loss) -> Self {
        let logistic = loss != Loss::Squared && problem.task() == Task::Classification;
        let outputs = problem.outputs;
        let target = |row: usize, output: usize| {
            let target = problem.target(row, output) as f32;
            if logistic { f32::from(u8::from(target > 0.0)) } else { target }
        };
        let of_row = |&row: &usize| (0..outputs).map(move |output| target(row, output));
        let weight = |&row: &usize| problem.weight(row) as f32;
        Self {
            logistic,
            outputs,
            targets: rows.iter().flat_map(of_row).collect(),
            weights: match problem.weights {
                Some(_) => rows.iter().map(weight).collect(),
                None => Vec::new(),
            },
            rows: rows.len(),
        }
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> f32 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// The sum of the rows' weights.
    pub fn weight_of_all(&self) -> f64 {
        (0..self.rows).map(|row| f64::from(self.weight(row))).sum()
    }

    /// The second derivative that a row of weight 1 has before anything is known: what
    /// penalties count in.
    pub fn unit(&self) -> f32 {
        if self.logistic { 0.25 } else { 1.0 }
    }

    /// For the score of each output and row, T × rows, how steeply the loss falls with it, and
    /// how fast that ends.
    pub fn slopes(&self, scores: &[f32], curve: Curve) -> Vec<[f32; 2]> {
        let rows = self.rows;
        let mut slopes = vec![[0.0; 2]; scores.len()];
        if !self.logistic || self.outputs == 1 {
            let target = |place: usize| self.targets[place % rows * self.outputs + place / rows];
            for (place, (slope, &score)) in slopes.iter_mut().zip(scores).enumerate() {
                let (target, weight) = (target(place), self.weight(place % rows));
                *slope = if self.logistic {
                    let p = 1.0 / (1.0 + (-score).exp());
                    [weight * (target - p), weight * curve.of(p, score)]
                } else {
                    [weight * (target - score), weight]
                };
            }
            return slopes;
        }
        // Blocks of rows, each of T × its rows.
        let blocks = parallel::map(rows.div_ceil(BLOCK), |block| {
            self.slopes_of_classes(scores, curve, block)
        });
        for (block, its) in blocks.iter().enumerate() {
            let each = its.len() / self.outputs;
            for (t, its) in its.chunks_exact(each).enumerate() {
                slopes[t * rows + block * BLOCK..][..each].copy_from_slice(its);
            }
        }
        slopes
    }

    /// Those of classes that exclude each other, of a block of rows.
    fn slopes_of_classes(&self, scores: &[f32], curve: Curve, block: usize) -> Vec<[f32; 2]> {
        let rows = self.rows;
        let first = block * BLOCK;
        let each = BLOCK.min(rows - first);
        let mut slopes = vec![[0.0; 2]; each * self.outputs];
        let mut powers = vec![0.0f32; self.outputs];
        for row in first..first + each {
            let score = |t: usize| scores[t * rows + row];
            let most = (0..self.outputs).map(score).fold(f32::NEG_INFINITY, f32::max);
            powers.iter_mut().enumerate().for_each(|(t, power)| *power = (score(t) - most).exp());
            let total: f32 = powers.iter().sum();
            let weight = self.weight(row);
            for (t, power) in powers.iter().enumerate() {
                let p = power / total;
                // The score beside that of all other classes together. All move at once: twice
                // the curvature of one.
                let apart = (p.max(1e-12) / (1.0 - p).max(1e-12)).ln();
                let slope = weight * (self.targets[row * self.outputs + t] - p);
                slopes[t * each + row - first] = [slope, weight * 2.0 * curve.of(p, apart)];
            }
        }
        slopes
    }

    /// The loss of all rows with these scores, T × rows.
    pub fn loss(&self, scores: &[f32]) -> f64 {
        let of_row = |row: usize| {
            let targets = &self.targets[row * self.outputs..][..self.outputs];
            let score = |t: usize| f64::from(scores[t * self.rows + row]);
            let pairs = || targets.iter().enumerate().map(|(t, &y)| (f64::from(y), score(t)));
            let loss = if !self.logistic {
                pairs().map(|(y, s)| (y - s).powi(2)).sum::<f64>()
            } else if self.outputs == 1 {
                pairs().map(|(y, s)| softplus(s) - y * s).sum()
            } else {
                let most = pairs().map(|(_, s)| s).fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = pairs().map(|(_, s)| (s - most).exp()).sum();
                total.ln() + most - pairs().map(|(y, s)| y * s).sum::<f64>()
            };
            f64::from(self.weight(row)) * loss
        };
        (0..self.rows).map(of_row).sum()
    }

    /// Biases before there are ferns: means, or log-odds.
    pub fn first_bias(&self) -> Vec<f32> {
        let all = self.weight_of_all().max(f64::MIN_POSITIVE);
        (0..self.outputs)
            .map(|t| {
                let target = |row: usize| self.targets[row * self.outputs + t] * self.weight(row);
                let mean = (0..self.rows).map(|row| f64::from(target(row))).sum::<f64>() / all;
                let bounded = mean.clamp(1e-4, 1.0 - 1e-4);
                match (self.logistic, self.outputs) {
                    (false, _) => mean as f32,
                    (true, 1) => (bounded / (1.0 - bounded)).ln() as f32,
                    (true, _) => bounded.ln() as f32,
                }
            })
            .collect()
    }
}
