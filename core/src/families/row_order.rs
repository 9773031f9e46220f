//! Which row of a transform a projection of a unit is.

use crate::format::bank::Bank;
use crate::generator::{Purpose, bank_draw};

/// The order in which a unit's projections are taken from block `number`: row
/// (C + A·i + 2E·i²) modulo P, A odd, which takes every row once.
///
/// Rows r and s of a transform are related by r XOR s, so neighbours are related
/// in the same way everywhere. In this order the relation differs from unit to
/// unit and averages out.
#[derive(Default)]
pub(super) struct RowOrder {
    linear: u32,
    square: u32,
    offset: u32,
}

impl RowOrder {
    pub(super) fn new(bank: &Bank<'_>, number: usize) -> Self {
        let draw = bank_draw(bank.seed, bank.index, Purpose::Choices, number as u32);
        Self {
            linear: u32::from(draw as u16) | 1,
            offset: u32::from((draw >> 16) as u16),
            square: 2 * u32::from((draw >> 32) as u16),
        }
    }

    /// Row number `i` of a block of `length` rows, a power of two.
    #[inline]
    pub(super) fn row(&self, i: usize, length: usize) -> usize {
        let i = i as u32;
        let slope = self.linear.wrapping_add(self.square.wrapping_mul(i));
        slope.wrapping_mul(i).wrapping_add(self.offset) as usize & length.wrapping_sub(1)
    }
}
