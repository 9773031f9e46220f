//! Digits that numbers lose when they become `f32`.

use crate::error::{ColumnLabel, IN_MEMORY, Place};
use crate::extremes::{Range, largest};
use crate::warning::{DataWarning, ROUNDED};

/// What the numbers of a column lose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// The smallest and the largest number.
    range: (f64, f64),
    /// The row, from 0, and the number that is changed most, and by how much.
    most: (usize, f64, f64),
}

impl Default for Loss {
    fn default() -> Self {
        Self { range: (f64::INFINITY, f64::NEG_INFINITY), most: (0, 0.0, 0.0) }
    }
}

impl Loss {
    /// Adds the numbers of some rows, the first of which is `row`, and their `range`; NaN is a
    /// missing one.
    pub fn add(&mut self, row: usize, numbers: &[f64], range: Range) {
        self.range = (self.range.0.min(range.lowest), self.range.1.max(range.highest));
        let change = |number: f64| (number - f64::from(number as f32)).abs();
        let most = largest(numbers, change);
        if most > self.most.2
            && let Some(place) = numbers.iter().position(|&number| change(number) == most)
        {
            self.most = (row + place, numbers[place], most);
        }
    }

    /// What to say of a column that loses digits which tell its rows apart.
    pub fn warning(&self, column: ColumnLabel) -> Option<DataWarning> {
        let (row, number, by) = self.most;
        let spread = self.range.1 - self.range.0;
        let share = by / spread;
        let place = Place { file: IN_MEMORY.into(), line: row as u64 + 1, column: Some(column) };
        (spread > 0.0 && share > ROUNDED).then(|| DataWarning::Rounded {
            place,
            text: number.to_string(),
            kept: number as f32,
            share,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{DataWarning, TableBuilder};

    /// Seconds since 1970 a hundred apart: 32-bit numbers have steps of 128 there.
    #[test]
    fn a_target_that_loses_digits_is_told() {
        let x: Vec<f64> = (0..50).map(|row| f64::from(row * 37 % 50)).collect();
        let y: Vec<f64> = x.iter().map(|x| 1.7e9 + 10.0 * x).collect();
        let of = |y: &[f64]| {
            TableBuilder::new(50)
                .column("x", &x[..])
                .values("y", y)
                .build()
                .unwrap()
                .schema
                .warnings
        };
        let told = of(&y);
        assert!(matches!(told[..], [DataWarning::Rounded { .. }]), "{told:?}");
        assert!(told[0].to_string().contains("`y`"), "{}", told[0]);
        let shifted: Vec<f64> = y.iter().map(|y| y - 1.7e9).collect();
        assert!(of(&shifted).is_empty());
    }
}
