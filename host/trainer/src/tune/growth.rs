//! Models that there was no time to judge at all their bytes grow to them in the end.

use super::ferns::is_fern;
use super::moves::{Sized, digits};
use super::rank::Point;
use super::refine::{Refined, Refinement};
use crate::{Error, TrainOptions};

/// Bytes that there was time to judge models at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rooms {
    pub of_ferns: usize,
    pub others: usize,
}

impl Rooms {
    pub fn of(self, options: &TrainOptions) -> usize {
        if is_fern(options) { self.of_ferns } else { self.others }
    }
}

impl Refinement<'_> {
    /// The best model with all features that `target` bytes hold, where it was judged with
    /// fewer of them for want of time: what is better small is taken to be better large.
    pub(super) fn grown(&self, best: &Refined, target: usize) -> Result<Option<Point>, Error> {
        let point = &best.point;
        let options = &point.options;
        let rows = self.search.problem.table.rows();
        let open = self.search.space.base.lambda.is_none();
        // What a λ does to ferns differs with their number.
        let of_ferns = is_fern(options) && open;
        let lambda = if of_ferns { None } else { options.lambda };
        let options = &TrainOptions { lambda, ..options.clone() };
        let mut room = target;
        let large = loop {
            let sized = self.sized(options, options.bits.unwrap_or(4), room)?;
            let Some(sized) = sized.filter(|sized| sized.bytes > point.bytes) else {
                return Ok(None);
            };
            let (once, path) = self.fit_work(&sized.options, rows)?;
            // For a λ ferns are chosen and fitted twice: by most of the rows, and by all.
            let work = if of_ferns { 2.0 * once + path } else { once };
            if work <= self.growth {
                break sized;
            }
            room = room * 9 / 10;
        };
        let Sized { mut options, bytes, ram, instructions, .. } = large;
        if open {
            // Of more features each is to have the smaller weight.
            let more = large.columns as f64 / self.columns(&point.options)? as f64;
            options.lambda = options.lambda.map(|lambda| digits(lambda * more));
        }
        let value = point.value * (1.0 - f64::EPSILON.sqrt());
        let grown = Point { options, bytes, ram, instructions, value, ..point.clone() };
        Ok(Some(grown))
    }
}
