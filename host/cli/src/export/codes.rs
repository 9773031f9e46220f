//! Names of columns and values for which a model's notes have codes only, or nothing.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use koan_data::{Column, ColumnKind, Missing, ReadOptions, Schema, read};

/// The schema with the names that the data at `path` have.
pub fn named(schema: &Schema, path: &Path) -> Result<Schema> {
    let coded = schema.columns.iter().enumerate().filter(|(_, column)| is_coded(column));
    let options = ReadOptions {
        unlabelled: true,
        missing: Missing::Impute,
        text: coded.map(|(index, _)| (index + 1).to_string()).collect(),
        ..ReadOptions::default()
    };
    let table = read(path, &options).with_context(|| format!("--names {}", path.display()))?;
    let (own, its) = (schema.columns.len(), table.schema.columns.len());
    ensure!(
        own == its,
        "--names {}: {its} columns, not {own} as the training data",
        path.display()
    );
    for (index, (own, its)) in schema.columns.iter().zip(&table.schema.columns).enumerate() {
        let is_text = matches!(its.kind, ColumnKind::Text { .. });
        ensure!(
            !(is_text && matches!(own.kind, ColumnKind::Numeric { .. })),
            "--names {}: column {} ({}) has text, where the training data had numbers",
            path.display(),
            index + 1,
            if its.name.is_empty() { "no name" } else { &its.name }
        );
    }
    ensure!(
        !is_nameless(schema) || schema.columns.iter().any(is_coded) || !is_nameless(&table.schema),
        "--names {}: its first line has no names of columns",
        path.display()
    );
    Ok(schema.named_by(&table.schema))
}

/// Whether no column has a name, though there are columns.
fn is_nameless(schema: &Schema) -> bool {
    !schema.columns.is_empty() && schema.columns.iter().all(|column| column.name.is_empty())
}

fn is_coded(column: &Column) -> bool {
    matches!(column.kind, ColumnKind::Coded(_))
}

/// Lines on what the constants do not name, if there is anything.
pub fn told(schema: &Schema) -> Vec<String> {
    let values = schema.columns.iter().any(is_coded);
    let coded = match (schema.name_code.is_some(), values) {
        (false, false) => None,
        (true, false) => Some("columns"),
        (false, true) => Some("values of text columns"),
        (true, true) => Some("columns and values of text columns"),
    };
    let coded = coded.map(|what| {
        format!(
            "warning: names of {what} are codes such as #a+, since the model has no room for the \
             names themselves: --names DATA takes them from a file with the columns of the training \
             data"
        )
    });
    let unnamed = is_nameless(schema).then(|| {
        "the model has no names of columns, and the constants have their numbers: --names DATA takes \
         names from a CSV file with the columns of the training data"
            .to_owned()
    });
    coded.into_iter().chain(unnamed).collect()
}
