//! The candidates of a rung.

use super::halving::Search;
use super::inputs::Inputs;
use super::pace::Pace;
use super::rank::{Entry, ranked};
use crate::folds::Folds;
use crate::{Error, TrainOptions};

/// Candidates of the second and the last rung, at most.
const KEPT: [usize; 2] = [24, 9];
/// Share of the time that learning scales of a kind of map may take.
const LEARNING_SHARE: f64 = 0.4;

impl Search<'_> {
    /// The candidates of a rung: the best of the one before at each number of
    /// bytes, and their neighbours.
    pub(super) fn next(
        &self,
        rung: usize,
        entries: &[Entry],
        folds: &Folds,
        inputs: &mut Inputs,
        pace: &mut Pace,
    ) -> Result<Vec<TrainOptions>, Error> {
        let ranked = ranked(entries, &self.targets(rung - 1));
        let best = |count: usize| ranked.iter().take(count).map(|&i| &entries[i].options);
        let mut next: Vec<TrainOptions> = Vec::new();
        let mut add = |options: Option<TrainOptions>| {
            if let Some(options) = options.filter(|options| !next.contains(options)) {
                next.push(options);
            }
        };
        let space = self.space;
        if rung == 1 {
            best(KEPT[0] / 2).for_each(|options| add(Some(options.clone())));
            let around = std::f64::consts::SQRT_2;
            for options in best(3) {
                add(space.with_linear(options));
                add(space.with_relevance(options, self.problem.table.inputs));
            }
            for options in best(4) {
                add(space.with_frequency(options, around));
                add(space.with_frequency(options, 1.0 / around));
            }
            next.truncate(KEPT[0]);
        } else {
            best(KEPT[1] - 3).for_each(|options| add(Some(options.clone())));
            for options in best(1) {
                add(space.with_frequency(options, 1.19));
                add(space.with_frequency(options, 1.0 / 1.19));
            }
            for options in best(1) {
                add(space.with_relevance(options, self.problem.table.inputs));
                add(space.with_linear(options));
            }
            next.truncate(KEPT[1]);
        }
        self.learn(next, folds, inputs, pace)
    }

    /// Learns the scales that candidates need; those that need scales for which
    /// there is no time are left out.
    pub(super) fn learn(
        &self,
        candidates: Vec<TrainOptions>,
        folds: &Folds,
        inputs: &mut Inputs,
        pace: &mut Pace,
    ) -> Result<Vec<TrainOptions>, Error> {
        let problem = self.problem;
        let work =
            folds.held.len() as f64 * crate::relevance::work(problem.table.inputs, problem.outputs);
        let mut kept = Vec::with_capacity(candidates.len());
        for options in candidates {
            let (Some(true), Some(kind)) = (options.relevance, options.map) else {
                kept.push(options);
                continue;
            };
            // Where it was asked for there is no way without.
            let wanted = self.space.base.relevance == Some(true);
            if !inputs.has_learned(kind) && !wanted && !pace.affords(work, LEARNING_SHARE) {
                continue;
            }
            inputs.learn(problem, kind, folds, options.seed, self.progress)?;
            kept.push(options);
        }
        Ok(kept)
    }
}
