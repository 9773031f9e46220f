//! How far rows spread once normalised.

use super::Normaliser;
use koan_data::Table;

/// How far normalised rows spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Σ over inputs of the variance: half the mean squared distance of two rows.
    pub variance: f64,
    /// Mean squared norm of a row.
    pub square_norm: f64,
    /// Mean of ‖x − y‖₁ over pairs of rows.
    pub distance_l1: f64,
    /// Inputs of a row.
    pub inputs: f64,
    /// Nearly the largest |u| (its 99.99 % quantile).
    pub largest: f64,
}

impl Normaliser {
    /// How far the given rows spread once normalised.
    #[must_use]
    pub fn spread(&self, table: &Table, rows: &[usize]) -> Spread {
        let step = rows.len().div_ceil(2000).max(1);
        let sample: Vec<usize> = rows.iter().copied().step_by(step).collect();
        let count = sample.len().max(1) as f64;
        let mut spread = Spread {
            variance: 0.0,
            square_norm: 0.0,
            distance_l1: 0.0,
            inputs: self.axes.len() as f64,
            largest: 0.0,
        };
        let mut magnitudes = Vec::with_capacity(sample.len() * self.axes.len());
        for (input, axis) in self.axes.iter().enumerate() {
            let mut values: Vec<f64> =
                sample.iter().map(|&row| axis.apply(table.row(row)[input])).collect();
            let mean = values.iter().sum::<f64>() / count;
            let square = values.iter().map(|u| u * u).sum::<f64>() / count;
            spread.square_norm += square;
            spread.variance += (square - mean * mean).max(0.0);
            magnitudes.extend(values.iter().map(|u| u.abs()));
            // Mean |x − y| of pairs, from the order statistics.
            values.sort_by(f64::total_cmp);
            let last = values.len() as f64 - 1.0;
            let weighted: f64 =
                values.iter().enumerate().map(|(i, u)| (2.0 * i as f64 - last) * u).sum();
            spread.distance_l1 += 2.0 * weighted / (count * count);
        }
        let rank = (magnitudes.len() as f64 * 0.9999) as usize;
        if rank < magnitudes.len() {
            spread.largest = *magnitudes.select_nth_unstable_by(rank, f64::total_cmp).1;
        }
        for place in [&mut spread.variance, &mut spread.square_norm, &mut spread.distance_l1] {
            *place = place.max(1e-12);
        }
        spread.largest = spread.largest.max(1e-6);
        spread
    }
}
