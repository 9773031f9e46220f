//! Files that are whole or not there.

use std::io::Write;
use std::path::Path;

/// Writes `bytes` to a temporary file beside `path` and renames it: a reader
/// never sees half a file, and a failure leaves what was there.
///
/// # Errors
/// The file cannot be written.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file, not private as temporary files are; the umask still
        // applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder
        .prefix(".koan-")
        .tempfile_in(folder)
        // The temporary file's own name would only confuse.
        .map_err(|error| std::io::Error::from(error.kind()))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
