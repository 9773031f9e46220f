//! Several files and folders as one input.

use std::path::{Path, PathBuf};

use super::error::DataError;

/// Ends of names, apart from `.gz`, that files in a folder are known by.
const ENDS: [&str; 10] =
    ["csv", "tsv", "tab", "txt", "data", "arff", "dt", "npy", "npz", "parquet"];

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
