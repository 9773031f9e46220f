//! Rows and results as JSON text.

use alloc::boxed::Box;
use core::fmt;

use bytemuck::cast_slice_mut;
use koan::{Buffers, Error, Model, Task};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::parts::Profile;
use crate::session::{Parts, found};

type Predictor<'m, B> = koan::Predictor<'m, B, Profile, Model<'m>>;

/// Why a text was not answered.
#[derive(Debug, PartialEq)]
enum Failure {
    /// It is no JSON array of numbers.
    Text,
    /// It has another number of them than the model has inputs.
    Length(usize),
    /// Anything else.
    Other,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Length { given, .. } => Self::Length(given),
            _ => Self::Other,
        }
    }
}

/// Answers a row of JSON: the length of the answer, which stands in `room` behind `most`
/// words for floats and the text of `bytes` bytes. Negative for a text that is no row: −1,
/// or, if it has another number of numbers than the model has inputs, −2 less that number.
///
/// - `words`, `buffers`: as for [`run`](crate::run)
/// - `most`: outputs or classes, whichever are more
#[wasm_bindgen]
#[expect(clippy::boxed_local, reason = "a box is how memory is lent to be written")]
pub fn json(
    blob: &[u8],
    words: &[u32],
    mut buffers: Box<[u32]>,
    mut room: Box<[u32]>,
    most: usize,
    bytes: usize,
) -> i32 {
    let Some(model) = found(blob, words) else { return -1 };
    let Parts { row, workspace, .. } = Parts::new(&model, words, &mut buffers);
    let Some((floats, texts)) = room.split_at_mut_checked(most) else { return -1 };
    let Some((text, out)) = cast_slice_mut(texts).split_at_mut_checked(bytes) else { return -1 };
    let answered = Predictor::serving(model, workspace)
        .map_err(Failure::from)
        .and_then(|mut predictor| answer(&mut predictor, text, row, cast_slice_mut(floats), out));
    match answered {
        Ok(length) => length as i32,
        Err(Failure::Length(given)) => -2 - given as i32,
        Err(_) => -1,
    }
}

/// What is answered; which fields depends on the model's task.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<&'a [f32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'a [f32]>,
    scores: &'a [i32],
}

/// Answers a row, `[1, 2.5, null]`: `null` stands for an unknown number. `row` has
/// a place for each input, `floats` for each output and class.
fn answer<B: Buffers>(
    predictor: &mut Predictor<'_, B>,
    text: &[u8],
    row: &mut [f32],
    floats: &mut [f32],
    out: &mut [u8],
) -> Result<usize, Failure> {
    let mut count = 0;
    let mut reader = serde_json_core::de::Deserializer::new(text, None);
    let read = Row { places: row, count: &mut count }.deserialize(&mut reader);
    // The reader would take a comma in front of the first number.
    let numbers = text.trim_ascii_start().strip_prefix(b"[").unwrap_or_default();
    let is_led = numbers.trim_ascii_start().starts_with(b",");
    if is_led || read.is_err() || reader.end().is_err() {
        return Err(Failure::Text);
    }
    let model = *predictor.model();
    if count != model.inputs() {
        return Err(Failure::Length(count));
    }
    let row = row.get(..count).unwrap_or_default();

    let (mut class, mut name, mut probabilities, mut values) = (None, None, None, None);
    if model.task() == Task::Classification {
        let number = predictor.classify(row)?;
        (class, name) = (Some(number), model.class_name(number));
        if model.has_probabilities() {
            let places = floats.get_mut(..model.classes()).unwrap_or_default();
            predictor.probabilities(row, places)?;
            probabilities = Some(&*places);
        }
    } else {
        let places = floats.get_mut(..model.outputs()).unwrap_or_default();
        predictor.values(row, places)?;
        values = Some(&*places);
    }
    let scores = predictor.scores(row)?;
    let answer = Answer { class, name, probabilities, values, scores };
    serde_json_core::to_slice(&answer, out).map_err(|_| Failure::Other)
}

/// Reads numbers into places, and counts those beyond.
struct Row<'r> {
    places: &'r mut [f32],
    count: &'r mut usize,
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an array of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        while let Some(number) = numbers.next_element::<Number>()? {
            if let Some(place) = self.places.get_mut(*self.count) {
                *place = number.0;
            }
            *self.count += 1;
        }
        Ok(())
    }
}

/// A number; NaN for `null`.
struct Number(f32);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<f32>::deserialize(from)?.unwrap_or(f32::NAN)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan::OwnedBuffers;

    fn answered(text: &str) -> Result<std::string::String, Failure> {
        let model = Model::parse(include_bytes!("../../core/tests/tiny.koan")).unwrap();
        let mut predictor = Predictor::serving(model, OwnedBuffers::<2, 0, 0, 1>::new()).unwrap();
        let (mut floats, mut out) = ([0.0; 2], [0; 200]);
        let length = answer(&mut predictor, text.as_bytes(), &mut [0.0; 2], &mut floats, &mut out)?;
        Ok(std::string::String::from_utf8(out[..length].to_vec()).unwrap())
    }

    #[test]
    fn a_row_is_answered_and_a_wrong_text_is_not() {
        let text = answered("[0.3, -1.2]").unwrap();
        assert!(text.starts_with("{\"class\":1,\"name\":\"right\",\"probabilities\":["), "{text}");
        assert!(text.contains("],\"scores\":["), "{text}");
        assert!(answered("[null, 1e3]").is_ok());
        for text in [
            "",
            "7",
            "{}",
            "[1, 2",
            "[1, \"a\"]",
            "[1, 2] 3",
            "[[1], 2]",
            " [ ,1, 2]",
            "[1,,2]",
            "[1, 2,]",
        ] {
            assert_eq!(answered(text), Err(Failure::Text), "{text}");
        }
        for (text, length) in [("[]", 0), ("[1]", 1), ("[1, 2, 3]", 3)] {
            assert_eq!(answered(text), Err(Failure::Length(length)), "{text}");
        }
    }
}
