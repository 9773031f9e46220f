//! Samples of a stream go to the firmware, and its answers come back.

use std::format;
use std::string::String;
use std::vec::Vec;

use koan::Error;
use serde_json::{Value, json};

use super::uploads::{GOLDEN, upload};
use super::{ROW, TestDevice, device, error};
use crate::{Port, Sampled};

/// A firmware whose windows are two samples of two numbers; the score is their sum.
#[derive(Default)]
struct Sums {
    bytes: Vec<u8>,
    written: Vec<u8>,
    samples: Vec<f32>,
    scores: [i32; 1],
    learned: Option<u8>,
}

impl Port for Sums {
    fn read(&mut self) -> Option<u8> {
        (!self.bytes.is_empty()).then(|| self.bytes.remove(0))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
    }

    fn sample(&mut self, sample: &[f32]) -> Option<Result<Sampled<'_>, Error>> {
        if sample.len() != 2 {
            let (needed, given) = (2, sample.len());
            return Some(Err(Error::Length { what: "sample", needed, given }));
        }
        self.samples.extend_from_slice(sample);
        let whole = self.samples.len() >= 4;
        self.scores = [self.samples.iter().sum::<f32>() as i32];
        let scores = whole.then_some(&self.scores[..]);
        Some(Ok(Sampled { steady: self.learned, scores }))
    }

    fn restart(&mut self) -> bool {
        self.samples.clear();
        true
    }

    fn learn(&mut self, class: u8) -> Option<Result<bool, Error>> {
        Some(Ok(self.learned.replace(class) != Some(class)))
    }
}

fn answers(device: &mut TestDevice, port: &mut Sums, lines: &[&str]) -> Vec<Value> {
    port.bytes = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
    device.serve(port);
    let written = String::from_utf8(std::mem::take(&mut port.written)).unwrap();
    written.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn samples_are_answered_with_the_steady_class_and_scores_of_windows() {
    let (mut device, mut port) = (device(), Sums::default());
    let lines = [
        "{\"sample\":[1,2.5]}",
        "{\"sample\":[3,4]}",
        "{\"learn\":7}",
        "{\"learn\":7}",
        "{\"restart_stream\":true}",
        "{\"sample\":[1,2]}",
        "{\"sample\":[1]}",
        "{\"sample\":[1,x]}",
        "{\"learn\":300}",
    ];
    let expected = [
        json!({ "steady": null }),
        json!({ "steady": null, "scores": [10] }),
        json!({ "learned": true }),
        json!({ "learned": false }),
        json!({ "restart_stream": "ok" }),
        json!({ "steady": 7 }),
        json!({ "error": "sample has length 1, the model needs 2" }),
        json!({ "error": "row, number 2: no valid number" }),
    ];
    let answers = answers(&mut device, &mut port, &lines);
    assert_eq!(answers[..8], expected);
    let refused = answers[8]["error"].as_str().unwrap();
    assert!(refused.starts_with("learn: the number of a class is needed ("), "{refused}");
}

#[test]
fn samples_beyond_the_room_for_a_row_are_refused() {
    let line = format!("{{\"sample\":[{}1]}}", "1,".repeat(ROW));
    let expected = json!({ "error": "sample: 65 numbers are too many, there is room for 64" });
    assert_eq!(answers(&mut device(), &mut Sums::default(), &[&line]), [expected]);
}

#[test]
fn what_there_is_no_stream_for_is_refused() {
    let mut device = device();
    for line in ["{\"sample\":[1,2]}", "{\"learn\":1}", "{\"restart_stream\":true}"] {
        assert_eq!(error(&mut device, line), "this device takes no stream of samples");
    }
    let (blob, _) = GOLDEN[0];
    upload(&mut device, blob, 100);
    let message = "the stream is for the built-in model, and another one is in force";
    for line in ["{\"sample\":[1,2]}", "{\"learn\":1}"] {
        let answers = answers(&mut device, &mut Sums::default(), &[line]);
        assert_eq!(answers, [json!({ "error": message })]);
    }
}
