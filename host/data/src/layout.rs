//! Which field of a line belongs to which column of the schema.

use std::collections::HashMap;

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

/// Matches columns to the names in a header; fails with the name of an input that is not there.
pub(crate) fn match_names(columns: &[Column], names: &[String]) -> Result<Layout, String> {
    let fields: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut layout = Layout::with_capacity(columns.len());
    for column in columns {
        let field = fields.get(column.name.as_str()).copied();
        let optional = matches!(column.kind, ColumnKind::Target | ColumnKind::Dropped);
        if field.is_none() && !optional {
            return Err(column.name.clone());
        }
        layout.push(field);
    }
    Ok(layout)
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
