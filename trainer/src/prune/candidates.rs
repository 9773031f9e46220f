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
    /// one for the whole pool on the rows held out. With `whole_filters` the features
    /// of a convolution's filter go together.
    ///
    /// # Errors
    /// A pool of bins, whose columns come in grids, or of too many features; a
    /// specification that the format does not allow.
    pub fn new(
        problem: &Problem<'_>,
        spec: ModelSpec,
        least: usize,
        whole_filters: bool,
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
        let groups = whole_filters.then(|| filters(&spec));
        let elimination = backward(&system, lambda, groups.as_deref(), least);
        Ok(Self { spec, elimination, fit, held_out })
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

/// The columns of each filter of a pool, and all others alone.
fn filters(pool: &ModelSpec) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for bank in &pool.banks {
        let size = match bank.family {
            Family::Conv(conv) => usize::from(conv.cells()),
            _ => 1,
        };
        let columns: Vec<usize> = (start..start + bank.columns()).collect();
        groups.extend(columns.chunks(size).map(<[usize]>::to_vec));
        start += columns.len();
    }
    groups
}

/// `spec` with the columns in `kept` alone, ascending.
pub(crate) fn only(spec: &ModelSpec, kept: &[usize]) -> ModelSpec {
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
    let shortlist = Shortlist::new(problem, pool, count, false, options, progress)?;
    Ok(shortlist.spec(&shortlist.kept(count)))
}

/// `spec` with so many features in each bank, all of them kept: whole filters of
/// convolutions, at least one; the inputs themselves (linear) stay as many as they
/// are.
#[must_use]
pub fn pool(spec: &ModelSpec, candidates: u16) -> ModelSpec {
    let mut pool = spec.clone();
    pool.head = None;
    for bank in &mut pool.banks {
        let whole = match bank.family {
            Family::Linear => continue,
            Family::Conv(conv) => conv.cells(),
            _ => 1,
        };
        bank.features = (candidates / whole).max(1) * whole;
        bank.kept = None;
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
        let map = InputMap { offset: 0, shift: 0, log: false, mult: 1 };
        let stump = BankSpec { family: Family::Stump, law: Law::Normal, ..bank.clone() };
        ModelSpec::features(1, 3, MapSpec::Shared(map), vec![bank, stump])
    }

    #[test]
    fn columns_of_a_filter_are_one_group() {
        let mut pool = spec();
        let conv = koan::Conv {
            height: 6,
            channels: 1,
            kernel: 3,
            stride: 1,
            grid: 2,
            proportion: false,
            dilated: false,
        };
        pool.banks[1] =
            BankSpec { family: Family::Conv(conv), features: 8, ..pool.banks[1].clone() };
        let groups = filters(&pool);
        assert_eq!(groups.len(), 12);
        assert_eq!(groups[9], [9]);
        assert_eq!(groups[10], [10, 11, 12, 13]);
        assert_eq!(groups[11], [14, 15, 16, 17]);
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
    fn whole_banks_need_no_list_and_empty_ones_at_the_end_go() {
        let all: Vec<usize> = (0..10).collect();
        let first = only(&spec(), &all);
        assert_eq!(first.banks.len(), 1);
        assert_eq!(first.banks[0].kept, None);
    }
}
