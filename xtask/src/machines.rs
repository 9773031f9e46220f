//! The emulated machines: one for each target of the firmware workspace.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::steps::{root, step};

/// The targets of the firmware and the cores that they stand for.
pub const CORES: [(&str, &str); 6] = [
    ("thumbv6m-none-eabi", "Cortex-M0"),
    ("thumbv7m-none-eabi", "Cortex-M3"),
    ("thumbv7em-none-eabihf", "Cortex-M4F"),
    ("thumbv8m.main-none-eabihf", "Cortex-M33"),
    ("riscv32imc-unknown-none-elf", "RV32IMC"),
    ("riscv32imac-unknown-none-elf", "RV32IMAC"),
];

/// The firmware's workspace, from the root of the repository.
pub const MANIFEST: &str = "firmware-example/Cargo.toml";

/// Said to cargo, as the user may have set another one for all workspaces.
pub const TARGET_FOLDER: &str = "firmware-example/target";

/// No run takes a tenth of it; a firmware that hangs is a failure.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The emulator loads no file that is larger than the machine's RAM.
const PIECE: usize = 16 * 1024;

/// What is missing when the emulator cannot be started.
pub const NO_EMULATOR: &str = "cannot run the emulator: is QEMU installed?";

/// An emulated machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The compiler's name of the target.
    pub target: &'static str,
    /// The name of the core.
    pub core: &'static str,
    /// The emulator's name of the machine.
    pub name: String,
    /// The command line that the path of a firmware follows.
    runner: Vec<String>,
}

/// How a firmware ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The exit code.
    pub code: i32,
    /// What it printed.
    pub text: String,
}

/// All machines, as `firmware-example/.cargo/config.toml` runs them.
pub fn all() -> Result<Vec<Machine>> {
    let path = root()?.join("firmware-example/.cargo/config.toml");
    let at = || path.display().to_string();
    let text = std::fs::read_to_string(&path).with_context(at)?;
    let config: toml::Table = text.parse().with_context(at)?;
    let machine = |&(target, core): &(&'static str, &'static str)| {
        // A dot in a bare key opens another table.
        let table = target.split('.').try_fold(config.get("target")?, |table, key| table.get(key));
        let runner: Option<Vec<String>> = table?
            .get("runner")?
            .as_array()?
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect();
        let runner = runner?;
        let name = runner.iter().skip_while(|word| *word != "-machine").nth(1)?.clone();
        Some(Machine { target, core, name, runner })
    };
    CORES
        .iter()
        .map(|core| machine(core).with_context(|| format!("{}: no machine of {}", at(), core.0)))
        .collect()
}

/// The machines of these targets.
pub fn of(targets: &[&str]) -> Result<Vec<Machine>> {
    Ok(all()?.into_iter().filter(|machine| targets.contains(&machine.target)).collect())
}

/// Builds programs of the firmware for machines, all at once: the compiler links some while
/// it makes others. `variables` stand in front of the command.
pub fn build(machines: &[Machine], programs: &[&str], variables: &str) -> Result<()> {
    let targets = machines.iter().map(|machine| format!(" --target {}", machine.target));
    let programs = programs.iter().map(|program| format!(" --bin {program}"));
    step(&format!(
        "{variables} cargo build --quiet --manifest-path {MANIFEST} --target-dir {TARGET_FOLDER} \
         --release --locked{}{}",
        targets.collect::<String>(),
        programs.collect::<String>()
    ))
}

impl Machine {
    /// Where a program of the firmware is, after [`build`].
    pub fn program(&self, name: &str) -> Result<PathBuf> {
        Ok(root()?.join(format!("{TARGET_FOLDER}/{}/release/{name}", self.target)))
    }

    /// The emulator with a firmware, to be given its serial port.
    pub fn command(&self, elf: &Path) -> Result<Command> {
        let (program, arguments) = self.runner.split_first().context("an empty runner")?;
        let mut command = Command::new(program);
        command.args(arguments).arg(elf).stdin(Stdio::null());
        Ok(command)
    }

    /// Runs a firmware to its end, with `pack` (bytes and address) in its memory.
    pub fn run(&self, elf: &Path, pack: Option<(&[u8], u64)>) -> Result<Outcome> {
        self.run_with(elf, pack, &[])
    }

    /// As [`Machine::run`], with further arguments for the emulator.
    pub fn run_with(
        &self,
        elf: &Path,
        pack: Option<(&[u8], u64)>,
        arguments: &[&str],
    ) -> Result<Outcome> {
        let scratch = tempfile::tempdir()?;
        let mut command = self.command(elf)?;
        command.args(["-serial", "none"]).args(arguments);
        if let Some((bytes, address)) = pack {
            for (number, piece) in bytes.chunks(PIECE).enumerate() {
                let file = scratch.path().join(number.to_string());
                std::fs::write(&file, piece)?;
                let (file, address) = (file.display(), address + (number * PIECE) as u64);
                command.arg("-device");
                command.arg(format!("loader,file={file},addr={address:#x},force-raw=on"));
            }
        }
        // Files, which do not fill up as pipes do.
        let mut output = tempfile::tempfile()?;
        let mut child = command
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()
            .context(NO_EMULATOR)?;
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if started.elapsed() > TIME_LIMIT {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut text = String::new();
        output.rewind()?;
        output.read_to_string(&mut text)?;
        let Some(status) = status else {
            bail!("{}: no end after {} s; it printed\n{text}", self, TIME_LIMIT.as_secs());
        };
        let code = status.code().with_context(|| format!("{self}: {status}\n{text}"))?;
        Ok(Outcome { code, text })
    }

    /// As [`Machine::run`]; a firmware that fails is an error.
    pub fn pass(&self, elf: &Path, pack: Option<(&[u8], u64)>) -> Result<String> {
        let outcome = self.run(elf, pack)?;
        let Outcome { code, text } = outcome;
        ensure!(code == 0, "{self}: exit code {code}\n{}", text.trim_end());
        Ok(text)
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.core, self.name)
    }
}
