//! Test rows that are training rows too.

use std::collections::HashSet;

use super::table::Table;
use super::warning::DataWarning;

/// Rows of which the values of each input are looked at.
const SAMPLE: usize = 1000;
/// How many times as many different rows there could be as there are, for equal ones to be copies
/// and no chance.
const VARIETY: f64 = 100.0;
/// Part of the test rows that is told.
const SHARE: f64 = 0.1;

/// What to say of test rows whose inputs are those of a training row: of copies on both sides the
/// error is too good. Nothing where inputs have so few values that rows are equal by chance.
#[must_use]
pub fn twins(train: &Table, test: &Table, file: &str) -> Option<DataWarning> {
    if train.inputs != test.inputs || !is_various(train) {
        return None;
    }
    let known: HashSet<u64> = (0..train.rows()).map(|row| hash(train.row(row))).collect();
    let copies = (0..test.rows()).filter(|&row| known.contains(&hash(test.row(row)))).count();
    (copies as f64 >= SHARE * test.rows() as f64 && copies > 1).then(|| DataWarning::Twins {
        file: file.to_owned(),
        rows: test.rows(),
        copies,
    })
}

/// Whether the inputs have values enough for many more rows than there are.
fn is_various(table: &Table) -> bool {
    let step = table.rows().div_ceil(SAMPLE).max(1);
    let bits_of = |input: usize| {
        let values = (0..table.rows()).step_by(step).map(|row| table.row(row)[input].to_bits());
        (values.collect::<HashSet<u32>>().len().max(1) as f64).log2()
    };
    let enough = (VARIETY * table.rows() as f64).log2();
    let mut bits = 0.0;
    (0..table.inputs).any(|input| {
        bits += bits_of(input);
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
        // Of two inputs with few values all rows are somewhere.
        let of_two = |table: &Table| {
            let values = (0..table.rows()).flat_map(|row| table.row(row)[2..4].to_vec()).collect();
            Table { inputs: 2, values, ..table.clone() }
        };
        assert_eq!(twins(&of_two(&train), &of_two(&test), "digits"), None);
    }
}
