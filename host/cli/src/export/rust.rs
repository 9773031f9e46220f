//! A model as Rust: its blob, and a file that includes it and names the columns.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use koan::{Model, Task};
use koan_data::{FileId, Schema};
use koan_trainer::internal::row;

use super::name;
use crate::files;
use crate::inspect::stream_of;
use crate::out::say;
use crate::output::{may_be_model, write_whole};

/// What no module can be called, or what cargo takes for something else.
const NO_MODULES: &str = "abstract as async await become box break const continue crate do dyn else \
     enum extern false final fn for gen if impl in let lib loop macro main match mod move mut \
     override priv pub ref return self static struct super trait true try type typeof unsafe unsized \
     use virtual where while yield";

/// Writes the model in `path` to what was told: a file of Rust, or a folder.
pub fn write(path: &Path, model: &Model<'_>, schema: Option<&Schema>, told: &Path) -> Result<()> {
    let file = path.file_name().and_then(|name| name.to_str());
    let file = file.with_context(|| format!("{}: its name is not UTF-8", path.display()))?;
    let is_file = told.extension().is_some_and(|end| end == "rs") || told.is_file();
    let source = if is_file { told.to_owned() } else { inside(told, path)? };
    let blob = source.with_file_name(file);
    ensure!(
        blob != source,
        "{}: the blob and the file of Rust have one name; rename the model",
        path.display()
    );
    files::check([&path.to_path_buf()], [source.as_path()])?;
    ensure!(
        files::may_replace(&source, MARK),
        "{} is there and not of `koan export`: name another file, --rust FILE.rs",
        source.display()
    );
    // The model may lie there already.
    if FileId::of(&blob) != FileId::of(path) {
        ensure!(
            may_be_model(&blob),
            "{} is there and no model: name a file in another folder, --rust FOLDER/FILE.rs",
            blob.display()
        );
        write_whole(&blob, model.blob())?;
        say!("{}", blob.display())?;
    }
    let module = source.file_stem().unwrap_or_default().to_string_lossy();
    write_whole(&source, text(model, schema, file, &module).as_bytes())?;
    say!("{}", source.display())
}

/// The file of Rust in a folder, which is made.
fn inside(folder: &Path, path: &Path) -> Result<PathBuf> {
    let stem = name::variable(&path.file_stem().unwrap_or_default().to_string_lossy());
    let taken = NO_MODULES.split(' ').any(|word| word == stem);
    let source = folder.join(format!("{stem}{}.rs", if taken { "_model" } else { "" }));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
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
         pub mod model = {file:?}\n}}\n"
    );
    text
}
