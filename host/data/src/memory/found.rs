//! What the columns of a table in parts are: found part by part, on any machine, and merged
//! in any order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Role, TableBuilder, Values, label, missing, wrong};
use crate::error::{ColumnLabel, DataError, IN_MEMORY};
use crate::infer::check_names;
use crate::no_categories::check_categories;
use crate::open::Origin;
use crate::scan::{are_classes, sort_as_numbers};
use crate::schema::{check, width};
use crate::{Column, ColumnKind, Format, GroupBy, MAX_INPUTS, MAX_VALUES, Missing, Schema, Task};

/// What the columns of some rows are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    rows: u64,
    columns: Vec<FoundColumn>,
    /// The column of the groups, from 0.
    group: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum FoundRole {
    Input,
    Target,
    Unused,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FoundColumn {
    name: String,
    role: FoundRole,
    numbers: u64,
    texts: u64,
    missing: u64,
    /// Whether a number is not whole.
    fractions: bool,
    /// Different texts, of the target also numbers, up to one more than the most.
    values: BTreeSet<String>,
}

impl FoundColumn {
    fn add_value(&mut self, value: &str) {
        if self.values.len() <= MAX_VALUES && !self.values.contains(value) {
            self.values.insert(value.to_owned());
        }
    }
}

impl TableBuilder<'_> {
    /// What the columns of these rows are. Whether the target is a class is decided by
    /// [`Found::schema`].
    ///
    /// # Errors
    ///
    /// Lengths that differ, values that are missing or infinite, two targets. The message names
    /// the column, and the row from 1.
    pub fn found(&self) -> Result<Found, DataError> {
        let mut columns = Vec::new();
        for part in &self.columns {
            let (values, role) = match part.role {
                Role::Input(values) => (Some(values), FoundRole::Input),
                Role::Target(values, _) => (Some(values), FoundRole::Target),
                Role::Unused => (None, FoundRole::Unused),
            };
            let step = part.names.len();
            for (first, name) in part.names.iter().enumerate() {
                let label = label(columns.len(), std::slice::from_ref(name));
                let mut column = FoundColumn {
                    name: name.clone(),
                    role,
                    numbers: 0,
                    texts: 0,
                    missing: 0,
                    fractions: false,
                    values: BTreeSet::new(),
                };
                if let Some(values) = values {
                    self.check_length(&label.to_string(), values.len(), step)?;
                    self.look_at(&mut column, values, (first, step), &label)?;
                }
                columns.push(column);
            }
        }
        let targets = columns.iter().filter(|column| column.role == FoundRole::Target);
        if targets.count() != 1 {
            return Err(wrong("one column is the target, no more and no less".into()));
        }
        Ok(Found { rows: self.rows as u64, columns, group: self.group_column })
    }

    /// Adds the values of all rows, `step` apart from `first` on.
    fn look_at(
        &self,
        column: &mut FoundColumn,
        values: Values<'_>,
        (first, step): (usize, usize),
        label: &ColumnLabel,
    ) -> Result<(), DataError> {
        let target = column.role == FoundRole::Target;
        for row in 0..self.rows {
            let at = row * step + first;
            let number = values.number(at);
            let unknown = match values {
                Values::Text(texts) => texts[at].is_empty(),
                _ => number.is_some_and(f64::is_nan),
            };
            if unknown {
                if target || self.missing == Missing::Refuse {
                    return Err(missing(label, row));
                }
                column.missing += 1;
                continue;
            }
            match number {
                Some(number) if !(number as f32).is_finite() => {
                    let row = row + 1;
                    return Err(wrong(format!("row {row}, {label}: {number} is too large")));
                }
                Some(number) => {
                    column.numbers += 1;
                    column.fractions |= number.fract() != 0.0;
                }
                None => column.texts += 1,
            }
            if target || number.is_none() {
                match values {
                    Values::Text(texts) => column.add_value(texts[at]),
                    _ => column.add_value(&values.name(at).1),
                }
            }
        }
        Ok(())
    }
}

impl Found {
    /// Adds what was found of other rows.
    ///
    /// # Errors
    ///
    /// Other columns.
    pub fn merge(&mut self, other: &Self) -> Result<(), DataError> {
        let names = |found: &Self| -> Vec<String> {
            found.columns.iter().map(|column| format!("`{}`", column.name)).collect()
        };
        let same = self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(|(a, b)| a.name == b.name);
        if !same {
            let (here, there) = (names(self).join(", "), names(other).join(", "));
            return Err(wrong(format!("parts have other columns: {here}, and {there}")));
        }
        let roles = self.columns.iter().zip(&other.columns).all(|(a, b)| a.role == b.role);
        if !roles || self.group != other.group {
            return Err(wrong("parts with other targets, weights or groups".into()));
        }
        self.rows += other.rows;
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            mine.numbers += theirs.numbers;
            mine.texts += theirs.texts;
            mine.missing += theirs.missing;
            mine.fractions |= theirs.fractions;
            theirs.values.iter().for_each(|value| mine.add_value(value));
        }
        Ok(())
    }

    /// The schema; the stand-in of a column with missing values is NaN until a table gives its
    /// median ([`impute`](crate::stream::impute)). If `task` is not given, the target is a class
    /// if files would have it so.
    ///
    /// # Errors
    ///
    /// No rows, no inputs, columns of texts and numbers, columns without a value, too many
    /// values, a single class.
    pub fn schema(&self, task: Option<Task>) -> Result<Schema, DataError> {
        if self.rows == 0 {
            return Err(DataError::NoRows { file: IN_MEMORY.into() });
        }
        let (mut columns, mut classes) = (Vec::new(), Vec::new());
        for (index, found) in self.columns.iter().enumerate() {
            let label = ColumnLabel { number: index + 1, name: found.name.clone() };
            if found.texts > 0 && found.numbers > 0 {
                let (texts, numbers) = (found.texts, found.numbers);
                return Err(wrong(format!("{label}: {texts} texts and {numbers} numbers")));
            }
            let kind = match found.role {
                FoundRole::Unused => ColumnKind::Dropped,
                FoundRole::Target => {
                    classes = classes_of(found, &label, task)?;
                    ColumnKind::Target
                }
                FoundRole::Input if found.texts > 0 => {
                    few(found, &label, false)?;
                    let values = found.values.iter().map(String::as_str);
                    check_categories(values, found.texts as usize, IN_MEMORY, &label)?;
                    ColumnKind::Text { values: found.values.iter().cloned().collect() }
                }
                FoundRole::Input if found.numbers == 0 => {
                    return Err(DataError::NoValues { file: IN_MEMORY.into(), column: label });
                }
                FoundRole::Input => {
                    let missing = (found.missing > 0).then_some(f32::NAN);
                    ColumnKind::Numeric { missing }
                }
            };
            columns.push(Column { name: found.name.clone(), kind });
        }
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        check_names(&Origin::several(vec![(0, IN_MEMORY.to_owned())]), &names)?;
        check(&columns).map_err(wrong)?;
        let inputs = width(&columns);
        match inputs {
            0 => return Err(DataError::NoInputs { file: IN_MEMORY.into() }),
            1..=MAX_INPUTS => {}
            _ => return Err(wrong(format!("more than {MAX_INPUTS} inputs"))),
        }
        let mut schema = Schema { columns, inputs, classes, ..Schema::new(Format::Csv) };
        schema.recordings.group = self.group.map(GroupBy::Column);
        Ok(schema)
    }
}

/// Refuses more values than a column may have.
fn few(found: &FoundColumn, label: &ColumnLabel, target: bool) -> Result<(), DataError> {
    if found.values.len() <= MAX_VALUES {
        return Ok(());
    }
    let (file, column) = (IN_MEMORY.to_owned(), label.clone());
    Err(DataError::TooManyValues { file, column, limit: MAX_VALUES, target })
}

/// The classes of a target, none of numbers.
fn classes_of(
    found: &FoundColumn,
    label: &ColumnLabel,
    task: Option<Task>,
) -> Result<Vec<String>, DataError> {
    let classes =
        found.texts > 0 || are_classes(found.values.len(), found.numbers, found.fractions);
    let guessed = if classes { Task::Classification } else { Task::Regression };
    if task.unwrap_or(guessed) == Task::Regression {
        return match found.texts {
            0 => Ok(Vec::new()),
            _ => Err(wrong(format!("{label}: texts are no numbers"))),
        };
    }
    few(found, label, true)?;
    let mut names: Vec<String> = found.values.iter().cloned().collect();
    if found.texts == 0 {
        sort_as_numbers(&mut names);
    }
    match &names[..] {
        [class] => Err(DataError::OneClass { file: IN_MEMORY.into(), class: class.clone() }),
        _ => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder<'a>(x: &'a [f64], job: &'a [&'a str], y: &'a [i64]) -> TableBuilder<'a> {
        TableBuilder::new(x.len())
            .missing(Missing::Impute)
            .column("x", x)
            .column("job", job)
            .classes("y", y)
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        let x: Vec<f64> = (0..40).map(|i| if i == 7 { f64::NAN } else { f64::from(i) }).collect();
        let job: Vec<&str> = (0..40).map(|i| ["cook", "boss", "", "aide"][i * i % 4]).collect();
        let y: Vec<i64> = (0..40).map(|i| i % 3).collect();
        let whole = builder(&x, &job, &y).found().unwrap();
        let cuts = [0, 1, 1, 13, 38, 40];
        let parts: Vec<Found> = cuts
            .windows(2)
            .map(|cut| cut[0]..cut[1])
            .map(|r| builder(&x[r.clone()], &job[r.clone()], &y[r]).found().unwrap())
            .collect();
        for order in [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [3, 4, 1, 2, 0]] {
            let mut merged = parts[order[0]].clone();
            order[1..].iter().for_each(|&part| merged.merge(&parts[part]).unwrap());
            assert_eq!(merged, whole);
        }
        // As the table in memory, until its median is known.
        let schema = whole.schema(None).unwrap();
        let table = builder(&x, &job, &y).build().unwrap();
        assert_eq!(schema.classes, table.schema.classes);
        assert_eq!(schema.columns[1], table.schema.columns[1]);
        assert_eq!(schema.inputs, table.schema.inputs);
        assert_eq!(whole.schema(Some(Task::Regression)).unwrap().classes, Vec::<String>::new());
    }

    #[test]
    fn what_parts_cannot_be_is_said() {
        let first = builder(&[1.0, 2.0], &["a", "b"], &[0, 1]).found().unwrap();
        let numbers = TableBuilder::new(1).column("x", &[1.0][..]).column("job", &[3.0][..]);
        let mut mixed = numbers.classes("y", &[0i64][..]).found().unwrap();
        mixed.merge(&first).unwrap();
        let error = mixed.schema(None).unwrap_err().to_string();
        assert!(error.contains("`job`") && error.contains("2 texts and 1 numbers"), "{error}");
        let other = TableBuilder::new(1).column("z", &[1.0][..]).classes("y", &[0i64][..]);
        let error = mixed.merge(&other.found().unwrap()).unwrap_err().to_string();
        assert!(error.contains("`z`"), "{error}");
        let one = builder(&[1.0, 2.0], &["a", "b"], &[1, 1]).found().unwrap();
        assert!(matches!(one.schema(None), Err(DataError::OneClass { .. })));
    }
}
