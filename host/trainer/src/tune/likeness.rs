//! What the columns of a table may be: pixels of an image, or the values of a series, are like
//! their neighbours. Names have no part in it.

use koan_data::{Shape, Table};

/// Rows that are looked at.
const ROWS: usize = 1000;
/// Sides of a square from which rows may be images, and columns from which a series.
const LEAST_SIDE: usize = 5;
const LEAST_LENGTH: usize = 24;
/// Mean correlation of neighbours from which columns may be in order.
const ALIKE: f64 = 0.3;
/// Share of the likeness of neighbours from which that of lines' ends and the next ones' starts
/// makes a square a series.
const SERIES: f64 = 0.8;
/// It must be so many times that of columns anywhere.
const CLOSER: f64 = 1.5;
/// Or what it lacks to 1 this share of what that of columns anywhere lacks.
const LEFT: f64 = 0.5;

/// The shape of rows whose neighbouring columns are alike: a square image where those of the
/// next line are as well, or a series; none where the order of columns says nothing.
#[must_use]
pub fn guess(table: &Table) -> Option<Shape> {
    let inputs = table.inputs;
    let side = inputs.isqrt();
    let square = side >= LEAST_SIDE && side * side == inputs;
    if !square && inputs < LEAST_LENGTH {
        return None;
    }
    let columns = standardised(table);
    let mean = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        let (mut sum, mut count) = (0.0, 0.0f64);
        for (a, b) in pairs {
            // Constant columns say nothing.
            if let (Some(a), Some(b)) = (&columns[a], &columns[b]) {
                sum += a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    };
    // A stride that is prime to most widths: columns far from each other.
    let anywhere = mean(&mut (0..inputs).map(|i| (i, (i * 37 + inputs / 2 + 3) % inputs))).abs();
    // Of rows whose columns are all alike what is left counts.
    let closer =
        |likeness: f64| likeness >= CLOSER * anywhere || 1.0 - likeness <= LEFT * (1.0 - anywhere);
    let like = |likeness: f64| likeness >= ALIKE && closer(likeness);
    let across =
        mean(&mut (0..inputs - 1).filter(|i| !square || (i + 1) % side > 0).map(|i| (i, i + 1)));
    if !like(across) {
        return None;
    }
    // The end of a line of an image is no neighbour of the next one's start, of a series it is.
    let around =
        mean(&mut (0..inputs - 1).filter(|i| square && (i + 1) % side == 0).map(|i| (i, i + 1)));
    let square = square && around < SERIES * across;
    let down = if square { mean(&mut (0..inputs - side).map(|i| (i, i + side))) } else { 0.0 };
    if square && like(down) {
        return Some(Shape { height: side, width: side, channels: 1 });
    }
    (inputs >= LEAST_LENGTH).then_some(Shape { height: 1, width: inputs, channels: 1 })
}

/// The columns of some rows with mean 0 and norm 1; none for constant ones.
fn standardised(table: &Table) -> Vec<Option<Vec<f64>>> {
    let rows = table.rows().min(ROWS);
    let row = |i: usize| table.row(i * table.rows() / rows);
    (0..table.inputs)
        .map(|input| {
            let mut values: Vec<f64> = (0..rows).map(|i| f64::from(row(i)[input])).collect();
            let mean = values.iter().sum::<f64>() / rows as f64;
            values.iter_mut().for_each(|value| *value -= mean);
            let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
            values.iter_mut().for_each(|value| *value /= norm);
            (norm > 0.0 && norm.is_finite()).then_some(values)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::{TableBuilder, digits};

    #[test]
    fn images_are_told_from_columns_in_no_order() {
        let digits = digits::table();
        let square = Shape { height: 8, width: 8, channels: 1 };
        assert_eq!(guess(&digits), Some(square));
        let shuffled: Vec<f32> = (0..digits.rows())
            .flat_map(|row| (0..64).map(move |i| (row, (i * 29 + 11) % 64)))
            .map(|(row, input)| digits.row(row)[input])
            .collect();
        let y = vec![0.0f32; digits.rows()];
        let table = TableBuilder::new(digits.rows())
            .matrix(64, &shuffled[..])
            .values("y", &y[..])
            .build()
            .unwrap();
        assert_eq!(guess(&table), None);
    }

    #[test]
    fn smooth_rows_are_series() {
        let waves: Vec<f32> = (0..300 * 40)
            .map(|i| ((i % 40) as f32 * 0.3 + (i / 40 * 17 % 11) as f32).sin())
            .collect();
        let y = vec![0.0f32; 600];
        let of = |columns: usize| {
            let rows = waves.len() / columns;
            let table = TableBuilder::new(rows).matrix(columns, &waves[..]);
            guess(&table.values("y", &y[..rows]).build().unwrap())
        };
        assert_eq!(of(40), Some(Shape { height: 1, width: 40, channels: 1 }));
        assert_eq!(of(20), None, "too short to say");
    }
}
