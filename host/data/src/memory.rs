//! Tables from columns and matrices that are in memory.

use std::collections::BTreeSet;

use crate::error::{ColumnLabel, DataError};
use crate::fill::{Groups, impute};
use crate::schema::width;
use crate::{
    Column, ColumnKind, Division, Format, MAX_INPUTS, MAX_VALUES, Missing, Schema, Shape, Table,
    Target,
};

/// What the messages call a table that no file holds.
const NAME: &str = "the table";

/// Values that are lent: of a column one for each row, of a matrix row by row.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values<'a> {
    /// Numbers; NaN is a missing one.
    F32(&'a [f32]),
    /// Numbers; NaN is a missing one.
    F64(&'a [f64]),
    /// Whole numbers.
    I64(&'a [i64]),
    /// Whole numbers.
    I32(&'a [i32]),
    /// Whole numbers.
    I16(&'a [i16]),
    /// Whole numbers.
    U8(&'a [u8]),
    /// Texts; an empty one is missing.
    Text(&'a [&'a str]),
}

macro_rules! lent {
    ($($kind:ident: $type:ty,)+) => {$(
        impl<'a> From<&'a [$type]> for Values<'a> {
            fn from(values: &'a [$type]) -> Self {
                Self::$kind(values)
            }
        }
    )+};
}

lent!(F32: f32, F64: f64, I64: i64, I32: i32, I16: i16, U8: u8, Text: &'a str,);

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// The number at `i`; none of texts.
    fn number(&self, i: usize) -> Option<f64> {
        Some(match self {
            Self::F32(values) => values[i].into(),
            Self::F64(values) => values[i],
            Self::I64(values) => values[i] as f64,
            Self::I32(values) => values[i].into(),
            Self::I16(values) => values[i].into(),
            Self::U8(values) => values[i].into(),
            Self::Text(_) => return None,
        })
    }

    /// The name of the class or group at `i`, and the number to order it by.
    fn name(&self, i: usize) -> (f64, String) {
        match self {
            Self::Text(values) => (0.0, values[i].to_owned()),
            Self::I64(values) => (values[i] as f64, values[i].to_string()),
            // Adding zero turns -0 into 0.
            _ => self.number(i).map_or_else(Default::default, |n| (n, (n + 0.0).to_string())),
        }
    }
}

/// Inputs of a table: a column, or several side by side.
#[derive(Clone, Debug)]
struct Inputs<'a> {
    names: Vec<String>,
    values: Values<'a>,
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
    inputs: Vec<Inputs<'a>>,
    target: Option<(String, Values<'a>, bool)>,
    weights: Option<Values<'a>>,
    groups: Option<Values<'a>>,
    missing: Missing,
    image: Option<Shape>,
}

impl<'a> TableBuilder<'a> {
    /// A table of so many rows, without columns yet.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self {
            rows,
            inputs: Vec::new(),
            target: None,
            weights: None,
            groups: None,
            missing: Missing::Refuse,
            image: None,
        }
    }

    /// Adds a column, `rows` values: of numbers one input, of texts one for each of at most
    /// [`MAX_VALUES`] different ones.
    #[must_use]
    pub fn column(mut self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.inputs.push(Inputs { names: vec![name.to_owned()], values: values.into() });
        self
    }

    /// Adds a matrix of `rows × columns` numbers, row by row, without names.
    #[must_use]
    pub fn matrix(mut self, columns: usize, values: impl Into<Values<'a>>) -> Self {
        self.inputs.push(Inputs { names: vec![String::new(); columns], values: values.into() });
        self
    }

    /// Adds a matrix of numbers, row by row, whose columns have these names.
    #[must_use]
    pub fn named_matrix(mut self, names: &[&str], values: impl Into<Values<'a>>) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        self.inputs.push(Inputs { names, values: values.into() });
        self
    }

    /// What is to be predicted: a class for each row, by name or number. Numbers are in
    /// ascending order, and texts.
    #[must_use]
    pub fn classes(mut self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.target = Some((name.to_owned(), values.into(), true));
        self
    }

    /// What is to be predicted: a number for each row.
    #[must_use]
    pub fn values(mut self, name: &str, values: impl Into<Values<'a>>) -> Self {
        self.target = Some((name.to_owned(), values.into(), false));
        self
    }

    /// How much each row counts: finite, at least 0.
    #[must_use]
    pub fn weights(mut self, values: impl Into<Values<'a>>) -> Self {
        self.weights = Some(values.into());
        self
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

    /// The table.
    ///
    /// # Errors
    ///
    /// Lengths that differ, values that are missing or infinite, no inputs or more than
    /// [`MAX_INPUTS`], no target, a single class, weights below 0 or all 0. The message names
    /// the column, and the row from 1.
    pub fn build(self) -> Result<Table, DataError> {
        if self.rows == 0 {
            return Err(DataError::NoRows { file: NAME.into() });
        }
        let mut columns = Vec::new();
        for part in &self.inputs {
            self.describe(part, &mut columns)?;
        }
        let inputs = width(&columns);
        match inputs {
            0 => return Err(DataError::NoInputs { file: NAME.into() }),
            1..=MAX_INPUTS => {}
            _ => return Err(wrong(format!("more than {MAX_INPUTS} inputs"))),
        }
        if let Some(shape) = self.image
            && shape.inputs() != inputs
        {
            return Err(wrong(format!("a row has {inputs} inputs, not those of the shape")));
        }
        let values = self.values_of(&columns, inputs)?;
        let (classes, target) = self.targets()?;
        let name = self.target.as_ref().map_or(String::new(), |(name, ..)| name.clone());
        columns.push(Column { name, kind: ColumnKind::Target });
        let weights = self.weights_of()?;
        let division = match &self.groups {
            None => Division::Free,
            Some(given) => {
                self.check_length("groups", given.len(), 1)?;
                let mut groups = Groups::default();
                (0..self.rows).for_each(|row| groups.push(given.name(row).1.as_bytes()));
                Division::Groups(groups.numbers)
            }
        };
        let schema =
            Schema { columns, inputs, classes, image: self.image, ..Schema::new(Format::Csv) };
        let mut table = Table { inputs, values, target, schema, division, weights };
        impute(&mut table);
        Ok(table)
    }

    /// Appends what becomes of the columns of `part`.
    fn describe(&self, part: &Inputs<'_>, columns: &mut Vec<Column>) -> Result<(), DataError> {
        let label = label(columns.len(), &part.names[..]);
        self.check_length(&label.to_string(), part.values.len(), part.names.len())?;
        if let Values::Text(texts) = part.values {
            let [name] = &part.names[..] else {
                return Err(wrong(format!("{label}: a matrix has numbers, not texts")));
            };
            let values: BTreeSet<&str> = texts.iter().copied().filter(|t| !t.is_empty()).collect();
            if let Some(row) = texts.iter().position(|text| text.is_empty())
                && self.missing == Missing::Refuse
            {
                return Err(missing(&label, row));
            }
            if values.len() > MAX_VALUES {
                return Err(DataError::TooManyValues {
                    file: NAME.into(),
                    column: label,
                    limit: MAX_VALUES,
                    target: false,
                });
            }
            let values = values.into_iter().map(str::to_owned).collect();
            columns.push(Column { name: name.clone(), kind: ColumnKind::Text { values } });
            return Ok(());
        }
        let width = part.names.len();
        for (column, name) in part.names.iter().enumerate() {
            let numbers = (0..self.rows).filter_map(|row| part.values.number(row * width + column));
            let (mut known, mut unknown) = (false, None);
            for (row, number) in numbers.enumerate() {
                if number.is_nan() {
                    unknown.get_or_insert(row);
                } else if !(number as f32).is_finite() {
                    let label = self::label(columns.len(), std::slice::from_ref(name));
                    let row = row + 1;
                    return Err(wrong(format!("row {row}, {label}: {number} is too large")));
                } else {
                    known = true;
                }
            }
            let label = || self::label(columns.len(), std::slice::from_ref(name));
            match unknown {
                Some(row) if self.missing == Missing::Refuse => {
                    return Err(missing(&label(), row));
                }
                Some(_) if !known => {
                    return Err(DataError::NoValues { file: NAME.into(), column: label() });
                }
                _ => {}
            }
            let missing = unknown.map(|_| f32::NAN);
            columns.push(Column { name: name.clone(), kind: ColumnKind::Numeric { missing } });
        }
        Ok(())
    }

    /// The inputs, row by row.
    fn values_of(&self, columns: &[Column], inputs: usize) -> Result<Vec<f32>, DataError> {
        let mut values = Vec::new();
        let room = self.rows.checked_mul(inputs);
        room.and_then(|room| values.try_reserve_exact(room).ok())
            .ok_or_else(|| DataError::TooLarge { file: NAME.into(), rows: self.rows, inputs })?;
        for row in 0..self.rows {
            let mut columns = columns.iter();
            for part in &self.inputs {
                let width = part.names.len();
                for (i, column) in columns.by_ref().take(width).enumerate() {
                    match (&column.kind, part.values) {
                        (ColumnKind::Text { values: listed }, Values::Text(texts)) => {
                            let indicator = |text: &String| f32::from(text == texts[row]);
                            values.extend(listed.iter().map(indicator));
                        }
                        _ => values.extend(part.values.number(row * width + i).map(|n| n as f32)),
                    }
                }
            }
        }
        Ok(values)
    }

    /// Names of the classes, none for numbers, and the target of each row.
    fn targets(&self) -> Result<(Vec<String>, Target), DataError> {
        let Some((name, given, classes)) = &self.target else {
            return Err(wrong("no target: say what is to be predicted".into()));
        };
        let label = ColumnLabel { number: 1 + self.columns(), name: name.clone() };
        self.check_length(&label.to_string(), given.len(), 1)?;
        let unknown = |row: &usize| match given {
            Values::Text(texts) => texts[*row].is_empty(),
            _ => given.number(*row).is_some_and(|number| !(number as f32).is_finite()),
        };
        if let Some(row) = (0..self.rows).find(unknown) {
            return Err(missing(&label, row));
        }
        if !classes {
            let values: Option<Vec<f32>> =
                (0..self.rows).map(|row| given.number(row).map(|n| n as f32)).collect();
            let values = values.ok_or_else(|| wrong(format!("{label}: texts are no numbers")))?;
            return Ok((Vec::new(), Target::Values(values)));
        }
        let names: Vec<(f64, String)> = (0..self.rows).map(|row| given.name(row)).collect();
        let order =
            |a: &(f64, String), b: &(f64, String)| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1));
        let mut sorted = names.clone();
        sorted.sort_by(order);
        sorted.dedup();
        match &sorted[..] {
            [(_, class)] => {
                return Err(DataError::OneClass { file: NAME.into(), class: class.clone() });
            }
            many if many.len() > MAX_VALUES => {
                return Err(DataError::TooManyValues {
                    file: NAME.into(),
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
        let labels = names.iter().map(index).collect();
        let classes = sorted.into_iter().map(|(_, name)| name).collect();
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
            return Err(DataError::NoWeight { file: NAME.into() });
        }
        Ok(Some(weights))
    }

    fn columns(&self) -> usize {
        self.inputs.iter().map(|part| part.names.len()).sum()
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
    DataError::Malformed { file: NAME.into(), problem }
}

fn missing(column: &ColumnLabel, row: usize) -> DataError {
    wrong(format!("row {}, {column}: the value is missing", row + 1))
}

#[cfg(test)]
mod tests;
