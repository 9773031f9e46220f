//! Rows and results as JSON text.

use alloc::vec::Vec;
use core::fmt;

use koan::{Buffers, Error, Predictor, Task};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::heap::{Full, zeros};

/// Why a text was not answered.
pub enum Failure {
    /// It is no JSON array of numbers.
    Text(&'static str),
    /// The model's own error.
    Core(Error),
    /// There is no memory left.
    Memory,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self::Memory
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
/// a place for each input.
pub fn answer<B: Buffers>(
    predictor: &mut Predictor<'_, B>,
    text: &[u8],
    row: &mut [f32],
) -> Result<Vec<u8>, Failure> {
    let mut count = 0;
    let mut reader = serde_json_core::de::Deserializer::new(text, None);
    let read = Row { places: row, count: &mut count }.deserialize(&mut reader);
    if read.is_err() || reader.end().is_err() {
        return Err(Failure::Text("the text is not a JSON array of numbers"));
    }
    let model = *predictor.model();
    if count != model.inputs() {
        return Err(Error::Length { what: "row", needed: model.inputs(), given: count }.into());
    }
    let row = row.get(..count).unwrap_or_default();

    let mut floats = zeros(4 * model.outputs().max(model.classes()))?;
    let floats = bytemuck::cast_slice_mut::<u64, f32>(&mut floats);
    let (mut class, mut name, mut probabilities, mut values) = (None, None, None, None);
    if model.task() == Task::Classification {
        let number = predictor.classify(row)?;
        (class, name) = (Some(number), model.class_name(number));
        let places = floats.get_mut(..model.classes()).unwrap_or_default();
        predictor.probabilities(row, places)?;
        probabilities = Some(&*places);
    } else {
        let places = floats.get_mut(..model.outputs()).unwrap_or_default();
        predictor.values(row, places)?;
        values = Some(&*places);
    }
    let scores = predictor.scores(row)?;
    let answer = Answer { class, name, probabilities, values, scores };
    // A name's byte becomes at most six, a number at most 16 with its comma.
    let most = 128 + 6 * name.map_or(0, str::len) + 16 * (2 * scores.len() + 2);
    let mut out = Vec::new();
    out.try_reserve_exact(most).map_err(|_| Full)?;
    out.resize(most, 0);
    let length = serde_json_core::to_slice(&answer, &mut out)
        .map_err(|_| Failure::Text("the answer does not fit"))?;
    out.truncate(length);
    Ok(out)
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
    use crate::heap::Memory;
    use koan::Model;

    fn answered(text: &str) -> Result<std::string::String, &'static str> {
        let model = Model::parse(include_bytes!("../../core/tests/tiny.koan")).unwrap();
        let mut memory = Memory::default();
        memory.fill(&model).unwrap();
        let (_, _, workspace) = memory.parts();
        let mut predictor = Predictor::new(model, workspace).unwrap();
        match answer(&mut predictor, text.as_bytes(), &mut [0.0; 2]) {
            Ok(text) => Ok(std::string::String::from_utf8(text).unwrap()),
            Err(Failure::Text(text)) => Err(text),
            Err(Failure::Core(error)) => Err(error.message()),
            Err(Failure::Memory) => Err("memory"),
        }
    }

    #[test]
    fn a_row_is_answered_and_a_wrong_text_is_not() {
        let text = answered("[0.3, -1.2]").unwrap();
        assert!(text.starts_with("{\"class\":1,\"name\":\"right\",\"probabilities\":["), "{text}");
        assert!(text.contains("],\"scores\":["), "{text}");
        assert!(answered("[null, 1e3]").is_ok());
        for text in ["", "7", "{}", "[1, 2", "[1, \"a\"]", "[1, 2] 3", "[[1], 2]"] {
            assert_eq!(answered(text), Err("the text is not a JSON array of numbers"), "{text}");
        }
        for text in ["[]", "[1]", "[1, 2, 3]"] {
            assert_eq!(answered(text), Err("row"), "{text}");
        }
    }
}
