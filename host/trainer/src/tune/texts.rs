//! Whether columns of many different texts are better left out: a short search on both tables says
//! so. Each text is an input and takes bytes, and names tell few rows apart.

use std::borrow::Cow;
use std::time::Duration;

use koan_data::{ColumnKind, Table};

use super::TuneOptions;
use super::categories::Comparison;
use crate::Error;
use crate::progress::Progress;

/// Different texts of a column that are many.
const MANY: usize = 20;

/// What short searches say of columns of many texts.
#[derive(Default)]
pub(super) struct Kept {
    /// The table without the columns that are left out; none where all stay.
    pub table: Option<Table>,
    /// Time that the searches may take; none where there were none.
    pub time: Duration,
    /// Whether there was not time for all of their plans.
    pub cut: bool,
}

impl Kept {
    /// Tables to train and to test on, without what is left out.
    pub fn of<'t>(
        self,
        train: &'t Table,
        test: Option<&'t Table>,
    ) -> (Cow<'t, Table>, Option<Cow<'t, Table>>) {
        match self.table {
            None => (Cow::Borrowed(train), test.map(Cow::Borrowed)),
            Some(less) => {
                let test = test.map(|test| Cow::Owned(test.with_categories_of(&less.schema)));
                (Cow::Owned(less), test)
            }
        }
    }
}

/// Asks whether columns of many texts are better left out.
pub(super) fn choose(
    table: &Table,
    options: &TuneOptions,
    progress: &Progress,
) -> Result<Kept, Error> {
    let base = &options.space.base;
    let columns = table.schema.columns.iter().enumerate();
    let many: Vec<usize> = columns
        .filter(|(_, column)| match &column.kind {
            ColumnKind::Text { values } => values.len() >= MANY,
            _ => false,
        })
        .map(|(index, _)| index)
        .collect();
    // What has a place in an image or a window cannot be left out.
    let placed = super::space::shape_of(base, table).is_some();
    if many.is_empty() || placed || !base.groups.is_empty() {
        return Ok(Kept::default());
    }
    let without = table.without_columns(&many);
    if without.inputs == 0 {
        return Ok(Kept::default());
    }
    progress.phase("trying models without columns of many texts")?;
    let mut compared = Comparison::new(options, progress);
    let better = compared.is_better(&without, table)?;
    let (time, cut) = (compared.time(), compared.cut);
    Ok(Kept { table: better.then_some(without), time, cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::{Limits, Metric, Space, train_best};
    use crate::{FamilyName, TrainOptions, evaluate};
    use koan_data::TableBuilder;

    /// Rows of a number that tells most classes, and of a text, one of 40, that tells them or
    /// nothing.
    fn rows(tells: bool) -> Table {
        let number = |row: usize| (row * 31 % 97) as f64;
        let text = |row: usize| row * 57 % 101 % 40;
        let class = |row: usize| match tells {
            true => i64::from(text(row) % 2 == 0),
            false => i64::from(number(row) > 40.0),
        };
        let numbers: Vec<f64> = (0..600).map(number).collect();
        let texts: Vec<String> = (0..600).map(|row| format!("ship {}", text(row))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let classes: Vec<i64> = (0..600).map(class).collect();
        let table = TableBuilder::new(600).column("ship", &texts[..]).column("n", &numbers[..]);
        table.classes("y", &classes[..]).build().unwrap()
    }

    fn trained(table: &Table) -> crate::Trained {
        let families = vec![FamilyName::Stump, FamilyName::Linear];
        let options = TuneOptions {
            space: Space { base: TrainOptions::default(), families },
            limits: Limits::of_flash(300),
            metric: Metric::Error,
            time: Duration::from_secs(2),
            clock: false,
        };
        let found = train_best(table, Some(table), &options, &Progress::none());
        found.unwrap().0
    }

    #[test]
    fn texts_that_tell_nothing_are_left_out() {
        let table = rows(false);
        let trained = trained(&table);
        assert_eq!(trained.report.inputs, 1);
        let told = "column 1 (`ship`) is left out: its 40 different texts";
        assert!(trained.report.warnings.iter().any(|warning| warning.starts_with(told)));
        // The whole table serves the model's evaluation.
        assert_eq!(evaluate(&trained.blob, &table).unwrap().error, trained.report.error);
        assert!(trained.report.error < 0.05, "{}", trained.report.error);
    }

    #[test]
    fn texts_that_tell_classes_stay() {
        let trained = trained(&rows(true));
        assert_eq!(trained.report.inputs, 41);
        assert!(trained.report.warnings.iter().all(|warning| !warning.contains("left out")));
        assert!(trained.report.error < 0.05, "{}", trained.report.error);
    }
}
