//! Whether the test rows are like the training rows: each column's distribution in both.

use koan_data::Table;

use super::parts::{self, Part};
use crate::page::Page;
use crate::page::plot::Plot;
use crate::page::small::Small;

/// Rows of each table that are compared, at most, evenly spread.
const ROWS: usize = 10_000;
/// Columns that are compared, at most.
const COLUMNS: usize = 1000;
/// Columns that are drawn.
const DRAWN: usize = 12;
/// Bins of a histogram.
const BINS: usize = 20;
/// Chance that any column of the same distribution is called shifted.
const CHANCE: f64 = 0.01;

/// A column in both tables.
pub struct Shift {
    /// The column.
    pub name: String,
    /// The largest difference of the shares of rows up to some value (Kolmogorov-Smirnov).
    pub distance: f64,
    /// Shares of training and of test rows by bin.
    bins: [Vec<f64>; 2],
    /// From where to where the bins go, in words.
    range: String,
}

/// How the columns of two tables differ.
pub struct Drift {
    /// The largest first.
    pub shifts: Vec<Shift>,
    /// A distance that chance alone hardly reaches.
    pub limit: f64,
}

impl Drift {
    /// Columns that differ by more than chance.
    pub fn shifted(&self) -> usize {
        self.shifts.iter().filter(|shift| shift.distance > self.limit).count()
    }
}

/// Compares the columns of two tables; none if there are too many or no rows.
pub fn measure(train: &Table, test: &Table) -> Option<Drift> {
    let parts = parts::columns(train);
    if parts.len() > COLUMNS || train.rows() == 0 || test.rows() == 0 {
        return None;
    }
    let mut shifts: Vec<Shift> =
        parts.iter().map(|part| shift(part, [values(part, train), values(part, test)])).collect();
    shifts.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    let (n, m) = (train.rows().min(ROWS) as f64, test.rows().min(ROWS) as f64);
    // Of all columns together: the bound of Smirnov, divided by their number.
    let each = (parts.len() as f64 * 2.0 / CHANCE).ln() / 2.0;
    let limit = (each * (n + m) / (n * m)).sqrt();
    Some(Drift { shifts, limit })
}

/// The column's values in some rows, ascending; of a text the numbers of its values.
fn values(part: &Part, table: &Table) -> Vec<f64> {
    let count = table.rows().min(ROWS);
    let value = |row: &[f32]| match (part.values.is_empty(), part.inputs.first()) {
        (true, Some(&input)) => f64::from(row[input]),
        // One more than the last is what is none of the values.
        _ => part.inputs.iter().position(|&i| row[i] > 0.5).unwrap_or(part.inputs.len()) as f64,
    };
    let mut values: Vec<f64> =
        (0..count).map(|i| value(table.row(i * table.rows() / count))).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn shift(part: &Part, both: [Vec<f64>; 2]) -> Shift {
    let [train, test] = &both;
    let distance = distance(train, test);
    let mut all: Vec<f64> = both.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let mut distinct = all.clone();
    distinct.dedup();
    let (edges, range): (Vec<f64>, String) = if !part.values.is_empty() {
        let some: Vec<&str> = part.values.iter().take(3).map(String::as_str).collect();
        let more = if part.values.len() > 3 { ", …" } else { "" };
        (distinct, format!("{}{more}", some.join(", ")))
    } else if distinct.len() <= BINS {
        let ends = (distinct[0], distinct[distinct.len() - 1]);
        let range = format!(
            "{} values from {} to {}",
            distinct.len(),
            Plot::label(ends.0),
            Plot::label(ends.1)
        );
        (distinct, range)
    } else {
        // The few far out would leave one bar of all the others.
        let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
        let (low, high) =
            if at(0.99) > at(0.01) { (at(0.01), at(0.99)) } else { (all[0], at(1.0)) };
        let edges = (0..BINS).map(|bin| low + (high - low) * bin as f64 / BINS as f64).collect();
        (edges, format!("{} to {}", Plot::label(low), Plot::label(high)))
    };
    let bins = both.map(|values| {
        let mut counts = vec![0.0; edges.len()];
        for value in &values {
            let bin = edges.partition_point(|edge| edge <= value).max(1) - 1;
            counts[bin] += 1.0 / values.len() as f64;
        }
        counts
    });
    Shift { name: part.name.clone(), distance, bins, range }
}

/// The distance of Kolmogorov and Smirnov of two samples, both ascending.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        let apart = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        largest = largest.max(apart.abs());
    }
    largest
}

/// Draws the columns that differ most.
pub fn section(page: &mut Page, drift: Option<&Drift>) {
    let Some(drift) = drift else { return };
    page.subheading("Training rows against test rows");
    let words = match drift.shifted() {
        0 => "No column differs by more than chance.".to_owned(),
        1 => "One column differs by more than chance.".to_owned(),
        count => format!("{count} columns differ by more than chance."),
    };
    page.text(&format!(
        "{words} A shift is the largest difference between the shares of training and of test rows \
         up to some value: 0 if both are spread alike, 1 if they have no value in common. Chance \
         hardly reaches {:.3} here.",
        drift.limit
    ));
    let pictures: Vec<Small> = drift
        .shifts
        .iter()
        .take(DRAWN)
        .map(|shift| {
            let [train, test] = &shift.bins;
            let beyond = if shift.distance > drift.limit { ", more than chance" } else { "" };
            Small::histograms(train, test)
                .with(&shift.name, &format!("shift {:.3}{beyond}; {}", shift.distance, shift.range))
        })
        .collect();
    let left = drift.shifts.len() - pictures.len();
    let more = if left > 0 { format!(" {left} more differ less.") } else { String::new() };
    page.small(
        &format!("Shares of training rows (blue, filled) and of test rows (orange line), the largest shift first.{more}"),
        &pictures,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::TableBuilder;

    #[test]
    fn distances_are_those_of_the_definition() {
        assert_eq!(distance(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(distance(&[1.0, 1.0, 2.0], &[1.0, 1.0, 2.0]), 0.0);
        assert_eq!(distance(&[0.0, 0.0, 1.0, 1.0], &[0.0, 1.0, 1.0, 1.0]), 0.25);
    }

    #[test]
    fn what_has_moved_comes_first() {
        let table = |from: f32| {
            let same: Vec<f32> = (0..200).map(|i| (i * 37 % 200) as f32).collect();
            let moved: Vec<f32> = same.iter().map(|v| v + from).collect();
            let y = vec![0.0f32; 200];
            TableBuilder::new(200)
                .column("same", &same[..])
                .column("moved", &moved[..])
                .values("y", &y[..])
                .build()
                .unwrap()
        };
        let drift = measure(&table(0.0), &table(80.0)).unwrap();
        assert_eq!((drift.shifts[0].name.as_str(), drift.shifted()), ("moved", 1));
        assert!((drift.shifts[0].distance - 0.4).abs() < 1e-9);
        for shift in &drift.shifts {
            assert!(shift.bins.iter().all(|bins| (bins.iter().sum::<f64>() - 1.0).abs() < 1e-9));
        }
        assert_eq!(measure(&table(0.0), &table(0.0)).unwrap().shifted(), 0);
    }
}
