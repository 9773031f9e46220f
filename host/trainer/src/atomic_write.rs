//! Files that are whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// What names of temporary files begin with; the number of the process follows.
const PREFIX: &str = ".koan-";
/// Random characters at the end of such a name.
const RANDOM: usize = 6;
/// Links that are followed, one after another.
const MOST_LINKS: usize = 40;
/// A temporary file that nobody holds is abandoned after this, whatever its process.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);
/// The same where it cannot be told which processes there are.
const UNKNOWN: Duration = Duration::from_secs(60 * 60);

/// Permissions of any new file; temporary files would be private.
const PUBLIC: u32 = 0o666;

/// Writes `bytes` to a temporary file and renames it to `path`: a reader never sees half a
/// file, and a failure leaves what was there.
///
/// A symbolic link stays: what it leads to is replaced. The new file has the permissions of
/// the one that it replaces.
///
/// # Errors
/// The file cannot be written; or something is there that is not a file (a folder, a
/// device, a pipe) or may not be written to.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// As [`atomic_write`], of a file that is written bit by bit: nothing is there before
/// [`AtomicFile::commit`], nor without it.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    target: Target,
}

impl AtomicFile {
    /// An empty file, to be renamed to `path`.
    ///
    /// # Errors
    /// As [`atomic_write`].
    pub fn create(path: &Path) -> Result<Self> {
        let target = Target::of(path)?;
        Ok(Self { file: temporary(&target.folder, PUBLIC)?, target })
    }

    /// Puts what was written where it belongs.
    ///
    /// # Errors
    /// As [`atomic_write`].
    pub fn commit(self) -> Result<()> {
        if let Some(permissions) = self.target.permissions {
            self.file.as_file().set_permissions(permissions)?;
        }
        self.file.as_file().sync_all()?;
        self.file.persist(&self.target.file).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// As [`atomic_write`], for a secret: a new file that only its owner may read, where the system
/// knows owners.
///
/// # Errors
/// As [`atomic_write`]; and something is there already, which is kept.
pub fn private_write(path: &Path, bytes: &[u8]) -> Result<()> {
    let target = Target::of(path)?;
    let mut file = temporary(&target.folder, 0o600)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

/// Checks that [`atomic_write`] can write `path` now, for work that would be lost
/// otherwise; and deletes temporary files of killed processes beside it.
///
/// # Errors
/// As [`atomic_write`]. What is there stays as it is.
pub fn check_writable(path: &Path) -> Result<()> {
    check_folder(&Target::of(path)?.folder)
}

/// Checks that new files can be written to a folder, as [`check_writable`].
///
/// # Errors
/// It is not there, or files cannot be made in it.
pub fn check_folder(folder: &Path) -> Result<()> {
    remove_abandoned(folder);
    temporary(folder, PUBLIC).map(drop)
}

/// Where bytes go to.
#[derive(Debug)]
struct Target {
    /// The file itself: never a link.
    file: PathBuf,
    folder: PathBuf,
    /// Those of the file that is there.
    permissions: Option<fs::Permissions>,
}

impl Target {
    fn of(path: &Path) -> Result<Self> {
        let refused = |kind, problem: &str| Err(Error::new(kind, problem.to_owned()));
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return refused(ErrorKind::IsADirectory, "the name is that of a folder");
        }
        let mut file = path.to_owned();
        for _ in 0..MOST_LINKS {
            let folder = folder_of(&file);
            let found = match fs::symlink_metadata(&file) {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return match fs::metadata(&folder) {
                        Ok(found) if found.is_dir() => Ok(Self { file, folder, permissions: None }),
                        Ok(_) => refused(ErrorKind::NotADirectory, "the folder is a file"),
                        Err(error) if error.kind() == ErrorKind::NotFound => {
                            refused(ErrorKind::NotFound, "there is no such folder")
                        }
                        Err(error) => Err(error),
                    };
                }
                Err(error) => return Err(error),
            };
            if found.is_symlink() {
                // From the folder that the link is in, unless it is absolute.
                file = folder.join(fs::read_link(&file)?);
                continue;
            }
            if found.is_dir() {
                return refused(ErrorKind::IsADirectory, "a folder is there");
            }
            if !found.is_file() {
                return refused(ErrorKind::InvalidInput, "a device or a pipe is not replaced");
            }
            let permissions = found.permissions();
            if permissions.readonly() {
                return refused(ErrorKind::PermissionDenied, "the file is read-only");
            }
            // Others' files in a folder of ours could be renamed over, and are not.
            OpenOptions::new().write(true).open(&file)?;
            return Ok(Self { file, folder, permissions: Some(permissions) });
        }
        refused(ErrorKind::InvalidInput, "links that lead in a circle")
    }
}

fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// A temporary file that is deleted when dropped, and locked as long as it is there.
#[cfg_attr(not(unix), allow(unused_variables))]
fn temporary(folder: &Path, mode: u32) -> Result<NamedTempFile> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask still applies.
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let file = builder
        .prefix(&prefix)
        .rand_bytes(RANDOM)
        .tempfile_in(folder)
        // The temporary file's own name would only confuse.
        .map_err(|error| Error::from(error.kind()))?;
    // Not every file system has locks; the number of the process then protects alone.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Deletes temporary files that killed processes have left in the folder.
fn remove_abandoned(folder: &Path) {
    // What cannot be listed or deleted is somebody else's concern.
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(process_of) else { continue };
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && is_abandoned(&entry.path(), process) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process in the name of a temporary file of ours.
fn process_of(name: &str) -> Option<u32> {
    let (process, random) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let ours = random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    process.parse().ok().filter(|_| ours)
}

/// Whether nobody holds the file any more.
fn is_abandoned(path: &Path, process: u32) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // A live process holds the lock, also one that cannot be seen from here.
    if file.try_lock().is_err() {
        return false;
    }
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    let processes = Path::new("/proc");
    let least = match processes.join("self").exists() {
        true if !processes.join(process.to_string()).exists() => Duration::ZERO,
        true => ABANDONED,
        false => UNKNOWN,
    };
    age.is_some_and(|age| age >= least)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tempfile::TempDir;

    fn folder() -> TempDir {
        TempDir::new().unwrap()
    }

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn problem(path: &Path) -> String {
        let checked = check_writable(path).unwrap_err().to_string();
        assert_eq!(atomic_write(path, b"new").unwrap_err().to_string(), checked);
        checked
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("models")).unwrap();
        fs::write(at("models/a"), "old").unwrap();
        fs::set_permissions(at("models/a"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("models/a", at("first")).unwrap();
        symlink(at("first"), at("second")).unwrap();
        // A link to what is not there yet.
        symlink("models/b", at("third")).unwrap();
        for (link, file) in [("second", "models/a"), ("third", "models/b")] {
            check_writable(&at(link)).unwrap();
            atomic_write(&at(link), b"new").unwrap();
            assert!(at(link).is_symlink(), "{link}");
            assert_eq!(fs::read(at(file)).unwrap(), b"new");
        }
        let mode = fs::metadata(at("models/a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        symlink("circle", at("circle")).unwrap();
        assert_eq!(problem(&at("circle")), "links that lead in a circle");
        assert_eq!(names(&folder), ["circle", "first", "models", "second", "third"]);
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("fixed"), "old").unwrap();
        fs::set_permissions(at("fixed"), fs::Permissions::from_mode(0o444)).unwrap();
        symlink("/dev/null", at("null")).unwrap();
        for (path, expected) in [
            ("folder", "a folder is there"),
            ("new/", "the name is that of a folder"),
            ("no/new", "there is no such folder"),
            ("fixed", "the file is read-only"),
            ("null", "a device or a pipe is not replaced"),
            ("/dev/null", "a device or a pipe is not replaced"),
        ] {
            assert_eq!(problem(&at(path)), expected, "{path}");
        }
        assert_eq!(problem(&at("fixed/new")), "Not a directory (os error 20)");
        assert_eq!(fs::read(at("fixed")).unwrap(), b"old");
        assert_eq!(names(&folder), ["fixed", "folder", "null"]);
    }

    #[test]
    fn only_what_the_dead_have_left_is_deleted() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        // No process has a number so large.
        let dead = u32::MAX;
        let live = std::process::id();
        let held = format!(".koan-{dead}-Held00");
        let kept = [
            held.clone(),
            format!(".koan-{live}-AbCd12"),
            ".koan-notes".to_owned(),
            format!(".koan-{dead}-AbCd1"),
            format!(".koan-{dead}-AbCd1.csv"),
            format!("koan-{dead}-AbCd12"),
        ];
        for name in &kept {
            fs::write(at(name), "x").unwrap();
        }
        let holder = File::open(at(&held)).unwrap();
        holder.lock().unwrap();
        fs::create_dir(at(&format!(".koan-{dead}-Folder"))).unwrap();
        let old = format!(".koan-{live}-Old000");
        for name in [&format!(".koan-{dead}-AbCd12"), &old] {
            fs::write(at(name), "x").unwrap();
        }
        let yesterday = SystemTime::now() - ABANDONED;
        File::options().write(true).open(at(&old)).unwrap().set_modified(yesterday).unwrap();
        check_writable(&at("m.koan")).unwrap();
        let mut expected = kept.to_vec();
        expected.push(format!(".koan-{dead}-Folder"));
        expected.sort();
        assert_eq!(names(&folder), expected);
        drop(holder);
        check_writable(&at("m.koan")).unwrap();
        assert!(!at(&held).exists());
    }
}
