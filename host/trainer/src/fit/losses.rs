//! Heads for other losses than ridge regression's, and heads within a box.

use faer::{Mat, MatRef};
use koan::Width;

use super::{Curvature, Fitted, hold_out, real_scores, widths};
use crate::blob::ModelSpec;
use crate::calibrate;
use crate::features::FeatureMap;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::quantise::Rounding;
use crate::ridge::{LinearFit, System};
use crate::solve::hinge::Warm;
use crate::solve::{BoxedSquares, Design, Hinge, Logistic, Loss, Solution, boxed};
use crate::{Error, TrainOptions};
use koan_data::{Table, Target, Task};

/// Features up to which these heads are fitted.
const MAX_FEATURES: usize = 8192;
/// Relative duality gap while λ is chosen, and in the end.
const ROUGH: f64 = 2e-3;
const FINE: f64 = 5e-4;
/// Values of λ to visit, largest first: each fit starts from the one before.
const LAMBDAS: [f64; 7] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
/// Rows whose loss is flat count this share of the mean in the curvature: a
/// rounding may well move them to where it is not.
const FLOOR: f64 = 0.02;

/// Some rows: features, what is to be predicted, and weights.
struct Rows {
    design: Design,
    /// T × n.
    targets: Mat<f64>,
    /// Classes; empty for values.
    labels: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Rows {
    fn new(problem: &Problem<'_>, map: &FeatureMap, rows: &[usize]) -> Result<Self, Error> {
        Ok(Self::with(problem, rows, Design::of(map, problem.table, rows)?))
    }

    /// Rows whose features are known.
    fn with(problem: &Problem<'_>, rows: &[usize], design: Design) -> Self {
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
    fn loss(&self, loss: Loss, weights: MatRef<'_, f64>, bias: &[f64]) -> f64 {
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
enum Solver<'p> {
    Logistic(Logistic<'p>),
    Hinge(Hinge<'p>),
    Squares(System),
}

/// Where a solver starts from.
#[derive(Default)]
struct Start {
    fit: Option<LinearFit>,
    warm: Option<Warm>,
}

impl<'p> Solver<'p> {
    fn new(loss: Loss, part: &'p Rows, outputs: usize) -> Self {
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

    fn name(&self) -> &'static str {
        match self {
            Self::Logistic(_) => "logistic regression",
            Self::Hinge(_) => "the support vector machine",
            Self::Squares(_) => "least squares within the box",
        }
    }

    fn solve(&self, lambda: f64, bound: Option<f64>, start: &mut Start, gap: f64) -> Solution {
        let solution = match self {
            Self::Logistic(solver) => solver.solve(lambda, start.fit.as_ref(), gap),
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
    fn curvature(&self, part: &Rows, fit: &LinearFit) -> Curvature {
        let mut rows = match self {
            Self::Squares(system) => return Curvature::new(system, fit.lambda),
            Self::Logistic(solver) => solver.curvature(fit),
            Self::Hinge(solver) => solver.curvature(fit),
        };
        let mean = rows.iter().sum::<f64>() / rows.len() as f64;
        rows.iter_mut().for_each(|row| *row += FLOOR * mean);
        let none = Mat::zeros(1, rows.len());
        let system = System::new(&part.design.moments(none.as_ref(), Some(&rows)));
        Curvature::new(&system, fit.lambda * self.unit() / system.unit())
    }

    /// The best biases for rounded weights.
    fn bias(&self, weights: &Mat<f64>, fit: &LinearFit) -> Vec<f64> {
        match self {
            Self::Squares(system) => system.bias(weights),
            Self::Logistic(solver) => solver.bias(weights.as_ref(), fit),
            Self::Hinge(solver) => solver.bias(weights.as_ref()),
        }
    }
}

/// Fits by the loss and the box of the options.
///
/// # Errors
/// A loss for classes where there are none, more features than this can
/// handle, a specification that the format does not allow.
pub fn fit_loss(
    problem: &Problem<'_>,
    spec: ModelSpec,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let (loss, outputs) = (options.loss, problem.outputs);
    if problem.task() == Task::Regression && loss != Loss::Squared {
        let name = loss.name();
        return Err(Error::parameter(
            "loss",
            format!("the loss {name} is for classes, not for numbers"),
        ));
    }
    let map = FeatureMap::new(&spec)?;
    if map.features() > MAX_FEATURES {
        let (found, most) = (map.features(), MAX_FEATURES);
        return Err(Error::TooMany { what: "features for this loss", found, most });
    }
    let bits = options.bits_for(problem.task());
    let bound = options.box_c.map(|c| boxed::bound(c, map.features()));
    let (fit_rows, held_rows) = hold_out(problem, options.seed);
    progress.phase("computing features")?;
    let fit_part = Rows::new(problem, &map, &fit_rows)?;
    let held = Rows::new(problem, &map, &held_rows)?;

    progress.phase("solving")?;
    let mut early = 0;
    let solver = Solver::new(loss, &fit_part, outputs);
    let mut start = Start::default();
    // With a box the size of the weights is given: no penalty is searched.
    let given = options.lambda.or(bound.map(|_| 0.0)).map(|lambda| [lambda]);
    let lambdas = given.as_ref().map_or(&LAMBDAS[..], |given| &given[..]);
    let mut best: Option<(f64, LinearFit)> = None;
    let mut worse = 0;
    for &lambda in lambdas {
        let Solution { fit, convergence } = solver.solve(lambda, bound, &mut start, ROUGH);
        early += usize::from(!convergence.reached());
        let reached = held.loss(loss, fit.weights.as_ref(), &fit.bias);
        if best.as_ref().is_none_or(|(least, _)| reached < *least) {
            best = Some((reached, fit));
            worse = 0;
        } else {
            worse += 1;
        }
        // One rise may be chance, two in a row are not.
        if worse == 2 {
            break;
        }
    }
    let (_, chosen) = best.expect("there is at least one lambda");
    let mut warnings = Vec::new();
    let calibration = match &problem.table.target {
        Target::Classes { .. } => {
            let scores = held.design.scores(chosen.weights.as_ref(), &chosen.bias);
            let by_row: Vec<f64> =
                scores.col_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
            Some(calibrate::fit_or_warn(&by_row, &held.labels, outputs, &mut warnings))
        }
        Target::Values(_) => None,
    };

    progress.phase("rounding the weights")?;
    let mut lambda = chosen.lambda;
    if given.is_none() {
        // Stronger shrinkage gives more even weights, which few bits hold better: half
        // decades upwards while rounded weights get better.
        let mut start = Start { fit: Some(chosen.clone()), warm: None };
        let mut fit = chosen.clone();
        let (mut least, mut worse) = (f64::INFINITY, 0);
        loop {
            let rounded = solver.curvature(&fit_part, &fit).round(
                fit.weights.as_ref(),
                &spec,
                vec![Width { bits, odd: bits <= 4 }],
                Rounding::Compensated,
            );
            let bias = solver.bias(&rounded.weights, &fit);
            let reached = held.loss(loss, rounded.weights.as_ref(), &bias);
            if reached < least {
                (least, lambda, worse) = (reached, fit.lambda, 0);
            } else {
                worse += 1;
            }
            // One rise may be chance, two in a row are not.
            if worse == 2 || fit.lambda >= 1.0 {
                break;
            }
            let next = fit.lambda * 10f64.sqrt();
            let solution = solver.solve(next, bound, &mut start, ROUGH);
            early += usize::from(!solution.convergence.reached());
            fit = solution.fit;
        }
    }
    drop((solver, start));

    progress.phase("solving")?;
    let order: Vec<usize> = fit_rows.iter().chain(&held_rows).copied().collect();
    let all = Rows::with(problem, &order, fit_part.design.chain(held.design));
    let solver = Solver::new(loss, &all, outputs);
    let mut start = Start { fit: Some(chosen), warm: None };
    let Solution { fit, convergence } = solver.solve(lambda, bound, &mut start, FINE);
    warnings.extend(convergence.warning(solver.name()));
    if early > 0 {
        let name = solver.name();
        warnings.push(format!("{name} stopped early {early} times on the rows to choose by"));
    }
    progress.phase("rounding the weights")?;
    let curvature = solver.curvature(&all, &fit);
    let head = |rounding| {
        let rounded = curvature.round(fit.weights.as_ref(), &spec, widths(bits), rounding);
        let bias = solver.bias(&rounded.weights, &fit);
        rounded.head(&spec, &bias)
    };
    let (nearest, compensated) = (head(Rounding::Nearest), head(Rounding::Compensated));
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&map, &fit, table, &rows)
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}
