//! A schema as short JSON: every byte of it travels with a model. `docs/data.md` has the
//! keys.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::code::{Code, CodedValues};
use super::label_from::LabelFrom;
use super::recordings::{GroupBy, Recordings, Window};
use super::schema::{Column, ColumnKind, Format, Schema, check};
use super::{MAX_INPUTS, MAX_VALUES};

/// What the JSON holds of a schema.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compact {
    #[serde(default = "table", skip_serializing_if = "is_table")]
    format: Format,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Item>,
    /// Where names are codes, the character of their salt; three times for codes of three
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
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
        let columns = items(&schema);
        let salt = schema.name_code.map(|code| {
            let times = if code.width() == 2 { 1 } else { 3 };
            code.salt().to_string().repeat(times)
        });
        let Recordings { window, group, label } = schema.recordings;
        Compact {
            format: schema.format,
            columns,
            salt,
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
    type Error = String;

    fn try_from(compact: Compact) -> Result<Schema, String> {
        if compact.window.is_some_and(|(samples, stride)| samples == 0 || stride == 0) {
            return Err("a window without samples, or without a stride".into());
        }
        let name_code = compact.salt.as_deref().map(|salt| {
            let mut characters = salt.chars();
            let first = characters.next()?;
            let width = if characters.next().is_some() { 3 } else { 2 };
            Code::new(first, width)
        });
        if name_code == Some(None) {
            return Err("a salt that is none".into());
        }
        let name_code = name_code.flatten();
        let recordings = Recordings {
            window: compact.window.map(|(samples, stride)| Window { samples, stride }),
            group: compact.group.map(|group| match group {
                Group::Word(GroupWord::File) => GroupBy::File,
                Group::Column(column) => GroupBy::Column(column),
            }),
            label: compact.label,
        };
        let Compact { format, columns, zero_based, positive, .. } = compact;
        let columns = columns_of(columns, name_code)?;
        let schema = Schema::new(format);
        Ok(Schema { columns, zero_based, positive, recordings, name_code, ..schema })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Item {
    Unnamed(i64),
    Name(String),
    /// Name and values as codes, in one text where the name is a code, too.
    Coded(Vec<String>),
    /// Name, first and last of values that are whole numbers without a gap.
    Whole(String, i64, i64),
    /// The same of columns without names: how many.
    UnnamedWhole(usize, i64, i64),
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
        ColumnKind::Numeric { .. } | ColumnKind::Text { .. } | ColumnKind::Coded(_) => None,
    }
}

fn items(schema: &Schema) -> Vec<Item> {
    let mut items = Vec::new();
    for column in &schema.columns {
        if let Some(number) = unnamed(column) {
            match items.last_mut() {
                Some(Item::Unnamed(count)) if *count * number > 0 => *count += number,
                _ => items.push(Item::Unnamed(number)),
            }
            continue;
        }
        // The sign of a code goes without saying.
        let coded = schema.name_code.and_then(|_| column.name.strip_prefix('#'));
        let name = coded.unwrap_or(&column.name).to_owned();
        let item = match &column.kind {
            ColumnKind::Numeric { missing: None } => Item::Name(name),
            ColumnKind::Numeric { missing: Some(value) } => {
                Item::Imputed(ImputedItem { name, missing: *value })
            }
            ColumnKind::Text { values } => match ends(values) {
                Some((first, last)) if name.is_empty() => Item::UnnamedWhole(1, first, last),
                Some((first, last)) => Item::Whole(name, first, last),
                None => Item::Text(TextItem { name, values: values.clone() }),
            },
            ColumnKind::Coded(values) if coded.is_some() => {
                Item::Coded(vec![name + &values.written()])
            }
            ColumnKind::Coded(values) => Item::Coded(vec![name, values.written()]),
            ColumnKind::Target => Item::Target(TargetItem { target: name }),
            ColumnKind::Dropped => Item::Dropped(DroppedItem { dropped: name }),
        };
        match (items.last_mut(), item) {
            (Some(Item::UnnamedWhole(count, a, b)), Item::UnnamedWhole(_, first, last))
                if (*a, *b) == (first, last) =>
            {
                *count += 1;
            }
            (_, item) => items.push(item),
        }
    }
    items
}

/// The first and the last of values that are all whole numbers between them.
fn ends(values: &[String]) -> Option<(i64, i64)> {
    let numbers = values.iter().map(|value| value.parse().ok());
    let numbers: Vec<i64> = numbers.collect::<Option<_>>()?;
    let (&first, &last) = (numbers.iter().min()?, numbers.iter().max()?);
    (whole(first, last)? == values).then_some((first, last))
}

/// The whole numbers from `first` to `last`, ascending as texts; none if they are too many.
fn whole(first: i64, last: i64) -> Option<Vec<String>> {
    let count = last.checked_sub(first)?.checked_add(1)?;
    if !(1..=MAX_VALUES as i64).contains(&count) {
        return None;
    }
    let mut values: Vec<String> = (first..=last).map(|number| number.to_string()).collect();
    values.sort_unstable();
    Some(values)
}

fn whole_kind(first: i64, last: i64) -> Result<ColumnKind, String> {
    let values = whole(first, last).ok_or("values that are no range of numbers")?;
    Ok(ColumnKind::Text { values })
}

fn columns_of(items: Vec<Item>, name_code: Option<Code>) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    let mut taken = 0;
    for item in items {
        let mut count = 1;
        let (name, kind) = match item {
            Item::Unnamed(0) => (String::new(), ColumnKind::Target),
            Item::Unnamed(n) => {
                count = n.unsigned_abs();
                let numeric = ColumnKind::Numeric { missing: None };
                (String::new(), if n > 0 { numeric } else { ColumnKind::Dropped })
            }
            Item::Name(name) => (name, ColumnKind::Numeric { missing: None }),
            Item::Coded(texts) => {
                let (name, values) = match (&texts[..], name_code) {
                    ([whole], Some(code)) => whole.split_at_checked(code.width()),
                    ([name, values], _) => Some((name.as_str(), values.as_str())),
                    _ => None,
                }
                .ok_or("a column whose values are no codes")?;
                let values = CodedValues::read(values).ok_or("values that are no codes")?;
                (name.to_owned(), ColumnKind::Coded(values))
            }
            Item::Whole(name, first, last) => (name, whole_kind(first, last)?),
            Item::UnnamedWhole(columns, first, last) => {
                count = columns as u64;
                (String::new(), whole_kind(first, last)?)
            }
            Item::Target(item) => (item.target, ColumnKind::Target),
            Item::Dropped(item) => (item.dropped, ColumnKind::Dropped),
            Item::Text(item) => (item.name, ColumnKind::Text { values: item.values }),
            Item::Imputed(item) if !item.missing.is_finite() => {
                return Err("a stand-in that is not finite".into());
            }
            Item::Imputed(item) => (item.name, ColumnKind::Numeric { missing: Some(item.missing) }),
        };
        let name = match name_code {
            Some(code) if !name.is_empty() => {
                let whole = code.numbers(&name).is_some_and(|codes| codes.len() == 1);
                if !whole {
                    return Err(format!("a name that is no code: `{name}`"));
                }
                format!("#{name}")
            }
            _ => name,
        };
        // The count is a stranger's number: bound it before it takes memory.
        let column = Column { name, kind };
        let room = usize::try_from(count).ok().and_then(|n| n.checked_mul(column.inputs().max(1)));
        let Some(room) = room.filter(|&room| room <= MAX_INPUTS - taken) else {
            return Err(format!("more than {MAX_INPUTS} columns or inputs"));
        };
        taken += room;
        columns.extend(std::iter::repeat_n(column, count as usize));
    }
    check(&columns)?;
    Ok(columns)
}

/// Bytes of JSON from which names and values are given up for codes.
pub const MAX_NOTES: usize = 350;

impl Schema {
    /// The schema for a model's notes: names and values as they are if these take at most
    /// [`MAX_NOTES`] bytes of JSON. Otherwise the values of text columns become codes, those
    /// that save most first, and in the end all names, as far as that saves anything.
    #[must_use]
    pub fn for_notes(&self) -> Schema {
        let length = |schema: &Schema| serde_json::to_string(schema).map_or(0, |text| text.len());
        let mut short = self.clone();
        let mut bytes = length(&short);
        let mut savings = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let ColumnKind::Text { values } = &column.kind else { continue };
            // Different values without different codes stay as they are.
            let Some(coded) = CodedValues::of(values) else { continue };
            let of = |kind| {
                let columns = vec![Column { name: column.name.clone(), kind }];
                length(&Schema { columns, ..Schema::new(self.format) })
            };
            let (before, after) = (of(column.kind.clone()), of(ColumnKind::Coded(coded.clone())));
            savings.push((before.saturating_sub(after), index, coded));
        }
        savings.sort_by_key(|&(saved, index, _)| (Reverse(saved), index));
        for (saved, index, coded) in savings {
            if bytes <= MAX_NOTES || saved == 0 {
                break;
            }
            short.columns[index].kind = ColumnKind::Coded(coded);
            bytes -= saved;
        }
        if bytes > MAX_NOTES && self.name_code.is_none() {
            let names = self.columns.iter().map(|column| column.name.as_str());
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            if let Some(code) = Code::of(&names) {
                let mut coded = Schema { name_code: Some(code), ..short.clone() };
                for column in &mut coded.columns {
                    column.name = code.name(&column.name);
                }
                if length(&coded) < bytes {
                    return coded;
                }
            }
        }
        short
    }
}
