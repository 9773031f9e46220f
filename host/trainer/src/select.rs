//! Choosing what the user left open: input map, frequency, law.
//!
//! Everything is judged by squared error on rows held out from a sample of the
//! training rows; the test rows are never looked at.

mod linear;
mod tuning;

use std::cell::{Cell, RefCell};

use koan::{Family, Law};

use crate::Error;
use crate::blob::{ModelSpec, whole};
use crate::folds::SMALL_ROWS;
use crate::map_choice;
use crate::normalise::{Kind, Normaliser};
use crate::options::ChoiceOptions;
use crate::plan::{BankPlan, realise};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::relevance;
use crate::validation::{Sample, validate};

use tuning::Tuning;

/// What was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Feature part of the model.
    pub spec: ModelSpec,
    /// How the inputs are normalised.
    pub normaliser: Normaliser,
    /// Which kind of line they got.
    pub kind: Kind,
    /// Whether the inputs' relevance was learned.
    pub relevance: bool,
    /// The banks with their final frequencies and laws.
    pub banks: Vec<BankPlan>,
    /// What was tried, in order.
    pub trials: Vec<Trial>,
}

/// A way to map inputs and draw features that was tried on held-out training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// How the inputs were normalised.
    pub map: Kind,
    /// Whether with a frequency learned for every input.
    pub relevance: bool,
    /// The law that stumps had, if it was a question.
    pub threshold: Option<Law>,
    /// Whether transforms were replaced by dense projections.
    pub dense: bool,
    /// Whether this belongs to the last comparison, on more rows and features.
    pub last: bool,
    /// Factor on the frequencies of all banks.
    pub frequency: f64,
    /// Mean squared error on the held-out rows.
    pub error: f64,
}

/// A map for each input must lower the squared error by this share...
const WORTH_A_MAP: f64 = 0.02;
/// ...and by so much for each doubling of the blob that it causes: about what
/// twice the features would buy.
const WORTH_DOUBLING: f64 = 0.12;
/// Learned relevance must lower the squared error by this share.
const WORTH_RELEVANCE: f64 = 0.03;
/// Groups of inputs up to which bins have their scales polished.
const POLISHED_GROUPS: usize = 40;
/// Grids by which scales are polished, at most.
const POLISHED_GRIDS: u16 = 100;

/// Chooses normalisation, frequencies and laws for `banks`.
///
/// # Errors
/// Banks that the format does not allow.
pub fn choose(
    problem: &Problem<'_>,
    rows: &[usize],
    banks: &[BankPlan],
    options: &ChoiceOptions,
    progress: &Progress,
) -> Result<Choice, Error> {
    let slides = |bank: &BankPlan| matches!(bank.family, Family::Conv(_) | Family::Series(_));
    let chooser = Chooser {
        problem,
        rows,
        options,
        // What slides over the inputs takes them for ones of a kind.
        kinds: match options.map {
            Some(kind) => vec![kind],
            None if banks.iter().any(slides) => vec![Kind::of_many(problem.table)],
            None => map_choice::of_given(problem.table, rows),
        },
        trials: RefCell::default(),
        trying: Cell::new((Kind::Shared, false, false)),
    };
    if let Some(choice) = chooser.given(banks) {
        return Ok(choice);
    }
    progress.phase("choosing the input map")?;
    // Bins see more rows: how fine a grid may be depends on how many there are.
    let bins = banks.iter().all(|bank| matches!(bank.family, Family::Bin { .. }));
    let most = if bins { 30_000 } else { (rows.len() / 4).clamp(6000, 15_000) };
    let sample = Sample::folds(problem, most);
    let pilots: Vec<BankPlan> = banks
        .iter()
        .map(|bank| small(bank, if rows.len() < SMALL_ROWS { 512 } else { 1024 }))
        .collect();
    let mut candidates = Vec::new();
    for &kind in &chooser.kinds {
        let normaliser = Normaliser::fit(problem.table, rows, kind);
        candidates.push(chooser.candidate(&pilots, normaliser, kind, false, &sample, banks)?);
    }
    // Relevance is learned on top of the better map for each input, or of a shared one if
    // that was asked for.
    let base = candidates
        .iter()
        .filter(|candidate| chooser.scales(candidate.kind))
        .min_by(|a, b| a.error.total_cmp(&b.error));
    if let Some(base) = base
        && chooser.may_learn_relevance(banks)
    {
        let spread = base.normaliser.spread(problem.table, rows);
        let typical = base.tuning.frequency.clamp(0.3, 1.5) / spread.variance.sqrt();
        let factors =
            relevance::learn(problem, rows, &base.normaliser, typical, options.seed, progress)?;
        let scaled = base.normaliser.scaled(&factors);
        let mut candidate = chooser.candidate(&pilots, scaled, base.kind, true, &sample, banks)?;
        if bins {
            progress.phase("learning which inputs matter to bins")?;
            candidate = chooser.polish(&pilots, candidate, &sample, banks)?;
        }
        if options.relevance == Some(true) {
            candidates.clear();
        }
        candidates.push(candidate);
    }
    // What small samples say of learned scales is too little: they pay more the
    // more rows there are. So the best with and without them are tuned and
    // compared again, on more rows and more features.
    progress.phase("choosing the frequency")?;
    let full: Vec<BankPlan> = banks.iter().map(|bank| small(bank, 2048)).collect();
    let sample = Sample::folds(problem, if bins { 60_000 } else { 20_000 });
    let mut best: Option<Candidate> = None;
    for relevance in [false, true] {
        let group = candidates.iter().filter(|candidate| candidate.relevance == relevance);
        let Some(first) = group.min_by(|a, b| a.cost.total_cmp(&b.cost)) else { continue };
        chooser.trying.set((first.kind, relevance, true));
        let (error, tuning) = chooser.refine(&full, &first.normaliser, &sample, first.tuning)?;
        let refined = Candidate { tuning, ..chooser.priced(first, error, banks) };
        if best.as_ref().is_none_or(|best| refined.cost < best.cost) {
            best = Some(refined);
        }
    }
    let Some(Candidate { kind, normaliser, tuning, relevance, .. }) = best else {
        return Err(Error::Impossible("no input map to choose from".into()));
    };
    let banks = tuning.apply(banks);
    let spread = normaliser.spread(problem.table, rows);
    let spec = realise(options.seed, &banks, &normaliser, &spread);
    let trials = chooser.trials.into_inner();
    Ok(Choice { spec, normaliser, kind, relevance, banks, trials })
}

/// The bank with at most so many features, for a quick comparison.
fn small(bank: &BankPlan, most: u16) -> BankPlan {
    let features = match bank.family {
        Family::Linear => bank.features,
        // Kept features need not make up whole filters.
        _ if bank.kept.is_some() => bank.features.min(most),
        // The first ferns stand for those that will be chosen.
        Family::Fern { depth } => bank.features.min(most >> depth),
        family => whole(family, bank.features.min(most)),
    };
    let kept = bank.kept.as_ref().map(|kept| kept[..usize::from(features)].to_vec());
    BankPlan { features, kept, ..bank.clone() }
}

/// A way to map inputs, and how good it is.
#[derive(Clone)]
struct Candidate {
    kind: Kind,
    normaliser: Normaliser,
    tuning: Tuning,
    relevance: bool,
    /// Squared error on held-out rows.
    error: f64,
    /// The error, raised by what the map's bytes are worth.
    cost: f64,
}

struct Chooser<'c> {
    problem: &'c Problem<'c>,
    rows: &'c [usize],
    options: &'c ChoiceOptions,
    /// The kinds of map to compare, cheapest in bytes first.
    kinds: Vec<Kind>,
    trials: RefCell<Vec<Trial>>,
    /// The map, whether with relevance, and whether for the last time.
    trying: Cell<(Kind, bool, bool)>,
}

impl Chooser<'_> {
    /// The choice when options leave nothing to choose.
    fn given(&self, banks: &[BankPlan]) -> Option<Choice> {
        let [kind] = self.kinds[..] else { return None };
        let [threshold] = self.thresholds(banks)[..] else { return None };
        let [frequency] = self.grid(banks)[..] else { return None };
        let relevance = self.scales(kind) && self.may_learn_relevance(banks);
        if relevance || self.may_be_dense(banks) {
            return None;
        }
        let normaliser = Normaliser::fit(self.problem.table, self.rows, kind);
        let banks = Tuning { frequency, threshold, dense: false }.apply(banks);
        let spread = normaliser.spread(self.problem.table, self.rows);
        let spec = realise(self.options.seed, &banks, &normaliser, &spread);
        Some(Choice { spec, normaliser, kind, relevance: false, banks, trials: Vec::new() })
    }

    /// Whether a kind of map may get learned scales: one that is not for each input only if these
    /// were asked for, and there is no other. Gains of a byte hold less of what is learned than lines
    /// do (docs/decisions.md); a search may try it, as it judges models after rounding.
    fn scales(&self, kind: Kind) -> bool {
        let of_each = |kind| matches!(kind, Kind::PerInput | Kind::PerInputLog);
        let asked = self.options.relevance == Some(true);
        of_each(kind) || asked && !self.kinds.iter().copied().any(of_each)
    }

    fn may_learn_relevance(&self, banks: &[BankPlan]) -> bool {
        // Thresholds and linear terms do not care, groups have frequencies of
        // their own.
        let cares = banks.iter().all(|bank| {
            bank.groups.is_empty()
                && !matches!(
                    bank.family,
                    Family::Stump
                        | Family::Fern { .. }
                        | Family::Linear
                        | Family::Conv(_)
                        | Family::Series(_)
                )
        });
        let affordable = self.map_share(6, banks) < 1.0 && self.problem.table.inputs > 1;
        self.options.relevance.unwrap_or(cares && affordable)
    }

    /// So many bytes for each input, as a share of the rest of the blob.
    fn map_share(&self, each: usize, banks: &[BankPlan]) -> f64 {
        let columns: usize = banks.iter().map(BankPlan::columns).sum();
        let bits = usize::from(self.options.bits);
        let rest = 64 + columns * self.problem.outputs * bits / 8;
        (each * self.problem.table.inputs) as f64 / rest as f64
    }

    /// A way to map inputs, tuned and judged.
    fn candidate(
        &self,
        pilots: &[BankPlan],
        normaliser: Normaliser,
        kind: Kind,
        relevance: bool,
        sample: &[Sample],
        banks: &[BankPlan],
    ) -> Result<Candidate, Error> {
        self.trying.set((kind, relevance, false));
        let (error, tuning) = self.coarse(pilots, &normaliser, sample, relevance)?;
        let candidate = Candidate { kind, normaliser, tuning, relevance, error, cost: error };
        Ok(self.priced(&candidate, error, banks))
    }

    /// The candidate with another error, and the cost that follows from it.
    fn priced(&self, candidate: &Candidate, error: f64, banks: &[BankPlan]) -> Candidate {
        let map = match candidate.kind {
            Kind::Shared | Kind::PerChannel => 0.0,
            kind => {
                let each = if kind == Kind::GainPerInput { 1 } else { 6 };
                WORTH_A_MAP + WORTH_DOUBLING * (1.0 + self.map_share(each, banks)).log2()
            }
        };
        let relevance = if candidate.relevance { WORTH_RELEVANCE } else { 0.0 };
        Candidate { error, cost: error * (1.0 + map + relevance), ..candidate.clone() }
    }

    /// Improves learned scales for bins, which smooth features only approximate:
    /// one input after the other (indicators, of which there may be many, all at
    /// once) is made more or less important, or dropped, while that helps.
    fn polish(
        &self,
        pilots: &[BankPlan],
        mut candidate: Candidate,
        sample: &[Sample],
        banks: &[BankPlan],
    ) -> Result<Candidate, Error> {
        let axes = &candidate.normaliser.axes;
        let two_valued = |&input: &usize| {
            let value = |row: usize| self.problem.table.row(self.rows[row])[input];
            let first = value(0);
            let other = (0..self.rows.len()).map(value).find(|&v| v != first).unwrap_or(first);
            (0..self.rows.len()).map(value).all(|v| v == first || v == other)
        };
        let (indicators, numbers): (Vec<usize>, Vec<usize>) = (0..axes.len()).partition(two_valued);
        let mut groups: Vec<Vec<usize>> = numbers.into_iter().map(|input| vec![input]).collect();
        if !indicators.is_empty() {
            groups.push(indicators);
        }
        if groups.len() > POLISHED_GROUPS {
            return Ok(candidate);
        }
        let few: Vec<BankPlan> = pilots.iter().map(|bank| small(bank, POLISHED_GRIDS)).collect();
        if few != pilots {
            let Candidate { normaliser, tuning, .. } = &candidate;
            candidate.error = self.error(&few, normaliser, sample, *tuning)?;
        }
        for factors in [&[0.0, 0.5, 2.0][..], &[0.7, 1.4], &[0.7, 1.4]] {
            for group in &groups {
                for factor in factors {
                    let mut scales = vec![1.0; candidate.normaliser.axes.len()];
                    for &input in group {
                        scales[input] = *factor;
                    }
                    let normaliser = candidate.normaliser.scaled(&scales);
                    // The frequency counts from the spread, which has changed.
                    let before = candidate.normaliser.spread(self.problem.table, self.rows);
                    let after = normaliser.spread(self.problem.table, self.rows);
                    let kept = after.distance_l1 / before.distance_l1;
                    let frequency = candidate.tuning.frequency * kept;
                    let tuning = Tuning { frequency, ..candidate.tuning };
                    let error = self.error(&few, &normaliser, sample, tuning)?;
                    if error < candidate.error {
                        candidate = self.priced(
                            &Candidate { normaliser, tuning, ..candidate },
                            error,
                            banks,
                        );
                    }
                }
            }
        }
        Ok(candidate)
    }

    fn error(
        &self,
        banks: &[BankPlan],
        normaliser: &Normaliser,
        sample: &[Sample],
        tuning: Tuning,
    ) -> Result<f64, Error> {
        let spread = normaliser.spread(self.problem.table, self.rows);
        let spec = realise(self.options.seed, &tuning.apply(banks), normaliser, &spread);
        let (lambda, bits) = (self.options.lambda, self.options.bits);
        let error = if linear::suits(self.problem, banks) {
            linear::validate(self.problem, &spec, sample, (lambda, bits))?
        } else {
            validate(self.problem, &spec, sample, lambda)?
        };
        let (map, relevance, last) = self.trying.get();
        let Tuning { frequency, threshold, dense } = tuning;
        let trial = Trial { map, relevance, threshold, dense, last, frequency, error };
        self.trials.borrow_mut().push(trial);
        Ok(error)
    }
}
