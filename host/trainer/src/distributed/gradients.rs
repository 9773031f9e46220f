//! The gradient of the logistic loss over rows, in parts.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::rows::{MAX_ROWS, TrainRows, too_many};
use super::step::Step;
use super::{Batch, from_bytes, to_bytes};
use crate::Error;
use crate::features::{BLOCK_ROWS, FeatureBlock};
use crate::parallel;
use crate::solve::curvature;

/// First bytes of gradients; the last one is the version of their form.
const MAGIC: &[u8; 8] = b"KOANGRD\x01";
/// Bits of 1 in a residual, and in a curvature.
const RESIDUAL_BITS: i32 = 27;
/// Bits of 1 in a loss.
const LOSS_BITS: i32 = 32;
/// A row's loss, at most, as an integer: the sum of 2^32 rows of weights of 22 bits fits.
const MOST_LOSS: f64 = (1u64 << 62) as f64;
/// Bits of a weighted residual that are multiplied at once: products of 1,024 rows with features
/// of 15 bits are below 2^53, so f64 adds them up exactly.
const DIGIT_BITS: u32 = 25;
/// Rows that one thread goes through at a time.
const TOGETHER: usize = 256;
/// Numbers before all others: rows, rows for the test, the sum of the rows' hashes, the loss.
const FIRST: usize = 4;

/// Sums over training rows of the logistic loss at a [`Step`], and of its derivatives: integers,
/// so that they are the same in any order. Those of parts are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gradients {
    stored: Stored,
    outputs: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stored {
    plan: u128,
    step: u128,
    /// The [`FIRST`]; weights by class; curvatures and residuals by output; and features times
    /// residuals, output after output.
    numbers: Vec<i128>,
}

impl Gradients {
    /// No rows yet.
    #[must_use]
    pub fn new(plan: &Plan, step: &Step) -> Self {
        let outputs = plan.stored.outputs as usize;
        let classes = plan.filled().classes.len();
        let numbers = vec![0; FIRST + classes + outputs * (2 + plan.features())];
        Self { stored: Stored { plan: plan.id(), step: step.id(), numbers }, outputs }
    }

    /// Rows to train on so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.stored.numbers[0] as u64
    }

    /// The sum of the rows' hashes: tells whether two passes saw the same rows.
    pub(super) fn hashes(&self) -> i128 {
        self.stored.numbers[2]
    }

    /// Adds rows, those to train on. All or, if one is wrong, none of them.
    ///
    /// # Errors
    /// A step or rows that are not of the plan; weights beyond its scale; too many rows.
    pub fn add(&mut self, plan: &Plan, step: &Step, batch: Batch<'_>) -> Result<(), Error> {
        self.check(plan, step)?;
        let rows = TrainRows::of(plan, batch, self.rows())?;
        let mut block = FeatureBlock::default();
        let all: Vec<usize> = (0..rows.table.rows()).collect();
        let mut sums = vec![0; self.stored.numbers.len()];
        for part in all.chunks(BLOCK_ROWS) {
            plan.map.block(&rows.table, part, &mut block)?;
            let range = part[0]..part[0] + part.len();
            let known = Block {
                features: block.values(),
                weights: &rows.integers.weights[range.clone()],
                labels: &rows.integers.targets[range],
                classes: plan.filled().classes.len(),
                weighted: plan.has_weights(),
            };
            known.add_to(&mut sums, step);
        }
        sums[0] = rows.table.rows() as i128;
        sums[1] = rows.tests;
        // Half of the hash is enough, and its sums fit.
        sums[2] = rows.hashes.iter().map(|&hash| i128::from(hash as u64)).sum();
        self.stored.numbers.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        Ok(())
    }

    /// Adds those of other rows.
    ///
    /// # Errors
    /// Gradients of another plan or step, or too many rows together.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let key = |stored: &Stored| (stored.plan, stored.step, stored.numbers.len());
        if key(&self.stored) != key(&other.stored) {
            return Err(Error::Impossible("the gradients are of another plan or step".into()));
        }
        if self.rows() + other.rows() > MAX_ROWS {
            return Err(too_many());
        }
        let pairs = self.stored.numbers.iter().zip(&other.stored.numbers);
        let sums: Option<Vec<i128>> = pairs.map(|(mine, more)| mine.checked_add(*more)).collect();
        self.stored.numbers = sums.ok_or_else(too_many)?;
        Ok(())
    }

    /// Refuses gradients of another step.
    pub(super) fn check(&self, plan: &Plan, step: &Step) -> Result<(), Error> {
        if (self.stored.plan, self.stored.step) == (plan.id(), step.id()) {
            return Ok(());
        }
        Err(Error::Impossible("the gradients are of another plan or step".into()))
    }

    /// The gradients as bytes: the same for the same rows.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        to_bytes(MAGIC, &self.stored)
    }

    /// Gradients from their bytes.
    ///
    /// # Errors
    /// Bytes of something else, of another plan or step, or damaged.
    pub fn from_bytes(plan: &Plan, step: &Step, bytes: &[u8]) -> Result<Self, Error> {
        let stored: Stored = from_bytes(MAGIC, bytes, "gradients")?;
        let nothing = Self::new(plan, step);
        let read = Self { stored, ..nothing.clone() };
        read.check(plan, step)?;
        let rows = read.stored.numbers.first().copied().unwrap_or_default();
        let whole = read.stored.numbers.len() == nothing.stored.numbers.len();
        if !whole || !(0..=i128::from(MAX_ROWS)).contains(&rows) {
            return Err(Error::Impossible("the bytes of gradients do not fit together".into()));
        }
        Ok(read)
    }

    /// Σ of the rows' weights.
    pub(super) fn total(&self, plan: &Plan) -> f64 {
        let classes = plan.filled().classes.len();
        let all: i128 = self.stored.numbers[FIRST..FIRST + classes].iter().sum();
        all as f64 * plan.stored.weight_unit()
    }

    /// Σ of the rows' losses.
    pub(super) fn loss(&self, plan: &Plan) -> f64 {
        self.stored.numbers[3] as f64 * 2f64.powi(-LOSS_BITS) * plan.stored.weight_unit()
    }

    /// Mean curvature of the loss by the score of each output: see [`curvature`].
    pub(super) fn curvatures(&self, plan: &Plan) -> Vec<f64> {
        let unit = 2f64.powi(-RESIDUAL_BITS) * plan.stored.weight_unit() / self.total(plan);
        let start = FIRST + plan.filled().classes.len();
        let sums = &self.stored.numbers[start..start + self.outputs];
        sums.iter().map(|&sum| sum as f64 * unit).collect()
    }

    /// The loss's derivatives by weights (K × T, of features in their units) and biases.
    pub(super) fn derivatives(&self, plan: &Plan) -> (Mat<f64>, Vec<f64>) {
        let (units, outputs) = (plan.map.units(), self.outputs);
        let unit = 2f64.powi(-RESIDUAL_BITS) * plan.stored.weight_unit();
        let numbers = &self.stored.numbers[FIRST + plan.filled().classes.len() + outputs..];
        let (bias, weights) = numbers.split_at(outputs);
        let weight = |k: usize, t: usize| weights[t * units.len() + k] as f64 * unit * units[k];
        let bias = bias.iter().map(|&sum| sum as f64 * unit).collect();
        (Mat::from_fn(units.len(), outputs, weight), bias)
    }
}

/// At most 1,024 rows.
struct Block<'b> {
    features: &'b [i16],
    weights: &'b [i64],
    labels: &'b [i64],
    classes: usize,
    weighted: bool,
}

/// Of some rows of a block.
struct Part {
    loss: i128,
    /// By output.
    curvatures: Vec<i128>,
    residuals: Vec<i128>,
    /// Features times residuals, K × T, for each digit of these.
    gathered: Mat<f64>,
}

impl Block<'_> {
    /// Adds the block's loss, weights and derivatives.
    fn add_to(&self, sums: &mut [i128], step: &Step) {
        let outputs = step.bias().len();
        let features = self.features.len() / self.weights.len();
        let parts: Vec<&[i16]> = self.features.chunks(TOGETHER * features).collect();
        let parts = parallel::map(parts.len(), |number| {
            self.part(number * TOGETHER, parts[number], features, step)
        });
        let mut gathered = Mat::<f64>::zeros(0, 0);
        for part in parts {
            sums[3] += part.loss;
            let by_output = part.curvatures.into_iter().chain(part.residuals);
            let places = sums[FIRST + self.classes..].iter_mut();
            places.zip(by_output).for_each(|(all, sum)| *all += sum);
            if gathered.ncols() == 0 { gathered = part.gathered } else { gathered += part.gathered }
        }
        for (&weight, &label) in self.weights.iter().zip(self.labels) {
            sums[FIRST + label as usize] += i128::from(weight);
        }
        let start = FIRST + self.classes + 2 * outputs;
        for t in 0..gathered.ncols() {
            let place = (t / outputs) as u32 * DIGIT_BITS;
            let mine = &mut sums[start + t % outputs * features..][..features];
            for (sum, &digit) in mine.iter_mut().zip(gathered.col(t).iter()) {
                *sum += i128::from(digit as i64) << place;
            }
        }
    }

    /// The rows from `start` on that have these features.
    fn part(&self, start: usize, values: &[i16], features: usize, step: &Step) -> Part {
        let (rows, outputs) = (values.len() / features, step.bias().len());
        let entry = |k: usize, i: usize| f64::from(values[i * features + k]);
        let matrix = Mat::from_fn(features, rows, entry);
        let products = step.weights().products(matrix.as_ref());
        let digits = if self.weighted { 2 } else { 1 };
        let mut left = Mat::<f64>::zeros(rows, digits * outputs);
        let (mut curvatures, mut residuals) = (vec![0i128; outputs], vec![0i128; outputs]);
        let mut loss = 0;
        let mut scores = vec![0.0; outputs];
        for i in 0..rows {
            for (t, score) in scores.iter_mut().enumerate() {
                *score = (products[(t, i)] + step.bias()[t] as f64) * step.unit();
            }
            let (weight, label) = (self.weights[start + i], self.labels[start + i]);
            let of_row = chances(&mut scores, label as usize);
            let scaled = (of_row * 2f64.powi(LOSS_BITS)).round().min(MOST_LOSS);
            loss += i128::from(scaled as i64) * i128::from(weight);
            for (t, &chance) in scores.iter().enumerate() {
                let class = if outputs == 1 { 1 } else { t as i64 };
                let wanted = f64::from(u8::from(label == class));
                let one = 2f64.powi(RESIDUAL_BITS);
                let residual = ((chance - wanted) * one).round();
                let curved = (curvature((chance - wanted).abs()) * one).round();
                curvatures[t] += i128::from(curved as i64) * i128::from(weight);
                let value = residual as i64 * weight;
                residuals[t] += i128::from(value);
                if digits == 1 {
                    left[(i, t)] = residual;
                } else {
                    left[(i, t)] = (value & ((1 << DIGIT_BITS) - 1)) as f64;
                    left[(i, outputs + t)] = (value >> DIGIT_BITS) as f64;
                }
            }
        }
        let mut gathered = Mat::<f64>::zeros(features, digits * outputs);
        let (to, from) = (gathered.as_mut(), matrix.as_ref());
        matmul(to, Accum::Replace, from, left.as_ref(), 1.0, Par::Seq);
        Part { loss, curvatures, residuals, gathered }
    }
}

/// Makes probabilities of the scores of one row; and its loss, that of class `label`. Every
/// operation is one of IEEE's, or libm's in software: the same bits on every machine.
fn chances(scores: &mut [f64], label: usize) -> f64 {
    if let [score] = scores {
        let z = *score;
        let e = libm::exp(-z.abs());
        *score = if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        let wrong = if label == 1 { -z } else { z };
        return wrong.max(0.0) + libm::log1p(e);
    }
    let top = scores.iter().fold(f64::NEG_INFINITY, |most, &score| most.max(score));
    let own = scores[label];
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = libm::exp(*score - top);
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
    (top - own) + libm::log(sum)
}
