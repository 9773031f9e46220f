//! Rows from memory, under the schema of a model.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Role, TableBuilder, Values, missing, wrong};
use crate::categories::{FEW, coded_place, one_of, place_of};
use crate::error::{ColumnLabel, DataError, describe_columns};
use crate::fill::list;
use crate::infer::check_names;
use crate::layout::{Layout, match_names, nameless_columns, of_all_inputs, of_inputs};
use crate::open::Origin;
use crate::scan::is_padded;
use crate::{Column, ColumnKind, Division, Format, Missing, Schema, Table, Target};

/// What becomes of a text that is none of its column's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// It is an error.
    #[default]
    Refuse,
    /// It is none of the values, as in files.
    Zeros,
}

/// A column's values: `step` apart, from `first` on.
struct Source<'a> {
    values: Values<'a>,
    first: usize,
    step: usize,
    label: ColumnLabel,
}

impl TableBuilder<'_> {
    /// The inputs of all rows under the schema of a model, row by row. Columns are matched by
    /// name if both have names, otherwise by position: then the target is none of them, and the
    /// columns that are not used may be absent.
    ///
    /// # Errors
    ///
    /// A column that is not there, values that are missing where none were in training, texts
    /// that are missing unless [`Self::missing`] says so, texts for numbers and numbers for texts.
    /// The message names the column, and the row from 1.
    pub fn rows_under(&self, schema: &Schema, unlisted: Unlisted) -> Result<Vec<f32>, DataError> {
        let mut found = Vec::new();
        for part in &self.columns {
            let step = part.names.len();
            for (first, name) in part.names.iter().enumerate() {
                let label = ColumnLabel { number: found.len() + 1, name: name.clone() };
                found.push(match part.role {
                    Role::Input(values) => {
                        self.check_length(&label.to_string(), values.len(), step)?;
                        Some(Source { values, first, step, label })
                    }
                    Role::Target(..) | Role::Unused => None,
                });
            }
        }
        let names = self.columns.iter().flat_map(|part| part.names.iter().cloned());
        let layout = layout(schema, &names.collect::<Vec<_>>())?;
        let kinds = kinds(schema);
        let mut sources = Vec::with_capacity(layout.len());
        for (number, place) in layout.into_iter().enumerate() {
            // In windows the values of a sample come one sample after the other.
            let kind = kinds.get(number % kinds.len().max(1)).copied();
            if matches!(kind, Some(ColumnKind::Target | ColumnKind::Dropped)) {
                continue;
            }
            let source = place.and_then(|place| found[place].as_ref());
            sources.push((kind, source.ok_or_else(|| wrong("a column is no input".into()))?));
        }
        let mut values = Vec::new();
        let room = self.rows.checked_mul(schema.inputs);
        let too_large = DataError::TooLarge {
            file: crate::error::IN_MEMORY.into(),
            rows: self.rows,
            inputs: schema.inputs,
        };
        room.and_then(|room| values.try_reserve_exact(room).ok()).ok_or(too_large)?;
        for row in 0..self.rows {
            for (kind, source) in &sources {
                source.push(row, *kind, (unlisted, self.missing), &mut values)?;
            }
        }
        Ok(values)
    }
}

impl TableBuilder<'_> {
    /// The rows under a schema, with their targets and weights, and the names of their groups.
    /// Columns are matched as by [`Self::rows_under`]; there may be no rows.
    ///
    /// # Errors
    ///
    /// As [`Self::rows_under`], a target that is not there, is missing or of no known class,
    /// a group that is missing, weights below 0.
    pub fn table_under(
        &self,
        schema: &Schema,
        unlisted: Unlisted,
    ) -> Result<(Table, Vec<Vec<u8>>), DataError> {
        let values = self.rows_under(schema, unlisted)?;
        let target = self.target_under(schema)?;
        let weights = self.weights_under()?;
        let groups = match &self.groups {
            None => Vec::new(),
            Some(given) => self.group_names(given)?.into_iter().map(String::into_bytes).collect(),
        };
        let (inputs, schema) = (schema.inputs, schema.clone());
        let table = Table { inputs, values, target, schema, division: Division::Free, weights };
        Ok((table, groups))
    }

    fn target_under(&self, schema: &Schema) -> Result<Target, DataError> {
        let (mut number, mut found) = (1, None);
        for part in &self.columns {
            if let Role::Target(given, _) = part.role {
                found = Some((ColumnLabel { number, name: part.names.concat() }, given));
            }
            number += part.names.len();
        }
        let (label, given) = found.ok_or_else(|| wrong("no target among the columns".into()))?;
        self.check_length(&label.to_string(), given.len(), 1)?;
        let at =
            |row: usize, problem: String| wrong(format!("row {}, {label}: {problem}", row + 1));
        let number = |row: usize| match (given, given.number(row)) {
            (Values::Text(texts), _) if texts[row].is_empty() => Err(missing(&label, row)),
            (_, Some(number)) if number.is_nan() => Err(missing(&label, row)),
            (_, number) => Ok(number),
        };
        if schema.classes.is_empty() {
            let value = |row: usize| match (number(row)?, given) {
                (Some(number), _) if (number as f32).is_finite() => Ok(number as f32),
                (Some(number), _) => Err(at(row, format!("{number} is too large"))),
                (None, Values::Text(texts)) => {
                    Err(at(row, format!("\"{}\" is not a number", texts[row])))
                }
                (None, _) => Err(missing(&label, row)),
            };
            return Ok(Target::Values((0..self.rows).map(value).collect::<Result<_, _>>()?));
        }
        let places: HashMap<&str, u32> =
            schema.classes.iter().map(String::as_str).zip(0..).collect();
        let label_of = |row: usize| {
            number(row)?;
            let name = given.name(row).1;
            let text = || match given {
                Values::Text(texts) => texts[row].to_owned(),
                _ => name.clone(),
            };
            places.get(name.as_str()).copied().ok_or_else(|| {
                let known = list(&schema.classes);
                at(row, format!("\"{}\" is none of the classes: {known}", text()))
            })
        };
        Ok(Target::Classes { labels: (0..self.rows).map(label_of).collect::<Result<_, _>>()? })
    }

    fn weights_under(&self) -> Result<Option<Vec<f32>>, DataError> {
        // All of a part may be 0.
        match self.weights_of() {
            Err(DataError::NoWeight { .. }) => Ok(Some(vec![0.0; self.rows])),
            other => other,
        }
    }
}

impl Source<'_> {
    /// Appends the inputs that the column becomes in a row.
    fn push(
        &self,
        row: usize,
        kind: Option<&ColumnKind>,
        allowed: (Unlisted, Missing),
        out: &mut Vec<f32>,
    ) -> Result<(), DataError> {
        let at = row * self.step + self.first;
        let problem =
            |problem: String| Err(wrong(format!("row {}, {}: {problem}", row + 1, self.label)));
        let stand_in = match kind {
            Some(ColumnKind::Text { values }) => {
                let text = self.text(at);
                let place = place_of(values, &text);
                one_of(values.len(), place, out);
                // Of categories that are numbers nobody wrote a list.
                let numeral = |value: &String| value.parse::<f64>().is_ok() && !is_padded(value);
                let numerals = || values.iter().all(numeral);
                if place.is_some() || self.may_be(row, &text, allowed, numerals)? {
                    return Ok(());
                }
                let known = list(values);
                return problem(format!("\"{text}\" is none of the values: {known}"));
            }
            Some(ColumnKind::Coded(values)) => {
                let (text, count) = (self.text(at), values.count());
                let place = coded_place(values, &text).filter(|_| !text.is_empty());
                one_of(count, place, out);
                // More than a search takes for categories by itself were texts.
                if place.is_some() || self.may_be(row, &text, allowed, || FEW.contains(&count))? {
                    return Ok(());
                }
                return problem(format!("\"{text}\" is none of the {count} values"));
            }
            Some(ColumnKind::Numeric { missing }) => *missing,
            _ => None,
        };
        let number = match self.values {
            Values::Text(texts) if texts[at].is_empty() => f64::NAN,
            Values::Text(texts) => {
                let text = texts[at];
                return problem(match text.parse::<f64>() {
                    Ok(_) => format!("\"{text}\" is a text, in a column that has numbers"),
                    Err(_) => format!("\"{text}\" is not a number"),
                });
            }
            _ => self.values.number(at).unwrap_or(f64::NAN),
        };
        match stand_in {
            Some(value) if number.is_nan() => out.push(value),
            None if number.is_nan() && kind.is_some() => {
                return problem(
                    "the value is missing, and was never missing in the training rows".into(),
                );
            }
            None if number.is_nan() => return Err(missing(&self.label, row)),
            _ if !(number as f32).is_finite() => return problem(format!("{number} is too large")),
            _ => out.push(number as f32),
        }
        Ok(())
    }

    /// Whether a row may have a text that its column does not list; `numerals`: whether what it
    /// lists may be numbers, as which others are none of the values.
    fn may_be(
        &self,
        row: usize,
        text: &str,
        (unlisted, empty): (Unlisted, Missing),
        numerals: impl Fn() -> bool,
    ) -> Result<bool, DataError> {
        if unlisted == Unlisted::Zeros {
            return Ok(true);
        }
        match (text.is_empty(), empty) {
            (true, Missing::Refuse) => {
                let problem = "the value is missing, which is none of the values";
                Err(wrong(format!("row {}, {}: {problem}", row + 1, self.label)))
            }
            (true, Missing::Impute) => Ok(true),
            (false, _) => Ok(!matches!(self.values, Values::Text(_)) && numerals()),
        }
    }

    /// A value as a text, empty where it is missing.
    fn text(&self, at: usize) -> Cow<'_, str> {
        match self.values {
            Values::Text(texts) => texts[at].into(),
            _ if self.values.number(at).is_some_and(f64::is_nan) => "".into(),
            // As categories are called.
            Values::F32(numbers) => (numbers[at] + 0.0).to_string().into(),
            _ => self.values.name(at).1.into(),
        }
    }
}

/// What each column of [`layout`] is; of windows, each value of a sample.
fn kinds<'s>(schema: &'s Schema) -> Vec<&'s ColumnKind> {
    const NUMBER: &ColumnKind = &ColumnKind::Numeric { missing: None };
    if schema.recordings.window.is_none() {
        return schema.columns.iter().map(|column| &column.kind).collect();
    }
    let of_column = |column: &'s Column| match &column.kind {
        kind @ ColumnKind::Numeric { .. } => vec![kind],
        // What stands for a text is numbers already.
        _ => vec![NUMBER; column.inputs()],
    };
    schema.columns.iter().flat_map(of_column).collect()
}

/// Which of the columns of these names is each of the schema's.
fn layout(schema: &Schema, names: &[String]) -> Result<Layout, DataError> {
    let file = || crate::error::IN_MEMORY.to_owned();
    if schema.format != Format::Csv || schema.recordings.window.is_some() {
        // Inputs as they are.
        if names.len() != schema.inputs {
            let (expected, found) = (schema.inputs, names.len());
            return Err(DataError::Inputs { file: file(), expected, found });
        }
        return Ok((0..schema.inputs).map(Some).collect());
    }
    let columns = &schema.columns;
    let named = columns.iter().any(|c| c.inputs() > 0 && !c.name.is_empty());
    if named && names.iter().any(|name| !name.is_empty()) {
        let origin = Origin::several(vec![(0, file())]);
        let own = schema.own_names(names);
        check_names(&origin, names)?;
        schema.check_coded(&origin, names, &own)?;
        return match_names(columns, &own, false).map_err(|wanted| match wanted.is_empty() {
            true => nameless_columns(&file(), columns, names),
            false => DataError::NoColumn {
                file: file(),
                columns: describe_columns(&wanted, names),
                wanted,
            },
        });
    }
    // Whoever has rows in memory gives the inputs, or all but the target: a search may have left
    // some out.
    let layouts = [of_inputs(columns), of_all_inputs(columns)];
    let count = |layout: &Layout| layout.iter().flatten().count();
    let expected = count(&layouts[0]);
    let found = layouts.into_iter().find(|layout| count(layout) == names.len());
    found.ok_or_else(|| DataError::ColumnCount { file: file(), expected, found: names.len() })
}
