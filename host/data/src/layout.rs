//! Which field of a line belongs to which column of the schema.

use std::collections::HashMap;

use super::error::DataError;
use super::header::{count_columns, whole_number};
use super::records::Records;
use super::scan::{Field, parse};
use super::schema::{Column, ColumnKind};

/// For each column of the schema the field that holds it, if any does.
pub(crate) type Layout = Vec<Option<usize>>;

/// The layouts in which lines without a header may come, the likeliest first:
/// all columns, or those without the target, without the dropped ones, or
/// without either.
pub(crate) struct Layouts(Vec<Layout>);

impl Layouts {
    pub fn new(columns: &[Column], want_target: bool) -> Layouts {
        let [all, both] = without_target(columns);
        let undropped = layout(columns, &[ColumnKind::Dropped]);
        let mut layouts = vec![layout(columns, &[]), all, undropped, both];
        if want_target {
            layouts.swap(1, 2);
        }
        Layouts(layouts)
    }

    /// The likeliest layout of lines with so many fields.
    pub fn of(&self, fields: usize) -> Option<&Layout> {
        let count = |layout: &Layout| layout.iter().flatten().count();
        self.0.iter().find(|layout| count(layout) == fields)
    }
}

/// That of rows which are inputs alone.
pub(crate) fn of_inputs(columns: &[Column]) -> Layout {
    layout(columns, &[ColumnKind::Target, ColumnKind::Dropped])
}

/// That of rows which have what was dropped beside the inputs.
pub(crate) fn of_all_inputs(columns: &[Column]) -> Layout {
    layout(columns, &[ColumnKind::Target])
}

/// The layout without columns of these kinds.
fn layout(columns: &[Column], without: &[ColumnKind]) -> Layout {
    let mut next = 0..;
    let field = |c: &Column| (!without.contains(&c.kind)).then(|| next.next()).flatten();
    columns.iter().map(field).collect()
}

/// The layouts without the target, with and without the dropped columns.
fn without_target(columns: &[Column]) -> [Layout; 2] {
    let (target, dropped) = (ColumnKind::Target, ColumnKind::Dropped);
    [layout(columns, std::slice::from_ref(&target)), layout(columns, &[target, dropped])]
}

/// Matches columns to the names in a header, those without a name by their order; fails with the name
/// of an input that is not there, which is empty where the order does not tell.
pub(crate) fn match_names(
    columns: &[Column],
    names: &[String],
    want_target: bool,
) -> Result<Layout, String> {
    let fields: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let nameless: Vec<usize> = (0..names.len()).filter(|&at| names[at].is_empty()).collect();
    let of_order: Vec<Column> = columns.iter().filter(|c| c.name.is_empty()).cloned().collect();
    let layouts = Layouts::new(&of_order, want_target);
    // Programs for sheets write columns of nothing behind the others.
    let behind = names.iter().rev().take_while(|name| name.is_empty()).count();
    let known = (0..=behind).find_map(|behind| layouts.of(nameless.len() - behind));
    let mut of_order = known.into_iter().flatten();
    let mut layout = Layout::with_capacity(columns.len());
    for column in columns {
        let field = if column.name.is_empty() {
            of_order.next().and_then(|place| place.map(|place| nameless[place]))
        } else {
            fields.get(column.name.as_str()).copied()
        };
        let optional = matches!(column.kind, ColumnKind::Target | ColumnKind::Dropped);
        if field.is_none() && !optional {
            return Err(column.name.clone());
        }
        layout.push(field);
    }
    Ok(layout)
}

/// Columns without a name, of which the order does not tell which is which.
pub(crate) fn nameless_columns(file: &str, columns: &[Column], names: &[String]) -> DataError {
    let expected = columns.iter().filter(|column| column.name.is_empty()).count();
    let found = names.iter().filter(|name| name.is_empty()).count();
    DataError::Nameless { file: file.to_owned(), expected, found }
}

/// Whether the first line may be the columns' numbers, counting up. Where columns are texts, those
/// are told that they do not list.
pub(crate) fn may_count_columns(columns: &[Column], first: &Records<'_>) -> bool {
    let number = |field| whole_number(first.field(field));
    let numbers: Option<Vec<u32>> = (0..first.len()).map(number).collect();
    let texts = |kind: &ColumnKind| matches!(kind, ColumnKind::Text { .. } | ColumnKind::Coded(_));
    !columns.iter().any(|column| texts(&column.kind))
        && numbers.is_some_and(|numbers| count_columns(&numbers))
}

/// Whether no numeric column of the first line holds a number, or nothing; but for the first field,
/// which is empty above an index.
pub(crate) fn looks_like_header(columns: &[Column], layout: &Layout, first: &Records<'_>) -> bool {
    let mut numeric = columns.iter().zip(layout).filter_map(|(column, field)| {
        let numeric = matches!(column.kind, ColumnKind::Numeric { .. });
        let index = |&field: &usize| field == 0 && first.field(field).is_empty();
        field.filter(|_| numeric).filter(|field| !index(field))
    });
    let is_name = |field| matches!(parse(first.field(field)), Field::Text(_) | Field::NotUtf8);
    let first_is_name = numeric.next().is_some_and(is_name);
    first_is_name && numeric.all(is_name)
}
