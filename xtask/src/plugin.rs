//! The emulator's plugin, `firmware-example/plugin`: counts instructions between markers and
//! watches how deep the stack goes, of programs as they are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::elf;
use crate::machines::{Machine, Outcome};
use crate::steps::root;

/// The plugin, built.
#[derive(Clone, Debug)]
pub struct Plugin(PathBuf);

/// What a run took.
#[derive(Clone, Debug)]
pub struct Watched {
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes of the deepest stack.
    pub stack: u64,
}

impl Plugin {
    /// Builds it with the system's C compiler; renamed when it is whole, since another run
    /// may be using it.
    pub fn build() -> Result<Self> {
        let target = root()?.join("target");
        let output = target.join("count.so");
        std::fs::create_dir_all(&target)?;
        let scratch = tempfile::tempdir_in(&target)?;
        let built = scratch.path().join("count.so");
        let status = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden", "-o"])
            .arg(&built)
            .arg(root()?.join("firmware-example/plugin/count.c"))
            .status()
            .context("cannot run `cc`, the C compiler that builds the counting plugin")?;
        ensure!(status.success(), "the counting plugin does not build");
        std::fs::rename(built, &output)?;
        Ok(Self(std::path::absolute(output)?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Runs a program to its end, with `pack` where the host's packs go.
    pub fn run(&self, machine: &Machine, elf: &Path, pack: Option<&[u8]>) -> Result<Watched> {
        self.run_with(machine, elf, pack, &[])
    }

    /// As [`Plugin::run`], with further arguments for the emulator.
    pub fn run_with(
        &self,
        machine: &Machine,
        elf: &Path,
        pack: Option<&[u8]>,
        arguments: &[&str],
    ) -> Result<Watched> {
        // The markers of `firmware-example/src/mark.rs`, and where the statics end.
        let (markers, statics_end) = if machine.target.starts_with("thumb") {
            ("start=46db,stop=46e4,size=2", "_stack_end")
        } else {
            ("start=102013,stop=202013,size=4", "__ebss")
        };
        let stack = format!(
            "bottom={:x},top={:x}",
            elf::symbol(elf, statics_end)?,
            elf::symbol(elf, "_stack_start")?
        );
        let plugin = format!("{},{markers},{stack}", self.0.display());
        let pack = match pack {
            Some(bytes) => Some((bytes, elf::symbol(elf, "_pack_start")?)),
            None => None,
        };
        let outcome = machine.run_with(elf, pack, &[&["-plugin", &*plugin], arguments].concat())?;
        let stack = number(&outcome.text, "stack ")?;
        Ok(Watched { outcome, stack })
    }
}

impl Watched {
    /// Instructions between the markers.
    pub fn instructions(&self) -> Result<u64> {
        number(&self.outcome.text, "instructions ")
    }

    /// The same for every time that the markers were passed.
    pub fn intervals(&self) -> impl Iterator<Item = u64> {
        let lines = self.outcome.text.lines();
        lines.filter_map(|line| line.strip_prefix("instructions ")?.parse().ok())
    }
}

/// The number behind `start`, at the start of a line.
pub fn number(text: &str, start: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(start));
    let digits: String = line.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    digits.parse().with_context(|| format!("no `{start}` in\n{text}"))
}
