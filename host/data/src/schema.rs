//! How raw columns become inputs; kept with a model as compact JSON.

use serde::{Deserialize, Serialize};

use super::categories::coded_place;
use super::code::{Code, CodedValues};
use super::compact::Compact;
use super::error::{ColumnLabel, DataError};
use super::open::Origin;
use super::recordings::Recordings;
use super::shape::Shape;
use super::warning::DataWarning;
use super::{MAX_INPUTS, Task};

/// The format of a data file.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Tables with columns: CSV, TSV and their kin, ARFF, PROBEN1, NumPy arrays
    /// and Parquet.
    Csv,
    /// Sparse text: `label index:value …`.
    Svmlight,
    /// The binary arrays of MNIST.
    Idx,
}

impl Format {
    /// The format's name with its article, for messages.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Format::Csv => "a table such as a CSV file",
            Format::Svmlight => "an svmlight file",
            Format::Idx => "an idx file",
        }
    }
}

/// How raw columns become inputs and what the target is.
///
/// Inferred by [`read`](super::read) and kept with the model, so that raw
/// columns can be given to it again. The JSON is short, since it travels inside
/// a model of a few hundred bytes: `{"format":"svmlight"}`, or
/// `{"columns":["age",{"name":"job","values":["a","b"]},{"target":"y"}]}`, or without
/// the names of columns, three numeric ones, one that is not used and the target, in
/// windows of 128 samples at every 32nd: `{"columns":[3,-1,0],"window":[128,32]}`.
/// [`Schema::inputs`] and [`Schema::classes`] are not part of it, as the model
/// stores them already; [`Schema::restored`] puts them back.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(into = "Compact", try_from = "Compact")]
pub struct Schema {
    /// The format of the data.
    pub format: Format,
    /// Every column of a table, in the order of the file; empty for
    /// other formats.
    pub columns: Vec<Column>,
    /// Whether the indices of an svmlight file count from 0 instead of 1.
    pub zero_based: bool,
    /// The class that is told from all the others; `None` when each class is one.
    pub positive: Option<String>,
    /// How samples belong to recordings and become rows.
    pub recordings: Recordings,
    /// Inputs per row; not in the JSON.
    pub inputs: usize,
    /// Names of the classes, empty for regression; not in the JSON.
    pub classes: Vec<String>,
    /// How names became codes, where notes have no room for the names: they are then `#`
    /// and a code.
    pub name_code: Option<Code>,
    /// What is worth knowing of the training data; not in the JSON.
    pub warnings: Vec<DataWarning>,
    /// The shape of a row of images, where the data say it; not in the JSON.
    pub image: Option<Shape>,
    /// Which columns, from 0, are of so few whole numbers that these may be categories; not in
    /// the JSON.
    pub may_be_categories: Vec<usize>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in the header; empty where there is none.
    pub name: String,
    /// What becomes of it.
    pub kind: ColumnKind,
}

/// What becomes of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnKind {
    /// One input, the number itself.
    Numeric {
        /// What stands in for a missing value, the median of the training data;
        /// `None` where the training data had no missing value, and then a
        /// missing value is an error.
        missing: Option<f32>,
    },
    /// One input for each value, 1 for the row's value and 0 for the others; all
    /// 0 for a value not listed or missing.
    Text {
        /// The values of the training data, strictly ascending.
        values: Vec<String>,
    },
    /// The same of a model whose notes have no room for the values: by their codes.
    Coded(CodedValues),
    /// The target; no input. At most one column.
    Target,
    /// Not used.
    Dropped,
}

impl Column {
    /// Number of inputs that the column becomes.
    pub fn inputs(&self) -> usize {
        match &self.kind {
            ColumnKind::Numeric { .. } => 1,
            ColumnKind::Text { values } => values.len(),
            ColumnKind::Coded(values) => values.count(),
            ColumnKind::Target | ColumnKind::Dropped => 0,
        }
    }
}

impl Schema {
    /// A schema of nothing yet.
    pub fn new(format: Format) -> Schema {
        Schema {
            format,
            columns: Vec::new(),
            zero_based: false,
            positive: None,
            recordings: Recordings::default(),
            inputs: 0,
            classes: Vec::new(),
            name_code: None,
            warnings: Vec::new(),
            image: None,
            may_be_categories: Vec::new(),
        }
    }

    /// What a row is: an image, if the data say so, or a window of a series.
    pub fn shape(&self) -> Option<Shape> {
        let series = self.recordings.window.map(|window| Shape {
            height: 1,
            width: window.samples,
            channels: self.inputs / window.samples.max(1),
        });
        self.image.or(series)
    }

    /// Whether the target is a class or a value.
    pub fn task(&self) -> Task {
        if self.classes.is_empty() { Task::Regression } else { Task::Classification }
    }

    /// Whether something stands in for missing numbers.
    pub(crate) fn fills(&self) -> bool {
        let fills = |kind: &ColumnKind| matches!(kind, ColumnKind::Numeric { missing: Some(_) });
        self.columns.iter().any(|column| fills(&column.kind))
    }

    /// Whether rows have no target: of the columns none is one, nor does the path say it.
    pub fn unlabelled(&self) -> bool {
        self.format == Format::Csv
            && !self.columns.is_empty()
            && self.columns.iter().all(|column| column.kind != ColumnKind::Target)
            && self.recordings.label.is_none()
    }

    /// The target's name; `None` where it has none.
    pub fn target_name(&self) -> Option<&str> {
        let target = self.columns.iter().find(|c| c.kind == ColumnKind::Target)?;
        Some(target.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The schema in the notes of a model that takes so many inputs and has these classes.
    ///
    /// # Errors
    ///
    /// [`DataError::Schema`] if the notes hold no schema, or that of other inputs.
    pub fn of_notes(notes: &str, inputs: usize, classes: Vec<String>) -> Result<Schema, DataError> {
        let schema: Schema =
            serde_json::from_str(notes).map_err(|error| DataError::Schema(error.to_string()))?;
        schema.restored(inputs, classes)
    }

    /// The schema read back from JSON, with what its model stores: the number of
    /// inputs per row and the names of the classes, none for regression.
    ///
    /// # Errors
    ///
    /// [`DataError::Schema`] if the columns make another number of inputs.
    pub fn restored(self, inputs: usize, classes: Vec<String>) -> Result<Schema, DataError> {
        if self.format == Format::Csv {
            let found = width(&self.columns).saturating_mul(self.recordings.samples());
            if found != inputs {
                return Err(DataError::Schema(format!(
                    "the columns make {found} inputs, the model takes {inputs}"
                )));
            }
        }
        Ok(Schema { inputs, classes, ..self })
    }

    /// The schema of telling class `positive` from all the others.
    pub(crate) fn against_rest(self, positive: &str, file: &str) -> Result<Schema, DataError> {
        // Classes that are texts may look like numbers, and keep what they are.
        let name = match self.classes.iter().any(|class| class == positive) {
            true => positive.to_owned(),
            false => super::scan::class_name(positive).unwrap_or_else(|| positive.to_owned()),
        };
        if !self.classes.contains(&name) {
            let classes = super::fill::list(&self.classes);
            return Err(DataError::NoSuchClass {
                file: file.to_owned(),
                class: positive.to_owned(),
                classes,
            });
        }
        let classes = vec![format!("not {name}"), name.clone()];
        Ok(Schema { classes, positive: Some(name), ..self })
    }

    /// The schema without the names of its columns, which shortens its JSON:
    /// columns are then matched by position alone.
    pub fn without_names(mut self) -> Schema {
        for column in &mut self.columns {
            column.name.clear();
        }
        self.name_code = None;
        self
    }

    /// The schema with the names and values that its codes stand for, as far as the table has them,
    /// and names for columns that have none: of a table with the same columns, read with those of
    /// coded values as text and none as the target.
    #[must_use]
    pub fn named_by(&self, table: &Schema) -> Schema {
        let mut named = self.clone();
        for (own, its) in named.columns.iter_mut().zip(&table.columns) {
            let is_its = |code: Code| code.name(&its.name) == own.name;
            if own.name.is_empty() || self.name_code.is_some_and(is_its) {
                own.name.clone_from(&its.name);
            }
            if let (ColumnKind::Coded(coded), ColumnKind::Text { values }) = (&own.kind, &its.kind)
            {
                let known = values.iter().filter_map(|v| Some((coded_place(coded, v)?, v)));
                let mut all: Vec<String> = coded.shown().collect();
                known.for_each(|(place, value)| all[place].clone_from(value));
                own.kind = ColumnKind::Text { values: all };
            }
        }
        named
    }

    /// Names as the schema has them: of a file's columns, or what somebody asks for.
    pub(crate) fn own_names(&self, names: &[String]) -> Vec<String> {
        match self.name_code {
            Some(code) => names.iter().map(|name| code.name(name)).collect(),
            None => names.to_vec(),
        }
    }

    /// Refuses names of a file of which two have the code of the same column.
    pub(crate) fn check_coded(
        &self,
        origin: &Origin,
        names: &[String],
        own: &[String],
    ) -> Result<(), DataError> {
        if self.name_code.is_none() {
            return Ok(());
        }
        for column in self.columns.iter().filter(|column| !column.name.is_empty()) {
            let same = own.iter().zip(names).filter(|(own, _)| **own == column.name);
            let same: Vec<&String> = same.map(|(_, name)| name).collect();
            if let [first, second, ..] = same[..] {
                return Err(DataError::SameCode {
                    file: origin.file.clone(),
                    first: first.clone(),
                    second: second.clone(),
                });
            }
        }
        Ok(())
    }

    /// Label of the column at `index` from 0, for messages: codes of names tell people nothing.
    pub(crate) fn label(&self, index: usize) -> ColumnLabel {
        let name = self.columns.get(index).filter(|_| self.name_code.is_none());
        ColumnLabel { number: index + 1, name: name.map_or(String::new(), |c| c.name.clone()) }
    }
}

/// Number of inputs that the columns make together.
pub(crate) fn width(columns: &[Column]) -> usize {
    columns.iter().map(Column::inputs).sum()
}

/// What is wrong with columns from elsewhere, if anything is.
pub(crate) fn check(columns: &[Column]) -> Result<(), String> {
    let targets = columns.iter().filter(|c| c.kind == ColumnKind::Target);
    if targets.count() > 1 {
        return Err("more than one target".to_string());
    }
    for column in columns {
        if let ColumnKind::Text { values } = &column.kind
            && !values.is_sorted_by(|a, b| a < b)
        {
            return Err(format!("values of `{}` are not ascending", column.name));
        }
    }
    if width(columns) > MAX_INPUTS {
        return Err(format!("more than {MAX_INPUTS} inputs"));
    }
    Ok(())
}
