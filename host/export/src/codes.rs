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
    let named = schema.named_by(names);
    // A code of a name, and a name, are of one column only.
    let differs = |(own, its): &(&Column, &Column)| !its.name.is_empty() && own.name != its.name;
    let mut both = named.columns.iter().zip(&names.columns);
    if let Some(index) = both.position(|pair| differs(&pair)) {
        let (own, its) = (&schema.columns[index].name, &names.columns[index].name);
        let other = match schema.name_code {
            Some(_) => "has another name".to_owned(),
            None => format!("is `{own}`"),
        };
        let number = index + 1;
        let problem = format!("column {number} is `{its}`, which {other} in the training data");
        return Err(Error::names(problem));
    }
    Ok(named)
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

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::Format;

    fn columns(names: impl Iterator<Item = String>) -> Schema {
        let kind = ColumnKind::Numeric { missing: None };
        let columns = names.map(|name| Column { name, kind: kind.clone() }).collect();
        Schema { columns, ..Schema::new(Format::Csv) }
    }

    #[test]
    fn names_without_the_codes_of_the_columns_are_refused() {
        let own = || (0..40).map(|column| format!("a long name of column {column}"));
        let coded = columns(own()).for_notes();
        assert!(coded.name_code.is_some());
        assert!(told(&named(&coded, &columns(own())).unwrap(), true).is_empty());
        let other = own().enumerate().map(|(i, own)| if i == 2 { "q".to_owned() } else { own });
        let error = named(&coded, &columns(other)).unwrap_err().to_string();
        assert_eq!(error, "column 3 is `q`, which has another name in the training data");
        let error = named(&columns(own()), &coded).unwrap_err().to_string();
        assert!(error.contains("which is `a long name of column 0` in the training"), "{error}");
    }
}
