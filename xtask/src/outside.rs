//! Crates outside of the workspace, as users write them, with the profiles that users have.
//!
//! - `tests/consumer`: firmwares with a model each. What they take of flash and RAM has
//!   limits.
//! - `tests/linked`: all that the core has. There must be no panic in it.
//! - A crate of what `koan export --rust` writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::cost::smallest;
use crate::elf;
use crate::plugin::Plugin;
use crate::steps::{CORTEX_M0, program, root, step};
use crate::wasm::WASM;

/// The profile that the documentation recommends, as options of cargo.
const RECOMMENDED: &str = "--config profile.release.opt-level=\"s\" \
     --config profile.release.lto=\"fat\" --config profile.release.codegen-units=1 \
     --config profile.release.panic=\"abort\"";

/// Cargo's own profile for releases, and the recommended one.
const PROFILES: [(&str, &str); 2] = [("plain", ""), ("recommended", RECOMMENDED)];

/// A program of `tests/consumer` and what it may take, in bytes, by the profiles: of flash with
/// the model, and of RAM.
struct Limits {
    program: &'static str,
    /// The name of its model in `tests/models`.
    model: &'static str,
    /// The class of its row.
    class: i32,
    flash: [Option<u64>; 2],
    ram: [u64; 2],
}

/// The models of the programs.
const DIGITS: &str = "digits-fourier-512";
const IMAGES: &str = "mnist-conv-1040";

const PROGRAMS: [Limits; 4] = [
    Limits {
        program: "digits",
        model: DIGITS,
        class: 0,
        flash: [Some(10 << 10), Some(15 << 9)],
        ram: [750; 2],
    },
    // Without link-time optimisation `unwrap` brings the formatting of its message along.
    Limits {
        program: "unwrap",
        model: DIGITS,
        class: 0,
        flash: [Some(12 << 10), Some(15 << 9)],
        ram: [750; 2],
    },
    Limits {
        program: "small",
        model: DIGITS,
        class: 0,
        flash: [Some(8 << 10), Some(12 << 9)],
        ram: [600; 2],
    },
    // Of an image every pixel is in RAM.
    Limits { program: "images", model: IMAGES, class: 1, flash: [None, None], ram: [3300; 2] },
];

/// Cores without a 64-bit or even a 32-bit division, and the browser.
const TARGETS: [&str; 3] = [CORTEX_M0, "riscv32imc-unknown-none-elf", WASM];

/// Prints what the firmwares take; what is above a limit, or panics, is an error.
pub fn run() -> Result<()> {
    let mut wrong = consumer()?;
    wrong.extend(linked()?);
    ensure!(wrong.is_empty(), "outside of the workspace:\n  {}", wrong.join("\n  "));
    exported()
}

/// Where the crate with an exported model is made, from the root of the repository.
const EXPORTED: &str = "target/exported";

/// It is a workspace of its own.
const MANIFEST: &str = "[package]\nname = \"exported\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
     [workspace]\n\n[dependencies]\nkoan = { path = \"../../core\" }\n";

/// As the comment of the exported file says.
const PROGRAM: &str = "#![deny(warnings)]\nmod tiny;\n\nfn main() -> Result<(), koan::Error> {\n    \
     let mut predictor = tiny::model::predictor();\n    predictor.self_test()?;\n    \
     let row: [f32; tiny::INPUTS] = [0.3, -1.2];\n    \
     assert_eq!(predictor.classify(&row)?, 1);\n    Ok(())\n}\n";

/// What `koan export --rust` writes is a module of a program, which predicts.
fn exported() -> Result<()> {
    crate::steps::build()?;
    let folder = root()?.join(EXPORTED);
    fs::create_dir_all(folder.join("src"))?;
    step(&format!(
        "{} export core/tests/tiny.koan --rust {EXPORTED}/src",
        program("koan")?.display()
    ))?;
    fs::write(folder.join("src/main.rs"), PROGRAM)?;
    fs::write(folder.join("Cargo.toml"), MANIFEST)?;
    // The versions that all else is built with.
    fs::copy(root()?.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    step(&format!(
        "cargo run --quiet --manifest-path {EXPORTED}/Cargo.toml --target-dir {EXPORTED}/target"
    ))
}

/// Builds the firmwares and prints what they take; which are above their limits.
fn consumer() -> Result<Vec<String>> {
    let (machine, plugin) = (smallest()?, Plugin::build()?);
    let mut above = Vec::new();
    println!("| program | profile | flash | limit | RAM | limit |");
    println!("| --- | --- | ---: | ---: | ---: | ---: |");
    for (number, (profile, options)) in PROFILES.into_iter().enumerate() {
        let folder = build("consumer", profile, options, machine.target)?;
        for Limits { program, model, class, flash: limits, ram: ram_limits } in PROGRAMS {
            let elf = folder.join(program);
            let size = elf::size(&elf)?;
            let blob = fs::read(root()?.join(format!("tests/models/{model}.koan")))?;
            let copies = elf::copies(&elf, &blob)?;
            if copies != 1 {
                above.push(format!("{program}, {profile}: has its model {copies} times"));
            }
            let watched = plugin.run(&machine, &elf, None)?;
            let code = watched.outcome.code;
            ensure!(code == class, "{program}, {profile}: class {code} instead of {class}");
            let (flash, ram) = (size.flash, size.ram + watched.stack);
            let (limit, ram_limit) = (limits[number], ram_limits[number]);
            let shown = limit.map_or("none".to_owned(), |limit| limit.to_string());
            println!("| {program} | {profile} | {flash} | {shown} | {ram} | {ram_limit} |");
            if limit.is_some_and(|limit| flash > limit) {
                above.push(format!("{program}, {profile}: {flash} bytes of flash are too many"));
            }
            if ram > ram_limit {
                above.push(format!("{program}, {profile}: {ram} bytes of RAM are too many"));
            }
        }
    }
    Ok(above)
}

/// Links all that the core has; what panics in it.
fn linked() -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (profile, options) in PROFILES {
        for target in TARGETS {
            let folder = build("linked", profile, options, target)?;
            for name in panics(&folder, target)? {
                found.push(format!("the core can panic ({target}, {profile}): {name}"));
            }
        }
    }
    Ok(found)
}

/// What panics among the functions that are left.
fn panics(folder: &Path, target: &str) -> Result<BTreeSet<String>> {
    if target != WASM {
        return Ok(elf::findings(&folder.join("koan-linked"))?.panics);
    }
    let module = walrus::Module::from_file(folder.join("koan-linked.wasm"))?;
    let names = module.funcs.iter().filter_map(|function| function.name.as_deref());
    elf::panics(names).context("koan-linked.wasm")
}

/// Builds a crate of `tests`; gives the folder of its programs.
fn build(krate: &str, profile: &str, options: &str, target: &str) -> Result<PathBuf> {
    let folder = format!("target/{krate}-{profile}");
    step(&format!(
        "cargo build --quiet --manifest-path tests/{krate}/Cargo.toml --target-dir {folder} \
         --release --locked --target {target} {options}"
    ))?;
    Ok(root()?.join(folder).join(target).join("release"))
}
