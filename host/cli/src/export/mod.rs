//! `koan export`: a model as a program's source.

mod c;
mod calls;
mod codes;
mod config;
mod example;
mod name;
mod reach;
mod rust;
mod sketch;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use koan::Model;
use koan_data::Schema;

use self::c::Program;
use crate::arguments::Export;
use crate::files;
use crate::out::{say, warn};
use crate::output::{read_blob, schema, tested, write_whole};

/// Characters of a sketch's name, at most.
const SKETCH_CHARACTERS: usize = 63;

pub fn run(arguments: &Export) -> Result<()> {
    let blob = read_blob(&arguments.model)?;
    let model = tested(&arguments.model, &blob)?;
    let file = arguments.model.file_name().unwrap_or_default().to_string_lossy();
    // Models need not have notes.
    let schema = match (schema(&arguments.model, &model), &arguments.names) {
        (Ok(schema), Some(names)) => Some(codes::named(&schema, names)?),
        (Err(error), Some(_)) => return Err(error.context("--names has nothing to name")),
        (schema, None) => schema.ok(),
    };
    let unnamed = schema.as_ref().filter(|_| arguments.names.is_none());
    let mut warnings = unnamed.map(codes::told).unwrap_or_default();
    write(arguments, &model, schema.as_ref(), &file, &mut warnings)?;
    // Of what was written.
    warnings.iter().for_each(|line| warn(line));
    Ok(())
}

/// Writes what was asked for, and adds what is to be said of it.
fn write(
    arguments: &Export,
    model: &Model<'_>,
    schema: Option<&Schema>,
    file: &str,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let targets = &arguments.target;
    if let Some(path) = &targets.rust {
        return rust::write(&arguments.model, model, schema, path);
    }
    let stem = arguments.model.file_stem().unwrap_or_default().to_string_lossy();
    let program = Program::new(model, schema, file, &stem);
    let (name, wanted) = (program.name(), name::variable(&stem));
    if name != wanted {
        warn(&format!(
            "the model is called {name}: {wanted} is a name of C, C++, Arduino or koan.h"
        ));
    }
    warnings.extend(reach::told(model, schema, &format!("{name}_{}", program.call())));
    if let Some(folder) = &targets.arduino {
        let sketch = folder.file_name().context("--arduino needs the name of a folder")?;
        let sketch = sketch.to_string_lossy();
        ensure!(
            is_sketch(&sketch),
            "{}: Arduino opens no sketch of this name: 1 to {SKETCH_CHARACTERS} letters from A to Z, \
             digits, and '_', '.' and '-', the first a letter, digit or '_', the last no '.'",
            folder.display()
        );
        let sketch = format!("{sketch}.ino");
        return write_folder(&arguments.model, folder, &program, (&sketch, program.sketch()));
    }
    let folder = targets.c.as_deref().context("nothing to export")?;
    write_folder(&arguments.model, folder, &program, ("main.c", program.example()))
}

/// Whether Arduino's specification of sketches allows the name.
fn is_sketch(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    name.chars().all(is_allowed)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && !name.ends_with('.')
        && name.len() <= SKETCH_CHARACTERS
}

/// What stands in files of these names, if they are of `koan export`.
fn mark(name: &str) -> Option<&'static str> {
    match name {
        "koan.h" | "koan.c" => Some("Koan in C99:"),
        // It is checked by itself, and examples are never replaced.
        config::FILE | "main.c" => None,
        name if name.ends_with(".ino") => None,
        _ => Some("`koan export` made this file."),
    }
}

/// Writes the runtime, the model and an example into a folder, which may be there.
fn write_folder(
    model: &Path,
    folder: &Path,
    program: &Program<'_>,
    (example, text): (&str, String),
) -> Result<()> {
    let [header, source] = [".h", ".c"].map(|end| format!("{}{end}", program.name()));
    ensure!(
        source != "koan.c",
        "{}: a file of the runtime has this name; rename the model",
        model.display()
    );
    config::check(&folder.join(config::FILE), program.name())?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let parts = [
        ("koan.h", koan_c::HEADER.to_owned()),
        ("koan.c", koan_c::SOURCE.to_owned()),
        (config::FILE, program.config()),
        (&*header, program.header()),
        (&*source, program.source()),
        (example, text),
    ];
    for (name, _) in &parts {
        let path = folder.join(name);
        files::check([&model.to_path_buf()], [path.as_path()])?;
        ensure!(
            mark(name).is_none_or(|mark| files::may_replace(&path, mark)),
            "{} is there and not of `koan export`: rename it, or name another folder",
            path.display()
        );
    }
    let fits = std::fs::read_to_string(folder.join(&header))
        .map_or(true, |old| c::constants(&old).eq(c::constants(&program.header())));
    for (name, text) in parts {
        let path = folder.join(name);
        // Examples are there to be changed.
        let is_changed = || !std::fs::read(&path).is_ok_and(|old| old == text.as_bytes());
        if name == example && path.symlink_metadata().is_ok() && is_changed() {
            let kept = format!("{} is there already and stays as it is", path.display());
            warn(&match fits {
                true => kept,
                false => format!(
                    "warning: {kept}, but {header} has other constants than before: it may not fit \
                     this model"
                ),
            });
            continue;
        }
        write_whole(&path, text.as_bytes())?;
        say!("{}", path.display())?;
    }
    Ok(())
}
