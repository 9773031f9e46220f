//! Products of the weights of few outputs with the features of many rows.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::vector::{Number, Work, dot, wide};

/// Numbers in a vector register, at most.
const LANES: usize = 16;

/// Weights of K features for T outputs, laid out by what fills the registers of a product. All
/// give the same bits.
pub(crate) enum Weights<N> {
    One(Vec<N>),
    /// Outputs do: T × K, and zeros down to whole registers. Without them a product's kernel
    /// computes with what is in memory there: mostly subnormal numbers, of which each takes a
    /// hundred times as long.
    Outputs(Mat<N>),
    /// Rows do, where outputs would leave more than three eighths of them empty: K × T.
    Rows(Mat<N>),
}

impl<N: Number> Weights<N> {
    /// Of K × T `weights`, each through `number`.
    pub(crate) fn new(weights: MatRef<'_, f64>, number: impl Fn(f64) -> N) -> Self {
        let (features, outputs) = (weights.nrows(), weights.ncols());
        let whole = outputs.next_multiple_of(LANES);
        let of = |t: usize, k: usize| {
            if t < outputs { number(weights[(k, t)]) } else { N::default() }
        };
        match outputs {
            1 => Self::One((0..features).map(|k| of(0, k)).collect()),
            _ if 5 * whole > 8 * outputs => {
                Self::Rows(Mat::from_fn(features, outputs, |k, t| of(t, k)))
            }
            _ => Self::Outputs(Mat::from_fn(whole, features, of)),
        }
    }

    /// wᵀφ of m rows, whose features `part` has (K × m, column-major): T × m, and may be more rows
    /// of zeros.
    pub(crate) fn products(&self, part: MatRef<'_, N>) -> Mat<N> {
        let one = N::one_impl();
        match self {
            Self::One(weights) => wide(Dots { weights, part }),
            Self::Outputs(weights) => {
                let mut products = Mat::zeros(weights.nrows(), part.ncols());
                let all = weights.as_ref();
                matmul(products.as_mut(), Accum::Replace, all, part, one, Par::Seq);
                products
            }
            Self::Rows(weights) => {
                let mut products = Mat::zeros(part.ncols(), weights.ncols());
                let (rows, all) = (part.transpose(), weights.as_ref());
                matmul(products.as_mut(), Accum::Replace, rows, all, one, Par::Seq);
                products.transpose().to_owned()
            }
        }
    }
}

/// The weights of one output, and the features of rows.
struct Dots<'a, N> {
    weights: &'a [N],
    part: MatRef<'a, N>,
}

impl<N: Number> Work for Dots<'_, N> {
    type Output = Mat<N>;

    #[inline(always)]
    fn call(self) -> Mat<N> {
        let mut products = Mat::zeros(1, self.part.ncols());
        for row in 0..self.part.ncols() {
            let features = self.part.col(row).try_as_col_major();
            let features = features.expect("the features of a row lie together").as_slice();
            products[(0, row)] = dot(self.weights, features);
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_matrices() {
        for (features, outputs) in
            [(1, 1), (15, 1), (16, 1), (70, 1), (70, 2), (70, 16), (9, 17), (9, 30)]
        {
            let entry = |i: usize, j: usize| ((31 * i + 17 * j) % 101) as f64 - 50.0;
            let weights = Mat::from_fn(features, outputs, entry);
            let values: Vec<f64> =
                (0..5).flat_map(|i| (0..features).map(move |k| entry(i, k))).collect();
            let part = MatRef::from_column_major_slice(&values, features, 5);
            let expected = weights.transpose() * part;
            let found = Weights::new(weights.as_ref(), |w| w).products(part);
            assert_eq!(found.as_ref().subrows(0, outputs), expected);
            // Small whole numbers: exact in f32 too.
            let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let part = MatRef::from_column_major_slice(&single, features, 5);
            let found = Weights::new(weights.as_ref(), |w| w as f32).products(part);
            for i in 0..5 {
                for t in 0..outputs {
                    assert_eq!(f64::from(found[(t, i)]), expected[(t, i)]);
                }
            }
        }
    }
}
