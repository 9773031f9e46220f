//! Seeded splits of a table's rows into training and test rows.

use wyhash::final3::wyrng;

use super::error::DataError;
use super::table::Target;

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
fn shuffle(rows: &mut [usize], state: &mut u64) {
    for last in (1..rows.len()).rev() {
        // The high half of the product: uniform but for a bias of 2^-64 × rows.
        let chosen = (u128::from(wyrng(state)) * (last as u128 + 1)) >> 64;
        rows.swap(last, chosen as usize);
    }
}
