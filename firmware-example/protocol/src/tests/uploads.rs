//! Models that are replaced while the device runs.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use base64ct::{Base64, Encoding};
use koan::{Buffers, Model, Task};
use serde_json::{Value, json};

use super::{
    LINE, MODEL, TestDevice, WORK, answer, assert_alive, device, digits, error, request, scores,
};
use crate::{Device, Port};

/// Blobs of the golden models, and the rows that an independent implementation
/// has worked out.
pub const GOLDEN: [(&[u8], &str); 3] = [
    (
        include_bytes!("../../../../tests/golden/linear-w2even-t3.koan"),
        include_str!("../../../../tests/golden/linear-w2even-t3.json"),
    ),
    (
        include_bytes!("../../../../tests/golden/maxout-hadamard-w2even-t3.koan"),
        include_str!("../../../../tests/golden/maxout-hadamard-w2even-t3.json"),
    ),
    (
        include_bytes!("../../../../tests/golden/fourier-hadamard-w16odd-t1.koan"),
        include_str!("../../../../tests/golden/fourier-hadamard-w16odd-t1.json"),
    ),
];

fn chunk(offset: usize, size: usize, bytes: &[u8]) -> String {
    let data = Base64::encode_string(bytes);
    json!({ "model": { "offset": offset, "size": size, "data": data } }).to_string()
}

/// Sends `blob` in pieces; the last answer.
pub fn upload(device: &mut TestDevice, blob: &[u8], piece: usize) -> Value {
    let mut last = Value::Null;
    for (number, bytes) in blob.chunks(piece).enumerate() {
        let offset = number * piece;
        last = answer(device, &chunk(offset, blob.len(), bytes));
        let received = offset + bytes.len();
        if received < blob.len() {
            let size = blob.len();
            let expected =
                json!({ "model": { "received": received, "size": size, "in_force": false } });
            assert_eq!(last, expected);
            // Under way, the old model is in force.
            assert_eq!(answer(device, r#"{"self_test":true}"#), json!({ "self_test": "ok" }));
        }
    }
    last
}

pub fn in_force(blob: &[u8]) -> Value {
    json!({ "model": { "received": blob.len(), "size": blob.len(), "in_force": true } })
}

/// The number that a golden file has as JSON or as a name.
fn number(value: &Value) -> f32 {
    value.as_f64().map_or_else(|| value.as_str().unwrap().parse().unwrap(), |x| x as f32)
}

pub fn assert_golden(device: &mut TestDevice, blob: &[u8], golden: &str) {
    let golden: Value = serde_json::from_str(golden).unwrap();
    for row in golden["rows"].as_array().unwrap() {
        let numbers: Vec<f32> = row["row"].as_array().unwrap().iter().map(number).collect();
        let answer = answer(device, &request(&numbers));
        assert_eq!(answer["scores"], row["scores"]);
        let model = Model::parse(blob).unwrap();
        let scores = scores(blob, &numbers);
        match model.task() {
            Task::Classification => assert_eq!(answer["class"], koan::class_of(&scores)),
            _ => {
                let value = answer["value"].as_f64().unwrap() as f32;
                assert_eq!(value.to_bits(), (scores[0] as f32 * model.score_scale()).to_bits());
            }
        }
    }
}

#[test]
fn a_new_model_answers_like_the_golden_files() {
    let mut device = device();
    for piece in [1, 48, 100, 1000] {
        for (blob, golden) in GOLDEN {
            if piece >= blob.len() && piece < 1000 {
                continue;
            }
            assert_eq!(upload(&mut device, blob, piece.min(500)), in_force(blob));
            assert_golden(&mut device, blob, golden);
            let info = answer(&mut device, r#"{"info":true}"#);
            assert_eq!(info["info"]["built_in"], false);
            assert_eq!(info["info"]["bytes"], blob.len());
        }
    }
}

#[test]
fn a_bad_model_leaves_the_old_one_in_force() {
    let mut device = device();
    let (blob, golden) = GOLDEN[0];
    let mut damaged = blob.to_vec();
    damaged[100] ^= 1;
    let refused = |answer: Value, what: &str| {
        let message = answer["error"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(message.starts_with("model refused: ") && message.contains(what), "{message}");
    };
    refused(upload(&mut device, &damaged, 100), "checksum");
    assert_alive(&mut device);
    assert_eq!(upload(&mut device, blob, 100), in_force(blob));
    refused(upload(&mut device, &damaged, 100), "checksum");
    assert_golden(&mut device, blob, golden);
    refused(upload(&mut device, b"what is this?", 5), "KOAN");
    assert_golden(&mut device, blob, golden);
    // A whole blob of the wrong numbers: its golden digest tells.
    let mut forged = blob.to_vec();
    let end = forged.len();
    forged[end - 8] ^= 1;
    let crc = crc32(&forged[..end - 4]);
    forged[end - 4..].copy_from_slice(&crc.to_le_bytes());
    refused(upload(&mut device, &forged, 100), "self test failed: golden digest");
    assert_golden(&mut device, blob, golden);
}

#[test]
fn a_model_that_needs_more_memory_is_refused() {
    let mut device = device();
    let message = error(&mut device, &chunk(0, MODEL + 1, &[0; 10]));
    assert_eq!(message, "model: 1025 bytes are too many, there is room for 1024");
    // Small blobs that need more of something else.
    let wide = super::OwnedBuffers::<64, 64, 7, 10>::new();
    let refused =
        last_line(Device::<_, LINE, 18, MODEL>::new(digits::MODEL, wide, WORK), GOLDEN[0].0);
    assert!(refused.contains("model refused: buffer `row` has length 18, the model needs 19"));
    let wide = super::OwnedBuffers::<64, 64, 7, 10>::new();
    let refused =
        last_line(Device::<_, LINE, 64, MODEL>::new(digits::MODEL, wide, WORK), GOLDEN[1].0);
    let needed = Model::parse(GOLDEN[1].0).unwrap().buffer_sizes(koan::Form::Fast).wide;
    let expected = format!("model refused: buffer `wide` has length 7, the model needs {needed}");
    assert!(refused.contains(&expected), "{refused}");
}

/// A model of `units` maxout units with pools of 255 dense projections of 64 inputs each, one
/// output, and golden rows of zeros. No digest in it is right.
fn slow(units: u16, golden_rows: usize) -> Vec<u8> {
    let mut blob = Vec::new();
    blob.extend(b"KOAN\x01\x00"); // version 1, no flags
    blob.extend([64, 0, 1]); // inputs, outputs
    blob.extend(digits::MODEL.seed().to_le_bytes());
    blob.extend(digits::MODEL.check_word().to_le_bytes());
    blob.extend([0, 0, 0, 0, 64, 128]); // the input map
    blob.extend([0x14, 0]); // maxout, gaussian, weights of 2 bits
    blob.extend(units.to_le_bytes());
    blob.extend([1, 0, 255, 0, 0]); // the scale, pools of 255, none shared
    blob.extend(1f32.to_le_bytes()); // the score's scale
    blob.extend([0; 5]); // its shift, a bias
    blob.resize(blob.len() + usize::from(units).div_ceil(4), 0); // weights
    if golden_rows > 0 {
        let length = golden_rows * 4 * (64 + 1);
        blob.push(3);
        blob.extend((length as u16).to_le_bytes());
        blob.resize(blob.len() + length, 0);
    }
    blob.extend([0; 4]); // the golden digest
    let crc = crc32(&blob);
    blob.extend(crc.to_le_bytes());
    blob
}

#[test]
fn a_model_that_would_keep_the_device_busy_is_refused_before_it_is_run() {
    let mut device = device();
    let refused = |device: &mut TestDevice, blob: &[u8]| {
        let answer = upload(device, blob, 500);
        assert_alive(device);
        answer["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_string()
    };
    let work = |units, golden_rows| Model::parse(&slow(units, golden_rows)).unwrap().work();
    // As many units as `rows` rows have time for, and none more.
    let most = |rows| (1..).find(|&units| rows * work(units, 0) > WORK).unwrap() - 1;
    let message = refused(&mut device, &slow(most(1) + 1, 0));
    let expected = format!("the model's work is {}", work(most(1) + 1, 0));
    assert_eq!(message, format!("model refused: {expected}, more than the limit of {WORK}"));
    // The self test is that of four rows, and of those that the model brings along.
    for (units, golden_rows) in [(most(1), 0), (most(4) + 1, 0), (most(4), 1), (most(5), 2)] {
        let message = refused(&mut device, &slow(units, golden_rows));
        let needed = (4 + golden_rows as u32) * work(units, golden_rows);
        let expected = format!("the model's work in its self test is {needed}");
        assert_eq!(message, format!("model refused: {expected}, more than the limit of {WORK}"));
    }
    // Less is run, and then only its digest is wrong.
    let message = refused(&mut device, &slow(most(4), 0));
    assert_eq!(message, "model refused: self test failed: golden digest differs on this build");
    let info = answer(&mut device, r#"{"info":true}"#);
    assert_eq!((&info["info"]["work"], &info["info"]["built_in"]), (&json!(WORK), &json!(true)));
}

/// The answer to a model in one piece.
fn last_line<B: Buffers, const ROW: usize>(
    mut device: Device<B, LINE, ROW, MODEL>,
    blob: &[u8],
) -> String {
    let line = format!("{}\n", chunk(0, blob.len(), blob));
    let mut script = super::Script { bytes: line.as_bytes(), written: Vec::new() };
    device.serve(&mut script);
    String::from_utf8(script.written).unwrap()
}

#[test]
fn pieces_come_in_order_or_start_anew() {
    let mut device = device();
    let (blob, golden) = GOLDEN[0];
    let size = blob.len();
    let lost = error(&mut device, &chunk(10, size, &blob[10..20]));
    assert_eq!(lost, "model: offset 10, expected 0");
    answer(&mut device, &chunk(0, size, &blob[..10]));
    let again = error(&mut device, &chunk(20, size, &blob[20..30]));
    assert_eq!(again, "model: offset 20, expected 10 or 0");
    let other = error(&mut device, &chunk(10, size + 1, &blob[10..20]));
    assert_eq!(other, "model: size 319, but it began with 318");
    let beyond = error(&mut device, &chunk(10, size, &[0; 309]));
    assert_eq!(beyond, "model: the data at 10 end beyond the size 318");
    let nothing = error(&mut device, &chunk(10, size, &[]));
    assert_eq!(nothing, "model: no data at 10");
    let broken = chunk(10, size, &blob[10..13]).replace("\"data\":\"", "\"data\":\"!");
    assert_eq!(error(&mut device, &broken), "model: the data at 10 are no valid base64");
    // Nor does a new start that is refused: too large, beyond its size, empty, or broken at its
    // beginning, its end, or in the middle, where padding ends nothing.
    let room = MODEL + 1;
    let large = error(&mut device, &chunk(0, room, &blob[..20]));
    assert_eq!(large, format!("model: {room} bytes are too many, there is room for {MODEL}"));
    let beyond = error(&mut device, &chunk(0, size, &[0; 319]));
    assert_eq!(beyond, "model: the data at 0 end beyond the size 318");
    assert_eq!(error(&mut device, &chunk(0, size, &[])), "model: no data at 0");
    for broken in ["!AAA", "AAAA!", "AAAA!AAA", "AA==AAAA", "AAAB=", "AB=="] {
        // Behind as much as is looked at at once, and a block less.
        for before in [0, 15, 16, 40] {
            let line = chunk(0, size, &[]).replace("\"\"", "\"DATA\"");
            let line = line.replace("DATA", &("AAAA".repeat(before) + broken));
            assert_eq!(error(&mut device, &line), "model: the data at 0 are no valid base64");
        }
    }
    // None of that has hurt what had come.
    answer(&mut device, &chunk(10, size, &blob[10..200]));
    assert_alive(&mut device);
    assert_eq!(answer(&mut device, &chunk(200, size, &blob[200..])), in_force(blob));
    assert_golden(&mut device, blob, golden);
    // Half a model, then another one from the start.
    answer(&mut device, &chunk(0, size, &blob[..100]));
    let (other, golden) = GOLDEN[1];
    assert_eq!(upload(&mut device, other, 50), in_force(other));
    assert_golden(&mut device, other, golden);
}

#[test]
fn an_abort_forgets_what_has_come() {
    let mut device = device();
    let (blob, golden) = GOLDEN[0];
    let abort = "{\"abort\":true}";
    assert_eq!(answer(&mut device, abort), json!({ "abort": "nothing" }));
    answer(&mut device, &chunk(0, blob.len(), &blob[..100]));
    assert_eq!(answer(&mut device, abort), json!({ "abort": "upload" }));
    let lost = error(&mut device, &chunk(100, blob.len(), &blob[100..]));
    assert_eq!(lost, "model: offset 100, expected 0");
    assert_alive(&mut device);
    // Half a line before it is ended by the blank line.
    let answers = super::answers(&mut device, "{\"model\":{\"off\n{\"abort\":true}\n");
    assert_eq!(answers[1], json!({ "abort": "nothing" }));
    assert_eq!(upload(&mut device, blob, 100), in_force(blob));
    assert_golden(&mut device, blob, golden);
    // A model that is in force stays.
    assert_eq!(answer(&mut device, abort), json!({ "abort": "nothing" }));
    assert_golden(&mut device, blob, golden);
}

/// A port that stores models, or has no room to.
struct Keeper<'b> {
    bytes: &'b [u8],
    written: Vec<u8>,
    kept: Option<Vec<u8>>,
    room: bool,
}

impl Port for Keeper<'_> {
    fn read(&mut self) -> Option<u8> {
        self.bytes.split_off_first().copied()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
    }

    fn keep(&mut self, model: &[u8]) -> bool {
        self.kept = Some(model.to_vec());
        self.room
    }
}

#[test]
fn models_are_stored_before_they_are_answered_and_come_back() {
    let (blob, golden) = GOLDEN[0];
    let line = format!("{}\n", chunk(0, blob.len(), blob));
    for room in [true, false] {
        let mut device = device();
        let mut keeper = Keeper { bytes: line.as_bytes(), written: Vec::new(), kept: None, room };
        device.serve(&mut keeper);
        assert_eq!(keeper.kept.as_deref(), Some(blob));
        let answer: Value = serde_json::from_slice(&keeper.written).unwrap();
        if room {
            assert_eq!(answer, in_force(blob));
            assert_golden(&mut device, blob, golden);
        } else {
            let message = "model refused: the device could not store it";
            assert_eq!(answer, json!({ "error": message }));
            assert_alive(&mut device);
        }
    }
    let restored = |device: &mut TestDevice, model: &[u8]| {
        device.restore(|area| {
            area.get_mut(..model.len())?.copy_from_slice(model);
            Some(model.len())
        })
    };
    let mut device = device();
    assert!(restored(&mut device, blob));
    assert_golden(&mut device, blob, golden);
    let mut device = super::device();
    assert!(!restored(&mut device, &blob[1..]));
    assert!(!device.restore(|_| None));
    assert!(!device.restore(|_| Some(usize::MAX)));
    assert_alive(&mut device);
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
