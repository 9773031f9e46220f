//! A device from the outside: bytes in, lines out.

mod answers;
mod documented;
mod robust;
mod signed;
mod streams;
mod uploads;

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use koan::{Model, OwnedBuffers, Predictor};
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value, json};

use crate::{Device, Port};

koan::include_model!(mod digits = "../../../../tests/golden/digits.koan");

/// What every device here has room for.
pub const LINE: usize = 1024;
pub const ROW: usize = 64;
pub const MODEL: usize = 1024;
pub const WORK: u32 = 1 << 20;
pub type TestBuffers = OwnedBuffers<64, 64, 64, 10>;
pub type TestDevice = Device<TestBuffers, LINE, ROW, MODEL>;

pub fn device() -> TestDevice {
    Device::new(digits::MODEL, TestBuffers::new(), WORK)
}

/// A port that has bytes to read, and keeps what is written.
struct Script<'b> {
    bytes: &'b [u8],
    written: Vec<u8>,
}

impl Port for Script<'_> {
    fn read(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
    }
}

/// The lines that the device answers to `bytes`, each of them valid JSON.
pub fn answers(device: &mut TestDevice, bytes: impl AsRef<[u8]>) -> Vec<Value> {
    let mut script = Script { bytes: bytes.as_ref(), written: Vec::new() };
    device.serve(&mut script);
    let text = String::from_utf8(script.written).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one answer to one request.
pub fn answer(device: &mut TestDevice, request: &str) -> Value {
    let answers = answers(device, format!("{request}\n"));
    assert_eq!(answers.len(), 1, "{request}: {answers:?}");
    answers.into_iter().next().unwrap()
}

/// The message of the error that `request` is answered with.
pub fn error(device: &mut TestDevice, request: &str) -> String {
    let answer = answer(device, request);
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    answer["error"].as_str().unwrap_or_else(|| panic!("{request}: {answer}")).into()
}

/// A row of the digits model and the answer to it.
pub fn good_row() -> (String, Value) {
    let row: Vec<u8> = (0..64).map(|i| (i * 7 % 17) as u8).collect();
    let mut predictor = digits::predictor();
    let class = predictor.classify(&row).unwrap();
    let scores = predictor.scores(&row).unwrap();
    (json!({ "x": row }).to_string(), json!({ "class": class, "scores": scores }))
}

/// Asserts that the device answers a row as the built-in model does.
pub fn assert_alive(device: &mut TestDevice) {
    let (row, expected) = good_row();
    assert_eq!(answer(device, &row), expected);
}

/// A row as a request; NaN is `null`, infinities are numbers beyond f32.
pub fn request(row: &[f32]) -> String {
    let numbers: Vec<String> = row.iter().map(|&number| written(number)).collect();
    format!("{{\"x\":[{}]}}", numbers.join(","))
}

fn written(number: f32) -> String {
    match number {
        _ if number.is_nan() => "null".into(),
        f32::INFINITY => "1e39".into(),
        f32::NEG_INFINITY => "-1e39".into(),
        _ => format!("{number:?}"),
    }
}

/// The scores that the model in `blob` gives a row here.
pub fn scores(blob: &[u8], row: &[f32]) -> Vec<i32> {
    let model = Model::parse(blob).unwrap();
    Predictor::new(model, TestBuffers::new()).unwrap().scores(row).unwrap().into()
}

/// Random tests draw the same cases on every run.
pub fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}
