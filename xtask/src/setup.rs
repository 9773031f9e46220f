//! `cargo xtask setup`: what rustup and apt have to install, and only what is
//! missing.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::machines::CORES;
use crate::steps::{NIGHTLY, OLDEST, THIRTY_TWO_BITS, step};

const COMPONENTS: [&str; 2] = ["rustfmt", "clippy"];
/// Miri, and what it builds its own standard library from.
const NIGHTLY_COMPONENTS: [&str; 2] = ["miri", "rust-src"];

const EMULATORS: [&str; 2] = ["qemu-system-arm", "qemu-system-riscv32"];
/// Where a newer qemu-utils than the release's stands in the way, then elsewhere.
const PACKAGES: [&str; 2] = [
    "--allow-downgrades qemu-system-arm qemu-system-misc qemu-utils/bookworm",
    "qemu-system-arm qemu-system-misc",
];

/// What the tests need: targets, emulators, packages of node and Python, and Chromium.
pub fn run() -> Result<()> {
    add("target", &CORES.map(|(target, _)| target))?;
    emulators()?;
    crate::python::setup()?;
    crate::wasm::setup()
}

/// What the tests and the lints need.
pub fn lints() -> Result<()> {
    run()?;
    add("component", &COMPONENTS)
}

/// What the rest of the thorough part needs: Miri and fuzzing, other compilers and clusters.
/// All of it here, since two jobs cannot use apt at once.
pub fn thorough() -> Result<()> {
    crate::c::setup()?;
    crate::python::setup_clusters()?;
    add("target", &[THIRTY_TWO_BITS])?;
    miri()?;
    oldest()?;
    fuzzer()
}

/// The oldest compiler that the crates promise to build with.
fn oldest() -> Result<()> {
    let installed = Command::new("rustup").args(["toolchain", "list"]).output()?;
    if String::from_utf8_lossy(&installed.stdout).lines().any(|line| line.starts_with(OLDEST)) {
        return Ok(());
    }
    step(&format!("rustup toolchain install {OLDEST} --profile minimal"))
        .with_context(|| format!("the toolchain {OLDEST} is not installed"))
}

/// The command that builds and runs fuzz targets.
pub fn fuzzer() -> Result<()> {
    let found = Command::new("cargo").args(["fuzz", "--version"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    compiled("cargo-fuzz").context("fuzzing needs cargo-fuzz")
}

/// What compares public interfaces, in a version that reads what the pinned toolchain writes.
pub fn semver() -> Result<()> {
    const VERSION: &str = "0.51.0";
    let found = Command::new("cargo").args(["semver-checks", "--version"]).output();
    if found.is_ok_and(|output| output.stdout.trim_ascii().ends_with(VERSION.as_bytes())) {
        return Ok(());
    }
    let tool = format!("cargo-semver-checks --version {VERSION}");
    // Not every registry has what its lock file names.
    compiled(&format!("{tool} --locked"))
        .or_else(|_| compiled(&tool))
        .context("public interfaces are compared by cargo-semver-checks")
}

/// Compiles a tool of cargo without optimisation: as its authors build it, it would take longer to
/// compile than it ever runs here.
fn compiled(what: &str) -> Result<()> {
    step(&format!(
        "CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
         CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install {what}"
    ))
}

/// A compiler target, where it is missing.
pub fn target(name: &str) -> Result<()> {
    add("target", &[name])
}

fn add(kind: &str, wanted: &[&str]) -> Result<()> {
    let installed = installed(kind, wanted)?;
    for name in wanted.iter().filter(|name| !has(&installed, name)) {
        step(&format!("rustup {kind} add {name}"))
            .with_context(|| format!("the {kind} {name} is needed and not installed"))?;
    }
    Ok(())
}

/// Components are listed with the host's name behind theirs.
fn has(installed: &str, name: &str) -> bool {
    installed
        .lines()
        .any(|line| line.strip_prefix(name).is_some_and(|r| r.is_empty() || r.starts_with('-')))
}

fn installed(kind: &str, wanted: &[&str]) -> Result<String> {
    let Ok(output) = Command::new("rustup").args([kind, "list", "--installed"]).output() else {
        bail!(
            "there is no rustup: install it from https://rustup.rs, or install {} {} for this \
             toolchain otherwise and run the steps of xtask/src/steps.rs by hand",
            if kind == "target" { "the targets" } else { "the components" },
            wanted.join(" and ")
        );
    };
    ensure!(
        output.status.success(),
        "`rustup {kind} list --installed` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8(output.stdout)?)
}

fn miri() -> Result<()> {
    let output = Command::new("rustup")
        .args(["component", "list", "--installed", "--toolchain", NIGHTLY])
        .output()?;
    // A failure means that there is no such toolchain.
    let installed = String::from_utf8(output.stdout)?;
    if output.status.success() && NIGHTLY_COMPONENTS.iter().all(|name| has(&installed, name)) {
        return Ok(());
    }
    let components = NIGHTLY_COMPONENTS.join(",");
    step(&format!("rustup toolchain install {NIGHTLY} --profile minimal --component {components}"))
        .with_context(|| format!("{components} of the toolchain {NIGHTLY} are not installed"))
}

fn emulators() -> Result<()> {
    packages(&EMULATORS, PACKAGES[0]).or_else(|_| packages(&EMULATORS, PACKAGES[1]))
}

/// Programs, by apt where one is missing.
pub fn packages(programs: &[&str], packages: &str) -> Result<()> {
    let missing = || programs.iter().copied().filter(|name| !runs(name)).collect::<Vec<_>>();
    if missing().is_empty() {
        return Ok(());
    }
    let by_hand = || format!("{} not installed (Debian: {packages})", missing().join(" and "));
    install(packages).with_context(by_hand)?;
    ensure!(missing().is_empty(), by_hand());
    Ok(())
}

/// Packages of the system, by apt.
pub fn install(packages: &str) -> Result<()> {
    ensure!(runs("apt-get"), "there is no apt-get to install {packages} with");
    let apt = apt_get();
    step(&format!("{apt} update"))?;
    step(&format!("{apt} install -y --no-install-recommends {packages}"))
}

/// The command that installs packages, as root.
pub fn apt_get() -> &'static str {
    if is_root() { "apt-get" } else { "sudo apt-get" }
}

/// Whether there is such a program.
fn runs(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
