//! Numbers so far from those of training that a model does not tell them apart.

use koan::{InputMap, Model, Task};
use koan_data::{ColumnLabel, Schema};

use crate::percent::counted;

/// Of a column one of so many rows is told; large tables have a few such numbers in training, too.
const TOLD: usize = 100;
/// The integer of a number at the end of what a map tells apart.
const Q_END: f64 = 32768.0;
/// Columns that are named.
const NAMED: usize = 3;

/// Counts the rows with a number that an input map takes for its end.
#[derive(Clone, Debug)]
pub struct Beyond {
    /// The numbers between which each input tells all apart.
    ends: Vec<(f64, f64)>,
    /// Rows with a number beyond them, by input.
    beyond: Vec<usize>,
    rows: usize,
}

impl Beyond {
    /// Of no rows yet. What is far out is what a detector looks for: nothing is told of its rows.
    #[must_use]
    pub fn new(model: &Model<'_>) -> Self {
        let detects = model.task() == Task::Classification && !model.has_probabilities();
        let inputs = if detects { 0 } else { model.inputs() };
        let ends = |input| match around(model.input_map(input), Q_END) {
            Some([low, _, high]) => (low, high),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let ends: Vec<(f64, f64)> = (0..inputs).map(ends).collect();
        Self { beyond: vec![0; ends.len()], ends, rows: 0 }
    }

    /// Takes note of a row.
    pub fn row<T: Copy + Into<f64>>(&mut self, row: &[T]) {
        self.rows += 1;
        for ((x, (low, high)), count) in row.iter().zip(&self.ends).zip(&mut self.beyond) {
            let x: f64 = (*x).into();
            *count += usize::from(x < *low || x > *high);
        }
    }

    /// Which columns have such numbers, by the names that the model's notes have.
    #[must_use]
    pub fn told(&self, schema: Option<&Schema>) -> Vec<String> {
        let rows = counted(self.rows, "row");
        let often = |&input: &usize| self.beyond[input] * TOLD >= self.rows.max(1);
        let inputs: Vec<usize> = (0..self.ends.len()).filter(often).collect();
        let mut labels = Vec::new();
        for (index, column) in schema.iter().flat_map(|schema| &schema.columns).enumerate() {
            let coded = schema.is_some_and(|schema| schema.name_code.is_some());
            let name = if coded { String::new() } else { column.name.clone() };
            let label = ColumnLabel { number: index + 1, name };
            labels.extend(std::iter::repeat_n(label, column.inputs()));
        }
        if inputs.is_empty() {
            return Vec::new();
        }
        if labels.len() != self.ends.len() {
            let what =
                "with numbers so large or small that the model does not tell them from others";
            let most = inputs.iter().map(|&input| self.beyond[input]).max().unwrap_or(0);
            return vec![format!("there are at least {most} of {rows} {what}")];
        }
        let mut told: Vec<String> = inputs
            .iter()
            .take(NAMED)
            .map(|&input| {
                let ((low, high), beyond) = (self.ends[input], self.beyond[input]);
                let [low, high] = [low, high].map(short);
                format!(
                    "{}: {beyond} of {rows} {} a number below {low} or above {high}, which the \
                     model takes for that end",
                    labels[input],
                    if beyond == 1 { "has" } else { "have" }
                )
            })
            .collect();
        if inputs.len() > NAMED {
            told.push(format!(
                "the same holds for {}",
                counted(inputs.len() - NAMED, "more column")
            ));
        }
        told
    }
}

/// What the map takes to q = −near, 0 and near; none for an input that is off.
#[must_use]
pub fn around(map: InputMap, near: f64) -> Option<[f64; 3]> {
    if map.mult() == 0 {
        return None;
    }
    let unit = 2f64.powi(i32::from(map.shift()));
    let value = |u: f64| if map.log() { u.signum() * u.abs().exp_m1() } else { u };
    let centre = f64::from(map.offset()) / unit;
    let step = near * 32768.0 / (f64::from(map.mult()) * unit);
    Some([centre - step, centre, centre + step].map(value))
}

/// To four digits.
fn short(number: f64) -> String {
    if number == 0.0 || !(1e-4..1e15).contains(&number.abs()) {
        return format!("{number:.3e}");
    }
    let digits = 3 - number.abs().log10().floor() as i32;
    if digits < 0 {
        let unit = 10f64.powi(-digits);
        return ((number / unit).round() * unit).to_string();
    }
    format!("{number:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (628.093, "628.1"),
            (3387.4, "3387"),
            (-123_456.0, "-123500"),
            (0.012_345_6, "0.01235"),
            (1e300, "1.000e300"),
            (0.0, "0.000e0"),
        ] {
            assert_eq!(short(number), text);
        }
    }
}
