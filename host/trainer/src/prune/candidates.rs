//! The best features of a pool: greedy backward elimination over all features of
//! a model, and the same model with a list of those that are kept.

use koan::Family;

use super::backward::{Elimination, backward};
use crate::Error;
use crate::blob::{ModelSpec, whole};
use crate::features::FeatureMap;
use crate::folds::hold_out;
use crate::lambda::LAMBDAS;
use crate::moments::Moments;
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{System, best_on};

/// Features that a pool may have: its Gram matrix and the inverse of that take
/// 8 bytes for each pair.
pub const MOST_CANDIDATES: usize = 8192;
/// Features for each row, at most, where there are more than a few: what a kernel can say of so
/// few rows is said then, and the work grows with the cube of the features.
const FEATURES_OF_A_ROW: usize = 4;
const FEW_FEATURES: usize = 256;

/// Features that so many rows are enough for.
pub(crate) fn most_features(rows: usize) -> usize {
    (FEATURES_OF_A_ROW * rows).max(FEW_FEATURES)
}

/// A pool of features, in the order of what they are worth.
#[derive(Clone, Debug)]
pub struct Shortlist {
    spec: ModelSpec,
    elimination: Elimination,
    /// Sums over the rows to fit on, of all features of the pool.
    pub fit: Moments,
    /// Sums over the rows that were held out.
    pub held_out: Moments,
    /// These rows.
    pub held_rows: Vec<usize>,
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
        seed: u64,
        lambda: Option<f64>,
        progress: &Progress,
    ) -> Result<Self, Error> {
        if spec.banks.iter().any(|bank| bank.family.slot_bits().is_some()) {
            return Err(Error::parameter(
                "candidates",
                "cells of bins and leaves of ferns are not selected one by one",
            ));
        }
        let found: usize = spec.banks.iter().map(crate::blob::BankSpec::columns).sum();
        if found > MOST_CANDIDATES {
            return Err(Error::TooMany { what: "candidates", found, most: MOST_CANDIDATES });
        }
        let map = FeatureMap::new(&spec)?;
        let (fit_rows, held_rows) = hold_out(problem, seed);
        progress.phase("computing candidates")?;
        let fit = problem.moments(&map, &fit_rows, progress)?;
        let held_out = problem.moments(&map, &held_rows, progress)?;
        progress.phase("selecting features")?;
        let system = System::new(&fit);
        let lambda = match lambda {
            Some(lambda) => lambda,
            None => best_on(&system, &held_out, &LAMBDAS).0.lambda,
        };
        let elimination = backward(&system, lambda, least);
        Ok(Self { spec, elimination, fit, held_out, held_rows })
    }

    /// Features of the pool.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.fit.features()
    }

    /// The columns of the best `count` features, ascending. Of a bank of which
    /// nothing is left also the first, unless no bank follows: the number of a
    /// bank selects its random draws, so it cannot be left out.
    #[must_use]
    pub fn kept(&self, count: usize) -> Vec<usize> {
        with_empty_banks(&self.spec, self.elimination.kept(count))
    }

    /// The model with the features in `kept` alone, which are columns of the
    /// pool, ascending. Banks at the end of which nothing is kept are left out.
    #[must_use]
    pub fn spec(&self, kept: &[usize]) -> ModelSpec {
        only(&self.spec, kept)
    }
}

/// Columns of a pool that are kept, ascending, with the first one of a bank of which
/// nothing is kept, unless no bank follows.
pub(crate) fn with_empty_banks(spec: &ModelSpec, mut kept: Vec<usize>) -> Vec<usize> {
    let last = kept.last().copied().unwrap_or(0);
    let mut start = 0;
    for bank in &spec.banks {
        let end = start + bank.columns();
        if end <= last && !kept.iter().any(|k| (start..end).contains(k)) {
            kept.push(start);
        }
        start = end;
    }
    kept.sort_unstable();
    kept
}

/// `spec` with the columns in `kept` alone, ascending.
pub(crate) fn only(spec: &ModelSpec, kept: &[usize]) -> ModelSpec {
    let mut spec = spec.clone();
    let mut start = 0;
    for bank in &mut spec.banks {
        let columns = bank.columns();
        let mine = kept.iter().filter(|&&k| k >= start && k < start + columns);
        let list: Vec<u32> = mine.map(|&k| bank.index_of(k - start)).collect();
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
    options: &HeadOptions,
    progress: &Progress,
) -> Result<ModelSpec, Error> {
    let count: usize = spec.banks.iter().map(crate::blob::BankSpec::columns).sum();
    let pool = pool(spec, candidates);
    let found: usize = pool.banks.iter().map(crate::blob::BankSpec::columns).sum();
    if found < count {
        return Err(Error::parameter(
            "candidates",
            format!("{candidates} candidates for {count} features"),
        ));
    }
    let shortlist = Shortlist::new(problem, pool, count, options.seed, options.lambda, progress)?;
    Ok(shortlist.spec(&shortlist.kept(count)))
}

/// `spec` with so many features in each bank, all of them kept: whole filters of
/// convolutions, at least one; of the inputs themselves (linear) all.
#[must_use]
pub fn pool(spec: &ModelSpec, candidates: u16) -> ModelSpec {
    let mut pool = spec.clone();
    pool.head = None;
    for bank in &mut pool.banks {
        bank.kept = None;
        bank.features = match bank.family {
            Family::Linear => spec.inputs,
            family => whole(family, candidates),
        };
    }
    pool
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::{BankSpec, MapSpec};
    use koan::numerics::Scale;
    use koan::{InputMap, Law};

    fn spec() -> ModelSpec {
        let bank = BankSpec {
            family: Family::Fourier,
            law: Law::Gaussian,
            features: 10,
            scale: Scale::ONE,
            groups: Vec::new(),
            kept: None,
        };
        let map = InputMap::new(0, 0, false, 1).unwrap();
        let stump = BankSpec { family: Family::Stump, law: Law::Gaussian, ..bank.clone() };
        ModelSpec::features(1, 3, MapSpec::Shared(map), vec![bank, stump])
    }

    #[test]
    fn features_of_a_convolution_are_those_of_its_pool() {
        let conv = koan::Conv {
            height: 6,
            channels: 1,
            kernel: 3,
            stride: 1,
            grid: 2,
            proportion: false,
            dilated: false,
            transform: 8,
        };
        // Eleven filters of four cells: a block of eight, and one of three.
        let mut pool = spec();
        pool.banks.truncate(1);
        let bank = &mut pool.banks[0];
        (bank.family, bank.law, bank.features) = (Family::Conv(conv), Law::Hadamard, 44);
        (pool.inputs, bank.scale) = (36, Scale::new(91, 0).unwrap());
        let features = |spec: &ModelSpec| {
            let blob = spec.encode().unwrap();
            let mut predictor = crate::blob::predictor(&blob).unwrap();
            let mut features = vec![0; predictor.model().features()];
            let row: Vec<f32> = (0..36u8).map(|i| f32::from(i * 7 % 64)).collect();
            predictor.features(&row, &mut features).unwrap();
            features
        };
        let all = features(&pool);
        let kept = [0, 5, 31, 32, 34, 35, 40, 43];
        let some = only(&pool, &kept);
        assert_eq!(features(&some), kept.map(|k| all[k]));
        // And of what was kept some once more.
        assert_eq!(features(&only(&some, &[1, 3, 7])), [5, 32, 43].map(|k| all[k]));
        // The first ten filters.
        let fewer = ModelSpec {
            banks: vec![BankSpec { features: 40, ..pool.banks[0].clone() }],
            ..pool.clone()
        };
        let first = pool.banks[0].first(40);
        assert_eq!(features(&fewer), first.iter().map(|&k| all[k]).collect::<Vec<_>>());
    }

    #[test]
    fn columns_become_numbers_in_their_bank() {
        let once = only(&spec(), &[1, 4, 9, 10, 19]);
        assert_eq!(once.banks[0].kept, Some(vec![1, 4, 9]));
        assert_eq!(once.banks[1].kept, Some(vec![0, 9]));
        assert_eq!((once.banks[0].features, once.banks[1].features), (3, 2));
        // Again: columns are now those of the features that are left.
        let twice = only(&once, &[0, 2, 4]);
        assert_eq!(twice.banks[0].kept, Some(vec![1, 9]));
        assert_eq!(twice.banks[1].kept, Some(vec![9]));
    }

    #[test]
    fn a_pool_has_all_inputs_again() {
        let mut all = spec();
        all.banks[1] = BankSpec { family: Family::Linear, features: 3, ..all.banks[1].clone() };
        all.banks[1].law = Law::None;
        let some = only(&all, &[2, 5, 10, 12]);
        assert_eq!(some.banks[1].kept, Some(vec![0, 2]));
        assert_eq!(pool(&some, 10), all);
        // As a blob tells of it, too.
        let blob = some.encode().unwrap();
        assert_eq!(ModelSpec::features_of(&koan::Model::parse(&blob).unwrap()), some);
    }

    #[test]
    fn whole_banks_need_no_list_and_empty_ones_at_the_end_go() {
        let all: Vec<usize> = (0..10).collect();
        let first = only(&spec(), &all);
        assert_eq!(first.banks.len(), 1);
        assert_eq!(first.banks[0].kept, None);
    }
}
