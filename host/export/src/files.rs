//! What is looked at before a file is written.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use koan::format::MAGIC;
use koan_data::FileId;
use koan_trainer::{atomic_write, check_writable};

use crate::error::{Error, Result};

/// Checks that the file can be written, and that it is not the model, also by another path or a
/// link.
pub fn check(model: Option<&Path>, output: &Path) -> Result<()> {
    check_writable(output).map_err(Error::io("write", output))?;
    match model {
        Some(model) if FileId::of(model) == FileId::of(output) => {
            let also = if model == output { "".into() } else { format!(", {}", model.display()) };
            Err(Error::Input { path: output.to_owned(), also })
        }
        _ => Ok(()),
    }
}

/// Writes the file whole, or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    atomic_write(path, bytes).map_err(Error::io("write", path))
}

/// Makes a folder, which may be there.
pub fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io("make the folder", folder))
}

/// Whether there is no file, or one with a text that only files that were made here have.
pub fn may_replace(path: &Path, mark: &str) -> bool {
    let is_ours = |old: Vec<u8>| String::from_utf8_lossy(&old).contains(mark);
    path.symlink_metadata().is_err() || std::fs::read(path).is_ok_and(is_ours)
}

/// Whether there is no file, or one that begins as models do.
pub fn may_be_model(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    let is_model = path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == MAGIC;
    is_model || path.symlink_metadata().is_err()
}
