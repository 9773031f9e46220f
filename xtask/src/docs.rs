//! `cargo xtask docs`: figures in the documentation are what commands print.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::machines::CORES;
use crate::steps::root;

/// Renews the demo's table in the README, those of firmware and device in their own and, given
/// data, the measurements.
pub fn run(data: Option<&Path>) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let demo = koan(&["demo".into(), "-o".into(), text(&scratch.path().join("digits.koan"))])?;
    let table = demo.split("\n\n").nth(1).unwrap_or_default();
    let block = format!("\n```text\n{table}\n```\n");
    replace(&root()?.join("README.md"), "demo", &block)?;
    replace(&root()?.join("README.md"), "cost", &crate::cost::run(false)?)?;
    replace(
        &root()?.join("firmware-example/README.md"),
        "emulate",
        &crate::emulate::run(&CORES.map(|(target, _)| target))?,
    )?;
    let cores = CORES.map(|(target, _)| target);
    replace(&root()?.join("firmware-example/README.md"), "embassy", &crate::embassy::run(&cores)?)?;
    let device = root()?.join("device/README.md");
    replace(&device, "device", &crate::stream::run(&cores)?)?;
    replace(&device, "verify", &crate::verify::run(&cores)?)?;
    replace(&device, "learn", &crate::learn::run(&cores)?)?;
    match data {
        Some(data) => {
            replace(&device, "shown", &shown(data)?)?;
            let block = measurements(data, scratch.path())?;
            replace(&root()?.join("docs/measurements.md"), "measurements", &block)
        }
        None => Ok(()),
    }
}

/// What a few labelled windows are worth to a device.
fn shown(data: &Path) -> Result<String> {
    let output = Command::new("cargo")
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "koan-learn",
            "--example",
            "shown",
            "--",
        ])
        .arg(data.join("har_emlearn/har_exercise_1.csv.gz"))
        .current_dir(root()?)
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// A table of `koan train` commands.
struct Section {
    title: &'static str,
    commands: Vec<String>,
}

fn sections() -> Vec<Section> {
    let adult = "$DATA/adult/a9a.gz --test $DATA/adult/a9a.t.gz";
    let mnist =
        "$DATA/mnist/train-images-idx3-ubyte.gz --test $DATA/mnist/t10k-images-idx3-ubyte.gz";
    let covtype = "$DATA/covtype/covtype.random16pct.data.gz --positive 2 --train-rows 83000";
    let families = ["fourier", "stump", "bin", "maxout", "sigmoid", "linear"];
    let mut widths = Vec::new();
    for family in families {
        let features = match family {
            "bin" => " --features 30 --slot-bits 5",
            "linear" => "",
            _ => " --features 500",
        };
        for bits in [2, 3, 4, 8, 16] {
            widths.push(format!("{adult} --family {family}{features} --bits {bits}"));
        }
    }
    let mut cpu: Vec<String> = (1..=3)
        .map(|seed| {
            format!(
                "$DATA/cpu_act/cpu_act.tsv.gz --train-rows 6500 --family fourier --features 300 \
                 --seed {seed}"
            )
        })
        .collect();
    cpu.push(format!("{} --bits 4", cpu[0]));
    vec![
        Section {
            title: "Census income (adult), two classes, 32,561 rows to train, 16,281 to test",
            commands: vec![
                format!("{adult} --family fourier --features 500"),
                format!("{adult} --family stump --features 1000"),
            ],
        },
        Section { title: "Every family and width, adult", commands: widths },
        Section {
            title: "MNIST, ten classes, 60,000 images to train, 10,000 to test",
            commands: vec![
                format!("{mnist} --family fourier --projection hadamard --features 2048 --bits 4"),
                format!("{mnist} --family maxout --features 1000 --pool 4"),
            ],
        },
        Section {
            title: "CPU activity (cpu_act), relative RMS error, 6,500 rows to train, 1,692 to test",
            commands: cpu,
        },
        Section {
            title: "Forest cover (covtype), class 2 against the rest, 83,000 rows to train, \
                    9,962 to test",
            commands: vec![
                format!("{covtype} --family bin --features 50 --slot-bits 8"),
                format!("{covtype} --family bin --features 50 --slot-bits 10 --bits 2"),
                format!("{covtype} --family fourier --features 2048"),
            ],
        },
    ]
}

fn measurements(data: &Path, scratch: &Path) -> Result<String> {
    let mut block = String::new();
    for section in sections() {
        write!(block, "\n## {}\n\n", section.title)?;
        block.push_str("| `cargo koan train … -o m.koan` | projection | bytes | error | s |\n");
        block.push_str("| --- | --- | ---: | ---: | ---: |\n");
        for command in &section.commands {
            eprintln!("+ cargo koan train {command}");
            let mut arguments = vec!["train".to_owned()];
            arguments
                .extend(command.split_whitespace().map(|word| word.replace("$DATA", &text(data))));
            arguments.extend(["--json".into(), "-o".into(), text(&scratch.join("m.koan"))]);
            let report: Value = serde_json::from_str(&koan(&arguments)?)?;
            writeln!(
                block,
                "| `{command}` | {} | {} | {:.2} % | {:.0} |",
                report["projection"].as_str().unwrap_or_default(),
                report["bytes"],
                100.0 * report["error"].as_f64().unwrap_or(f64::NAN),
                report["seconds"].as_f64().unwrap_or(f64::NAN)
            )?;
        }
    }
    Ok(block)
}

/// What the command prints.
pub fn koan(arguments: &[String]) -> Result<String> {
    let output = Command::new("cargo").arg("koan").args(arguments).current_dir(root()?).output()?;
    ensure!(
        output.status.success(),
        "cargo koan {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Replaces what stands between `<!-- name -->` and `<!-- end -->`.
pub fn replace(path: &Path, name: &str, block: &str) -> Result<()> {
    let old = std::fs::read_to_string(path)?;
    let marker = format!("<!-- {name} -->");
    let context = || format!("{}: no block {marker} … <!-- end -->", path.display());
    let start = old.find(&marker).with_context(context)? + marker.len();
    let end = start + old[start..].find("<!-- end -->").with_context(context)?;
    let new = format!("{}\n{}\n{}", &old[..start], block.trim_matches('\n'), &old[end..]);
    Ok(std::fs::write(path, new)?)
}

/// A path as a command line has it.
pub fn text(path: &Path) -> String {
    // Relative paths are the caller's, the command runs in the workspace.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// The blocks of a language in a page.
pub fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    page.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_language() {
        let page = "a\n```sh\none\n```\n```c\ntwo\n```\n```sh\nthree\n```\n";
        assert_eq!(blocks(page, "sh"), ["one\n", "three\n"]);
        assert_eq!(blocks(page, "c"), ["two\n"]);
    }
}
