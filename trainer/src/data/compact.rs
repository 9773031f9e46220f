//! Columns as short JSON.
//!
//! An array of: a string for a numeric column of that name, a number for so
//! many unnamed numeric columns in a row, and an object for everything else.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::MAX_INPUTS;
use super::schema::{Column, ColumnKind, check};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Item {
    Unnamed(usize),
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

pub(crate) fn serialize<S: Serializer>(columns: &[Column], to: S) -> Result<S::Ok, S::Error> {
    let mut items = Vec::new();
    for column in columns {
        let name = column.name.clone();
        let item = match &column.kind {
            ColumnKind::Numeric { missing: None } if name.is_empty() => {
                if let Some(Item::Unnamed(count)) = items.last_mut() {
                    *count += 1;
                    continue;
                }
                Item::Unnamed(1)
            }
            ColumnKind::Numeric { missing: None } => Item::Name(name),
            ColumnKind::Numeric { missing: Some(value) } => {
                Item::Imputed(ImputedItem { name, missing: *value })
            }
            ColumnKind::Text { values } => Item::Text(TextItem { name, values: values.clone() }),
            ColumnKind::Target => Item::Target(TargetItem { target: name }),
            ColumnKind::Dropped => Item::Dropped(DroppedItem { dropped: name }),
        };
        items.push(item);
    }
    items.serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Column>, D::Error> {
    let mut columns: Vec<Column> = Vec::new();
    for item in Vec::<Item>::deserialize(from)? {
        let mut count = 1;
        let (name, kind) = match item {
            Item::Unnamed(n) => {
                count = n;
                (String::new(), ColumnKind::Numeric { missing: None })
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
        if count > MAX_INPUTS - columns.len().min(MAX_INPUTS) {
            return Err(D::Error::custom(format!("more than {MAX_INPUTS} columns")));
        }
        columns.extend(std::iter::repeat_n(Column { name, kind }, count));
    }
    check(&columns).map_err(D::Error::custom)?;
    Ok(columns)
}
