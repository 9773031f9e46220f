//! `koan export`: a model as a program's source.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use koan_data::{ColumnKind, Missing, ReadOptions, Schema, read};
use koan_export::{Error, Language, Warning};

use crate::arguments::{Export, ExportTarget};
use crate::files;
use crate::out::{say, warn};
use crate::output::{read_blob, schema, tested};

pub fn run(arguments: &Export) -> Result<()> {
    let blob = read_blob(&arguments.model)?;
    let model = tested(&arguments.model, &blob)?;
    let mut export = koan_export::Export::of_file(&model, &arguments.model);
    if let Some(names) = &arguments.names {
        let schema = schema(&arguments.model, &model).context("--names has nothing to name")?;
        let told = || format!("--names {}", names.display());
        let names = names_in(&schema, names).with_context(told)?;
        export = export.named_by(&names).map_err(with_option).with_context(told)?;
    }
    let (language, path) = told(&arguments.target).context("nothing to export")?;
    if language == Language::Rust && path.is_file() {
        files::check_named(path)?;
    }
    let written = export.write(language, path).map_err(with_option)?;
    for path in &written.files {
        say!("{}", path.display())?;
    }
    written.warnings.iter().for_each(|warning| warn(&line(warning)));
    Ok(())
}

/// What is to be written, and where.
fn told(target: &ExportTarget) -> Option<(Language, &Path)> {
    let ExportTarget { c, arduino, rust } = target;
    let all = [(Language::C, c), (Language::Arduino, arduino), (Language::Rust, rust)];
    all.into_iter().find_map(|(language, path)| Some((language, path.as_deref()?)))
}

/// The columns of data, with the values of those of which the model has codes.
fn names_in(schema: &Schema, path: &Path) -> Result<Schema> {
    let of = |is_such: fn(&ColumnKind) -> bool| -> Vec<String> {
        let all = schema.columns.iter().zip(1..).filter(|(column, _)| is_such(&column.kind));
        all.map(|(_, number): (_, usize)| number.to_string()).collect()
    };
    let options = ReadOptions {
        unlabelled: true,
        missing: Missing::Impute,
        text: of(|kind| matches!(kind, ColumnKind::Coded(_))),
        // What the model does not use may be anything.
        drop: of(|kind| matches!(kind, ColumnKind::Dropped)),
        ..ReadOptions::default()
    };
    Ok(read(path, &options)?.schema)
}

/// The error as the command says it, with the option that helps.
fn with_option(error: Error) -> anyhow::Error {
    match error {
        Error::ForeignModule { .. } => anyhow!("{error}, --rust FILE.rs"),
        Error::NoModel { .. } | Error::OtherBlob { .. } => {
            anyhow!("{error}, --rust FOLDER/FILE.rs")
        }
        Error::NoFolderName { .. } => anyhow!("--arduino needs the name of a folder"),
        Error::NoNames => anyhow!("its first line has no names of columns"),
        error => error.into(),
    }
}

/// The warning as a line, with the option that helps.
fn line(warning: &Warning) -> String {
    match warning {
        Warning::Renamed { .. } | Warning::Kept { unlike: None, .. } => warning.to_string(),
        Warning::Coded { .. } => format!(
            "warning: {warning}: --names DATA takes them from a file with the columns of the \
             training data"
        ),
        Warning::Nameless => format!(
            "{warning}: --names DATA takes names from a CSV file with the columns of the training \
             data"
        ),
        _ => format!("warning: {warning}"),
    }
}
