//! How the values of inputs lie: mean, spread, tails.

use crate::parallel;
use koan_data::Table;

/// The signed logarithm of `x`, or `x` itself.
pub(super) fn logged(x: f64, log: bool) -> f64 {
    if log { x.signum() * x.abs().ln_1p() } else { x }
}

/// Mean, variance and fourth moment of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shape {
    pub mean: f64,
    pub deviation: f64,
    pub kurtosis: f64,
    pub lowest: f64,
    pub highest: f64,
    pub two_valued: bool,
}

impl Shape {
    /// Whether the tails are so heavy that a logarithm may help.
    pub(super) fn has_tails(&self) -> bool {
        !self.two_valued && self.kurtosis > 5.0
    }

    /// Whether it does help, where the logarithms have this shape.
    pub(super) fn is_tamed_by(&self, log: &Self) -> bool {
        self.has_tails() && log.kurtosis < 0.7 * self.kurtosis
    }
}

/// Inputs of a thread, at least: their numbers in a row are a line of the cache.
const LEAST_TOGETHER: usize = 16;

/// The shapes of these inputs: each thread reads its part of every row, twice.
pub(super) fn shapes_of(table: &Table, rows: &[usize], inputs: &[usize], log: bool) -> Vec<Shape> {
    let part = inputs.len().div_ceil(rayon::current_num_threads()).max(LEAST_TOGETHER);
    let shapes = parallel::each(inputs.chunks(part), |_, inputs| {
        let mut numbers = vec![0.0; inputs.len()];
        // Numbers side by side are taken several at a time.
        let side_by_side = !log && inputs.windows(2).all(|pair| pair[1] == pair[0] + 1);
        shapes_together(rows.len(), inputs.len(), |each| {
            for &row in rows {
                let row = table.row(row);
                if let (true, Some(&first)) = (side_by_side, inputs.first()) {
                    let row = &row[first..first + inputs.len()];
                    numbers.iter_mut().zip(row).for_each(|(number, &x)| *number = x.into());
                } else {
                    let taken = numbers.iter_mut().zip(inputs);
                    taken.for_each(|(number, &i)| *number = logged(row[i].into(), log));
                }
                each(&numbers);
            }
        })
    });
    shapes.into_iter().flatten().collect()
}

/// The shapes of inputs side by side: sums over the rows in their order, as of each alone.
fn shapes_together(
    rows: usize,
    inputs: usize,
    mut for_each_row: impl FnMut(&mut dyn FnMut(&[f64])),
) -> Vec<Shape> {
    let count = rows.max(1) as f64;
    let mut sums = vec![0.0; inputs];
    let (mut lowest, mut highest) = (vec![f64::INFINITY; inputs], vec![f64::NEG_INFINITY; inputs]);
    for_each_row(&mut |numbers| {
        let places = sums.iter_mut().zip(&mut lowest).zip(&mut highest);
        for (((sum, lowest), highest), &v) in places.zip(numbers) {
            *sum += v;
            *lowest = lowest.min(v);
            *highest = highest.max(v);
        }
    });
    let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    let (mut squares, mut fourths) = (vec![0.0; inputs], vec![0.0; inputs]);
    let mut at_ends = vec![0.0; inputs];
    for_each_row(&mut |numbers| {
        let places = squares.iter_mut().zip(&mut fourths).zip(&means);
        for (((squares, fourths), mean), &v) in places.zip(numbers) {
            let square = (v - mean).powi(2);
            *squares += square;
            *fourths += square.powi(2);
        }
        let places = at_ends.iter_mut().zip(&lowest).zip(&highest);
        for (((at_ends, lowest), highest), v) in places.zip(numbers) {
            *at_ends += f64::from(u8::from(v == lowest || v == highest));
        }
    });
    let shape = |input: usize| {
        let (lowest, highest) = (lowest[input], highest[input]);
        let variance = squares[input] / count;
        // Rounding in the mean of a constant column is no variance.
        let deviation = if highest > lowest { variance.sqrt() } else { 0.0 };
        let kurtosis = fourths[input] / count / (variance * variance);
        Shape {
            mean: means[input],
            deviation,
            kurtosis: if deviation > 0.0 { kurtosis } else { 0.0 },
            lowest,
            highest,
            two_valued: at_ends[input] == rows as f64,
        }
    };
    (0..inputs).map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of an input alone.
    fn shape(values: &[f64]) -> Shape {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let moment = |power| values.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / count;
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let deviation = if highest > lowest { moment(2).sqrt() } else { 0.0 };
        let kurtosis = if deviation > 0.0 { moment(4) / moment(2).powi(2) } else { 0.0 };
        let two_valued = values.iter().all(|&v| v == lowest || v == highest);
        Shape { mean, deviation, kurtosis, lowest, highest, two_valued }
    }

    #[test]
    fn inputs_have_the_shapes_that_they_have_alone() {
        let table = koan_data::digits::table();
        let rows: Vec<usize> = (0..table.rows()).step_by(3).collect();
        let some: Vec<usize> = (0..table.inputs).step_by(2).rev().chain([0, 63]).collect();
        let all: Vec<usize> = (0..table.inputs).collect();
        for (inputs, log) in [(&some, false), (&some, true), (&all, false), (&all, true)] {
            let alone = inputs.iter().map(|&input| {
                let values = rows.iter().map(|&row| logged(f64::from(table.row(row)[input]), log));
                shape(&values.collect::<Vec<_>>())
            });
            assert_eq!(shapes_of(&table, &rows, inputs, log), alone.collect::<Vec<_>>());
            assert!(inputs.len() > 2 * LEAST_TOGETHER);
        }
    }
}
