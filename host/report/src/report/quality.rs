//! How good predictions are.

use crate::Result;
use crate::page::{Page, chart, heat, plot::Plot};
use koan::Model;
use koan_data::{Table, Target};
use koan_trainer::internal::learning_curve::{predicted_classes, probabilities, values};
use koan_trainer::{Detection, evaluate};

use super::importance::{self, Importance};
use super::thresholds::{self, Scored};
use super::worst;
use crate::words::percent;

/// Classes whose confusion matrix fits on a page.
const MOST_CLASSES: usize = 40;
/// Confusions that are listed.
const CONFUSIONS: usize = 10;
/// Bins of the histogram of residuals.
const BINS: usize = 30;
/// Rows of an embedding that are drawn.
const MOST_DOTS: usize = 1500;

/// Predictions of the target against the target.
pub fn predictions(page: &mut Page, blob: &[u8], model: &Model<'_>, test: &Table) -> Result<()> {
    match &test.target {
        Target::Classes { labels } => classes(page, blob, model, test, labels),
        Target::Values(targets) => numbers(page, blob, test, targets),
    }
}

/// What the inputs are worth, and the rows that the model is furthest off for.
pub fn details(page: &mut Page, model: &Model<'_>, test: &Table) -> Result<()> {
    let importance = importance::measure(model, test)?;
    importance::section(page, importance.as_ref())?;
    let importance: Option<&Importance> = importance.as_ref();
    match &test.target {
        Target::Classes { labels } => {
            let misses = worst::of_classes(model, test, labels)?;
            let (caption, measure) = match model.has_probabilities() {
                true => (
                    "Test rows that are taken for another class with the highest probability",
                    "probability of that",
                ),
                false => {
                    ("Test rows that are farthest on the wrong side of the threshold", "score")
                }
            };
            worst::section(page, model, test, misses, importance, caption, measure);
        }
        Target::Values(targets) => {
            let misses = worst::of_values(targets, &values(model.blob(), test)?);
            let caption = "Test rows with the largest residuals";
            worst::section(page, model, test, misses, importance, caption, "is − taken for");
        }
    }
    Ok(())
}

/// Each class with its rows and how many of them are predicted right; empty for numbers.
pub fn found(blob: &[u8], test: &Table) -> Result<Vec<(String, u64, u64)>> {
    let confusion = evaluate(blob, test)?.confusion;
    let counts = confusion.iter().enumerate().map(|(class, row)| (row.iter().sum(), row[class]));
    let names = test.schema.classes.iter().cloned();
    Ok(names.zip(counts).map(|(name, (rows, hits))| (name, rows, hits)).collect())
}

fn classes(
    page: &mut Page,
    blob: &[u8],
    model: &Model<'_>,
    test: &Table,
    labels: &[u32],
) -> Result<()> {
    let evaluation = evaluate(blob, test)?;
    let names = &test.schema.classes;
    let confusion = &evaluation.confusion;
    if names.len() <= MOST_CLASSES {
        let caption = "Confusion matrix: test rows by class and prediction, shaded by their share of \
                       the class.";
        page.figure(&heat::confusion(names, confusion), caption);
    }
    let mut pairs: Vec<(u64, usize, usize)> = Vec::new();
    for (actual, row) in confusion.iter().enumerate() {
        let wrong = row.iter().enumerate().filter(|(class, count)| *class != actual && **count > 0);
        pairs.extend(wrong.map(|(predicted, &count)| (count, actual, predicted)));
    }
    pairs.sort_by_key(|&(count, actual, predicted)| (std::cmp::Reverse(count), actual, predicted));
    if names.len() > 2 && !pairs.is_empty() {
        let rows = pairs.iter().take(CONFUSIONS);
        let rows =
            rows.map(|&(count, a, p)| [names[a].clone(), names[p].clone(), count.to_string()]);
        page.table("The most frequent confusions", &["class", "taken for", "rows"], rows);
    }
    let rows = (0..names.len()).map(|class| {
        let hits = confusion[class][class] as f64;
        let support: u64 = confusion[class].iter().sum();
        let predicted: u64 = confusion.iter().map(|row| row[class]).sum();
        let share = |of: f64| if of > 0.0 { percent(hits / of) } else { "–".to_owned() };
        // F1 = 2PR/(P + R) = 2·hits/(support + predicted).
        let both = (support + predicted) as f64 / 2.0;
        [
            names[class].clone(),
            share(predicted as f64),
            share(support as f64),
            share(both),
            support.to_string(),
        ]
    });
    page.table("Classes", &["class", "precision", "recall", "F1", "support"], rows);
    if names.len() == 2 {
        thresholds(page, model, test, labels)?;
    }
    if model.calibration().is_some() {
        reliability(page, &probabilities(blob, test)?, test, labels)?;
    }
    Ok(())
}

/// What other thresholds of the probability of the second class would give, or of its score
/// where there is no probability.
fn thresholds(page: &mut Page, model: &Model<'_>, test: &Table, labels: &[u32]) -> Result<()> {
    let calibrated = model.calibration().is_some();
    let all = if calibrated {
        probabilities(model.blob(), test)?.into_iter().skip(1).step_by(2).collect()
    } else {
        values(model.blob(), test)?
    };
    let scores: Vec<f64> = all.into_iter().map(f64::from).collect();
    let predicted = predicted_classes(model.blob(), test)?;
    // A score of 0 need not be a probability of one half.
    let taken = scores.iter().zip(&predicted).filter(|(_, class)| **class == 1);
    let own = taken.map(|(score, _)| *score).fold(f64::INFINITY, f64::min);
    let scored = Scored {
        scores,
        positive: labels.iter().map(|&label| label == 1).collect(),
        name: &format!("the class {}", test.schema.classes[1]),
        measure: if calibrated { "probability" } else { "score" },
        own,
        probabilities: calibrated,
    };
    thresholds::section(page, &scored)
}

/// Whether rows with a probability of p come true in a share p.
fn reliability(page: &mut Page, all: &[f32], test: &Table, labels: &[u32]) -> Result<()> {
    let (names, recordings) = (&test.schema.classes, test.division.groups().is_some());
    let classes = names.len();
    let rows = all.chunks_exact(classes).zip(labels);
    let (what, pairs): (String, Vec<(f64, bool)>) = if classes == 2 {
        let pairs = rows.map(|(row, &label)| (f64::from(row[1]), label == 1)).collect();
        (format!("the class {}", names[1]), pairs)
    } else {
        let top =
            |row: &[f32]| (0..classes).fold(0, |best, c| if row[c] > row[best] { c } else { best });
        let pairs =
            rows.map(|(row, &label)| (f64::from(row[top(row)]), top(row) == label as usize));
        ("the predicted class".to_owned(), pairs.collect())
    };
    let bins = chart::reliability_bins(&pairs);
    page.figure(
        &chart::reliability(&[("calibrated probabilities", &bins)])?,
        &format!(
            "Reliability: how often {what} is right, against its probability. Expected \
             calibration error {}; bars are 95 % intervals{}.",
            percent(chart::calibration_error(&bins)),
            if recordings { ", too short for rows of recordings, which are alike" } else { "" }
        ),
    );
    let probabilities: Vec<f64> = pairs.iter().map(|&(probability, _)| probability).collect();
    page.figure(
        &chart::probabilities(&format!("probability of {what}"), &probabilities, 20)?,
        "How sure the model is: test rows by probability.",
    );
    Ok(())
}

fn numbers(page: &mut Page, blob: &[u8], test: &Table, targets: &[f32]) -> Result<()> {
    let predicted = values(blob, test)?;
    let pairs: Vec<(f64, f64)> =
        targets.iter().zip(&predicted).map(|(&y, &v)| (f64::from(y), f64::from(v))).collect();
    let mut residuals: Vec<f64> = pairs.iter().map(|(target, value)| target - value).collect();
    let count = residuals.len() as f64;
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / count;
    let rmse = mean(&mut residuals.iter().map(|r| r * r)).sqrt();
    let absolute = mean(&mut residuals.iter().map(|r| r.abs()));
    let middle = mean(&mut pairs.iter().map(|pair| pair.0));
    let spread = mean(&mut pairs.iter().map(|pair| (pair.0 - middle).powi(2)));
    // Targets that are all the same have nothing to explain.
    let explained = match spread > 0.0 {
        true => format!("{:.4}", 1.0 - rmse * rmse / spread),
        false => "–".to_owned(),
    };
    let bias = mean(&mut residuals.iter().copied());
    page.facts(
        "In the target's units",
        [
            ("RMSE", Plot::label(rmse)),
            ("mean absolute error", Plot::label(absolute)),
            ("mean of target − prediction", Plot::label(bias)),
            ("explained variance, R²", explained),
        ],
    );
    let drawn = "a point is a row, at most 800 are drawn";
    page.figure(&chart::predictions(&pairs)?, &format!("Predictions against targets; {drawn}."));
    page.figure(&chart::residuals(&pairs)?, &format!("Residuals against predictions; {drawn}."));
    page.figure(
        &chart::histogram("target − prediction", &residuals, BINS)?,
        "Residuals: test rows by target − prediction.",
    );
    residuals.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let rows = [50, 90, 95, 99, 100]
        .map(|percent| [format!("{percent} %"), Plot::label(at_most(&residuals, percent))]);
    page.table("Absolute residuals", &["rows", "at most"], rows);
    Ok(())
}

/// What at least so many percent of residuals, which rise in magnitude, do not exceed.
fn at_most(residuals: &[f64], percent: usize) -> f64 {
    let count = (percent * residuals.len()).div_ceil(100);
    residuals.get(count.saturating_sub(1)).map_or(f64::NAN, |residual| residual.abs())
}

/// What a detector of anomalies does, `normal` being the class of normal rows.
pub fn detection(
    page: &mut Page,
    detection: &Detection,
    blob: &[u8],
    test: &Table,
    normal: Option<u32>,
) -> Result<()> {
    let share = |share: Option<f64>| share.map_or("–".to_owned(), percent);
    page.facts(
        "Alarms on the test rows",
        [
            ("false alarms among normal rows", share(detection.false_alarms)),
            ("anomalies that are found", share(detection.detected)),
            ("area under the ROC curve", detection.auc.map_or("–".into(), |a| format!("{a:.4}"))),
        ],
    );
    let (Some(normal), Target::Classes { labels }) = (normal, &test.target) else {
        return Ok(());
    };
    let scores: Vec<f64> = values(blob, test)?.into_iter().map(|v| -f64::from(v)).collect();
    // An alarm is a score that is not above 0.
    let own = scores.iter().copied().filter(|score| *score >= 0.0).fold(f64::INFINITY, f64::min);
    let scored = Scored {
        scores,
        positive: labels.iter().map(|&label| label != normal).collect(),
        name: "anomalies",
        measure: "anomaly score",
        own,
        probabilities: false,
    };
    thresholds::section(page, &scored)
}

/// The first two coordinates, coloured by class where there are classes.
pub fn embedding(page: &mut Page, blob: &[u8], test: &Table) -> Result<()> {
    let outputs = Model::parse(blob)?.outputs();
    let all = values(blob, test)?;
    let count = test.rows().min(MOST_DOTS);
    let rows = (0..count).map(|i| i * test.rows() / count.max(1));
    let point = |row: usize| (f64::from(all[row * outputs]), f64::from(all[row * outputs + 1]));
    let mut plot = Plot::new("first coordinate", "second coordinate").square();
    match &test.target {
        Target::Classes { labels } => {
            for (class, name) in test.schema.classes.iter().enumerate() {
                let of_class = rows.clone().filter(|&row| labels[row] as usize == class);
                plot = plot.cloud(name, of_class.map(point));
            }
        }
        Target::Values(_) => plot = plot.cloud("rows", rows.map(point)),
    }
    page.figure(&plot.draw()?, "Test rows by their first two coordinates.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of two rows is no 99 % of them.
    #[test]
    fn so_many_rows_have_residuals_of_at_most_that() {
        let shares = |residuals: &[f64]| [50, 90, 99, 100].map(|share| at_most(residuals, share));
        assert_eq!(shares(&[0.1, -100.0]), [0.1, 100.0, 100.0, 100.0]);
        assert_eq!(shares(&[2.0]), [2.0; 4]);
        let many: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(shares(&many), [100.0, 180.0, 198.0, 200.0]);
    }
}
