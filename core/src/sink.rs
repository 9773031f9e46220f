//! What becomes of a bank's features as they are made.

use crate::crc::Crc32;
use crate::families::FEATURE_ONE;
use crate::head::Head;

/// Where a family hands its features to. One type for all uses: the families'
/// code is there once, whatever a program calls.
pub(crate) enum Sink<'m, 's> {
    /// Weighted and added to the accumulators.
    Head(Head<'m, 's>),
    /// Written to a vector.
    Features(&'s mut [i16]),
    /// Which choice every unit or grid made, written to a vector.
    Codes(&'s mut [u16]),
    /// Digested: the values, or the column of a one-hot grid.
    Digest(&'s mut Crc32),
}

impl Sink<'_, '_> {
    /// Features `first..first + run.len()` of the bank, `first % 8 == 0`, and
    /// their sum: families have it at hand, and the head needs it once for all
    /// outputs. At most 65,536 features, so an i32 holds it.
    pub(crate) fn run(&mut self, first: usize, run: &[i16], total: i32) {
        match self {
            Self::Head(head) => head.run(first, run, total),
            Self::Features(features) => {
                if let Some(places) = features.get_mut(first..first + run.len()) {
                    places.copy_from_slice(run);
                }
            }
            Self::Codes(_) => {}
            Self::Digest(crc) => {
                for &phi in run {
                    **crc = crc.bytes(&phi.to_le_bytes());
                }
            }
        }
    }

    /// Column `column` of the bank is [`FEATURE_ONE`], the other columns of its
    /// grid are 0. `slots` is the number of columns of a grid.
    pub(crate) fn one_hot(&mut self, column: usize, slots: usize) {
        match self {
            Self::Head(head) => head.one_hot(column),
            Self::Features(features) => {
                let first = column & !(slots - 1);
                if let Some(grid) = features.get_mut(first..first + slots) {
                    grid.fill(0);
                }
                if let Some(place) = features.get_mut(column) {
                    *place = FEATURE_ONE;
                }
            }
            Self::Codes(_) => {}
            Self::Digest(crc) => **crc = crc.bytes(&(column as u32).to_le_bytes()),
        }
    }

    /// Unit or grid `index` of the bank chose `choice`.
    #[inline]
    pub(crate) fn code(&mut self, index: usize, choice: u16) {
        if let Self::Codes(codes) = self
            && let Some(place) = codes.get_mut(index)
        {
            *place = choice;
        }
    }

    /// After the last feature of the bank.
    pub(crate) fn finish(&mut self) {
        if let Self::Head(head) = self {
            head.finish();
        }
    }
}
