//! The model of a plan and its sums.

use web_time::Instant;

use super::plan::Plan;
use super::sums::Sums;
use crate::baseline::Baselines;
use crate::evaluate::evaluate;
use crate::fit::{Fitted, fit_both};
use crate::folds::hold_out;
use crate::progress::Progress;
use crate::train::{TestErrors, conclude, judge_float};
use crate::{Error, Report};

/// A model, and how it came about.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The blob.
    pub blob: Vec<u8>,
    /// What was done; errors are NaN where no row was kept for the test.
    pub report: Report,
}

/// Solves for the weights, and writes the model; its report has no errors, since no rows are
/// left to test on.
///
/// # Errors
/// A plan for workers, sums of another plan, or without the rows of the plan's sample.
pub fn finish(plan: &Plan, sums: Sums, progress: &Progress) -> Result<Finished, Error> {
    finish_with(Instant::now(), plan, sums, progress, |sample, seed, blob, nearest, fitted| {
        let none = sample.select(&[]);
        Ok(TestErrors {
            blob: evaluate(blob, &none)?,
            nearest: evaluate(nearest, &none)?,
            float: judge_float(fitted, &none)?,
            baselines: Baselines::held_out(sample, &none, seed)?,
        })
    })
}

/// [`finish`], judged by `judge`, which is given the sample, the seed, the blob, that of nearest
/// rounding, and the weights before rounding.
pub(crate) fn finish_with(
    start: Instant,
    plan: &Plan,
    mut sums: Sums,
    progress: &Progress,
    judge: impl FnOnce(&koan_data::Table, u64, &[u8], &[u8], &Fitted) -> Result<TestErrors, Error>,
) -> Result<Finished, Error> {
    let Some(sample) = &plan.sample else {
        let problem = "a plan for workers has no sample: finish with the plan it was made of";
        return Err(Error::Impossible(problem.into()));
    };
    sums.check_plan(plan.id())?;
    let short = plan
        .stored
        .held
        .iter()
        .zip(sums.held())
        .filter(|((_, rows), found)| i128::from(*rows) > **found);
    let short = short.count();
    if short > 0 {
        let all = plan.stored.held.len();
        return Err(Error::Impossible(format!(
            "the sums lack rows of the plan's sample ({short} of the {all} that it holds out): add \
             all rows that the sample was taken from"
        )));
    }
    let options = plan.stored.options.options();
    let problem = plan.stored.problem(sample)?;
    let (_, held_rows) = hold_out(&problem, options.seed);
    let mut held = Sums::new(plan);
    held.add_all(plan, &sample.select(&held_rows))?;
    let train_rows = sums.rows() as usize;
    sums.take_away(&held)?;
    let moments = [sums.moments(plan), held.moments(plan)];
    let (spec, map) = (plan.spec.clone(), plan.map.clone());
    let fitted = fit_both(&problem, map, spec, moments, &held_rows, &options, progress)?;
    let chosen = &plan.stored.chosen;
    let judge = |blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        judge(sample, options.seed, blob, nearest, fitted)
    };
    let (blob, report) =
        conclude(start, &problem, chosen, fitted, train_rows, &options, progress, judge)?;
    Ok(Finished { blob, report })
}
