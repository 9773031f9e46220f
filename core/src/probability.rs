//! Probabilities: a convenience in floats on top of the integer scores.

use crate::format::model::Model;

/// e^x for x ≤ 0 by micromath's series: faster and coarser than libm's.
#[cfg(feature = "micromath")]
pub(crate) fn coarse_exp(x: f32) -> f32 {
    // The series runs over beyond this; e^-87 is the smallest normal f32.
    if x < -87.0 { 0.0 } else { micromath::F32Ext::exp(x) }
}

/// Fills `probabilities` (one for each class) from calibrated scores; `exp` is e^x.
pub(crate) fn of_scores(
    model: &Model<'_>,
    exp: impl Fn(f32) -> f32,
    scores: &[i32],
    probabilities: &mut [f32],
) {
    let (slope, intercept) = match model.calibration() {
        Some(calibration) => (calibration.slope, calibration.intercept),
        None => (1.0, 0.0),
    };
    let scale = slope * model.score_scale();
    if let (&[score], [first, second]) = (scores, &mut *probabilities) {
        let z = score as f32 * scale + intercept;
        // The exponent of the smaller side, so that nothing overflows.
        let small = exp(-z.abs());
        let (low, high) = (small / (1.0 + small), 1.0 / (1.0 + small));
        (*first, *second) = if z > 0.0 { (low, high) } else { (high, low) };
        return;
    }
    let highest = scores.iter().copied().max().unwrap_or(0);
    let mut sum = 0.0;
    for (probability, &score) in probabilities.iter_mut().zip(scores) {
        *probability = exp((i64::from(score) - i64::from(highest)) as f32 * scale);
        sum += *probability;
    }
    for probability in probabilities.iter_mut() {
        *probability /= sum;
    }
}
