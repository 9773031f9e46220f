//! `cargo xtask test` and its thorough part: every check, in order, each printed as it is
//! run.

use std::env::var_os;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, ensure};
use tempfile::NamedTempFile;

use crate::machines::{CORES, MANIFEST};
use crate::passed::{Begun, Part};

/// Without atomics, floats or a heap: what builds here needs none of them.
pub const CORTEX_M0: &str = "thumbv6m-none-eabi";
/// With a float unit.
pub const CORTEX_M4F: &str = "thumbv7em-none-eabihf";

/// Runs on the hosts that tests run on; statically linked, so that it needs nothing of them.
pub const THIRTY_TWO_BITS: &str = "i686-unknown-linux-musl";

/// The toolchain that has Miri.
pub const NIGHTLY: &str = "nightly";

/// The `rust-version` of the workspace.
pub const OLDEST: &str = "1.89.0";

/// What is published.
const PACKAGES: &str = "--package koan --package koan-c --package koan-data --package koan-gram \
     --package koan-trainer --package koan-report --package koan-export --package koan-cli \
     --package koan-stream --package koan-store --package koan-sign --package koan-learn";

/// With the most significant byte first.
const BIG_ENDIAN: &str = "s390x-unknown-linux-gnu";

/// With the vector units that `koan-gram` has code for.
const MIRI_WITH_UNITS: &str = "x86_64-unknown-linux-gnu";

/// The variants of the firmware for real boards, from the root of the repository.
const BOARDS: &str = "firmware-example/boards/Cargo.toml";

const BOARD_TARGETS: [(&str, &str); 4] = [
    ("rp2040", CORTEX_M0),
    ("rp2040-embassy", CORTEX_M0),
    ("nrf52840", CORTEX_M4F),
    ("esp32c3", "riscv32imc-unknown-none-elf"),
];

/// The cores that the plain tests emulate: without atomics and without a hardware float.
const TESTED_CORES: [&str; 2] = [CORTEX_M0, "riscv32imc-unknown-none-elf"];

const FORMAT_AND_LINTS: [&str; 9] = [
    "cargo fmt --all --check",
    "cargo fmt --manifest-path tests/mum32bit/Cargo.toml --check",
    "cargo fmt --manifest-path tests/consumer/Cargo.toml --check",
    "cargo fmt --manifest-path tests/linked/Cargo.toml --check",
    "cargo fmt --manifest-path fuzz/Cargo.toml --check",
    "cargo clippy --release --workspace --all-targets --locked -- -D warnings",
    "cargo clippy --release --package koan --all-targets --features micromath --locked -- -D warnings",
    "cargo clippy --manifest-path tests/mum32bit/Cargo.toml --all-targets --locked -- -D warnings",
    "cargo clippy --manifest-path firmware-example/Cargo.toml --package koan-protocol --package \
     koan-embassy --all-targets --locked -- -D warnings",
];

/// The host's tests: they read every format, train, search, replay every golden model and
/// refuse hostile blobs. As the command does, they keep memory for the next matrix.
const TESTS: &str = "MALLOC_TRIM_THRESHOLD_=67108864 MALLOC_MMAP_THRESHOLD_=33554432 cargo test \
     --release --workspace --features koan-wasm/json --locked";

/// Those of the host's tests that take long: they train and search.
const OF_TRAINER: Part = Part {
    name: "tests of koan-trainer",
    without: &[
        "benches",
        "docs",
        "fuzz",
        "host/cli",
        "host/export",
        "host/papers",
        "host/report",
        "python",
        "wasm",
        "xtask",
    ],
    programs: &[],
};
const OF_COMMAND: Part = Part {
    name: "tests of koan-cli",
    without: &["benches", "docs", "fuzz", "host/papers", "python", "wasm", "xtask"],
    programs: &["cc --version"],
};
/// What the tests have beside those of the host.
const DEVICES: Part = Part {
    name: "tests on emulated devices",
    without: &["benches", "docs", "fuzz", "host/cli", "host/papers", "python", "wasm"],
    programs: &["qemu-system-arm --version", "qemu-system-riscv32 --version", "cc --version"],
};
const IN_C: Part = Part {
    name: "tests of the runtime in C",
    without: &["benches", "docs", "firmware-example", "fuzz", "host/papers", "python", "wasm"],
    programs: &["cc --version", "gcc --version", "clang --version"],
};
const IN_BROWSERS: Part = Part {
    name: "tests in node and Chromium",
    without: &["benches", "firmware-example", "fuzz", "host/papers", "python"],
    programs: &["node --version", "chromium --version"],
};
pub const IN_PYTHON: Part = Part {
    name: "tests of the Python package",
    without: &["benches", "firmware-example", "fuzz", "host/papers", "wasm"],
    programs: &["target/python/bin/python --version"],
};

/// The tests: host, two emulated cores, node, Chromium and Python. Those of the host and of Python
/// run beside the others, so that no core waits; what they print comes last, and the run ends with
/// the summary of the host's, which take what time the others leave: they alone can use all cores
/// until the end. What takes long is run where anything changed since it passed, or if it is to
/// be run `again`; the rest of the host's tests always.
pub fn test(again: bool) -> Result<()> {
    // What is installed meanwhile is not needed to compile for the host.
    at_once(crate::setup::run, build)?;
    let (line, searching) = host(again)?;
    let host = Beside::start(&yielding(&line))?;
    let xtask = std::env::current_exe()?;
    let python = IN_PYTHON.begin(again)?;
    let of_python = || Beside::start(&format!("{} python", xtask.display()));
    let python = python.map(|begun| Ok::<_, Error>((begun, of_python()?))).transpose()?;
    let others = devices_and_browsers(again);
    if let Err(error) = &others {
        eprintln!("error: {error:#}; the tests of Python and of the host are still to end");
    }
    let python =
        python.map_or(Ok(()), |(begun, tests)| tests.finish().and_then(|()| begun.passed()));
    let host = host.finish().and_then(|()| searching.into_iter().try_for_each(Begun::passed));
    host.and(others).and(python)
}

/// How the host's tests are run, and which of those that take long are among them. The trainer's
/// are left out with or without the command's: without the command's alone other features would
/// be in common, and the command would be compiled again.
fn host(again: bool) -> Result<(String, Vec<Begun>)> {
    let Some(trainer) = OF_TRAINER.begin(again)? else {
        return Ok(match OF_COMMAND.begin(again)? {
            Some(command) => (format!("{TESTS} --exclude koan-trainer"), vec![command]),
            None => (format!("{TESTS} --exclude koan-trainer --exclude koan-cli"), Vec::new()),
        });
    };
    Ok((TESTS.to_owned(), vec![trainer].into_iter().chain(OF_COMMAND.begin(true)?).collect()))
}

/// This command line, to be run where others leave time, on systems that know of such.
fn yielding(line: &str) -> String {
    if cfg!(unix) { line.replacen("cargo ", "nice -n 5 cargo ", 1) } else { line.to_owned() }
}

/// Runs the tests that need no browser beside the builds of those that do, then these.
fn devices_and_browsers(again: bool) -> Result<()> {
    let browsers = IN_BROWSERS.begin(again)?;
    let built = |build: fn() -> Result<()>| if browsers.is_some() { build() } else { Ok(()) };
    let devices = || {
        DEVICES.run(again, || {
            print!("{}", crate::emulate::run(&TESTED_CORES)?);
            print!("{}", device(&TESTED_CORES)?);
            Ok(())
        })?;
        IN_C.run(again, crate::c::host)
    };
    at_once(devices, || {
        built(crate::wasm::package)?;
        built(crate::wasm::learning)
    })?;
    let Some(browsers) = browsers else { return Ok(()) };
    crate::wasm::test_built()?;
    browsers.passed()
}

/// Runs the second on a thread of its own. If both fail, the first's error is returned, and the
/// second's is printed.
fn at_once(
    first: impl FnOnce() -> Result<()>,
    second: impl FnOnce() -> Result<()> + Send,
) -> Result<()> {
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        let second = second.join().unwrap_or_else(|_| Err(anyhow!("a thread panicked")));
        if let (Err(_), Err(error)) = (&first, &second) {
            eprintln!("error: {error:#}");
        }
        first.and(second)
    })
}

/// What sits around a model, on emulated cores: tables of streams, embassy's tasks, signed models and learning.
pub fn device(targets: &[&str]) -> Result<String> {
    let tables = [crate::stream::run, crate::embassy::run, crate::verify::run, crate::learn::run];
    let tables = tables.map(|run| run(targets)).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(tables.join("\n"))
}

/// A command that runs beside others. What it prints waits until they are done.
struct Beside {
    line: String,
    process: Child,
    printed: NamedTempFile,
}

impl Beside {
    fn start(line: &str) -> Result<Self> {
        let printed = NamedTempFile::new()?;
        // Standard output and error both write at the end, wherever that is by then.
        let file = || OpenOptions::new().append(true).open(printed.path());
        let mut command = command(line)?;
        command.stdin(Stdio::null()).stdout(file()?).stderr(file()?);
        let process = command.spawn().with_context(|| format!("cannot run `{line}`"))?;
        Ok(Self { line: line.to_owned(), process, printed })
    }

    /// Prints what has been printed and what is still to come.
    fn finish(mut self) -> Result<()> {
        let mut text = self.printed.reopen()?;
        loop {
            // Asked first: when it has ended, nothing comes after what is read now.
            let ended = self.process.try_wait()?;
            std::io::copy(&mut text, &mut std::io::stdout())?;
            if let Some(status) = ended {
                return ended_well(&self.line, status);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Beside {
    /// After an error elsewhere nobody waits for it.
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = self.process.kill().and_then(|()| self.process.wait());
        }
    }
}

/// Compiles the tests and programs of the host at once: crate by crate they would have other
/// features in common, so that what they depend on would be compiled again.
pub fn build() -> Result<()> {
    step(&format!("{TESTS} --no-run"))
}

/// A program of the host, after [`build`].
pub fn program(name: &str) -> Result<PathBuf> {
    let target = var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = target.unwrap_or(root()?.join("target")).join("release");
    Ok(std::path::absolute(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))?)
}

/// What the tests leave out: lints, every core, the rest of Python's, every runtime of JavaScript,
/// boards, other machines, costs, fuzzing.
pub fn thorough() -> Result<()> {
    crate::setup::lints()?;
    // What is installed meanwhile is mostly waited for.
    at_once(crate::setup::thorough, lints_and_packages)?;
    step(&format!("cargo +{OLDEST} check --package koan --locked"))?;
    // Damaged blobs and every public call, where numbers of the machine have 32 bits.
    for tests in ["koan --lib", "koan-golden"] {
        step(&format!(
            "CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld cargo test --package {tests} \
             --target {THIRTY_TWO_BITS} --locked"
        ))?;
    }
    build()?;
    // The longest come first. Most of them take a single core, or wait.
    several_at_once(&[
        emulated,
        || crate::python::test(crate::python::Tests::Others),
        || crate::semver::run(None),
        miri,
        crate::wasm::thorough,
        || crate::fuzz::rust(crate::fuzz::BRIEFLY),
        crate::c::others,
        miri_with_units,
    ])?;
    step("cargo test --release --package koan --features micromath --locked")?;
    // The same numbers without overflow checks, as devices run it. Last, so that the run ends
    // with the summary of the tests.
    step(
        "cargo test --release --config profile.release.overflow-checks=false --package koan \
         --package koan-golden --locked",
    )
}

/// What the stable toolchain does: lints, docs, features, packages, small tests.
fn lints_and_packages() -> Result<()> {
    FORMAT_AND_LINTS.iter().try_for_each(|command| step(command))?;
    crate::wasm::lint()?;
    step("RUSTDOCFLAGS=-Dwarnings cargo doc --release --workspace --no-deps --locked")?;
    for target in [CORTEX_M0, CORTEX_M4F] {
        step(&format!(
            "cargo build --package koan --target {target} --release --features micromath --locked"
        ))?;
    }
    // The core is built from its package; the others are packed, but not built again.
    step("cargo package --package koan --locked --quiet")?;
    step(&format!(
        "cargo build --package koan --package koan-stream --package koan-store --package koan-sign \
         --package koan-learn --features defmt --target {CORTEX_M0} --release --locked"
    ))?;
    step(&format!("cargo package {PACKAGES} --no-verify --locked --quiet"))?;
    // A package of its own: its generator draws other numbers on purpose.
    step("cargo test --manifest-path tests/mum32bit/Cargo.toml --locked")?;
    step(
        "cargo test --manifest-path firmware-example/Cargo.toml --package koan-protocol --package \
         koan-embassy --locked",
    )
}

/// Runs jobs on one thread more than there are cores, since most of them wait now and then. Each
/// thread takes the next job. After an error no other job is begun; the first error is returned, and
/// another that comes is printed.
fn several_at_once(jobs: &[fn() -> Result<()>]) -> Result<()> {
    let queue = Mutex::new(jobs.iter());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(job) = next else { return Ok(()) };
            job().inspect_err(|error| {
                // Said at once: what has been begun may take minutes.
                eprintln!("error: {error:#}; what has been begun is still to end");
                *queue.lock().unwrap_or_else(PoisonError::into_inner) = [].iter();
            })?;
        }
    };
    let threads = 1 + std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a thread panicked"))));
        ended.fold(Ok(()), Result::and)
    })
}

/// Firmware: the lints, boards, the other cores, costs, and serial ports.
fn emulated() -> Result<()> {
    firmware()?;
    crate::outside::run()?;
    let others = CORES.map(|(target, _)| target);
    let others: Vec<_> = others.into_iter().filter(|core| !TESTED_CORES.contains(core)).collect();
    print!("{}", crate::emulate::run(&others)?);
    print!("{}", device(&others)?);
    print!("{}", crate::cost::run(false)?);
    crate::serial::test()
}

/// Lints the firmware for every core, and the crates outside of the workspace; builds the
/// variants for real boards.
fn firmware() -> Result<()> {
    for manifest in [MANIFEST, BOARDS] {
        step(&format!("cargo fmt --manifest-path {manifest} --all --check"))?;
    }
    for (target, _) in CORES {
        step(&format!(
            "cargo clippy --quiet --manifest-path {MANIFEST} --bins --target {target} --locked -- \
             -D warnings"
        ))?;
    }
    step(&format!(
        "cargo clippy --quiet --manifest-path {MANIFEST} --package koan-embassy --package \
         koan-embassy-emulated --target {CORTEX_M0} --locked -- -D warnings"
    ))?;
    for krate in ["consumer", "linked"] {
        step(&format!(
            "cargo clippy --quiet --manifest-path tests/{krate}/Cargo.toml --target {CORTEX_M0} \
             --locked -- -D warnings"
        ))?;
    }
    for (board, target) in BOARD_TARGETS {
        step(&format!(
            "cargo build --quiet --manifest-path {BOARDS} --package koan-{board} \
             --target {target} --release --locked"
        ))?;
    }
    Ok(())
}

/// The core's own tests and golden models in an interpreter that knows other machines, of which one
/// with 32 bits runs as it is; random tests run a few cases.
fn miri() -> Result<()> {
    ["koan --lib", "koan-golden --test replay"].iter().try_for_each(|tests| {
        step(&format!(
            "MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 cargo +{NIGHTLY} miri test \
             --quiet --package {tests} --target {BIG_ENDIAN} --locked"
        ))
    })
}

/// The code for vector units that the trainer calls, in the same interpreter.
fn miri_with_units() -> Result<()> {
    step(&format!(
        "RUSTFLAGS=-Ctarget-feature=+avx2,+avxvnni,+avx512f,+avx512vnni cargo +{NIGHTLY} miri test --quiet \
         --package koan-gram --lib --target {MIRI_WITH_UNITS} --locked kernel"
    ))
}

/// When the first step began.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Runs a command line of words without spaces, with variables in front as in
/// a shell, at the root of the repository.
pub fn step(line: &str) -> Result<()> {
    let status = command(line)?.status().with_context(|| format!("cannot run `{line}`"))?;
    ended_well(line, status)
}

/// Such a command line, told and not run yet.
fn command(line: &str) -> Result<Command> {
    // Before the step, not after it: the last one is to end with its own summary.
    eprintln!("+ {line}  # after {} s", START.elapsed().as_secs());
    let (variables, words): (Vec<&str>, Vec<&str>) = split(line);
    let (program, arguments) = words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(variables.iter().filter_map(|variable| variable.split_once('=')))
        .current_dir(root()?);
    Ok(command)
}

fn ended_well(line: &str, status: ExitStatus) -> Result<()> {
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// The root of the repository.
pub fn root() -> Result<PathBuf> {
    // Asked when run: checkouts that share a target folder share this binary.
    let package = var_os("CARGO_MANIFEST_DIR").context("to be run as `cargo xtask`")?;
    above(Path::new(&package))
}

/// The folder around that of this package.
fn above(package: &Path) -> Result<PathBuf> {
    let shown = package.to_string_lossy();
    ensure!(
        !shown.contains(char::is_whitespace),
        "`cargo xtask` cannot run in {shown:?}: its command lines end words at spaces. Move the \
         repository to a path without"
    );
    Ok(package.join(".."))
}

fn split(line: &str) -> (Vec<&str>, Vec<&str>) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let variables = words.iter().take_while(|word| word.contains('=')).count();
    (words[..variables].to_vec(), words[variables..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_is_refused() {
        assert!(above(Path::new("/home/koan/xtask")).is_ok());
        let error = above(Path::new("/home/my projects/koan/xtask")).unwrap_err();
        assert!(error.to_string().contains("/home/my projects/koan"), "{error}");
    }

    #[test]
    fn what_nobody_waits_for_is_ended() {
        // A child of this process: its folder is there until it has been waited for.
        let process = Command::new("sleep").arg("100").spawn().unwrap();
        let known = PathBuf::from(format!("/proc/{}", process.id()));
        let printed = NamedTempFile::new().unwrap();
        assert!(!cfg!(target_os = "linux") || known.exists());
        drop(Beside { line: "sleep 100".into(), process, printed });
        assert!(!known.exists());
    }
}
