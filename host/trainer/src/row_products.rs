//! Held-out errors of ridge regression where features outnumber rows. The dual form
//! ([`crate::dual`]) needs nothing of the features but the products of rows with each other, which
//! are summed once for all folds.

use faer::Mat;

use crate::Error;
use crate::features::FeatureMap;
use crate::moments::add_unweighted;
use crate::problem::Problem;
use crate::ridge::{LinearFit, System, best_by};
use crate::validation::Sample;

/// Σ φᵢφⱼ over the features, of all pairs of some rows.
#[derive(Clone, Debug)]
pub struct RowProducts {
    /// The rows, ascending.
    rows: Vec<usize>,
    /// N × N, both triangles.
    products: Mat<f64>,
    features: usize,
}

impl RowProducts {
    /// The products of the rows of some samples; none where features do not outnumber them.
    ///
    /// # Errors
    /// A feature map for another number of inputs.
    pub fn new(
        problem: &Problem<'_>,
        map: &FeatureMap,
        samples: &[Sample],
    ) -> Result<Option<Self>, Error> {
        let both = samples.iter().flat_map(|sample| sample.fit.iter().chain(&sample.judge));
        let mut rows: Vec<usize> = both.copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let (count, features) = (rows.len(), map.features());
        if count >= features {
            return Ok(None);
        }
        let values = map.features_of(problem.table, &rows)?;
        let mut products = Mat::<f64>::zeros(count, count);
        // Powers of two: no product of integers is rounded.
        let mut units = map.units().to_vec();
        units.sort_by(f64::total_cmp);
        units.dedup();
        for unit in units {
            let of_unit = (0..features).filter(|&k| map.units()[k] == unit);
            // Feature after feature, as if they were the rows.
            let turned: Vec<i16> = of_unit
                .flat_map(|k| (0..count).map(move |row| (row, k)))
                .map(|(row, k)| values[row * features + k])
                .collect();
            let mut sums = Mat::<f64>::zeros(count, count);
            for part in turned.chunks(koan_gram::MAX_ROWS * count) {
                add_unweighted(&mut sums, part);
            }
            let both = |i: usize, j: usize| {
                let lower = (i.max(j), i.min(j));
                products[lower] + unit * unit * sums[lower]
            };
            products = Mat::from_fn(count, count, both);
        }
        Ok(Some(Self { rows, products, features }))
    }

    /// Mean squared error on the judging rows of a sample, of the best fit of these λ on the others.
    #[must_use]
    pub fn error(&self, problem: &Problem<'_>, sample: &Sample, lambdas: &[f64]) -> f64 {
        let [fit, held] = [&sample.fit, &sample.judge].map(|rows| self.places(rows));
        // Rows that all weigh nothing have any mean.
        let total: f64 = sample.fit.iter().map(|&row| problem.weight(row)).sum();
        let total = total.max(f64::MIN_POSITIVE);
        let weights: Vec<f64> = sample.fit.iter().map(|&row| problem.weight(row)).collect();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        // Of the mean row with each row, and with itself.
        let with_mean: Vec<f64> = (0..self.rows.len())
            .map(|j| fit.iter().zip(&weights).map(|(&i, w)| w * self.products[(i, j)]).sum::<f64>())
            .map(|sum| sum / total)
            .collect();
        let of_mean: f64 = fit.iter().zip(&weights).map(|(&i, w)| w * with_mean[i]).sum::<f64>();
        let of_mean = of_mean / total;
        let centred =
            |i: usize, j: usize| self.products[(i, j)] - with_mean[i] - with_mean[j] + of_mean;
        let own = Mat::from_fn(fit.len(), fit.len(), |i, j| {
            roots[i] * roots[j] * centred(fit[i], fit[j])
        });
        let cross = Mat::from_fn(held.len(), fit.len(), |i, j| roots[j] * centred(held[i], fit[j]));
        let targets = problem.targets(&sample.fit);
        let means: Vec<f64> = targets
            .col_iter()
            .map(|target| target.iter().zip(&weights).map(|(y, w)| w * y).sum::<f64>() / total)
            .collect();
        let scaled =
            Mat::from_fn(fit.len(), means.len(), |i, t| roots[i] * (targets[(i, t)] - means[t]));
        let system = System::dual(own, scaled, means, self.features);
        let wanted = problem.targets(&sample.judge);
        let judge = |found: &LinearFit| {
            let scores = &cross * &found.weights;
            let square = |i: usize, t: usize| {
                problem.weight(sample.judge[i])
                    * (scores[(i, t)] + found.bias[t] - wanted[(i, t)]).powi(2)
            };
            (0..held.len())
                .flat_map(|i| (0..scores.ncols()).map(move |t| (i, t)))
                .map(|(i, t)| square(i, t))
                .sum::<f64>()
        };
        let weight: f64 = sample.judge.iter().map(|&row| problem.weight(row)).sum();
        let outputs = problem.outputs as f64;
        best_by(&system, lambdas, &judge).1 / weight.max(f64::MIN_POSITIVE) / outputs
    }

    /// Where rows lie.
    fn places(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().map(|row| self.rows.partition_point(|other| other < row)).collect()
    }
}
