//! Sketches of `koan export` and the folder `c/` as a library, built as Arduino builds them.

use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::folder;
use crate::steps::{program, root, step};

const UNO: &str = "uno";
const LEONARDO: &str = "leonardo";
const MEGA: &str = "mega:cpu=atmega2560";

/// The most flash that the example takes of an Uno, as docs/c.md says: the sketch of
/// `koan export`, and with the library.
const MOST_OF_SKETCH: u64 = 12_288;
const MOST_OF_LIBRARY: u64 = 25_600;

/// A model of a family that the library leaves out where flash is short.
const LARGE: &str = "tests/models/gestures-conv-64.koan";

/// Builds all of them.
pub fn run() -> Result<()> {
    let tiny = export("core/tests/tiny.koan", "Tiny")?;
    let taken = build(&tiny, UNO, None)?;
    ensure!(taken <= MOST_OF_SKETCH, "Tiny takes {taken} bytes of an Uno");
    build(&export("firmware-example/digits.koan", "Digits")?, UNO, None)?;
    for file in ["Tiny.ino", "tiny.h", "tiny.c"] {
        same(&tiny, file, &format!("examples/Tiny/{file}"))?;
    }
    for file in ["tiny.h", "tiny.c"] {
        same(&tiny, file, &format!("zephyr/sample/src/{file}"))?;
    }
    library()
}

/// What is exported for the example is what lies in the folder `c/`.
fn same(exported: &Path, file: &str, example: &str) -> Result<()> {
    let (new, old) = (exported.join(file), root()?.join("c").join(example));
    ensure!(
        fs::read(&new)? == fs::read(&old)?,
        "c/{example} is not what `koan export` writes: copy {}",
        new.display()
    );
    Ok(())
}

/// The folder of the sketch that `koan export` writes of a model.
fn export(model: &str, name: &str) -> Result<PathBuf> {
    // A sketch that is there would stay.
    let sketch = folder()?.join(name);
    if sketch.exists() {
        fs::remove_dir_all(&sketch)?;
    }
    step(&format!("{} export {model} --arduino {}", program("koan")?.display(), sketch.display()))?;
    Ok(sketch)
}

/// The library's example on boards with little and with much flash, and a model that needs what
/// it leaves out on the former.
fn library() -> Result<()> {
    let libraries = folder()?.join("libraries");
    if libraries.exists() {
        fs::remove_dir_all(&libraries)?;
    }
    fs::create_dir_all(&libraries)?;
    step(&format!("cp -r c {}", libraries.join("Koan").display()))?;
    let example = libraries.join("Koan/examples/Tiny");
    for board in [UNO, LEONARDO, MEGA] {
        let taken = build(&example, board, Some(&libraries))?;
        ensure!(board != UNO || taken <= MOST_OF_LIBRARY, "the library takes {taken} of an Uno");
    }
    let large = export(LARGE, "Large")?;
    // So that the library's are taken.
    for file in ["koan.h", "koan.c", "koan_config.h"] {
        fs::remove_file(large.join(file))?;
    }
    build(&large, MEGA, Some(&libraries))?;
    let refused = build(&large, UNO, Some(&libraries)).err().map(|error| error.to_string());
    let told = refused.unwrap_or_default();
    ensure!(
        told.contains("#error") && told.contains("KOAN_NO_CONV"),
        "{LARGE} with the library on an Uno: {told}"
    );
    Ok(())
}

/// Builds the sketch of a folder; gives the flash that it takes. Warnings of ours are errors.
fn build(sketch: &Path, board: &str, libraries: Option<&Path>) -> Result<u64> {
    let name = sketch.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Relative paths are another folder's there.
    let (tools, built) = (absolute(folder()?.join("tools"))?, absolute(folder()?.join("sketch"))?);
    fs::create_dir_all(&tools)?;
    // Built for another board.
    if built.exists() {
        fs::remove_dir_all(&built)?;
    }
    fs::create_dir_all(&built)?;
    let mut builder = Command::new("arduino-builder");
    builder
        .args(["-compile", "-warnings", "all", "-hardware", "/usr/share/arduino-builder"])
        .args([
            "-hardware",
            "/usr/share/arduino/hardware",
            "-fqbn",
            &format!("arduino:avr:{board}"),
        ])
        // The core wants a newer compiler's limits of floats.
        .arg("-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=17")
        .args([Path::new("-tools"), &tools, Path::new("-build-path"), &built]);
    if let Some(libraries) = libraries {
        builder.arg("-libraries").arg(absolute(libraries)?);
    }
    eprintln!("+ arduino-builder {} for {board}", sketch.display());
    let output = builder
        .arg(absolute(sketch.join(format!("{name}.ino")))?)
        .current_dir(root()?)
        .output()
        .context("cannot run arduino-builder")?;
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    ensure!(output.status.success(), "{name} for {board}: {told}");
    // The core has warnings of its own.
    let is_ours = |line: &&str| line.contains("warning:") && !line.contains("/hardware/");
    let warning = told.lines().find(is_ours);
    ensure!(warning.is_none(), "{name} for {board}: {}", warning.unwrap_or_default());
    let used = told.split("Sketch uses ").nth(1).and_then(|rest| rest.split(' ').next());
    used.and_then(|used| used.parse().ok()).with_context(|| format!("no size in {told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packages for other tools than Cargo, which does not look at their versions.
    const PACKAGES: [&str; 3] = ["library.properties", "library.json", "idf_component.yml"];

    #[test]
    fn packages_in_c_have_the_version_and_the_licences_of_the_workspace() {
        let root = root().unwrap();
        for package in PACKAGES {
            let text = fs::read_to_string(root.join("c").join(package)).unwrap();
            let version = text.lines().find_map(|line| line.trim().split_once("version"));
            let version = version.unwrap().1.trim_matches(|c: char| !c.is_ascii_digit());
            assert_eq!(version, env!("CARGO_PKG_VERSION"), "c/{package}");
        }
    }

    #[test]
    fn licences_beside_packages_are_the_workspaces() {
        let root = root().unwrap();
        let folders = "c core host/cli host/data host/export host/gram host/report host/trainer";
        for folder in folders.split(' ') {
            for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
                let text = fs::read(root.join(folder).join(licence)).unwrap();
                assert!(text == fs::read(root.join(licence)).unwrap(), "{folder}/{licence}");
            }
        }
    }

    #[test]
    fn platformio_builds_the_runtime_and_nothing_else_of_the_folder() {
        let text = fs::read_to_string(root().unwrap().join("c/library.json")).unwrap();
        let package: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(package["build"]["srcFilter"], serde_json::json!(["-<*>", "+<koan.c>"]));
    }
}
