//! A folder for each test, the command run in it, and small data sets.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;
use wyhash::final3::wyrng;

/// Settings that leave nothing to search: a training takes milliseconds.
pub const QUICK: &str = "--frequency 1 --lambda 0.001 --map per-input --relevance no";

/// The same of embeddings, which have no penalty.
pub const QUICK_EMBEDDING: &str = "--frequency 1 --map per-input --relevance no";

/// A temporary folder that the command is run in, so that messages name files
/// as the tests do.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn write_gzip(&self, name: &str, content: impl AsRef<[u8]>) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content.as_ref()).unwrap();
        self.write(name, encoder.finish().unwrap());
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The command with arguments that are separated by spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::cargo_bin("koan").unwrap();
        command.current_dir(&self.0).args(arguments.split_whitespace());
        command
    }

    pub fn run(&self, arguments: &str) -> Assert {
        self.command(arguments).assert()
    }

    /// What a command that succeeds prints.
    pub fn output(&self, arguments: &str) -> String {
        text(&self.run(arguments).success().get_output().stdout)
    }

    /// The object that a command that succeeds prints.
    pub fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.output(arguments)).unwrap()
    }

    /// Trains quickly, to `m.koan`.
    pub fn train(&self, arguments: &str) -> Assert {
        self.run(&format!("train {arguments} --output m.koan {QUICK}"))
    }

    /// Fails with exit code 1 and a message that has all the parts, and prints
    /// nothing else.
    pub fn fails(&self, arguments: &str, parts: &[&str]) {
        let assert = self.run(arguments).code(1).stdout("");
        let message = text(&assert.get_output().stderr);
        assert!(message.starts_with("error: "), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
    }

    /// [`Self::fails`] in a quick training, which makes no model and leaves an
    /// old one.
    pub fn train_fails(&self, arguments: &str, parts: &[&str]) {
        let model = || std::fs::read(self.path("m.koan")).ok();
        let before = model();
        self.fails(&format!("train {arguments} --output m.koan {QUICK}"), parts);
        assert_eq!(model(), before);
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Numbers from a fixed seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        wyrng(&mut self.0) % end
    }

    /// From −2 to 2, in steps of a thousandth.
    pub fn number(&mut self) -> f64 {
        (self.below(4001) as f64 - 2000.0) / 1000.0
    }
}

/// A table with header, a text column, and quoted fields: `hot` where `temp` is
/// above 0 for clerks, below it for the others. `level` says nothing.
pub fn sensors(rows: usize) -> String {
    let mut random = Random::new(1);
    let mut csv = "temp,\"job, kind\",level,state\n".to_owned();
    for _ in 0..rows {
        let (temp, level) = (random.number(), random.number());
        let job = ["clerk", "\"boss, \"\"big\"\"\"", "cook"][random.below(3) as usize];
        let hot = (temp > 0.0) == (job == "clerk");
        let state = if hot { "hot" } else { "cold" };
        writeln!(csv, "{temp},{job},{level},{state}").unwrap();
    }
    csv
}

/// Two numbers, and how many of them are above 0: three classes.
pub fn quadrants(rows: usize) -> String {
    let mut random = Random::new(2);
    let mut csv = "x,y,above\n".to_owned();
    for _ in 0..rows {
        let (x, y) = (random.number(), random.number());
        writeln!(csv, "{x},{y},{}", u8::from(x > 0.0) + u8::from(y > 0.0)).unwrap();
    }
    csv
}

/// Two numbers and a smooth function of them.
pub fn waves(rows: usize) -> String {
    let mut random = Random::new(3);
    let mut csv = "x,y,z\n".to_owned();
    for _ in 0..rows {
        let (x, y) = (random.number(), random.number());
        writeln!(csv, "{x},{y},{:.4}", (1.5 * x).sin() + 0.5 * y).unwrap();
    }
    csv
}
