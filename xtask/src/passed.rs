//! Parts of the tests that have passed are not run again on the same files.
//!
//! A part's inputs are all files of the repository that git knows or would add, except in the
//! folders that it names as none of its own, the versions of the programs that it calls, and the
//! variables by which a user names others. What passed with which inputs is kept in
//! `target/passed`; a clean checkout has nothing there.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::root;

/// Where it is written what passed, from the root of the repository.
const FOLDER: &str = "target/passed";
/// Variables that name a program in the place of the one that is found.
const NAMED: [&str; 2] = ["CHROMIUM", "PYTHON"];

/// What the tests of other parts read, too, in folders that they name as none of their own.
const SHARED: [&str; 1] = ["firmware-example/digits.koan"];

/// A part of the tests.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// As it is told.
    pub name: &'static str,
    /// Folders of the repository that it neither builds nor reads.
    pub without: &'static [&'static str],
    /// Programs that are not built here, as they are asked for their versions.
    pub programs: &'static [&'static str],
}

/// A part that is being run.
#[derive(Debug)]
pub struct Begun {
    part: Part,
    root: PathBuf,
    /// Its inputs; nothing where git does not know them.
    inputs: Option<String>,
}

impl Begun {
    /// Remembers that all of it passed.
    pub fn passed(self) -> Result<()> {
        // Files that changed meanwhile were tested as one or the other.
        if let Some(inputs) =
            self.inputs.filter(|inputs| self.part.inputs(&self.root).ok().as_ref() == Some(inputs))
        {
            fs::create_dir_all(self.root.join(FOLDER))?;
            fs::write(self.part.record(&self.root), inputs)?;
        }
        Ok(())
    }
}

impl Part {
    /// Runs the part, unless it has passed on the same files; with `again` even then.
    pub fn run(&self, again: bool, run: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(begun) = self.begin(again)? else { return Ok(()) };
        run()?;
        begun.passed()
    }

    /// The same for what runs in pieces: nothing where it need not be run.
    pub fn begin(&self, again: bool) -> Result<Option<Begun>> {
        Ok(self.begin_in(&root()?, again))
    }

    /// A hash of all that the part depends on; nothing where git does not know its files.
    pub fn inputs_now(&self) -> Result<Option<String>> {
        Ok(self.inputs(&root()?).ok())
    }

    fn begin_in(&self, root: &Path, again: bool) -> Option<Begun> {
        let inputs = self.inputs(root).ok();
        let passed = fs::read_to_string(self.record(root)).ok();
        if !again && inputs.is_some() && passed == inputs {
            eprintln!("{}: passed on these very files; `--again` runs it all the same", self.name);
            return None;
        }
        Some(Begun { part: *self, root: root.to_owned(), inputs })
    }

    fn record(&self, root: &Path) -> PathBuf {
        root.join(FOLDER).join(self.name.replace(' ', "-"))
    }

    /// A hash of all that the part depends on.
    fn inputs(&self, root: &Path) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        for path in files(root)? {
            let its = !self.without.iter().any(|folder| path.starts_with(folder));
            if !its && !SHARED.iter().any(|shared| path == Path::new(shared)) {
                continue;
            }
            path.hash(&mut hasher);
            // One that was deleted, and not from git yet, has no contents.
            fs::read(root.join(&path)).ok().hash(&mut hasher);
        }
        for program in ["rustc --version --verbose"].iter().chain(self.programs) {
            program.hash(&mut hasher);
            let mut words = program.split_whitespace();
            words.next().map(|name| version(name.as_ref(), words)).hash(&mut hasher);
        }
        for variable in NAMED {
            let program = std::env::var_os(variable);
            program.hash(&mut hasher);
            program.map(|program| version(&program, ["--version"])).hash(&mut hasher);
        }
        Ok(format!("{:016x}\n", hasher.finish()))
    }
}

/// What a program says of itself; nothing where it is not there.
fn version<'a>(program: &OsStr, options: impl IntoIterator<Item = &'a str>) -> Option<Vec<u8>> {
    Some(Command::new(program).args(options).output().ok()?.stdout)
}

/// The files of the repository, from its root, in order.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    ensure!(listed.status.success(), "git does not list the files");
    let names = String::from_utf8(listed.stdout).context("a file's name is not UTF-8")?;
    let mut files: Vec<PathBuf> =
        names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part =
        Part { name: "a part", without: &["docs", "firmware-example"], programs: &[] };

    /// Whether the part ran.
    fn ran(root: &Path, again: bool) -> bool {
        let begun = PART.begin_in(root, again);
        begun.map(|begun| begun.passed().unwrap()).is_some()
    }

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(&folder).status();
        assert!(made.unwrap().success());
        fs::write(folder.path().join(".gitignore"), "/target\n").unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        fs::create_dir(folder.path().join("firmware-example")).unwrap();
        folder
    }

    #[test]
    fn what_passed_runs_again_when_a_file_changes() {
        let folder = repository();
        let root = folder.path();
        let write = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        write("code", "1");
        assert!(ran(root, false) && !ran(root, false) && ran(root, true) && !ran(root, false));
        write("code", "2");
        assert!(ran(root, false) && !ran(root, false));
        write("another", "");
        assert!(ran(root, false) && !ran(root, false));
        fs::remove_file(root.join("another")).unwrap();
        assert!(ran(root, false) && !ran(root, false));
        write("docs/page", "");
        write("target/built", "");
        write("firmware-example/main.rs", "");
        assert!(!ran(root, false), "none of them is an input");
        write("firmware-example/digits.koan", "");
        assert!(ran(root, false) && !ran(root, false), "tests of every part read it");
    }

    #[test]
    fn what_failed_runs_again() {
        let folder = repository();
        drop(PART.begin_in(folder.path(), false).unwrap());
        assert!(ran(folder.path(), false));
    }

    #[test]
    fn files_that_change_meanwhile_are_tested_again() {
        let folder = repository();
        let begun = PART.begin_in(folder.path(), false).unwrap();
        fs::write(folder.path().join("code"), "1").unwrap();
        begun.passed().unwrap();
        assert!(ran(folder.path(), false));
    }

    #[test]
    fn without_git_all_runs() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        assert!(ran(folder.path(), false) && ran(folder.path(), false));
    }
}
