//! The rows that a model is furthest off for, as what they are.

use crate::Result;
use koan::Model;
use koan_data::{Shape, Table};
use koan_trainer::internal::learning_curve::{predicted_classes, probabilities, values};

use super::importance::Importance;
use super::parts::{self, Part};
use crate::page::Page;
use crate::page::plot::Plot;
use crate::page::small::Small;
use crate::page::tick;

/// Rows that are shown.
const SHOWN: usize = 12;
/// Columns of a row that are shown, those that are worth most first.
const COLUMNS: usize = 8;
/// Part of themselves that numbers are apart for their first digits to tell them apart.
const CLOSE: f64 = 0.01;
/// Samples of a series that are drawn.
const SAMPLES: usize = 200;

/// A row and what the model says of it.
pub struct Miss {
    /// Its place in the table.
    pub row: usize,
    /// What it is.
    pub actual: String,
    /// What the model takes it for.
    pub predicted: String,
    /// How far off that is; rows with the largest come first.
    pub badness: f64,
    /// The same in words.
    pub words: String,
}

/// Writes the worst of the rows.
pub fn section(
    page: &mut Page,
    model: &Model<'_>,
    table: &Table,
    mut misses: Vec<Miss>,
    importance: Option<&Importance>,
    caption: &str,
    measure: &str,
) {
    let all = misses.len();
    misses.sort_by(|a, b| b.badness.total_cmp(&a.badness).then(a.row.cmp(&b.row)));
    misses.truncate(SHOWN);
    if misses.is_empty() {
        return;
    }
    page.heading("The worst rows");
    let count = if all > misses.len() {
        format!("{} of {all}", misses.len())
    } else {
        format!("all {all}")
    };
    let caption = format!("{caption}: {count}, the worst first.");
    match parts::shape(model, table) {
        Some(shape) => pictures(page, table, &misses, shape, &caption),
        None => rows(page, table, &misses, importance, &caption, measure),
    }
}

fn pictures(page: &mut Page, table: &Table, misses: &[Miss], shape: Shape, caption: &str) {
    let ends = |values: &mut dyn Iterator<Item = f32>| {
        values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let of_all = ends(&mut table.values.iter().copied());
    let small: Vec<Small> = misses
        .iter()
        .map(|miss| {
            let row = table.row(miss.row);
            let picture = if shape.height > 1 {
                Small::image((shape.height, shape.width, shape.channels), row, of_all)
            } else {
                let step = shape.width.div_ceil(SAMPLES);
                let channel = |c: usize| {
                    row.iter().skip(c).step_by(shape.channels * step).copied().collect::<Vec<_>>()
                };
                let lines: Vec<Vec<f32>> = (0..shape.channels).map(channel).collect();
                Small::lines(&lines, ends(&mut row.iter().copied()))
            };
            let Miss { actual, predicted, words, row, .. } = miss;
            let note = format!("{words}; test row {}", row + 1);
            picture.with(&format!("{actual}, taken for {predicted}"), &note)
        })
        .collect();
    page.small(caption, &small);
}

fn rows(
    page: &mut Page,
    table: &Table,
    misses: &[Miss],
    importance: Option<&Importance>,
    caption: &str,
    measure: &str,
) {
    let columns: Vec<Part> = match importance {
        Some(importance) => importance.best().iter().map(|worth| worth.part.clone()).collect(),
        None => parts::columns(table),
    };
    let shown = &columns[..columns.len().min(COLUMNS)];
    let mut headers = vec!["test row".to_owned(), "is".into(), "taken for".into(), measure.into()];
    headers.extend(shown.iter().map(|part| part.name.clone()));
    let cells = misses.iter().map(|miss| {
        let row = table.row(miss.row);
        let mut cells = vec![(miss.row + 1).to_string(), miss.actual.clone()];
        cells.extend([miss.predicted.clone(), miss.words.clone()]);
        cells.extend(shown.iter().map(|part| part.shown(row)));
        cells
    });
    page.table(caption, &headers, cells);
    if columns.len() > shown.len() {
        let left = columns.len() - shown.len();
        page.text(&format!(
            "Of each row the {COLUMNS} columns that are worth most, without {left} more."
        ));
    }
}

/// The rows that are taken for another class, the surest first.
pub fn of_classes(model: &Model<'_>, test: &Table, labels: &[u32]) -> Result<Vec<Miss>> {
    let names = &test.schema.classes;
    let predicted = predicted_classes(model.blob(), test)?;
    let probable = model.has_probabilities();
    let all = match probable {
        true => probabilities(model.blob(), test)?,
        false => values(model.blob(), test)?,
    };
    let of_row = if probable { names.len() } else { model.outputs() };
    let rows = predicted.iter().zip(labels).zip(all.chunks_exact(of_row.max(1)));
    let wrong = rows.enumerate().filter(|(_, ((class, label), _))| **class != **label as usize);
    Ok(wrong
        .map(|(row, ((&class, &label), values))| {
            let (badness, words) = match *values {
                // The score of a detector: the second class is that of scores above 0.
                [score] => (f64::from(score).abs(), Plot::label(score.into())),
                _ => (values[class].into(), format!("{:.1} %", 100.0 * values[class])),
            };
            let (actual, predicted) = (names[label as usize].clone(), names[class].clone());
            Miss { row, actual, predicted, badness, words }
        })
        .collect())
}

/// The rows with the largest residuals.
pub fn of_values(targets: &[f32], predicted: &[f32]) -> Vec<Miss> {
    let pairs = targets.iter().zip(predicted).map(|(&y, &v)| (f64::from(y), f64::from(v)));
    let miss = |(row, (target, value)): (usize, (f64, f64))| {
        let [actual, predicted] = apart([target, value]);
        let badness = (target - value).abs();
        Miss { row, actual, predicted, badness, words: Plot::label(target - value) }
    };
    pairs.enumerate().map(miss).collect()
}

/// Two numbers with as many digits as tell how far apart they are.
fn apart(numbers: [f64; 2]) -> [String; 2] {
    let [a, b] = numbers;
    let distance = (a - b).abs();
    if distance == 0.0 || distance > CLOSE * a.abs().max(b.abs()) {
        return numbers.map(Plot::label);
    }
    let decimals = (1.0 - distance.log10().floor()).max(0.0);
    numbers.map(|number| tick(number, decimals as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_close_have_digits_that_tell_them_apart() {
        for (numbers, shown) in [
            ([20_002.31, 20_001.9], ["20002.31", "20001.90"]),
            ([-20_002.31, -20_012.0], ["−20002.3", "−20012.0"]),
            ([1.5, 2.25], ["1.5", "2.25"]),
            ([7.0, 7.0], ["7", "7"]),
            ([2e-6, 2.0013e-6], ["2.0000e−6", "2.0013e−6"]),
            ([-1e-9, -1.0003e-9], ["−1.00000e−9", "−1.00030e−9"]),
            ([0.5, 0.500_000_06], ["0.500000000", "0.500000060"]),
        ] {
            assert_eq!(apart(numbers), shown);
        }
    }
}
