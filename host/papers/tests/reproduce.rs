//! `cargo xtask reproduce` on folders in which most sets are missing.

use std::io::Write;
use std::path::PathBuf;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use flate2::Compression;
use flate2::write::GzEncoder;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tempfile::TempDir;

/// A temporary folder that the command is run in.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, arguments: &str) -> Assert {
        let mut command = Command::cargo_bin("koan-papers").unwrap();
        command.current_dir(&self.0).args(arguments.split_whitespace()).assert()
    }
}

/// A PROBEN1 file of 20 rows under a name of the paper's table.
fn glass() -> String {
    let head = "bool_in=0\nreal_in=2\nbool_out=2\nreal_out=0\n\
                training_examples=10\nvalidation_examples=5\ntest_examples=5\n";
    (0..20).fold(head.to_owned(), |text, i| {
        let (x, y) = (f64::from(i * 7 % 20) / 20.0, f64::from(i * 3 % 20) / 20.0);
        let class = if x > y { "1 0" } else { "0 1" };
        format!("{text}{x} {y} {class}\n")
    })
}

#[test]
fn sets_that_are_absent_are_skipped_by_name() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("data/proben1")).unwrap();
    folder
        .run("--data data --only uniform sinks maxout networks")
        .success()
        .stdout(contains("not there: adult").and(contains("not there: cpu_act")))
        .stdout(contains("not there: house").and(contains("not there: covtype")))
        .stdout(contains("not there: kddcup99").and(contains("not there: mnist")))
        .stdout(contains("not there: proben1.").and(contains("Seconds of this part")));
}

#[test]
fn what_is_there_is_run_and_written() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("data/proben1")).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(glass().as_bytes()).unwrap();
    folder.write("data/proben1/glass1.dt.gz", encoder.finish().unwrap());
    folder
        .run("--data data --only networks locality --output r.md --report r.html")
        .success()
        .stdout(contains("| glass1 |").and(contains("not there: proben1/glass2")));
    let text = folder.read("r.md");
    assert!(text.contains("--only networks locality --output"), "{text}");
    assert!(text.contains("# The papers' experiments") && text.contains("| glass1 |"), "{text}");
    let page = folder.read("r.html");
    assert!(page.contains("glass1") && page.contains("<svg"), "no plot");
}

#[test]
fn bad_folders_and_files_are_named() {
    let folder = Folder::new();
    folder.run("--data nowhere").failure().stderr(contains("nowhere: no such folder"));
    std::fs::create_dir_all(folder.path("data/proben1")).unwrap();
    folder.write("data/proben1/glass1.dt", glass().replace("test_examples=5", "test_examples=6"));
    folder
        .run("--data data --only networks")
        .failure()
        .stderr(contains("glass1.dt").and(contains("rows")));
}

#[test]
fn a_part_that_fails_leaves_the_others() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("data/proben1")).unwrap();
    folder.write("data/proben1/glass1.dt", "nothing");
    folder
        .run("--data data --only locality networks uniform --output r.md --report r.html")
        .failure()
        .stdout(contains("## Locality").and(contains("## Fourier features and bins")))
        .stdout(contains(" s in all."))
        .stderr(contains("part 2 of 3, networks"))
        .stderr(contains("error: networks: data/proben1/glass1.dt"))
        .stderr(contains("error: 1 of 3 parts failed: networks ("));
    let text = folder.read("r.md");
    assert!(text.contains("Failed: networks (data/proben1/glass1.dt"), "{text}");
    assert!(text.contains("## Locality") && text.contains("## Fourier"), "{text}");
    assert!(!text.contains("not run yet"), "{text}");
    let page = folder.read("r.html");
    assert!(page.contains("Locality") && page.contains("<svg"), "no plot");
}
