//! Tests of the readers: small files, written and read back.

mod bytes;
mod categories;
mod columns;
mod csv;
mod errors;
mod formats;
mod notes;
mod properties;
mod recordings;
mod strict;
mod tables;
mod targets;
mod test_rows;
mod untidy;
mod written;

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;

/// A directory of small files.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The error's message without the directory.
    fn message(&self, error: &DataError) -> String {
        let directory = format!("{}/", self.0.path().display());
        error.to_string().replace(&directory, "")
    }
}

/// Reads `text` as the training file `t.csv`; an error as its message.
fn read_text(text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, String> {
    let files = Files::new();
    let path = files.write("t.csv", text);
    read(path, options).map_err(|e| files.message(&e))
}

/// Reads `text` as the test file `test.csv`; an error as its message.
fn read_text_with(text: impl AsRef<[u8]>, schema: &Schema) -> Result<Table, String> {
    let files = Files::new();
    let path = files.write("test.csv", text);
    read_with(path, schema, &options()).map_err(|e| files.message(&e))
}

/// Streams `text` under a schema; an error as its message.
fn stream(text: impl AsRef<[u8]>, schema: &Schema) -> Result<Vec<(u64, Vec<f32>)>, String> {
    let reader = rows_from(text.as_ref(), "standard input", schema, &options());
    let rows: Result<Vec<_>, _> = reader.map_err(|e| e.to_string())?.collect();
    rows.map_err(|e| e.to_string())
}

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn imputing() -> ReadOptions {
    ReadOptions { missing: Missing::Impute, ..options() }
}

fn regression() -> ReadOptions {
    ReadOptions { task: Some(Task::Regression), ..options() }
}

fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn json(schema: &Schema) -> String {
    serde_json::to_string(schema).unwrap()
}

/// The schema as `koan predict` gets it: through JSON and back.
fn through_json(schema: &Schema) -> Schema {
    let back: Schema = serde_json::from_str(&json(schema)).unwrap();
    back.restored(schema.inputs, schema.classes.clone()).unwrap()
}
