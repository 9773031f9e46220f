//! One pool of features with one seed: what it gives at a size.

use faer::Mat;
use koan::{Form, Model};

use super::{Base, ShrinkOptions, size};
use crate::blob::ModelSpec;
use crate::features::FeatureMap;
use crate::fit::{Curvature, fit_moments, widths};
use crate::front::front;
use crate::lambda::STRONGER;
use crate::options::HeadOptions;
use crate::progress::Progress;
use crate::prune::{Shortlist, refit};
use crate::quantise::Rounding;
use crate::ridge::System;
use crate::solve::Design;
use crate::tune::{Core, Metric};
use crate::{Error, Point, TrainOptions};
use koan_data::Table;

/// Sizes that a front is made of, as parts of the features that fit.
const PARTS: [usize; 6] = [8, 6, 4, 3, 2, 1];

/// A model that was tried.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub point: Point,
    /// The features.
    pub spec: ModelSpec,
    /// Their columns in the pool, ascending.
    kept: Vec<usize>,
    /// The λ that it was judged with.
    lambda: f64,
}

/// A pool of features in the order of their worth.
pub(super) struct Pool<'b> {
    base: &'b Base<'b>,
    seed: u64,
    shortlist: Shortlist,
    held: Table,
    design: Design,
}

impl<'b> Pool<'b> {
    /// Ranks the features of `spec`.
    pub fn new(base: &'b Base<'b>, spec: ModelSpec, progress: &Progress) -> Result<Self, Error> {
        let seed = spec.seed;
        let map = FeatureMap::new(&spec)?;
        // The same rows decide for all seeds.
        let shortlist = Shortlist::new(&base.problem, spec, 1, base.model.seed(), None, progress)?;
        let design = Design::of(&map, base.problem.table, &shortlist.held_rows)?;
        let held = base.problem.table.select(&shortlist.held_rows);
        Ok(Self { base, seed, shortlist, held, design })
    }

    /// The best features that fit in so many bytes with weights of so many bits;
    /// none if not even one does.
    pub fn attempt(&self, flash: usize, bits: u8) -> Result<Option<Attempt>, Error> {
        let count = size::largest(self.shortlist.candidates(), |count| {
            let spec = self.shortlist.spec(&self.shortlist.kept(count));
            size::blank(self.base, &spec, bits).is_ok_and(|blank| blank.len() <= flash)
        });
        if count == 0 { Ok(None) } else { self.judged(count, bits).map(Some) }
    }

    /// The Pareto front of a model and those of fewer of its features, down to an eighth of them.
    pub fn front(&self, most: &Attempt) -> Result<Vec<Point>, Error> {
        let mut counts: Vec<usize> =
            PARTS.iter().map(|part| (most.kept.len() / part).max(1)).collect();
        counts.dedup();
        counts.pop();
        let bits = most.point.options.bits_for(self.base.problem.task());
        let fewer = counts.into_iter().map(|count| Ok(self.judged(count, bits)?.point));
        let sizes = fewer.chain([Ok(most.point.clone())]).collect::<Result<Vec<_>, Error>>()?;
        Ok(front(&sizes, PARTS.len()))
    }

    /// The model of an attempt, its head the ridge fit to all training rows, through
    /// the sums of the pool, and what a user should know of it.
    pub fn finish(
        &self,
        attempt: &Attempt,
        progress: &Progress,
    ) -> Result<(Vec<u8>, Vec<String>), Error> {
        let spec = attempt.spec.clone();
        let fitted = fit_moments(
            &self.base.problem,
            FeatureMap::new(&spec)?,
            spec,
            self.shortlist.fit.select(&attempt.kept),
            &self.shortlist.held_rows,
            &HeadOptions { lambda: Some(attempt.lambda), ..self.base.head_options(attempt) },
            progress,
        )?;
        self.base.encode(fitted)
    }

    /// The best `count` features, fitted, rounded, and judged on the rows held
    /// out.
    fn judged(&self, count: usize, bits: u8) -> Result<Attempt, Error> {
        let kept = self.shortlist.kept(count);
        let spec = self.shortlist.spec(&kept);
        let (fit, held_out) = (&self.shortlist.fit, &self.shortlist.held_out);
        let (best, _) = refit(fit, held_out, &kept);
        let system = System::new(&fit.select(&kept));
        let held_moments = held_out.select(&kept);
        let mut least = f64::INFINITY;
        let mut chosen = (best.weights.clone(), best.bias.clone(), best.lambda);
        for factor in STRONGER {
            let lambda = factor * best.lambda;
            let weights = system.solve(lambda).weights;
            let curvature = Curvature::new(&system, lambda);
            let rounded =
                curvature.round(weights.as_ref(), &spec, widths(bits), Rounding::Compensated);
            let bias = system.bias(&rounded.weights);
            let error = held_moments.mean_squared_error(rounded.weights.as_ref(), &bias);
            if error < least {
                least = error;
                chosen = (rounded.weights, bias, lambda);
            }
        }
        let mut weights = Mat::zeros(self.shortlist.candidates(), chosen.1.len());
        for (row, &k) in kept.iter().enumerate() {
            weights.row_mut(k).copy_from(chosen.0.row(row));
        }
        let scores = self.design.scores(weights.as_ref(), &chosen.1);
        let by_row: Vec<f64> =
            scores.col_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        let ShrinkOptions { loss, balanced, .. } = self.base.options;
        let metric = if balanced { Metric::BalancedError } else { Metric::Error };
        let error = metric.of_scores(&self.held, &by_row);
        let blank = size::blank(self.base, &spec, bits)?;
        let model = Model::parse(&blank)?;
        // No pool has more than fit in 16 bits.
        let options = TrainOptions {
            seed: self.seed,
            candidates: Some(self.shortlist.candidates() as u16),
            features: vec![kept.len() as u16],
            bits: Some(bits),
            loss: Some(loss),
            balanced,
            ..TrainOptions::default()
        };
        let ram = model.buffer_sizes(Form::Fast).bytes();
        let instructions = Core::CortexM0.instructions_of(&model);
        let point = Point::new(options, blank.len(), ram, instructions);
        Ok(Attempt {
            point: Point { loss: error, value: error, ..point },
            spec,
            kept,
            lambda: chosen.2,
        })
    }
}
