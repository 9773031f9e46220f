//! Rows with their features, and the solvers of all losses over them.

use faer::{Mat, MatRef};

use super::{Curvature, widths};
use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::features::FeatureMap;
use crate::problem::Problem;
use crate::quantise::Rounding;
use crate::ridge::{LinearFit, System};
use crate::solve::hinge::Warm;
use crate::solve::{BoxedSquares, Design, Hinge, Logistic, Loss, Solution, Tolerance};
use koan_data::Target;

/// Rows whose loss is flat count this share of the mean in the curvature: a
/// rounding may well move them to where it is not.
const FLOOR: f64 = 0.02;
/// That mean, at least: where all rows are told apart for certain, nothing is left to weigh them by.
const LEAST_CURVATURE: f64 = 1e-9;

/// Some rows: features, what is to be predicted, and weights.
pub(crate) struct Rows {
    pub design: Design,
    /// T × n.
    targets: Mat<f64>,
    /// Classes; empty for values.
    pub labels: Vec<u32>,
    pub weights: Option<Vec<f64>>,
}

impl Rows {
    pub fn new(problem: &Problem<'_>, map: &FeatureMap, rows: &[usize]) -> Result<Self, Error> {
        Ok(Self::with(problem, rows, Design::of(map, problem.table, rows)?))
    }

    /// Rows whose features are known.
    pub fn with(problem: &Problem<'_>, rows: &[usize], design: Design) -> Self {
        let labels = match &problem.table.target {
            Target::Classes { labels } => rows.iter().map(|&row| labels[row]).collect(),
            Target::Values(_) => Vec::new(),
        };
        let weights = problem.weights.is_some();
        Self {
            design,
            targets: problem.targets(rows).transpose().to_owned(),
            labels,
            weights: weights.then(|| rows.iter().map(|&row| problem.weight(row)).collect()),
        }
    }

    /// The weighted loss of a fit.
    pub fn loss(&self, loss: Loss, weights: MatRef<'_, f64>, bias: &[f64]) -> f64 {
        let scores = self.design.scores(weights, bias);
        match loss {
            Loss::Squared => (0..scores.ncols())
                .map(|i| {
                    let weight = self.weights.as_ref().map_or(1.0, |weights| weights[i]);
                    let square = |t: usize| (scores[(t, i)] - self.targets[(t, i)]).powi(2);
                    weight * (0..bias.len()).map(square).sum::<f64>()
                })
                .sum(),
            _ => loss.total(scores.as_ref(), &self.labels, self.weights.as_deref()),
        }
    }
}

/// A solver over one part.
pub(super) enum Solver<'p> {
    Logistic(Logistic<'p>),
    Hinge(Hinge<'p>),
    Squares(System),
}

/// Where a solver starts from.
#[derive(Default)]
pub(super) struct Start {
    pub fit: Option<LinearFit>,
    pub warm: Option<Warm>,
}

impl<'p> Solver<'p> {
    pub fn new(loss: Loss, part: &'p Rows, outputs: usize) -> Self {
        let weights = part.weights.as_deref();
        match loss {
            Loss::Logistic => {
                Self::Logistic(Logistic::new(&part.design, &part.labels, outputs, weights))
            }
            Loss::Hinge => Self::Hinge(Hinge::new(&part.design, &part.labels, outputs, weights)),
            Loss::Squared => {
                Self::Squares(System::new(&part.design.moments(part.targets.as_ref(), weights)))
            }
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Logistic(_) => "logistic regression",
            Self::Hinge(_) => "the support vector machine",
            Self::Squares(_) => "least squares within the box",
        }
    }

    pub fn solve(
        &self,
        lambda: f64,
        bound: Option<f64>,
        start: &mut Start,
        tolerance: Tolerance,
    ) -> Solution {
        let gap = tolerance.gap;
        let solution = match self {
            Self::Logistic(solver) => solver.solve_until(lambda, start.fit.as_ref(), tolerance),
            Self::Hinge(solver) => solver.solve(lambda, bound, &mut start.warm, gap),
            Self::Squares(system) => {
                let bound = bound.unwrap_or(f64::MAX);
                BoxedSquares::new(system).solve(bound, lambda, start.fit.as_ref(), 0.1 * gap)
            }
        };
        start.fit = Some(solution.fit.clone());
        solution
    }

    fn unit(&self) -> f64 {
        match self {
            Self::Logistic(solver) => solver.unit(),
            Self::Hinge(solver) => solver.unit(),
            Self::Squares(system) => system.unit(),
        }
    }

    /// What weights are rounded through: the objective's second derivative at
    /// the fit, shared by the outputs.
    pub fn curvature(&self, part: &Rows, fit: &LinearFit) -> Curvature {
        let mut rows = match self {
            Self::Squares(system) => return Curvature::new(system, fit.lambda),
            Self::Logistic(solver) => solver.curvature(fit),
            Self::Hinge(solver) => solver.curvature(fit),
        };
        let mean = rows.iter().sum::<f64>() / rows.len() as f64;
        rows.iter_mut().for_each(|row| *row += FLOOR * mean.max(LEAST_CURVATURE));
        let none = Mat::zeros(1, rows.len());
        let system = System::new(&part.design.moments(none.as_ref(), Some(&rows)));
        Curvature::new(&system, fit.lambda * self.unit() / system.unit())
    }

    /// Heads of a fit to these rows, rounded to the nearest level and compensated; `bias`: the
    /// best biases for rounded weights.
    pub fn heads(
        &self,
        part: &Rows,
        fit: &LinearFit,
        (spec, bits): (&ModelSpec, u8),
        bias: impl Fn(&Mat<f64>) -> Vec<f64>,
    ) -> [HeadSpec; 2] {
        let curvature = self.curvature(part, fit);
        [Rounding::Nearest, Rounding::Compensated].map(|rounding| {
            let rounded = curvature.round(fit.weights.as_ref(), spec, widths(bits), rounding);
            let bias = bias(&rounded.weights);
            rounded.head(spec, &bias)
        })
    }

    /// The best biases for rounded weights.
    pub fn bias(&self, weights: &Mat<f64>, fit: &LinearFit) -> Vec<f64> {
        match self {
            Self::Squares(system) => system.bias(weights),
            Self::Logistic(solver) => solver.bias(weights.as_ref(), fit),
            Self::Hinge(solver) => solver.bias(weights.as_ref()),
        }
    }
}
