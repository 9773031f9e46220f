//! Sums over rows, in parts.

use std::collections::HashMap;

use koan_data::Table;

use super::integers::{Coefficient, Gram, add_multiples};
use super::plan::Plan;
use super::rows::{Integers, MAX_ROWS, TrainRows, too_many};
use super::slab::Slab;
use super::{Batch, from_bytes, to_bytes};
use crate::Error;
use crate::features::{BLOCK_ROWS, FeatureBlock};
use crate::moments::Moments;

/// First bytes of sums; the last one is the version of their form.
const MAGIC: &[u8; 8] = b"KOANSUM\x01";
/// Numbers before all others: rows to train on, and rows for the test.
const ROWS: usize = 2;

/// Sums over training rows: integers, so that they are the same in any order. Those of parts
/// are merged.
#[derive(Clone, Debug)]
pub struct Sums {
    plan: u128,
    /// What is not in the Gram matrix: rows; weights, of a regression also targets and their
    /// squares; sums of features; how often each held-out row came.
    numbers: Vec<i128>,
    layout: Layout,
    gram: Gram,
}

/// Which number is what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    features: usize,
    /// Classes; 0 of a regression.
    classes: usize,
    held: usize,
}

impl Layout {
    fn of(plan: &Plan) -> Self {
        let (features, classes) = (plan.features(), plan.filled().classes.len());
        Self { features, classes, held: plan.stored.held.len() }
    }

    /// Sums of weights by class; of a regression of weights, targets and their squares.
    fn totals(&self) -> usize {
        if self.classes == 0 { 3 } else { self.classes }
    }

    /// Sums of features by class; of a regression times weight, and times target.
    fn slots(&self) -> usize {
        if self.classes == 0 { 2 } else { self.classes }
    }

    /// Where the sums of features of a slot begin.
    fn slot(&self, slot: usize) -> usize {
        ROWS + self.totals() + slot * self.features
    }

    fn len(&self) -> usize {
        self.slot(self.slots()) + self.held
    }
}

impl Sums {
    /// No rows yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let layout = Layout::of(plan);
        let gram = Gram::new(layout.features, plan.has_weights());
        Self { plan: plan.id(), numbers: vec![0; layout.len()], layout, gram }
    }

    /// Rows to train on so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.numbers[0] as u64
    }

    /// Rows for the test that were left out so far.
    #[must_use]
    pub fn test_rows(&self) -> u64 {
        self.numbers[1] as u64
    }

    /// Adds rows, those to train on. All or, if one is wrong, none of them.
    ///
    /// # Errors
    /// Rows that are not of the plan; targets or weights beyond its scales; too many rows.
    pub fn add(&mut self, plan: &Plan, batch: Batch<'_>) -> Result<(), Error> {
        self.check_plan(plan.id())?;
        let rows = TrainRows::of(plan, batch, self.rows())?;
        let held: HashMap<u128, usize> =
            plan.stored.held.iter().enumerate().map(|(i, &(hash, _))| (hash, i)).collect();
        self.add_rows(plan, &rows.table, &rows.integers)?;
        self.numbers[1] += rows.tests;
        let first = self.layout.len() - self.layout.held;
        let held = rows.hashes.iter().filter_map(|hash| held.get(hash));
        held.for_each(|&held| self.numbers[first + held] += 1);
        Ok(())
    }

    /// Adds all rows of a table without missing values.
    pub(super) fn add_all(&mut self, plan: &Plan, table: &Table) -> Result<(), Error> {
        let rows: Vec<usize> = (0..table.rows()).collect();
        self.add_rows(plan, table, &Integers::of(&plan.stored, table, &rows)?)
    }

    /// Adds the rows of `table`, which have these integers.
    fn add_rows(&mut self, plan: &Plan, table: &Table, rows: &Integers) -> Result<(), Error> {
        let mut block = FeatureBlock::default();
        let all: Vec<usize> = (0..table.rows()).collect();
        let weighted = plan.has_weights();
        for part in all.chunks(BLOCK_ROWS) {
            plan.map.block(table, part, &mut block)?;
            let range = part[0]..part[0] + part.len();
            let weights = &rows.weights[range.clone()];
            self.gram.add(block.values(), weighted.then_some(weights));
            let targets = &rows.targets[range];
            for slot in 0..self.layout.slots() {
                let mine = weights.iter().zip(targets).enumerate();
                let coefficients: Vec<Coefficient> = mine
                    .filter_map(|(row, (&weight, &target))| {
                        let value = match (self.layout.classes, slot) {
                            (0, 0) => weight,
                            (0, _) => weight * target,
                            _ if target == slot as i64 => weight,
                            _ => 0,
                        };
                        (value != 0).then_some(Coefficient { row, value })
                    })
                    .collect();
                let start = self.layout.slot(slot);
                let sums = &mut self.numbers[start..start + self.layout.features];
                add_multiples(sums, block.values(), &coefficients);
            }
            let totals = &mut self.numbers[ROWS..];
            for (&weight, &target) in weights.iter().zip(targets) {
                let (weight, target) = (i128::from(weight), i128::from(target));
                if self.layout.classes > 0 {
                    totals[target as usize] += weight;
                } else {
                    totals[0] += weight;
                    totals[1] += weight * target;
                    totals[2] += weight * target * target;
                }
            }
        }
        self.gram.settle();
        self.numbers[0] += table.rows() as i128;
        Ok(())
    }

    /// Adds the sums of other rows.
    ///
    /// # Errors
    /// Sums of another plan, or too many rows together.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(other, 1)
    }

    /// Takes the sums of some of the rows away.
    pub(super) fn take_away(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(other, -1)
    }

    fn combine(&mut self, other: &Self, sign: i128) -> Result<(), Error> {
        self.check_plan(other.plan)?;
        let rows = self.numbers[0] + sign * other.numbers[0];
        if !(0..=i128::from(MAX_ROWS)).contains(&rows) {
            return Err(too_many());
        }
        let cells = other.gram.cells(0, other.gram.len());
        let fit =
            self.gram.merge(0, &cells, sign)
                && self.numbers.iter_mut().zip(&other.numbers).all(|(sum, &more)| {
                    sum.checked_add(sign * more).map(|now| *sum = now).is_some()
                });
        if fit { Ok(()) } else { Err(too_many()) }
    }

    /// Refuses sums of another plan than that with this id.
    pub(super) fn check_plan(&self, plan: u128) -> Result<(), Error> {
        if self.plan == plan {
            return Ok(());
        }
        Err(Error::Impossible("the sums are of another plan".into()))
    }

    /// The sums as so many slabs, each of which is merged with the same of others: no machine
    /// need hold more than one at a time.
    #[must_use]
    pub fn slabs(&self, count: usize) -> Vec<Slab> {
        let all = self.numbers.len() + self.gram.len();
        let size = all.div_ceil(count.max(1)).max(1);
        (0..all)
            .step_by(size)
            .map(|start| {
                let end = (start + size).min(all);
                let small = self.numbers.len();
                let mut numbers = self.numbers[start.min(small)..end.min(small)].to_vec();
                let cells = start.saturating_sub(small)..end.saturating_sub(small);
                numbers.extend(self.gram.cells(cells.start, cells.end));
                Slab { plan: self.plan, start: start as u64, numbers }
            })
            .collect()
    }

    /// The sums of slabs, in any order.
    ///
    /// # Errors
    /// Slabs of another plan, that are not all of them, or of too many rows.
    pub fn from_slabs(plan: &Plan, mut slabs: Vec<Slab>) -> Result<Self, Error> {
        let mut sums = Self::new(plan);
        slabs.sort_by_key(|slab| slab.start);
        let (small, all) = (sums.numbers.len(), sums.numbers.len() + sums.gram.len());
        let mut next = 0;
        for slab in &slabs {
            sums.check_plan(slab.plan)?;
            let end = next + slab.numbers.len();
            if slab.start != next as u64 || end > all {
                return Err(Error::Impossible("the slabs are not all those of sums".into()));
            }
            let (mine, cells) = slab.numbers.split_at(small.saturating_sub(next).min(end - next));
            sums.numbers[next.min(small)..next.min(small) + mine.len()].copy_from_slice(mine);
            if !sums.gram.merge(next.saturating_sub(small), cells, 1) {
                return Err(too_many());
            }
            next = end;
        }
        if next != all {
            return Err(Error::Impossible("the slabs are not all those of sums".into()));
        }
        let rows = sums.numbers[0];
        if !(0..=i128::from(MAX_ROWS)).contains(&rows) {
            return Err(too_many());
        }
        Ok(sums)
    }

    /// The sums as bytes: the same for the same rows.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        to_bytes(MAGIC, &self.slabs(1))
    }

    /// Sums from their bytes.
    ///
    /// # Errors
    /// Bytes of something else, of another plan, or damaged.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_slabs(plan, from_bytes(MAGIC, bytes, "sums")?)
    }

    /// Refuses sums of another plan, and those without the rows that it holds out of its sample.
    pub(super) fn check_whole(&self, plan: &Plan) -> Result<(), Error> {
        self.check_plan(plan.id())?;
        let all = &plan.stored.held;
        // How often each of the rows that the plan held out came.
        let found = &self.numbers[self.layout.len() - self.layout.held..];
        let short = |((_, rows), found): &(&(u128, u64), &i128)| i128::from(*rows) > **found;
        let short = all.iter().zip(found).filter(short).count();
        if short == 0 {
            return Ok(());
        }
        let all = all.len();
        Err(Error::Impossible(format!(
            "the sums lack rows of the plan's sample ({short} of the {all} that it holds out): add \
             all rows that the sample was taken from"
        )))
    }

    /// The sums as moments of features in their units.
    pub(super) fn moments(self, plan: &Plan) -> Moments {
        let stored = &plan.stored;
        let outputs = stored.outputs as usize;
        let unit = stored.weight_unit();
        let mut moments = Moments::new(self.layout.features, outputs);
        self.gram.write(&mut moments, unit);
        let number = |at: usize| self.numbers[at];
        let feature = |slot: usize, k: usize| number(self.layout.slot(slot) + k);
        let (classes, features) = (self.layout.classes, self.layout.features);
        if classes == 0 {
            let target = stored.target_unit();
            moments.count = number(ROWS) as f64 * unit;
            moments.target_sum[0] = number(ROWS + 1) as f64 * unit * target;
            moments.target_square[0] = number(ROWS + 2) as f64 * unit * target * target;
            for k in 0..features {
                moments.sum[(k, 0)] = feature(0, k) as f64 * unit;
                moments.cross[(k, 0)] = feature(1, k) as f64 * unit * target;
            }
            return moments.in_units(plan.map.units());
        }
        // Targets are 1 for the output's class and -1 for the others.
        let all: i128 = (0..classes).map(|class| number(ROWS + class)).sum();
        moments.count = all as f64 * unit;
        for output in 0..outputs {
            let class = if outputs == 1 { 1 } else { output };
            moments.target_sum[output] = (2 * number(ROWS + class) - all) as f64 * unit;
            moments.target_square[output] = moments.count;
        }
        for k in 0..features {
            let all: i128 = (0..classes).map(|class| feature(class, k)).sum();
            moments.sum[(k, 0)] = all as f64 * unit;
            for output in 0..outputs {
                let class = if outputs == 1 { 1 } else { output };
                moments.cross[(k, output)] = (2 * feature(class, k) - all) as f64 * unit;
            }
        }
        moments.in_units(plan.map.units())
    }
}
