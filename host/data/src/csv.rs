//! Rows of table-like files under a schema.

use super::categories::{coded_place, one_of, place_of};
use super::error::{ColumnLabel, DataError, Place, describe_columns, some_of};
use super::infer::{check_names, find, leaves_out};
use super::layout::{Layouts, looks_like_header, match_names, may_count_columns, nameless_columns};
use super::open::Input;
use super::recordings::GroupBy;
use super::records::Records;
use super::scan::{Field, parse};
use super::schema::{Column, ColumnKind, Schema};
use super::{Missing, ReadOptions};

/// Rows under a schema.
pub(crate) struct CsvRows<'r> {
    records: Records<'r>,
    columns: Vec<Column>,
    /// Field and column of each column that becomes inputs.
    sources: Vec<(usize, usize)>,
    /// Field and column of the target.
    target: Option<(usize, usize)>,
    /// Field that tells recordings apart, and its column where no row may lack it.
    group: Option<usize>,
    needed_group: Option<usize>,
    /// Fields that are kept as they are, with their names.
    kept: Vec<(usize, String)>,
    /// Field and column of the rows' weights, and the last row's weight.
    weight: Option<(usize, usize)>,
    weighed: Option<f32>,
    fields: usize,
    /// Whether something stands in for a missing number of the last row.
    filled: bool,
    /// Fields and columns of the last row that hold no value that their column lists.
    unlisted: Vec<(usize, usize)>,
    /// Whether training rows may have had no value: then none of the inputs stood for it, too.
    lacking: bool,
    /// Line of the first record while that is still to be read as a row.
    pending: Option<u64>,
    /// Whether there are names, and the schema has none.
    by_position: bool,
    /// Whether nothing of a row without a target is read.
    leaves_out: bool,
}

impl<'r> CsvRows<'r> {
    /// Reads the first line and matches the columns: by name if the schema has
    /// names and the line is a header, otherwise by position.
    pub fn new(
        input: Input<'r>,
        schema: &Schema,
        options: &ReadOptions,
        want_target: bool,
    ) -> Result<CsvRows<'r>, DataError> {
        let mut columns = schema.columns.clone();
        let layouts = Layouts::new(&columns, want_target);
        let fits = |fields| layouts.of(fields).is_some();
        let named = |name: &str| {
            let own = schema.own_names(&[name.to_owned()]);
            columns.iter().any(|column| own.contains(&column.name))
                || options.keep.iter().any(|kept| kept == name)
        };
        let (mut records, _) = Records::new(input, options, fits, named)?;
        let file = records.origin.file.clone();
        let known = records.known.clone();
        let (line, names) = match &known {
            Some(known) => (None, known.names.clone()),
            None => match records.next()? {
                Some(line) => (Some(line), records.names()),
                None => return Err(DataError::Empty { file }),
            },
        };
        let fields = names.len();
        let own = schema.own_names(&names);
        let named = columns.iter().any(|c| c.inputs() > 0 && !c.name.is_empty());
        let by_name = match_names(&columns, &own, want_target);
        let by_position = layouts.of(fields);
        let guessed = || {
            (named && by_name.is_ok())
                || by_position.is_some_and(|layout| looks_like_header(&columns, layout, &records))
        };
        let header = known.is_some() || options.header.unwrap_or_else(guessed);
        if let (false, None, Some(_), Some(line)) = (header, options.header, by_position, line)
            && may_count_columns(&columns, &records)
        {
            return Err(DataError::HeaderOfNumbers { place: records.origin.at(line) });
        }
        if header && named {
            check_names(&records.origin, &names)?;
            schema.check_coded(&records.origin, &names, &own)?;
        }
        // Formats that know their columns may still have no names for them.
        let nameless = known.is_some() && names.iter().all(String::is_empty);
        let matched = if header && named && !nameless {
            by_name.map_err(Some)
        } else {
            by_position.cloned().ok_or_else(|| {
                // A header that lacks a column, or rows of another width?
                let known = |name: &String| columns.iter().any(|c| c.name == *name);
                let some = named && own.iter().any(|n| !n.is_empty() && known(n));
                by_name.err().filter(|_| some)
            })
        };
        let matched = matched.map_err(|lacking| match lacking {
            Some(name) if name.is_empty() => nameless_columns(&file, &columns, &names),
            Some(code) if schema.name_code.is_some() => {
                let position = columns.iter().position(|column| column.name == code);
                let foreign = own.iter().zip(&names);
                let foreign = foreign.filter(|(own, _)| columns.iter().all(|c| c.name != **own));
                DataError::NoCodedColumn {
                    file: file.clone(),
                    number: position.map_or(0, |index| index + 1),
                    others: some_of(foreign.map(|(_, name)| name)),
                }
            }
            Some(wanted) => DataError::NoColumn {
                file: file.clone(),
                columns: describe_columns(&wanted, &names),
                wanted,
            },
            None => DataError::ColumnCount {
                file: file.clone(),
                expected: columns.len(),
                found: fields,
            },
        })?;
        // Messages have the file's names, not their codes.
        if schema.name_code.is_some() {
            for (column, field) in columns.iter_mut().zip(&matched) {
                let name = field.filter(|_| header).map(|field| names[field].clone());
                column.name = name.unwrap_or_default();
            }
        }
        let (mut sources, mut target) = (Vec::new(), None);
        for (column, field) in matched.iter().enumerate() {
            match (&columns[column].kind, field) {
                (ColumnKind::Target, Some(field)) if want_target => target = Some((*field, column)),
                (ColumnKind::Target | ColumnKind::Dropped, _) | (_, None) => {}
                (_, Some(field)) => sources.push((*field, column)),
            }
        }
        let from_column = schema.recordings.label.is_none() && !schema.unlabelled();
        if want_target && from_column && target.is_none() {
            let is_target = |c: &Column| c.kind == ColumnKind::Target;
            let position = columns.iter().position(is_target).unwrap_or(columns.len());
            let target = schema.label(position).to_string();
            return Err(DataError::NoTarget { file, target });
        }
        let grouped = match schema.recordings.group {
            Some(GroupBy::Column(column)) => Some(column),
            _ => None,
        };
        let group = grouped.and_then(|column| matched.get(column).copied().flatten());
        // Rows to be predicted one by one are of no recordings.
        let is_needed = want_target || schema.recordings.window.is_some();
        let weight = match options.weights.as_ref().filter(|_| want_target) {
            Some(wanted) => {
                let known: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
                let column = find(&records.origin, wanted, &known)?;
                let field = matched.get(column).copied().flatten();
                let lacking = || DataError::NoColumn {
                    file: records.origin.file.clone(),
                    columns: describe_columns(wanted, &names),
                    wanted: wanted.clone(),
                };
                Some((field.ok_or_else(lacking)?, column))
            }
            None => None,
        };
        let own = if header { names } else { vec![String::new(); fields] };
        let kept = options.keep.iter().map(|wanted| {
            let field = find(&records.origin, wanted, &own)?;
            let label = ColumnLabel { number: field + 1, name: String::new() };
            let name = Some(own[field].clone()).filter(|name| !name.is_empty());
            Ok((field, name.unwrap_or_else(|| label.to_string())))
        });
        let kept = kept.collect::<Result<_, DataError>>()?;
        Ok(CsvRows {
            kept,
            weight,
            weighed: None,
            records,
            columns,
            sources,
            target,
            group,
            needed_group: grouped.filter(|_| is_needed),
            fields,
            filled: false,
            unlisted: Vec::new(),
            lacking: schema.fills() || options.missing == Missing::Impute,
            pending: line.filter(|_| !header),
            by_position: header && !named && known.is_none(),
            leaves_out: target.is_some() && leaves_out(options, schema.recordings.window),
        })
    }

    /// Passes over the next row; its line, or `None` at the end.
    pub fn skip(&mut self) -> Result<Option<u64>, DataError> {
        match self.pending.take() {
            Some(line) => Ok(Some(line)),
            // Which recording it is of must still be told.
            None if self.group.is_some() => self.records.next(),
            None => self.records.skip(),
        }
    }

    /// The value that tells which recording the last row is of, if it is there.
    pub fn group(&self) -> Option<&[u8]> {
        // A broken row that was passed over may lack the field.
        self.group.filter(|&f| f < self.records.len()).map(|field| self.records.field(field))
    }

    /// The column that tells recordings apart, if rows are to be windows and the file lacks it.
    pub fn lacking_group(&self) -> Option<usize> {
        self.needed_group.filter(|_| self.group.is_none())
    }

    /// Whether something stands in for a missing number of the last row.
    pub fn filled(&self) -> bool {
        self.filled
    }

    /// Whether columns with names are taken by their places, for want of other names.
    pub fn by_position(&self) -> bool {
        self.by_position
    }

    /// Names of the fields that are kept.
    pub fn kept_names(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(|(_, name)| name.as_str())
    }

    /// The fields of the last row that are kept.
    pub fn kept(&self) -> impl Iterator<Item = &[u8]> {
        self.kept.iter().map(|&(field, _)| self.records.field(field))
    }

    /// Appends the inputs of the next row to `out` and puts the raw target into
    /// `target`; the row's line, or `None` at the end.
    pub fn read_row(
        &mut self,
        out: &mut Vec<f32>,
        target: &mut String,
    ) -> Result<Option<u64>, DataError> {
        let line = match self.pending.take() {
            Some(line) => line,
            None => match self.records.next()? {
                Some(line) => line,
                None => return Ok(None),
            },
        };
        if self.records.len() != self.fields {
            return Err(self.records.ragged(line, self.fields));
        }
        if let Some((field, _)) = self.target.filter(|_| self.leaves_out)
            && parse(self.records.field(field)) == Field::Missing
        {
            return Ok(Some(line));
        }
        if let (Some(field), Some(column)) = (self.group, self.needed_group)
            && parse(self.records.field(field)) == Field::Missing
        {
            let place = self.place(line, field, &self.columns[column]);
            return Err(DataError::MissingGroup { place });
        }
        self.filled = false;
        self.unlisted.clear();
        for place in 0..self.sources.len() {
            let (field, column) = self.sources[place];
            match self.push(line, field, &self.columns[column], out)? {
                Pushed::Known => {}
                Pushed::Filled => self.filled = true,
                Pushed::Missing if self.lacking => {}
                Pushed::Unlisted | Pushed::Missing => self.unlisted.push((field, column)),
            }
        }
        if let Some((field, column)) = self.weight {
            self.weighed = Some(self.weight_of(line, field, column)?);
        }
        if let Some((field, column)) = self.target {
            match parse(self.records.field(field)) {
                Field::NotUtf8 => {
                    let place = self.place(line, field, &self.columns[column]);
                    return Err(DataError::NotUtf8 { place });
                }
                _ => target.push_str(&String::from_utf8_lossy(self.records.field(field))),
            }
        }
        Ok(Some(line))
    }

    /// The last row's weight, if rows have weights.
    pub fn weight(&self) -> Option<f32> {
        self.weighed
    }

    fn weight_of(&self, line: u64, field: usize, column: usize) -> Result<f32, DataError> {
        let place = || self.place(line, field, &self.columns[column]);
        let raw = self.records.field(field);
        let text = || String::from_utf8_lossy(raw).into_owned();
        match parse(raw) {
            Field::Number(number) if !number.is_finite() => {
                Err(DataError::OutOfRange { place: place(), text: text() })
            }
            Field::Number(number) if number < 0.0 => {
                Err(DataError::NegativeWeight { place: place(), text: text() })
            }
            Field::Number(number) => Ok(number),
            Field::Missing => Err(DataError::MissingWeight { place: place() }),
            Field::Text(_) => Err(DataError::NotANumber { place: place(), text: text() }),
            Field::NotUtf8 => Err(DataError::NotUtf8 { place: place() }),
        }
    }

    /// The column at `index` from 0 as the file has it, by its number in the schema.
    pub fn label(&self, index: usize) -> ColumnLabel {
        let name = self.columns.get(index).map_or(String::new(), |column| column.name.clone());
        ColumnLabel { number: index + 1, name }
    }

    /// Field and column of the target, if it is read.
    pub fn target(&self) -> Option<(usize, usize)> {
        self.target
    }

    /// The columns of the last row that hold no value that they list, with what they hold.
    pub fn unlisted(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.unlisted.iter().map(|&(field, column)| (column, self.records.field(field)))
    }

    /// Appends the inputs of a field.
    fn push(
        &self,
        line: u64,
        field: usize,
        column: &Column,
        out: &mut Vec<f32>,
    ) -> Result<Pushed, DataError> {
        let value = parse(self.records.field(field));
        let place = || self.place(line, field, column);
        match (&column.kind, value) {
            (_, Field::NotUtf8) => Err(DataError::NotUtf8 { place: place() }),
            (ColumnKind::Text { values }, value) => {
                let place = place_of(values, self.text(field));
                one_of(values.len(), place, out);
                Ok(Pushed::of(place, &value))
            }
            (ColumnKind::Coded(values), value) => {
                // A missing value has no code.
                let place = coded_place(values, self.text(field));
                let place = place.filter(|_| value != Field::Missing);
                one_of(values.count(), place, out);
                Ok(Pushed::of(place, &value))
            }
            (_, Field::Number(number)) if number.is_finite() => {
                out.push(number);
                Ok(Pushed::Known)
            }
            (ColumnKind::Numeric { missing: Some(m) }, Field::Missing) => {
                out.push(*m);
                Ok(Pushed::Filled)
            }
            (_, Field::Missing) => Err(DataError::MissingValue { place: place(), training: false }),
            (_, Field::Number(_)) => Err(DataError::OutOfRange {
                place: place(),
                text: String::from_utf8_lossy(self.records.field(field)).into_owned(),
            }),
            (_, Field::Text(text)) => {
                Err(DataError::NotANumber { place: place(), text: text.to_string() })
            }
        }
    }

    fn text(&self, field: usize) -> &str {
        std::str::from_utf8(self.records.field(field)).unwrap_or_default()
    }

    fn place(&self, line: u64, field: usize, column: &Column) -> Place {
        let name = column.name.clone();
        let number = field + 1;
        let origin = &self.records.origin;
        origin.at_column(line, ColumnLabel { number, name })
    }
}

/// What became of a field.
enum Pushed {
    Known,
    /// Something stands in for a missing number.
    Filled,
    /// It is none of the values of its column.
    Unlisted,
    /// Nothing, in a column of texts.
    Missing,
}

impl Pushed {
    /// Of a value at this place among those that are listed.
    fn of(place: Option<usize>, value: &Field<'_>) -> Self {
        match place {
            Some(_) => Self::Known,
            None if *value == Field::Missing => Self::Missing,
            None => Self::Unlisted,
        }
    }
}
