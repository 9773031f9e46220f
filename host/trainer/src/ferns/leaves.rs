//! The weights of ferns that were chosen, fitted fern by fern.

use super::MOST_LEAVES;
use super::objective::{Curve, Objective};
use crate::quantise::Levels;

/// Sweeps with the same slopes and curvatures, at most.
const INNER: usize = 3;

/// Which leaf each row comes to, fern by fern.
pub(super) struct Codes {
    /// Ferns × rows.
    codes: Vec<u8>,
    pub rows: usize,
    /// Comparisons of a fern.
    pub depth: u8,
}

impl Codes {
    /// Of codes that lie fern by fern.
    pub fn by_fern(codes: Vec<u8>, rows: usize, depth: u8) -> Self {
        Self { codes, rows, depth }
    }

    pub fn leaves(&self) -> usize {
        1 << self.depth
    }

    pub fn ferns(&self) -> usize {
        self.codes.len() / self.rows.max(1)
    }

    /// Those of a fern, a row each.
    pub fn of(&self, fern: usize) -> &[u8] {
        &self.codes[fern * self.rows..][..self.rows]
    }

    /// Adds a fern.
    pub fn push(&mut self, codes: &[u8]) {
        self.codes.extend_from_slice(codes);
    }
}

/// Weights and biases of ferns.
#[derive(Clone)]
pub(super) struct Weights {
    /// Ferns × T × leaves, real values of a score.
    pub leaves: Vec<f32>,
    /// T.
    pub bias: Vec<f32>,
}

impl Weights {
    /// None yet, of so many ferns.
    pub fn none(ferns: usize, leaves: usize, bias: Vec<f32>) -> Self {
        Self { leaves: vec![0.0; ferns * leaves * bias.len()], bias }
    }

    /// Scores of rows: T × rows.
    pub fn scores(&self, codes: &Codes) -> Vec<f32> {
        let outputs = self.bias.len();
        let mut scores: Vec<f32> =
            self.bias.iter().flat_map(|&bias| std::iter::repeat_n(bias, codes.rows)).collect();
        let each = codes.leaves();
        for (place, leaves) in self.leaves.chunks_exact(each).enumerate() {
            let (fern, t) = (place / outputs, place % outputs);
            let scores = &mut scores[t * codes.rows..][..codes.rows];
            let leaves = padded(leaves);
            for (score, &code) in scores.iter_mut().zip(codes.of(fern)) {
                *score += leaves[usize::from(code) % MOST_LEAVES];
            }
        }
        scores
    }
}

/// The values of leaves, and zeros behind them: no index is checked.
fn padded(leaves: &[f32]) -> [f32; MOST_LEAVES] {
    let mut all = [0.0; MOST_LEAVES];
    all[..leaves.len()].copy_from_slice(leaves);
    all
}

/// Weights that are being fitted.
pub(super) struct Descent<'d> {
    objective: &'d Objective,
    codes: &'d Codes,
    pub weights: Weights,
    /// T × rows.
    pub scores: Vec<f32>,
    /// How steeply the loss falls with each score, and how fast that ends: T × rows. Where
    /// the weights have moved since they were looked at, as if the loss were a square.
    slopes: Vec<[f32; 2]>,
}

impl<'d> Descent<'d> {
    pub fn new(objective: &'d Objective, codes: &'d Codes, weights: Weights) -> Self {
        let scores = weights.scores(codes);
        Self::with(objective, codes, weights, scores, Vec::new())
    }

    /// Weights whose scores are known, and slopes at them.
    pub fn with(
        objective: &'d Objective,
        codes: &'d Codes,
        weights: Weights,
        scores: Vec<f32>,
        slopes: Vec<[f32; 2]>,
    ) -> Self {
        Self { objective, codes, weights, scores, slopes }
    }

    /// What a leaf's weight is drawn to 0 with, for a λ relative to the rows that a leaf has
    /// in the mean.
    pub fn penalty(objective: &Objective, depth: u8, lambda: f64) -> f32 {
        let rows = objective.weight_of_all() / f64::from(1u32 << depth);
        (lambda * rows) as f32 * objective.unit()
    }

    /// The objective: the loss, and the penalty on squared weights.
    pub fn value(&self, penalty: f32) -> f64 {
        let squares: f64 = self.weights.leaves.iter().map(|&w| f64::from(w).powi(2)).sum();
        let halved = if self.objective.unit() < 1.0 { 0.5 } else { 1.0 };
        self.objective.loss(&self.scores) + halved * f64::from(penalty) * squares
    }

    /// Looks at the slopes at the scores as they are.
    pub fn look(&mut self, curve: Curve) {
        self.slopes = self.objective.slopes(&self.scores, curve);
    }

    /// Newton steps until they no longer matter: looks at the slopes at most so many times,
    /// and takes a few rounds of steps by each of them. With `levels`, one for each output,
    /// weights are the nearest of them.
    pub fn settle(&mut self, penalty: f32, levels: Option<&[Levels]>, most: usize) {
        let mut first = 0.0;
        for number in 0..most {
            self.look(Curve::Bound);
            let mut moved = 0.0;
            for inner in 0..INNER {
                let more = self.round(penalty, levels);
                moved += more;
                if inner == 0 && number == 0 {
                    first = more;
                }
                if more <= 0.05 * moved {
                    break;
                }
            }
            if moved <= 1e-3 * first {
                break;
            }
        }
    }

    /// A step of the biases and of each fern's weights in turn; how much all of them matter.
    pub fn round(&mut self, penalty: f32, levels: Option<&[Levels]>) -> f64 {
        let moved = self.step_bias();
        moved
            + (0..self.codes.ferns()).map(|fern| self.step(fern, penalty, levels, 1.0)).sum::<f64>()
    }

    /// A share of a Newton step of a fern's weights.
    pub fn step(
        &mut self,
        fern: usize,
        penalty: f32,
        levels: Option<&[Levels]>,
        share: f32,
    ) -> f64 {
        let (outputs, each, rows) = (self.objective.outputs, self.codes.leaves(), self.codes.rows);
        let codes = self.codes.of(fern);
        let mut moved = 0.0;
        for t in 0..outputs {
            let slopes = &mut self.slopes[t * rows..][..rows];
            let sums = summed(codes, slopes);
            let weights = &mut self.weights.leaves[(fern * outputs + t) * each..][..each];
            let mut steps = [0.0f32; MOST_LEAVES];
            for ((weight, [slope, curve]), step) in weights.iter_mut().zip(sums).zip(&mut steps) {
                let curve = curve + penalty;
                // No row, no penalty: nothing says what it should be.
                if curve <= 0.0 {
                    continue;
                }
                let wanted = *weight + share * (slope - penalty * *weight) / curve;
                let wanted = levels.map_or(wanted, |levels| nearest(levels[t], wanted));
                *step = wanted - *weight;
                moved += f64::from(curve * *step * *step);
                *weight = wanted;
            }
            if steps.iter().all(|&step| step == 0.0) {
                continue;
            }
            let scores = &mut self.scores[t * rows..][..rows];
            for ((score, slope), &code) in scores.iter_mut().zip(slopes).zip(codes) {
                let step = steps[usize::from(code) % MOST_LEAVES];
                *score += step;
                slope[0] -= step * slope[1];
            }
        }
        moved
    }

    /// Newton steps of the biases until they no longer matter.
    pub fn settle_bias(&mut self) {
        for _ in 0..3 {
            self.look(Curve::Bound);
            self.step_bias();
        }
    }

    /// A Newton step of the biases.
    fn step_bias(&mut self) -> f64 {
        let rows = self.codes.rows;
        let mut moved = 0.0;
        for (t, bias) in self.weights.bias.iter_mut().enumerate() {
            let slopes = &mut self.slopes[t * rows..][..rows];
            let (mut slope, mut curve) = (0.0f64, 0.0f64);
            for [its, more] in &*slopes {
                slope += f64::from(*its);
                curve += f64::from(*more);
            }
            let step = (slope / curve.max(f64::MIN_POSITIVE)) as f32;
            *bias += step;
            moved += curve * f64::from(step).powi(2);
            for (score, slope) in self.scores[t * rows..][..rows].iter_mut().zip(slopes) {
                *score += step;
                slope[0] -= step * slope[1];
            }
        }
        moved
    }
}

/// Sums of slopes and curvatures over the rows of each leaf.
fn summed(codes: &[u8], slopes: &[[f32; 2]]) -> [[f32; 2]; MOST_LEAVES] {
    // Two tables: neighbouring rows often come to the same leaf.
    let [mut even, mut odd] = [[[0.0f64; 2]; MOST_LEAVES]; 2];
    let add = |table: &mut [[f64; 2]; MOST_LEAVES], code: u8, row: &[f32; 2]| {
        let leaf = &mut table[usize::from(code) % MOST_LEAVES];
        leaf.iter_mut().zip(row.map(f64::from)).for_each(|(sum, more)| *sum += more);
    };
    let (pairs, last) = codes.as_chunks::<2>();
    let (rows, of_last) = slopes.as_chunks::<2>();
    for ([first, second], [of_first, of_second]) in pairs.iter().zip(rows) {
        add(&mut even, *first, of_first);
        add(&mut odd, *second, of_second);
    }
    last.iter().zip(of_last).for_each(|(&code, row)| add(&mut even, code, row));
    let both = |leaf: usize, part: usize| (even[leaf][part] + odd[leaf][part]) as f32;
    std::array::from_fn(|leaf| [both(leaf, 0), both(leaf, 1)])
}

/// The level nearest to a weight.
pub(super) fn nearest(levels: Levels, weight: f32) -> f32 {
    levels.weight(levels.code(f64::from(weight))) as f32
}
