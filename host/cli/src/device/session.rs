//! Requests and answers over a connection: `docs/protocol.md`.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use base64ct::{Base64, Encoding};
use koan_trainer::Progress;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::transport::{Address, Transport};

/// The version of the protocol that this command speaks.
const PROTOCOL: u8 = 1;
/// How long a device has to answer who it is before it is asked again: it may
/// not have listened yet.
const PATIENCE: Duration = Duration::from_millis(500);
/// No answer is longer; a line that is comes from something else.
const LONGEST_ANSWER: usize = 1 << 16;
/// Bytes of a request with a piece of a model besides the data, at most.
const CHUNK: usize = r#"{"model":{"offset":4294967295,"size":4294967295,"data":""}}"#.len();

/// What a device says of itself and of the model in force.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Info {
    protocol: u8,
    pub built_in: bool,
    bytes: usize,
    crc: u32,
    /// Bytes of a line, at most.
    line: usize,
    /// Bytes of an uploaded model, at most.
    model: usize,
}

impl Info {
    /// Whether the model in force is the one in `blob`.
    pub fn runs(&self, blob: &[u8]) -> bool {
        self.bytes == blob.len() && self.crc == crc(blob)
    }
}

/// A line of the device; which fields there are depends on the request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub class: Option<usize>,
    pub steady: Option<usize>,
    learned: Option<bool>,
    restart_stream: Option<String>,
    value: Option<Box<RawValue>>,
    pub scores: Option<Vec<i32>>,
    error: Option<String>,
    info: Option<Info>,
    model: Option<Received>,
    ready: bool,
    self_test: Option<String>,
}

impl Answer {
    /// The value, its decimals rounded once.
    pub fn value(&self) -> Option<f32> {
        self.value.as_ref()?.get().parse().ok()
    }
}

#[derive(Debug, Deserialize)]
struct Received {
    received: usize,
    in_force: bool,
}

/// A request that does not fit the device's lines.
#[derive(Clone, Copy, Debug)]
pub struct TooLong {
    bytes: usize,
    line: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, line } = self;
        write!(f, "the request has {bytes} bytes, the device takes lines of {line}")
    }
}

impl Error for TooLong {}

/// A connection to a device that has said who it is.
pub struct Session {
    transport: Transport,
    timeout: Duration,
    pub info: Info,
    /// What has come and is not read yet.
    bytes: Vec<u8>,
}

impl Session {
    /// Connects and waits until the device answers.
    pub fn open(address: &Address, timeout: Duration) -> Result<Self> {
        let transport = Transport::open(address, timeout)
            .with_context(|| format!("cannot connect to {address}"))?;
        let (line, model, crc) = (0, 0, 0);
        let nobody = Info { protocol: 0, built_in: false, bytes: 0, crc, line, model };
        let mut session = Self { transport, timeout, info: nobody, bytes: Vec::new() };
        session.info = session.introduce().with_context(|| address.to_string())?;
        let protocol = session.info.protocol;
        ensure!(
            protocol == PROTOCOL,
            "{address}: the device speaks version {protocol} of the protocol, this command {PROTOCOL}"
        );
        Ok(session)
    }

    /// Asks who is there until an answer comes. What comes before it, the
    /// device's first line or an error about half a line of somebody before,
    /// is no answer.
    fn introduce(&mut self) -> Result<Info> {
        let end = Instant::now() + self.timeout;
        let mut said = None;
        while Instant::now() < end {
            // The empty line ends half a line that may be there.
            self.send("\n{\"info\":true}")?;
            let patience = end.min(Instant::now() + PATIENCE);
            while let Some(line) = self.line(patience)? {
                match serde_json::from_slice::<Answer>(&line) {
                    Ok(Answer { info: Some(info), .. }) => return Ok(info),
                    // Now it listens: what was sent before may be lost.
                    Ok(Answer { ready: true, .. }) => break,
                    Ok(Answer { error: Some(error), .. }) => said = Some(error),
                    _ => said = Some(String::from_utf8_lossy(&line).into_owned()),
                }
            }
        }
        let seconds = self.timeout.as_secs_f64();
        match said {
            Some(said) => bail!("the device did not say who it is within {seconds} s, but: {said}"),
            None => bail!("no answer within {seconds} s"),
        }
    }

    /// Sends a request and waits for its answer; an error answer is an error.
    pub fn ask(&mut self, request: &str) -> Result<Answer> {
        let (bytes, line) = (request.len(), self.info.line);
        if bytes > line {
            return Err(TooLong { bytes, line }.into());
        }
        self.send(request)?;
        let end = Instant::now() + self.timeout;
        loop {
            let Some(line) = self.line(end)? else {
                bail!("no answer within {} s", self.timeout.as_secs_f64());
            };
            let answer: Answer = serde_json::from_slice(&line).map_err(|_| {
                anyhow!("what came is no answer: {}", String::from_utf8_lossy(&line))
            })?;
            ensure!(!answer.ready, "the device has started anew");
            if let Some(error) = answer.error {
                bail!("the device answered: {error}");
            }
            // Asked for twice while the device started.
            if answer.info.is_none() {
                return Ok(answer);
            }
        }
    }

    pub fn self_test(&mut self) -> Result<()> {
        let answer = self.ask(r#"{"self_test":true}"#)?;
        ensure!(answer.self_test.as_deref() == Some("ok"), "the self test was not answered");
        Ok(())
    }

    /// Has the device forget the samples before.
    pub fn restart_stream(&mut self) -> Result<()> {
        let answer = self.ask(r#"{"restart_stream":true}"#)?;
        ensure!(answer.restart_stream.as_deref() == Some("ok"), "the stream was not restarted");
        Ok(())
    }

    /// Shows the device the class of the last window.
    pub fn learn(&mut self, class: u8) -> Result<()> {
        let answer = self.ask(&format!("{{\"learn\":{class}}}"))?;
        answer.learned.context("the device did not say whether it learned")?;
        Ok(())
    }

    /// Sends the file of a model, which may be signed; it then is in force. `progress` is told
    /// how many bytes have been sent.
    pub fn upload(&mut self, file: &[u8], blob: &[u8], progress: &Progress) -> Result<()> {
        let size = file.len();
        let Info { line, model, .. } = self.info;
        ensure!(size <= model, "the model has {size} bytes, the device has room for {model}");
        let piece = line.saturating_sub(CHUNK) / 4 * 3;
        ensure!(piece > 0, "the device's lines of {line} bytes are too short for a model");
        if let Err(error) = self.send_pieces(file, piece, progress) {
            // It shall not wait for the rest; what is wrong has been said.
            let _ = self.ask(r#"{"abort":true}"#);
            return Err(error);
        }
        self.info = Info { built_in: false, bytes: blob.len(), crc: crc(blob), ..self.info };
        Ok(())
    }

    fn send_pieces(&mut self, file: &[u8], piece: usize, progress: &Progress) -> Result<()> {
        let size = file.len();
        let mut sent = 0;
        let mut in_force = false;
        for bytes in file.chunks(piece) {
            let data = Base64::encode_string(bytes);
            let request = json!({ "model": { "offset": sent, "size": size, "data": data } });
            let answer = self.ask(&request.to_string())?.model.context("no answer to a model")?;
            sent += bytes.len();
            ensure!(answer.received == sent, "{sent} bytes sent, {} received", answer.received);
            in_force = answer.in_force;
            progress.phase(&format!("upload: {sent} of {size} bytes"))?;
        }
        ensure!(in_force, "the device did not take the model");
        Ok(())
    }

    fn send(&mut self, request: &str) -> Result<()> {
        let line = format!("{request}\n");
        self.transport.write(line.as_bytes()).map_err(|error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                anyhow!("the device took nothing for {} s", self.timeout.as_secs_f64())
            }
            _ => anyhow!("connection lost: {error}"),
        })
    }

    /// The next line that is not blank; `None` when `end` has come before.
    fn line(&mut self, end: Instant) -> Result<Option<Vec<u8>>> {
        let mut buffer = [0; 4096];
        loop {
            while let Some(at) = self.bytes.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=at).collect();
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line.trim_ascii().to_vec()));
                }
            }
            ensure!(self.bytes.len() <= LONGEST_ANSWER, "what comes is no line of an answer");
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            match self.transport.read(&mut buffer, left) {
                Ok(0) => bail!("connection lost: the other side has closed it"),
                Ok(read) => self.bytes.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::TimedOut => {}
                Err(error) => bail!("connection lost: {error}"),
            }
        }
    }
}

/// A row as a request.
pub fn row_request(row: &[f32]) -> String {
    format!("{{\"x\":[{}]}}", numbers(row))
}

/// A sample as a request.
pub fn sample_request(sample: &[f32]) -> String {
    format!("{{\"sample\":[{}]}}", numbers(sample))
}

fn numbers(row: &[f32]) -> String {
    let numbers: Vec<String> = row.iter().map(|&x| number(x)).collect();
    numbers.join(",")
}

/// The shortest decimal that is read as the same f32; NaN is `null`, the
/// infinities are numbers beyond f32.
fn number(x: f32) -> String {
    if x.is_nan() {
        "null".into()
    } else if x.is_infinite() {
        if x > 0.0 { "1e39".into() } else { "-1e39".into() }
    } else {
        let text = format!("{x:?}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    }
}

/// The CRC-32 at the end of a blob.
fn crc(blob: &[u8]) -> u32 {
    blob.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (16.0, "16"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e30, "1e30"),
            (f32::NAN, "null"),
            (f32::NEG_INFINITY, "-1e39"),
        ] {
            assert_eq!(number(x), text);
        }
        assert_eq!(row_request(&[1.0, -2.5]), r#"{"x":[1,-2.5]}"#);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 5000,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn numbers_come_back_bit_by_bit(bits: u32) {
            let x = f32::from_bits(bits);
            prop_assume!(!x.is_nan());
            prop_assert_eq!(number(x).parse::<f32>().unwrap().to_bits(), bits);
        }
    }
}
