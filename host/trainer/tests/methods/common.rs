//! The problem that the script has too.

use faer::Mat;
use koan_trainer::internal::solve::Design;

/// Numbers of a linear congruential generator, as the script has them.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From −1024 to 1023.
    pub fn next(&mut self) -> i16 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 48) % 2048) as i16 - 1024
    }
}

pub const ROWS: usize = 60;
pub const FEATURES: usize = 6;

/// The script's problem.
pub struct Problem {
    pub design: Design,
    /// Labels of two classes, of three, and values.
    pub two: Vec<u32>,
    pub three: Vec<u32>,
    pub value: Vec<f64>,
    pub weights: Vec<f64>,
}

pub fn problem() -> Problem {
    let mut numbers = Numbers::new(1);
    let x: Vec<i16> = (0..ROWS * FEATURES).map(|_| numbers.next()).collect();
    let noise: Vec<f64> = (0..ROWS * 3).map(|_| f64::from(numbers.next())).collect();
    let x_of = |i: usize, k: usize| f64::from(x[i * FEATURES + k]);
    let two = |i: usize| x_of(i, 0) + x_of(i, 1) - x_of(i, 2) + 1.5 * noise[i * 3] > 300.0;
    let three = |i: usize| {
        let score = |t: usize| x_of(i, t) + x_of(i, t + 3) + noise[i * 3 + t];
        (0..3).fold(0, |best, t| if score(t) > score(best) { t } else { best }) as u32
    };
    let value = |i: usize| x_of(i, 0) / 512.0 + (x_of(i, 1) / 256.0).sin() + noise[i * 3] / 4096.0;
    Problem {
        two: (0..ROWS).map(|i| u32::from(two(i))).collect(),
        three: (0..ROWS).map(three).collect(),
        value: (0..ROWS).map(value).collect(),
        weights: (0..ROWS).map(|i| 1.0 + (i % 3) as f64).collect(),
        design: Design::new(x, FEATURES),
    }
}

/// Values as a matrix of targets, 1 × rows.
pub fn row_of(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(1, values.len(), |_, i| values[i])
}

pub fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance * size, "found {found:?}, expected {expected:?}");
    }
}
