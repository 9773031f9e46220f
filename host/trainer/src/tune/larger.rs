//! A model with other numbers of features and bits than it was judged with.

use super::ferns::is_fern;
use super::moves::{Sized, digits};
use super::refine::Refinement;
use crate::{Error, TrainOptions};

impl Refinement<'_> {
    /// A model with as many features of so many bits as `room` bytes hold; none if not even one.
    pub(super) fn resized(
        &self,
        options: &TrainOptions,
        bits: u8,
        room: usize,
    ) -> Result<Option<Sized>, Error> {
        let Some(mut sized) = self.sized(options, bits, room)? else { return Ok(None) };
        if self.search.space.base.lambda.is_none() {
            // Of more features each is to have the smaller weight; what a λ does to ferns differs
            // with their number in other ways.
            let more = sized.columns as f64 / self.columns(options)? as f64;
            let lambda = options.lambda.filter(|_| !is_fern(options));
            sized.point.options.lambda = lambda.map(|lambda| digits(lambda * more));
        }
        Ok(Some(sized))
    }

    /// The same with as many as the last fit has time for, too; none where they would take less
    /// than `least` bytes.
    pub(super) fn within_time(
        &self,
        options: &TrainOptions,
        bits: u8,
        least: usize,
        most: usize,
    ) -> Result<Option<Sized>, Error> {
        let mut room = most;
        while room >= least {
            let Some(sized) = self.resized(options, bits, room)? else { break };
            if self.last_work(&sized.point.options)? <= self.growth() {
                return Ok(Some(sized));
            }
            room = room * 9 / 10;
        }
        Ok(None)
    }
}
