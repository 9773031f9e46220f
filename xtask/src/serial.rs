//! The serial protocol on emulated devices: `koan device` through the
//! emulator's serial port, then everything that a bad line can bring.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::machines::{self, Machine, NO_EMULATOR, build};
use crate::steps::{program, root};

/// Where the protocol runs: in 16 KB of RAM, and with and without a float unit.
const TARGETS: [&str; 3] = ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "thumbv7em-none-eabihf"];
/// Test rows of the digits.
const ROWS: usize = 597;
/// No single answer takes a tenth of it.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Within this a device refuses a model without running it.
const AT_ONCE: Duration = Duration::from_secs(3);
/// A model of few bytes that takes long: 150 × 200 dense projections of 64 inputs.
const SLOW: &str = "--family maxout --features 150 --pool 200 --projection gaussian --bits 2";
/// The firmware's longest line.
const LINE: usize = 1536;

/// All test rows of the digits through each device; faults in between.
pub fn test() -> Result<()> {
    let host = Host::new()?;
    let machines = machines::of(&TARGETS)?;
    build(&machines, &["serial"], "")?;
    for machine in &machines {
        let device = Emulator::start(machine, &machine.program("serial")?, host.folder.path())?;
        host.check(&device).with_context(|| machine.to_string())?;
    }
    crate::updates::test(&host)?;
    crate::exercise::test(&host)?;
    crate::guide::test(&host)
}

/// The command `koan`, the firmware's model, and rows for it.
pub struct Host {
    pub folder: TempDir,
    pub koan: PathBuf,
}

impl Host {
    fn new() -> Result<Self> {
        crate::steps::build()?;
        let koan = program("koan")?;
        let host = Self { folder: tempfile::tempdir()?, koan };
        let firmware = root()?.join("firmware-example");
        std::fs::copy(firmware.join("digits.koan"), host.path("digits.koan"))?;
        host.run("demo --output demo.koan --rows digits.csv")?;
        let rows = std::fs::read_to_string(host.path("digits.csv"))?;
        let few: Vec<&str> = rows.lines().take(3).collect();
        std::fs::write(host.path("few.csv"), few.join("\n"))?;
        host.run("train digits.csv --family linear --output linear.koan")?;
        // What a device would be busy with for half a minute.
        host.run(&format!("train digits.csv {SLOW} --output slow.koan"))?;
        // Weights that are not the trained ones, under a checksum that is right.
        let mut forged = std::fs::read(host.path("digits.koan"))?;
        let end = forged.len() - 4;
        forged[end / 2] ^= 1;
        let crc = crc32(&forged[..end]);
        forged[end..].copy_from_slice(&crc.to_le_bytes());
        std::fs::write(host.path("forged.koan"), forged)?;
        Ok(host)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn output(&self, arguments: &str) -> Result<Output> {
        Command::new(&self.koan)
            .args(arguments.split_whitespace())
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", self.koan.display()))
    }

    pub fn run(&self, arguments: &str) -> Result<String> {
        let output = self.output(arguments)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`koan {arguments}` failed: {}", errors.trim());
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Rows through the device under a model, all of which must be equal.
    pub fn stream(&self, device: &Emulator, arguments: &str, rows: usize) -> Result<Value> {
        let connect = format!("--connect tcp:{} --timeout 20", device.address);
        let report = self.run(&format!("device {arguments} {connect} --json"))?;
        let report: Value = serde_json::from_str(&report)?;
        ensure!(report["equal"] == json!(rows), "{rows} rows expected: {report}");
        Ok(report)
    }

    /// Rows after a fault are answered rightly, under the model that was in
    /// force before.
    fn alive(&self, device: &Emulator, after: &str) -> Result<()> {
        self.stream(device, "digits.koan few.csv", 3).with_context(|| format!("after {after}"))?;
        eprintln!("  answers rightly after: {after}");
        Ok(())
    }

    fn check(&self, device: &Emulator) -> Result<()> {
        eprintln!("+ koan device digits.koan digits.csv --connect tcp:{}", device.address);
        let report = self.stream(device, "digits.koan digits.csv", ROWS)?;
        ensure!(report["built_in"] == json!(true), "{report}");
        eprintln!(
            "  {ROWS} of {ROWS} rows equal the host's, error {:.4}, {:.1} rows/s",
            report["error"].as_f64().context("no error")?,
            report["rows_per_second"].as_f64().context("no rate")?
        );
        self.faults(device)?;
        self.uploads(device)
    }

    /// What a bad line or a bad host can bring.
    fn faults(&self, device: &Emulator) -> Result<()> {
        for seed in 1..=3 {
            device.connect()?.send(&garbage(seed, 3000))?;
            self.alive(device, "garbage")?;
        }
        let row = std::fs::read_to_string(self.path("few.csv"))?;
        let row = row.lines().next().and_then(|row| row.rsplit_once(',')).context("no row")?.0;
        let row = format!("{{\"x\":[{row}]}}\n").into_bytes();
        // Half a row, then the host is gone.
        for part in [1, 5, row.len() / 2, row.len() - 1] {
            device.connect()?.send(&row[..part])?;
            self.alive(device, "half a line")?;
        }
        // A whole row, and a host that does not wait for the answer.
        device.connect()?.send(&row)?;
        self.alive(device, "a host that left")?;
        let overlong = [vec![b'7'; 5 * LINE], b"\n".to_vec()].concat();
        for (lines, error) in [
            (&overlong[..], "the line is longer than 1536 bytes"),
            (b"{\"x\":[1,2]}\n", "row has length 2, the model needs 64"),
            (b"{\"x\":[1,,2]}\n", "row, number 2: no valid number"),
            (b"{\"x\":\n", "row, number 1: the line ends in the middle"),
            (
                b"{\"y\":[1]}\n",
                "unknown request: there are x, sample, restart_stream, learn, info, self_test, model and abort",
            ),
            (b"\0\xff\x80\n", "no request, a JSON object: no valid JSON of the kind expected"),
        ] {
            let mut wire = device.connect()?;
            wire.synchronise()?;
            wire.send(lines)?;
            let answer = wire.line()?;
            ensure!(answer == json!({ "error": error }), "{answer}, expected {error}");
            drop(wire);
            self.alive(device, error)?;
        }
        Ok(())
    }

    /// Models that are replaced, or not.
    fn uploads(&self, device: &Emulator) -> Result<()> {
        let connect = format!("--connect tcp:{}", device.address);
        let refused = self.output(&format!("device forged.koan {connect} --upload"))?;
        let message = String::from_utf8_lossy(&refused.stderr);
        let expected = "model refused: self test failed";
        ensure!(!refused.status.success() && message.contains(expected), "{message}");
        self.alive(device, "a bad model")?;
        let start = Instant::now();
        let refused = self.output(&format!("device slow.koan {connect} --upload"))?;
        let message = String::from_utf8_lossy(&refused.stderr);
        let expected = "model refused: the model's work";
        ensure!(!refused.status.success() && message.contains(expected), "{message}");
        ensure!(start.elapsed() < AT_ONCE, "a slow model was refused after {:?}", start.elapsed());
        self.alive(device, "a model that would take long")?;
        // Half a model.
        let half = json!({ "model": { "offset": 0, "size": 2750, "data": "S09BTgEB" } });
        let mut wire = device.connect()?;
        wire.synchronise()?;
        wire.send(format!("{half}\n").as_bytes())?;
        let answer = wire.line()?;
        ensure!(answer["model"]["received"] == json!(6), "{answer}");
        drop(wire);
        self.alive(device, "half a model")?;
        let mut wire = device.connect()?;
        wire.synchronise()?;
        for forgotten in ["upload", "nothing"] {
            wire.send(b"{\"abort\":true}\n")?;
            let answer = wire.line()?;
            ensure!(answer == json!({ "abort": forgotten }), "{answer}, expected {forgotten}");
        }
        drop(wire);
        self.alive(device, "an abort")?;
        // Each replaces the one before, in turn in both areas.
        for model in ["linear.koan", "digits.koan", "linear.koan"] {
            let report = self.stream(device, &format!("{model} few.csv --upload"), 3)?;
            ensure!(report["uploaded"] == json!(true), "{report}");
        }
        self.output(&format!("device forged.koan {connect} --upload"))?;
        self.stream(device, "linear.koan digits.csv", ROWS)?;
        eprintln!("  {ROWS} of {ROWS} rows equal the host's under an uploaded model");
        Ok(())
    }
}

/// A running emulator, ended when it is dropped.
pub struct Emulator {
    process: Child,
    pub address: SocketAddr,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Emulator {
    /// In a folder, where files are that stay when it ends.
    pub fn start(machine: &Machine, elf: &Path, folder: &Path) -> Result<Self> {
        // A port that is free: the emulator cannot say which one it took.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let serial = format!("tcp:{address},server=on,wait=off,nodelay=on");
        let process = machine
            .command(elf)?
            .args(["-serial", &serial])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context(NO_EMULATOR)?;
        let mut emulator = Self { process, address };
        let start = Instant::now();
        while let Err(error) = TcpStream::connect(address) {
            if let Some(status) = emulator.process.try_wait()? {
                bail!("{machine}: the emulator ended: {status}");
            }
            ensure!(
                error.kind() == ErrorKind::ConnectionRefused && start.elapsed() < TIME_LIMIT,
                "{machine}: no serial port at {address}: {error}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(emulator)
    }

    /// The exit code of one that ends by itself.
    pub fn code(mut self) -> Result<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return status.code().context("the emulator was killed");
            }
            ensure!(start.elapsed() < TIME_LIMIT, "the emulator does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn connect(&self) -> Result<Wire> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIME_LIMIT))?;
        stream.set_write_timeout(Some(TIME_LIMIT))?;
        Ok(Wire(BufReader::new(stream)))
    }
}

/// A connection to the serial port, without manners.
pub struct Wire(BufReader<TcpStream>);

impl Wire {
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.get_mut().write_all(bytes)?)
    }

    pub fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.0.read_line(&mut line).context("no answer")?;
        serde_json::from_str(&line).with_context(|| format!("no answer: {line:?}"))
    }

    /// Ends what may be left of a line, and takes what was answered to it.
    pub fn synchronise(&mut self) -> Result<()> {
        self.send(b"\n{\"info\":true}\n")?;
        while self.line()?.get("info").is_none() {}
        Ok(())
    }
}

/// Bytes of an xorshift generator.
fn garbage(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// CRC-32 (IEEE 802.3), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        let shifted = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        (0..8).fold(crc ^ u32::from(byte), shifted)
    })
}
