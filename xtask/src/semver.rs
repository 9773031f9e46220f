//! `cargo xtask semver`: the public interfaces of the libraries beside those of the baseline, the
//! commit whose interfaces the version number stands for, by `cargo-semver-checks`.
//!
//! The baseline is the newest tag of a version; while there is none, the commit that a file names.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::{root, step};

/// The crates that others write code with, and their folders. The interface of `koan-cli` is the
/// command, that of `koan-c` is C.
const LIBRARIES: [(&str, &str); 10] = [
    ("koan", "core"),
    ("koan-stream", "device/stream"),
    ("koan-store", "device/store"),
    ("koan-sign", "device/sign"),
    ("koan-learn", "device/learn"),
    ("koan-data", "host/data"),
    ("koan-gram", "host/gram"),
    ("koan-trainer", "host/trainer"),
    ("koan-report", "host/report"),
    ("koan-export", "host/export"),
];

/// The file that names the baseline, from the root of the repository.
const BASELINE: &str = "xtask/semver-baseline";

/// What is made on the way, from the root of the repository.
const FOLDER: &str = "target/semver";

/// Lets rustdoc write JSON, and nothing else: what the lints compiled is not compiled again.
const RUSTDOC: &str = "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n";

/// Interfaces as JSON, which the compiler does not promise to keep: hence the pinned toolchain and
/// the pinned tool. What is hidden or private is there, but is not compared.
const AS_JSON: &str = "--config build.rustdocflags=[\"-Zunstable-options\",\"--output-format=json\",\
     \"--document-private-items\",\"--document-hidden-items\",\"--cap-lints=allow\"]";

/// Compares with a revision, or with the baseline if none is `given`. Where the clone does not have
/// the baseline, nothing is compared, which is said.
pub fn run(given: Option<&str>) -> Result<()> {
    let root = root()?;
    let revision = given.map_or_else(|| baseline(&root), |given| Ok(given.to_owned()))?;
    let Some(commit) = commit(&root, &revision) else {
        let missing = format!("this clone has no commit {revision} (it is shallow, or no clone)");
        ensure!(given.is_none(), "{missing}");
        eprintln!("public interfaces: nothing was compared, since {missing}");
        return Ok(());
    };
    crate::setup::semver()?;
    let before = exported(&root, &commit)?;
    fs::write(root.join(FOLDER).join("rustdoc"), RUSTDOC)?;
    step(&format!("chmod +x {FOLDER}/rustdoc"))?;
    let known = |(_, folder): &&(&str, &str)| root.join(&before).join(folder).exists();
    let names: Vec<&str> = LIBRARIES.iter().filter(known).map(|(name, _)| *name).collect();
    interfaces(&root, &before, "before", &names)?;
    interfaces(&root, ".", "now", &names)?;
    let changed = |name: &&str| {
        let file = file(name);
        step(&format!(
            "cargo semver-checks --baseline-rustdoc {FOLDER}/before/{file} --current-rustdoc \
             {FOLDER}/now/{file}"
        ))
        .is_err()
    };
    let changed: Vec<&str> = names.into_iter().filter(changed).collect();
    ensure!(
        changed.is_empty(),
        "since {revision} the public interface of {} has changed more than the version number; \
         CONTRIBUTING.md tells what to do",
        changed.join(", ")
    );
    Ok(())
}

/// The newest tag of a version, or else the commit in the file.
fn baseline(root: &Path) -> Result<String> {
    // Of `v1.0.0-rc` and `v1.0.0` the second is the newer.
    let newest_first = "-c versionsort.suffix=- tag --list v[0-9]* --merged=HEAD --sort=-v:refname";
    let tags = git(root, &newest_first.split(' ').collect::<Vec<_>>());
    if let Some(newest) = tags.as_deref().and_then(|tags| tags.lines().next()) {
        return Ok(newest.to_owned());
    }
    let text = fs::read_to_string(root.join(BASELINE)).context(BASELINE)?;
    let name = text.trim();
    ensure!(
        name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{BASELINE}: 40 hexadecimal digits of a commit expected, found {name:?}"
    );
    Ok(name.to_owned())
}

/// The name of the commit of a revision; nothing where git does not know it.
fn commit(root: &Path, revision: &str) -> Option<String> {
    git(root, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
}

/// What git prints, without white space at the ends; nothing where it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The folder of the files of a commit, from the root. Each commit has one of its own, since cargo
/// goes by the times of files.
fn exported(root: &Path, commit: &str) -> Result<String> {
    let folder = format!("{FOLDER}/{commit}");
    if !root.join(&folder).exists() {
        let part = format!("{FOLDER}/part");
        // One that was not finished may be of another commit.
        let _ = fs::remove_dir_all(root.join(&part));
        fs::create_dir_all(root.join(&part))?;
        step(&format!("git archive --output {part}.tar {commit}"))?;
        step(&format!("tar -x -f {part}.tar -C {part}"))?;
        fs::rename(root.join(part), root.join(&folder))?;
    }
    Ok(folder)
}

/// Writes the interfaces of the libraries at `source` into a folder. The whole workspace is described:
/// then what it depends on is what the documentation has compiled.
fn interfaces(root: &Path, source: &str, folder: &str, names: &[&str]) -> Result<()> {
    let rustdoc = root.join(FOLDER).join("rustdoc");
    step(&format!(
        "RUSTDOC={} cargo doc --release --quiet --no-deps --locked --manifest-path \
         {source}/Cargo.toml --target-dir target --workspace {AS_JSON}",
        rustdoc.display()
    ))?;
    let folder = root.join(FOLDER).join(folder);
    fs::create_dir_all(&folder)?;
    for file in names.iter().map(|name| file(name)) {
        // Moved, so that the other side's is never taken for it.
        fs::rename(root.join("target/doc").join(&file), folder.join(&file))
            .with_context(|| format!("{source}: no {file}"))?;
    }
    Ok(())
}

/// The file of an interface.
fn file(name: &str) -> String {
    format!("{}.json", name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository of one commit, and the name of that.
    fn repository() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("xtask")).unwrap();
        let run = |line: &str| git(folder.path(), &line.split(' ').collect::<Vec<_>>()).unwrap();
        run("init --quiet");
        run("-c user.name=n -c user.email=e commit --quiet --allow-empty --message first");
        let commit = run("rev-parse HEAD");
        fs::write(folder.path().join(BASELINE), format!("{commit}\n")).unwrap();
        (folder, commit)
    }

    #[test]
    fn the_newest_version_is_the_baseline_and_before_the_first_the_commit_of_the_file() {
        let (folder, commit) = repository();
        let tag = |name: &str| git(folder.path(), &["tag", name]).unwrap();
        let found = || baseline(folder.path()).unwrap();
        tag("vacation");
        assert_eq!(found(), commit);
        tag("v0.9.0");
        assert_eq!(found(), "v0.9.0");
        tag("v0.10.0");
        tag("v0.10.0-rc.1");
        assert_eq!(found(), "v0.10.0");
        assert_eq!(super::commit(folder.path(), "v0.10.0"), Some(commit));
    }

    #[test]
    fn a_file_that_names_no_commit_is_an_error_and_a_commit_that_is_missing_is_none() {
        let (folder, commit) = repository();
        for text in ["", "main\n", &commit[1..], &format!("{commit}\n{commit}\n")] {
            fs::write(folder.path().join(BASELINE), text).unwrap();
            let error = baseline(folder.path()).unwrap_err().to_string();
            assert!(error.starts_with(BASELINE) && error.contains("40 hex"), "{error}");
        }
        let other = commit.chars().rev().collect::<String>();
        assert_eq!(super::commit(folder.path(), &other), None);
        let without_git = tempfile::tempdir().unwrap();
        assert_eq!(super::commit(without_git.path(), &commit), None);
    }
}
