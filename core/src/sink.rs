//! What becomes of a bank's features as they are made.

use crate::crc::Crc32;
use crate::families::FEATURE_ONE;

/// The most features of a run: with codes of a byte a partial sum is at most
/// 256·255·32768 < 2^31.
pub(crate) const MAX_RUN: usize = 256;

/// Where a family hands its features to. A trait object: the families' code is there
/// once, and of the sinks a program contains only those that it uses.
pub(crate) trait Sink {
    /// Features `first..first + run.len()` of the bank, `first % 8 == 0`, at most
    /// [`MAX_RUN`], and their sum: families have it at hand, and the head needs it once
    /// for all outputs.
    fn run(&mut self, first: usize, run: &[i16], total: i32);

    /// Column `column` of the bank is [`FEATURE_ONE`], the other columns of its
    /// grid are 0. `slots` is the number of columns of a grid.
    fn one_hot(&mut self, column: usize, slots: usize);

    /// Unit or grid `index` of the bank chose `choice`.
    fn code(&mut self, _index: usize, _choice: u16) {}
}

/// Features are written to a vector.
pub(crate) struct Features<'s>(pub(crate) &'s mut [i16]);

impl Sink for Features<'_> {
    fn run(&mut self, first: usize, run: &[i16], _: i32) {
        if let Some(places) = self.0.get_mut(first..first + run.len()) {
            // Not `copy_from_slice`: no panic is linked.
            places.iter_mut().zip(run).for_each(|(place, &phi)| *place = phi);
        }
    }

    fn one_hot(&mut self, column: usize, slots: usize) {
        let first = column & !(slots - 1);
        if let Some(grid) = self.0.get_mut(first..first + slots) {
            grid.fill(0);
        }
        if let Some(place) = self.0.get_mut(column) {
            *place = FEATURE_ONE;
        }
    }
}

/// Which choice every unit or grid made is written to a vector.
pub(crate) struct Codes<'s>(pub(crate) &'s mut [u16]);

impl Sink for Codes<'_> {
    fn run(&mut self, _: usize, _: &[i16], _: i32) {}

    fn one_hot(&mut self, _: usize, _: usize) {}

    fn code(&mut self, index: usize, choice: u16) {
        if let Some(place) = self.0.get_mut(index) {
            *place = choice;
        }
    }
}

/// Digested: the values, or the column of a one-hot grid.
impl Sink for Crc32 {
    fn run(&mut self, _: usize, run: &[i16], _: i32) {
        for &phi in run {
            *self = self.bytes(&phi.to_le_bytes());
        }
    }

    fn one_hot(&mut self, column: usize, _: usize) {
        *self = self.bytes(&(column as u32).to_le_bytes());
    }
}
