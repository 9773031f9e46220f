//! A table as a least-squares problem.

use faer::Mat;

use crate::Error;
use crate::features::{BLOCK_ROWS, FeatureBlock, FeatureMap};
use crate::moments::Moments;
use crate::progress::Progress;
use koan_data::{Table, Target, Task};

/// A table, its outputs and the weights of its rows.
#[derive(Clone, Debug)]
pub struct Problem<'t> {
    /// The rows.
    pub table: &'t Table,
    /// Scores: 1 for regression and two classes, else one for each class.
    pub outputs: usize,
    /// Weights of the rows; none: all 1.
    pub weights: Option<Vec<f64>>,
}

impl<'t> Problem<'t> {
    /// The problem of a table, with the weights of its rows; `balanced` scales
    /// them so that every class has the same sum.
    #[must_use]
    pub fn new(table: &'t Table, balanced: bool) -> Self {
        let classes = table.schema.classes.len();
        let outputs = if classes > 2 { classes } else { 1 };
        let own = || table.weights.as_ref().map(|w| w.iter().map(|&w| f64::from(w)).collect());
        let weights = match &table.target {
            Target::Classes { labels } if balanced => {
                let mut sums = vec![0.0; classes];
                for (row, &label) in labels.iter().enumerate() {
                    sums[label as usize] += table.weight(row);
                }
                let share = sums.iter().sum::<f64>() / classes as f64;
                let weight = |(row, &label): (usize, &u32)| match sums[label as usize] {
                    0.0 => 0.0,
                    sum => table.weight(row) * share / sum,
                };
                Some(labels.iter().enumerate().map(weight).collect())
            }
            _ => own(),
        };
        Self { table, outputs, weights }
    }

    /// Whether the outputs are class scores.
    #[must_use]
    pub fn task(&self) -> Task {
        self.table.schema.task()
    }

    /// What `output` should be for `row`: the value, or ±1 for classes.
    #[must_use]
    pub fn target(&self, row: usize, output: usize) -> f64 {
        match &self.table.target {
            Target::Values(values) => f64::from(values[row]),
            Target::Classes { labels } => {
                // With two classes the one output stands for the second.
                let class = if self.outputs == 1 { 1 } else { output };
                if labels[row] as usize == class { 1.0 } else { -1.0 }
            }
        }
    }

    /// The weight of `row`.
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Targets of `rows`: rows × outputs.
    #[must_use]
    pub fn targets(&self, rows: &[usize]) -> Mat<f64> {
        Mat::from_fn(rows.len(), self.outputs, |i, output| self.target(rows[i], output))
    }

    /// The sums of `rows` over the features of `map`, in their units.
    ///
    /// # Errors
    /// A feature map for another number of inputs.
    pub fn moments(
        &self,
        map: &FeatureMap,
        rows: &[usize],
        progress: &Progress,
    ) -> Result<Moments, Error> {
        self.moments_by(Moments::new(map.features(), self.outputs), map, rows, progress)
    }

    /// [`Problem::moments`], summed by the kernel of `moments`, which have no rows yet.
    ///
    /// # Errors
    /// A feature map for another number of inputs.
    pub fn moments_by(
        &self,
        mut moments: Moments,
        map: &FeatureMap,
        rows: &[usize],
        progress: &Progress,
    ) -> Result<Moments, Error> {
        let mut block = FeatureBlock::default();
        for (number, part) in rows.chunks(BLOCK_ROWS).enumerate() {
            map.block(self.table, part, &mut block)?;
            let weights: Option<Vec<f64>> =
                self.weights.as_ref().map(|all| part.iter().map(|&row| all[row]).collect());
            moments.add(block.values(), self.targets(part).as_ref(), weights.as_deref());
            progress.rows(number * BLOCK_ROWS + part.len(), rows.len())?;
        }
        Ok(moments.in_units(map.units()))
    }
}
