//! Any banks: ridge regression through the Gram matrix.

use super::rounding::Curvature;
use super::wide::fit_wide;
use super::{Fitted, usual_width, widths};
use crate::Error;
use crate::blob::ModelSpec;
use crate::calibrate;
use crate::dual;
use crate::features::{BLOCK_ROWS, FeatureBlock, FeatureMap};
use crate::folds::hold_out;
use crate::lambda::{LAMBDAS, descend, upwards};
use crate::moments::Moments;
use crate::options::HeadOptions;
use crate::problem::Problem;
use crate::products::Weights;
use crate::progress::Progress;
use crate::quantise::Rounding;
use crate::ridge::{LinearFit, System, best_on};
use koan_data::{Table, Target};

/// Features up to which two factorisations have room in memory at once.
const AT_ONCE: usize = 2896;

/// Fits by the Gram matrix of all features, or where these outnumber the rows by far by
/// the kernel matrix of the rows.
///
/// # Errors
/// A specification that the format does not allow.
pub fn fit_dense(
    problem: &Problem<'_>,
    spec: ModelSpec,
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let map = FeatureMap::new(&spec)?;
    if dual::suits(map.features(), problem.table.rows(), problem.outputs) {
        return fit_wide(problem, map, spec, options, progress);
    }
    let (fit_rows, held_rows) = hold_out(problem, options.seed);
    progress.phase("computing features")?;
    let moments = problem.moments(&map, &fit_rows, progress)?;
    fit_moments(problem, map, spec, moments, &held_rows, options, progress)
}

/// Fits by the sums over rows to fit on, and the rows of the problem's table
/// that were held out of them.
///
/// # Errors
/// A feature map for another number of inputs.
pub(crate) fn fit_moments(
    problem: &Problem<'_>,
    map: FeatureMap,
    spec: ModelSpec,
    moments: Moments,
    held_rows: &[usize],
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let held = problem.moments(&map, held_rows, progress)?;
    fit_both(problem, map, spec, [moments, held], held_rows, options, progress)
}

/// [`fit_moments`] by the sums over rows to fit on, and those over the rows held out.
///
/// # Errors
/// A feature map for another number of inputs.
pub(crate) fn fit_both(
    problem: &Problem<'_>,
    map: FeatureMap,
    spec: ModelSpec,
    [mut moments, held]: [Moments; 2],
    held_rows: &[usize],
    options: &HeadOptions,
    progress: &Progress,
) -> Result<Fitted, Error> {
    let bits = options.bits;
    progress.phase("solving")?;
    let system = System::new(&moments);
    let small = moments.features() <= AT_ONCE;
    let all_rows = |lambda| {
        moments.merge(&held);
        let system = System::new(&moments);
        drop(moments);
        let (curvature, fit) = Curvature::with_fit(&system, lambda);
        (system, curvature, fit)
    };
    // Probabilities are of scores that were not fitted to the rows; numbers have none.
    let labels = match &problem.table.target {
        Target::Classes { labels } if options.is_whole() => Some(labels),
        _ => None,
    };
    let without_held = |lambda| labels.map(|_| system.solve(lambda));
    let (lambda, held_fit, (system, curvature, fit)) = match options.lambda {
        Some(lambda) if small => {
            let (held_fit, whole) = rayon::join(|| without_held(lambda), || all_rows(lambda));
            (lambda, held_fit, whole)
        }
        Some(lambda) => {
            let held_fit = without_held(lambda);
            drop(system);
            (lambda, held_fit, all_rows(lambda))
        }
        None => {
            let held_fit = best_on(&system, &held, &LAMBDAS).0;
            progress.phase("choosing lambda")?;
            let lambda = lambda_for_rounding(&system, &held, &spec, bits, held_fit.lambda);
            drop(system);
            (lambda, Some(held_fit), all_rows(lambda))
        }
    };
    let mut warnings = Vec::new();
    let calibration = match labels.zip(held_fit) {
        Some((labels, held_fit)) => {
            let labels: Vec<u32> = held_rows.iter().map(|&row| labels[row]).collect();
            let scores = scores(&map, &held_fit, problem.table, held_rows)?;
            Some(calibrate::fit_or_warn(&scores, &labels, problem.outputs, &mut warnings))
        }
        None => None,
    };

    progress.phase("rounding the weights")?;
    let head = |rounding| {
        let rounded = curvature.round(fit.weights.as_ref(), &spec, widths(bits), rounding);
        let bias = system.bias(&rounded.weights);
        rounded.head(&spec, &bias)
    };
    let nearest = options.is_whole().then(|| head(Rounding::Nearest));
    let compensated = head(Rounding::Compensated);
    let float = Box::new(move |table: &Table| {
        let rows: Vec<usize> = (0..table.rows()).collect();
        scores(&map, &fit, table, &rows)
    });
    Ok(Fitted { spec, float, nearest, compensated, calibration, lambda, warnings })
}

/// The λ whose *rounded* weights are best on held-out rows, from the best one for real
/// weights.
fn lambda_for_rounding(
    system: &System,
    held: &Moments,
    spec: &ModelSpec,
    bits: u8,
    start: f64,
) -> f64 {
    let error = |lambda: f64| rounded_error(system, held, spec, bits, lambda);
    descend(upwards(start), |lambda| (error(lambda), lambda)).unwrap_or(start)
}

/// The squared error on held-out rows of the fit for a λ with rounded weights.
pub(crate) fn rounded_error(
    system: &System,
    held: &Moments,
    spec: &ModelSpec,
    bits: u8,
    lambda: f64,
) -> f64 {
    let (curvature, fit) = Curvature::with_fit(system, lambda);
    let widths = vec![usual_width(bits)];
    let rounded = curvature.round(fit.weights.as_ref(), spec, widths, Rounding::Compensated);
    held.mean_squared_error(rounded.weights.as_ref(), &system.bias(&rounded.weights))
}

/// Real-valued scores: rows × outputs, row-major.
pub(crate) fn scores(
    map: &FeatureMap,
    fit: &LinearFit,
    table: &Table,
    rows: &[usize],
) -> Result<Vec<f64>, Error> {
    let outputs = fit.bias.len();
    let mut all = Vec::with_capacity(rows.len() * outputs);
    let weights = Weights::new(fit.weights.as_ref(), |weight| weight);
    let mut block = FeatureBlock::default();
    for part in rows.chunks(BLOCK_ROWS) {
        map.block(table, part, &mut block)?;
        let product = weights.products(block.matrix().as_ref());
        for row in 0..part.len() {
            all.extend((0..outputs).map(|output| product[(output, row)] + fit.bias[output]));
        }
    }
    Ok(all)
}
