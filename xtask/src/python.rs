//! The Python package: an environment of its own, the wheel, and its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::setup::install;
use crate::steps::{IN_PYTHON, program, root, step};

/// The environment, from the root of the repository; nothing else is installed there.
const ENVIRONMENT: &str = "target/python";
/// What it holds, with versions.
const REQUIREMENTS: &str = "python/requirements.txt";
/// The environment of Dask, Spark and MLflow, which want other versions; of thorough tests alone.
const CLUSTERS: [&str; 2] = ["target/python-clusters", "python/requirements-clusters.txt"];
/// Where the wheel is written.
const WHEELS: &str = "target/wheels";
/// What the wheel that is there and installed was made of, as a hash.
const MADE_OF: &str = "target/wheel-of";
/// Bytes of the wheel, at most.
const MOST: u64 = 4_000_000;

/// What Spark runs on.
const JAVA: &str = "openjdk-17-jre-headless";
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
    environment(&python, [ENVIRONMENT, REQUIREMENTS])
}

/// Makes an environment with what a file asks for, where that has changed.
fn environment(python: &str, [folder, requirements]: [&str; 2]) -> Result<()> {
    let wanted = fs::read_to_string(root()?.join(requirements)).context(requirements.to_owned())?;
    let done = root()?.join(folder).join("requirements.txt");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    step(&format!("{python} -m venv {folder}"))?;
    // What is never imported need not be compiled; what is, Python compiles then.
    let pip = "-m pip install --quiet --no-compile --disable-pip-version-check";
    step(&format!("{} {pip} --requirement {requirements}", within(folder)?.display()))?;
    fs::write(done, wanted).context(folder.to_owned())
}

/// Builds the wheel, installs it without Rust, and prints what it weighs.
pub fn wheel() -> Result<PathBuf> {
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
    let wheel = built()?;
    install_wheel(&python, &wheel)?;
    let bytes = wheel.metadata()?.len();
    println!("wheel: {bytes} bytes, {}", wheel.display());
    ensure!(bytes <= MOST, "a wheel of {bytes} bytes is larger than {MOST}");
    step(&format!("{} python/tests/import_time.py", python.display()))?;
    Ok(wheel)
}

/// The wheel that was built last.
fn built() -> Result<PathBuf> {
    let wheels: Vec<PathBuf> = fs::read_dir(root()?.join(WHEELS))
        .context(WHEELS)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    let [wheel] = &wheels[..] else { anyhow::bail!("{} wheels instead of one", wheels.len()) };
    Ok(wheel.clone())
}

/// Installs the wheel; neither a compiler nor the registry is asked.
fn install_wheel(python: &Path, wheel: &Path) -> Result<()> {
    step(&format!(
        "CARGO=/nowhere {} -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
         --force-reinstall {}",
        python.display(),
        wheel.display()
    ))
}

/// Makes the environment of the clusters.
pub fn setup_clusters() -> Result<()> {
    let python = within(ENVIRONMENT)?.display().to_string();
    environment(&python, CLUSTERS)?;
    let java = Command::new("java").arg("-version").stderr(Stdio::null()).status();
    if !java.is_ok_and(|status| status.success()) {
        install(JAVA).context("Spark needs Java 17 or later, which is not there")?;
    }
    Ok(())
}

/// Tests on clusters of two processes each, of Dask and of Spark, and with MLflow.
fn clusters(wheel: &Path) -> Result<()> {
    setup_clusters()?;
    let python = within(CLUSTERS[0])?;
    install_wheel(&python, wheel)?;
    step(&format!(
        "OMP_NUM_THREADS=2 KOAN={} {} -m pytest --quiet -p no:cacheprovider --durations=6 python/tests-clusters",
        program("koan")?.display(),
        python.display()
    ))
}

/// Which tests of the package are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tests {
    Quick,
    /// What the quick ones leave out.
    Others,
    All,
}

/// Builds the wheel and tests it. What the quick tests left out takes their wheel, where nothing
/// has changed.
pub fn test(tests: Tests) -> Result<()> {
    let inputs = IN_PYTHON.inputs_now()?;
    let made_of = root()?.join(MADE_OF);
    let known = fs::read_to_string(&made_of).ok();
    let wheel = if tests == Tests::Others && known.is_some() && known == inputs {
        built()?
    } else {
        let _ = fs::remove_file(&made_of);
        let wheel = wheel()?;
        fs::write(&made_of, inputs.unwrap_or_default()).context(MADE_OF)?;
        wheel
    };
    let python = interpreter()?.display().to_string();
    let thorough = tests != Tests::Quick;
    if thorough {
        step(&format!("{python} -m mypy --config-file python/pyproject.toml python/koan"))?;
        step(&format!(
            "{python} -m mypy.stubtest koan --mypy-config-file python/pyproject.toml --allowlist \
             python/tests/stubtest.txt"
        ))?;
    }
    let which = match tests {
        Tests::Quick => "",
        Tests::Others => " --thorough -m thorough",
        Tests::All => " --thorough",
    };
    // Files of the tests are their own; the package is the one that is installed.
    step(&format!(
        "OMP_NUM_THREADS=2 KOAN={} {python} -m pytest --quiet -p no:cacheprovider --durations=6{which} python/tests",
        program("koan")?.display()
    ))?;
    if thorough { clusters(&wheel) } else { Ok(()) }
}

fn interpreter() -> Result<PathBuf> {
    within(ENVIRONMENT)
}

/// The Python of an environment.
fn within(folder: &str) -> Result<PathBuf> {
    let folder = std::path::absolute(root()?.join(folder))?;
    Ok(if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") })
}

/// A program of the environment.
fn beside(python: &Path, name: &str) -> PathBuf {
    python.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
