//! Whether a column goes up from row to row, as numbers of rows, times and counters do.

use super::error::ColumnLabel;
use super::warning::DataWarning;

/// Rows from which on a column that goes up says something.
const LEAST_ROWS: usize = 20;
/// Numbers from here on are too large for `f32` to tell one from the next.
const COUNTED: f64 = 16_777_216.0;

/// What has been seen of the order of a column's values. Several parts, each in its own order,
/// may be merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Numbers that follow another one, as long as something may be said of them.
    steps: usize,
    /// Those that are above the one before.
    rises: usize,
    /// The last number.
    last: Option<f64>,
    /// Whether a value is no number, or below the one before.
    fallen: bool,
    /// Whether a value is no whole number, or not one more than the one before.
    uncounted: bool,
}

impl Order {
    /// Adds the next value; none where it is no number.
    pub fn add(&mut self, value: Option<f64>) {
        // Most columns fall within a few rows, and then nothing is said of them.
        if self.fallen && self.uncounted {
            return;
        }
        let Some(next) = value.filter(|next| !next.is_nan()) else {
            (self.fallen, self.uncounted) = (true, true);
            return;
        };
        self.steps += usize::from(self.last.is_some());
        self.rises += usize::from(self.last.is_some_and(|last| next > last));
        self.fallen |= self.last.is_some_and(|last| next < last);
        self.uncounted |= next.abs() >= COUNTED
            || next.fract() != 0.0
            || self.last.is_some_and(|last| next != last + 1.0);
        self.last = Some(next);
    }

    /// Adds the next numbers.
    pub fn add_all(&mut self, numbers: &[f64]) {
        for &number in numbers {
            if self.fallen && self.uncounted {
                return;
            }
            self.add(Some(number));
        }
    }

    /// Another recording begins: what comes next may be anything.
    pub fn restart(&mut self) {
        self.last = None;
    }

    /// Adds what has been seen of another part.
    pub fn merge(&mut self, other: &Self) {
        self.steps += other.steps;
        self.rises += other.rises;
        self.fallen |= other.fallen;
        self.uncounted |= other.uncounted;
    }

    /// What to say of an input: one that numbers the rows tells nothing of rows that come later,
    /// and what is learned of one that never falls and mostly rises may be untrue of them.
    pub fn warning(&self, file: &str, column: &ColumnLabel) -> Option<DataWarning> {
        let (file, column) = (file.to_owned(), column.clone());
        if self.steps + 1 < LEAST_ROWS {
            None
        } else if !self.uncounted {
            Some(DataWarning::Numbering { file, column })
        } else {
            let rises = !self.fallen && 2 * self.rises > self.steps;
            rises.then_some(DataWarning::Rising { file, column })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of parts with these values: 1 numbers the rows, 2 rises, 0 neither.
    fn kind(parts: &[&[f64]]) -> u8 {
        let mut all = Order::default();
        for part in parts {
            let mut order = Order::default();
            part.iter().for_each(|&value| order.add(Some(value)));
            all.merge(&order);
        }
        match all.warning("a.csv", &ColumnLabel { number: 1, name: String::new() }) {
            None => 0,
            Some(DataWarning::Numbering { .. }) => 1,
            Some(_) => 2,
        }
    }

    #[test]
    fn numbers_of_rows_and_times_are_told_from_measurements() {
        let column = |of: fn(f64) -> f64| (0..40).map(|row| of(row.into())).collect::<Vec<_>>();
        assert_eq!(kind(&[&column(|row| row)]), 1);
        assert_eq!(kind(&[&column(|row| row + 1e9)]), 2);
        assert_eq!(kind(&[&column(|row| row + 0.5)]), 2);
        assert_eq!(kind(&[&column(|row| 10.0 * row)]), 2);
        assert_eq!(kind(&[&column(|row| (row / 2.0).floor())]), 0, "as a class that is sorted by");
        assert_eq!(kind(&[&column(|row| (row / 1.5).floor())]), 2);
        assert_eq!(kind(&[&column(f64::sin)]), 0);
        assert_eq!(kind(&[&column(|row| row)[..19]]), 0, "too few");
    }

    #[test]
    fn files_may_begin_anew() {
        let rows: Vec<f64> = (0..30).map(f64::from).collect();
        let times: Vec<f64> = rows.iter().map(|row| 1e6 + 0.01 * row).collect();
        assert_eq!(kind(&[&rows, &rows]), 1);
        assert_eq!(kind(&[&times, &times]), 2);
        assert_eq!(kind(&[&times, &[3.0, 2.0]]), 0);
        let single: Vec<&[f64]> = rows.chunks(1).collect();
        assert_eq!(kind(&single), 0, "files of one row say nothing");
    }

    #[test]
    fn recordings_of_a_file_begin_anew() {
        let mut order = Order::default();
        for _ in 0..3 {
            order.restart();
            (0..20).for_each(|sample| order.add(Some(0.01 * f64::from(sample))));
        }
        let label = ColumnLabel { number: 1, name: String::new() };
        let warning = order.warning("a.csv", &label);
        assert!(matches!(warning, Some(DataWarning::Rising { .. })), "{warning:?}");
    }

    #[test]
    fn a_value_that_is_missing_counts_nothing() {
        let mut order = Order::default();
        (0..30).for_each(|row| order.add((row != 7).then_some(f64::from(row))));
        let label = ColumnLabel { number: 1, name: String::new() };
        assert_eq!(order.warning("a.csv", &label), None);
    }
}
