//! Which ferns of the pool a model keeps.

use super::grow::{AGAIN, FIRST_ROWS, LOOKED_AT, RENEWED, SECOND, grow};
use super::leaves::{Codes, Descent};
use super::objective::Objective;
use super::pool::{POOL, Pool, Sample};
use crate::Error;
use crate::blob::{BankSpec, ModelSpec};
use crate::features::{BLOCK_ROWS, FeatureMap};
use crate::folds::shuffled;
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use koan::Family;
use koan::generator::Stream;

/// Rows by which ferns are chosen, at most.
const MOST_ROWS: usize = 8192;
/// The least λ by which ferns are chosen: with a smaller one leaves of few rows promise what
/// other rows do not keep.
const LAMBDA: f64 = 0.05;

/// Whether some bank has ferns that are still to be chosen.
#[must_use]
pub fn is_open(spec: &ModelSpec) -> bool {
    spec.banks.iter().any(is_open_bank)
}

fn is_open_bank(bank: &BankSpec) -> bool {
    matches!(bank.family, Family::Fern { .. }) && bank.kept.is_none()
}

/// `spec` with as many ferns as it has in each bank of them, each bank chosen by itself.
///
/// # Errors
/// A pool of fewer ferns than are to be chosen, a specification that the format does not
/// allow.
pub fn grown(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<ModelSpec, Error> {
    let mut spec = spec.clone();
    let rows: Vec<usize> = (0..problem.table.rows()).collect();
    for number in 0..spec.banks.len() {
        if !is_open_bank(&spec.banks[number]) {
            continue;
        }
        progress.phase("choosing ferns")?;
        let choice = Choice::new(problem, &spec, number, options)?;
        let count = spec.banks[number].features;
        spec.banks[number].kept = Some(choice.best(problem, count, &rows, options));
    }
    Ok(spec)
}

/// Multiply-adds that choosing and fitting `count` ferns from so many rows takes, about, and what
/// choosing λ adds: as a search counts them.
#[must_use]
pub fn work(problem: &Problem<'_>, rows: usize, count: u16, options: &HeadOptions) -> (f64, f64) {
    let (count, outputs) = (f64::from(count), problem.outputs as f64);
    let pool = f64::from(options.candidates.unwrap_or(POOL));
    let some = rows.min(MOST_ROWS) as f64;
    let ferns = pool.min(LOOKED_AT as f64);
    let share = 1.0 / AGAIN as f64 + 1.0 / RENEWED as f64;
    let looks = share * some.min(FIRST_ROWS as f64) + some / SECOND as f64;
    let inputs = problem.table.inputs as f64;
    let renewal = if pool > ferns { some * inputs * (1.0 + outputs) + 30.0 * pool } else { 0.0 };
    let choosing =
        count * (ferns * looks * (6.0 + outputs) + renewal / RENEWED as f64) + 20.0 * some * inputs;
    // Rounds over all weights: fits, and roundings to several steps.
    let round = rows as f64 * count * outputs * 25.0;
    let path = if options.lambda.is_some() { 0.0 } else { 140.0 * round };
    (choosing + 60.0 * round, path)
}

/// The pool of a bank, and rows to choose from it by, in no order: a run of them is a sample.
pub(super) struct Choice {
    pool: Pool,
    sample: Sample,
}

impl Choice {
    /// That of bank `number`.
    pub fn new(
        problem: &Problem<'_>,
        spec: &ModelSpec,
        number: usize,
        options: &HeadOptions,
    ) -> Result<Self, Error> {
        let rows = scattered(problem.table.rows(), options.seed);
        let (pool, sample) = Pool::new(problem, spec, number, rows, options.candidates)?;
        Ok(Self { pool, sample })
    }

    /// The best ferns by those of `rows` that are here, in the order of their numbers.
    pub fn best(
        &self,
        problem: &Problem<'_>,
        count: u16,
        rows: &[usize],
        options: &HeadOptions,
    ) -> Vec<u32> {
        let mut wanted = vec![false; problem.table.rows()];
        rows.iter().for_each(|&row| wanted[row] = true);
        let places: Vec<usize> =
            self.sample.all().filter(|&place| wanted[self.sample.numbers[place]]).collect();
        let some: Sample;
        let sample = if places.len() == self.sample.count() {
            &self.sample
        } else {
            some = self.sample.select(&places);
            &some
        };
        let objective = Objective::new(problem, &sample.numbers, options.loss);
        let lambda = options.lambda.unwrap_or(LAMBDA).max(LAMBDA);
        let penalty = Descent::penalty(&objective, self.pool.depth, lambda);
        let order = grow(&self.pool, sample, &objective, count.into(), penalty);
        let mut ferns: Vec<u32> = order.into_iter().map(|fern| fern as u32).collect();
        ferns.sort_unstable();
        ferns
    }
}

/// Some of so many rows in no order.
fn scattered(rows: usize, seed: u64) -> Vec<usize> {
    let mut order = shuffled(rows, Stream::new(seed ^ 0xfe12, 0));
    order.truncate(MOST_ROWS);
    order
}

/// The codes of the ferns of the last bank.
pub(super) fn codes(
    map: &FeatureMap,
    spec: &ModelSpec,
    problem: &Problem<'_>,
    rows: &[usize],
) -> Result<Codes, Error> {
    let Some(BankSpec { family: Family::Fern { depth }, features, .. }) = spec.banks.last() else {
        return Err(Error::Impossible("the last bank has no ferns".into()));
    };
    let ferns = usize::from(*features);
    let skipped = map.codes() - ferns;
    let mut all = vec![0; ferns * rows.len()];
    for (number, part) in rows.chunks(BLOCK_ROWS).enumerate() {
        let codes = map.codes_of(problem.table, part)?;
        for (row, of_row) in codes.chunks_exact(map.codes()).enumerate() {
            for (fern, &code) in of_row[skipped..].iter().enumerate() {
                all[fern * rows.len() + number * BLOCK_ROWS + row] = code as u8;
            }
        }
    }
    Ok(Codes::by_fern(all, rows.len(), *depth))
}
