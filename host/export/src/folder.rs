//! A folder with the runtime in C, the model and an example.

use std::path::Path;

use crate::c::{self, Program};
use crate::error::{Error, Result};
use crate::warning::Warning;
use crate::{Export, Written, config, files, name, reach};

/// Characters of a sketch's name, at most.
pub const SKETCH_CHARACTERS: usize = 63;

/// Writes a folder with a program that predicts standard input.
pub fn c(export: &Export<'_>, folder: &Path) -> Result<Written> {
    write(export, folder, "main.c", |program| program.example())
}

/// Writes a folder with a sketch of the same name.
pub fn arduino(export: &Export<'_>, folder: &Path) -> Result<Written> {
    let Some(sketch) = folder.file_name() else {
        return Err(Error::NoFolderName { folder: folder.to_owned() });
    };
    let sketch = sketch.to_string_lossy();
    if !is_sketch(&sketch) {
        return Err(Error::SketchName { folder: folder.to_owned() });
    }
    write(export, folder, &format!("{sketch}.ino"), |program| program.sketch())
}

/// Whether Arduino's specification of sketches allows the name.
fn is_sketch(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    name.chars().all(is_allowed)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && !name.ends_with('.')
        && name.len() <= SKETCH_CHARACTERS
}

/// What stands in files of these names, if they were made here.
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
fn write(
    export: &Export<'_>,
    folder: &Path,
    example: &str,
    text: fn(&Program<'_>) -> String,
) -> Result<Written> {
    let (schema, stem) = (export.schema.as_ref(), export.stem());
    let program = Program::new(export.model, schema, &export.file, &stem);
    let (name, wanted) = (program.name(), name::variable(&stem));
    let [header, source] = [".h", ".c"].map(|end| format!("{name}{end}"));
    if source == "koan.c" {
        return Err(Error::RuntimeName { model: export.shown() });
    }
    config::check(&folder.join(config::FILE), name)?;
    files::make(folder)?;
    let parts = [
        ("koan.h", koan_c::HEADER.to_owned()),
        ("koan.c", koan_c::SOURCE.to_owned()),
        (config::FILE, program.config()),
        (&*header, program.header()),
        (&*source, program.source()),
        (example, text(&program)),
    ];
    for (name, _) in &parts {
        let path = folder.join(name);
        files::check(export.path.as_deref(), &path)?;
        if !mark(name).is_none_or(|mark| files::may_replace(&path, mark)) {
            return Err(Error::Foreign { path });
        }
    }
    let fits = std::fs::read_to_string(folder.join(&header))
        .map_or(true, |old| c::constants(&old).eq(c::constants(&program.header())));
    let mut written = Written { files: Vec::new(), warnings: Vec::new() };
    if name != wanted {
        written.warnings.push(Warning::Renamed { name: name.to_owned(), wanted });
    }
    for (file, text) in parts {
        let path = folder.join(file);
        // Examples are there to be changed.
        let is_changed = || !std::fs::read(&path).is_ok_and(|old| old == text.as_bytes());
        if file == example && path.symlink_metadata().is_ok() && is_changed() {
            let unlike = (!fits).then(|| header.clone());
            written.warnings.push(Warning::Kept { path, unlike });
            continue;
        }
        files::write_whole(&path, text.as_bytes())?;
        written.files.push(path);
    }
    written.warnings.extend(export.unnamed());
    let call = format!("{name}_{}_f32", program.call());
    written.warnings.extend(reach::told(export.model, schema, &call));
    Ok(written)
}
