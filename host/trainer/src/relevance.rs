//! How much each input matters: a frequency for every input, learned.
//!
//! The squared error on held-out rows of a ridge fit on random fourier features
//! is a smooth function of the inputs' scales; its exact gradient, through the
//! fit itself, costs one more solve. Adam steps on the logarithms of the
//! scales, each on fresh rows and fresh features, so that nothing particular to
//! a draw is learned. Only the input maps come from here: features and head are
//! made by the core afterwards.

use faer::linalg::solvers::Solve;
use faer::reborrow::Reborrow;
use faer::{Mat, MatRef, Side};
use koan::generator::Stream;

use crate::Error;
use crate::folds::Folds;
use crate::normalise::Normaliser;
use crate::problem::Problem;
use crate::progress::Progress;
use koan_data::{Division, Table};

/// Steps of the search.
const STEPS: usize = 60;
/// Random features of each step.
const FEATURES: usize = 200;
/// Rows to fit on, and as many to hold out, in each step.
const ROWS: usize = 1500;
/// Adam's step, in units of log scale.
const RATE: f64 = 0.15;
/// Ridge penalty, relative to a feature's mean square.
const LAMBDA: f64 = 1e-3;
/// Pull of the logarithms towards 0 (decoupled, as in AdamW): an input whose
/// gradient is mostly noise, such as a rare indicator, stays where it was.
const PRIOR: f64 = 0.2;
/// Inputs whose scale falls below this share of the largest are switched off.
const NEGLIGIBLE: f64 = 0.03;

/// Relevance of each input, 1 on average in square; 0 for inputs that do not
/// matter.
///
/// `frequency`: radians for a normalised 1 that suit the data before.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn learn(
    problem: &Problem<'_>,
    rows: &[usize],
    normaliser: &Normaliser,
    frequency: f64,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<f64>, Error> {
    let inputs = normaliser.axes.len();
    let turns = turns(problem.table, rows);
    let mut logs = vec![0.0f64; inputs];
    let (mut first, mut second) = (vec![0.0f64; inputs], vec![0.0f64; inputs]);
    for step in 1..=STEPS {
        progress.phase(&format!("learning which inputs matter (step {step} of {STEPS})"))?;
        let scales: Vec<f64> = logs.iter().map(|log| frequency * log.exp()).collect();
        let stream = Stream::new(seed, step as u32);
        let (fit, held) = &turns[step % turns.len()];
        let count = ROWS.min(rows.len().div_ceil(2)).max(1);
        let part = |offset: usize, from: &[usize]| {
            let sample = |index: usize| {
                let draw = u128::from(stream.draw(index as u64));
                from[((draw * from.len() as u128) >> 64) as usize]
            };
            let rows: Vec<usize> = (0..count).map(|i| sample(offset + i)).collect();
            let u = Mat::from_fn(count, inputs, |i, input| {
                normaliser.axes[input].apply(problem.table.row(rows[i])[input])
            });
            (u, problem.targets(&rows))
        };
        let gradient = gradient(&part(0, fit), &part(count, held), &scales, &stream);
        let squares = second.iter().zip(&gradient).map(|(s, g)| 0.99 * s + 0.01 * g.powi(2));
        // Beside the largest: gradients have the square of the target's unit.
        let floor = (1e-12 * squares.fold(0.0, f64::max).sqrt()).max(f64::MIN_POSITIVE);
        for i in 0..inputs {
            first[i] = 0.9 * first[i] + 0.1 * gradient[i];
            second[i] = 0.99 * second[i] + 0.01 * gradient[i].powi(2);
            let mean = first[i] / (1.0 - 0.9f64.powi(step as i32));
            let square = second[i] / (1.0 - 0.99f64.powi(step as i32));
            // Smaller steps towards the end.
            let rate = RATE * (1.0 - 0.7 * step as f64 / STEPS as f64);
            logs[i] -= rate * (mean / (square.sqrt() + floor) + PRIOR * logs[i]);
        }
    }
    let largest = logs.iter().fold(f64::NEG_INFINITY, |a, &log| a.max(log)).exp();
    let kept: Vec<f64> = logs
        .iter()
        .map(|log| if log.exp() < NEGLIGIBLE * largest { 0.0 } else { log.exp() })
        .collect();
    let square = kept.iter().map(|r| r * r).sum::<f64>() / inputs as f64;
    Ok(kept.iter().map(|r| r / square.sqrt()).collect())
}

/// The work of [`learn`] in multiply-adds as the rest of a search counts them: about a
/// quarter of its own, four of which take the time of one there.
#[must_use]
pub fn work(inputs: usize, outputs: usize) -> f64 {
    // Projections and their gradient, the Gram matrix, cosine and sine, and
    // products with the outputs, on two sides.
    let each = (2 * inputs + FEATURES + 60 + 4 * outputs) as f64;
    // More than 32 bits hold.
    (STEPS * 2) as f64 * (ROWS * FEATURES) as f64 * each / 4.0
}

/// The rows to fit on and those to hold out, in turns: all of them, or with groups two thirds and
/// the rest. Both are drawn in each step; of many rows hardly one is drawn twice.
fn turns(table: &Table, rows: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let all = || (rows.to_vec(), rows.to_vec());
    let Division::Groups(_) = table.division else { return vec![all()] };
    // The seed is no concern of the user's: these parts only compare. Less than three groups
    // are cut in runs.
    let thirds = Folds::of(table, 3, 7).unwrap_or_else(|_| Folds::runs(table.rows(), 3));
    let whole = |(fit, held): (Vec<usize>, Vec<usize>)| {
        if fit.is_empty() || held.is_empty() { all() } else { (fit, held) }
    };
    thirds.within(rows).splits().into_iter().map(whole).collect()
}

/// Features cos(z) and slopes −sin(z), z = (u∘scales)·ωᵀ + b.
fn features(u: MatRef<'_, f64>, omega: &Mat<f64>, offsets: &[f64]) -> (Mat<f64>, Mat<f64>) {
    let mut cos = u * omega;
    let mut slope = Mat::zeros(cos.nrows(), cos.ncols());
    let mut pairs = Vec::with_capacity(cos.nrows());
    for ((values, slopes), offset) in cos.col_iter_mut().zip(slope.col_iter_mut()).zip(offsets) {
        pairs.clear();
        pairs.extend(values.rb().iter().map(|z| [z + offset, 0.0]));
        pairs.iter_mut().for_each(|pair| *pair = cos_sin(pair[0]));
        for ((value, slope), [cos, sin]) in values.iter_mut().zip(slopes.iter_mut()).zip(&pairs) {
            (*value, *slope) = (*cos, -sin);
        }
    }
    (cos, slope)
}

/// Cosine and sine of an angle in radians, to 1e-11 up to thousands of turns:
/// without branches and calls, so that the compiler makes vectors of it, and the same on
/// every machine.
fn cos_sin(z: f64) -> [f64; 2] {
    /// Adding and subtracting it rounds to a whole number, below 2⁵¹ in size.
    const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
    // Half the angle, of which whole turns were taken, lies within ±π/2.
    let turns = z * (0.5 * std::f64::consts::FRAC_1_PI);
    let half = (turns - ((turns + ROUND) - ROUND)) * std::f64::consts::PI;
    let square = half * half;
    let series = |terms: [f64; TERMS]| terms.iter().rev().fold(0.0, |sum, c| sum * square + c);
    let (sin, cos) = (half * series(const { taylor(1) }), series(const { taylor(0) }));
    [1.0 - 2.0 * sin * sin, 2.0 * sin * cos]
}

/// Terms of Taylor's series for angles within ±π/2.
const TERMS: usize = 9;

/// Coefficients of the even (`first` 0, cosine) or odd (1, sine) powers: ±1/`first`!, and
/// so on.
const fn taylor(first: u32) -> [f64; TERMS] {
    let mut terms = [1.0; TERMS];
    let mut i = 1;
    while i < TERMS {
        let power = (2 * i) as u32 + first;
        terms[i] = -terms[i - 1] / (power * (power - 1)) as f64;
        i += 1;
    }
    terms
}

/// Gradient of the held-out squared error by the logarithms of the scales.
fn gradient(
    fit: &(Mat<f64>, Mat<f64>),
    held: &(Mat<f64>, Mat<f64>),
    scales: &[f64],
    stream: &Stream,
) -> Vec<f64> {
    let inputs = scales.len();
    let normal = |index: usize| {
        let byte = stream.draw((1 << 32) + index as u64) as u8;
        f64::from(koan::numerics::NORMAL[usize::from(byte)]) / f64::from(koan::numerics::NORMAL_ONE)
    };
    // ω already multiplied by the scales: inputs × features.
    let omega = Mat::from_fn(inputs, FEATURES, |i, k| scales[i] * normal(k * inputs + i));
    let offsets: Vec<f64> = (0..FEATURES)
        .map(|k| stream.draw((1 << 40) + k as u64) as f64 / 2f64.powi(64) * std::f64::consts::TAU)
        .collect();
    let outputs = fit.1.ncols();
    let count = fit.1.nrows() as f64;
    let means: Vec<f64> = (0..outputs)
        .map(|t| (0..fit.1.nrows()).map(|i| fit.1[(i, t)]).sum::<f64>() / count)
        .collect();
    let centre = |y: &Mat<f64>| Mat::from_fn(y.nrows(), outputs, |i, t| y[(i, t)] - means[t]);
    let (y_fit, y_held) = (centre(&fit.1), centre(&held.1));
    let (phi, slope) = features(fit.0.as_ref(), &omega, &offsets);
    let (phi_held, slope_held) = features(held.0.as_ref(), &omega, &offsets);

    let mut matrix = phi.transpose() * &phi;
    for k in 0..FEATURES {
        matrix[(k, k)] += LAMBDA * count * 0.5;
    }
    let Ok(factor) = matrix.llt(Side::Lower) else { return vec![0.0; inputs] };
    let w = factor.solve(phi.transpose() * &y_fit);
    let error_held = &phi_held * &w - &y_held;
    // The loss through w: v solves H·v = ∂L/∂w.
    let v = factor.solve(phi_held.transpose() * &error_held);
    let error_fit = &phi * &w - &y_fit;
    let phi_v = &phi * &v;

    // ∂L/∂z, elementwise.
    let direct = &error_held * w.transpose();
    let indirect = &error_fit * v.transpose() + &phi_v * w.transpose();
    let by_z_held =
        Mat::from_fn(direct.nrows(), FEATURES, |i, k| direct[(i, k)] * slope_held[(i, k)]);
    let by_z_fit =
        Mat::from_fn(indirect.nrows(), FEATURES, |i, k| -indirect[(i, k)] * slope[(i, k)]);
    let by_omega = held.0.transpose() * &by_z_held + fit.0.transpose() * &by_z_fit;
    (0..inputs)
        .map(|i| (0..FEATURES).map(|k| by_omega[(i, k)] * omega[(i, k)]).sum::<f64>() / count)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The held-out error itself, as a function of the log scales.
    fn error(
        fit: &(Mat<f64>, Mat<f64>),
        held: &(Mat<f64>, Mat<f64>),
        scales: &[f64],
        stream: &Stream,
    ) -> f64 {
        let inputs = scales.len();
        let omega = Mat::from_fn(inputs, FEATURES, |i, k| {
            let byte = stream.draw((1 << 32) + (k * inputs + i) as u64) as u8;
            scales[i] * f64::from(koan::numerics::NORMAL[usize::from(byte)]) / 44.0
        });
        let offsets: Vec<f64> = (0..FEATURES)
            .map(|k| {
                stream.draw((1 << 40) + k as u64) as f64 / 2f64.powi(64) * std::f64::consts::TAU
            })
            .collect();
        let count = fit.1.nrows() as f64;
        let mean = (0..fit.1.nrows()).map(|i| fit.1[(i, 0)]).sum::<f64>() / count;
        let y = Mat::from_fn(fit.1.nrows(), 1, |i, _| fit.1[(i, 0)] - mean);
        let (phi, _) = features(fit.0.as_ref(), &omega, &offsets);
        let mut matrix = phi.transpose() * &phi;
        for k in 0..FEATURES {
            matrix[(k, k)] += LAMBDA * count * 0.5;
        }
        let w = matrix.llt(Side::Lower).expect("definite").solve(phi.transpose() * &y);
        let (phi, _) = features(held.0.as_ref(), &omega, &offsets);
        let value = &phi * &w;
        (0..held.1.nrows()).map(|i| (value[(i, 0)] - held.1[(i, 0)] + mean).powi(2)).sum::<f64>()
            / (2.0 * count)
    }

    #[test]
    fn cosine_and_sine_are_those_of_the_library() {
        for i in -200_000..200_000 {
            let z = f64::from(i) * 0.0137;
            let [cos, sin] = cos_sin(z);
            assert!((cos - z.cos()).abs() < 1e-11 && (sin - z.sin()).abs() < 1e-11, "{z}");
        }
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_held_out_error() {
        let random = Stream::new(8, 8);
        let part = |offset: u64| {
            let u = Mat::from_fn(80, 3, |i, j| {
                f64::from(random.draw(offset + (i * 3 + j) as u64) as i16) / 16384.0
            });
            let y = Mat::from_fn(80, 1, |i, _| (2.0 * u[(i, 0)]).sin() + 0.3 * u[(i, 1)] + 0.5);
            (u, y)
        };
        let (fit, held, stream) = (part(0), part(1000), Stream::new(1, 1));
        let scales = [0.9, 0.5, 0.7];
        let gradient = gradient(&fit, &held, &scales, &stream);
        for i in 0..3 {
            let shifted = |h: f64| {
                let mut scales = scales;
                scales[i] *= f64::exp(h);
                error(&fit, &held, &scales, &stream)
            };
            let numeric = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!(
                (gradient[i] - numeric).abs() < 1e-5 + 1e-3 * numeric.abs(),
                "{i}: {} {numeric}",
                gradient[i]
            );
        }
    }
}
