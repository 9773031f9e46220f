//! Models without outputs, with their features and codes: `tests/golden/features`.
//!
//! Beside each `NAME.koan` lies `NAME.json`: `{"rows": [{"row": [numbers], "features":
//! [integers], "codes": [integers]}, ...]}`, features and codes bank by bank, by the
//! reference implementation.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::golden;
use crate::reference::Reference;

/// A model without outputs.
#[derive(Clone, Debug)]
pub struct FeatureMap {
    /// File name without extension.
    pub name: String,
    /// The blob.
    pub blob: Vec<u8>,
    /// Rows, and what they must give.
    pub rows: Vec<FeatureRow>,
}

/// A row of finite numbers, its features and its codes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureRow {
    /// The numbers.
    pub row: Vec<f32>,
    /// Features of all banks.
    pub features: Vec<i16>,
    /// Codes of all banks that have any.
    pub codes: Vec<u16>,
}

/// The text of a `NAME.json`.
#[derive(Serialize, Deserialize)]
struct Rows {
    rows: Vec<FeatureRow>,
}

impl FeatureMap {
    /// Where they are.
    #[must_use]
    pub fn folder() -> PathBuf {
        golden::folder().join("features")
    }

    /// A blob with what the reference computes from the rows.
    ///
    /// # Errors
    /// What is wrong with the blob.
    pub fn new(name: String, blob: Vec<u8>, rows: Vec<Vec<f32>>) -> Result<Self, String> {
        let reference = Reference::parse(&blob)?;
        let rows = rows.into_iter().map(|row| FeatureRow {
            features: reference.features(&row).into_iter().map(|phi| phi as i16).collect(),
            codes: reference.codes(&row),
            row,
        });
        Ok(Self { name, rows: rows.collect(), blob })
    }

    /// Writes both files.
    ///
    /// # Errors
    /// An unwritable file.
    pub fn write(&self) -> io::Result<()> {
        let rows = self.rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        let text = format!("{{\"rows\": [\n  {}\n]}}\n", rows.join(",\n  "));
        let path = Self::folder().join(&self.name);
        fs::write(path.with_extension("koan"), &self.blob)?;
        fs::write(path.with_extension("json"), text)
    }

    /// Reads both files.
    ///
    /// # Errors
    /// An unreadable file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path.with_extension("json")).map_err(|error| at(&error))?;
        let Rows { rows } = serde_json::from_str(&text).map_err(|error| at(&error))?;
        let blob = fs::read(path).map_err(|error| at(&error))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, blob, rows })
    }

    /// All of them.
    ///
    /// # Errors
    /// An unreadable file, and an empty folder.
    pub fn all() -> Result<Vec<Self>, String> {
        golden::paths(&Self::folder())?.iter().map(|path| Self::read(path)).collect()
    }
}
