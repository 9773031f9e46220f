//! The commands and the program of docs/c.md, run as they stand there.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::docs::blocks;
use crate::steps::{program, root};

/// Classes that the page's example prints.
const CLASSES: usize = 3;

/// Runs what the page says, in an empty folder.
pub fn run() -> Result<()> {
    let page = fs::read_to_string(root()?.join("docs/c.md"))?;
    let koan = program("koan")?;
    let scratch = tempfile::tempdir()?;
    let mut printed = String::new();
    for block in blocks(&page, "sh") {
        let script = block.replace("cargo koan", &koan.display().to_string());
        eprintln!("+ {}", script.trim().replace('\n', "\n+ "));
        let output = Command::new("sh")
            .args(["-e", "-c", &script])
            .current_dir(scratch.path())
            .output()
            .context("cannot run sh")?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "docs/c.md: `{script}` failed\n{told}");
        printed += &String::from_utf8_lossy(&output.stdout);
    }
    let is_digit = |line: &&str| matches!(line.parse(), Ok(0u8..=9));
    let classes = printed.lines().filter(is_digit).count();
    ensure!(classes == CLASSES, "docs/c.md: {classes} classes, not {CLASSES}\n{printed}");
    let programs = blocks(&page, "c");
    ensure!(programs.len() == 1, "docs/c.md: {} programs in C, not 1", programs.len());
    fs::write(scratch.path().join("digits/page.c"), programs[0])?;
    let status = Command::new("cc")
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wshadow",
            "-pedantic",
            "-Werror",
            "-c",
        ])
        .arg("page.c")
        .current_dir(scratch.path().join("digits"))
        .status()
        .context("cannot run cc")?;
    ensure!(status.success(), "docs/c.md: the program does not compile");
    Ok(())
}
