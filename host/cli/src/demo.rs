//! `koan demo`: every family on handwritten digits.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use koan_data::digits;
use koan_data::{SplitSize, Target, split};
use koan_trainer::internal::blob;
use koan_trainer::{FamilyName, MapKind, TrainOptions, Trained, train};

use crate::arguments::Demo;
use crate::files;
use crate::out::{self, say};
use crate::output::{percent, quoted, write_whole};
use crate::terminal::Terminal;

/// The columns of the table.
const HEADINGS: [&str; 8] =
    ["", "family", "projection", "features", "bits", "bytes", "test error", "seconds"];
/// Their widths, known before the first row is: each is printed when it has been trained.
const WIDTHS: [usize; 8] = [6, 7, 10, 8, 4, 5, 10, 7];

/// A line of the table: names to the left, numbers to the right.
fn line(cells: [&str; 8]) -> String {
    let cell = |(column, (cell, width)): (usize, (&str, usize))| match column {
        0..=2 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    };
    cells.into_iter().zip(WIDTHS).enumerate().map(cell).collect::<Vec<_>>().join("  ")
}

pub fn run(arguments: &Demo) -> Result<()> {
    let start = Instant::now();
    let others = [&arguments.rows, &arguments.train_rows];
    let others = others.into_iter().flatten().map(PathBuf::as_path);
    files::check([], std::iter::once(arguments.output.as_path()).chain(others))?;
    let all = digits::table();
    let size = SplitSize::TrainRows(digits::TRAIN_ROWS);
    let (train_rows, test_rows) = split(&all.target, size, arguments.seed)?;
    let (train_table, test_table) = (all.select(&train_rows), all.select(&test_rows));
    say!(
        "Handwritten digits: {} images of 8x8 to train on, {} to test.\n",
        train_rows.len(),
        test_rows.len()
    )?;

    say!("{}", line(HEADINGS))?;
    say!("{}", "─".repeat(line(HEADINGS).len()))?;
    let mut best: Option<Trained> = None;
    // Ferns are for tables with thresholds in them: choosing them takes longer than all else
    // here, and pixels have none. Images are no series.
    let others = [FamilyName::Fern, FamilyName::Series];
    let families = FamilyName::ALL.into_iter().filter(|family| !others.contains(family));
    let families: Vec<FamilyName> = families.collect();
    for (number, &family) in families.iter().enumerate() {
        let place = format!("{} of {}", number + 1, families.len());
        let options = TrainOptions {
            families: vec![family],
            features: match family {
                FamilyName::Bin => vec![16],
                _ => vec![1024],
            },
            slot_bits: 6,
            bits: Some(2),
            // Pixels are of one kind: one map for all of them.
            map: Some(MapKind::Shared),
            relevance: Some(false),
            seed: arguments.seed,
            ..TrainOptions::default()
        };
        // It is gone before the row is printed.
        let terminal = Terminal::at_once();
        let progress = terminal.progress().within(&format!("{place}, {}", family.name()));
        progress.phase("reading")?;
        let trained = train(&train_table, Some(&test_table), &options, &progress)?;
        drop(terminal);
        let report = &trained.report;
        let row = [
            &place,
            &report.family,
            &report.projection,
            &report.features.to_string(),
            &report.bits.to_string(),
            &report.bytes.to_string(),
            &percent(report.error),
            &format!("{:.1}", report.seconds),
        ];
        say!("{}", line(row.map(String::as_str)))?;
        if best.as_ref().is_none_or(|best| report.error < best.report.error) {
            best = Some(trained);
        }
    }
    let Some(best) = best else { return Ok(()) };
    // Before more is printed: nobody may be reading any more.
    write_whole(&arguments.output, &best.blob)?;
    if let Some(path) = &arguments.rows {
        write_whole(path, &csv_rows(&test_table)?)?;
    }
    if let Some(path) = &arguments.train_rows {
        write_whole(path, &csv_rows(&train_table)?)?;
    }
    say!("")?;
    out::headline(&format!(
        "The best, {} ({} bytes, {} misclassified), is written to {}.",
        best.report.family,
        best.report.bytes,
        percent(best.report.error),
        arguments.output.display()
    ))?;

    // Once more from the file, through the runtime alone.
    let bytes = std::fs::read(&arguments.output)?;
    let mut predictor = blob::predictor(&bytes)?;
    predictor.self_test()?;
    let row = test_table.row(0);
    let class = predictor.classify(row)?;
    let mut probabilities = [0.0f32; 10];
    predictor.probabilities(row, &mut probabilities)?;
    say!("Read back and run by the no_std core, it sees this test image as a {class}")?;
    say!("(probability {:.2}):\n", probabilities[class])?;
    for line in row.chunks(8) {
        let shades: String = line
            .iter()
            .map(|&grey| [' ', '░', '▒', '▓', '█'][((grey / 16.0 * 4.0).round() as usize).min(4)])
            .flat_map(|shade| [shade, shade])
            .collect();
        say!("    {}", shades.trim_end())?;
    }
    say!("\n{:.1} s in all.", start.elapsed().as_secs_f64())?;
    let output = quoted(&arguments.output.display().to_string());
    say!("Next: `koan inspect {output}` tells what a device needs for it.")?;
    Ok(())
}

/// Images as CSV: 64 pixels and the digit, without a header.
fn csv_rows(table: &koan_data::Table) -> Result<Vec<u8>> {
    let Target::Classes { labels } = &table.target else { return Ok(Vec::new()) };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (row, label) in labels.iter().enumerate() {
        let pixels = table.row(row).iter().map(f32::to_string);
        writer.write_record(pixels.chain([label.to_string()]))?;
    }
    Ok(writer.into_inner()?)
}
