//! Samples through the device, as a sensor would send them.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use koan_data::{ReadOptions, Schema, Window, rows_of};
use koan_trainer::Progress;
use koan_trainer::internal::blob::predictor;
use serde_json::{Value, json};

use super::session::{Session, sample_request};

/// The stream's windows: those that the model was trained on.
pub fn window_of(schema: &Schema) -> Result<Window> {
    let window = schema.recordings.window;
    window.context("--stream needs a model of `koan train --window`; this one has no windows")
}

/// The number of a class that was told by its number or its name.
pub fn class_of(text: &str, classes: &[String]) -> Result<u8> {
    let named = classes.iter().position(|class| class == text).and_then(|at| u8::try_from(at).ok());
    match (text.parse().ok(), named) {
        (Some(number), Some(named)) if number != named => bail!(
            "--learn {text}: class number {number} is another one than that of the name {text}, \
             which is number {named}"
        ),
        (_, Some(number)) | (Some(number), None) => Ok(number),
        (None, None) => bail!(
            "--learn {text}: the model has no class of that name, but {}; a new class is told by \
             its number, {}",
            classes.join(", "),
            classes.len()
        ),
    }
}

/// What a stream came to.
pub struct Streamed {
    pub samples: usize,
    /// Windows whose scores were the host's.
    pub windows: usize,
    /// The steady classes and the samples that they began with, from 1 on; `None` is unknown.
    pub steady: Vec<(usize, Option<String>)>,
}

impl Streamed {
    pub fn json(&self) -> Value {
        let steady =
            |(sample, class): &(usize, Option<String>)| json!({ "sample": sample, "class": class });
        let steady: Vec<Value> = self.steady.iter().map(steady).collect();
        json!({ "samples": self.samples, "windows": self.windows, "steady": steady })
    }
}

/// Sends every sample of the data, one recording after the other without a gap, and compares
/// the scores of every window with the host's. With `learn` each window is of that class.
pub fn samples(
    session: &mut Session,
    (blob, schema): (&[u8], &Schema),
    (data, options): (&[PathBuf], &ReadOptions),
    learn: Option<u8>,
    progress: &Progress,
) -> Result<Streamed> {
    let window = window_of(schema)?;
    let mut predictor = predictor(blob)?;
    // Rows of one sample each: the columns are the model's, in its order.
    let mut each = schema.clone();
    each.recordings.window = Some(Window { samples: 1, stride: 1 });
    let mut reader = rows_of(data, &each, options)?;
    let (mut numbers, mut sample) = (Vec::new(), Vec::new());
    let mut streamed = Streamed { samples: 0, windows: 0, steady: Vec::new() };
    let mut last = None;
    session.restart_stream()?;
    while let Some(line) = reader.next_into(&mut sample) {
        line?;
        streamed.samples += 1;
        let number = streamed.samples;
        numbers.extend_from_slice(&sample);
        let width = sample.len() * window.samples;
        let kept = numbers.len().saturating_sub(width);
        numbers.drain(..kept);
        let answer =
            session.ask(&sample_request(&sample)).with_context(|| format!("sample {number}"))?;
        let whole = window.ends_with(number);
        let expected = if whole { Some(predictor.scores(&numbers)?.to_vec()) } else { None };
        ensure!(
            answer.scores == expected,
            "sample {number}: the device's scores are {}, the host's {}",
            shown(answer.scores.as_deref()),
            shown(expected.as_deref())
        );
        streamed.windows += usize::from(whole);
        let class = answer.steady.map(|class| {
            let further = || format!("class {class}");
            schema.classes.get(class).cloned().unwrap_or_else(further)
        });
        if last.as_ref() != Some(&class) {
            streamed.steady.push((number, class.clone()));
            last = Some(class);
        }
        if let (true, Some(class)) = (whole, learn) {
            session.learn(class).with_context(|| format!("sample {number}"))?;
        }
        progress.phase(&format!("{number} samples, {} windows", streamed.windows))?;
    }
    ensure!(streamed.samples > 0, "the data have no samples");
    Ok(streamed)
}

fn shown(scores: Option<&[i32]>) -> String {
    scores.map_or_else(|| "none".into(), |scores| format!("{scores:?}"))
}

#[cfg(test)]
mod tests {
    use super::class_of;

    #[test]
    fn classes_are_told_by_name_or_number() {
        let classes = ["cold", "hot", "2", "1"].map(str::to_owned);
        let of = |text| class_of(text, &classes).map_err(|error| error.to_string());
        assert_eq!(of("hot"), Ok(1));
        assert_eq!(of("0"), Ok(0));
        assert_eq!(of("2"), Ok(2));
        assert_eq!(of("4"), Ok(4), "a new one");
        assert!(of("1").unwrap_err().contains("the name 1, which is number 3"));
        assert!(of("warm").unwrap_err().ends_with("told by its number, 4"));
    }
}
