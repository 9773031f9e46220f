//! Sums over any number of rows, exact as long as rows have no weights.

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::features::{BLOCK_ROWS, FeatureBlock, FeatureMap};
use crate::moments::Moments;
use crate::problem::Problem;
use koan_data::Table;

/// Rows whose products f64 surely sums exactly: 2^22 · 2^30 is below 2^53.
const EXACT_ROWS: u64 = 1 << 22;

/// [`Moments`] whose Gram matrix moves into 64-bit integers before f64 would
/// round: exact up to 2^33 rows.
pub(crate) struct Sums {
    recent: Moments,
    /// Rows of the recent sums.
    rows: u64,
    /// Lower triangle, column after column, of what was moved; empty before the
    /// first time.
    moved: Vec<i64>,
    block: FeatureBlock,
}

/// Sums as a checkpoint holds them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    features: u64,
    outputs: u64,
    rows: u64,
    count: f64,
    gram: Vec<f64>,
    moved: Vec<i64>,
    sum: Vec<f64>,
    cross: Vec<f64>,
    target_sum: Vec<f64>,
    target_square: Vec<f64>,
}

/// Places of a lower triangle, column after column.
fn triangle(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).flat_map(move |column| (column..size).map(move |row| (row, column)))
}

impl Sums {
    pub fn new(features: usize, outputs: usize) -> Self {
        Self {
            recent: Moments::new(features, outputs),
            rows: 0,
            moved: Vec::new(),
            block: FeatureBlock::default(),
        }
    }

    /// Adds the rows of a block; `weights` of the classes if they have any.
    pub fn add(
        &mut self,
        table: &Table,
        map: &FeatureMap,
        weights: Option<&[f64]>,
    ) -> Result<(), Error> {
        let problem = weighted(table, weights);
        if weights.is_none() && self.rows + table.rows() as u64 > EXACT_ROWS {
            self.move_away();
        }
        self.rows += table.rows() as u64;
        let rows: Vec<usize> = (0..table.rows()).collect();
        for part in rows.chunks(BLOCK_ROWS) {
            map.block(table, part, &mut self.block)?;
            let weights: Option<Vec<f64>> =
                problem.weights.as_ref().map(|all| part.iter().map(|&row| all[row]).collect());
            let targets = problem.targets(part);
            self.recent.add(self.block.values(), targets.as_ref(), weights.as_deref());
        }
        Ok(())
    }

    fn move_away(&mut self) {
        let size = self.recent.features();
        self.moved.resize(size * (size + 1) / 2, 0);
        for (sum, place) in self.moved.iter_mut().zip(triangle(size)) {
            *sum += self.recent.gram[place] as i64;
            self.recent.gram[place] = 0.0;
        }
        self.rows = 0;
    }

    /// All sums as moments.
    pub fn finish(mut self) -> Moments {
        if !self.moved.is_empty() {
            self.move_away();
            for (&sum, place) in self.moved.iter().zip(triangle(self.recent.features())) {
                self.recent.gram[place] = sum as f64;
            }
        }
        self.recent
    }

    pub fn store(&self) -> Stored {
        let recent = &self.recent;
        let (features, outputs) = (recent.features(), recent.outputs());
        Stored {
            features: features as u64,
            outputs: outputs as u64,
            rows: self.rows,
            count: recent.count,
            gram: triangle(features).map(|place| recent.gram[place]).collect(),
            moved: self.moved.clone(),
            sum: (0..features).map(|k| recent.sum[(k, 0)]).collect(),
            cross: (0..outputs)
                .flat_map(|t| (0..features).map(move |k| recent.cross[(k, t)]))
                .collect(),
            target_sum: recent.target_sum.clone(),
            target_square: recent.target_square.clone(),
        }
    }

    /// The sums back from a checkpoint; `None` if they are of other sizes.
    pub fn restore(stored: Stored, features: usize, outputs: usize) -> Option<Self> {
        let cells = features * (features + 1) / 2;
        let fits = (stored.features, stored.outputs) == (features as u64, outputs as u64)
            && stored.gram.len() == cells
            && (stored.moved.is_empty() || stored.moved.len() == cells)
            && stored.sum.len() == features
            && stored.cross.len() == features * outputs
            && stored.target_sum.len() == outputs
            && stored.target_square.len() == outputs;
        if !fits {
            return None;
        }
        let mut recent = Moments::new(features, outputs);
        recent.count = stored.count;
        for (&sum, place) in stored.gram.iter().zip(triangle(features)) {
            recent.gram[place] = sum;
        }
        recent.sum = Mat::from_fn(features, 1, |k, _| stored.sum[k]);
        recent.cross = Mat::from_fn(features, outputs, |k, t| stored.cross[t * features + k]);
        recent.target_sum = stored.target_sum;
        recent.target_square = stored.target_square;
        let block = FeatureBlock::default();
        Some(Self { recent, rows: stored.rows, moved: stored.moved, block })
    }
}

/// The problem of a table whose classes have the given weights.
pub(crate) fn weighted<'t>(table: &'t Table, weights: Option<&[f64]>) -> Problem<'t> {
    let mut problem = Problem::new(table, false);
    if let (Some(weights), koan_data::Target::Classes { labels }) = (weights, &table.target) {
        problem.weights = Some(labels.iter().map(|&label| weights[label as usize]).collect());
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(rows: u64) -> Sums {
        let mut sums = Sums::new(3, 2);
        for (k, place) in triangle(3).enumerate() {
            sums.recent.gram[place] = (rows * 1000 + k as u64) as f64;
        }
        sums.rows = rows;
        sums
    }

    #[test]
    fn moved_sums_and_recent_ones_add_up() {
        let mut sums = sums(7);
        sums.move_away();
        assert_eq!(sums.rows, 0);
        sums.recent.gram[(2, 0)] = 5.0;
        let whole = sums.finish();
        assert_eq!(whole.gram[(2, 0)], 7002.0 + 5.0);
        assert_eq!(whole.gram[(0, 0)], 7000.0);
        assert_eq!(whole.gram[(2, 2)], 7005.0);
    }

    /// A sum beyond 2^53, which f64 alone would have rounded on the way.
    #[test]
    fn sums_beyond_53_bits_are_exact_until_the_end() {
        let mut sums = Sums::new(1, 1);
        for _ in 0..5 {
            sums.recent.gram[(0, 0)] = (1u64 << 52) as f64 + 1.0;
            sums.move_away();
        }
        assert_eq!(sums.moved[0], 5 * ((1i64 << 52) + 1));
    }

    #[test]
    fn stored_sums_come_back_bit_for_bit() {
        let mut original = sums(9);
        original.move_away();
        original.recent.cross[(2, 1)] = 0.1;
        original.recent.target_sum[1] = -1.0 / 3.0;
        let bytes = postcard::to_stdvec(&original.store()).unwrap();
        let stored: Stored = postcard::from_bytes(&bytes).unwrap();
        let back = Sums::restore(stored, 3, 2).unwrap();
        assert_eq!(postcard::to_stdvec(&back.store()).unwrap(), bytes);
        assert_eq!(back.recent.cross[(2, 1)], 0.1);
        let stored: Stored = postcard::from_bytes(&bytes).unwrap();
        assert!(Sums::restore(stored, 4, 2).is_none());
    }
}
