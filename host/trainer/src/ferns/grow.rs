//! Choosing ferns: each is the one of the pool that lowers the loss most.

use rayon::prelude::*;

use super::MOST_LEAVES;
use super::leaves::{Codes, Descent, Weights};
use super::objective::{Curve, Objective};

/// Rows by which a fern of the pool is looked at first.
pub(super) const FIRST_ROWS: usize = 512;
/// Share of the pool that is looked at on all rows: one of so many.
pub(super) const SECOND: usize = 32;
/// Ferns of the pool in one job.
const JOB: usize = 32;
/// Share of a Newton step that a new fern takes; the sweeps behind it see to the rest.
const STEP: f32 = 0.5;
/// After so many ferns the weights of all take another step.
const EVERY: usize = 4;
/// Lanes of a row: slopes of outputs, and the curvature.
const LANES: [usize; 5] = [2, 4, 8, 16, 32];

/// `count` different ferns of the pool, the first one first.
///
/// The gain of a fern is Σ over its leaves of (Σ slopes)² / (Σ curvatures + penalty), summed
/// over outputs; the best few by a part of the rows, another one each time, are compared on
/// all of them.
pub(super) fn grow(pool: &Codes, objective: &Objective, count: usize, penalty: f32) -> Vec<usize> {
    let lanes = LANES.into_iter().find(|lanes| *lanes > objective.outputs);
    match lanes {
        Some(2) => Growth::<2>::new(pool, objective, penalty).run(count),
        Some(4) => Growth::<4>::new(pool, objective, penalty).run(count),
        Some(8) => Growth::<8>::new(pool, objective, penalty).run(count),
        Some(16) => Growth::<16>::new(pool, objective, penalty).run(count),
        // Outputs beyond these share lanes.
        _ => Growth::<32>::new(pool, objective, penalty).run(count),
    }
}

/// Sums over the rows of each leaf.
type Sums<const L: usize> = [[f32; L]; MOST_LEAVES];

struct Growth<'g, const L: usize> {
    pool: &'g Codes,
    objective: &'g Objective,
    penalty: f32,
    slopes: Vec<[f32; L]>,
    chosen: Vec<usize>,
    /// Whether each fern of the pool was chosen.
    taken: Vec<bool>,
}

impl<'g, const L: usize> Growth<'g, L> {
    fn new(pool: &'g Codes, objective: &'g Objective, penalty: f32) -> Self {
        let slopes = vec![[0.0; L]; objective.rows];
        let taken = vec![false; pool.ferns()];
        Self { pool, objective, penalty, slopes, chosen: Vec::new(), taken }
    }

    fn run(mut self, count: usize) -> Vec<usize> {
        let leaves = self.pool.leaves();
        let outputs = self.objective.outputs;
        let bias = self.objective.first_bias();
        let mut codes = Codes::by_fern(Vec::new(), self.pool.rows, self.pool.depth);
        let mut weights = Weights::none(0, leaves, bias);
        let mut scores = weights.scores(&codes);
        while self.chosen.len() < count.min(self.pool.ferns()) {
            let slopes = self.objective.slopes(&scores, Curve::Here);
            self.look(&slopes);
            let best = self.best();
            self.chosen.push(best);
            self.taken[best] = true;
            codes.push(self.pool.of(best));
            weights.leaves.resize(weights.leaves.len() + leaves * outputs, 0.0);
            let mut descent = Descent::with(self.objective, &codes, weights, scores, slopes);
            descent.step(self.chosen.len() - 1, self.penalty, None, STEP);
            // Now and then the weights of all are fitted anew.
            if self.chosen.len().is_multiple_of(EVERY) {
                descent.look(Curve::Bound);
                descent.round(self.penalty, None);
            }
            (weights, scores) = (descent.weights, descent.scores);
        }
        self.chosen
    }

    /// Takes the slopes of each output and row, row by row.
    fn look(&mut self, slopes: &[[f32; 2]]) {
        self.slopes.fill([0.0; L]);
        let share = 1.0 / self.objective.outputs as f32;
        for (t, of_output) in slopes.chunks_exact(self.objective.rows).enumerate() {
            let lane = t % (L - 1);
            // Outputs that share a lane have signs of their own.
            let sign = if (t / (L - 1) * t).is_multiple_of(2) { 1.0 } else { -1.0 };
            for (lanes, [slope, curve]) in self.slopes.iter_mut().zip(of_output) {
                lanes[lane] += sign * slope;
                lanes[L - 1] += share * curve;
            }
        }
    }

    /// The best fern that was not chosen yet.
    fn best(&self) -> usize {
        let rows = self.objective.rows;
        let free: Vec<usize> = (0..self.pool.ferns()).filter(|&fern| !self.taken[fern]).collect();
        if rows <= 2 * FIRST_ROWS {
            return self.first_of(&self.gains(&free, 0..rows));
        }
        let parts = rows / FIRST_ROWS;
        let part = self.chosen.len() % parts;
        let gains = self.gains(&free, part * rows / parts..(part + 1) * rows / parts);
        let mut order = gains;
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let few: Vec<usize> =
            order.iter().take(free.len().div_ceil(SECOND)).map(|&(_, fern)| fern).collect();
        self.first_of(&self.gains(&few, 0..rows))
    }

    /// The fern of the greatest gain, of equal ones the first of the pool.
    fn first_of(&self, gains: &[(f32, usize)]) -> usize {
        let best = gains.iter().copied().reduce(|a, b| {
            let better = b.0 > a.0 || (b.0 == a.0 && b.1 < a.1);
            if better { b } else { a }
        });
        best.map_or(0, |(_, fern)| fern)
    }

    /// What each of some ferns gains on a part of the rows.
    fn gains(&self, ferns: &[usize], rows: std::ops::Range<usize>) -> Vec<(f32, usize)> {
        let slopes = &self.slopes[rows.clone()];
        let share = rows.len() as f32 / self.objective.rows as f32;
        let penalty = (self.penalty * share).max(f32::MIN_POSITIVE);
        ferns
            .par_iter()
            .with_min_len(JOB)
            .map(|&fern| {
                let sums = summed(&self.pool.of(fern)[rows.clone()], slopes);
                let leaves = &sums[..self.pool.leaves()];
                let gain = |leaf: &[f32; L]| {
                    let squares: f32 = leaf[..L - 1].iter().map(|slope| slope * slope).sum();
                    squares / (leaf[L - 1] + penalty)
                };
                (leaves.iter().map(gain).sum(), fern)
            })
            .collect()
    }
}

/// The sums of each leaf. Four tables: neighbouring rows often come to the same leaf, whose
/// sum is not there yet.
fn summed<const L: usize>(codes: &[u8], slopes: &[[f32; L]]) -> Sums<L> {
    let mut tables = [[[0.0; L]; MOST_LEAVES]; 4];
    let add = |table: &mut Sums<L>, code: u8, row: &[f32; L]| {
        let leaf = &mut table[usize::from(code) % MOST_LEAVES];
        leaf.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope);
    };
    let (some, rest) = codes.as_chunks::<4>();
    let (rows, last) = slopes.as_chunks::<4>();
    for (codes, rows) in some.iter().zip(rows) {
        let each = tables.iter_mut().zip(codes).zip(rows);
        each.for_each(|((table, &code), row)| add(table, code, row));
    }
    let [mut sums, others @ ..] = tables;
    rest.iter().zip(last).for_each(|(&code, row)| add(&mut sums, code, row));
    for table in &others {
        let both = sums.as_flattened_mut().iter_mut().zip(table.as_flattened());
        both.for_each(|(sum, more)| *sum += more);
    }
    sums
}
