//! Gram matrices Σ φφᵀ of integers φ, exact, by products of single bytes.
//!
//! A [`Block`] lays out some rows as signed bytes for the vector units of the machine
//! ([`Kernel`]), which sum the products in 32 bits; the sums are then added to f64. Every
//! kernel gives the same integers, and so the same bits as any other way to sum them.
//!
//! Features are taken 16 at a time. Where not all their values fit a signed byte, they are
//! two: φ = 256·h + l + 128 with h and l from −128 to 127. Then Σ φφ' is four sums of
//! products of bytes, and what the constant adds follows from Σ φ and Σ φ'.

mod kernel;
mod panel;

use rayon::prelude::*;

pub use kernel::Kernel;
use kernel::Tile;
use panel::{Bytes, CENTRE, Panel};

/// Rows that a [`Block`] holds at most: 32 bits hold the sums of products of so many for
/// certain, and all that a kernel sums on the way.
pub const MAX_ROWS: usize = 1 << 14;

/// Features of a panel: 32-bit sums that fill a vector of AVX-512, or two of AVX2.
const LANES: usize = 16;

/// Panels of columns of the Gram matrix that a thread takes at a time: their bytes, of
/// 1,024 rows, stay in the second level of its cache.
const PANELS: usize = 4;

/// Rows of features, laid out for a kernel.
#[derive(Clone, Debug)]
pub struct Block {
    kernel: Kernel,
    panels: Vec<Panel>,
    features: usize,
    rows: usize,
}

impl Block {
    /// The rows of `values`, `features` numbers each, for the fastest kernel that this
    /// machine has.
    ///
    /// # Panics
    /// If `features` is 0 or does not divide the number of values, or with more
    /// than [`MAX_ROWS`] rows.
    #[must_use]
    pub fn new(values: &[i16], features: usize) -> Self {
        Self::with_kernel(Kernel::best(), values, features)
    }

    /// [`Block::new`] for `kernel`.
    ///
    /// # Panics
    /// As [`Block::new`], and if the machine has not the instructions of the kernel.
    #[must_use]
    pub fn with_kernel(kernel: Kernel, values: &[i16], features: usize) -> Self {
        assert!(kernel.is_supported(), "this machine has no {kernel:?}");
        assert!(features > 0 && values.len().is_multiple_of(features), "whole rows");
        let rows = values.len() / features;
        assert!(rows <= MAX_ROWS, "at most {MAX_ROWS} rows");
        let starts = (0..features).into_par_iter().step_by(LANES);
        let panels = starts.map(|start| Panel::new(kernel, values, features, start)).collect();
        Self { kernel, panels, features, rows }
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
        let chunks = gram.par_chunks_mut(PANELS * LANES).enumerate().with_max_len(1);
        chunks.for_each(|(number, columns)| self.add_columns(number * PANELS, columns));
    }

    /// Adds the columns from panel `first` on. Some panels of rows are taken together,
    /// so that a part of a column is long enough for its memory to be fetched ahead.
    fn add_columns(&self, first: usize, columns: &mut [&mut [f64]]) {
        for rows in (first..self.panels.len()).step_by(PANELS) {
            let rows = rows..self.panels.len().min(rows + PANELS);
            for (left, columns) in (first..).zip(columns.chunks_mut(LANES)) {
                for right in rows.start.max(left)..rows.end {
                    self.add_tile(left, right, columns);
                }
            }
        }
    }

    /// Adds the products of two panels to the columns of the left one.
    fn add_tile(&self, at: usize, number: usize, columns: &mut [&mut [f64]]) {
        let (left, right) = (&self.panels[at], &self.panels[number]);
        let start = number * LANES;
        let lanes = LANES.min(self.features - start);
        let tile = self.tile(&left.low, &right.low);
        let wide =
            (left.high.is_some() || right.high.is_some()).then(|| self.wide(&tile, left, right));
        for (i, (column, products)) in columns.iter_mut().zip(&tile).enumerate() {
            // The diagonal has a triangle.
            let skipped = if at == number { i } else { 0 };
            let places = &mut column[start..][..lanes];
            match &wide {
                None => add(places, products, skipped),
                Some(wide) => add(places, &wide[i], skipped),
            }
        }
    }

    fn tile(&self, left: &Bytes, right: &Bytes) -> Tile {
        self.kernel.tile(&left.steps, &right.steps, &left.sums)
    }

    /// Σ φφ' where the features of a panel have two bytes; `low` are the products of the
    /// low ones.
    fn wide(&self, low: &Tile, left: &Panel, right: &Panel) -> [[f64; LANES]; LANES] {
        let mut sums = low.map(|products| products.map(f64::from));
        let mut add = |left: Option<&Bytes>, right: Option<&Bytes>, scale: f64| {
            let (Some(left), Some(right)) = (left, right) else { return };
            for (sums, products) in sums.iter_mut().zip(self.tile(left, right)) {
                for (sum, product) in sums.iter_mut().zip(products) {
                    *sum += scale * f64::from(product);
                }
            }
        };
        add(left.high.as_ref(), Some(&right.low), 256.0);
        add(Some(&left.low), right.high.as_ref(), 256.0);
        add(left.high.as_ref(), right.high.as_ref(), 65_536.0);
        // Σ (φ + a)(φ' + b) = Σ φφ' + b·Σφ + a·Σφ' + n·a·b.
        let centre = |panel: &Panel| if panel.high.is_some() { CENTRE } else { 0.0 };
        let (a, b) = (centre(left), centre(right));
        let (left, right) = (left.sums(), right.sums());
        for (sums, left) in sums.iter_mut().zip(left) {
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum += b * left + a * right + self.rows as f64 * a * b;
            }
        }
        sums
    }
}

/// Adds all products that there are places for but those `skipped`.
fn add<T: Copy + Into<f64>>(places: &mut [f64], products: &[T; LANES], skipped: usize) {
    // Most have all places: in vectors.
    if let (Ok(places), 0) = (<&mut [f64; LANES]>::try_from(&mut *places), skipped) {
        for (place, &product) in places.iter_mut().zip(products) {
            *place += product.into();
        }
        return;
    }
    for (place, &product) in places.iter_mut().zip(products).skip(skipped) {
        *place += product.into();
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

    /// Every kernel that this machine has; all machines have one.
    fn check(values: &[i16], features: usize) {
        let wanted: Vec<Vec<f64>> = naive(values, features)
            .iter()
            .map(|column| column.iter().map(|&entry| entry as f64 + 0.5).collect())
            .collect();
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
            let block = Block::with_kernel(kernel, values, features);
            // On top of what there is.
            let mut gram = vec![vec![0.5; features]; features];
            block.add_to(&mut gram.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
            let wrong = (0..features).find(|&j| gram[j] != wanted[j]);
            assert_eq!(wrong, None, "{kernel:?}: the first column that is not right");
        }
    }

    /// Bytes in most columns of most cases, two bytes in the others.
    fn values(features: usize, rows: usize) -> impl Strategy<Value = Vec<i16>> {
        let wide = collection::vec(prop::bool::weighted(0.02), features);
        (wide, collection::vec(any::<i16>(), features * rows)).prop_map(
            move |(wide, mut values)| {
                for row in values.chunks_mut(features) {
                    for (value, _) in row.iter_mut().zip(&wide).filter(|(_, wide)| !**wide) {
                        *value >>= 8;
                    }
                }
                values
            },
        )
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
                (Just(features), values(features, rows))
            })
        ) {
            check(&values, features);
        }
    }

    #[test]
    fn the_largest_sums_do_not_overflow() {
        let rows = MAX_ROWS;
        for value in [i16::MIN, -128, -127, -1, 0, 127, 128, 255, i16::MAX] {
            check(&vec![value; 17 * rows], 17);
        }
        // Panels of one byte and of two, and signs that differ.
        for pair in [[i16::MIN, i16::MAX], [-128, 127], [-128, i16::MIN], [127, i16::MIN]] {
            let mixed: Vec<i16> = (0..33 * rows).map(|i| pair[i % 33 / 16 % 2]).collect();
            check(&mixed, 33);
            let mixed: Vec<i16> = (0..18 * rows).map(|i| pair[i % 18 % 2]).collect();
            check(&mixed, 18);
        }
    }

    #[test]
    #[should_panic(expected = "at most 16384 rows")]
    fn too_many_rows_are_refused() {
        let _ = Block::new(&vec![0; MAX_ROWS + 1], 1);
    }
}
