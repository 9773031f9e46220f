//! Whether columns of few whole numbers are better taken as categories: a short search on both
//! tables says so.

use std::time::Duration;

use koan_data::Table;

use super::TuneOptions;
use super::search::{SEARCHING, is_of_limits, search_of};
use crate::Error;
use crate::progress::Progress;

/// Share of a search's time that goes to the search on each of both tables, and its end.
const SHARE: f64 = 0.25;
const MOST: Duration = Duration::from_secs(6);
/// Part of the loss of the table as it is that another form's is below: by chance one of both is
/// better.
const CLEARLY: f64 = 0.95;
/// Inputs up to which categories are tried: with more of them a search finds little in time.
const MOST_INPUTS: usize = 512;

/// What short searches say of columns as categories.
#[derive(Default)]
pub(super) struct Coding {
    /// The columns to take as categories, and the table with them; none where numbers do better,
    /// or where nothing is to be asked.
    pub coded: Option<(Vec<usize>, Table)>,
    /// Time that the searches may take; none where there were none.
    pub time: Duration,
    /// Whether there was not time for all of their plans.
    pub cut: bool,
}

/// Short searches on a table and on another form of it.
pub(super) struct Comparison<'c> {
    options: TuneOptions,
    progress: &'c Progress,
    /// Whether there was not time for all of their plans.
    pub cut: bool,
}

impl<'c> Comparison<'c> {
    /// Searches of a share of the time that a whole one has.
    pub fn new(options: &TuneOptions, progress: &'c Progress) -> Self {
        let time = options.time.mul_f64(SHARE).min(MOST);
        Self { options: TuneOptions { time, ..options.clone() }, progress, cut: false }
    }

    /// Whether models of another form of the table are clearly better.
    pub fn is_better(&mut self, other: &Table, table: &Table) -> Result<bool, Error> {
        Ok(self.value(other)? < CLEARLY * self.value(table)?)
    }

    /// Time that both searches may take.
    pub fn time(&self) -> Duration {
        2 * self.options.time.mul_f64(SEARCHING)
    }

    /// What the best model of a table is compared by.
    fn value(&mut self, table: &Table) -> Result<f64, Error> {
        match search_of(table, &self.options, 1, false, self.progress) {
            Ok(found) => {
                self.cut |= found.cut;
                Ok(found.points.last().map_or(f64::INFINITY, |point| point.value))
            }
            // What no model of one of them fits, one of the other may.
            Err(error) if is_of_limits(&error) => Ok(f64::INFINITY),
            Err(error) => Err(error),
        }
    }
}

/// Asks whether columns of few whole numbers are better taken as categories.
pub(super) fn choose(
    table: &Table,
    options: &TuneOptions,
    progress: &Progress,
) -> Result<Coding, Error> {
    let base = &options.space.base;
    let columns = &table.schema.may_be_categories;
    // Whose place in a row has a meaning is no category.
    let placed = super::space::shape_of(base, table).is_some();
    if columns.is_empty() || placed || !base.categories.is_empty() || !base.groups.is_empty() {
        return Ok(Coding::default());
    }
    let coded = table.with_categories(columns)?;
    if coded.inputs > MOST_INPUTS {
        return Ok(Coding::default());
    }
    progress.phase("trying columns of few whole numbers as categories")?;
    let mut compared = Comparison::new(options, progress);
    let better = compared.is_better(&coded, table)?;
    let (time, cut) = (compared.time(), compared.cut);
    Ok(Coding { coded: better.then(|| (columns.clone(), coded)), time, cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::{Limits, Metric, Space};
    use crate::{FamilyName, TrainOptions, train};
    use koan_data::TableBuilder;

    /// Rows of two columns of seven numbers each, and a class that depends on the numbers as
    /// names, or as amounts.
    fn rows(names: bool) -> Table {
        let of = |row: usize, factor: usize| ((row * factor) % 97 % 7) as i64;
        let a: Vec<i64> = (0..1200).map(|row| of(row, 31)).collect();
        let b: Vec<i64> = (0..1200).map(|row| of(row, 57)).collect();
        let amount = |value: i64, amounts: [i64; 7]| match names {
            true => amounts[value as usize],
            false => value,
        };
        let class = |(&a, &b): (&i64, &i64)| {
            i64::from(amount(a, [3, 0, 6, 1, 5, 2, 4]) + amount(b, [2, 5, 0, 4, 6, 1, 3]) > 6)
        };
        let mut y: Vec<i64> = a.iter().zip(&b).map(class).collect();
        // No model is without fault.
        y.iter_mut().step_by(11).for_each(|class| *class = 1 - *class);
        let table = TableBuilder::new(1200).column("a", &a[..]).column("b", &b[..]);
        table.classes("y", &y[..]).build().unwrap()
    }

    fn options() -> TuneOptions {
        TuneOptions {
            space: Space { base: TrainOptions::default(), families: vec![FamilyName::Linear] },
            limits: Limits::of_flash(160),
            metric: Metric::Error,
            time: Duration::from_secs(1),
            clock: false,
        }
    }

    #[test]
    fn numbers_that_are_names_become_categories() {
        let table = rows(true);
        let found = super::super::tune(&table, Some(&table), &options(), &Progress::none());
        let best = found.unwrap().front.pop().unwrap();
        assert_eq!((&best.point.options.categories[..], best.report.inputs), (&[0, 1][..], 14));
        // The options alone make the model again.
        let again = train(&table, None, &best.point.options, &Progress::none()).unwrap();
        assert_eq!(again.blob, best.blob);
        assert_eq!(again.report.categories, [1, 2]);
        // The table of numbers serves its evaluation.
        assert_eq!(crate::evaluate(&best.blob, &table).unwrap(), best.test);
        assert!(best.test.error < 0.1, "{}", best.test.error);
    }

    #[test]
    fn nothing_is_asked_where_no_column_may_be_one() {
        let mut table = rows(false);
        table.schema.may_be_categories.clear();
        assert!(choose(&table, &options(), &Progress::none()).unwrap().coded.is_none());
    }

    #[test]
    fn amounts_stay_numbers() {
        let chosen = choose(&rows(false), &options(), &Progress::none()).unwrap();
        assert!(chosen.coded.is_none() && !chosen.time.is_zero());
    }
}
