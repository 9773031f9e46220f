//! Every request and its answer.

use std::format;
use std::string::ToString;

use koan::OwnedBuffers;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Script, TestDevice, WORK, answer, assert_alive, device, digits, error, good_row, request,
    scores,
};
use crate::{Device, PROTOCOL, Port};

#[test]
fn a_row_gets_the_class_and_the_scores() {
    assert_alive(&mut device());
}

#[test]
fn white_space_and_carriage_returns_do_not_matter() {
    let (row, expected) = super::good_row();
    let spaced = row.replace(',', " ,\t").replace(':', " : ");
    assert_eq!(answer(&mut device(), &format!("  {spaced} \r")), expected);
}

#[test]
fn info_says_which_model_is_in_force_and_what_there_is_room_for() {
    let blob = digits::BLOB;
    let crc = u32::from_le_bytes(*blob.last_chunk().unwrap());
    let info = answer(&mut device(), r#"{"info":true}"#);
    let expected = json!({ "info": {
        "protocol": PROTOCOL,
        "format": 1,
        "built_in": true,
        "task": "classification",
        "inputs": 64,
        "outputs": 10,
        "classes": 10,
        "bytes": blob.len(),
        "seed": digits::MODEL.seed(),
        "check_word": digits::MODEL.check_word(),
        "golden_digest": digits::MODEL.golden_digest(),
        "crc": crc,
        "line": 1024,
        "model": 1024,
        "work": 1 << 20,
        "buffers": { "inputs": 64, "block": 64, "wide": 64, "outputs": 10 },
    }});
    assert_eq!(info, expected);
    // Whatever the model, the line is long enough for it.
    let widest = info.to_string().replace("true", "false").len() + 15 * 10;
    assert!(widest < crate::MIN_LINE, "{widest}");
}

#[test]
fn the_self_test_passes() {
    assert_eq!(answer(&mut device(), r#"{"self_test":true}"#), json!({ "self_test": "ok" }));
}

#[test]
fn errors_name_what_is_wrong() {
    let device = &mut device();
    let cases = [
        ("x", "no request, a JSON object: no valid JSON of the kind expected"),
        ("{", "no request, a JSON object: the line ends in the middle"),
        ("{}", "no request, a JSON object: no valid JSON of the kind expected"),
        ("[1]", "no request, a JSON object: no valid JSON of the kind expected"),
        (
            "{\"\u{e9}\":1}",
            "unknown request: there are x, sample, restart_stream, learn, info, self_test, model and abort",
        ),
        (r#"{"info":false}"#, "request info: the value must be true"),
        (r#"{"self_test":1}"#, "request self_test: the value must be true"),
        (r#"{"info":true,"x":[]}"#, "after the request: more than was expected"),
        (r#"{"info":true}}"#, "after the request: more than was expected"),
        (r#"{"x":[1,2]}"#, "row has length 2, the model needs 64"),
        (r#"{"x":[]}"#, "row has length 0, the model needs 64"),
        (r#"{"x":[1,2"#, "row, number 3: the line ends in the middle"),
        (r#"{"x":[1,"2"]}"#, "row, number 2: no valid number"),
        (r#"{"x":[1,2,]}"#, "row, number 3: more than was expected"),
        (r#"{"x":1}"#, "row, number 1: no valid JSON of the kind expected"),
        (r#"{"model":{}}"#, "model: offset, size and data in base64 are needed"),
        (r#"{"model":{"offset":-1}}"#, "model: offset, size and data in base64 are needed"),
    ];
    for (line, message) in cases {
        let error = error(device, line);
        assert!(error.starts_with(message), "{line}: {error}");
        assert_alive(device);
    }
    let long = request(&[0.5; 200]);
    assert_eq!(error(device, &long), "row has length 200, the model needs 64");
    let overlong = request(&[0.5; 300]);
    assert_eq!(error(device, &overlong), "the line is longer than 1024 bytes");
    assert_alive(device);
}

fn greeting<B: koan::Buffers, const ROW: usize>(mut device: Device<B, 512, ROW, 0>) -> Value {
    let mut script = Script { bytes: b"", written: std::vec::Vec::new() };
    device.greet(&mut script);
    assert_eq!(script.read(), None);
    serde_json::from_slice(&script.written).unwrap()
}

#[test]
fn the_first_line_says_whether_the_model_fits() {
    type Exact = OwnedBuffers<64, 0, 0, 10>;
    type Short = OwnedBuffers<64, 0, 0, 9>;
    let ready = greeting(Device::<_, 512, 64, 0>::new(digits::MODEL, Exact::new(), WORK));
    assert_eq!(ready, json!({ "ready": true, "protocol": PROTOCOL }));
    let row = greeting(Device::<_, 512, 63, 0>::new(digits::MODEL, Exact::new(), WORK));
    let message = "the built-in model: buffer `row` has length 63, the model needs 64";
    assert_eq!(row, json!({ "error": message }));
    let buffer = greeting(Device::<_, 512, 64, 0>::new(digits::MODEL, Short::new(), WORK));
    let message = "the built-in model: buffer `sums` has length 9, the model needs 10";
    assert_eq!(buffer, json!({ "error": message }));
    let rows = koan::GOLDEN_DIGEST_ROWS + digits::MODEL.golden_rows();
    let needed = rows as u32 * digits::MODEL.work();
    let limit = needed - 1;
    let work = greeting(Device::<_, 512, 64, 0>::new(digits::MODEL, Exact::new(), limit));
    let message = format!(
        "the built-in model: the model's work in its self test is {needed}, more than the limit \
         of {limit}"
    );
    assert_eq!(work, json!({ "error": message }));
}

/// A firmware that goes on with a model which is too much work: nothing works longer than the
/// bound all the same.
#[test]
fn nothing_is_run_beyond_the_bound() {
    let work = digits::MODEL.work();
    let device = |work| TestDevice::new(digits::MODEL, super::TestBuffers::new(), work);
    let (row, scores) = good_row();
    // Enough for a row, not for the rows of a self test.
    let mut enough = device(work);
    assert_eq!(answer(&mut enough, &row), scores);
    let message = error(&mut enough, "{\"self_test\":true}");
    assert!(message.starts_with("the model's work in its self test is "), "{message}");
    let message = format!("the model's work is {work}, more than the limit of {}", work - 1);
    assert_eq!(error(&mut device(work - 1), &row), message);
}

fn any_number() -> impl Strategy<Value = f32> {
    prop_oneof![any::<u32>().prop_map(f32::from_bits), -20.0..20f32]
}

proptest! {
    #![proptest_config(super::fixed(200))]

    /// Shortest decimals come through bit by bit, whatever their magnitude.
    #[test]
    fn numbers_are_read_exactly(row in prop::collection::vec(any_number(), 64)) {
        let mut numbers = heapless::Vec::<f32, 64>::new();
        let line = request(&row);
        crate::request::parse(line.as_bytes(), &mut numbers).unwrap();
        for (read, sent) in numbers.iter().zip(&row) {
            let same = read.to_bits() == sent.to_bits() || read.is_nan() && sent.is_nan();
            prop_assert!(same, "{read} {sent}");
        }
    }

    #[test]
    fn scores_are_those_of_the_predictor(row in prop::collection::vec(any_number(), 64)) {
        let mut device: TestDevice = device();
        // Rows of long decimals are longer than a line here.
        let row: std::vec::Vec<f32> = row.iter().map(|x| x.clamp(-99.0, 99.0).trunc()).collect();
        let answer = answer(&mut device, &request(&row));
        prop_assert_eq!(&answer["scores"], &json!(scores(digits::BLOB, &row)));
    }
}
