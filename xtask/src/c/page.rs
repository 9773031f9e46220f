//! The commands and the program of docs/c.md, run as they stand there.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::docs::blocks;
use crate::steps::{program, root};

/// Rows whose classes the page's example prints, the first of the data.
const ROWS: usize = 3;

/// The models of the page's programs in C.
const MODELS: [&str; 2] = ["digits", "motion"];

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
    // The last column of the data, which have no header: the model is right about them.
    let data = fs::read_to_string(scratch.path().join("digits.csv"))?;
    let labels = data.lines().take(ROWS).filter_map(|line| line.rsplit(',').next());
    let labels: Vec<&str> = labels.collect();
    let is_digit = |line: &&str| matches!(line.parse(), Ok(0u8..=9));
    let classes: Vec<&str> = printed.lines().filter(is_digit).collect();
    ensure!(classes == labels, "docs/c.md: the classes {classes:?}, not {labels:?}\n{printed}");
    windows(scratch.path())?;
    let programs = blocks(&page, "c");
    ensure!(programs.len() == MODELS.len(), "docs/c.md: {} programs in C", programs.len());
    for (program, model) in programs.iter().zip(MODELS) {
        let folder = scratch.path().join(model);
        fs::write(folder.join("page.c"), program)?;
        let warnings = "-std=c99 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -c page.c";
        let compiled = Command::new("cc").args(warnings.split(' ')).current_dir(folder).status();
        let compiled = compiled.context("cannot run cc")?;
        ensure!(compiled.success(), "docs/c.md: the program with {model}.h does not compile");
    }
    Ok(())
}

/// Exports a model of windows, for the page's program that has one.
fn windows(folder: &Path) -> Result<()> {
    let sample = |t: u32| format!("{},{},{}\n", t * 37 % 1000, t * 91 % 700, t / 450);
    let samples: String = (0..900).map(sample).collect();
    fs::write(folder.join("motion.csv"), format!("x,y,state\n{samples}"))?;
    let train = "train motion.csv --window 16 --stride 16 --features 16 -o motion.koan";
    for line in [train, "export motion.koan --c motion"] {
        let output = Command::new(program("koan")?)
            .args(line.split(' '))
            .current_dir(folder)
            .output()
            .context("cannot run koan")?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "koan {line}: {told}");
    }
    Ok(())
}
