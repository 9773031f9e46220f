//! Plots of how good predictions are.

use super::Figure;
use super::plot::{Plot, PlotError};

/// Points up to which a cloud is drawn whole.
const MOST_DOTS: usize = 800;
/// Bins of a reliability diagram.
const BINS: usize = 10;

/// Rows whose predicted probability is in one bin of a reliability diagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reliability {
    /// Mean predicted probability.
    pub predicted: f64,
    /// Share of the rows for which the prediction was right.
    pub observed: f64,
    /// Rows.
    pub rows: usize,
}

/// Sorts predictions, each a probability from 0 to 1 and whether it came true, by
/// their probability into ten bins of equal width; empty ones are left out.
#[must_use]
pub fn reliability_bins(predictions: &[(f64, bool)]) -> Vec<Reliability> {
    let mut bins = [(0.0, 0usize, 0usize); BINS];
    for &(probability, came_true) in predictions {
        let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
        bins[bin].0 += probability;
        bins[bin].1 += usize::from(came_true);
        bins[bin].2 += 1;
    }
    bins.iter()
        .filter(|bin| bin.2 > 0)
        .map(|&(sum, hits, rows)| Reliability {
            predicted: sum / rows as f64,
            observed: hits as f64 / rows as f64,
            rows,
        })
        .collect()
}

/// The expected calibration error: the mean distance between predicted
/// probability and observed share, bins weighted by their rows (Naeini et al.
/// 2015).
#[must_use]
pub fn calibration_error(bins: &[Reliability]) -> f64 {
    let rows: usize = bins.iter().map(|bin| bin.rows).sum();
    let distance = |bin: &Reliability| bin.rows as f64 * (bin.predicted - bin.observed).abs();
    bins.iter().map(distance).sum::<f64>() / rows.max(1) as f64
}

/// A reliability diagram of one or more named predictors: observed share against
/// predicted probability, with 95 % intervals (Wilson).
///
/// # Errors
/// No bins at all.
pub fn reliability(predictors: &[(&str, &[Reliability])]) -> Result<Figure, PlotError> {
    let mut plot = Plot::new("predicted probability", "observed share")
        .range_x(0.0, 1.0)
        .range_y(0.0, 1.0)
        .square();
    if predictors.iter().all(|(_, bins)| bins.is_empty()) {
        return Err(PlotError::Empty);
    }
    for (name, bins) in predictors {
        plot = plot.series(
            name,
            bins.iter().map(|bin| {
                let (low, high) = wilson(bin.observed, bin.rows);
                (bin.predicted, bin.observed, low, high)
            }),
        );
    }
    plot.line("perfectly calibrated", (0.0, 0.0), (1.0, 1.0)).draw()
}

/// The 95 % interval of a share that was observed in so many rows (Wilson 1927).
#[must_use]
pub fn wilson(share: f64, rows: usize) -> (f64, f64) {
    let (n, z) = (rows.max(1) as f64, 1.96);
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    ((middle - half).clamp(0.0, share), (middle + half).clamp(share, 1.0))
}

/// A histogram of finite values in `bins` bins of equal width over the values.
///
/// # Errors
/// No values, or one that is not finite.
pub fn histogram(name: &str, values: &[f64], bins: usize) -> Result<Figure, PlotError> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    histogram_over(name, values, bins, (low, high))
}

/// A histogram of probabilities, from 0 to 1.
///
/// # Errors
/// As [`histogram`].
pub fn probabilities(name: &str, values: &[f64], bins: usize) -> Result<Figure, PlotError> {
    histogram_over(name, values, bins, (0.0, 1.0))
}

fn histogram_over(
    name: &str,
    values: &[f64],
    bins: usize,
    (low, high): (f64, f64),
) -> Result<Figure, PlotError> {
    if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
        let (series, axis) = ("histogram".into(), name.to_owned());
        return Err(PlotError::Value { series, axis, value });
    }
    if values.is_empty() {
        return Err(PlotError::Empty);
    }
    let bins = bins.max(1);
    let width = if high > low { (high - low) / bins as f64 } else { 1.0 };
    let low = if high > low { low } else { low - 0.5 * bins as f64 };
    let mut counts = vec![0.0; bins];
    for value in values {
        counts[(((value - low) / width) as usize).min(bins - 1)] += 1.0;
    }
    let edges: Vec<f64> = (0..=bins).map(|edge| low + edge as f64 * width).collect();
    Plot::new(name, "rows").range_x(edges[0], edges[bins]).bars(&edges, &counts).draw()
}

/// Predictions against targets: `(target, prediction)`; of many, an even sample.
///
/// # Errors
/// No pairs, or a value that is not finite.
pub fn predictions(pairs: &[(f64, f64)]) -> Result<Figure, PlotError> {
    let values = || pairs.iter().flat_map(|&(target, value)| [target, value]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    if pairs.is_empty() {
        return Err(PlotError::Empty);
    }
    Plot::new("target", "prediction")
        .square()
        .cloud("rows", sample(pairs))
        .line("exact", (low, low), (high, high))
        .draw()
}

/// Residuals, target − prediction, against predictions.
///
/// # Errors
/// No pairs, or a value that is not finite.
pub fn residuals(pairs: &[(f64, f64)]) -> Result<Figure, PlotError> {
    let points = sample(pairs).into_iter().map(|(target, value)| (value, target - value));
    Plot::new("prediction", "target − prediction").cloud("rows", points).level("exact", 0.0).draw()
}

/// At most [`MOST_DOTS`] of the pairs, evenly spread.
fn sample(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let count = pairs.len().min(MOST_DOTS);
    (0..count).map(|i| pairs[i * pairs.len() / count]).collect()
}
