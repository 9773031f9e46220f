//! Tables from columns and matrices that are in memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{ColumnLabel, DataError, IN_MEMORY};
use crate::extremes::{Extremes, Range};
use crate::fill::{Groups, impute};
use crate::infer::check_names;
use crate::no_categories::{check_categories, numeral};
use crate::one_class::recordings;
use crate::open::Origin;
use crate::scan::as_numbers;
use crate::schema::width;
use crate::{
    Column, ColumnKind, DataWarning, Division, Format, GroupBy, MAX_INPUTS, MAX_VALUES, Missing,
    Schema, Shape, Table, Target,
};

mod found;
mod loss;
mod numbers;
mod seen;
mod stand_ins;
mod under;
mod values;

pub use found::Found;
pub use under::Unlisted;
pub use values::Values;

use loss::Loss;

/// A column, or several side by side.
#[derive(Clone, Debug)]
struct Columns<'a> {
    names: Vec<String>,
    role: Role<'a>,
}

/// What columns are for.
#[derive(Clone, Copy, Debug)]
enum Role<'a> {
    /// Inputs.
    Input(Values<'a>),
    /// What is predicted: classes, or else numbers.
    Target(Values<'a>, bool),
    /// Nothing that the model sees.
    Unused,
}

/// What becomes of columns.
#[derive(Debug, Default)]
struct Described {
    columns: Vec<Column>,
    /// Those that may be categories, from 0.
    may_be_categories: Vec<usize>,
    warnings: Vec<DataWarning>,
}

/// Makes a [`Table`] of columns and matrices that are lent to it.
///
/// ```
/// use koan_data::TableBuilder;
///
/// let temperature = [20.5, 21.0, 35.0, 36.5];
/// let valve = ["open", "shut", "open", "open"];
/// let state = ["cold", "cold", "hot", "hot"];
/// let table = TableBuilder::new(4)
///     .column("temperature", &temperature[..])
///     .column("valve", &valve[..])
///     .classes("state", &state[..])
///     .build()?;
/// assert_eq!((table.rows(), table.inputs), (4, 3)); // one input for each text
/// # Ok::<(), koan_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableBuilder<'a> {
    rows: usize,
    columns: Vec<Columns<'a>>,
    unlabelled: bool,
    weights: Option<Values<'a>>,
    groups: Option<Values<'a>>,
    /// The column of the groups, from 0, if they are one.
    group_column: Option<usize>,
    missing: Missing,
    image: Option<Shape>,
    threads: usize,
}

impl<'a> TableBuilder<'a> {
    /// A table of so many rows, without columns yet.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self {
            rows,
            columns: Vec::new(),
            unlabelled: false,
            weights: None,
            groups: None,
            group_column: None,
            missing: Missing::Refuse,
            image: None,
            threads: 1,
        }
    }

    /// Adds a column, `rows` values: of numbers one input, of texts one for each of at most
    /// [`MAX_VALUES`] different ones.
    #[must_use]
    pub fn column(self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.push(vec![name.to_owned()], Role::Input(values.into()))
    }

    /// Adds a matrix of `rows × columns` numbers, row by row, without names.
    #[must_use]
    pub fn matrix(self, columns: usize, values: impl Into<Values<'a>>) -> Self {
        self.push(vec![String::new(); columns], Role::Input(values.into()))
    }

    /// Adds a matrix of numbers, row by row, whose columns have these names.
    #[must_use]
    pub fn named_matrix(self, names: &[&str], values: impl Into<Values<'a>>) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        self.push(names, Role::Input(values.into()))
    }

    /// What is to be predicted, the column that stands here: a class for each row, by name or
    /// number. Numbers are in ascending order, and texts.
    #[must_use]
    pub fn classes(self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.push(vec![name.to_owned()], Role::Target(values.into(), true))
    }

    /// What is to be predicted, the column that stands here: a number for each row.
    #[must_use]
    pub fn values(self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.push(vec![name.to_owned()], Role::Target(values.into(), false))
    }

    /// Nothing is to be predicted: the rows are for detectors, or for features alone.
    #[must_use]
    pub fn unlabelled(mut self) -> Self {
        self.unlabelled = true;
        self
    }

    /// A column that is not used; a model has its name, and its place among the others.
    #[must_use]
    pub fn unused(self, name: &str) -> Self {
        self.push(vec![name.to_owned()], Role::Unused)
    }

    fn push(mut self, names: Vec<String>, role: Role<'a>) -> Self {
        self.columns.push(Columns { names, role });
        self
    }

    /// How much each row counts: finite, at least 0.
    #[must_use]
    pub fn weights(mut self, values: impl Into<Values<'a>>) -> Self {
        self.weights = Some(values.into());
        self
    }

    /// As [`Self::weights`], of a column that stands here among the others.
    #[must_use]
    pub fn weight_column(self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.unused(name).weights(values)
    }

    /// As [`Self::groups`], of a column that stands here among the others.
    #[must_use]
    pub fn group_column(mut self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.group_column = Some(self.width());
        self.unused(name).groups(values)
    }

    /// Which rows belong together, by name or number: they stay on the same side of splits.
    #[must_use]
    pub fn groups(mut self, values: impl Into<Values<'a>>) -> Self {
        self.groups = Some(values.into());
        self
    }

    /// What to do about missing values; they are an error if nothing is said.
    #[must_use]
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// The shape of a row of images or series, height × width × channels inputs.
    #[must_use]
    pub fn shape(mut self, shape: Shape) -> Self {
        self.image = Some(shape);
        self
    }

    /// How many threads read a large matrix: one, unless more are asked for. The table is the
    /// same with any number.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The table.
    ///
    /// # Errors
    ///
    /// Lengths that differ, values or groups that are missing, infinite values, no inputs or more
    /// than [`MAX_INPUTS`], no target, a single class, weights below 0 or all 0. The message names
    /// the column, and the row from 1.
    pub fn build(self) -> Result<Table, DataError> {
        if self.rows == 0 {
            return Err(DataError::NoRows { file: IN_MEMORY.into() });
        }
        let mut described = Described::default();
        for part in &self.columns {
            self.describe(part, &mut described)?;
        }
        let Described { columns, may_be_categories, mut warnings } = described;
        let mut names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        // A target that comes last may stand apart from the others, and be called as one of them.
        if columns.last().is_some_and(|column| column.kind == ColumnKind::Target) {
            names.pop();
        }
        check_names(&Origin::several(vec![(0, IN_MEMORY.into())]), &names)?;
        let inputs = width(&columns);
        // A single input may have been gone through in order.
        if inputs == 1 {
            use DataWarning::{Numbering, Rising};
            warnings.retain(|warning| !matches!(warning, Numbering { .. } | Rising { .. }));
        }
        match inputs {
            0 => return Err(DataError::NoInputs { file: IN_MEMORY.into() }),
            1..=MAX_INPUTS => {}
            _ => return Err(wrong(format!("more than {MAX_INPUTS} inputs"))),
        }
        if let Some(shape) = self.image
            && shape.inputs() != inputs
        {
            return Err(wrong(format!("a row has {inputs} inputs, not those of the shape")));
        }
        let values = self.values_of(&columns, inputs)?;
        let (classes, target) = self.targets(&mut warnings)?;
        let weights = self.weights_of()?;
        let division = match &self.groups {
            None => Division::Free,
            Some(given) => {
                let mut groups = Groups::default();
                self.group_names(given)?.iter().for_each(|name| groups.push(name.as_bytes()));
                Division::Groups(groups.numbers)
            }
        };
        let mut schema = Schema {
            columns,
            inputs,
            classes,
            image: self.image,
            may_be_categories,
            warnings,
            ..Schema::new(Format::Csv)
        };
        schema.recordings.group = self.group_column.map(GroupBy::Column);
        let mut table = Table { inputs, values, target, schema, division, weights };
        impute(&mut table);
        let told = recordings(&table, IN_MEMORY, &[]);
        table.schema.warnings.extend(told);
        Ok(table)
    }

    /// Appends what becomes of the columns of `part`.
    fn describe(&self, part: &Columns<'_>, described: &mut Described) -> Result<(), DataError> {
        let Described { columns, may_be_categories, warnings } = described;
        let label = label(columns.len(), &part.names[..]);
        let values = match part.role {
            Role::Input(values) => values,
            Role::Target(..) | Role::Unused => {
                let target = matches!(part.role, Role::Target(..));
                let kind = if target { ColumnKind::Target } else { ColumnKind::Dropped };
                columns.extend(
                    part.names.iter().cloned().map(|name| Column { name, kind: kind.clone() }),
                );
                return Ok(());
            }
        };
        self.check_length(&label.to_string(), values.len(), part.names.len())?;
        if let Values::Text(texts) = values {
            let [name] = &part.names[..] else {
                return Err(wrong(format!("{label}: a matrix has numbers, not texts")));
            };
            let values: BTreeSet<&str> = texts.iter().copied().filter(|t| !t.is_empty()).collect();
            if let Some(row) = texts.iter().position(|text| text.is_empty())
                && self.missing == Missing::Refuse
            {
                return Err(missing(&label, row));
            }
            let numeral = numeral(values.iter().copied());
            if values.len() > MAX_VALUES && numeral.is_none() {
                return Err(DataError::TooManyValues {
                    file: IN_MEMORY.into(),
                    column: label,
                    limit: MAX_VALUES,
                    target: false,
                });
            }
            let texts = texts.iter().filter(|text| !text.is_empty()).count();
            check_categories(values.iter().copied(), texts, IN_MEMORY, &label)?;
            warnings.extend(numeral.map(|text| DataWarning::Numerals {
                file: IN_MEMORY.into(),
                column: label,
                values: values.len(),
                text: text.to_owned(),
            }));
            let values = values.into_iter().map(str::to_owned).collect();
            columns.push(Column { name: name.clone(), kind: ColumnKind::Text { values } });
            return Ok(());
        }
        let width = part.names.len();
        let seen = self.seen(values, width);
        for (name, seen) in part.names.iter().zip(seen) {
            let label = self::label(columns.len(), std::slice::from_ref(name));
            if seen.whole.few() {
                may_be_categories.push(columns.len());
            }
            let missing = seen.described(label, self.missing, warnings)?.then_some(f32::NAN);
            columns.push(Column { name: name.clone(), kind: ColumnKind::Numeric { missing } });
        }
        Ok(())
    }

    /// Names of the classes, none for numbers, and the target of each row; adds what is to be said
    /// of numbers.
    fn targets(&self, warnings: &mut Vec<DataWarning>) -> Result<(Vec<String>, Target), DataError> {
        let mut number = 1;
        let mut found = None;
        for part in &self.columns {
            if let Role::Target(given, classes) = part.role {
                let label = ColumnLabel { number, name: part.names.concat() };
                if found.replace((label, given, classes)).is_some() {
                    return Err(wrong("two targets: one can be predicted".into()));
                }
            }
            number += part.names.len();
        }
        let Some((label, given, classes)) = found else {
            if self.unlabelled {
                return Ok((Vec::new(), Target::Values(vec![0.0; self.rows])));
            }
            return Err(wrong("no target: say what is to be predicted".into()));
        };
        self.check_length(&label.to_string(), given.len(), 1)?;
        let unknown = |row: &usize| match given {
            Values::Text(texts) => texts[*row].is_empty(),
            _ => given.number(*row).is_some_and(|number| !(number as f32).is_finite()),
        };
        if let Some(row) = (0..self.rows).find(unknown) {
            return Err(missing(&label, row));
        }
        if !classes {
            let numbers: Option<Vec<f64>> = (0..self.rows).map(|row| given.number(row)).collect();
            let numbers = numbers.ok_or_else(|| wrong(format!("{label}: texts are no numbers")))?;
            let (mut loss, mut extremes) = (Loss::default(), Extremes::default());
            let range = Range::of(&numbers);
            loss.add(0, &numbers, range);
            extremes.add_all(&numbers, range);
            let values = numbers.into_iter().map(|number| number as f32).collect();
            let far = extremes.warning(IN_MEMORY, &label);
            warnings.extend(far.map(crate::DataWarning::of_target));
            warnings.extend(loss.warning(label));
            return Ok((Vec::new(), Target::Values(values)));
        }
        // Classes in the order in which they come, each named once.
        let mut numbers = BTreeMap::new();
        let mut names = Vec::new();
        let mut numbered = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            numbered.push(*numbers.entry(given.key(row)).or_insert_with(|| {
                names.push(given.name(row));
                names.len() - 1
            }));
        }
        let order = |a: &(f64, String), b: &(f64, String)| match given {
            Values::Text(_) => a.1.cmp(&b.1),
            _ => as_numbers((a.0, &a.1), (b.0, &b.1)),
        };
        let mut sorted = names.clone();
        sorted.sort_by(order);
        match &sorted[..] {
            [(_, class)] => {
                return Err(DataError::OneClass { file: IN_MEMORY.into(), class: class.clone() });
            }
            many if many.len() > MAX_VALUES => {
                return Err(DataError::TooManyValues {
                    file: IN_MEMORY.into(),
                    column: label,
                    limit: MAX_VALUES,
                    target: true,
                });
            }
            _ => {}
        }
        let index = |name: &(f64, String)| {
            sorted.binary_search_by(|other| order(other, name)).unwrap_or_default() as u32
        };
        let indices: Vec<u32> = names.iter().map(index).collect();
        let labels = numbered.into_iter().map(|class| indices[class]).collect();
        let classes: Vec<String> = sorted.into_iter().map(|(_, name)| name).collect();
        warnings.extend(crate::DataWarning::of_classes(IN_MEMORY, &label, &classes));
        Ok((classes, Target::Classes { labels }))
    }

    fn weights_of(&self) -> Result<Option<Vec<f32>>, DataError> {
        let Some(given) = &self.weights else { return Ok(None) };
        self.check_length("weights", given.len(), 1)?;
        let mut weights = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            let weight = given.number(row).unwrap_or(f64::NAN) as f32;
            if !weight.is_finite() || weight < 0.0 {
                let row = row + 1;
                return Err(wrong(format!("row {row}: a weight is a finite number, at least 0")));
            }
            weights.push(weight);
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(DataError::NoWeight { file: IN_MEMORY.into() });
        }
        Ok(Some(weights))
    }

    fn width(&self) -> usize {
        self.columns.iter().map(|part| part.names.len()).sum()
    }

    /// The name of each row's group.
    fn group_names(&self, given: &Values<'_>) -> Result<Vec<String>, DataError> {
        self.check_length("groups", given.len(), 1)?;
        let mut names = self.columns.iter().flat_map(|part| &part.names);
        let column = self.group_column.and_then(|index| Some((index, names.nth(index)?)));
        let at = column.map_or_else(
            || "groups".to_owned(),
            |(index, name)| label(index, std::slice::from_ref(name)).to_string(),
        );
        let name = |row: usize| match given.name(row) {
            (number, name) if number.is_nan() || name.is_empty() => {
                Err(wrong(format!("row {}, {at}: the group is missing", row + 1)))
            }
            (_, name) => Ok(name),
        };
        (0..self.rows).map(name).collect()
    }

    fn check_length(&self, what: &str, found: usize, columns: usize) -> Result<(), DataError> {
        if self.rows.checked_mul(columns) == Some(found) {
            return Ok(());
        }
        let rows = self.rows;
        Err(wrong(match columns {
            1 => format!("{what}: {found} values for {rows} rows"),
            _ => format!("{what}: {found} values for {rows} rows of {columns} columns"),
        }))
    }
}

/// The label of the column at `index` from 0, or of the first of several.
fn label(index: usize, names: &[String]) -> ColumnLabel {
    ColumnLabel { number: index + 1, name: names.first().cloned().unwrap_or_default() }
}

fn wrong(problem: String) -> DataError {
    DataError::Malformed { file: IN_MEMORY.into(), problem }
}

fn missing(column: &ColumnLabel, row: usize) -> DataError {
    wrong(format!("row {}, {column}: the value is missing", row + 1))
}

#[cfg(test)]
mod tests;
