//! Rows to test on, of files of their own.

use std::path::PathBuf;

use super::fill::{impute, stand_in};
use super::{ColumnKind, DataError, Missing, ReadOptions, Schema, Table, read_all_with};

/// Reads test data for training data, as [`read_all_with`] under its schema. With
/// [`Missing::Impute`] a column of numbers may have missing values in the test rows alone: the
/// median of the training rows stands in for them, as it does from then on in the schema of both.
///
/// # Errors
///
/// As [`read_all_with`].
pub fn read_test(
    files: &[PathBuf],
    train: &mut Table,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    // A window with missing samples is none.
    if options.missing == Missing::Refuse || train.schema.recordings.window.is_some() {
        return read_all_with(files, &train.schema, options);
    }
    let mut test = read_all_with(files, &with_open_gaps(&train.schema), options)?;
    let mut input = 0;
    for (column, known) in test.schema.columns.iter().zip(&mut train.schema.columns) {
        if let ColumnKind::Numeric { missing: missing @ None } = &mut known.kind {
            let mut cells = test.values.iter().skip(input).step_by(test.inputs);
            *missing = cells.any(|value| value.is_nan()).then_some(f32::NAN);
        }
        input += column.inputs();
    }
    impute(train);
    let warnings = std::mem::take(&mut test.schema.warnings);
    stand_in(&mut test, &train.schema);
    test.schema.warnings = warnings;
    Ok(test)
}

/// The schema with NaN as what stands in for missing values where nothing does yet.
fn with_open_gaps(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    for column in &mut schema.columns {
        if let ColumnKind::Numeric { missing: missing @ None } = &mut column.kind {
            *missing = Some(f32::NAN);
        }
    }
    schema
}
