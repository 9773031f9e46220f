//! Names of columns and values for which a model's notes have codes only.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use koan_data::{ColumnKind, Missing, ReadOptions, Schema, read};

/// The schema with the names that the data at `path` have.
pub fn named(schema: &Schema, path: &Path) -> Result<Schema> {
    let columns = schema.columns.iter().enumerate();
    let coded = columns.filter(|(_, column)| matches!(column.kind, ColumnKind::Coded(_)));
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
    Ok(schema.named_by(&table.schema))
}

/// A line on what the constants do not name, if there is anything.
pub fn told(schema: &Schema) -> Option<String> {
    let is_coded = |column: &&koan_data::Column| matches!(column.kind, ColumnKind::Coded(_));
    let values = schema.columns.iter().filter(is_coded).count();
    let what = match (schema.name_code.is_some(), values) {
        (false, 0) => return None,
        (true, 0) => "columns",
        (false, _) => "values of text columns",
        (true, _) => "columns and values of text columns",
    };
    Some(format!(
        "warning: names of {what} are codes such as #a+, since the model has no room for the names \
         themselves: --names DATA takes them from a file with the columns of the training data"
    ))
}
