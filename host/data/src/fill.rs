//! Second pass: the rows under a schema, with their targets, as a table.

use std::collections::HashMap;

use super::ReadOptions;
use super::error::DataError;
use super::open::DataFile;
use super::rows::RowReader;
use super::scan::{Field, class_name, parse};
use super::schema::{ColumnKind, Schema};
use super::table::{Division, Table, Target};

/// Reads all rows of the files, of which `expected` are made room for at once; and the first row of
/// each file, which windows have none of.
pub(crate) fn fill(
    files: Vec<DataFile>,
    schema: Schema,
    options: &ReadOptions,
    expected: usize,
) -> Result<(Table, Vec<usize>), DataError> {
    let mut reader = RowReader::of_files(files, &schema, options, true)?;
    let file = reader.source().to_owned();
    let inputs = schema.inputs;
    let too_large = |rows| DataError::TooLarge { file: file.clone(), rows, inputs };
    let mut values: Vec<f32> = Vec::new();
    let room = expected.checked_mul(inputs);
    room.and_then(|room| values.try_reserve_exact(room).ok()).ok_or_else(|| too_large(expected))?;

    let mut targets = Targets::new(&schema);
    let mut groups = Groups::default();
    let (mut weights, mut starts) = (Vec::new(), Vec::new());
    for row in 1.. {
        values.try_reserve(inputs).map_err(|_| too_large(row))?;
        let Some(line) = reader.append(&mut values)? else {
            break;
        };
        targets.push(&reader, line)?;
        if reader.number() == 1 && schema.recordings.window.is_none() {
            starts.push(row - 1);
        }
        weights.extend(reader.weight());
        if schema.recordings.group.is_some() {
            groups.push(reader.group());
        }
    }
    let left_out = reader.left_out()?;
    let target = targets.target;
    if target.is_empty() {
        return Err(DataError::NoRows { file });
    }
    let division = match schema.recordings.group {
        Some(_) => Division::Groups(groups.numbers),
        None => Division::Free,
    };
    let weights = options.weights.as_ref().map(|_| weights);
    if weights.as_ref().is_some_and(|weights| weights.iter().all(|&weight| weight == 0.0)) {
        return Err(DataError::NoWeight { file });
    }
    drop(reader);
    let mut schema = schema;
    schema.warnings.extend(left_out);
    Ok((Table { inputs, values, target, schema, division, weights }, starts))
}

/// Numbers for recordings, in the order in which they come.
#[derive(Default)]
pub struct Groups {
    known: HashMap<Vec<u8>, u32>,
    /// For every row the number of its recording.
    pub numbers: Vec<u32>,
}

impl Groups {
    /// Adds a row by the name of its recording.
    pub fn push(&mut self, group: &[u8]) {
        let number = match self.known.get(group) {
            Some(&number) => number,
            None => {
                let number = self.known.len() as u32;
                self.known.insert(group.to_vec(), number);
                number
            }
        };
        self.numbers.push(number);
    }
}

/// Takes the targets of a reader's rows.
pub struct Targets<'s> {
    schema: &'s Schema,
    indices: HashMap<&'s str, u32>,
    /// What was taken so far.
    pub target: Target,
}

impl<'s> Targets<'s> {
    /// None yet.
    #[must_use]
    pub fn new(schema: &'s Schema) -> Targets<'s> {
        let names = schema.classes.iter().map(String::as_str);
        Targets {
            schema,
            indices: names.zip(0..).collect(),
            target: if schema.classes.is_empty() {
                Target::Values(Vec::new())
            } else {
                Target::Classes { labels: Vec::new() }
            },
        }
    }

    /// Adds the target of the reader's last row, which was read from that line.
    ///
    /// # Errors
    ///
    /// A target that is missing, no number or none of the classes.
    pub fn push(&mut self, reader: &RowReader<'_>, line: u64) -> Result<(), DataError> {
        if let Target::Values(values) = &mut self.target
            && self.schema.unlabelled()
        {
            values.push(0.0);
            return Ok(());
        }
        let raw = reader.target();
        let place = || reader.target_place(line);
        let text = || raw.to_string();
        match (&mut self.target, parse(raw.as_bytes())) {
            (_, Field::Missing | Field::NotUtf8) => {
                Err(DataError::TargetMissing { place: place() })
            }
            (Target::Classes { labels }, _) if self.schema.positive.is_some() => {
                let name = class_name(raw);
                let positive = self.schema.positive.as_deref();
                let found = positive == Some(raw) || positive == name.as_deref();
                labels.push(u32::from(found));
                Ok(())
            }
            (Target::Classes { labels }, _) => {
                let found = self.indices.get(raw).or_else(|| {
                    let name = class_name(raw)?;
                    self.indices.get(name.as_str())
                });
                match found {
                    Some(&index) => labels.push(index),
                    None => {
                        return Err(DataError::UnknownClass {
                            place: place(),
                            text: text(),
                            classes: list(&self.schema.classes),
                        });
                    }
                }
                Ok(())
            }
            (Target::Values(values), Field::Number(number)) if number.is_finite() => {
                values.push(number);
                Ok(())
            }
            (Target::Values(_), Field::Number(_)) => {
                Err(DataError::OutOfRange { place: place(), text: text() })
            }
            (Target::Values(_), Field::Text(_)) => {
                Err(DataError::NotANumber { place: place(), text: text() })
            }
        }
    }
}

/// The names for a message, the first few of many.
pub(crate) fn list(names: &[String]) -> String {
    const LISTED: usize = 10;
    let mut listed = names[..names.len().min(LISTED)].join(", ");
    if names.len() > LISTED {
        listed.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    listed
}

/// Replaces the NaN that stand for missing values, in the table and in its
/// schema, by the median of the column's values.
pub fn impute(table: &mut Table) {
    let samples = table.schema.recordings.samples();
    let channels = table.inputs / samples;
    let mut input = 0;
    for column in &mut table.schema.columns {
        let width = column.inputs();
        if let ColumnKind::Numeric { missing: Some(fixed) } = &mut column.kind
            && fixed.is_nan()
        {
            // Every sample of a window has the column once.
            let cells = || (input..table.values.len()).step_by(channels);
            let mut known: Vec<f32> = cells().map(|i| table.values[i]).collect();
            known.retain(|value| !value.is_nan());
            *fixed = median(&mut known);
            for i in cells() {
                if table.values[i].is_nan() {
                    table.values[i] = *fixed;
                }
            }
        }
        input += width;
    }
}

/// Puts the stand-ins of `schema`, which [`impute`] gave, in place of missing values (NaN);
/// the table has that schema then.
pub fn stand_in(table: &mut Table, schema: &Schema) {
    let kinds = schema.columns.iter().flat_map(|column| {
        let fixed = match column.kind {
            ColumnKind::Numeric { missing } => missing,
            _ => None,
        };
        std::iter::repeat_n(fixed, column.inputs())
    });
    let fixed: Vec<Option<f32>> = kinds.collect();
    if fixed.iter().any(Option::is_some) {
        let places = fixed.iter().cycle();
        for (value, fixed) in table.values.iter_mut().zip(places) {
            if let (true, Some(fixed)) = (value.is_nan(), fixed) {
                *value = *fixed;
            }
        }
    }
    table.schema = schema.clone();
}

/// The middle value, or the mean of the two; 0 of none.
pub(crate) fn median(values: &mut [f32]) -> f32 {
    values.sort_unstable_by(f32::total_cmp);
    let count = values.len();
    match (count, count % 2) {
        (0, _) => 0.0,
        (_, 1) => values[count / 2],
        _ => values[count / 2 - 1].midpoint(values[count / 2]),
    }
}
