//! Heads for other losses than ridge regression's, and heads within a box.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Curvature, Fitted, real_scores, usual_width, widths};
use crate::blob::ModelSpec;
use crate::calibrate;
use crate::features::FeatureMap;
use crate::folds::{hold_out, in_turn};
use crate::lambda::{LAMBDAS, descend, given_or, upwards};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::quantise::Rounding;
use crate::ridge::{LinearFit, System};
use crate::solve::hinge::Warm;
use crate::solve::{BoxedSquares, Design, Hinge, Logistic, Loss, Solution, Tolerance, boxed};
use crate::{Error, TrainOptions};
use koan_data::{Table, Target, Task};

/// Features up to which these heads are fitted.
const MAX_FEATURES: usize = 8192;
/// How exact the fits are while λ is chosen, and in the end.
const ROUGH: Tolerance = Tolerance { gap: 2e-3, decrease: 1e-3 };
const FINE: Tolerance = Tolerance { gap: 5e-4, decrease: 2e-4 };
/// Rows whose loss is flat count this share of the mean in the curvature: a
/// rounding may well move them to where it is not.
const FLOOR: f64 = 0.02;
/// That mean, at least: where all rows are told apart for certain, nothing is left to weigh them by.
const LEAST_CURVATURE: f64 = 1e-9;

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

    fn solve(
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
    fn curvature(&self, part: &Rows, fit: &LinearFit) -> Curvature {
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

    /// The best biases for rounded weights.
    fn bias(&self, weights: &Mat<f64>, fit: &LinearFit) -> Vec<f64> {
        match self {
            Self::Squares(system) => system.bias(weights),
            Self::Logistic(solver) => solver.bias(weights.as_ref(), fit),
            Self::Hinge(solver) => solver.bias(weights.as_ref()),
        }
    }
}

/// Rows to fit on and rows that judge.
struct Side {
    fit: Rows,
    held: Rows,
}

/// A side's solver, and where it came.
struct Turn<'s> {
    side: &'s Side,
    solver: Solver<'s>,
    start: Start,
    at: LinearFit,
    /// Fits that ended early.
    early: usize,
}

impl<'s> Turn<'s> {
    fn new(side: &'s Side, loss: Loss, outputs: usize) -> Self {
        let nothing = LinearFit {
            weights: Mat::zeros(side.fit.design.features(), outputs),
            bias: vec![0.0; outputs],
            lambda: f64::INFINITY,
        };
        let solver = Solver::new(loss, &side.fit, outputs);
        Self { side, solver, start: Start::default(), at: nothing, early: 0 }
    }

    /// Goes on from another fit.
    fn restart_from(&mut self, fit: &LinearFit) {
        self.start = Start { fit: Some(fit.clone()), warm: None };
        self.at = fit.clone();
    }

    fn solve(&mut self, lambda: f64, bound: Option<f64>) {
        let solution = self.solver.solve(lambda, bound, &mut self.start, ROUGH);
        self.early += usize::from(!solution.convergence.ended());
        self.at = solution.fit;
    }
}

/// What all fits of a head have in common.
struct Sought<'s> {
    loss: Loss,
    bound: Option<f64>,
    spec: &'s ModelSpec,
    bits: u8,
}

impl Sought<'_> {
    /// The held-out loss of fits for a λ, on all sides.
    fn real(&self, turns: &mut [Turn<'_>], lambda: f64) -> f64 {
        let losses: Vec<f64> = turns
            .par_iter_mut()
            .map(|turn| {
                turn.solve(lambda, self.bound);
                turn.side.held.loss(self.loss, turn.at.weights.as_ref(), &turn.at.bias)
            })
            .collect();
        losses.iter().sum()
    }

    /// The held-out loss of the fits where they are, rounded.
    fn rounded(&self, turns: &[Turn<'_>]) -> f64 {
        let losses: Vec<f64> = turns
            .par_iter()
            .map(|Turn { side, solver, at, .. }| {
                let rounded = solver.curvature(&side.fit, at).round(
                    at.weights.as_ref(),
                    self.spec,
                    vec![usual_width(self.bits)],
                    Rounding::Compensated,
                );
                let bias = solver.bias(&rounded.weights, at);
                side.held.loss(self.loss, rounded.weights.as_ref(), &bias)
            })
            .collect();
        losses.iter().sum()
    }

    /// The λ whose rounded weights are best on held-out rows, from the fits for `start`.
    fn best_rounded(&self, turns: &mut [Turn<'_>], start: f64) -> f64 {
        let best = descend(upwards(start), |lambda| {
            if lambda > start {
                turns.par_iter_mut().for_each(|turn| turn.solve(lambda, self.bound));
            }
            (self.rounded(turns), lambda)
        });
        best.unwrap_or(start)
    }
}

/// How λ and the calibration are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judging {
    /// By one part of the rows that is held out.
    Once,
    /// Where rows are few, by several parts, each held out in turn.
    InTurn,
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
    judging: Judging,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let (loss, outputs) = (options.loss(), problem.outputs);
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
    let splits = match judging {
        Judging::Once => vec![hold_out(problem, options.seed)],
        Judging::InTurn => in_turn(problem, options.seed),
    };
    progress.phase("computing features")?;
    let sides: Vec<Side> = splits
        .iter()
        .map(|(fit, held)| {
            let (fit, held) = (Rows::new(problem, &map, fit)?, Rows::new(problem, &map, held)?);
            Ok(Side { fit, held })
        })
        .collect::<Result<_, Error>>()?;

    progress.phase("solving")?;
    let sought = Sought { loss, bound, spec: &spec, bits };
    let mut turns: Vec<Turn<'_>> =
        sides.iter().map(|side| Turn::new(side, loss, outputs)).collect();
    // With a box the size of the weights is given: no penalty is searched.
    let given = options.lambda.or(bound.map(|_| 0.0));
    // Largest first: each fit starts from the one before. The two smallest are not worth
    // their time to these losses.
    let best = descend(given_or(given, &LAMBDAS[2..]).into_iter().rev(), |lambda| {
        let loss = sought.real(&mut turns, lambda);
        (loss, turns.iter().map(|turn| turn.at.clone()).collect::<Vec<_>>())
    });
    let chosen = best.expect("there is at least one λ");
    let mut warnings = Vec::new();
    let calibration = match &problem.table.target {
        Target::Classes { .. } => {
            let (mut scores, mut labels) = (Vec::new(), Vec::new());
            for (side, fit) in sides.iter().zip(&chosen) {
                let held = side.held.design.scores(fit.weights.as_ref(), &fit.bias);
                scores.extend(held.col_iter().flat_map(|row| row.iter().copied()));
                labels.extend_from_slice(&side.held.labels);
            }
            Some(calibrate::fit_or_warn(&scores, &labels, outputs, &mut warnings))
        }
        Target::Values(_) => None,
    };

    progress.phase("rounding the weights")?;
    let mut lambda = chosen[0].lambda;
    if given.is_none() {
        turns.iter_mut().zip(&chosen).for_each(|(turn, fit)| turn.restart_from(fit));
        lambda = sought.best_rounded(&mut turns, lambda);
    }
    let early: usize = turns.iter().map(|turn| turn.early).sum();
    drop(turns);

    progress.phase("solving")?;
    let order: Vec<usize> = splits[0].0.iter().chain(&splits[0].1).copied().collect();
    let Side { fit, held } = sides.into_iter().next().expect("there is at least one side");
    let all = Rows::with(problem, &order, fit.design.chain(held.design));
    let solver = Solver::new(loss, &all, outputs);
    let mut start = Start { fit: chosen.into_iter().next(), warm: None };
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
