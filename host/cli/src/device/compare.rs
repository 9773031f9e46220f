//! Rows through the device and through the host's own runtime.

use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use koan::{Task, class_of};
use koan_data::{Table, Target};
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::evaluate::{of_confusion, of_values};
use koan_trainer::{Evaluation, Progress};

use super::session::{Answer, Session, TooLong, row_request};

/// Asks for every row of the table and judges the answers, which must equal
/// the host's to the last bit.
pub fn rows(
    session: &mut Session,
    blob: &[u8],
    table: &Table,
    progress: &Progress,
) -> Result<Evaluation> {
    let mut predictor = predictor(blob)?;
    let scale = predictor.model().score_scale();
    let task = predictor.model().task();
    let classes = table.schema.classes.len();
    let mut confusion = vec![vec![0u64; classes]; classes];
    let mut values = Vec::new();
    let (all, start) = (table.rows(), Instant::now());
    for index in 0..all {
        let row = table.row(index);
        let scores = predictor.scores(row)?;
        let expected = Expected {
            scores,
            class: (task == Task::Classification).then(|| class_of(scores)),
            value: scores.first().map_or(0.0, |&score| score as f32 * scale),
        };
        session
            .ask(&row_request(row))
            .map_err(|error| {
                let windows = table.schema.recordings.window.is_some();
                if windows && error.is::<TooLong>() {
                    anyhow!("{error}: --stream sends samples one by one, as a sensor would")
                } else {
                    error
                }
            })
            .and_then(|answer| equal(&answer, &expected))
            .with_context(|| format!("row {} of {all}", index + 1))?;
        let mut right = String::new();
        match &table.target {
            Target::Classes { labels } => {
                let actual = labels[index] as usize;
                if let Some(class) = expected.class
                    && let Some(count) =
                        confusion.get_mut(actual).and_then(|row| row.get_mut(class))
                {
                    *count += 1;
                }
                let hits: u64 = confusion.iter().enumerate().map(|(class, row)| row[class]).sum();
                right = format!(", {:.1} % right", 100.0 * hits as f64 / (index + 1) as f64);
            }
            Target::Values(targets) => {
                values.push((f64::from(targets[index]), f64::from(expected.value)));
            }
        }
        let rate = (index + 1) as f64 / start.elapsed().as_secs_f64();
        progress.phase(&format!("{} of {all} rows{right}, {rate:.0} rows/s", index + 1))?;
    }
    Ok(match table.target {
        Target::Classes { .. } => of_confusion(confusion),
        Target::Values(_) => of_values(values.into_iter()),
    })
}

/// What the host makes of a row.
struct Expected<'s> {
    scores: &'s [i32],
    class: Option<usize>,
    value: f32,
}

/// Errors name what differs.
fn equal(answer: &Answer, expected: &Expected<'_>) -> Result<()> {
    let scores = answer.scores.as_ref().context("the device answered without scores")?;
    let (found, wanted) = (scores.len(), expected.scores.len());
    ensure!(found == wanted, "the device answered {found} scores, the host has {wanted}");
    for (output, (found, wanted)) in scores.iter().zip(expected.scores).enumerate() {
        ensure!(
            found == wanted,
            "output {output}: the device's score is {found}, the host's {wanted}"
        );
    }
    match expected.class {
        Some(class) => ensure!(
            answer.class == Some(class),
            "the device's class is {}, the host's {class}",
            answer.class.map_or("missing".into(), |class| class.to_string())
        ),
        None => {
            // A value beyond f32 has no JSON.
            let expected = Some(expected.value).filter(|value| value.is_finite());
            let bits = |value: Option<f32>| value.map(f32::to_bits);
            let text = |value: Option<f32>| value.map_or("missing".into(), |v| v.to_string());
            ensure!(
                bits(answer.value()) == bits(expected),
                "the device's value is {}, the host's {}",
                text(answer.value()),
                text(expected)
            );
        }
    }
    Ok(())
}
