//! Rows with their features, and the solvers of all losses over them.

use std::borrow::Borrow;

use faer::{Mat, MatRef, RowMut};
use koan::Width;

use super::{Curvature, RoundedWeights, widths};
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
/// rounding may well move them to where it is not. Rows of which an output's is flat count this
/// share of the mean over the outputs, too.
const FLOOR: f64 = 0.02;
/// That mean, at least: where all rows are told apart for certain, nothing is left to weigh them by.
const LEAST_CURVATURE: f64 = 1e-9;

/// Rows that an output's second derivative is summed over, at most: so many for each feature, and
/// no fewer than that.
const ROWS_OF_A_FEATURE: usize = 8;
const LEAST_ROWS: usize = 8192;
/// Features up to which each output has its own: beyond, its sums would take too long.
const MOST_OWN: usize = 2048;

/// How many of `rows` an output's own second derivatives are summed over; none where it has none of
/// its own. Those of a single output are the shared ones.
fn own_rows(outputs: usize, features: usize, rows: usize) -> Option<usize> {
    let most = (ROWS_OF_A_FEATURE * features).max(LEAST_ROWS);
    (outputs > 1 && features <= MOST_OWN).then(|| rows.min(most))
}

/// Raises the curvature of rows whose loss is flat.
fn raise(mut rows: RowMut<'_, f64>) {
    let mean = rows.as_ref().iter().sum::<f64>() / rows.ncols() as f64;
    rows.as_mut().iter_mut().for_each(|row| *row += FLOOR * mean.max(LEAST_CURVATURE));
}

/// The mean over the outputs of a value for each output and row, T × n.
fn mean_rows(values: &Mat<f64>) -> Vec<f64> {
    let outputs = values.nrows() as f64;
    values.col_iter().map(|row| row.iter().sum::<f64>() / outputs).collect()
}

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
            Self::Logistic(solver) => mean_rows(&solver.curvatures(fit)),
            Self::Hinge(solver) => solver.curvature(fit),
        };
        raise(RowMut::from_slice_mut(&mut rows));
        let none = Mat::zeros(1, rows.len());
        let system = System::new(&part.design.moments(none.as_ref(), Some(&rows)));
        Curvature::new(&system, fit.lambda * self.unit() / system.unit())
    }

    /// Weights of a fit, rounded and compensated to the best of `widths`: where classes have second
    /// derivatives of their own through these, since they differ in which rows they are unsure of,
    /// and otherwise through what is `shared`.
    pub fn compensated<C: Borrow<Curvature>>(
        &self,
        fit: &LinearFit,
        spec: &ModelSpec,
        widths: Vec<Width>,
        shared: impl FnOnce() -> C,
    ) -> RoundedWeights {
        let own = self.rounded_by_own(fit, spec, &widths);
        own.unwrap_or_else(|| {
            let weights = fit.weights.as_ref();
            shared().borrow().round(weights, spec, widths, Rounding::Compensated)
        })
    }

    fn rounded_by_own(
        &self,
        fit: &LinearFit,
        spec: &ModelSpec,
        widths: &[Width],
    ) -> Option<RoundedWeights> {
        let Self::Logistic(solver) = self else { return None };
        let weights = fit.weights.as_ref();
        let (features, outputs) = weights.shape();
        let rows = own_rows(outputs, features, solver.rows())?;
        let mut curvatures = solver.curvatures(fit);
        // Rows that are surely not of a class, but open between others: where its score rises by
        // rounding, it is wrong there.
        for mut row in curvatures.col_iter_mut() {
            let mean = row.as_ref().iter().sum::<f64>() / outputs as f64;
            row.as_mut().iter_mut().for_each(|own| *own += FLOOR * mean);
        }
        curvatures.row_iter_mut().for_each(raise);
        let matrix = solver.second_derivatives(fit.lambda, &curvatures, rows);
        RoundedWeights::by_own(weights, spec, widths, matrix)
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
        let nearest = curvature.round(fit.weights.as_ref(), spec, widths(bits), Rounding::Nearest);
        let compensated = self.compensated(fit, spec, widths(bits), || &curvature);
        [nearest, compensated].map(|rounded| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrainOptions;
    use crate::train::bank_plans;
    use crate::unsupervised::plain;
    use koan_data::digits;

    /// Ten classes are unsure of other rows each.
    #[test]
    fn outputs_are_rounded_through_their_own_second_derivatives() {
        let table = digits::table().select(&(0..600).collect::<Vec<_>>());
        let problem = Problem::new(&table, false);
        let rows: Vec<usize> = (0..table.rows()).collect();
        for seed in 1..=3 {
            let options = TrainOptions {
                features: vec![60],
                bits: Some(2),
                seed,
                loss: Some(Loss::Logistic),
                relevance: Some(false),
                ..TrainOptions::default()
            };
            let spec = plain(&table, &bank_plans(&table, &options).unwrap(), &options).spec;
            let part = Rows::new(&problem, &FeatureMap::new(&spec).unwrap(), &rows).unwrap();
            let solver = Solver::new(Loss::Logistic, &part, problem.outputs);
            let tolerance = Tolerance { gap: 1e-3, decrease: 0.0, products: usize::MAX };
            let fit = solver.solve(1e-3, None, &mut Start::default(), tolerance).fit;
            let loss = |rounded: &RoundedWeights| {
                let bias = solver.bias(&rounded.weights, &fit);
                part.loss(Loss::Logistic, rounded.weights.as_ref(), &bias)
            };
            let curvature = solver.curvature(&part, &fit);
            let own = loss(&solver.compensated(&fit, &spec, widths(2), || &curvature));
            let weights = fit.weights.as_ref();
            let shared = loss(&curvature.round(weights, &spec, widths(2), Rounding::Compensated));
            assert!(own < 0.95 * shared, "{seed}: {own}, shared {shared}");
        }
    }

    #[test]
    fn outputs_share_where_their_own_would_take_too_long() {
        assert_eq!(own_rows(10, 100, 5000), Some(5000));
        assert_eq!(own_rows(10, 100, 50_000), Some(LEAST_ROWS));
        assert_eq!(own_rows(10, 2000, 50_000), Some(16_000));
        assert_eq!(own_rows(10, MOST_OWN + 1, 5000), None);
        assert_eq!(own_rows(1, 100, 5000), None, "of one output they are the same");
    }
}
