//! Sums of integers over rows: exact, so the same in any order.

use faer::Mat;

use crate::moments::{Moments, add_products, add_unweighted};
use crate::parallel;

/// Rows whose products f64 surely sums exactly: 2^22 · 2^30 is below 2^53.
const EXACT_ROWS: u64 = 1 << 22;
/// Bits of a weight that are multiplied at once: products of 1,024 rows are below 2^53.
const DIGIT_BITS: u32 = 11;
/// Low bits of a coefficient, which are multiplied apart: 2^29 · 2^15 · 1,024 rows are below
/// 2^63.
const LOW_BITS: u32 = 29;
/// Features whose sums are a thread's at a time.
const TOGETHER: usize = 128;

/// A row's coefficient in the sums of features, and in which of them it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coefficient {
    pub row: usize,
    pub value: i64,
}

/// Adds Σ value · φ of at most 1,024 rows of `features` to `sums`, K of them.
pub(super) fn add_multiples(sums: &mut [i128], features: &[i16], rows: &[Coefficient]) {
    let count = sums.len();
    parallel::each(sums.chunks_mut(TOGETHER), |number, sums| {
        let (mut low, mut high) = ([0i64; TOGETHER], [0i64; TOGETHER]);
        for &Coefficient { row, value } in rows {
            let start = row * count + number * TOGETHER;
            let features = &features[start..start + sums.len()];
            let (small, large) = (value & ((1 << LOW_BITS) - 1), value >> LOW_BITS);
            for (sum, &feature) in low.iter_mut().zip(features) {
                *sum += small * i64::from(feature);
            }
            if large != 0 {
                for (sum, &feature) in high.iter_mut().zip(features) {
                    *sum += large * i64::from(feature);
                }
            }
        }
        for (sum, (low, high)) in sums.iter_mut().zip(low.into_iter().zip(high)) {
            *sum += i128::from(low) + (i128::from(high) << LOW_BITS);
        }
    });
}

/// The lower triangle of Σ w · φφᵀ, column after column.
#[derive(Clone, Debug)]
pub(super) struct Gram {
    features: usize,
    cells: Cells,
    /// What is not in the cells yet; of unweighted rows.
    recent: Mat<f64>,
    recent_rows: u64,
}

/// 64 bits hold the sums of 2^32 rows, with weights of 22 bits 128 are needed.
#[derive(Clone, Debug)]
enum Cells {
    Narrow(Vec<i64>),
    Wide(Vec<i128>),
}

/// Places of a lower triangle, column after column.
fn triangle(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).flat_map(move |column| (column..size).map(move |row| (row, column)))
}

impl Gram {
    pub fn new(features: usize, weighted: bool) -> Self {
        let size = features * (features + 1) / 2;
        let cells =
            if weighted { Cells::Wide(vec![0; size]) } else { Cells::Narrow(vec![0; size]) };
        Self { features, cells, recent: Mat::zeros(features, features), recent_rows: 0 }
    }

    /// Adds at most 1,024 rows of `features`, with weights if rows have some; [`Gram::settle`]
    /// is to follow in the end.
    pub fn add(&mut self, features: &[i16], weights: Option<&[i64]>) {
        let count = self.features;
        let rows = features.len() / count;
        let Some(weights) = weights else {
            add_unweighted(&mut self.recent, features);
            self.recent_rows += rows as u64;
            if self.recent_rows > EXACT_ROWS - 1024 {
                self.settle();
            }
            return;
        };
        let entry = |k: usize, row: usize| f64::from(features[row * count + k]);
        let right = Mat::from_fn(count, rows, entry);
        let largest = weights.iter().copied().max().unwrap_or(0);
        let mut place = 0;
        while largest >> place > 0 {
            let digit = |row: usize| ((weights[row] >> place) & ((1 << DIGIT_BITS) - 1)) as f64;
            let left = Mat::from_fn(count, rows, |k, row| entry(k, row) * digit(row));
            add_products(&mut self.recent, left.as_ref(), right.as_ref());
            self.settle_at(place);
            place += DIGIT_BITS;
        }
    }

    /// Moves what is recent into the cells; what is not moved is in none of the results.
    pub fn settle(&mut self) {
        if self.recent_rows > 0 {
            self.settle_at(0);
            self.recent_rows = 0;
        }
    }

    /// Moves what is recent into the cells, times 2^place.
    fn settle_at(&mut self, place: u32) {
        let places = triangle(self.features);
        match &mut self.cells {
            Cells::Narrow(cells) => cells
                .iter_mut()
                .zip(places)
                .for_each(|(cell, at)| *cell += (self.recent[at] as i64) << place),
            Cells::Wide(cells) => cells
                .iter_mut()
                .zip(places)
                .for_each(|(cell, at)| *cell += (self.recent[at] as i128) << place),
        }
        self.recent.fill(0.0);
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.features * (self.features + 1) / 2
    }

    /// The cells from `start` to `end`.
    pub fn cells(&self, start: usize, end: usize) -> Vec<i128> {
        match &self.cells {
            Cells::Narrow(cells) => cells[start..end].iter().map(|&cell| cell.into()).collect(),
            Cells::Wide(cells) => cells[start..end].to_vec(),
        }
    }

    /// Adds, or takes away, numbers to the cells from `start` on; whether they fit.
    #[must_use]
    pub fn merge(&mut self, start: usize, numbers: &[i128], sign: i128) -> bool {
        match &mut self.cells {
            Cells::Narrow(cells) => cells[start..].iter_mut().zip(numbers).all(|(cell, &more)| {
                let sum = i64::try_from(sign * more).ok().and_then(|more| cell.checked_add(more));
                sum.map(|sum| *cell = sum).is_some()
            }),
            Cells::Wide(cells) => cells[start..].iter_mut().zip(numbers).all(|(cell, &more)| {
                cell.checked_add(sign * more).map(|sum| *cell = sum).is_some()
            }),
        }
    }

    /// Puts the cells, times `unit`, into the matrix of `moments`.
    pub fn write(&self, moments: &mut Moments, unit: f64) {
        for (number, at) in triangle(self.features).enumerate() {
            let cell = match &self.cells {
                Cells::Narrow(cells) => cells[number] as f64,
                Cells::Wide(cells) => cells[number] as f64,
            };
            moments.gram[at] = cell * unit;
        }
    }
}
