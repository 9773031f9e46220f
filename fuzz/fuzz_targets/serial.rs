//! A device with little memory, and any bytes on its port: it answers every line with a line
//! and goes on.
//!
//! The bytes are what is sent, but for one: 1 stands for an upload. Behind it are two bytes
//! of how many others are made a model of, one of how long the pieces are that it is sent in,
//! and those bytes.

#![no_main]

use base64ct::{Base64, Encoding};
use koan::{Form, Model, OwnedBuffers, Predictor};
use koan_fuzz::memory::Memory;
use koan_fuzz::repair::{repaired, set_checksum};
use koan_protocol::{Device, MIN_LINE, Port};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

koan::include_model!(mod tiny = "../../core/tests/tiny.koan");

const ROW: usize = 8;
const MODEL: usize = 256;
const WORK: u32 = 1 << 15;
type Buffers = OwnedBuffers<8, 16, 32, 3>;

fuzz_target!(|data: &[u8]| {
    let mut script = Script { bytes: sent(data), next: 0, written: Vec::new() };
    let mut device = Device::<_, MIN_LINE, ROW, MODEL>::new(tiny::MODEL, Buffers::new(), WORK);
    device.greet(&mut script);
    device.serve(&mut script);
    // What has not ended is ended, and the device still is there.
    let mut lines: Vec<&[u8]> = script.bytes.split(|&byte| byte == b'\n').collect();
    let rest = lines.pop().unwrap_or_default();
    let expected = 1 + lines.iter().filter(|line| answered(line)).count();
    check(&script.written, expected);
    let expected = 1 + usize::from(answered(rest));
    let mut script =
        Script { bytes: b"\n{\"info\":true}\n".to_vec(), next: 0, written: Vec::new() };
    device.serve(&mut script);
    let last = check(&script.written, expected).pop().unwrap_or_default();
    assert!(last["info"].is_object(), "{last}");
});

/// Whether a line is answered: if it is not blank.
fn answered(line: &[u8]) -> bool {
    line.len() > MIN_LINE || !line.iter().all(u8::is_ascii_whitespace)
}

/// The answers, which are so many lines of JSON.
fn check(written: &[u8], expected: usize) -> Vec<Value> {
    let text = std::str::from_utf8(written).expect("answers are UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'));
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("answers are JSON")).collect();
    assert_eq!(answers.len(), expected, "{text}");
    assert!(answers.iter().all(Value::is_object), "{text}");
    answers
}

/// What is sent, with uploads written out.
fn sent(mut data: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    while let Some((&byte, rest)) = data.split_first() {
        data = rest;
        let (1, Some((&[low, high, piece], rest))) = (byte, data.split_first_chunk()) else {
            sent.push(byte);
            continue;
        };
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (bytes, rest) = rest.split_at(length);
        data = rest;
        let mut blob = passing(repaired(bytes));
        // Too large in any case, and not to be written out.
        blob.truncate(2 * MODEL);
        let mut offset = 0;
        for piece in blob.chunks(usize::from(piece).max(16)) {
            let (size, data) = (blob.len(), Base64::encode_string(piece));
            let line = format!(
                "{{\"model\":{{\"offset\":{offset},\"size\":{size},\"data\":\"{data}\"}}}}\n"
            );
            sent.extend(line.bytes());
            offset += piece.len();
        }
    }
    sent
}

/// The blob with the digest that it should have, if that is quick to find out.
fn passing(mut blob: Vec<u8>) -> Vec<u8> {
    let Ok(model) = Model::parse(&blob) else { return blob };
    if model.work() > WORK || blob.len() > MODEL {
        return blob;
    }
    let memory = Memory::new(model.buffer_sizes(Form::Fast));
    let digest = Predictor::new(model, memory).and_then(|mut core| core.golden_digest());
    let digest = digest.expect("exactly what it needs");
    let at = blob.len() - 8;
    blob[at..at + 4].copy_from_slice(&digest.to_le_bytes());
    set_checksum(&mut blob);
    blob
}

/// A port with bytes to read, that keeps what is written.
struct Script {
    bytes: Vec<u8>,
    next: usize,
    written: Vec<u8>,
}

impl Port for Script {
    fn read(&mut self) -> Option<u8> {
        self.next += 1;
        self.bytes.get(self.next - 1).copied()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
    }
}
