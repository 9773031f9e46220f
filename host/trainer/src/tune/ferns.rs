//! Ferns in a search. How good they are says nothing of those that come first in the pool, so
//! the rungs cannot judge them: a few ways to make them are compared as finished models on one
//! held-out part, and the best go on among the models that are refined.

use super::moves::Sized;
use super::refine::{Refinement, SMALLEST};
use super::space::Space;
use crate::ferns::POOL;
use crate::parallel;
use crate::problem::Problem;
use crate::{Error, FamilyName, TrainOptions};
use koan::Law;
use koan_data::Task;

/// Ways that go on.
const WAYS: usize = 2;
/// The λ that ways are compared with.
const LAMBDA: f64 = 1e-2;
/// Ferns of a model that is searched, at most, and their leaves, of which a head has a weight
/// each.
const MOST_FERNS: usize = 2048;
const MOST_LEAVES: usize = 16_384;
/// Ferns for each row, at most, where there are more than a few: one of so many rows.
const ROWS_OF_A_FERN: usize = 2;
const FEW_FERNS: usize = 64;

/// A way to make ferns that is compared with others.
struct Compared {
    sized: Sized,
    /// The same with a given λ.
    quick: TrainOptions,
    /// Multiply-adds of that on one held-out part.
    work: f64,
}

/// Whether a model is of ferns alone.
pub(super) fn is_fern(options: &TrainOptions) -> bool {
    matches!(options.families[..], [FamilyName::Fern])
}

impl Space {
    /// The ways to make ferns: on every input map that suits the data, with two and three
    /// comparisons.
    pub(super) fn ferns(&self, problem: &Problem<'_>) -> Vec<TrainOptions> {
        let law = self.base.projection.unwrap_or(Law::Gaussian);
        let suits = matches!(law, Law::Gaussian | Law::Uniform) && !self.base.linear;
        if !self.families.contains(&FamilyName::Fern) || !suits {
            return Vec::new();
        }
        let rows: Vec<usize> = (0..problem.table.rows()).collect();
        let ways =
            self.kinds(problem, &rows).into_iter().flat_map(|kind| [2, 3].map(|d| (kind, d)));
        ways.map(|(kind, depth)| TrainOptions {
            families: vec![FamilyName::Fern],
            projection: Some(law),
            frequency: Some(self.base.frequency.clone().unwrap_or_else(|| vec![1.0])),
            map: Some(kind),
            relevance: Some(false),
            candidates: Some(self.base.candidates.unwrap_or(POOL)),
            depth,
            ..self.base.clone()
        })
        .collect()
    }
}

impl Refinement<'_> {
    /// The best ways to make ferns for models of `target` bytes, or of fewer where there is no
    /// time to judge so large ones; and these bytes. They may be `alone`, with no other models.
    pub(super) fn ferns(
        &mut self,
        alone: bool,
        target: usize,
        reserve: f64,
    ) -> Result<(usize, Vec<Sized>), Error> {
        if self.is_over() {
            return Ok((target, Vec::new()));
        }
        let search = self.search;
        let classes = search.problem.task() == Task::Classification;
        let bits = search.space.base.bits.unwrap_or(if classes { 3 } else { 4 });
        let mut all = search.space.ferns(search.problem);
        for options in &mut all {
            options.loss.get_or_insert(self.usual_loss());
        }
        let mut room = target;
        // All of the same bytes, so that they can be compared.
        let mut compared = self.compared_ways(&all, bits, room)?;
        while room / 2 >= target / SMALLEST && !self.affords_all(&compared, reserve)? {
            let smaller = self.compared_ways(&all, bits, room / 2)?;
            if smaller.is_empty() {
                break;
            }
            (room, compared) = (room / 2, smaller);
        }
        let mut ways = Vec::new();
        for Compared { sized, quick, work } in compared {
            // Where there is nothing else, one is there whatever it takes.
            let needed = alone && ways.is_empty();
            if needed || work <= self.available(reserve).min(self.each) {
                self.left -= work;
                ways.push((sized, quick));
            }
        }
        search.progress.phase("comparing ferns")?;
        let this = &*self;
        let values = parallel::try_map(ways.len(), |way| this.quick_value(&ways[way].1))?;
        let mut judged: Vec<(f64, Sized)> =
            values.into_iter().zip(ways.into_iter().map(|(sized, _)| sized)).collect();
        judged.sort_by(|a, b| a.0.total_cmp(&b.0));
        judged.truncate(WAYS);
        Ok((room, judged.into_iter().map(|(_, sized)| sized).collect()))
    }

    /// Ferns of a model, at most.
    pub(super) fn most_ferns(&self, depth: u8) -> u16 {
        let by_rows = (self.search.problem.table.rows() / ROWS_OF_A_FERN).max(FEW_FERNS);
        MOST_FERNS.min(MOST_LEAVES >> depth).min(by_rows) as u16
    }

    /// All ways in models of so many bytes, as far as one fern fits.
    fn compared_ways(
        &self,
        all: &[TrainOptions],
        bits: u8,
        room: usize,
    ) -> Result<Vec<Compared>, Error> {
        let mut ways = Vec::new();
        for options in all {
            let Some(sized) = self.sized(options, bits, room)? else { continue };
            let quick = self.quick(&sized.point.options);
            let work = self.work(&quick)? / self.folds.held.len() as f64;
            ways.push(Compared { sized, quick, work });
        }
        Ok(ways)
    }

    /// Whether there is time to compare all ways, and to judge each of them.
    fn affords_all(&self, ways: &[Compared], reserve: f64) -> Result<bool, Error> {
        let compared: f64 = ways.iter().map(|way| way.work).sum();
        if compared > self.available(reserve) {
            return Ok(false);
        }
        for Compared { sized: Sized { point, .. }, .. } in ways {
            if !self.affords(&point.options, self.work(&point.options)?, reserve) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same with a given λ.
    fn quick(&self, options: &TrainOptions) -> TrainOptions {
        TrainOptions { lambda: Some(options.lambda.unwrap_or(LAMBDA)), ..options.clone() }
    }
}
