//! Rows to fit on and rows to judge by.

use std::borrow::Cow;

use koan::generator::Stream;

use crate::Error;
use crate::problem::Problem;
use koan_data::{Division, Part, SplitSize, Table, Target, folds, split, split_table};

/// Parts of the rows, some of which are held out in turn.
#[derive(Clone, Debug)]
pub struct Folds {
    /// The rows of each part, ascending.
    pub parts: Vec<Vec<usize>>,
    /// The parts that are held out.
    pub held: Vec<usize>,
}

/// Tables below this many rows are judged in five folds, others in three.
pub const SMALL_ROWS: usize = 3000;

/// Runs that the rows of a class are divided into which one group alone has.
const RUNS: usize = 10;

/// What makes the seed of rows that are held out of training another one than that of the
/// rows to test on.
pub(crate) const HELD: u64 = 0x5eed;
/// The same for rows that are drawn to judge by.
const DRAWN: u64 = 0xd7a3;

impl Folds {
    /// Folds of a table: stratified, whole groups but for classes of which one group alone has
    /// rows; or the parts to train and to validate on that a data set has.
    ///
    /// # Errors
    /// Fewer rows or groups than two folds need.
    pub fn new(table: &Table, seed: u64) -> Result<Self, Error> {
        if let Some((train, validation)) = given(table) {
            return Ok(Self { parts: vec![train, validation], held: vec![1] });
        }
        let wanted = if table.rows() < SMALL_ROWS { 5 } else { 3 };
        let groups = groups(table).unwrap_or(table.rows());
        Self::of(table, wanted.min(groups).max(2), seed)
    }

    /// So many parts of about the same size, each held out once: stratified, groups as in
    /// [`Self::new`].
    ///
    /// # Errors
    /// Fewer rows or groups than parts.
    pub fn of(table: &Table, count: usize, seed: u64) -> Result<Self, Error> {
        let mut parts = vec![Vec::new(); count];
        for (row, part) in folds(&judgeable(table), count, seed)?.into_iter().enumerate() {
            parts[part].push(row);
        }
        Ok(Self { parts, held: (0..count).collect() })
    }

    /// So many parts of as many rows, each a run.
    #[must_use]
    pub fn runs(rows: usize, count: usize) -> Self {
        let run = |part: usize| (part * rows / count..(part + 1) * rows / count).collect();
        Self { parts: (0..count).map(run).collect(), held: (0..count).collect() }
    }

    /// What the parts have of some rows.
    #[must_use]
    pub fn within(&self, rows: &[usize]) -> Self {
        let mut inside = vec![false; self.parts.iter().flatten().max().map_or(0, |most| most + 1)];
        for &row in rows {
            if let Some(place) = inside.get_mut(row) {
                *place = true;
            }
        }
        let of = |part: &Vec<usize>| part.iter().copied().filter(|&row| inside[row]).collect();
        Self { parts: self.parts.iter().map(of).collect(), held: self.held.clone() }
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

    /// Holds out as few of the parts as have so many `rows`; whether all of them have as many.
    pub fn hold(&mut self, rows: usize) -> bool {
        let mut sum = 0;
        let parts = &self.parts;
        let fewer = |&part: &usize| {
            let more = sum < rows;
            sum += if more { parts[part].len() } else { 0 };
            more
        };
        self.held = self.held.iter().copied().take_while(fewer).collect();
        sum >= rows
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

/// The number of groups of a table whose rows come in groups.
pub(crate) fn groups(table: &Table) -> Option<usize> {
    let Division::Groups(groups) = &table.division else { return None };
    let mut known = groups.clone();
    known.sort_unstable();
    known.dedup();
    Some(known.len())
}

/// The same targets and groups, but the rows of a class that one group alone has are in runs of
/// their own, in the order of the rows: held out as a whole, nothing could be said of a class that
/// no row to fit on has.
fn judgeable(table: &Table) -> Cow<'_, Table> {
    let (Target::Classes { labels }, Division::Groups(groups)) = (&table.target, &table.division)
    else {
        return Cow::Borrowed(table);
    };
    let mut classes = vec![(None, 0, false); table.schema.classes.len()];
    for (&label, &group) in labels.iter().zip(groups) {
        let (first, rows, shared) = &mut classes[label as usize];
        *shared |= *first.get_or_insert(group) != group;
        *rows += 1;
    }
    let one_group = groups.iter().all(|group| *group == groups[0]);
    if one_group || classes.iter().all(|&(_, rows, shared)| shared || rows == 0) {
        return Cow::Borrowed(table);
    }
    let next = groups.iter().max().map_or(0, |most| most + 1);
    let mut passed = vec![0; classes.len()];
    let of_row = |(&label, &group): (&u32, &u32)| {
        let class = label as usize;
        let (_, rows, shared) = classes[class];
        let run = passed[class] * RUNS / rows;
        passed[class] += 1;
        if shared { group } else { next + (class * RUNS + run) as u32 }
    };
    let groups = labels.iter().zip(groups).map(of_row).collect();
    Cow::Owned(Table {
        inputs: table.inputs,
        values: Vec::new(),
        target: table.target.clone(),
        division: Division::Groups(groups),
        schema: table.schema.clone(),
        weights: None,
    })
}

/// The rows to fit on and those to validate on, where a data set has them.
fn given(table: &Table) -> Option<(Vec<usize>, Vec<usize>)> {
    let Division::Parts(parts) = &table.division else { return None };
    let (held, fit): (Vec<usize>, Vec<usize>) =
        (0..table.rows()).partition(|&row| parts[row] == Part::Validation);
    (!held.is_empty() && !fit.is_empty()).then_some((fit, held))
}

/// Rows to fit on and rows to hold out for λ and calibration: 15 %, at most
/// 10,000; whole groups, or the part that a data set has for it.
pub(crate) fn hold_out(problem: &Problem<'_>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let table = problem.table;
    let rows = table.rows();
    let held = ((rows as f64 * 0.15).ceil() as usize).clamp(1, 10_000).min(rows - 1);
    hold_out_of(table, SplitSize::TestRows(held), seed)
}

/// Rows to fit on and rows to hold out, where these are few in turn: each row is held out
/// once. Of many rows one part says enough.
pub(crate) fn in_turn(problem: &Problem<'_>, seed: u64) -> Vec<(Vec<usize>, Vec<usize>)> {
    let table = problem.table;
    match Folds::new(table, seed ^ HELD) {
        Ok(folds) if table.rows() < SMALL_ROWS => folds.splits(),
        _ => vec![hold_out(problem, seed)],
    }
}

/// Rows to fit on and about so many to hold out; whole groups, or the part that
/// a data set has for it.
pub(crate) fn hold_out_of(table: &Table, size: SplitSize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let rows = table.rows();
    let seed = seed ^ HELD;
    let free =
        || split(&table.target, size, seed).unwrap_or_else(|_| ((0..rows).collect(), Vec::new()));
    match &table.division {
        Division::Free => free(),
        // A single group is cut in two runs.
        Division::Groups(_) => split_table(&judgeable(table), size, seed).unwrap_or_else(|_| {
            let fit = free().0.len();
            ((0..fit).collect(), (fit..rows).collect())
        }),
        Division::Parts(_) => given(table).unwrap_or_else(free),
    }
}

/// So many rows in an order that is drawn.
pub(crate) fn shuffled(rows: usize, draws: Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_cached_key(|&row| draws.draw(row as u64));
    order
}

/// At most so many of so many rows, ascending, drawn: every so many of them would be of one kind
/// where a file repeats some order. Of MNIST's 60,000 training rows every sixth is hard: a model
/// with 2.9 % of all wrong has 4.6 % of those.
#[must_use]
pub fn drawn_rows(rows: usize, most: usize, seed: u64) -> Vec<usize> {
    if rows <= most {
        return (0..rows).collect();
    }
    let mut drawn = shuffled(rows, Stream::new(seed ^ DRAWN, 0));
    drawn.truncate(most);
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::digits;

    #[test]
    fn drawn_rows_are_of_every_kind() {
        assert_eq!(drawn_rows(7, 7, 1), (0..7).collect::<Vec<_>>());
        let rows = drawn_rows(60_000, 10_000, 1);
        assert_eq!(rows.len(), 10_000);
        assert!(rows.is_sorted_by(|a, b| a < b) && rows[9_999] < 60_000);
        for rest in 0..6 {
            let of_kind = rows.iter().filter(|&row| row % 6 == rest).count();
            assert!((1500..1850).contains(&of_kind), "{of_kind}");
        }
        assert_ne!(rows, drawn_rows(60_000, 10_000, 2));
    }

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
    fn classes_of_one_group_are_held_out_in_runs() {
        let mut table = digits::table();
        let Target::Classes { labels } = table.target.clone() else { unreachable!() };
        // Two classes have a recording each, all others are in all of twenty.
        let group = |(row, &label): (usize, &u32)| match label {
            3 => 100,
            7 => 101,
            _ => row as u32 % 20,
        };
        let groups: Vec<u32> = labels.iter().enumerate().map(group).collect();
        table.division = Division::Groups(groups.clone());
        let sides = Folds::new(&table, 1).unwrap().splits();
        let once = hold_out_of(&table, SplitSize::TestRows(270), 1);
        for (fit, held) in sides.iter().chain([&once]) {
            for class in 0..10 {
                let has = |rows: &[usize]| rows.iter().any(|&row| labels[row] == class);
                assert!(has(fit) && has(held), "{class} of {}", held.len());
            }
            let whole = |row: &usize| groups[*row] < 100;
            let ours: Vec<u32> =
                held.iter().filter(|row| whole(row)).map(|&row| groups[row]).collect();
            assert!(fit.iter().all(|row| !whole(row) || !ours.contains(&groups[*row])));
        }
        assert!(matches!(judgeable(&digits::table()), Cow::Borrowed(_)));
        // Of a single group there is nothing to hold out.
        table.division = Division::Groups(vec![7; table.rows()]);
        assert!(Folds::new(&table, 1).is_err());
    }

    #[test]
    fn few_rows_are_held_out_in_turn_many_once() {
        let mut table = digits::table();
        let sides = in_turn(&Problem::new(&table, false), 1);
        let mut held: Vec<usize> = sides.iter().flat_map(|(_, held)| held.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, (0..table.rows()).collect::<Vec<_>>());
        for (fit, held) in &sides {
            assert_eq!(fit.len() + held.len(), table.rows());
        }
        let twice: Vec<usize> = (0..2 * table.rows()).map(|row| row / 2).collect();
        table = table.select(&twice);
        assert_eq!(in_turn(&Problem::new(&table, false), 1).len(), 1);
    }

    #[test]
    fn runs_are_about_the_same_and_parts_are_looked_at_within_rows() {
        let folds = Folds::runs(8, 3);
        assert_eq!(folds.parts, [vec![0, 1], vec![2, 3, 4], vec![5, 6, 7]]);
        let some = folds.within(&[7, 0, 3, 4]);
        assert_eq!(some.parts, [vec![0], vec![3, 4], vec![7]]);
        assert_eq!(some.splits()[1], (vec![0, 7], vec![3, 4]));
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
