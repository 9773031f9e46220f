//! The logistic loss on a sample, for a fit to many more rows of which only sums are known.

use std::sync::Arc;

use faer::Mat;
use koan::Calibration;

use super::losses::{FINE, Judged, all_rows, judge};
use super::solver::{Rows, Solver};
use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::features::FeatureMap;
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::LinearFit;
use crate::solve::{Bend, Known, Logistic, Pair, Surrogate, Whole};

/// A sample, as the logistic loss has it.
pub(crate) struct Sampled {
    rows: Rows,
    outputs: usize,
    known: Arc<Known>,
}

/// What a sample gives a fit to all rows to begin with.
pub(crate) struct Beginning {
    /// The fit to the sample, with the λ whose rounded weights are best on rows held out.
    pub fit: LinearFit,
    pub calibration: Option<Calibration>,
    pub warnings: Vec<String>,
}

impl Sampled {
    /// Chooses λ, calibrates, and fits to all of the sample.
    pub fn new(
        problem: &Problem<'_>,
        map: &FeatureMap,
        spec: &ModelSpec,
        options: &HeadOptions,
        progress: &Progress,
    ) -> Result<(Self, Beginning), Error> {
        let judged = judge(problem, map, spec, options, progress)?;
        let Judged { all: rows, lambda, start, calibration, mut warnings, .. } = judged;
        progress.phase("solving")?;
        let outputs = problem.outputs;
        let weights = rows.weights.as_deref();
        let regression = Logistic::new(&rows.design, &rows.labels, outputs, weights);
        let solution = regression.solve_until(lambda, start.fit.as_ref(), FINE);
        warnings.extend(solution.convergence.warning("logistic regression of the sample"));
        let mut fit = solution.fit;
        regression.raise_rare(&mut fit);
        let known = regression.known();
        Ok((Self { rows, outputs, known }, Beginning { fit, calibration, warnings }))
    }

    /// The same sample without what was begun with.
    pub fn again(problem: &Problem<'_>, map: &FeatureMap, seed: u64) -> Result<Self, Error> {
        let rows = Rows::new(problem, map, &all_rows(problem, seed))?;
        let outputs = problem.outputs;
        let weights = rows.weights.as_deref();
        let known = Logistic::new(&rows.design, &rows.labels, outputs, weights).known();
        Ok(Self { rows, outputs, known })
    }

    fn regression(&self) -> Logistic<'_> {
        let Rows { design, labels, weights, .. } = &self.rows;
        Logistic::again(design, labels, self.outputs, weights.as_deref(), self.known.clone())
    }

    /// The mean loss of a row without features.
    pub fn ignorance(&self) -> f64 {
        self.regression().ignorance() / self.regression().total()
    }

    /// The step from `at`, where all rows' objective has the derivatives `gradient`: see [`Surrogate`].
    pub fn step(&self, whole: &Whole, at: &LinearFit, bend: Bend<'_>, gradient: Pair) -> Pair {
        Surrogate::new(&self.regression(), whole, at, bend).step(gradient)
    }

    /// The heads of a fit to all rows, rounded to the nearest level and compensated: through the
    /// curvature of the sample. What rounding does to the best biases is seen on the sample too;
    /// what these are without it, all rows have said.
    pub fn heads(&self, fit: &LinearFit, spec: &ModelSpec, bits: u8) -> [HeadSpec; 2] {
        let regression = self.regression();
        let before = regression.bias(fit.weights.as_ref(), fit);
        let bias = |weights: &Mat<f64>| {
            let after = regression.bias(weights.as_ref(), fit);
            let moved = |t: usize| if regression.has(t) { after[t] - before[t] } else { 0.0 };
            (0..self.outputs).map(|t| fit.bias[t] + moved(t)).collect()
        };
        Solver::Logistic(self.regression()).heads(&self.rows, fit, (spec, bits), bias)
    }
}
