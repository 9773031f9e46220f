//! What may be changed in a model, one thing at a time.

use super::ferns::is_fern;
use super::refine::{MOST_COLUMNS, Refined, Refinement};
use super::sizes::{bytes, sizes};
use crate::prune::MOST_CANDIDATES;
use crate::solve::Loss;
use crate::train::bank_plans;
use crate::{Error, FamilyName, Point, TrainOptions, ferns};
use koan_data::Task;

/// Features of a pool for each that is kept.
pub(super) const POOL: usize = 4;
/// Part of the flash that is left for lists longer than one of features kept at random:
/// a model that does not fit after all is to be trained again.
const LIST_ROOM: usize = 256;
/// Other families that are added to the best.
const OTHERS: usize = 3;

/// What was changed in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing: it comes from the rungs.
    None,
    Loss(Loss),
    Bits(u8),
    Lambda,
    Together(FamilyName),
    Relevance,
    Frequency,
    Linear,
    Depth(u8),
    Selected,
    Smaller,
}

/// A model with its features and bits, which is to be judged.
#[derive(Clone, Debug)]
pub(super) struct Sized {
    pub point: Point,
    pub change: Change,
    /// Bytes that it was to fill.
    pub room: usize,
    pub columns: usize,
}

impl Refinement<'_> {
    /// What may be changed in number `best` of the models that were judged, what most often
    /// helps first; of as many bytes as it has, or half of them.
    pub(super) fn moves(
        &mut self,
        refined: &[Refined],
        best: usize,
        least: usize,
    ) -> Result<Vec<Sized>, Error> {
        let space = self.search.space;
        let base = &space.base;
        let &Refined { ref point, lambda, room: target, .. } = &refined[best];
        let options = TrainOptions { lambda: base.lambda, ..point.options.clone() };
        let bits = options.bits.unwrap_or(4);
        let mut moves = Vec::new();
        let mut add = |sized: Option<Sized>, change: Change| {
            moves.extend(sized.map(|sized| Sized { change, ..sized }));
        };
        if self.search.problem.task() == Task::Classification && base.loss.is_none() {
            let loss = match options.loss() {
                Loss::Squared => Loss::Logistic,
                _ => Loss::Squared,
            };
            let other = TrainOptions { loss: Some(loss), ..options.clone() };
            let other = self.sized(&other, bits, target)?;
            let suits =
                |sized: &Sized| loss == Loss::Squared || !self.is_ridge(&options, sized.columns);
            add(other.filter(suits), Change::Loss(loss));
        }
        if is_fern(&options) {
            // Before the work is over: what else is changed in ferns matters less.
            for depth in [1, 2, 3, 4] {
                let other = TrainOptions { depth, ..options.clone() };
                let near = depth.abs_diff(options.depth) == 1;
                if near {
                    add(self.sized(&other, bits, target)?, Change::Depth(depth));
                }
            }
        }
        if base.bits.is_none() {
            for other in [2, 3, 4, 8] {
                add(self.sized(&options, other, target)?, Change::Bits(other));
            }
        }
        // Few rows may be told best by few features.
        if target / 2 >= least {
            add(self.sized(&options, bits, target / 2)?, Change::Smaller);
        }
        if let (Some(lambda), None) = (lambda, point.options.lambda) {
            // The one that the first part chose, and its neighbours.
            for factor in [3.0, 1.0, 1.0 / 3.0] {
                let lambda = digits(lambda * factor);
                let fixed = TrainOptions { lambda: Some(lambda), ..point.options.clone() };
                add(Some(Sized::of(fixed, &refined[best])), Change::Lambda);
            }
        }
        for other in self.others(refined, best) {
            let change = Change::Together(other.families[0]);
            let other = TrainOptions { linear: base.linear, ..together(&options, &other) };
            add(self.sized(&other, bits, target)?, change);
        }
        let inputs = self.search.problem.table.inputs;
        let without = (options.relevance == Some(true) && base.relevance.is_none())
            .then(|| TrainOptions { relevance: Some(false), ..options.clone() });
        for (options, change) in [
            (space.with_relevance(&options, inputs), Change::Relevance),
            (without, Change::Relevance),
            (space.with_frequency(&options, 1.3), Change::Frequency),
            (space.with_frequency(&options, 1.0 / 1.3), Change::Frequency),
            (space.with_linear(&options), Change::Linear),
        ] {
            if let Some(options) = options
                && self.learned(&options)?
            {
                add(self.sized(&options, bits, target)?, change);
            }
        }
        add(self.selected(&options, bits, target, POOL)?, Change::Selected);
        Ok(moves)
    }

    /// The best model of each other single family.
    fn others(&self, refined: &[Refined], best: usize) -> Vec<TrainOptions> {
        let mine = &refined[best].point.options.families;
        let space = self.search.space;
        let single = mine.iter().all(suits_others);
        if mine.len() > 1 || !single || space.base.projection.is_some() {
            return Vec::new();
        }
        let mut others: Vec<TrainOptions> = Vec::new();
        for Refined { point, .. } in refined {
            let options = &point.options;
            let [family] = options.families[..] else { continue };
            let known = others.iter().any(|other| other.families == options.families);
            let suits = suits_others(&family);
            if suits && !known && &options.families != mine && others.len() < OTHERS {
                others.push(options.clone());
            }
        }
        others
    }

    /// The options with as many features as fit; none if not even one does.
    pub(super) fn sized(
        &self,
        options: &TrainOptions,
        bits: u8,
        target: usize,
    ) -> Result<Option<Sized>, Error> {
        if options.candidates.is_some() || is_fern(options) {
            return self.kept(options, bits, target, POOL);
        }
        let limits = self.search.limits;
        let (spec, footprint) = self.search.small(options, &self.inputs)?;
        let most = MOST_COLUMNS.min(self.search.most_columns(options));
        let sizes = sizes(&spec, &footprint, &limits, &[target], &[bits], most);
        let fits = limits.ram.is_none_or(|ram| footprint.ram <= ram);
        let Some(size) = sizes.into_iter().next().filter(|_| fits) else { return Ok(None) };
        let banks = spec.banks.iter().zip(&size.features);
        let columns = banks.map(|(bank, &k)| crate::blob::columns(bank.family, k)).sum();
        let bytes = bytes(&spec, &footprint, &size);
        let instructions = footprint.instructions(limits.core, &size.features, bits);
        let features = size.features[..options.families.len()].to_vec();
        let options = TrainOptions { features, bits: Some(bits), ..options.clone() };
        let point = Point::new(options, bytes, footprint.ram, instructions);
        Ok(Some(Sized { point, change: Change::None, room: target, columns }))
    }

    /// The same way with features kept from a pool of `pool` times as many.
    pub(super) fn selected(
        &self,
        options: &TrainOptions,
        bits: u8,
        target: usize,
        pool: usize,
    ) -> Result<Option<Sized>, Error> {
        let suits = match options.families[..] {
            [family] => !matches!(family, FamilyName::Bin | FamilyName::Fern | FamilyName::Linear),
            _ => false,
        };
        if !suits || options.linear || options.candidates.is_some() {
            return Ok(None);
        }
        self.kept(options, bits, target, pool)
    }

    /// The options with as many features, kept from a pool, as fit.
    fn kept(
        &self,
        options: &TrainOptions,
        bits: u8,
        target: usize,
        pool: usize,
    ) -> Result<Option<Sized>, Error> {
        let limits = self.search.limits;
        let (_, footprint) = self.search.small(options, &self.inputs)?;
        if limits.ram.is_some_and(|ram| footprint.ram > ram) {
            return Ok(None);
        }
        let of = |kept: u16| {
            let usual = match is_fern(options) {
                true => ferns::POOL,
                false => (usize::from(kept) * pool).min(MOST_CANDIDATES) as u16,
            };
            let pool = self.search.space.base.candidates.unwrap_or(usual);
            let (bytes, instructions) = footprint.selected(limits.core, pool, kept, bits).ok()?;
            let slow = limits.instructions.is_some_and(|limit| instructions > limit);
            // The list of the features kept is not known yet: a little room for it.
            let fits = bytes + self.search.limits.flash / LIST_ROOM <= target;
            (fits && !slow && kept < pool).then_some((bytes, instructions, pool))
        };
        let most = MOST_COLUMNS.min(self.search.most_columns(options));
        let most = (most / 2).min(MOST_CANDIDATES / 2) as u16;
        let most = if is_fern(options) { self.most_ferns(options.depth) } else { most };
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if of(middle).is_some() { low = middle } else { high = middle - 1 }
        }
        let Some((bytes, instructions, pool)) = of(low).filter(|_| low > 0) else {
            return Ok(None);
        };
        let options = TrainOptions {
            features: vec![low],
            candidates: Some(pool),
            bits: Some(bits),
            ..options.clone()
        };
        let family = bank_plans(self.search.problem.table, &options)?[0].family;
        let columns = crate::blob::columns(family, low);
        let point = Point::new(options, bytes, footprint.ram, instructions);
        Ok(Some(Sized { point, change: Change::None, room: target, columns }))
    }
}

impl Sized {
    /// Other options of the size of a model.
    pub(super) fn of(options: TrainOptions, model: &Refined) -> Self {
        let point = Point { options, ..model.point.clone() };
        Self { point, change: Change::None, room: model.room, columns: 0 }
    }
}

/// Whether a family is put beside another one.
fn suits_others(family: &FamilyName) -> bool {
    use FamilyName::{Bin, Conv, Fern, Linear, Series};
    !matches!(family, Conv | Series | Linear | Bin | Fern)
}

/// Both families side by side, each with its usual projection.
fn together(options: &TrainOptions, other: &TrainOptions) -> TrainOptions {
    let of = |name: FamilyName| if options.families[0] == name { options } else { other };
    let frequencies = |options: &TrainOptions| {
        options.frequency.as_ref().and_then(|all| all.first().copied()).unwrap_or(1.0)
    };
    TrainOptions {
        families: vec![options.families[0], other.families[0]],
        projection: None,
        frequency: Some(vec![frequencies(options), frequencies(other)]),
        pool: of(FamilyName::Maxout).pool,
        slot_bits: of(FamilyName::Bin).slot_bits,
        candidates: None,
        ..options.clone()
    }
}

/// Three digits are enough, and what a user wants to read.
pub(super) fn digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
