//! The Python package: an environment of its own, the wheel, and its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::setup::install;
use crate::steps::{program, root, step};

/// The environment, from the root of the repository; nothing else is installed there.
const ENVIRONMENT: &str = "target/python";
/// What it holds, with versions.
const REQUIREMENTS: &str = "python/requirements.txt";
/// Where the wheel is written.
const WHEELS: &str = "target/wheels";
/// Bytes of the wheel, at most.
const MOST: u64 = 4_000_000;

/// Fails with a Python older than the wheel is for, or one that cannot make environments.
const SUITS: &str = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))";
/// What has such a Python.
const PACKAGES: &str = "python3 python3-venv";

/// Makes the environment, and installs what the tests need where that has changed.
pub fn setup() -> Result<()> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let suits = || {
        let status = Command::new(&python).args(["-c", SUITS]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !suits() {
        let by_hand = "there is no Python 3.10 or later with venv: install it (packages python3 \
                       and python3-venv), or set PYTHON to the path of one";
        install(PACKAGES).context(by_hand)?;
        ensure!(suits(), by_hand);
    }
    let wanted = fs::read_to_string(root()?.join(REQUIREMENTS)).context(REQUIREMENTS)?;
    let done = root()?.join(ENVIRONMENT).join("requirements.txt");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    step(&format!("{python} -m venv {ENVIRONMENT}"))?;
    let pip = "-m pip install --quiet --disable-pip-version-check";
    step(&format!("{} {pip} --requirement {REQUIREMENTS}", interpreter()?.display()))?;
    fs::write(done, wanted).context(ENVIRONMENT)
}

/// Builds the wheel, installs it without Rust, and prints what it weighs.
pub fn wheel() -> Result<()> {
    let python = interpreter()?;
    let folder = root()?.join(WHEELS);
    // One wheel: an older version's would be installed as well.
    if folder.exists() {
        fs::remove_dir_all(&folder).context(WHEELS)?;
    }
    step(&format!(
        "{} build --quiet --release --locked --manifest-path python/Cargo.toml --interpreter {} \
         --out {WHEELS}",
        beside(&python, "maturin").display(),
        python.display()
    ))?;
    let wheels: Vec<PathBuf> = fs::read_dir(&folder)
        .context(WHEELS)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    let [wheel] = &wheels[..] else { anyhow::bail!("{} wheels instead of one", wheels.len()) };
    // Neither a compiler nor the registry is asked.
    step(&format!(
        "CARGO=/nowhere {} -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
         --force-reinstall {}",
        python.display(),
        wheel.display()
    ))?;
    let bytes = wheel.metadata()?.len();
    println!("wheel: {bytes} bytes, {}", wheel.display());
    ensure!(bytes <= MOST, "a wheel of {bytes} bytes is larger than {MOST}");
    step(&format!("{} python/tests/import_time.py", python.display()))
}

/// Builds the wheel and tests it: the quick part, or all.
pub fn test(thorough: bool) -> Result<()> {
    wheel()?;
    let python = interpreter()?.display().to_string();
    if thorough {
        step(&format!("{python} -m mypy --config-file python/pyproject.toml python/koan"))?;
        step(&format!(
            "{python} -m mypy.stubtest koan --mypy-config-file python/pyproject.toml --allowlist \
             python/tests/stubtest.txt"
        ))?;
    }
    let all = if thorough { " --thorough" } else { "" };
    // Files of the tests are their own; the package is the one that is installed.
    step(&format!(
        "OMP_NUM_THREADS=2 KOAN={} {python} -m pytest --quiet -p no:cacheprovider{all} python/tests",
        program("koan")?.display()
    ))
}

fn interpreter() -> Result<PathBuf> {
    let folder = std::path::absolute(root()?.join(ENVIRONMENT))?;
    Ok(if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") })
}

/// A program of the environment.
fn beside(python: &Path, name: &str) -> PathBuf {
    python.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
