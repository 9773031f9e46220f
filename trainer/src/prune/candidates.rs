//! The best features of a pool: greedy backward elimination over all features of
//! a model, and the same model with a list of those that are kept.

use koan::Family;

use super::backward::{Elimination, backward};
use crate::blob::ModelSpec;
use crate::features::FeatureMap;
use crate::fit::hold_out;
use crate::moments::Moments;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{LAMBDAS, System, best_on};
use crate::{Error, TrainOptions};

/// Features that a pool may have: its Gram matrix and the inverse of that take
/// 8 bytes for each pair.
pub const MOST_CANDIDATES: usize = 8192;

/// A pool of features, in the order of what they are worth.
#[derive(Clone, Debug)]
pub struct Shortlist {
    spec: ModelSpec,
    elimination: Elimination,
    /// Sums over the rows to fit on, of all features of the pool.
    pub fit: Moments,
    /// Sums over the rows that were held out.
    pub held_out: Moments,
}

impl Shortlist {
    /// Ranks the features of `spec`, of all its banks together, by backward
    /// elimination on the rows to fit on, down to `least` of them; λ is the best
    /// one for the whole pool on the rows held out.
    ///
    /// # Errors
    /// A pool of bins, whose columns come in grids, or of too many features; a
    /// specification that the format does not allow.
    pub fn new(
        problem: &Problem<'_>,
        spec: ModelSpec,
        least: usize,
        options: &TrainOptions,
        progress: &Progress,
    ) -> Result<Self, Error> {
        if spec.banks.iter().any(|bank| matches!(bank.family, Family::Bin { .. })) {
            return Err(Error::Options("cells of bins are not selected one by one".into()));
        }
        let found: usize = spec.banks.iter().map(crate::blob::BankSpec::columns).sum();
        if found > MOST_CANDIDATES {
            return Err(Error::TooMany { what: "candidates", found, most: MOST_CANDIDATES });
        }
        let map = FeatureMap::new(&spec)?;
        let (fit_rows, held_rows) = hold_out(problem, options.seed);
        progress.phase("computing candidates");
        let fit = problem.moments(&map, &fit_rows, progress)?;
        let held_out = problem.moments(&map, &held_rows, progress)?;
        progress.phase("selecting features");
        let system = System::new(&fit);
        let lambda = match options.lambda {
            Some(lambda) => lambda,
            None => best_on(&system, &held_out, &LAMBDAS).0.lambda,
        };
        let elimination = backward(&system, lambda, None, least);
        Ok(Self { spec, elimination, fit, held_out })
    }

    /// Features of the pool.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.fit.features()
    }

    /// The columns of the best `count` features, ascending.
    #[must_use]
    pub fn kept(&self, count: usize) -> Vec<usize> {
        self.elimination.kept(count)
    }

    /// The model with the features in `kept` alone, which are columns of the
    /// pool, ascending. Banks of which nothing is kept are left out, unless
    /// streams of later banks count on them: they keep their first feature.
    #[must_use]
    pub fn spec(&self, kept: &[usize]) -> ModelSpec {
        only(&self.spec, kept)
    }
}

/// `spec` with the columns in `kept` alone, ascending.
fn only(spec: &ModelSpec, kept: &[usize]) -> ModelSpec {
    let mut spec = spec.clone();
    let mut start = 0;
    for bank in &mut spec.banks {
        let columns = bank.columns();
        let mine = kept.iter().filter(|&&k| k >= start && k < start + columns);
        // A bank that was pruned before has numbers of its own.
        let number = |k: usize| bank.kept.as_ref().map_or(k as u32, |kept| kept[k]);
        let list: Vec<u32> = mine.map(|&k| number(k - start)).collect();
        start += columns;
        if list.len() < columns {
            bank.features = list.len() as u16;
            bank.kept = Some(list);
        }
    }
    // The number of a bank is that of its streams: only the last ones can go.
    while spec.banks.last().is_some_and(|bank| bank.features == 0) {
        spec.banks.pop();
    }
    spec
}

/// The specification for training with `candidates` features in each bank, of
/// which as many are kept as `spec` has.
///
/// # Errors
/// As [`Shortlist::new`]; fewer candidates than features.
pub fn select_candidates(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    candidates: u16,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<ModelSpec, Error> {
    let count: usize = spec.banks.iter().map(crate::blob::BankSpec::columns).sum();
    let pool = pool(spec, candidates);
    let found: usize = pool.banks.iter().map(crate::blob::BankSpec::columns).sum();
    if found < count {
        return Err(Error::Options(format!("{candidates} candidates for {count} features")));
    }
    let shortlist = Shortlist::new(problem, pool, count, options, progress)?;
    Ok(shortlist.spec(&shortlist.kept(count)))
}

/// `spec` with so many features in each bank, all of them kept; the inputs
/// themselves (linear) stay as many as they are.
#[must_use]
pub fn pool(spec: &ModelSpec, candidates: u16) -> ModelSpec {
    let mut pool = spec.clone();
    pool.head = None;
    for bank in &mut pool.banks {
        if bank.family != Family::Linear {
            bank.features = candidates;
            bank.kept = None;
        }
    }
    pool
}
