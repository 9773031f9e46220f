//! Gram matrices Σ φφᵀ of 16-bit integers φ, exact, by the units that multiply
//! and sum four pairs of bytes (AVX-512 VNNI).
//!
//! A product of two 16-bit integers takes four of bytes, and a vector unit does
//! 64 of those where it does eight products of f64: so the sums take about half
//! the time of a matrix product in f64, and are as exact.
//!
//! With φ = 256·h + l, where 0 ≤ l < 256, let the left factor be
//! φ + 2^15 = 256·(h + 128) + l, of unsigned bytes, and the right one be
//! φ − 128 = 256·h + (l − 128), of signed bytes, as the units want them. Then
//! Σ φφ' = Σ (φ + 2^15)(φ' − 128) + 128·Σφ − 2^15·Σφ' + 2^22·n over n rows.

#[cfg(target_arch = "x86_64")]
mod kernel;

use rayon::prelude::*;

/// Rows that a [`Block`] holds at most: 32 bits hold the sums of so many, and twice as
/// many, for certain.
pub const MAX_ROWS: usize = 1 << 14;

/// Features of a panel: the lanes of a vector of 32-bit sums.
const LANES: usize = 16;

/// Columns of the Gram matrix that a thread takes at a time: their bytes, of 1,024
/// rows, stay in the second level of its cache.
const COLUMNS: usize = 64;

/// The bytes of four rows of a panel: each word has four rows of a feature.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Quad {
    /// h + 128.
    high: [u32; LANES],
    /// l.
    low: [u32; LANES],
}

/// Rows of features, laid out for the units.
#[derive(Clone, Debug)]
pub struct Block {
    /// Panels of 16 features, and in each the rows four by four. Rows and features
    /// that there are not have left bytes of zero.
    quads: Vec<Quad>,
    /// Quads of a panel.
    depth: usize,
    /// Σ φ of each feature, and zeros up to whole panels.
    sums: Vec<f64>,
    features: usize,
    rows: usize,
}

/// Whether this machine has the units.
fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return kernel::is_supported();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Block {
    /// The rows of `values`, `features` numbers each; none if the machine has no
    /// units for it.
    ///
    /// # Panics
    /// If `features` is 0 or does not divide the number of values, or with more
    /// than [`MAX_ROWS`] rows.
    #[must_use]
    pub fn new(values: &[i16], features: usize) -> Option<Self> {
        is_supported().then(|| Self::packed(values, features))
    }

    fn packed(values: &[i16], features: usize) -> Self {
        assert!(features > 0 && values.len().is_multiple_of(features), "whole rows");
        let rows = values.len() / features;
        assert!(rows <= MAX_ROWS, "at most {MAX_ROWS} rows");
        let (panels, depth) = (features.div_ceil(LANES), rows.div_ceil(4));
        let mut quads = vec![Quad::default(); panels * depth];
        let mut sums = vec![0.0; panels * LANES];
        if rows > 0 {
            quads
                .par_chunks_mut(depth)
                .zip(sums.par_chunks_mut(LANES))
                .enumerate()
                .for_each(|(panel, (quads, sums))| pack(values, features, panel, quads, sums));
        }
        Self { quads, depth, sums, features, rows }
    }

    /// Adds Σ φφᵀ to the lower triangle of `gram`, column by column; the rest is
    /// left alone. Exact while the sums are below 2^53.
    ///
    /// # Panics
    /// If `gram` has not as many columns and rows as there are features.
    pub fn add_to(&self, gram: &mut [&mut [f64]]) {
        assert!(
            gram.len() == self.features && gram.iter().all(|column| column.len() == gram.len()),
            "a square of {} columns",
            self.features
        );
        gram.par_chunks_mut(COLUMNS).enumerate().with_max_len(1).for_each(|(number, columns)| {
            self.add_columns(number * COLUMNS, columns);
        });
    }

    /// Adds the columns from `first`, a multiple of [`LANES`], on.
    fn add_columns(&self, first: usize, columns: &mut [&mut [f64]]) {
        for panel in first / LANES..self.features.div_ceil(LANES) {
            let start = panel * LANES;
            let lanes = LANES.min(self.features - start);
            for (at, columns) in (first..).step_by(TILE).zip(columns.chunks_mut(TILE)) {
                // Above the diagonal.
                if at >= start + LANES {
                    break;
                }
                let products = self.products(at, panel);
                for ((j, column), products) in (at..).zip(columns).zip(&products) {
                    let skipped = j.saturating_sub(start).min(lanes);
                    let constant = 128.0 * self.sums[j] + 4_194_304.0 * self.rows as f64;
                    let places = &mut column[start..][..lanes];
                    let sums = &self.sums[start..][..lanes];
                    for ((place, product), sum) in
                        places.iter_mut().zip(products).zip(sums).skip(skipped)
                    {
                        *place += product + (constant - 32_768.0 * sum);
                    }
                }
            }
        }
    }

    fn panel(&self, panel: usize) -> &[Quad] {
        &self.quads[panel * self.depth..][..self.depth]
    }

    /// Σ (φ + 2^15)(φ' − 128) for [`TILE`] features φ from `left` on, a multiple
    /// of [`TILE`], and the features φ' of a panel.
    fn products(&self, left: usize, right: usize) -> [[f64; LANES]; TILE] {
        #[cfg(target_arch = "x86_64")]
        return kernel::products(
            self.panel(left / LANES),
            !left.is_multiple_of(LANES),
            self.panel(right),
        );
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("there is no block without the units")
    }
}

/// Columns of a tile: with 16 rows and three sums for each entry they fill the
/// registers.
const TILE: usize = 8;

/// Lays out the rows of panel `panel`.
fn pack(values: &[i16], features: usize, panel: usize, quads: &mut [Quad], sums: &mut [f64]) {
    let first = panel * LANES;
    let lanes = LANES.min(features - first);
    let mut totals = [0i32; LANES];
    for (quad, rows) in quads.iter_mut().zip(values.chunks(4 * features)) {
        for (t, row) in rows.chunks_exact(features).enumerate() {
            let mut part = [i16::MIN; LANES];
            part[..lanes].copy_from_slice(&row[first..][..lanes]);
            for lane in 0..LANES {
                let word = part[lane] as u16 ^ 0x8000;
                quad.high[lane] |= u32::from(word >> 8) << (8 * t);
                quad.low[lane] |= u32::from(word & 255) << (8 * t);
                totals[lane] += i32::from(part[lane]);
            }
        }
    }
    for (sum, total) in sums.iter_mut().zip(totals).take(lanes) {
        *sum = f64::from(total);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection;
    use proptest::prelude::*;

    use super::*;

    /// Σ φφᵀ, lower triangle, as integers.
    fn naive(values: &[i16], features: usize) -> Vec<Vec<i64>> {
        let entry = |i: usize, j: usize| {
            values.chunks(features).map(|row| i64::from(row[i]) * i64::from(row[j])).sum()
        };
        (0..features)
            .map(|j| (0..features).map(|i| if i < j { 0 } else { entry(i, j) }).collect())
            .collect()
    }

    fn check(values: &[i16], features: usize) {
        let Some(block) = Block::new(values, features) else {
            eprintln!("this machine has no units for sums of products of bytes: nothing to test");
            return;
        };
        // On top of what there is.
        let mut gram = vec![vec![0.5; features]; features];
        block.add_to(&mut gram.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        for (column, naive) in gram.iter().zip(naive(values, features)) {
            let wanted: Vec<f64> = naive.iter().map(|&entry| entry as f64 + 0.5).collect();
            assert_eq!(*column, wanted);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 200,
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn sums_are_those_of_integers(
            (features, values) in (1usize..150, 0usize..40).prop_flat_map(|(features, rows)| {
                (Just(features), collection::vec(any::<i16>(), features * rows))
            })
        ) {
            check(&values, features);
        }
    }

    #[test]
    fn the_largest_sums_do_not_overflow() {
        let rows = MAX_ROWS;
        for value in [i16::MIN, -1, 0, 127, 255, i16::MAX] {
            check(&vec![value; 17 * rows], 17);
        }
        let mixed: Vec<i16> = (0..18 * rows).map(|i| [i16::MIN, i16::MAX][i % 18 % 2]).collect();
        check(&mixed, 18);
    }
}
