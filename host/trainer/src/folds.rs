//! Rows to fit on and rows to judge by.

use crate::Error;
use koan_data::{Division, Part, Table, folds};

/// Parts of the rows, some of which are held out in turn.
#[derive(Clone, Debug)]
pub struct Folds {
    /// The rows of each part.
    pub parts: Vec<Vec<usize>>,
    /// The parts that are held out.
    pub held: Vec<usize>,
}

/// Tables below this many rows are judged in five folds, others in three.
pub const SMALL_ROWS: usize = 3000;

impl Folds {
    /// Folds of a table: stratified, whole groups; or the parts to train and to
    /// validate on that a data set has.
    ///
    /// # Errors
    /// Fewer rows or groups than two folds need.
    pub fn new(table: &Table, seed: u64) -> Result<Self, Error> {
        if let Division::Parts(parts) = &table.division {
            let of = |validation: bool| {
                (0..table.rows())
                    .filter(|&row| (parts[row] == Part::Validation) == validation)
                    .collect::<Vec<usize>>()
            };
            let (train, validation) = (of(false), of(true));
            if !train.is_empty() && !validation.is_empty() {
                return Ok(Self { parts: vec![train, validation], held: vec![1] });
            }
        }
        let wanted = if table.rows() < SMALL_ROWS { 5 } else { 3 };
        let groups = match &table.division {
            Division::Groups(groups) => {
                let mut known = groups.clone();
                known.sort_unstable();
                known.dedup();
                known.len()
            }
            _ => table.rows(),
        };
        let count = wanted.min(groups).max(2);
        let numbers = folds(table, count, seed)?;
        let mut parts = vec![Vec::new(); count];
        for (row, &part) in numbers.iter().enumerate() {
            parts[part].push(row);
        }
        // Few groups of one class may leave a part empty.
        parts.retain(|part| !part.is_empty());
        let held = (0..parts.len()).collect();
        Ok(Self { parts, held })
    }

    /// Two halves of so many rows, each in a run.
    #[must_use]
    pub fn runs(rows: usize) -> Self {
        let half = rows / 2;
        Self { parts: vec![(0..half).collect(), (half..rows).collect()], held: vec![0, 1] }
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// The held-out rows, part by part.
    #[must_use]
    pub fn held_rows(&self) -> Vec<usize> {
        self.held.iter().flat_map(|&part| self.parts[part].iter().copied()).collect()
    }

    /// The rows that are fitted on when part number `held` is not.
    #[must_use]
    pub fn fit_rows(&self, held: usize) -> Vec<usize> {
        let others = self.parts.iter().enumerate().filter(|(i, _)| *i != held);
        let mut rows: Vec<usize> = others.flat_map(|(_, part)| part.iter().copied()).collect();
        rows.sort_unstable();
        rows
    }

    /// Rows to fit on and rows to judge by, for each part that is held out.
    #[must_use]
    pub fn splits(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        self.held.iter().map(|&held| (self.fit_rows(held), self.parts[held].clone())).collect()
    }

    /// At most about `most` rows, evenly spread over each part.
    #[must_use]
    pub fn sample(&self, most: usize) -> Self {
        let rows = self.rows();
        if most >= rows {
            return self.clone();
        }
        let thinned = |part: &Vec<usize>| {
            let count = (part.len() * most).div_ceil(rows);
            (0..count).map(|i| part[i * part.len() / count]).collect()
        };
        Self { parts: self.parts.iter().map(thinned).collect(), held: self.held.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::digits;

    #[test]
    fn every_row_is_held_out_once_and_groups_are_whole() {
        let mut table = digits::table();
        let groups: Vec<u32> = (0..table.rows()).map(|row| row as u32 / 60).collect();
        for division in [Division::Free, Division::Groups(groups.clone())] {
            table.division = division.clone();
            let folds = Folds::new(&table, 1).unwrap();
            let mut rows = folds.held_rows();
            rows.sort_unstable();
            assert_eq!(rows, (0..table.rows()).collect::<Vec<_>>());
            for &held in &folds.held {
                let fit = folds.fit_rows(held);
                assert_eq!(fit.len() + folds.parts[held].len(), table.rows());
                if division != Division::Free {
                    let inside = |row: &usize| groups[*row];
                    let ours: Vec<u32> = folds.parts[held].iter().map(inside).collect();
                    assert!(fit.iter().all(|row| !ours.contains(&groups[*row])));
                }
            }
        }
    }

    #[test]
    fn a_part_to_validate_on_judges_alone() {
        let mut table = digits::table();
        let part = |row: usize| if row.is_multiple_of(4) { Part::Validation } else { Part::Train };
        table.division = Division::Parts((0..table.rows()).map(part).collect());
        let folds = Folds::new(&table, 1).unwrap();
        assert!(folds.held_rows().iter().all(|row| row % 4 == 0));
        let some = folds.sample(400);
        assert!((395..=405).contains(&some.rows()));
        assert!(some.held_rows().iter().all(|row| row % 4 == 0));
    }
}
