//! Several files and folders as one input, and which names are of the same file.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::DataError;
use super::warning::DataWarning;

/// Ends of names, apart from `.gz`, that files in a folder are known by.
const ENDS: [&str; 10] =
    ["csv", "tsv", "tab", "txt", "data", "arff", "dt", "npy", "npz", "parquet"];

/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// The files that `paths` name: a folder stands for the data files in it and in
/// its folders, in the order of their paths.
///
/// # Errors
///
/// A folder that cannot be read or holds no data files, or a path where nothing
/// is.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for path in paths {
        let file = path.display().to_string();
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let before = files.len();
                walk(path, &mut files)?;
                if files.len() == before {
                    return Err(DataError::NoDataFiles { file, ends: ENDS.join(", ") });
                }
                files[before..].sort();
            }
            Ok(_) => files.push(path.clone()),
            Err(source) => return Err(DataError::Unreadable { file, source }),
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), DataError> {
    let unreadable = |source| DataError::Unreadable { file: folder.display().to_string(), source };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        // A link to a folder is not followed: it may lead back here.
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            walk(&entry.path(), files)?;
        } else if is_data(&entry.path()) {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_data(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let end = Path::new(name.strip_suffix(".gz").unwrap_or(&name)).extension();
    end.is_some_and(|end| ENDS.iter().any(|known| end == *known)) && path.is_file()
}

/// Which file it is, whatever it is called: the same for all its names, links and hard
/// links among them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(Id);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    /// The device and the number of the file on it.
    #[cfg(unix)]
    Node(u64, u64),
    /// Of what is not there, or where files have no numbers.
    Path(PathBuf),
}

impl FileId {
    /// The file at `path`, or the one that would be made there.
    pub fn of(path: &Path) -> FileId {
        if let Some(id) = path.metadata().ok().and_then(|metadata| node(&metadata)) {
            return FileId(id);
        }
        let whole = path.canonicalize().ok().or_else(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        });
        FileId(Id::Path(whole.unwrap_or_else(|| path.to_owned())))
    }

    /// The file that standard output is written to; none if that is a terminal, a pipe or
    /// a device, or where it cannot be told.
    pub fn of_stdout() -> Option<FileId> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let own = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
            let metadata = std::fs::File::from(own).metadata().ok()?;
            node(&metadata).filter(|_| metadata.is_file()).map(FileId)
        }
        #[cfg(not(unix))]
        None
    }
}

#[cfg(unix)]
fn node(metadata: &Metadata) -> Option<Id> {
    use std::os::unix::fs::MetadataExt;
    Some(Id::Node(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn node(_metadata: &Metadata) -> Option<Id> {
    None
}

/// Refuses a file that is given twice.
pub(crate) fn check_distinct(files: &[PathBuf]) -> Result<(), DataError> {
    let mut known = HashMap::new();
    for path in files {
        if let Some(first) = known.insert(FileId::of(path), path) {
            let (file, first) = (path.display().to_string(), first.display().to_string());
            return Err(DataError::Twice { file, first });
        }
    }
    Ok(())
}

/// What to say of files that hold the same bytes: one recording by two names is on both sides of
/// a split. Only files of the same length are read; those that cannot be, and pipes, which cannot
/// be twice, are passed over.
#[must_use]
pub fn copies(files: &[PathBuf]) -> Option<DataWarning> {
    let is_file = |file: &&PathBuf| file.metadata().is_ok_and(|metadata| metadata.is_file());
    let files: Vec<&PathBuf> = files.iter().filter(is_file).collect();
    let length = |file: &Path| file.metadata().map_or(0, |metadata| metadata.len());
    let mut of_length: HashMap<u64, usize> = HashMap::new();
    files.iter().for_each(|file| *of_length.entry(length(file)).or_default() += 1);
    let alike = |file: &&PathBuf| of_length[&length(file)] > 1;
    let mut known: HashMap<u64, &PathBuf> = HashMap::new();
    let mut found: Option<(&PathBuf, &PathBuf)> = None;
    let mut copies = 0;
    for file in files.into_iter().filter(alike) {
        let Some(sum) = checksum(file) else { continue };
        match known.get(&sum) {
            Some(first) => {
                copies += 1;
                found.get_or_insert((file, first));
            }
            None => {
                known.insert(sum, file);
            }
        }
    }
    let (file, first) = found?;
    let (file, first) = (file.display().to_string(), first.display().to_string());
    Some(DataWarning::Copy { file, first, copies })
}

/// A checksum of what a file holds.
fn checksum(path: &Path) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let mut hasher = DefaultHasher::new();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block).ok()? {
            0 => return Some(hasher.finish()),
            read => hasher.write(&block[..read]),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Reading a pipe waits for who writes it, and takes what is written from the next reader.
    #[test]
    fn copies_are_looked_for_in_files_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let pipes = [path("one"), path("other")];
        let made = std::process::Command::new("mkfifo").args(&pipes).status().unwrap();
        assert!(made.success());
        assert_eq!(copies(&pipes), None);
        let files = [path("a.csv"), path("b.csv"), path("c.csv")];
        for (file, text) in files.iter().zip(["x,y\n1,2\n", "x,y\n1,3\n", "x,y\n1,2\n"]) {
            std::fs::write(file, text).unwrap();
        }
        let all = [&pipes[..], &files].concat();
        let Some(DataWarning::Copy { file, first, copies }) = copies(&all) else { panic!() };
        assert!(file.ends_with("c.csv") && first.ends_with("a.csv") && copies == 1);
    }
}
