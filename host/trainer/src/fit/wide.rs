//! Few rows, many features: ridge regression in its dual form.

use faer::{Mat, MatRef};
use koan::Width;

use super::rounding::RoundedWeights;
use super::{Fitted, real_scores, usual_width, widths};
use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::calibrate;
use crate::dual::Dual;
use crate::features::FeatureMap;
use crate::folds::in_turn;
use crate::lambda::{LAMBDAS, UNTOLD, descend, upwards};
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::quantise::Rounding;
use crate::ridge::LinearFit;
use crate::solve::Design;
use koan_data::{Table, Target};

/// Rows to fit on and rows that judge.
pub(crate) struct WideSide {
    fit: Dual,
    /// The features of the held-out rows.
    pub held: Design,
    /// T × held rows.
    targets: Mat<f64>,
    weights: Vec<f64>,
    /// Whether rows of both have weights.
    tells: bool,
}

/// Rounded weights, and the best biases for them.
pub(crate) type WideFit = (Mat<f64>, Vec<f64>);

impl WideSide {
    /// Computes the features of both.
    pub fn new(
        problem: &Problem<'_>,
        map: &FeatureMap,
        fit: &[usize],
        held: &[usize],
    ) -> Result<Self, Error> {
        let counts = |rows: &[usize]| rows.iter().any(|&row| problem.weight(row) > 0.0);
        Ok(Self {
            tells: counts(fit) && counts(held),
            fit: dual(problem, map, fit)?,
            held: Design::of(map, problem.table, held)?,
            targets: problem.targets(held).transpose().to_owned(),
            weights: held.iter().map(|&row| problem.weight(row)).collect(),
        })
    }

    /// How much the held-out rows count.
    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Mean squared error over the held-out rows and all outputs.
    pub fn error(&self, weights: MatRef<'_, f64>, bias: &[f64]) -> f64 {
        let scores = self.held.scores(weights, bias);
        let square = |i: usize| -> f64 {
            (0..bias.len()).map(|t| (scores[(t, i)] - self.targets[(t, i)]).powi(2)).sum()
        };
        let sum: f64 = self.weights.iter().enumerate().map(|(i, weight)| weight * square(i)).sum();
        let total = self.weight().max(f64::MIN_POSITIVE);
        sum / total / bias.len() as f64
    }

    /// The error of the fit for a λ.
    pub fn real(&self, lambda: f64) -> f64 {
        let fit = self.fit.solve(lambda);
        self.error(fit.weights.as_ref(), &fit.bias)
    }

    /// The fit for a λ, rounded to the usual number of levels of so many bits.
    pub fn rounded(&self, spec: &ModelSpec, bits: u8, lambda: f64) -> WideFit {
        let fit = self.fit.solve(lambda);
        let rounded = rounded(&self.fit, spec, &fit, usual_width(bits), Rounding::Compensated);
        let bias = self.fit.bias(rounded.weights.as_ref());
        (rounded.weights, bias)
    }
}

fn dual(problem: &Problem<'_>, map: &FeatureMap, rows: &[usize]) -> Result<Dual, Error> {
    let weights: Option<Vec<f64>> =
        problem.weights.is_some().then(|| rows.iter().map(|&row| problem.weight(row)).collect());
    let design = Design::of(map, problem.table, rows)?;
    Ok(Dual::new(&design, problem.targets(rows).transpose(), weights.as_deref()))
}

/// All outputs' rounded weights.
fn rounded(
    dual: &Dual,
    spec: &ModelSpec,
    fit: &LinearFit,
    width: Width,
    rounding: Rounding,
) -> RoundedWeights {
    RoundedWeights::by(fit.weights.as_ref(), spec, width, |weights, banks| {
        dual.round(weights, banks, fit.lambda, rounding)
    })
}

/// Fits by the kernel matrix of the rows.
///
/// # Errors
/// A feature map for another number of inputs.
pub(super) fn fit_wide(
    problem: &Problem<'_>,
    map: FeatureMap,
    spec: ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let bits = options.bits;
    progress.phase("computing features")?;
    let splits = in_turn(problem, options.seed);
    let sides: Vec<WideSide> = splits
        .iter()
        .map(|(fit, held)| WideSide::new(problem, &map, fit, held))
        .collect::<Result<_, Error>>()?;
    progress.phase("solving")?;
    let mut lambda = options.lambda.unwrap_or(0.0);
    if options.lambda.is_none() {
        let telling: Vec<&WideSide> = sides.iter().filter(|side| side.tells).collect();
        let error = |lambda: f64| telling.iter().map(|side| side.real(lambda)).sum::<f64>();
        let judged = LAMBDAS.iter().map(|&lambda| (error(lambda), lambda));
        let best = judged.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| !telling.is_empty());
        lambda = best.map_or(UNTOLD, |(_, lambda)| lambda);
    }
    let mut warnings = Vec::new();
    let calibration = match &problem.table.target {
        Target::Classes { labels } if options.is_whole() => {
            let (mut scores, mut classes) = (Vec::new(), Vec::new());
            for (side, (_, held)) in sides.iter().zip(&splits) {
                let fit = side.fit.solve(lambda);
                let all = side.held.scores(fit.weights.as_ref(), &fit.bias);
                scores.extend(all.col_iter().flat_map(|row| row.iter().copied()));
                classes.extend(held.iter().map(|&row| labels[row]));
            }
            Some(calibrate::fit_or_warn(&scores, &classes, problem.outputs, &mut warnings))
        }
        _ => None,
    };
    progress.phase("rounding the weights")?;
    if options.lambda.is_none() {
        lambda = lambda_for_rounding(&sides, &spec, bits, lambda);
    }
    drop(sides);
    let rows: Vec<usize> = (0..problem.table.rows()).collect();
    let all = dual(problem, &map, &rows)?;
    let fit = all.solve(lambda);
    let head = |rounding: Rounding| -> HeadSpec {
        let attempt = |width| rounded(&all, &spec, &fit, width, rounding);
        let best = RoundedWeights::best(widths(bits), attempt);
        let bias = all.bias(best.weights.as_ref());
        best.head(&spec, &bias)
    };
    let nearest = options.is_whole().then(|| head(Rounding::Nearest));
    let compensated = head(Rounding::Compensated);
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        real_scores(&map, &fit, table, &rows)
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}

/// The λ whose rounded weights are best on held-out rows, from the best one for real
/// weights.
fn lambda_for_rounding(sides: &[WideSide], spec: &ModelSpec, bits: u8, start: f64) -> f64 {
    let error_of = |side: &WideSide, lambda: f64| {
        let (weights, bias) = side.rounded(spec, bits, lambda);
        side.error(weights.as_ref(), &bias)
    };
    let telling = || sides.iter().filter(|side| side.tells);
    let error = |lambda: f64| telling().map(|side| error_of(side, lambda)).sum::<f64>();
    descend(upwards(start), |lambda| (error(lambda), lambda)).unwrap_or(start)
}
