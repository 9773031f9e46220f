//! What pages say of this run: its files with their checksums, and its command.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use koan_report::Origin;

use crate::output::quoted;

/// Files that are listed one by one.
const MOST_FILES: usize = 20;

/// Of the page of a model: its file, those of its data and of test rows, and the arguments of
/// this process.
pub fn origin(model: &Path, data: &[PathBuf], test: &[PathBuf]) -> Result<Origin> {
    let name = model.file_name().unwrap_or(model.as_os_str()).to_string_lossy();
    let mut origin = Origin::of_command(&name, &command_line(std::env::args_os().skip(1)));
    let parts = [("data", data), ("test", test)];
    let all = parts.iter().flat_map(|(part, files)| files.iter().map(move |file| (*part, file)));
    for (part, file) in all.clone().take(MOST_FILES) {
        let name = file.display().to_string();
        let (bytes, crc) = checksum(file).with_context(|| format!("cannot read {name}"))?;
        origin.files.push(koan_report::File { name, part, bytes, crc });
    }
    origin.more_files = all.count() - origin.files.len();
    Ok(origin)
}

/// Bytes of a file and their CRC-32.
fn checksum(path: &Path) -> std::io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut bytes) = (crc32fast::Hasher::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((bytes, hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
        bytes += count as u64;
    }
}

/// The command as it can be typed into a shell.
fn command_line(arguments: impl Iterator<Item = OsString>) -> String {
    let quoted = arguments.map(|argument| quoted(&argument.to_string_lossy()));
    std::iter::once("koan".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let arguments = ["train", "my data.csv", "--target", "it's", "--drop", ""];
        let line = command_line(arguments.into_iter().map(OsString::from));
        assert_eq!(line, r"koan train 'my data.csv' --target 'it'\''s' --drop ''");
    }

    #[test]
    fn the_first_files_are_read_and_the_others_counted() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = (0..15).map(|i| folder.path().join(i.to_string())).collect();
        files.iter().for_each(|file| std::fs::write(file, "123456789").unwrap());
        let origin = origin(Path::new("a/m.koan"), &files, &files).unwrap();
        assert_eq!(
            (origin.name.as_str(), origin.files.len(), origin.more_files),
            ("m.koan", 20, 10)
        );
        let of = |part| origin.files.iter().filter(|file| file.part == part).count();
        assert_eq!((of("data"), of("test")), (15, 5));
        // The check value of CRC-32.
        assert!(origin.files.iter().all(|file| (file.bytes, file.crc) == (9, 0xcbf4_3926)));
    }
}
