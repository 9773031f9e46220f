//! The commands and the programs of docs/c.md, run or compiled as they stand there.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::docs::blocks;
use crate::steps::{program, root};

/// Rows whose classes the page's example prints, the first of the data.
const ROWS: usize = 3;

/// What runs the page's program for models that come while it runs: its first argument is one,
/// the second its number of bytes. Prints the class of a row of zeros, by whether it is taken.
const AT_RUN_TIME: &str = r#"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    static uint8_t bytes[20000];
    static const int16_t row[INPUTS];
    size_t size = count > 2 ? (size_t)atoi(arguments[2]) : 0;
    FILE *file = fopen(arguments[1], "rb");
    /* At an odd address. */
    if (!file || fread(bytes + 1, 1, sizeof bytes - 1, file) == 0) return 1;
    printf("%s: ", koan_status_text(load(bytes + 1, size)));
    printf("%d\n", classify(row));
    return 0;
}
"#;

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
    // Each in the folder of what it includes first.
    for (number, program) in blocks(&page, "c").iter().enumerate() {
        let header = program.split('"').nth(1).unwrap_or_default();
        if header == "koan.h" {
            at_run_time(scratch.path(), program)?;
            continue;
        }
        let folder = scratch.path().join(header.trim_end_matches(".h"));
        let file = format!("page{number}.c");
        fs::write(folder.join(&file), program)?;
        compile(&format!("-c {file}"), &folder)
            .with_context(|| format!("docs/c.md: the program with {header}"))?;
    }
    Ok(())
}

fn compile(files: &str, folder: &Path) -> Result<()> {
    let warnings = "-std=c99 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror";
    let mut compiler = Command::new("cc");
    let compiled = compiler.args(warnings.split(' ')).args(files.split(' ')).current_dir(folder);
    ensure!(compiled.status().context("cannot run cc")?.success(), "{files} does not compile");
    Ok(())
}

/// Runs the program for models that come while it runs, with the page's model, with zeros behind it,
/// and where it is too much work.
fn at_run_time(scratch: &Path, program: &str) -> Result<()> {
    let folder = scratch.join("loaded");
    fs::create_dir_all(&folder)?;
    for file in ["koan.h", "koan.c"] {
        fs::copy(root()?.join("c").join(file), folder.join(file))?;
    }
    let model = scratch.join("digits.koan");
    let size = fs::metadata(&model)?.len();
    let build = |program: &str| {
        fs::write(folder.join("page.c"), format!("{program}{AT_RUN_TIME}"))?;
        compile("page.c koan.c -lm -o page", &folder)
    };
    let told = |size: u64| -> Result<String> {
        let mut page = Command::new(folder.join("page"));
        let output = page.arg(&model).arg(size.to_string()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    build(program)?;
    let (exact, padded) = (told(size)?, told(size + 4)?);
    // Less than a prediction of the model.
    let (_, most) = program.split_once("#define MOST_WORK ").context("docs/c.md: no MOST_WORK")?;
    let (most, _) = most.split_once('\n').unwrap_or_default();
    build(&program.replace(&format!("MOST_WORK {most}"), "MOST_WORK 1000"))?;
    let laborious = told(size)?;
    let class = exact.strip_prefix("fine: ").and_then(|class| class.parse().ok());
    ensure!(matches!(class, Some(0u8..=9)), "docs/c.md: a model while it runs: {exact}");
    ensure!(
        padded.starts_with("checksum mismatch") && padded.ends_with(": -1"),
        "docs/c.md: a model with zeros behind it: {padded}"
    );
    ensure!(
        laborious.contains("does not suit") && laborious.ends_with(": -1"),
        "docs/c.md: a model of too much work: {laborious}"
    );
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
