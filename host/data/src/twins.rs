//! Test rows that are training rows too.

use std::collections::HashSet;
use std::ops::Range;

use super::schema::Column;
use super::table::{Table, Target};
use super::warning::DataWarning;

/// Rows of which the values of each input are looked at.
const SAMPLE: usize = 1000;
/// How many times as many different rows there could be as there are, for equal ones to be copies
/// and no chance.
const VARIETY: f64 = 100.0;
/// Part of the test rows that is told.
const SHARE: f64 = 0.1;

/// Part of the rows with the inputs of others that have the target of one of them, too, at least:
/// of what was measured again targets differ.
const AGREE: f64 = 0.9;

/// What to say of test rows whose inputs are those of a training row: of copies on both sides the
/// error is too good. Nothing where inputs have so few values that rows are equal by chance, or
/// where such rows have other targets.
#[must_use]
pub fn twins(train: &Table, test: &Table, file: &str) -> Option<DataWarning> {
    if train.inputs != test.inputs || !is_various(train) {
        return None;
    }
    let (mut known, mut labelled) = (HashSet::new(), HashSet::new());
    for row in 0..train.rows() {
        let inputs = hash(train.row(row));
        known.insert(inputs);
        labelled.insert(with_target(inputs, train, row));
    }
    let (mut copies, mut agree) = (0, 0);
    for row in 0..test.rows() {
        let inputs = hash(test.row(row));
        if known.contains(&inputs) {
            copies += 1;
            agree += usize::from(labelled.contains(&with_target(inputs, test, row)));
        }
    }
    let many = copies as f64 >= SHARE * test.rows() as f64 && copies > 1;
    (many && agree as f64 >= AGREE * copies as f64).then(|| DataWarning::Twins {
        file: file.to_owned(),
        rows: test.rows(),
        copies,
    })
}

/// The hash of a row's inputs, and its target in it.
fn with_target(inputs: u64, table: &Table, row: usize) -> u64 {
    let target = match &table.target {
        Target::Classes { labels } => labels[row],
        Target::Values(values) => values[row].to_bits(),
    };
    inputs ^ wyhash::wyhash(&target.to_le_bytes(), 1)
}

/// Whether by chance, if columns had nothing to do with each other, hardly any two rows would be
/// equal: by the chance that two rows have the same value in a column.
fn is_various(table: &Table) -> bool {
    let step = table.rows().div_ceil(SAMPLE).max(1);
    let rows = || (0..table.rows()).step_by(step);
    let bits_of = |inputs: Range<usize>| {
        let mut values: Vec<u64> =
            rows().map(|row| hash(&table.row(row)[inputs.clone()])).collect();
        values.sort_unstable();
        let share = |same: &[u64]| (same.len() as f64 / values.len() as f64).powi(2);
        -values.chunk_by(u64::eq).map(share).sum::<f64>().log2()
    };
    let enough = (VARIETY * table.rows() as f64).log2();
    let (mut bits, mut first) = (0.0, 0);
    // Inputs of windows and of formats without columns are looked at one by one.
    let widths: Vec<usize> = table.schema.columns.iter().map(Column::inputs).collect();
    let widths =
        if widths.iter().sum::<usize>() == table.inputs { widths } else { vec![1; table.inputs] };
    widths.into_iter().filter(|&width| width > 0).any(|width| {
        bits += bits_of(first..first + width);
        first += width;
        bits >= enough
    })
}

fn hash(row: &[f32]) -> u64 {
    // Adding zero turns -0 into 0.
    let bytes: Vec<u8> = row.iter().flat_map(|x| (x + 0.0).to_bits().to_le_bytes()).collect();
    wyhash::wyhash(&bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    #[test]
    fn copies_are_told_and_chance_is_not() {
        let all = digits::table();
        let (first, second): (Vec<usize>, Vec<usize>) =
            (0..all.rows()).partition(|row| row % 2 == 0);
        let (train, test) = (all.select(&first), all.select(&second));
        assert_eq!(twins(&train, &test, "digits"), None);
        let mixed: Vec<usize> = second.iter().map(|&row| row - row % 8 / 5).collect();
        let told = twins(&train, &all.select(&mixed), "digits").unwrap().to_string();
        assert!(told.starts_with("digits: ") && told.contains("test rows"), "{told}");
        // What was measured again has other targets now and then.
        let mut again = all.select(&mixed);
        let Target::Classes { labels } = &mut again.target else { unreachable!() };
        labels.iter_mut().skip(2).step_by(4).for_each(|label| *label = (*label + 1) % 10);
        assert_eq!(twins(&train, &again, "digits"), None);
        // Of two inputs with few values all rows are somewhere.
        let of_two = |table: &Table| {
            let values = (0..table.rows()).flat_map(|row| table.row(row)[2..4].to_vec()).collect();
            Table { inputs: 2, values, ..table.clone() }
        };
        assert_eq!(twins(&of_two(&train), &of_two(&test), "digits"), None);
    }
}
