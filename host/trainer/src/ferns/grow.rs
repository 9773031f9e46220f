//! Choosing ferns: each is the one that lowers the loss most, of those that are looked at.

use std::ops::Range;

use super::MOST_LEAVES;
use super::leaves::{Codes, Descent, Weights};
use super::objective::{Curve, Objective};
use super::pool::{Pool, Sample};
use crate::parallel;
use crate::vector::{Work, wide};

/// Rows by which a fern is looked at first.
pub(super) const FIRST_ROWS: usize = 512;
/// Share of the ferns that is looked at on all rows: one of so many.
pub(super) const SECOND: usize = 128;
/// Ferns that are looked at; of a larger pool half of them those whose comparisons say most.
pub(super) const LOOKED_AT: usize = 2048;
/// After so many ferns others are looked at.
pub(super) const RENEWED: usize = 8;
/// In between, those that gained most when they were looked at last: one of so many.
pub(super) const AGAIN: usize = 2;
/// Ferns in one job, and rows whose codes are made at a time.
const JOB: usize = 32;
const BLOCK: usize = 512;
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
pub(super) fn grow(
    pool: &Pool,
    sample: &Sample,
    objective: &Objective,
    count: usize,
    penalty: f32,
) -> Vec<usize> {
    let lanes = LANES.into_iter().find(|lanes| *lanes > objective.outputs);
    match lanes {
        Some(2) => Growth::<2>::new(pool, sample, objective, penalty).run(count),
        Some(4) => Growth::<4>::new(pool, sample, objective, penalty).run(count),
        Some(8) => Growth::<8>::new(pool, sample, objective, penalty).run(count),
        Some(16) => Growth::<16>::new(pool, sample, objective, penalty).run(count),
        // Outputs beyond these share lanes.
        _ => Growth::<32>::new(pool, sample, objective, penalty).run(count),
    }
}

/// Sums over the rows of each leaf.
type Sums<const L: usize> = [[f32; L]; MOST_LEAVES];

struct Growth<'g, const L: usize> {
    pool: &'g Pool,
    sample: &'g Sample,
    objective: &'g Objective,
    penalty: f32,
    slopes: Vec<[f32; L]>,
    chosen: Vec<usize>,
    /// Whether each fern of the pool was chosen.
    taken: Vec<bool>,
    /// The ferns that are looked at.
    looked_at: Vec<usize>,
    /// What each fern of the pool gained when it was looked at last.
    known: Vec<f32>,
}

impl<'g, const L: usize> Growth<'g, L> {
    fn new(pool: &'g Pool, sample: &'g Sample, objective: &'g Objective, penalty: f32) -> Self {
        Self {
            pool,
            sample,
            objective,
            penalty,
            slopes: vec![[0.0; L]; objective.rows],
            chosen: Vec::new(),
            taken: vec![false; pool.ferns()],
            looked_at: Vec::new(),
            known: vec![0.0; pool.ferns()],
        }
    }

    fn run(mut self, count: usize) -> Vec<usize> {
        let leaves = 1 << self.pool.depth;
        let outputs = self.objective.outputs;
        let mut codes = Codes::by_fern(Vec::new(), self.sample.count(), self.pool.depth);
        let mut weights = Weights::none(0, leaves, self.objective.first_bias());
        let mut scores = weights.scores(&codes);
        while self.chosen.len() < count.min(self.pool.ferns()) {
            let slopes = self.objective.slopes(&scores, Curve::Here);
            self.look(&slopes);
            let best = self.best();
            self.chosen.push(best);
            self.taken[best] = true;
            codes.push(&self.pool.codes_of_all(best, self.sample));
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
    fn best(&mut self) -> usize {
        let rows = self.sample.count();
        let number = self.chosen.len();
        let anew = number.is_multiple_of(RENEWED);
        if anew {
            self.renew(number / RENEWED);
        }
        let few = rows <= 2 * FIRST_ROWS;
        let parts = if few { 1 } else { rows / FIRST_ROWS };
        let part = number % parts;
        let part = part * rows / parts..(part + 1) * rows / parts;
        let share = part.len() as f32 / rows as f32;
        let mut free = self.looked_at.clone();
        free.retain(|&fern| !self.taken[fern]);
        let count = free.len();
        if !anew {
            best_of(&mut free, count.div_ceil(AGAIN), &self.known);
        }
        for (gain, fern) in self.gains(&free, part) {
            self.known[fern] = gain / share;
        }
        let gains = if few {
            free.iter().map(|&fern| (self.known[fern], fern)).collect()
        } else {
            best_of(&mut free, count.div_ceil(SECOND), &self.known);
            self.gains(&free, self.sample.all())
        };
        for &(gain, fern) in &gains {
            self.known[fern] = gain;
        }
        let best = gains.into_iter().reduce(|a, b| {
            let better = b.0 > a.0 || (b.0 == a.0 && b.1 < a.1);
            if better { b } else { a }
        });
        best.map_or(0, |(_, fern)| fern)
    }

    /// Chooses what is looked at: of a large pool half of it those whose comparisons gain most
    /// as the slopes are, and others in turn, for what comparisons say only together.
    fn renew(&mut self, number: usize) {
        let all = self.pool.ferns();
        if all <= LOOKED_AT {
            self.looked_at = (0..all).collect();
            return;
        }
        let half = LOOKED_AT / 2;
        let mut best: Vec<usize> = (0..all).filter(|&fern| !self.taken[fern]).collect();
        best_of(&mut best, half, &self.pool.promises(&self.gains_alone()));
        let others = (0..half).map(|place| (number * half + place) % all);
        best.extend(others);
        best.sort_unstable();
        best.dedup();
        self.looked_at = best;
    }

    /// What each input gains, alone, by a comparison with each threshold: inputs × thresholds.
    fn gains_alone(&self) -> Vec<f32> {
        parallel::map(self.sample.inputs(), |input| self.gains_of_input(input)).concat()
    }

    /// That of one input.
    fn gains_of_input(&self, input: usize) -> Vec<f32> {
        let thresholds = self.pool.thresholds;
        let mut sums = vec![[0.0f32; L]; thresholds + 1];
        for (&above, row) in self.sample.column(input).iter().zip(&self.slopes) {
            let sum = &mut sums[usize::from(above)];
            sum.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope);
        }
        let mut rest = [0.0; L];
        for sum in &sums {
            rest.iter_mut().zip(sum).for_each(|(rest, sum)| *rest += sum);
        }
        let none = gain(&rest, self.penalty);
        let mut below = [0.0; L];
        let gains = sums.into_iter().take(thresholds).map(|sum| {
            for lane in 0..L {
                below[lane] += sum[lane];
                rest[lane] -= sum[lane];
            }
            gain(&below, self.penalty) + gain(&rest, self.penalty) - none
        });
        gains.collect()
    }

    /// What each of some ferns gains on a part of the rows.
    fn gains(&self, ferns: &[usize], rows: Range<usize>) -> Vec<(f32, usize)> {
        let penalty = self.penalty * rows.len() as f32 / self.sample.count() as f32;
        let of_fern = |&fern: &usize| {
            let sums = wide(Leaves { growth: self, fern, rows: rows.clone() });
            let leaves = &sums[..1 << self.pool.depth];
            (leaves.iter().map(|leaf| gain(leaf, penalty)).sum(), fern)
        };
        let of_run = |places: Range<usize>| ferns[places].iter().map(of_fern).collect::<Vec<_>>();
        parallel::in_runs(ferns.len(), JOB, of_run).concat()
    }
}

/// A fern whose leaves are looked at, on a part of the rows.
struct Leaves<'a, 'g, const L: usize> {
    growth: &'a Growth<'g, L>,
    fern: usize,
    rows: Range<usize>,
}

impl<const L: usize> Work for Leaves<'_, '_, L> {
    type Output = Sums<L>;

    /// The sums of each leaf. Four tables: neighbouring rows often come to the same leaf, whose sum
    /// is not there yet.
    #[inline(always)]
    fn call(self) -> Sums<L> {
        let Self { growth, fern, rows } = self;
        let mut tables = [[[0.0; L]; MOST_LEAVES]; 4];
        let add = |table: &mut Sums<L>, code: u8, row: &[f32; L]| {
            let leaf = &mut table[usize::from(code) % MOST_LEAVES];
            leaf.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope);
        };
        let mut codes = [0; BLOCK];
        let mut first = rows.start;
        for slopes in growth.slopes[rows].chunks(BLOCK) {
            let codes = &mut codes[..slopes.len()];
            growth.pool.codes(fern, growth.sample, first, codes);
            first += slopes.len();
            let (some, rest) = codes.as_chunks::<4>();
            let (rows, last) = slopes.as_chunks::<4>();
            for (codes, rows) in some.iter().zip(rows) {
                let each = tables.iter_mut().zip(codes).zip(rows);
                each.for_each(|((table, &code), row)| add(table, code, row));
            }
            let of_last = rest.iter().zip(last);
            of_last.for_each(|(&code, row)| add(&mut tables[0], code, row));
        }
        let [mut sums, others @ ..] = tables;
        for table in &others {
            let both = sums.as_flattened_mut().iter_mut().zip(table.as_flattened());
            both.for_each(|(sum, more)| *sum += more);
        }
        sums
    }
}

/// What a leaf gains whose rows have these slopes and curvature in all.
fn gain<const L: usize>(leaf: &[f32; L], penalty: f32) -> f32 {
    let squares: f32 = leaf[..L - 1].iter().map(|slope| slope * slope).sum();
    squares / (leaf[L - 1].max(0.0) + penalty.max(f32::MIN_POSITIVE))
}

/// Keeps the `count` ferns of the greatest values, of equal ones the first of the pool.
fn best_of(ferns: &mut Vec<usize>, count: usize, values: &[f32]) {
    if count < ferns.len() {
        ferns.select_nth_unstable_by(count, |&a, &b| {
            values[b].total_cmp(&values[a]).then(a.cmp(&b))
        });
        ferns.truncate(count);
    }
}
