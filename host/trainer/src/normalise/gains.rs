//! One line for inputs of several kinds: an offset for all and a gain for each.

use super::shape::{Shape, shapes_of};
use super::{Axis, pooled, reciprocal, shapes};
use koan_data::Table;

/// Inputs up to which maps of their own, of six bytes each, are always tried.
pub(crate) const MAPPED_INPUTS: usize = 160;

/// Whether inputs want a gain each: numbers and categories of several kinds, for which maps of
/// their own may be too many bytes. Samples and pixels have none: a device maps a
/// sample once, wherever it stands in a window.
pub(super) fn wants_gains(table: &Table) -> bool {
    table.schema.shape().is_none() && one_line_hides_most(table)
}

/// Where inputs share an offset, no scaled value is beyond ± this.
const REACH: f64 = 4.0;
/// So many times the least gain is the largest that a byte can hold.
const GAINS: f64 = 255.0;

/// A scale for each input, with one offset, and a logarithm for all where most of the numbers that
/// are not of two values have heavy tails. Scales that a byte does not tell from the others are 0
/// where they are smaller, and less where they are larger.
pub(super) fn gain_per_input(table: &Table, rows: &[usize]) -> Vec<Axis> {
    let inputs: Vec<usize> = (0..table.inputs).collect();
    let mut shapes = shapes_of(table, rows, &inputs, false);
    let numbers = shapes.iter().filter(|shape| shape.deviation > 0.0 && !shape.two_valued).count();
    let mut log = false;
    if 2 * shapes.iter().filter(|shape| shape.has_tails()).count() > numbers {
        let logs = shapes_of(table, rows, &inputs, true);
        let tamed = shapes.iter().zip(&logs).filter(|(raw, log)| raw.is_tamed_by(log)).count();
        if 2 * tamed > numbers {
            (log, shapes) = (true, logs);
        }
    }
    let scale = |shape: &Shape| {
        let range = shape.highest - shape.lowest;
        let alone = if shape.two_valued { 0.5 * range } else { shape.deviation };
        let reach = shape.highest.abs().max(shape.lowest.abs());
        reciprocal(alone).min(REACH * reciprocal(reach))
    };
    let scales: Vec<f64> = shapes.iter().map(scale).collect();
    let most = most_within(&scales, GAINS);
    let told = |scale: f64| if scale * GAINS < most { 0.0 } else { scale.min(most) };
    scales.iter().map(|&scale| Axis { log, offset: 0.0, scale: told(scale) }).collect()
}

/// The end of the range, from a number to so many times it, that has the most of these positive
/// numbers; 0 if there is none.
fn most_within(numbers: &[f64], ratio: f64) -> f64 {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|&number| number > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let within = |end: usize| end - sorted.partition_point(|&low| low * ratio < sorted[end]);
    let end = (0..sorted.len()).max_by_key(|&end| within(end));
    end.map_or(0.0, |end| sorted[end])
}

/// One line for all inputs hides one whose values span less than this many of the line's standard
/// deviations.
const HIDDEN: f64 = 0.25;

/// Whether most inputs that vary do so within a small part of what one line for all inputs tells
/// apart, so that features of that line hardly see them.
pub(crate) fn one_line_hides_most(table: &Table) -> bool {
    let step = table.rows().div_ceil(2000).max(1);
    let rows: Vec<usize> = (0..table.rows()).step_by(step).collect();
    let shapes = shapes(table, &rows, 0, 1);
    let scale = pooled(&shapes).scale;
    let hidden = |shape: &&Shape| (shape.highest - shape.lowest) * scale < HIDDEN;
    2 * shapes.iter().filter(hidden).count() > shapes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::MapSpec;
    use crate::normalise::Normaliser;

    /// Rows of these columns, each of as many values.
    fn table_of(columns: &[Vec<f32>]) -> Table {
        let mut table = koan_data::digits::table().select(&vec![0; columns[0].len()]);
        table.inputs = columns.len();
        table.values = (0..table.rows()).flat_map(|r| columns.iter().map(move |c| c[r])).collect();
        table.schema.image = None;
        table
    }

    /// A number of each row.
    fn number_of(rows: &[usize], of: impl Fn(f64) -> f64) -> Vec<f32> {
        rows.iter().map(|&row| of(row as f64) as f32).collect()
    }

    #[test]
    fn gains_tell_numbers_beside_categories() {
        let rows: Vec<usize> = (0..60).collect();
        let category = |which: usize| rows.iter().map(|row| f32::from(row % 6 == which)).collect();
        let number = |of: fn(f64) -> f64| number_of(&rows, of);
        let mut columns: Vec<Vec<f32>> = (0..6).map(category).collect();
        columns.push(number(|row| 20.0 + (row * 0.7).sin() * 9.0));
        // Too far for a byte; a constant; far smaller than the others.
        columns.push(number(|row| 1e6 * row));
        columns.push(number(|_| 7.0));
        columns.push(number(|row| 1e-6 * row));
        let table = table_of(&columns);
        assert!(one_line_hides_most(&table));
        let line = Normaliser { period: 1, axes: gain_per_input(&table, &rows) };
        let scales: Vec<f64> = line.axes.iter().map(|axis| axis.scale).collect();
        assert!(scales[..6].iter().all(|&scale| scale == 2.0), "{scales:?}");
        // Nearly a standard deviation is 1, and no value is beyond 4.
        assert!((0.13..0.16).contains(&scales[6]) && scales[6] * 28.9 <= 4.0, "{scales:?}");
        assert_eq!(scales[7..], [0.0, 0.0, 2.0]);
        let MapSpec::GainPerInput(map, gains) = line.maps(100.0) else { panic!("other maps") };
        assert_eq!(gains[..6], [map.mult(); 6]);
        assert!(gains[6] > 4 && gains[7] == 0, "{gains:?}");

        // Most numbers have heavy tails: all go through their logarithm.
        let tails = |unit: f64| number_of(&rows, |row| unit * (row * 0.31).sin().exp().powi(9));
        let table = table_of(&[tails(1.0), tails(1e3), columns[0].clone(), columns[6].clone()]);
        assert!(gain_per_input(&table, &rows).iter().all(|axis| axis.log && axis.scale > 0.0));

        // Pixels are of one kind.
        let digits = koan_data::digits::table();
        assert!(!one_line_hides_most(&digits));
    }

    #[test]
    fn the_range_with_most_numbers_is_found() {
        assert_eq!(most_within(&[], 10.0), 0.0);
        assert_eq!(most_within(&[0.0, 5.0], 10.0), 5.0);
        assert_eq!(most_within(&[1.0, 2.0, 9.0, 1e4, 2e4], 10.0), 9.0);
        assert_eq!(most_within(&[1.0, 11.0, 12.0, 100.0], 10.0), 100.0);
        // Of equally many the larger.
        assert_eq!(most_within(&[1.0, 2.0, 100.0, 200.0], 10.0), 200.0);
    }
}
