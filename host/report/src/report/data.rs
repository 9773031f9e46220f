//! What the data are.

use crate::Origin;
use crate::page::{Page, plot::Plot};
use crate::words::counted;
use koan_data::{Table, Target};

/// Inputs that are listed one by one.
const MOST_INPUTS: usize = 64;

/// The files with what tells them from others; nothing of rows from memory.
pub fn files(page: &mut Page, origin: &Origin) {
    if origin.files.is_empty() {
        return;
    }
    let rows = origin.files.iter().map(|file| {
        let crc = format!("{:08x}", file.crc);
        [file.name.clone(), file.part.to_owned(), file.bytes.to_string(), crc]
    });
    page.table("Files", &["file", "part", "bytes", "CRC-32"], rows);
    if origin.more_files > 0 {
        page.text(&format!("… and {} files more.", origin.more_files));
    }
}

/// Rows, targets and inputs of the named tables.
pub fn facts(page: &mut Page, tables: &[(&'static str, &Table)], target: bool) {
    let Some((_, first)) = tables.first() else { return };
    let mut facts: Vec<(&'static str, String)> =
        tables.iter().map(|(name, table)| (*name, counted(table.rows(), "row"))).collect();
    facts.push(("inputs", first.inputs.to_string()));
    if let Some(name) = first.schema.target_name().filter(|name| !name.is_empty()) {
        facts.push(("target", name.to_owned()));
    }
    page.facts("Rows", facts);
    if target {
        targets(page, tables);
    }
    inputs(page, tables);
}

/// Rows of each class, or how the target's values are spread.
fn targets(page: &mut Page, tables: &[(&'static str, &Table)]) {
    let classes = tables.first().map_or(&[][..], |(_, table)| &table.schema.classes);
    let mut headers = vec![if classes.is_empty() { "target of" } else { "class" }];
    if classes.is_empty() {
        headers.extend(["least", "mean", "largest"]);
        let rows = tables.iter().filter_map(|(name, table)| match &table.target {
            Target::Values(values) => {
                let [least, mean, largest] = summary(values.iter().copied());
                Some([(*name).to_owned(), least, mean, largest])
            }
            Target::Classes { .. } => None,
        });
        page.table("The target", &headers, rows);
        return;
    }
    headers.extend(tables.iter().map(|(name, _)| *name));
    let count = |table: &Table, class: usize| match &table.target {
        Target::Classes { labels } => labels.iter().filter(|&&l| l as usize == class).count(),
        Target::Values(_) => 0,
    };
    let share =
        |table: &Table, class: usize| count(table, class) as f64 / table.rows().max(1) as f64;
    let shares = tables.iter().flat_map(|(_, table)| (0..classes.len()).map(|c| share(table, c)));
    let largest = shares.fold(f64::MIN_POSITIVE, f64::max);
    let rows: Vec<_> = classes
        .iter()
        .enumerate()
        .map(|(class, name)| {
            let cell = |table: &Table| {
                format!("{} ({:.1} %)", count(table, class), 100.0 * share(table, class))
            };
            let cells = tables.iter().map(|(_, table)| cell(table));
            let bars = tables.iter().map(|(_, table)| share(table, class) / largest);
            (std::iter::once(name.clone()).chain(cells).collect(), bars.collect())
        })
        .collect();
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    page.bars("Rows of each class, and their share", &headers, &names, &rows);
}

/// Ranges of the inputs, and what stands in for missing values.
fn inputs(page: &mut Page, tables: &[(&'static str, &Table)]) {
    let Some((_, first)) = tables.first() else { return };
    let names = super::parts::inputs(first);
    let mut headers = vec!["input", "least", "mean", "largest"];
    let other = tables.get(1);
    if other.is_some() {
        headers.extend(["least in test", "largest in test"]);
    }
    headers.push("missing");
    let rows = names.iter().take(MOST_INPUTS).enumerate().map(|(input, (name, missing))| {
        let column = |table: &Table| summary((0..table.rows()).map(|row| table.row(row)[input]));
        let mut cells = vec![name.clone()];
        cells.extend(column(first));
        if let Some((_, other)) = other {
            let [least, _, largest] = column(other);
            cells.extend([least, largest]);
        }
        cells.push(missing.clone());
        cells
    });
    let caption = match other {
        Some(_) => "Inputs over the training rows, as they are before the model's input map",
        None => "Inputs, as they are before the model's input map",
    };
    page.table(caption, &headers, rows);
    if names.len() > MOST_INPUTS {
        page.text(&format!("… and {} inputs more.", names.len() - MOST_INPUTS));
    }
}

/// Least, mean and largest value.
fn summary(values: impl Iterator<Item = f32>) -> [String; 3] {
    let (mut least, mut largest, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0);
    for value in values.map(f64::from) {
        (least, largest) = (least.min(value), largest.max(value));
        sum += value;
        count += 1;
    }
    if count == 0 {
        return ["–"; 3].map(str::to_owned);
    }
    [least, sum / f64::from(count), largest].map(Plot::label)
}
