//! A model as Rust: its blob, and a file that includes it and names the columns.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use koan::{Model, Task};
use koan_data::{FileId, Schema};
use koan_trainer::internal::row;

use crate::error::{Error, Result};
use crate::stream::stream_of;
use crate::{Export, Written, files, name};

/// What no module can be called, what cargo takes for something else, and crates that a module of
/// their name would hide.
const NO_MODULES: &str = "abstract alloc as async await become box break const continue core crate \
     do dyn else enum extern false final fn for gen if impl in koan let lib loop macro main match mod \
     move mut override priv pub ref return self static std struct super trait true try type typeof \
     unsafe unsized use virtual where while yield";

/// Writes the model to what was told: a file of Rust, or a folder.
pub fn write(export: &Export<'_>, told: &Path) -> Result<Written> {
    if let Some(path) = &export.path
        && path.file_name().and_then(|name| name.to_str()).is_none()
    {
        return Err(Error::NotUtf8 { model: path.clone() });
    }
    let (model, file) = (export.model, &export.file);
    let is_file = told.extension().is_some_and(|end| end == "rs") || told.is_file();
    let source = if is_file { told.to_owned() } else { inside(told, &export.stem())? };
    let blob = source.with_file_name(file);
    if blob == source {
        return Err(Error::OneName { model: export.shown() });
    }
    files::check(export.path.as_deref(), &source)?;
    if !files::may_replace(&source, MARK) {
        return Err(Error::ForeignModule { path: source });
    }
    let mut files = Vec::new();
    // The model may lie there already.
    if export.path.as_ref().is_none_or(|path| FileId::of(&blob) != FileId::of(path)) {
        if !files::may_be_model(&blob) {
            return Err(Error::NoModel { path: blob });
        }
        if is_of_another(&blob, model, &source, file) {
            return Err(Error::OtherBlob { path: blob });
        }
        files::write_whole(&blob, model.blob())?;
        files.push(blob);
    }
    let module = source.file_stem().unwrap_or_default().to_string_lossy();
    let text = text(model, export.schema.as_ref(), file, &module);
    files::write_whole(&source, text.as_bytes())?;
    files.push(source);
    Ok(Written { files, warnings: export.unnamed() })
}

/// Whether another model lies there that the file of Rust, which is replaced, does not include: it
/// may be that of another file.
fn is_of_another(blob: &Path, model: &Model<'_>, source: &Path, file: &str) -> bool {
    let includes = |text: String| text.contains(&included(file));
    std::fs::read(blob).is_ok_and(|old| old != model.blob())
        && !std::fs::read_to_string(source).is_ok_and(includes)
}

/// How a file of Rust includes the blob.
fn included(file: &str) -> String {
    format!("pub mod model = {file:?}\n")
}

/// The file of Rust in a folder, which is made.
fn inside(folder: &Path, stem: &str) -> Result<PathBuf> {
    let stem = name::variable(stem);
    let taken = NO_MODULES.split(' ').any(|word| word == stem);
    let source = folder.join(format!("{stem}{}.rs", if taken { "_model" } else { "" }));
    files::make(folder)?;
    Ok(source)
}

/// By which a file that was made here is known.
const MARK: &str = "/// The model, checked when the program is compiled; the crate `koan` runs it.";

/// The file: what `koan inspect --rust` writes, and the model as a module.
fn text(model: &Model<'_>, schema: Option<&Schema>, file: &str, module: &str) -> String {
    let call = match model.task() {
        Task::Classification => "let class = predictor.classify(&row)?;",
        Task::Regression => "predictor.values(&row, &mut values)?;",
        _ => "predictor.features(&row, &mut features)?;",
    };
    let rows = match schema {
        Some(schema) => {
            let cache = stream_of(model, schema).ok().map(|stream| stream.words);
            row::rust(schema, file, cache)
        }
        None => format!(
            "//! The model {}.\n\n/// Numbers of a row.\npub const INPUTS: usize = {};\n",
            file.replace(char::is_control, " "),
            model.inputs()
        ),
    };
    let (first, constants) = rows.split_once('\n').unwrap_or_default();
    let mut text = format!(
        "{first}\n\n// A program need not use all of them.\n#![allow(dead_code)]\n{constants}"
    );
    // Writing to a string cannot fail.
    _ = write!(
        text,
        "\nkoan::include_model! {{\n    {MARK}\n    ///\n    /// ```ignore\n    \
         /// let mut predictor = {module}::model::predictor();\n    \
         /// predictor.self_test()?;\n    \
         /// {call} // row: [f32, i16 or u8; {module}::INPUTS]\n    /// ```\n    \
         {}}}\n",
        included(file)
    );
    text
}
