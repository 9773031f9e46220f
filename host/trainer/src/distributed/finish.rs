//! The model of a plan, and of what was summed up.

use koan_data::Table;
use web_time::Instant;

use super::descent::{Descent, Found};
use super::plan::Plan;
use super::sums::Sums;
use crate::baseline::Baselines;
use crate::evaluate::evaluate;
use crate::fit::{Fitted, fit_both, real_scores};
use crate::folds::hold_out;
use crate::progress::Progress;
use crate::solve::Loss;
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

/// What was summed up over all rows.
pub enum Summed<'d> {
    /// For the squared loss.
    Sums(Box<Sums>),
    /// For the logistic loss: a descent that is done.
    Descent(&'d Descent),
}

impl From<Sums> for Summed<'_> {
    fn from(sums: Sums) -> Self {
        Self::Sums(Box::new(sums))
    }
}

impl<'d> From<&'d Descent> for Summed<'d> {
    fn from(descent: &'d Descent) -> Self {
        Self::Descent(descent)
    }
}

/// Solves for the weights, and writes the model; its report has no errors, since no rows are
/// left to test on.
///
/// # Errors
/// A plan for workers; sums or a descent of another plan or loss; sums without the rows of the
/// plan's sample; a descent that is not done.
pub fn finish<'d>(
    plan: &Plan,
    summed: impl Into<Summed<'d>>,
    progress: &Progress,
) -> Result<Finished, Error> {
    let judge = |sample: &Table, seed, blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        let none = sample.select(&[]);
        Ok(TestErrors {
            blob: evaluate(blob, &none)?,
            nearest: evaluate(nearest, &none)?,
            float: judge_float(fitted, &none)?,
            baselines: Baselines::held_out(sample, &none, seed)?,
        })
    };
    finish_with(Instant::now(), plan, summed.into(), progress, judge)
}

/// [`finish`], judged by `judge`, which is given the sample, the seed, the blob, that of nearest
/// rounding, and the weights before rounding.
pub(crate) fn finish_with(
    start: Instant,
    plan: &Plan,
    summed: Summed<'_>,
    progress: &Progress,
    judge: impl FnOnce(&Table, u64, &[u8], &[u8], &Fitted) -> Result<TestErrors, Error>,
) -> Result<Finished, Error> {
    let sample = plan.own_sample()?;
    let options = plan.stored.options.options();
    let (fitted, rows) = match summed {
        Summed::Sums(sums) => of_sums(plan, *sums, progress)?,
        Summed::Descent(descent) => of_descent(plan, descent, progress)?,
    };
    let problem = plan.stored.problem(sample)?;
    let chosen = &plan.stored.chosen;
    let judge = |blob: &[u8], nearest: &[u8], fitted: &Fitted| {
        judge(sample, options.seed, blob, nearest, fitted)
    };
    let (blob, report) =
        conclude(start, &problem, chosen, fitted, rows as usize, &options, progress, judge)?;
    Ok(Finished { blob, report })
}

/// The fit of sums, and how many rows were trained on.
fn of_sums(plan: &Plan, mut sums: Sums, progress: &Progress) -> Result<(Fitted, u64), Error> {
    sums.check_whole(plan)?;
    let options = plan.stored.options.options();
    if options.loss() != Loss::Squared {
        let loss = options.loss().name();
        let problem = format!("a plan for the {loss} loss is finished by a descent, not by sums");
        return Err(Error::Impossible(problem));
    }
    let sample = plan.own_sample()?;
    let problem = plan.stored.problem(sample)?;
    let (_, held_rows) = hold_out(&problem, options.seed);
    let mut held = Sums::new(plan);
    held.add_all(plan, &sample.select(&held_rows))?;
    let rows = sums.rows();
    sums.take_away(&held)?;
    let moments = [sums.moments(plan), held.moments(plan)];
    let (spec, map) = (plan.spec.clone(), plan.map.clone());
    let fitted = fit_both(
        &problem,
        map,
        spec,
        moments,
        &held_rows,
        &options.head(problem.task()),
        progress,
    )?;
    Ok((fitted, rows))
}

/// The fit of a descent, and how many rows were trained on.
fn of_descent(plan: &Plan, descent: &Descent, progress: &Progress) -> Result<(Fitted, u64), Error> {
    let Found { fit, calibration, warnings, rows, sample } = descent.found(plan)?;
    progress.phase("rounding the weights")?;
    let task = plan.stored.problem(plan.own_sample()?)?.task();
    let bits = plan.stored.options.options().bits_for(task);
    let [nearest, compensated] = sample.heads(&fit, &plan.spec, bits);
    let (map, lambda) = (plan.map.clone(), fit.lambda);
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&map, &fit, table, &rows)
    });
    let (spec, warnings) = (plan.spec.clone(), warnings.to_vec());
    let nearest = Some(nearest);
    let fitted = Fitted { spec, float, nearest, compensated, calibration, lambda, warnings };
    Ok((fitted, rows))
}
