//! Files that are written as the command writes them.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Writes the bytes to a file, whole or not at all: a link stays, permissions are kept, and
/// what is no file or is read-only is refused.
#[pyfunction]
pub fn write_whole(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    let written = py.detach(|| koan_trainer::atomic_write(&path, data));
    written.or_else(|error| Err(told(py, &path, &error)?))
}

/// The error with its number, which makes it one of Python's kinds, and the file.
pub fn told(py: Python<'_>, path: &Path, error: &Error) -> PyResult<PyErr> {
    let (number, problem) = match error.raw_os_error() {
        Some(number) => (number, py.import("os")?.call_method1("strerror", (number,))?.extract()?),
        None => (py.import("errno")?.getattr(name(error.kind()))?.extract()?, error.to_string()),
    };
    Ok(PyOSError::new_err((number, problem, path.as_os_str().to_owned())))
}

/// What Python calls it.
fn name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EACCES",
        ErrorKind::IsADirectory => "EISDIR",
        ErrorKind::NotADirectory => "ENOTDIR",
        ErrorKind::InvalidInput => "EINVAL",
        ErrorKind::ReadOnlyFilesystem => "EROFS",
        ErrorKind::StorageFull => "ENOSPC",
        _ => "EIO",
    }
}
