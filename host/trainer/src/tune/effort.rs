//! What fits take, in multiply-adds: by it a search plans what there is time for.

use super::budget::{feature_work, gram_work};
use super::ferns::is_fern;
use super::refine::Refinement;
use crate::fit::parts_affordable;
use crate::folds::in_turn;
use crate::solve::Loss;
use crate::train::bank_plans;
use crate::{Error, TrainOptions};

/// How much more a model of ferns may take than another one.
const FERN_SHARE: f64 = 2.0;
/// Multiply-adds that a fit counts as beside those of its rows and features: without them a
/// search on few rows would judge models without end.
const EACH_FIT: f64 = 1e8;
/// Fits for each part where λ is chosen by parts of recordings, as so many times those for one
/// hold-out: all λ are tried, each through the whole table but the part.
const FITS_OF_A_PART: f64 = 4.0;

impl Refinement<'_> {
    /// Columns of a model's head.
    pub(super) fn columns(&self, options: &TrainOptions) -> Result<usize, Error> {
        let banks = bank_plans(self.search.problem.table, options)?;
        Ok(banks.iter().map(crate::plan::BankPlan::columns).sum())
    }

    /// Whether so many multiply-adds of judging a model leave enough for others. Of ferns there are
    /// few other ways: each may take more.
    pub(super) fn affords(&self, options: &TrainOptions, work: f64, reserve: f64) -> bool {
        let each = if is_fern(options) { FERN_SHARE * self.each } else { self.each };
        work <= self.available(reserve).min(each)
    }

    /// Multiply-adds of judging a model: on the first part λ is chosen for all.
    pub(super) fn work(&self, options: &TrainOptions) -> Result<f64, Error> {
        let (once, path) = self.fit_work(options, self.folds.rows())?;
        Ok((once + EACH_FIT) * self.folds.held.len() as f64 + path)
    }

    /// Multiply-adds of one fit to so many rows, and what choosing its λ adds.
    pub(super) fn fit_work(
        &self,
        options: &TrainOptions,
        rows: usize,
    ) -> Result<(f64, f64), Error> {
        let problem = self.search.problem;
        if is_fern(options) {
            let count = options.features.first().copied().unwrap_or(1);
            return Ok(crate::ferns::work(problem, rows, count, &options.head(problem.task())));
        }
        let family = bank_plans(problem.table, options)?[0].family;
        let columns = self.columns(options)?;
        let (rows, outputs) = (rows as f64, problem.outputs as f64);
        let k = columns as f64;
        // A pool: its features, their Gram matrix, and leaving them out one by one.
        let n = options.candidates.map_or(k, f64::from);
        let each = feature_work(family, problem.table.inputs as u16);
        let mut selection = if options.candidates.is_some() { 2.5 * n.powi(3) } else { 0.0 };
        // Fits for several λ, some of them rounded.
        let rounding = k.powi(3) / 6.0 + 40.0 * outputs * k * k;
        let mut fits = if options.lambda.is_some() { 2.0 } else { 4.0 };
        // Of recordings each part has fits and a selection of its own.
        if options.loss() == Loss::Squared
            && let Some(parts) = parts_affordable(problem.table, n as usize)
        {
            selection *= parts as f64 + 1.0;
            fits *= parts as f64 * if options.lambda.is_some() { 1.0 } else { FITS_OF_A_PART };
        }
        let gram = gram_work(problem);
        let mut once = rows * n * (each + gram * n) + selection + fits * rounding;
        let mut path = 0.0;
        if options.loss() != Loss::Squared {
            // Passes over the features, preconditioned, and Gram matrices of weighted rows; one
            // output takes few of both.
            let (passes, grams) = if problem.outputs == 1 { (20.0, 0.2) } else { (80.0, 0.7) };
            let pass = (rows + 1.5 * k) * k * outputs;
            once += passes * pass + grams * rows * k * k;
            path = 1.9 * passes * pass + 1.7 * grams * rows * k * k;
        }
        let path = if options.lambda.is_some() { 0.0 } else { path };
        Ok((once, path))
    }

    /// Multiply-adds of the last fit. For a λ ferns are chosen and fitted by the rows of each
    /// split as well.
    pub(super) fn last_work(&self, options: &TrainOptions) -> Result<f64, Error> {
        let problem = self.search.problem;
        let (once, path) = self.fit_work(options, problem.table.rows())?;
        if !is_fern(options) || options.lambda.is_some() {
            return Ok(once);
        }
        let splits = in_turn(problem, options.seed).len() as f64;
        Ok(once + splits * (once + path))
    }
}
