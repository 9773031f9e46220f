//! What a command reads and writes, looked at before it does either.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use koan_data::FileId;
use koan_trainer::{check_folder, check_writable};

/// Checks the files of a command before anything is read: no output is an input or another
/// output, also by another path or a link, and each can be written.
pub fn check<'f>(
    inputs: impl IntoIterator<Item = &'f PathBuf>,
    outputs: impl IntoIterator<Item = &'f Path>,
) -> Result<()> {
    let inputs: Vec<(FileId, &Path)> =
        inputs.into_iter().map(|path| (FileId::of(path), path.as_path())).collect();
    let mut earlier: Vec<(FileId, &Path)> = Vec::new();
    for output in outputs {
        check_named(output)?;
        check_writable(output).with_context(|| format!("cannot write {}", output.display()))?;
        let id = FileId::of(output);
        if let Some((_, input)) = inputs.iter().find(|(input, _)| *input == id) {
            bail!("cannot write {}: it is an input{}", output.display(), also(output, input));
        }
        if let Some((_, other)) = earlier.iter().find(|(other, _)| *other == id) {
            let also = also(output, other);
            bail!("cannot write {}: something else is written there{also}", output.display());
        }
        earlier.push((id, output));
    }
    Ok(())
}

/// Refuses what stands for standard output elsewhere: nothing here is written there.
pub fn check_named(output: &Path) -> Result<()> {
    ensure!(
        output != Path::new("-"),
        "cannot write to `-`: --output, like other options that name what is written, takes the \
         name of a file; `./-` is one"
    );
    Ok(())
}

/// The other name of the same file, if it has one.
fn also(path: &Path, other: &Path) -> String {
    if path == other { String::new() } else { format!(", {}", other.display()) }
}

/// Makes a folder for models whose names are not known yet, and checks that they can be
/// written there and that no input would be among them.
pub fn prepare_folder(folder: &Path, inputs: &[PathBuf]) -> Result<()> {
    check_named(folder)?;
    let cannot = || format!("cannot write to the folder {}", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    check_folder(folder).with_context(cannot)?;
    let place = FileId::of(folder);
    let model = |input: &&PathBuf| {
        let parent = input.canonicalize().ok().and_then(|whole| whole.parent().map(FileId::of));
        input.extension().is_some_and(|end| end == "koan") && parent == Some(place.clone())
    };
    if let Some(input) = inputs.iter().find(model) {
        bail!(
            "cannot write to the folder {}: the input {} might be replaced by a model",
            folder.display(),
            input.display()
        );
    }
    Ok(())
}

/// Checks that standard output is not a file that is read: with `>>` it would grow for as
/// long as it is read.
pub fn check_stdout<'f>(inputs: impl IntoIterator<Item = &'f PathBuf>) -> Result<()> {
    let Some(out) = FileId::of_stdout() else { return Ok(()) };
    for input in inputs {
        if FileId::of(input) == out {
            bail!("{}: it is an input, and standard output is written to it", input.display());
        }
    }
    Ok(())
}
