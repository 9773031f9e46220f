//! Schemas as bytes, and with or without the stand-ins for missing values.

use koan_data::{ColumnKind, DataWarning, Schema, Shape};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A schema, and what its JSON does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredSchema {
    json: String,
    /// Columns whose stand-in for missing values is not known yet.
    open: Vec<u32>,
    inputs: u64,
    classes: Vec<String>,
    image: Option<Shape>,
    warnings: Vec<DataWarning>,
}

impl StoredSchema {
    pub fn of(schema: &Schema) -> Result<Self, Error> {
        let mut known = schema.clone();
        let mut open = Vec::new();
        for (column, number) in known.columns.iter_mut().zip(0..) {
            if let ColumnKind::Numeric { missing: Some(missing) } = &mut column.kind
                && missing.is_nan()
            {
                *missing = 0.0;
                open.push(number);
            }
        }
        let json = serde_json::to_string(&known)
            .map_err(|error| Error::Impossible(format!("the schema: {error}")))?;
        Ok(Self {
            json,
            open,
            inputs: schema.inputs as u64,
            classes: schema.classes.clone(),
            image: schema.image,
            warnings: schema.warnings.clone(),
        })
    }

    pub fn schema(&self) -> Result<Schema, Error> {
        let schema: Schema = serde_json::from_str(&self.json)
            .map_err(|error| Error::Impossible(format!("the schema: {error}")))?;
        let mut schema = schema.restored(self.inputs as usize, self.classes.clone())?;
        for &column in &self.open {
            if let Some(column) = schema.columns.get_mut(column as usize) {
                column.kind = ColumnKind::Numeric { missing: Some(f32::NAN) };
            }
        }
        Ok(Schema { image: self.image, warnings: self.warnings.clone(), ..schema })
    }
}

/// The schema under which rows are read that keep their missing values as NaN.
pub(super) fn open(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    for column in &mut schema.columns {
        if let ColumnKind::Numeric { missing: Some(missing) } = &mut column.kind {
            *missing = f32::NAN;
        }
    }
    schema
}
