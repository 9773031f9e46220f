//! The same answer for every row.

use koan_data::{Table, Target};

/// The most frequent class, or the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// The most frequent class, the first one of equals.
    Class(usize),
    /// The mean, which has the least squared error.
    Value(f64),
}

impl Constant {
    /// The best constant for the rows of `table`.
    #[must_use]
    pub fn fit(table: &Table) -> Self {
        match &table.target {
            Target::Classes { labels } => {
                let mut counts = vec![0.0; table.schema.classes.len()];
                for (row, &label) in labels.iter().enumerate() {
                    counts[label as usize] += table.weight(row);
                }
                let most =
                    (0..counts.len()).fold(0, |m, c| if counts[c] > counts[m] { c } else { m });
                Self::Class(most)
            }
            Target::Values(values) => {
                let weighed = |(row, &y): (usize, &f32)| table.weight(row) * f64::from(y);
                let sum: f64 = values.iter().enumerate().map(weighed).sum();
                let count: f64 = (0..values.len()).map(|row| table.weight(row)).sum();
                Self::Value(if count > 0.0 { sum / count } else { 0.0 })
            }
        }
    }

    /// Its scores on rows of the same task: rows × outputs, row-major.
    #[must_use]
    pub fn scores(&self, table: &Table) -> Vec<f64> {
        let score = match *self {
            Self::Value(value) => vec![value],
            Self::Class(class) if table.schema.classes.len() <= 2 => {
                vec![if class == 1 { 1.0 } else { -1.0 }]
            }
            Self::Class(class) => {
                (0..table.schema.classes.len()).map(|c| f64::from(u8::from(c == class))).collect()
            }
        };
        score.repeat(table.rows())
    }
}
