//! Rows far from all normal ones.
//!
//! Beyond the rows that they were fitted to, a sum of random features does not fall to 0 but is a
//! number that depends on the seed, the larger the higher their frequency; an input that
//! saturates stays at its number however far it goes on. The threshold has to be above it.

use koan::generator::Stream;
use koan_data::Table;

/// Standard deviations of an input from its mean: the least and the most; the logarithm is uniform.
const LEAST: f64 = 6.0;
const MOST: f64 = 1000.0;
/// Share of the rows of which one input alone is far; of the others each is with an even chance.
const SINGLE: f64 = 0.5;

/// The rows of `normal` with one input or several far from those of all of them.
pub(super) fn far_rows(normal: &Table) -> Table {
    let (count, inputs) = (normal.rows(), normal.inputs);
    let shapes: Vec<(f64, f64)> = (0..inputs).map(|input| mean_and_spread(normal, input)).collect();
    let stream = Stream::new(13, 0);
    let mut values = Vec::with_capacity(count * inputs);
    for row in 0..count {
        let first = (row * (2 * inputs + 2)) as u64;
        let uniform = |i: usize| stream.draw(first + i as u64) as f64 / u64::MAX as f64;
        let one = ((uniform(0) * inputs as f64) as usize).min(inputs - 1);
        let single = uniform(1) < SINGLE;
        for (input, &(mean, spread)) in shapes.iter().enumerate() {
            // Four quarters: whether it is far too, and on which side.
            let quarter = (4.0 * uniform(2 + 2 * input)) as usize;
            if input != one && (single || quarter < 2) {
                values.push(normal.row(row)[input]);
                continue;
            }
            // A constant input is looked at in its own unit.
            let spread = if spread > 0.0 { spread } else { 1.0 };
            let distance = spread * LEAST * (MOST / LEAST).powf(uniform(3 + 2 * input));
            let sign = if quarter.is_multiple_of(2) { -1.0 } else { 1.0 };
            values.push((mean + sign * distance) as f32);
        }
    }
    Table { values, ..normal.clone() }
}

/// Mean and standard deviation of an input.
pub(super) fn mean_and_spread(table: &Table, input: usize) -> (f64, f64) {
    let values = || (0..table.rows()).map(|row| f64::from(table.row(row)[input]));
    let mean = values().sum::<f64>() / table.rows() as f64;
    let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / table.rows() as f64;
    (mean, variance.sqrt())
}
