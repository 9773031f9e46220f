//! The guide of the firmware's README, its commands run as they stand there: from recordings to a
//! device that says "squat", learns a fifth exercise and takes a signed update.

use std::env::{join_paths, split_paths, var_os};
use std::fs;
use std::net::TcpListener;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::docs::blocks;
use crate::exercise::{COLUMNS, samples};
use crate::machines::TARGET_FOLDER;
use crate::serial::Host;
use crate::steps::root;

const PAGE: &str = "firmware-example/README.md";
const START: &str = "## From recordings";
/// Addresses in the guide; where it is run, others may listen there.
const PORTS: [&str; 2] = ["127.0.0.1:4000", "127.0.0.1:4001"];
/// Samples of a recording, and what is said of its windows.
const SAMPLES: usize = 1000;
const WINDOWS: &str = "1000 samples, 28 windows with the host's scores";
/// Recordings of each exercise.
const RECORDINGS: usize = 5;
/// What is trained, and how far each goes on between two samples.
const EXERCISES: [(&str, f32); 4] =
    [("jump", 0.12), ("pushup", 0.045), ("squat", 0.06), ("twist", 0.2)];
/// What is not trained.
const WAVE: f32 = 0.35;

/// Runs the guide with movements that are made up.
pub fn test(host: &Host) -> Result<()> {
    let folder = host.folder.path().join("guide");
    fs::create_dir(&folder)?;
    let mut all = Vec::new();
    for (exercise, step) in EXERCISES {
        for number in 0..RECORDINGS {
            let speed = 0.9 + 0.05 * number as f32;
            all.extend(samples(SAMPLES, step * speed, exercise, &format!("{exercise}{number}")));
        }
    }
    for (file, lines) in [
        ("recordings.csv", all),
        ("squat.csv", samples(SAMPLES, EXERCISES[2].1, "squat", "new")),
        // The class of what is shown is said by the command, not by the file.
        ("wave.csv", samples(SAMPLES, WAVE, "squat", "new")),
    ] {
        let text = format!("{COLUMNS}\n{}\n", lines.join("\n"));
        fs::write(folder.join(file), text)?;
    }

    let page = fs::read_to_string(root()?.join(PAGE))?;
    let (_, guide) = page.split_once(START).context("no guide")?;
    let (guide, _) = guide.split_once("\n## ").context("no end of the guide")?;
    // After what the guide does last: what was known before is still known.
    let again = format!("koan device exercises.koan squat.csv --stream --connect tcp:{}", PORTS[0]);
    let mut script = blocks(guide, "sh").join("") + &again;
    let at = std::path::absolute(root()?)?.join("firmware-example");
    for place in ["--manifest-path ", "-kernel "] {
        let from = format!("{place}firmware-example");
        script = script.replace(&from, &format!("{place}{}", at.display()));
    }
    // Held until both are known: a port that is free again may be given out a second time.
    let free = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    for (port, free) in PORTS.iter().zip(&free) {
        script = script.replace(port, &free.local_addr()?.to_string());
    }
    drop(free);
    eprintln!("+ {}", script.trim().replace('\n', "\n+ "));
    // Whatever happens, the emulators end.
    let script = format!("trap 'kill $(jobs -p)' EXIT\n{script}");
    let koan = host.koan.parent().context("no folder")?.to_owned();
    let path = var_os("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", &script])
        .env("PATH", join_paths([koan].into_iter().chain(split_paths(&path)))?)
        .env("CARGO_TARGET_DIR", root()?.join(TARGET_FOLDER).canonicalize()?)
        .current_dir(&folder)
        .output()
        .context("cannot run bash")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let told = format!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{PAGE}: the guide failed\n{told}");
    check(&printed).with_context(|| told)?;
    eprintln!("  {PAGE}: the guide's commands do what it says");
    Ok(())
}

/// What the guide says that its commands print.
fn check(printed: &str) -> Result<()> {
    let lines: Vec<_> = printed.lines().collect();
    // The steady class at the end of each stream. Nothing is said of the one that is learned from.
    let ends = lines.windows(2).filter(|pair| pair[1].trim() == WINDOWS);
    let classes: Vec<_> = ends.filter_map(|pair| Some(pair[0].rsplit_once(": ")?.1)).collect();
    let expected = matches!(classes[..], ["squat", _, "class 4", "squat"]);
    ensure!(expected, "a squat, a wave that is shown and known, and a squat are {classes:?}");
    for (model, origin) in
        [("exercises.signed", "now uploaded"), ("exercises.koan", "uploaded before")]
    {
        let told = lines.iter().any(|line| line.contains(model) && line.contains(origin));
        ensure!(told, "{model} is not said to be {origin}");
    }
    Ok(())
}
