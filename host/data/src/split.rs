//! Seeded splits of a table's rows into training and test rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use wyhash::final3::wyrng;

use super::error::DataError;
use super::table::{Division, Table, Target};

/// Why nothing can be held out of a single recording.
const ONE_GROUP: &str =
    "all are of one group, and at least two are needed: a group, such as a recording, stays whole";

/// How much of the rows goes to which side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitSize {
    /// So many rows to train on, at least 1; the others are for the test.
    TrainRows(usize),
    /// So many rows for the test, fewer than there are.
    TestRows(usize),
    /// This part of the rows for the test, from 0 to below 1, rounded to the
    /// nearest row.
    TestFraction(f64),
}

/// Splits rows at random into those to train on and those to test with, both
/// ascending.
///
/// The same target, size and seed give the same split on every machine. With
/// classes the split is stratified: a class's test rows are its share of the
/// whole rounded down or up, except that every class keeps at least one row to
/// train on where there are enough training rows for that.
///
/// # Errors
///
/// [`DataError::Split`] if nothing would be left to train on, or the size is
/// more than there are rows.
pub fn split(
    target: &Target,
    size: SplitSize,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), DataError> {
    let rows = target.len();
    let test_rows = test_rows(rows, size).map_err(|problem| DataError::Split { rows, problem })?;
    let mut strata: Vec<Vec<usize>> = Vec::new();
    match target {
        Target::Values(_) => strata.push((0..rows).collect()),
        Target::Classes { labels } => {
            for (row, &label) in labels.iter().enumerate() {
                let class = label as usize;
                if class >= strata.len() {
                    strata.resize(class + 1, Vec::new());
                }
                strata[class].push(row);
            }
        }
    }
    let sizes: Vec<usize> = strata.iter().map(Vec::len).collect();
    let (mut train, mut test) = (Vec::new(), Vec::new());
    let mut state = seed;
    for (stratum, count) in strata.iter_mut().zip(apportion(&sizes, test_rows)) {
        shuffle(stratum, &mut state);
        test.extend_from_slice(&stratum[..count]);
        train.extend_from_slice(&stratum[count..]);
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok((train, test))
}

/// Splits the rows of a table as [`split`] does, and keeps the rows of a group on
/// the same side: then the size is met as nearly as whole groups can, and classes
/// are stratified by the class that most rows of a group have.
///
/// # Errors
///
/// As [`split`], and if there are fewer than two groups.
pub fn split_table(
    table: &Table,
    size: SplitSize,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), DataError> {
    let Division::Groups(groups) = &table.division else {
        return split(&table.target, size, seed);
    };
    let rows = table.rows();
    let failed = |problem: String| DataError::Split { rows, problem };
    let wanted = test_rows(rows, size).map_err(failed)?;
    if wanted == 0 {
        return Ok(((0..rows).collect(), Vec::new()));
    }
    let strata = strata_of_groups(&table.target, groups, seed);
    let count: usize = strata.iter().map(Vec::len).sum();
    if count < 2 {
        return Err(failed(ONE_GROUP.into()));
    }
    let mut test = HashSet::new();
    let mut smallest: Option<(usize, u32)> = None;
    for stratum in &strata {
        let all: usize = stratum.iter().map(|group| group.1).sum();
        let share = (all as f64 * wanted as f64 / rows as f64).round() as usize;
        let mut taken = 0;
        // A stratum keeps a group to train on.
        for &(group, rows) in &stratum[..stratum.len() - 1] {
            if smallest.is_none_or(|(least, _)| rows < least) {
                smallest = Some((rows, group));
            }
            // While that comes nearer to the share than stopping.
            if 2 * taken + rows <= 2 * share {
                taken += rows;
                test.insert(group);
            }
        }
    }
    if test.is_empty() {
        // Better a test of one group than none; with one group of each class the
        // first of them.
        test.insert(smallest.map_or(strata[0][0].0, |(_, group)| group));
    }
    Ok((0..rows).partition(|&row| !test.contains(&groups[row])))
}

/// Divides the rows of a table into so many parts of about the same size for
/// cross-validation: the parts of all rows, from 0. Stratified, and the rows of
/// a group are in the same part.
///
/// # Errors
///
/// [`DataError::Split`] if there are fewer rows or groups than parts.
pub fn folds(table: &Table, count: usize, seed: u64) -> Result<Vec<usize>, DataError> {
    let rows = table.rows();
    let failed = |problem: String| Err(DataError::Split { rows, problem });
    let own: Vec<u32>;
    let groups = match &table.division {
        Division::Groups(groups) => groups,
        // Every row is a group of its own.
        _ => {
            own = (0..rows as u32).collect();
            &own
        }
    };
    let strata = strata_of_groups(&table.target, groups, seed);
    let there: usize = strata.iter().map(Vec::len).sum();
    if there < 2 && matches!(table.division, Division::Groups(_)) {
        return failed(ONE_GROUP.into());
    }
    if count < 2 || there < count {
        let what = if matches!(table.division, Division::Groups(_)) { "groups" } else { "rows" };
        let parts = if count == 1 { "part" } else { "parts" };
        return failed(format!("{there} {what} for {count} {parts}; there must be 2 to {there}"));
    }
    let mut sizes = vec![0usize; count];
    let mut part_of = HashMap::new();
    for stratum in &strata {
        let mut own = vec![0usize; count];
        for &(group, rows) in stratum {
            // The part with the fewest rows of the stratum, then the fewest at all.
            let part = (0..count).min_by_key(|&part| (own[part], sizes[part])).unwrap_or(0);
            own[part] += rows;
            sizes[part] += rows;
            part_of.insert(group, part);
        }
    }
    if sizes.contains(&0) {
        return failed(format!("some of {count} parts would be empty"));
    }
    Ok(groups.iter().map(|group| part_of[group]).collect())
}

/// Groups with their numbers of rows, in random order, by the class that most of
/// their rows have; in one stratum where there are no classes.
fn strata_of_groups(target: &Target, groups: &[u32], seed: u64) -> Vec<Vec<(u32, usize)>> {
    let mut members: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (row, &group) in groups.iter().enumerate() {
        let class = match target {
            Target::Values(_) => 0,
            Target::Classes { labels } => labels[row],
        };
        *members.entry(group).or_default().entry(class).or_default() += 1;
    }
    let mut strata: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
    for (group, classes) in members {
        let rows = classes.values().sum();
        let most = classes.values().max().copied();
        let class = classes.into_iter().find(|(_, count)| Some(*count) == most);
        strata.entry(class.map_or(0, |(class, _)| class)).or_default().push((group, rows));
    }
    let mut state = seed;
    let mut strata: Vec<_> = strata.into_values().collect();
    strata.iter_mut().for_each(|stratum| shuffle(stratum, &mut state));
    strata
}

fn test_rows(rows: usize, size: SplitSize) -> Result<usize, String> {
    let test = match size {
        SplitSize::TestRows(test) => test,
        SplitSize::TrainRows(train) if train > rows => {
            return Err(format!("{train} to train on are more than there are"));
        }
        SplitSize::TrainRows(train) => rows - train,
        SplitSize::TestFraction(fraction) if (0.0..1.0).contains(&fraction) => {
            (rows as f64 * fraction).round() as usize
        }
        SplitSize::TestFraction(fraction) => {
            return Err(format!("a test fraction of {fraction} is not within 0 to 1"));
        }
    };
    if test >= rows {
        return Err(format!("{test} test rows leave none to train on"));
    }
    Ok(test)
}

/// Test rows of each stratum: largest remainders, keeping a training row in each.
fn apportion(sizes: &[usize], test_rows: usize) -> Vec<usize> {
    let rows: u128 = sizes.iter().map(|&size| size as u128).sum();
    if rows == 0 {
        return vec![0; sizes.len()];
    }
    let share = |size: usize| size as u128 * test_rows as u128;
    // Quotients are below the sizes, as there are fewer test rows than rows.
    let mut counts: Vec<usize> = sizes.iter().map(|&s| (share(s) / rows) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(share(sizes[i]) % rows));
    let mut left = test_rows - counts.iter().sum::<usize>();
    for keep in [1, 0] {
        loop {
            let before = left;
            for &i in &order {
                if left > 0 && counts[i] + keep < sizes[i] {
                    counts[i] += 1;
                    left -= 1;
                }
            }
            if left == before {
                break;
            }
        }
    }
    counts
}

/// Fisher and Yates.
fn shuffle<T>(rows: &mut [T], state: &mut u64) {
    for last in (1..rows.len()).rev() {
        // The high half of the product: uniform but for a bias of 2^-64 × rows.
        let chosen = (u128::from(wyrng(state)) * (last as u128 + 1)) >> 64;
        rows.swap(last, chosen as usize);
    }
}
