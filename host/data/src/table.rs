//! A dense table: what training and evaluation work on.

use std::collections::BTreeSet;

use super::schema::Schema;

/// Rows of inputs, dense and row-major, each with its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Inputs per row, at least 1.
    pub inputs: usize,
    /// `rows × inputs` finite values, row by row.
    pub values: Vec<f32>,
    /// One class or value per row.
    pub target: Target,
    /// How the raw columns became inputs.
    pub schema: Schema,
    /// How the rows may be divided.
    pub division: Division,
    /// How much each row counts, finite and at least 0; none: all the same.
    pub weights: Option<Vec<f32>>,
}

/// How rows may be divided into those to fit on and those to judge by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// In any way.
    #[default]
    Free,
    /// Rows of the same group stay on the same side: one number for each row.
    Groups(Vec<u32>),
    /// As the file itself says: one part for each row.
    Parts(Vec<Part>),
}

/// A part of a data set that comes divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// To fit on.
    Train,
    /// To choose by, and then to fit on too.
    Validation,
    /// To judge by at the end.
    Test,
}

impl Division {
    /// How many groups there are, if rows are of groups.
    #[must_use]
    pub fn groups(&self) -> Option<usize> {
        match self {
            Division::Groups(groups) => Some(groups.iter().collect::<BTreeSet<_>>().len()),
            _ => None,
        }
    }

    /// The division of the given rows, in the given order.
    fn select(&self, rows: &[usize]) -> Division {
        match self {
            Division::Free => Division::Free,
            Division::Groups(groups) => {
                Division::Groups(rows.iter().map(|&row| groups[row]).collect())
            }
            Division::Parts(parts) => Division::Parts(rows.iter().map(|&row| parts[row]).collect()),
        }
    }
}

/// What is to be predicted: one class or one value per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Classification.
    Classes {
        /// Indices into [`Schema::classes`].
        labels: Vec<u32>,
    },
    /// Regression: finite values in the units of the file.
    Values(Vec<f32>),
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.target.len()
    }

    /// The inputs of row `i`, of length [`Table::inputs`].
    ///
    /// # Panics
    ///
    /// If `i` is not below [`Table::rows`].
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.inputs..][..self.inputs]
    }

    /// How much row `i` counts.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`Table::rows`].
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| f64::from(weights[i]))
    }

    /// The table of the given rows, in the given order; rows may repeat.
    ///
    /// # Panics
    ///
    /// If an index is not below [`Table::rows`].
    pub fn select(&self, rows: &[usize]) -> Table {
        let mut values = Vec::with_capacity(rows.len() * self.inputs);
        for &i in rows {
            values.extend_from_slice(self.row(i));
        }
        Table {
            inputs: self.inputs,
            values,
            target: self.target.select(rows),
            schema: self.schema.clone(),
            division: self.division.select(rows),
            weights: self
                .weights
                .as_ref()
                .map(|weights| rows.iter().map(|&row| weights[row]).collect()),
        }
    }
}

impl Target {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Target::Classes { labels } => labels.len(),
            Target::Values(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all rows have the same, which none could be told apart by.
    pub fn is_one_value(&self) -> bool {
        match self {
            Target::Classes { labels } => labels.windows(2).all(|pair| pair[0] == pair[1]),
            Target::Values(values) => values.windows(2).all(|pair| pair[0] == pair[1]),
        }
    }

    /// The targets of the given rows, in the given order.
    ///
    /// # Panics
    ///
    /// If an index is not below [`Target::len`].
    pub fn select(&self, rows: &[usize]) -> Target {
        match self {
            Target::Classes { labels } => {
                Target::Classes { labels: rows.iter().map(|&i| labels[i]).collect() }
            }
            Target::Values(values) => Target::Values(rows.iter().map(|&i| values[i]).collect()),
        }
    }
}
