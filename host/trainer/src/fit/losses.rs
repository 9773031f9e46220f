//! Heads for other losses than ridge regression's, and heads within a box.

use faer::Mat;
use koan::Calibration;

use super::solver::{Rows, Solver, Start};
use super::{Fitted, real_scores, usual_width, widths};
use crate::Error;
use crate::blob::ModelSpec;
use crate::calibrate;
use crate::features::FeatureMap;
use crate::folds::{hold_out, in_turn};
use crate::lambda::{LAMBDAS, descend, given_or, upwards};
use crate::options::{HeadOptions, Purpose};
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::ridge::LinearFit;
use crate::solve::{Loss, Solution, Tolerance, boxed};
use koan_data::{Table, Target, Task};

/// Features up to which these heads are fitted.
pub(crate) const MAX_FEATURES: usize = 8192;
/// How exact the fits are while λ is chosen, and in the end. Few of those that choose λ take more
/// products, with so little shrinkage that what is left to do is hardly seen on held-out rows.
const ROUGH: Tolerance = Tolerance { gap: 2e-3, decrease: 1e-3, products: 200 };
pub(super) const FINE: Tolerance = Tolerance { gap: 5e-4, decrease: 2e-4, products: usize::MAX };
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
        parallel::each(&mut *turns, |_, turn| turn.solve(lambda, self.bound));
        let loss = |Turn { side, at, .. }: &Turn<'_>| {
            side.held.loss(self.loss, at.weights.as_ref(), &at.bias)
        };
        parallel::map(turns.len(), |place| loss(&turns[place])).iter().sum()
    }

    /// The held-out loss of the fits where they are, rounded.
    fn rounded(&self, turns: &[Turn<'_>]) -> f64 {
        let loss = |Turn { side, solver, at, .. }: &Turn<'_>| {
            let widths = vec![usual_width(self.bits)];
            let shared = || solver.curvature(&side.fit, at);
            let rounded = solver.compensated(at, self.spec, widths, shared);
            let bias = solver.bias(&rounded.weights, at);
            side.held.loss(self.loss, rounded.weights.as_ref(), &bias)
        };
        parallel::map(turns.len(), |place| loss(&turns[place])).iter().sum()
    }

    /// The fits for the λ whose rounded weights are best on held-out rows, from those for `start`.
    fn best_rounded(&self, turns: &mut [Turn<'_>], start: f64) -> Option<Vec<LinearFit>> {
        descend(upwards(start), |lambda| {
            if lambda > start {
                parallel::each(&mut *turns, |_, turn| turn.solve(lambda, self.bound));
            }
            (self.rounded(turns), fits(turns))
        })
    }
}

/// Where the solvers are.
fn fits(turns: &[Turn<'_>]) -> Vec<LinearFit> {
    turns.iter().map(|turn| turn.at.clone()).collect()
}

/// What rows that are held out say, and all rows to fit to.
pub(super) struct Judged {
    pub all: Rows,
    pub lambda: f64,
    pub bound: Option<f64>,
    /// The fit to begin with.
    pub start: Start,
    pub calibration: Option<Calibration>,
    pub warnings: Vec<String>,
}

/// Fits by the loss and the box of the options.
///
/// # Errors
/// A loss for classes where there are none, more features than this can
/// handle, a specification that the format does not allow.
pub fn fit_loss(
    problem: &Problem<'_>,
    spec: ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let map = FeatureMap::new(&spec)?;
    let judged = judge(problem, &map, &spec, options, progress)?;
    let Judged { all, lambda, bound, mut start, calibration, mut warnings } = judged;
    progress.phase("solving")?;
    let solver = Solver::new(options.loss, &all, problem.outputs);
    let Solution { fit, convergence } = solver.solve(lambda, bound, &mut start, FINE);
    warnings.extend(convergence.warning(solver.name()));
    progress.phase("rounding the weights")?;
    let (nearest, compensated) = if options.is_whole() {
        let bias = |weights: &Mat<f64>| solver.bias(weights, &fit);
        let [nearest, compensated] = solver.heads(&all, &fit, (&spec, options.bits), bias);
        (Some(nearest), compensated)
    } else {
        let shared = || solver.curvature(&all, &fit);
        let rounded = solver.compensated(&fit, &spec, widths(options.bits), shared);
        let bias = solver.bias(&rounded.weights, &fit);
        (None, rounded.head(&spec, &bias))
    };
    drop(solver);
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&map, &fit, table, &rows)
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}

/// Refuses what no loss but the squared one is for.
///
/// # Errors
/// A loss for classes where there are none, or more features than such fits can handle.
pub(crate) fn check_loss(task: Task, loss: Loss, features: usize) -> Result<(), Error> {
    if task == Task::Regression && loss != Loss::Squared {
        let name = loss.name();
        return Err(Error::parameter(
            "loss",
            format!("the loss {name} is for classes, not for numbers"),
        ));
    }
    if features > MAX_FEATURES {
        let (found, most) = (features, MAX_FEATURES);
        return Err(Error::TooMany { what: "features for this loss", found, most });
    }
    Ok(())
}

/// The rows to fit on and those that judge, each time.
fn splits(problem: &Problem<'_>, seed: u64, purpose: Purpose) -> Vec<(Vec<usize>, Vec<usize>)> {
    match purpose {
        Purpose::Model => in_turn(problem, seed),
        Purpose::LearningCurve | Purpose::Comparison => vec![hold_out(problem, seed)],
    }
}

/// All rows, in the order in which [`judge`] has them for a model.
pub(super) fn all_rows(problem: &Problem<'_>, seed: u64) -> Vec<usize> {
    let splits = splits(problem, seed, Purpose::Model);
    splits[0].0.iter().chain(&splits[0].1).copied().collect()
}

/// Chooses λ, and calibrates, by rows that are held out; where neither is to be done there is no
/// fit to begin with.
pub(super) fn judge(
    problem: &Problem<'_>,
    map: &FeatureMap,
    spec: &ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Judged, Error> {
    let (loss, outputs) = (options.loss, problem.outputs);
    check_loss(problem.task(), loss, map.features())?;
    let bits = options.bits;
    let bound = options.box_c.map(|c| boxed::bound(c, map.features()));
    // With a box the size of the weights is given: no penalty is searched.
    let given = options.lambda.or(bound.map(|_| 0.0));
    progress.phase("computing features")?;
    if let Some(lambda) = given.filter(|_| !options.is_whole()) {
        let rows: Vec<usize> = (0..problem.table.rows()).collect();
        let all = Rows::new(problem, map, &rows)?;
        let (start, warnings) = (Start::default(), Vec::new());
        return Ok(Judged { all, lambda, bound, start, calibration: None, warnings });
    }
    let splits = splits(problem, options.seed, options.purpose);
    let sides: Vec<Side> = splits
        .iter()
        .map(|(fit, held)| {
            let (fit, held) = (Rows::new(problem, map, fit)?, Rows::new(problem, map, held)?);
            Ok(Side { fit, held })
        })
        .collect::<Result<_, Error>>()?;

    progress.phase("solving")?;
    let sought = Sought { loss, bound, spec, bits };
    let mut turns: Vec<Turn<'_>> =
        sides.iter().map(|side| Turn::new(side, loss, outputs)).collect();
    // Largest first: each fit starts from the one before. The two smallest are not worth
    // their time to these losses.
    let best = descend(given_or(given, &LAMBDAS[2..]).into_iter().rev(), |lambda| {
        let loss = sought.real(&mut turns, lambda);
        (loss, fits(&turns))
    });
    let mut chosen = best.expect("there is at least one λ");
    let mut warnings = Vec::new();
    let calibration = match &problem.table.target {
        Target::Classes { .. } if options.is_whole() => {
            let (mut scores, mut labels) = (Vec::new(), Vec::new());
            for (side, fit) in sides.iter().zip(&chosen) {
                let held = side.held.design.scores(fit.weights.as_ref(), &fit.bias);
                scores.extend(held.col_iter().flat_map(|row| row.iter().copied()));
                labels.extend_from_slice(&side.held.labels);
            }
            Some(calibrate::fit_or_warn(&scores, &labels, outputs, &mut warnings))
        }
        _ => None,
    };

    progress.phase("rounding the weights")?;
    if given.is_none() {
        turns.iter_mut().zip(&chosen).for_each(|(turn, fit)| turn.restart_from(fit));
        let lambda = chosen[0].lambda;
        chosen = sought.best_rounded(&mut turns, lambda).unwrap_or(chosen);
    }
    let lambda = chosen[0].lambda;
    let early: usize = turns.iter().map(|turn| turn.early).sum();
    if early > 0 {
        let name = turns[0].solver.name();
        warnings.push(format!("{name} stopped early {early} times on the rows to choose by"));
    }
    drop(turns);

    let order: Vec<usize> = splits[0].0.iter().chain(&splits[0].1).copied().collect();
    let Side { fit, held } = sides.into_iter().next().expect("there is at least one side");
    let all = Rows::with(problem, &order, fit.design.chain(held.design));
    let start = Start { fit: chosen.into_iter().next(), warm: None };
    Ok(Judged { all, lambda, bound, start, calibration, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrainOptions;
    use crate::train::bank_plans;
    use crate::unsupervised::plain;
    use koan_data::digits;

    /// The fit to all rows goes on from that for the λ which is best rounded, not from that for the
    /// smaller one which is best for real weights and would take many steps to leave.
    #[test]
    fn the_last_fit_starts_from_its_lambda() {
        let table = digits::table().select(&(0..400).collect::<Vec<_>>());
        let problem = Problem::new(&table, false);
        let options = TrainOptions {
            features: vec![60],
            bits: Some(2),
            loss: Some(Loss::Logistic),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let banks = bank_plans(&table, &options).unwrap();
        let spec = plain(&table, &banks, &options).spec;
        let map = FeatureMap::new(&spec).unwrap();
        let head = HeadOptions { purpose: Purpose::Comparison, ..options.head(problem.task()) };
        let judged = judge(&problem, &map, &spec, &head, &Progress::none()).unwrap();
        let start = judged.start.fit.unwrap();
        assert_eq!(start.lambda, judged.lambda);
    }
}
