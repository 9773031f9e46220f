//! Names of columns and values for which a model's notes have codes only, or nothing.

use koan_data::{Column, ColumnKind, Schema};

use crate::error::{Error, Result};
use crate::warning::Warning;

/// The schema with the names that such columns have.
pub fn named(schema: &Schema, names: &Schema) -> Result<Schema> {
    let (own, its) = (schema.columns.len(), names.columns.len());
    if own != its {
        return Err(Error::names(format!("{its} columns, not {own} as the training data")));
    }
    for (index, (own, its)) in schema.columns.iter().zip(&names.columns).enumerate() {
        let is_text = matches!(its.kind, ColumnKind::Text { .. });
        if is_text && matches!(own.kind, ColumnKind::Numeric { .. }) {
            return Err(Error::names(format!(
                "column {} ({}) has text, where the training data had numbers",
                index + 1,
                if its.name.is_empty() { "no name" } else { &its.name }
            )));
        }
    }
    if is_nameless(schema) && !schema.columns.iter().any(is_coded) && is_nameless(names) {
        return Err(Error::NoNames);
    }
    Ok(schema.named_by(names))
}

/// Whether a model's notes have codes for names of columns or of their values, or no names:
/// [`Export::named_by`](crate::Export::named_by) can give them.
#[must_use]
pub fn lacks_names(schema: &Schema) -> bool {
    !told(schema, false).is_empty()
}

/// Whether no column has a name, though there are columns.
fn is_nameless(schema: &Schema) -> bool {
    !schema.columns.is_empty() && schema.columns.iter().all(|column| column.name.is_empty())
}

fn is_coded(column: &Column) -> bool {
    matches!(column.kind, ColumnKind::Coded(_))
}

/// What the constants do not name. Where names were given they name columns as far as they can, and
/// values where they had some.
pub fn told(schema: &Schema, is_named: bool) -> Vec<Warning> {
    let columns = schema.name_code.is_some() && !is_named;
    let what = match (columns, schema.columns.iter().any(is_coded)) {
        (false, false) => None,
        (true, false) => Some("columns"),
        (false, true) => Some("values of text columns"),
        (true, true) => Some("columns and values of text columns"),
    };
    let coded = what.map(|what| Warning::Coded { what });
    let nameless = (is_nameless(schema) && !is_named).then_some(Warning::Nameless);
    coded.into_iter().chain(nameless).collect()
}
