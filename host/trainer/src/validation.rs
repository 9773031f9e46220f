//! How good a feature map is: the squared error on held-out training rows.

use koan::Family;

use crate::Error;
use crate::blob::ModelSpec;
use crate::features::FeatureMap;
use crate::folds::{Folds, SMALL_ROWS};
use crate::lambda::{CELL_LAMBDAS, FEW_LAMBDAS, given_or, of_cells};
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{System, best_on};
use crate::row_products::RowProducts;
use crate::sparse::{Cells, Ridge};

/// Rows for a comparison: some to fit on, others to judge by.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Rows to fit on.
    pub fit: Vec<usize>,
    /// Rows to judge by.
    pub judge: Vec<usize>,
}

impl Sample {
    /// Samples of at most about `most` rows to average over: all folds of small data, one of
    /// large.
    #[must_use]
    pub fn folds(problem: &Problem<'_>, most: usize) -> Vec<Self> {
        // The seed is no concern of the user's: these parts only compare. A single group is
        // cut in runs.
        let table = problem.table;
        let mut folds = Folds::new(table, 7).unwrap_or_else(|_| Folds::runs(table.rows(), 2));
        if folds.rows() >= SMALL_ROWS {
            folds.held.truncate(1);
        }
        let splits = folds.sample(most).splits();
        splits.into_iter().map(|(fit, judge)| Self { fit, judge }).collect()
    }
}

/// Squared error on the judging rows of the best fit on the others, averaged over samples.
///
/// # Errors
/// A model that the format does not allow.
pub fn validate(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    samples: &[Sample],
    lambda: Option<f64>,
) -> Result<f64, Error> {
    let map = FeatureMap::new(spec)?;
    let lambdas = given_or(lambda, &FEW_LAMBDAS);
    let mean = |errors: Result<Vec<f64>, Error>| {
        errors.map(|errors| errors.iter().sum::<f64>() / samples.len() as f64)
    };
    if let Some(slot_bits) = sparse_slots(spec) {
        let error = |place: usize| judge_sparse(problem, &map, slot_bits, &samples[place], lambda);
        return mean(parallel::try_map(samples.len(), error));
    }
    if let Some(products) = RowProducts::new(problem, &map, samples)? {
        let error = |place: usize| products.error(problem, &samples[place], &lambdas);
        return mean(Ok(parallel::map(samples.len(), error)));
    }
    mean(samples.iter().map(|sample| judge_dense(problem, &map, sample, &lambdas)).collect())
}

/// By the sums of products of features.
fn judge_dense(
    problem: &Problem<'_>,
    map: &FeatureMap,
    sample: &Sample,
    lambdas: &[f64],
) -> Result<f64, Error> {
    let quiet = Progress::none();
    let fit = problem.moments(map, &sample.fit, &quiet)?;
    let held_out = problem.moments(map, &sample.judge, &quiet)?;
    Ok(best_on(&System::new(&fit), &held_out, lambdas).1)
}

fn judge_sparse(
    problem: &Problem<'_>,
    map: &FeatureMap,
    slot_bits: u8,
    sample: &Sample,
    lambda: Option<f64>,
) -> Result<f64, Error> {
    let cells = |rows: &[usize]| -> Result<Cells, Error> {
        Ok(Cells::new(&map.codes_of(problem.table, rows)?, map.codes(), slot_bits))
    };
    let (fit, held_out) = (cells(&sample.fit)?, cells(&sample.judge)?);
    let weights: Vec<f64> = sample.fit.iter().map(|&row| problem.weight(row)).collect();
    // Three of them tell frequencies apart as well as all.
    let lambdas = given_or(lambda, &of_cells(&CELL_LAMBDAS[1..4], &weights));
    let outputs = 0..problem.outputs;
    let means: Vec<f64> =
        outputs.map(|output| weighted_mean(problem, &sample.fit, output)).collect();
    let of_output = |(output, mean): (usize, &f64)| -> Vec<f64> {
        sample.fit.iter().map(|&row| problem.target(row, output) - mean).collect()
    };
    let targets: Vec<Vec<f64>> = means.iter().enumerate().map(of_output).collect();
    let ridge = Ridge::new(&fit, &weights, problem.outputs);
    let (mut solutions, mut errors) = (Vec::new(), Vec::new());
    for lambda in lambdas {
        solutions = ridge.solve(&targets, lambda, &solutions, 1e-3);
        let error = |(output, solution): (usize, &Vec<f64>)| -> f64 {
            let values = held_out.apply(solution);
            let squares = sample.judge.iter().zip(values).map(|(&row, value)| {
                problem.weight(row) * (value + means[output] - problem.target(row, output)).powi(2)
            });
            squares.sum()
        };
        errors.push(solutions.iter().enumerate().map(error).sum::<f64>());
    }
    let rows: f64 = sample.judge.iter().map(|&row| problem.weight(row)).sum();
    let least = errors.into_iter().fold(f64::INFINITY, f64::min);
    // Rows without weight tell nothing apart.
    Ok(least / (rows.max(f64::MIN_POSITIVE) * problem.outputs as f64))
}

/// Mean target of `output`, rows weighted; 0 if none has a weight.
#[must_use]
pub fn weighted_mean(problem: &Problem<'_>, rows: &[usize], output: usize) -> f64 {
    let weight: f64 = rows.iter().map(|&row| problem.weight(row)).sum();
    let sum: f64 = rows.iter().map(|&row| problem.weight(row) * problem.target(row, output)).sum();
    sum / weight.max(f64::MIN_POSITIVE)
}

/// The slot bits when the model is one bank of bins, which has a solver of its
/// own.
#[must_use]
pub fn sparse_slots(spec: &ModelSpec) -> Option<u8> {
    match spec.banks.as_slice() {
        [bank] => match bank.family {
            Family::Bin { slot_bits } => Some(slot_bits),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::{BankSpec, MapSpec};
    use koan::generator::Stream;
    use koan::numerics::Scale;
    use koan::{InputMap, Law};
    use koan_data::{Format, Schema, Table, Target};

    /// From −1 to 1.
    fn uniform(index: usize) -> f32 {
        Stream::new(4, 1).draw(index as u64) as i32 as f32 / 2f32.powi(31)
    }

    fn table(rows: usize, weights: bool) -> Table {
        let mut schema = Schema::new(Format::Csv);
        schema.inputs = 3;
        schema.classes = ["a", "b", "c"].map(str::to_owned).to_vec();
        let values: Vec<f32> = (0..3 * rows).map(uniform).collect();
        let class = |row: &[f32]| u32::from(row[0] * row[1] > 0.0) + u32::from(row[2] > 0.5);
        Table {
            inputs: 3,
            target: Target::Classes { labels: values.chunks(3).map(class).collect() },
            values,
            schema,
            division: Default::default(),
            weights: weights.then(|| (0..rows).map(|row| (row % 4) as f32).collect()),
        }
    }

    #[test]
    fn products_of_rows_and_of_features_give_the_same_error() {
        let bank = |family, law, features| BankSpec {
            family,
            law,
            features,
            scale: Scale::ONE,
            groups: Vec::new(),
            kept: None,
        };
        // Of two units.
        let banks =
            vec![bank(Family::Linear, Law::None, 3), bank(Family::Fourier, Law::Gaussian, 200)];
        let maps = MapSpec::Shared(InputMap::new(0, 8, false, 128).unwrap());
        let spec = ModelSpec::features(1, 3, maps, banks);
        let map = FeatureMap::new(&spec).unwrap();
        for weights in [false, true] {
            let table = table(90, weights);
            let problem = Problem::new(&table, false);
            let samples = Sample::folds(&problem, 1000);
            assert_eq!(samples.len(), 5);
            let products = RowProducts::new(&problem, &map, &samples).unwrap().unwrap();
            for lambdas in [&[1e-3][..], &FEW_LAMBDAS] {
                for sample in &samples {
                    let by_rows = products.error(&problem, sample, lambdas);
                    let by_features = judge_dense(&problem, &map, sample, lambdas).unwrap();
                    assert!((by_rows / by_features - 1.0).abs() < 1e-4, "{by_rows} {by_features}");
                }
            }
        }
        let table = table(300, false);
        let problem = Problem::new(&table, false);
        let samples = Sample::folds(&problem, 1000);
        assert!(RowProducts::new(&problem, &map, &samples).unwrap().is_none());
    }

    #[test]
    fn rows_without_weight_tell_nothing() {
        let bank = BankSpec {
            family: Family::Bin { slot_bits: 4 },
            law: Law::Gamma2,
            features: 5,
            scale: Scale::ONE,
            groups: Vec::new(),
            kept: None,
        };
        let maps = MapSpec::Shared(InputMap::new(0, 8, false, 128).unwrap());
        let map = FeatureMap::new(&ModelSpec::features(1, 3, maps, vec![bank])).unwrap();
        let table = table(90, true);
        let problem = Problem::new(&table, false);
        // Every fourth row has the weight 0.
        let (none, some): (Vec<usize>, Vec<usize>) = (0..90).partition(|row| row % 4 == 0);
        let judged = |fit: &[usize], judge: &[usize]| {
            let sample = Sample { fit: fit.to_vec(), judge: judge.to_vec() };
            judge_sparse(&problem, &map, 4, &sample, None).unwrap()
        };
        assert_eq!(judged(&some, &none), 0.0);
        assert!(judged(&none, &some).is_finite());
    }
}
