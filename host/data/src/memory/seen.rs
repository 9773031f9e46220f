//! What is seen of a column of numbers.

use super::loss::Loss;
use super::{missing, wrong};
use crate::categories::Whole;
use crate::error::{ColumnLabel, DataError, IN_MEMORY};
use crate::extremes::{Extremes, Range};
use crate::order::Order;
use crate::{DataWarning, Missing};

/// What is seen of a column of numbers, row after row.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub whole: Whole,
    order: Order,
    loss: Loss,
    extremes: Extremes,
    /// Whether there is a number.
    known: bool,
    /// The first row, from 0, without one.
    unknown: Option<usize>,
    /// The first row with a number that is no `f32`, and the number.
    too_large: Option<(usize, f64)>,
}

impl Seen {
    /// Adds the numbers of some rows, the first of which is `row`; NaN is a missing one.
    pub fn add(&mut self, row: usize, numbers: &[f64]) {
        self.whole.add_all(numbers);
        self.order.add_all(numbers);
        let range = Range::of(numbers);
        self.loss.add(row, numbers, range);
        self.extremes.add_all(numbers, range);
        self.known |= range.numbers > 0;
        if range.numbers < numbers.len() && self.unknown.is_none() {
            self.unknown = numbers.iter().position(|number| number.is_nan()).map(|i| row + i);
        }
        let too_large = |number: &f64| (*number as f32).is_infinite();
        if [range.lowest, range.highest].iter().any(too_large) && range.numbers > 0 {
            let place = numbers.iter().position(too_large);
            self.too_large = self.too_large.or(place.map(|i| (row + i, numbers[i])));
        }
    }

    /// Whether numbers are missing; adds what is to be said of the column.
    pub fn described(
        self,
        label: ColumnLabel,
        otherwise: Missing,
        warnings: &mut Vec<DataWarning>,
    ) -> Result<bool, DataError> {
        if let Some((row, number)) = self.too_large {
            return Err(wrong(format!("row {}, {label}: {number} is too large", row + 1)));
        }
        match self.unknown {
            Some(row) if otherwise == Missing::Refuse => return Err(missing(&label, row)),
            Some(_) if !self.known => {
                return Err(DataError::NoValues { file: IN_MEMORY.into(), column: label });
            }
            _ => {}
        }
        warnings.extend(self.order.warning(IN_MEMORY, &label));
        warnings.extend(self.loss.warning(label.clone()));
        warnings.extend(self.extremes.warning(IN_MEMORY, &label));
        warnings.extend(self.extremes.unit(IN_MEMORY, &label));
        Ok(self.unknown.is_some())
    }
}
