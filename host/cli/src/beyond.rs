//! Numbers so far from those of training that a model does not tell them apart.

use koan::Model;
use koan_data::{ColumnLabel, Schema};

use crate::out;
use crate::output::counted;

/// Of a column one of so many rows is told; large tables have a few such numbers in training, too.
const TOLD: usize = 100;
/// Columns that are named.
const NAMED: usize = 3;

/// Counts the rows with a number that an input map takes for its end.
pub struct Beyond {
    /// The numbers between which each input tells all apart.
    ends: Vec<(f64, f64)>,
    /// Rows with a number beyond them, by input.
    beyond: Vec<usize>,
    rows: usize,
}

impl Beyond {
    /// Of no rows yet.
    pub fn new(model: &Model<'_>) -> Self {
        let ends: Vec<(f64, f64)> = (0..model.inputs()).map(|input| ends(model, input)).collect();
        Self { beyond: vec![0; ends.len()], ends, rows: 0 }
    }

    /// Takes note of a row; of one with other numbers than the model has inputs nothing is known.
    pub fn row(&mut self, row: &[f32]) {
        self.rows += 1;
        for ((x, (low, high)), count) in row.iter().zip(&self.ends).zip(&mut self.beyond) {
            let x = f64::from(*x);
            *count += usize::from(x < *low || x > *high);
        }
    }

    /// Says which columns have such numbers.
    pub fn warn(&self, schema: &Schema) {
        for told in self.told(schema) {
            out::warn(&format!("warning: {told}"));
        }
    }

    fn told(&self, schema: &Schema) -> Vec<String> {
        let rows = counted(self.rows, "row");
        let often = |&input: &usize| self.beyond[input] * TOLD >= self.rows.max(1);
        let inputs: Vec<usize> = (0..self.ends.len()).filter(often).collect();
        let mut next = 0;
        let mut labels = Vec::new();
        for (index, column) in schema.columns.iter().enumerate() {
            let name = Some(column.name.clone()).filter(|_| schema.name_code.is_none());
            let label = ColumnLabel { number: index + 1, name: name.unwrap_or_default() };
            labels.extend(std::iter::repeat_n(label, column.inputs()));
            next += column.inputs();
        }
        if inputs.is_empty() {
            return Vec::new();
        }
        if next != self.ends.len() {
            let what =
                "have numbers so large or small that the model does not tell them from others";
            let most = inputs.iter().map(|&input| self.beyond[input]).max().unwrap_or(0);
            return vec![format!("at least {most} of {rows} {what}")];
        }
        let mut told: Vec<String> = inputs
            .iter()
            .take(NAMED)
            .map(|&input| {
                let ((low, high), beyond) = (self.ends[input], self.beyond[input]);
                let [low, high] = [low, high].map(short);
                format!(
                    "{}: {beyond} of {rows} have a number below {low} or above {high}, which the \
                     model takes for that end",
                    labels[input]
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

/// The numbers that an input's map makes the least and the largest integer of.
fn ends(model: &Model<'_>, input: usize) -> (f64, f64) {
    let map = model.input_map(input);
    let unit = 2f64.powi(i32::from(map.shift()));
    let gain = f64::from(map.mult()) * unit / 32768.0;
    let end = |q: f64| {
        let value = f64::from(map.offset()) / unit + q / gain;
        if map.log() { value.signum() * value.abs().exp_m1() } else { value }
    };
    if map.mult() == 0 { (f64::NEG_INFINITY, f64::INFINITY) } else { (end(-32768.0), end(32768.0)) }
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
