//! The best model under so many bytes: bits of a weight × features that are kept
//! × pools to keep them from × seeds.
//!
//! A part of the training rows that is not fitted to decides. Nothing else is
//! looked at: an error on test rows, measured in the end, is honest, however
//! many seeds were tried.

mod attempt;
mod schedule;
mod size;

use web_time::{Duration, Instant};

use koan::{Calibration, Family, Model};

use crate::blob::{BankSpec, HeadSpec, ModelSpec};
use crate::check::{check, check_balanced};
use crate::fit::{Fitted, fit_loss};
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::prune::{MOST_CANDIDATES, most_features, pool};
use crate::solve::Loss;
use crate::{Error, Point};
use koan_data::{Table, Task};

use attempt::{Attempt, Pool};
use schedule::{Schedule, Work};

/// How to look for a smaller model.
#[derive(Clone, Debug)]
pub struct ShrinkOptions {
    /// Bytes that a blob may have; several sizes share pools and their sums.
    pub flash: Vec<usize>,
    /// Widths to try; by task if empty.
    pub bits: Vec<u8>,
    /// Features of the pools to keep features from; by the largest size if empty.
    pub candidates: Vec<u16>,
    /// What the head minimises in the end.
    pub loss: Loss,
    /// Whether every class has the same weight, also where models are compared. A blob does not
    /// tell how its training counted rows; those of the table count by their own weights.
    pub balanced: bool,
    /// Larger pools and other seeds are tried for so long; if zero, the model's own seed alone,
    /// with all pools. Kept within a tenth, unless the smallest part of the work takes longer:
    /// an eighth of the smallest pool, or the first of [`Self::candidates`].
    pub time: Duration,
}

/// A smaller model and how it was found.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The best blob.
    pub blob: Vec<u8>,
    /// The best blob with the model's own seed.
    pub own_seed: Vec<u8>,
    /// All that was tried.
    pub attempts: Vec<Point>,
    /// The one of them that the blob is.
    pub best: Point,
    /// The Pareto front of sizes of the best pool, from the largest error on validation rows to the
    /// least.
    pub front: Vec<Point>,
    /// Seeds that were tried.
    pub seeds: usize,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// What all attempts share.
pub(crate) struct Base<'m> {
    /// Feature part of the model.
    pub spec: ModelSpec,
    model: Model<'m>,
    problem: Problem<'m>,
    options: ShrinkOptions,
}

impl Base<'_> {
    /// Widths to try.
    fn bits(&self) -> Vec<u8> {
        match self.problem.task() {
            _ if !self.options.bits.is_empty() => self.options.bits.clone(),
            Task::Classification => vec![2, 3, 4],
            Task::Regression => vec![3, 4, 8],
        }
    }

    /// Pools to try: none, and ever larger ones.
    fn pools(&self) -> Vec<u16> {
        if !self.options.candidates.is_empty() {
            return self.options.candidates.clone();
        }
        // All pools of nothing but inputs are the same.
        if self.spec.banks.iter().all(|bank| bank.family == Family::Linear) {
            return vec![1];
        }
        let flash = self.options.flash.iter().copied().max().unwrap_or(0);
        // Filters are looked at in many places of a row.
        let filters = |bank: &BankSpec| matches!(bank.family, Family::Conv(_) | Family::Series(_));
        let of_rows = match self.spec.banks.iter().any(filters) {
            true => usize::MAX,
            false => most_features(self.problem.table.rows()),
        };
        let most = (MOST_CANDIDATES / 2).min(of_rows) / self.spec.banks.len();
        ever_larger(size::most(self, flash, 2), most.max(1))
    }

    /// What training is asked for in the end.
    fn head_options(&self, attempt: &Attempt) -> HeadOptions {
        let head = attempt.point.options.head(self.problem.task());
        HeadOptions { candidates: None, ..head }
    }

    /// The specification of a whole model: what is in the old one beside its
    /// features and its head.
    pub(crate) fn whole(
        &self,
        features: &ModelSpec,
        head: HeadSpec,
        calibration: Option<Calibration>,
    ) -> ModelSpec {
        let names = (0..self.model.classes()).filter_map(|class| self.model.class_name(class));
        ModelSpec {
            task: self.model.task(),
            head: Some(head),
            class_names: names.map(str::to_owned).collect(),
            calibration: self.model.calibration().and(calibration),
            notes: self.model.notes().to_owned(),
            ..features.clone()
        }
    }

    /// Fits an attempt to all training rows.
    fn finish(
        &self,
        attempt: &Attempt,
        progress: &Progress,
    ) -> Result<(Vec<u8>, Vec<String>), Error> {
        let options = self.head_options(attempt);
        self.encode(fit_loss(&self.problem, attempt.spec.clone(), &options, progress)?)
    }

    /// The blob of a fit, and its warnings.
    fn encode(&self, fitted: Fitted) -> Result<(Vec<u8>, Vec<String>), Error> {
        let Fitted { spec, compensated, calibration, warnings, .. } = fitted;
        let blob = self.whole(&spec, compensated, calibration).encode()?;
        crate::blob::predictor(&blob)?.self_test()?;
        Ok((blob, warnings))
    }
}

/// Sizes of pools: from the `least` on, each once, up to the `most`.
fn ever_larger(least: usize, most: usize) -> Vec<u16> {
    let pool = |factor: usize| (factor * least).clamp(1, most) as u16;
    let mut pools: Vec<u16> = [1, 2, 4, 8, 16].map(pool).to_vec();
    pools.dedup();
    pools
}

/// An attempt, and its blob and warnings if they have been made.
#[derive(Clone)]
struct Best {
    attempt: Attempt,
    made: Option<(Vec<u8>, Vec<String>)>,
}

impl Best {
    /// The blob and warnings, made if they have not been.
    fn make(
        &mut self,
        base: &Base<'_>,
        progress: &Progress,
    ) -> Result<(Vec<u8>, Vec<String>), Error> {
        if self.made.is_none() {
            self.made = Some(base.finish(&self.attempt, progress)?);
        }
        Ok(self.made.clone().expect("it has just been made"))
    }
}

/// The search for the best model under one size.
struct Search {
    flash: usize,
    /// The pool that the best features are kept from.
    candidates: u16,
    /// The best with the model's own seed.
    own: Option<Best>,
    best: Option<Best>,
    front: Vec<Point>,
    attempts: Vec<Point>,
}

impl Search {
    /// Looks at what a pool gives under the size. Ridge heads are fitted at once:
    /// the sums of the pool are gone afterwards.
    fn look(
        &mut self,
        base: &Base<'_>,
        pool: &Pool<'_>,
        candidates: u16,
        progress: &Progress,
    ) -> Result<(), Error> {
        progress.phase("rounding the weights")?;
        let tried =
            base.bits().into_iter().filter_map(|bits| pool.attempt(self.flash, bits).transpose());
        let tried = tried.collect::<Result<Vec<_>, Error>>()?;
        self.attempts.extend(tried.iter().map(|attempt| attempt.point.clone()));
        // Of those that are as good as each other the smallest.
        let order = |a: &Point, b: &Point| a.loss.total_cmp(&b.loss).then(a.bytes.cmp(&b.bytes));
        let best = tried.into_iter().min_by(|a, b| order(&a.point, &b.point));
        if let Some(attempt) = best
            && self
                .best
                .as_ref()
                .is_none_or(|best| order(&attempt.point, &best.attempt.point).is_lt())
        {
            self.front = pool.front(&attempt)?;
            self.candidates = candidates;
            let ridge = base.options.loss == Loss::Squared;
            let made = if ridge { Some(pool.finish(&attempt, progress)?) } else { None };
            self.best = Some(Best { attempt, made });
        }
        Ok(())
    }

    /// The end of the search.
    fn finish(self, base: &Base<'_>, seeds: usize, progress: &Progress) -> Result<Shrunk, Error> {
        let (Some(mut own), Some(mut best)) = (self.own, self.best) else {
            let least = self.attempts.iter().map(|point| point.bytes).min();
            let least = least.map(|bytes| format!("; the smallest that was tried has {bytes}"));
            let message = format!("nothing fits in {} bytes", self.flash);
            return Err(Error::parameter("flash", message + &least.unwrap_or_default()));
        };
        let (own_seed, own_warnings) = own.make(base, progress)?;
        let same = best.attempt.point.options.seed == own.attempt.point.options.seed;
        let (blob, warnings) =
            if same { (own_seed.clone(), own_warnings) } else { best.make(base, progress)? };
        if blob.len() > self.flash {
            return Err(Error::Impossible(format!("the model came out at {} bytes", blob.len())));
        }
        let Self { attempts, front, .. } = self;
        Ok(Shrunk { blob, own_seed, attempts, best: best.attempt.point, front, seeds, warnings })
    }
}

/// Looks for the best model under each of the sizes that has the input maps, the
/// families and the frequencies of `blob`.
///
/// # Errors
/// A model that cannot be shrunk, such as one without a head or of bins; a size
/// that not even one feature fits in; a table that does not suit the model.
pub fn shrink(
    blob: &[u8],
    train: &Table,
    options: &ShrinkOptions,
    progress: &Progress,
) -> Result<Vec<Shrunk>, Error> {
    let start = Instant::now();
    let model = Model::parse(blob)?;
    check_balanced(train, options.balanced)?;
    let problem = Problem::new(train, options.balanced);
    check(&problem)?;
    if model.task() == koan::Task::Regression && model.outputs() > 1 {
        let message = "an embedding has no target that a smaller model could be fitted to";
        return Err(Error::Impossible(message.into()));
    }
    if model.outputs() != problem.outputs || model.inputs() != train.inputs {
        return Err(Error::Impossible("the data are not what the model was trained on".into()));
    }
    let base =
        Base { spec: ModelSpec::features_of(&model), model, problem, options: options.clone() };
    if base.spec.banks.iter().any(|bank| matches!(bank.family, Family::Bin { .. })) {
        return Err(Error::Impossible("models of bins cannot be shrunk".into()));
    }
    if base.spec.banks.iter().any(|bank| matches!(bank.family, Family::Fern { .. })) {
        return Err(Error::Impossible("models of ferns cannot be shrunk".into()));
    }
    for &flash in &options.flash {
        let bytes = size::least(&base, 2)?;
        if bytes > flash {
            let notes = match base.model.notes().len() {
                0 => String::new(),
                notes => format!(
                    "; {notes} of them are its notes, with the names of columns, if it was trained \
                     with them"
                ),
            };
            return Err(Error::Impossible(format!(
                "a model with one feature has {bytes} bytes, {flash} are allowed{notes}"
            )));
        }
    }
    let search = |&flash| Search {
        flash,
        candidates: 0,
        own: None,
        best: None,
        front: Vec::new(),
        attempts: Vec::new(),
    };
    let searches = options.flash.iter().map(search).collect();
    let pools = base.pools();
    let schedule = Schedule {
        pools: &pools,
        open: options.candidates.is_empty(),
        banks: base.spec.banks.len(),
        limit: (!options.time.is_zero()).then_some(options.time.as_secs_f64()),
    };
    let mut looking = Looking { base: &base, searches, start };
    let seeds = schedule.run(&mut looking, progress)?;
    looking.searches.into_iter().map(|search| search.finish(&base, seeds, progress)).collect()
}

/// The searches under all sizes, which share pools.
struct Looking<'b, 'm> {
    base: &'b Base<'m>,
    searches: Vec<Search>,
    start: Instant,
}

impl Work for Looking<'_, '_> {
    fn elapsed(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn look(&mut self, seed: u64, candidates: u16, progress: &Progress) -> Result<(), Error> {
        let features = pool(&self.base.spec, candidates);
        let spec = ModelSpec { seed: self.base.model.seed().wrapping_add(seed), ..features };
        let pool = Pool::new(self.base, spec, progress)?;
        // Other seeds are looked at with the pool that suits a size best.
        let suits = |search: &&mut Search| seed == 0 || search.candidates == candidates;
        for search in self.searches.iter_mut().filter(suits) {
            search.look(self.base, &pool, candidates, progress)?;
        }
        Ok(())
    }

    fn fit(&mut self, progress: &Progress) -> Result<(), Error> {
        for best in self.searches.iter_mut().filter_map(|search| search.best.as_mut()) {
            best.make(self.base, progress)?;
        }
        Ok(())
    }

    fn unfitted(&self) -> Vec<usize> {
        if self.base.options.loss == Loss::Squared {
            return Vec::new();
        }
        let best = self.searches.iter().filter_map(|search| search.best.as_ref());
        best.map(|best| best.attempt.point.options.features[0].into()).collect()
    }

    fn pools(&self) -> Vec<u16> {
        let found = self.searches.iter().filter(|search| search.best.is_some());
        let mut pools: Vec<u16> = found.map(|search| search.candidates).collect();
        pools.sort_unstable();
        pools.dedup();
        pools
    }

    fn keep_own(&mut self) {
        self.searches.iter_mut().for_each(|search| search.own.clone_from(&search.best));
    }
}

#[cfg(test)]
mod tests {
    use super::ever_larger;

    #[test]
    fn no_pool_is_tried_twice() {
        assert_eq!(ever_larger(100, 4096), [100, 200, 400, 800, 1600]);
        assert_eq!(ever_larger(1000, 4096), [1000, 2000, 4000, 4096]);
        assert_eq!(ever_larger(16_000, 4096), [4096]);
        assert_eq!(ever_larger(0, 4096), [1]);
    }
}
