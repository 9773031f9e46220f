//! `koan export`: a model as a program's source.

mod c;
mod config;
mod example;
mod name;
mod reach;
mod rust;

use std::path::Path;

use anyhow::{Context, Result, ensure};

use self::c::Program;
use crate::arguments::Export;
use crate::files;
use crate::out::{say, warn};
use crate::output::{read_blob, schema, tested, write_whole};

pub fn run(arguments: &Export) -> Result<()> {
    let targets = &arguments.target;
    let blob = read_blob(&arguments.model)?;
    let model = tested(&arguments.model, &blob)?;
    let file = arguments.model.file_name().unwrap_or_default().to_string_lossy();
    // Models need not have notes.
    let schema = schema(&arguments.model, &model).ok();
    if let Some(path) = &targets.rust {
        return rust::write(&arguments.model, &model, schema.as_ref(), path);
    }
    let stem = arguments.model.file_stem().unwrap_or_default().to_string_lossy();
    let program = Program::new(&model, schema.as_ref(), &file, &stem);
    let (name, wanted) = (program.name(), name::variable(&stem));
    if name != wanted {
        warn(&format!(
            "the model is called {name}: {wanted} is a name of C, C++, Arduino or koan.h"
        ));
    }
    if let Some(line) = reach::told(&model, schema.as_ref(), program.call()) {
        warn(&line);
    }
    if let Some(folder) = &targets.arduino {
        let sketch = folder.file_name().context("--arduino needs the name of a folder")?;
        let sketch = format!("{}.ino", sketch.to_string_lossy());
        return write_folder(&arguments.model, folder, &program, (&sketch, program.sketch()));
    }
    let folder = targets.c.as_deref().context("nothing to export")?;
    write_folder(&arguments.model, folder, &program, ("main.c", program.example()))
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
    for (name, text) in parts {
        let path = folder.join(name);
        files::check([&model.to_path_buf()], [path.as_path()])?;
        // Examples are there to be changed.
        let is_changed = || !std::fs::read(&path).is_ok_and(|old| old == text.as_bytes());
        if name == example && path.symlink_metadata().is_ok() && is_changed() {
            warn(&format!("{} is there already and stays as it is", path.display()));
            continue;
        }
        write_whole(&path, text.as_bytes())?;
        say!("{}", path.display())?;
    }
    Ok(())
}
