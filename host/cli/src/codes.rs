//! `koan codes`: locality-sensitive codes of rows and their Hamming distances.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use koan::Model;
use koan_data::{expand, rows_of};
use koan_trainer::internal::blob::predictor;
use koan_trainer::internal::embed::nearest;

use crate::arguments::Codes;
use crate::files::check_stdout;
use crate::out::{self, failed};
use crate::output::{read_blob, schema, tested};

pub fn run(arguments: &Codes) -> Result<()> {
    check_stdout(&expand(&arguments.data)?)?;
    check_stdout(&expand(&arguments.among)?)?;
    let blob = read_blob(&arguments.model)?;
    let model = tested(&arguments.model, &blob)?;
    anyhow::ensure!(
        model.codes() > 0,
        "{}: only models with maxout units or bins have codes, this one is of {}",
        arguments.model.display(),
        model.banks().map(|bank| bank.family().name()).collect::<Vec<_>>().join(", ")
    );
    let width = model.codes();
    let mut out = BufWriter::new(std::io::stdout().lock());
    let codes = |files: &[PathBuf], take: &mut dyn FnMut(&[u16]) -> Result<()>| {
        codes(arguments, &model, &blob, files, take)
    };
    let Some(count) = arguments.nearest else {
        let names: Vec<String> = (0..width).map(|unit| format!("code {unit}")).collect();
        // Data that cannot be read leave no header behind.
        let mut header = Some(names.join(","));
        codes(&arguments.data, &mut |code| {
            if let Some(header) = header.take() {
                failed(writeln!(out, "{header}"))?;
            }
            let entries: Vec<String> = code.iter().map(u16::to_string).collect();
            failed(writeln!(out, "{}", entries.join(",")))
        })?;
        return failed(out.flush());
    };
    let all = |files: &[PathBuf]| -> Result<Vec<u16>> {
        let mut all = Vec::new();
        codes(files, &mut |code| {
            all.extend_from_slice(code);
            Ok(())
        })?;
        Ok(all)
    };
    let mine = all(&arguments.data)?;
    let other = match &arguments.among[..] {
        [] => None,
        files => Some(all(files)?),
    };
    // A row is not one of its own neighbours.
    let rows = match &other {
        Some(other) => other.len() / width,
        None => (mine.len() / width).saturating_sub(1),
    };
    let count = rows.min(count as usize);
    let names: Vec<String> = (1..=count).map(|rank| format!("nearest {rank}")).collect();
    failed(writeln!(out, "{}", names.join(",")))?;
    for (row, code) in mine.chunks_exact(width).enumerate() {
        let found: Vec<String> = match &other {
            Some(other) => nearest(code, other, count),
            None => {
                let mut all = nearest(code, &mine, count + 1);
                all.retain(|&(_, index)| index != row);
                all.truncate(count);
                all
            }
        }
        .into_iter()
        .map(|(distance, index)| format!("{}:{distance}", index + 1))
        .collect();
        failed(writeln!(out, "{}", found.join(",")))?;
    }
    failed(out.flush())
}

/// Hands the codes of all rows of some files to `take`, row after row.
fn codes(
    arguments: &Codes,
    model: &Model<'_>,
    blob: &[u8],
    files: &[PathBuf],
    take: &mut dyn FnMut(&[u16]) -> Result<()>,
) -> Result<()> {
    let mut predictor = predictor(blob).with_context(|| arguments.model.display().to_string())?;
    let schema = schema(&arguments.model, model)?;
    let mut reader = rows_of(&expand(files)?, &schema, &arguments.reading.options())?;
    let (mut row, mut code) = (Vec::new(), vec![0u16; model.codes()]);
    while let Some(line) = reader.next_into(&mut row) {
        line?;
        predictor.codes(&row, &mut code)?;
        take(&code)?;
    }
    out::warnings(&reader.left_out()?);
    Ok(())
}
