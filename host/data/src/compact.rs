//! A schema as short JSON: every byte of it travels with a model.
//!
//! Columns are an array of: a string for a numeric column of that name; a number for
//! columns without names, `n` for so many numeric ones in a row, `-n` for dropped ones,
//! 0 for the target; an object for everything else.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::MAX_INPUTS;
use super::recordings::{GroupBy, LabelFrom, Recordings, Window};
use super::schema::{Column, ColumnKind, Format, Schema, check};

/// What the JSON holds of a schema.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compact {
    #[serde(default = "table", skip_serializing_if = "is_table")]
    format: Format,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "self")]
    columns: Vec<Column>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    zero_based: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    positive: Option<String>,
    /// Samples and stride.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<(usize, usize)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Group>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<LabelFrom>,
}

/// The number of a column, or a word.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Group {
    Column(usize),
    Word(GroupWord),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GroupWord {
    File,
}

fn table() -> Format {
    Format::Csv
}

fn is_table(format: &Format) -> bool {
    *format == Format::Csv
}

impl From<Schema> for Compact {
    fn from(schema: Schema) -> Compact {
        let Recordings { window, group, label } = schema.recordings;
        Compact {
            format: schema.format,
            columns: schema.columns,
            zero_based: schema.zero_based,
            positive: schema.positive,
            window: window.map(|Window { samples, stride }| (samples, stride)),
            group: group.map(|group| match group {
                GroupBy::File => Group::Word(GroupWord::File),
                GroupBy::Column(column) => Group::Column(column),
            }),
            label,
        }
    }
}

impl TryFrom<Compact> for Schema {
    type Error = &'static str;

    fn try_from(compact: Compact) -> Result<Schema, &'static str> {
        if compact.window.is_some_and(|(samples, stride)| samples == 0 || stride == 0) {
            return Err("a window without samples, or without a stride");
        }
        let recordings = Recordings {
            window: compact.window.map(|(samples, stride)| Window { samples, stride }),
            group: compact.group.map(|group| match group {
                Group::Word(GroupWord::File) => GroupBy::File,
                Group::Column(column) => GroupBy::Column(column),
            }),
            label: compact.label,
        };
        let Compact { format, columns, zero_based, positive, .. } = compact;
        Ok(Schema { columns, zero_based, positive, recordings, ..Schema::new(format) })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Item {
    Unnamed(i64),
    Name(String),
    Target(TargetItem),
    Dropped(DroppedItem),
    Text(TextItem),
    Imputed(ImputedItem),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetItem {
    target: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DroppedItem {
    dropped: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextItem {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    values: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImputedItem {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    missing: f32,
}

/// The number of unnamed columns.
fn unnamed(column: &Column) -> Option<i64> {
    match column.kind {
        _ if !column.name.is_empty() => None,
        ColumnKind::Numeric { missing: None } => Some(1),
        ColumnKind::Dropped => Some(-1),
        ColumnKind::Target => Some(0),
        ColumnKind::Numeric { .. } | ColumnKind::Text { .. } => None,
    }
}

fn serialize<S: Serializer>(columns: &[Column], to: S) -> Result<S::Ok, S::Error> {
    let mut items = Vec::new();
    for column in columns {
        if let Some(number) = unnamed(column) {
            match items.last_mut() {
                Some(Item::Unnamed(count)) if *count * number > 0 => *count += number,
                _ => items.push(Item::Unnamed(number)),
            }
            continue;
        }
        let name = column.name.clone();
        items.push(match &column.kind {
            ColumnKind::Numeric { missing: None } => Item::Name(name),
            ColumnKind::Numeric { missing: Some(value) } => {
                Item::Imputed(ImputedItem { name, missing: *value })
            }
            ColumnKind::Text { values } => Item::Text(TextItem { name, values: values.clone() }),
            ColumnKind::Target => Item::Target(TargetItem { target: name }),
            ColumnKind::Dropped => Item::Dropped(DroppedItem { dropped: name }),
        });
    }
    items.serialize(to)
}

fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Column>, D::Error> {
    let mut columns: Vec<Column> = Vec::new();
    for item in Vec::<Item>::deserialize(from)? {
        let mut count = 1;
        let (name, kind) = match item {
            Item::Unnamed(0) => (String::new(), ColumnKind::Target),
            Item::Unnamed(n) => {
                count = n.unsigned_abs();
                let numeric = ColumnKind::Numeric { missing: None };
                (String::new(), if n > 0 { numeric } else { ColumnKind::Dropped })
            }
            Item::Name(name) => (name, ColumnKind::Numeric { missing: None }),
            Item::Target(item) => (item.target, ColumnKind::Target),
            Item::Dropped(item) => (item.dropped, ColumnKind::Dropped),
            Item::Text(item) => (item.name, ColumnKind::Text { values: item.values }),
            Item::Imputed(item) if !item.missing.is_finite() => {
                return Err(D::Error::custom("a stand-in that is not finite"));
            }
            Item::Imputed(item) => (item.name, ColumnKind::Numeric { missing: Some(item.missing) }),
        };
        // The count is a stranger's number: bound it before it takes memory.
        let free = MAX_INPUTS - columns.len().min(MAX_INPUTS);
        let Some(count) = usize::try_from(count).ok().filter(|&count| count <= free) else {
            return Err(D::Error::custom(format!("more than {MAX_INPUTS} columns")));
        };
        columns.extend(std::iter::repeat_n(Column { name, kind }, count));
    }
    check(&columns).map_err(D::Error::custom)?;
    Ok(columns)
}
