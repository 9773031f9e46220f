//! Comparing input maps for models of linear terms alone.
//!
//! Real weights undo any scale, so that all maps are the same to them. Few bits do not: of inputs
//! that share a line, those that spread least need the largest weights, and the others' are
//! rounded to nothing.

use crate::Error;
use crate::blob::ModelSpec;
use crate::features::FeatureMap;
use crate::fit::rounded_error;
use crate::lambda::{FEW_LAMBDAS, descend, upwards};
use crate::parallel;
use crate::plan::{BankPlan, are_linear};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::{System, best_on};
use crate::validation::Sample;

/// Inputs up to which rounding is worth its time in a comparison.
const MOST_INPUTS: usize = 512;

/// Whether maps are compared after rounding: of a model that has no features but the inputs.
pub(super) fn suits(problem: &Problem<'_>, banks: &[BankPlan]) -> bool {
    problem.table.inputs <= MOST_INPUTS && are_linear(banks)
}

/// Squared error on the judging rows of the best fit on the others, its weights rounded to
/// `bits`, averaged over samples.
pub(super) fn validate(
    problem: &Problem<'_>,
    spec: &ModelSpec,
    samples: &[Sample],
    (lambda, bits): (Option<f64>, u8),
) -> Result<f64, Error> {
    let map = FeatureMap::new(spec)?;
    let of_sample = |place: usize| -> Result<f64, Error> {
        let Sample { fit, judge } = &samples[place];
        let system = System::new(&problem.moments(&map, fit, &Progress::none())?);
        let held = problem.moments(&map, judge, &Progress::none())?;
        let error = |lambda: f64| rounded_error(&system, &held, spec, bits, lambda);
        if let Some(lambda) = lambda {
            return Ok(error(lambda));
        }
        let start = best_on(&system, &held, &FEW_LAMBDAS).0.lambda;
        let best = descend(upwards(start), |lambda| {
            let error = error(lambda);
            (error, error)
        });
        Ok(best.unwrap_or(f64::INFINITY))
    };
    let errors: Vec<f64> = parallel::try_map(samples.len(), of_sample)?;
    Ok(errors.iter().sum::<f64>() / samples.len() as f64)
}

#[cfg(test)]
mod tests {
    use crate::normalise::Kind;
    use crate::{FamilyName, Progress, TrainOptions, train};
    use koan::generator::Stream;
    use koan_data::TableBuilder;

    /// The first column tells the class; the second one is noise a thousand times as wide.
    #[test]
    fn a_wide_column_does_not_hide_the_one_that_counts() {
        let stream = Stream::new(6, 0);
        let number = |at: u64| f64::from(stream.draw(at) as i32) / 2f64.powi(31);
        let near: Vec<f64> = (0..600).map(number).collect();
        let far: Vec<f64> = (600..1200).map(|at| 1000.0 * number(at)).collect();
        let class: Vec<i64> = near.iter().map(|&near| i64::from(near > 0.0)).collect();
        let table = TableBuilder::new(600).column("near", &near[..]).column("far", &far[..]);
        let table = table.classes("class", &class[..]).build().unwrap();
        let mut options = TrainOptions { families: vec![FamilyName::Linear], ..Default::default() };
        let trained = train(&table, Some(&table), &options, &Progress::none()).unwrap();
        assert!(trained.report.error < 0.05, "{}", trained.report.error);
        options.map = Some(Kind::Shared);
        let shared = train(&table, Some(&table), &options, &Progress::none()).unwrap();
        assert!(shared.report.error > 0.2, "{}", shared.report.error);
    }
}
