//! The columns of the data that a model is for, as a table.

use anyhow::Result;
use koan_data::{Column, ColumnKind, Schema};

use crate::grid::{Grid, cut};
use crate::out::{self, say};

/// Columns that are listed.
const COLUMNS: usize = 40;
/// Letters of a column's name that are shown.
const NAME: usize = 28;
/// Values of a text column that are listed.
const VALUES: usize = 6;

/// What becomes of the columns of the data, as a table.
pub fn print(schema: &Schema) -> Result<()> {
    if schema.columns.is_empty() {
        return Ok(());
    }
    say!("\nColumns of the data:\n")?;
    let mut table = Grid::new(["column", "name", "numbers of a row", "what it is"]).text(&[1, 3]);
    let mut next = 0;
    for (index, column) in schema.columns.iter().enumerate() {
        let count = column.inputs();
        let places = match count {
            0 => "–".to_owned(),
            1 => next.to_string(),
            _ => format!("{next} to {}", next + count - 1),
        };
        next += count;
        if index < COLUMNS {
            let name =
                if column.name.is_empty() { "–".to_owned() } else { out::name(&column.name) };
            let name = cut(&name, NAME);
            table.row([(index + 1).to_string(), name, places, out::name(&kind(column))]);
        }
    }
    say!("{table}")?;
    if schema.columns.len() > COLUMNS {
        say!("... and {} more (--json lists them)", schema.columns.len() - COLUMNS)?;
    }
    Ok(())
}

/// What becomes of a column, in a few words.
fn kind(column: &Column) -> String {
    let some = |values: &mut dyn Iterator<Item = &str>, count: usize| {
        let listed: Vec<&str> = values.take(VALUES).collect();
        let more = if count > VALUES { ", ..." } else { "" };
        format!("text, 1 of {count}: {}{more}", listed.join(", "))
    };
    match &column.kind {
        ColumnKind::Numeric { missing: None } => "number".into(),
        ColumnKind::Numeric { missing: Some(value) } => {
            format!("number, {value} where it is missing")
        }
        ColumnKind::Text { values } => some(&mut values.iter().map(String::as_str), values.len()),
        ColumnKind::Coded(values) => {
            let codes: Vec<String> = values.shown().collect();
            some(&mut codes.iter().map(String::as_str), codes.len())
        }
        ColumnKind::Target => "the target".into(),
        ColumnKind::Dropped => "not used".into(),
    }
}
