//! The tables to train and to test on.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result};
use koan_data::{
    ColumnKind, ColumnLabel, DataError, DataWarning, Division, Part, ReadOptions, Shape, SplitSize,
    Table, Target, check_known, copies, expand, read_all, read_test, split_table, twins,
};
use koan_trainer::MapKind;

use crate::arguments::Source;
use crate::output::{counted, task_name};

/// Part of the rows for the test.
pub const TEST_FRACTION: f64 = 0.2;
/// Rows to train and test on, at least: of fewer hardly any is left for either.
const FEWEST_ROWS: usize = 10;
/// Classes of a model, at most.
const CLASSES: usize = 255;
/// Files of each class for files to be recordings if nothing is said: one to train on, one to
/// choose by, one to test on.
const FILES: usize = 3;
/// What is said where files are recordings though nothing was said.
pub const BY_FILE: &str =
    "Each file is a recording, as with `--group file`; `--group COLUMN` tells others apart.";

/// What is read, for messages.
pub fn name(files: &[PathBuf]) -> String {
    match files {
        [] => String::new(),
        [file] => file.display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
    }
}

/// Whether windows are of several files, and nothing says what tells recordings apart.
pub fn needs_groups(source: &Source, files: &[PathBuf]) -> bool {
    are_mixed(source) && files.len() > 1
}

/// Whether rows are windows, and nothing says what tells recordings apart.
pub fn are_mixed(source: &Source) -> bool {
    source.window.is_some() && source.group.is_none()
}

/// What to say of windows of a file that splits divide.
pub fn ungrouped(files: &[PathBuf]) -> DataWarning {
    DataWarning::Ungrouped { file: name(files) }
}

/// Files to test on, if their options are such as they know.
pub fn test_files(source: &Source) -> Result<Vec<PathBuf>> {
    known_tests(&source.test, &source.test_options(), &source.test_arrays)
}

/// The same, with the options to read them by; `arrays` are those of test files alone.
pub fn known_tests(
    test: &[PathBuf],
    options: &ReadOptions,
    arrays: &[String],
) -> Result<Vec<PathBuf>> {
    let files = expand(test)?;
    check_known(&files, options).map_err(|error| match error {
        DataError::OptionNeeds { file, option, needs, format } => {
            let option = match option {
                "labels" => "test-labels",
                "arrays" if !arrays.is_empty() => "test-arrays",
                other => other,
            };
            DataError::OptionNeeds { file, option, needs, format }
        }
        other => other,
    })?;
    Ok(files)
}

/// Refuses more golden rows than there are rows to train on.
pub fn check_golden_rows(asked: usize, train: &Table) -> Result<()> {
    let rows = train.rows();
    anyhow::ensure!(
        asked <= rows,
        "--golden-rows {asked}: from 0 to {rows}, as many as there are to train on"
    );
    Ok(())
}

/// What is wrong, with the golden rows where no model is small enough: they are a part of each.
pub fn golden(error: koan_trainer::Error, rows: usize) -> koan_trainer::Error {
    match error {
        koan_trainer::Error::Parameter { name: name @ ("flash" | "limits"), problem }
            if rows > 0 =>
        {
            let problem = format!("{problem}; --golden-rows {rows} are in every model, too");
            koan_trainer::Error::Parameter { name, problem }
        }
        other => other,
    }
}

/// All rows of the training data. Windows of a file are like each other: where each class is in
/// enough files, these are the recordings unless something else is said.
pub fn table(source: &Source, files: &[PathBuf]) -> Result<Table> {
    let mut table = with_recordings(source, files)?;
    check_classes(source, files, &table)?;
    table.schema.warnings.extend(copied(source, files)?);
    Ok(table)
}

/// Refuses more classes than models have.
fn check_classes(source: &Source, files: &[PathBuf], table: &Table) -> Result<()> {
    let columns = &table.schema.columns;
    let target = columns.iter().position(|column| column.kind == ColumnKind::Target);
    if let Some(index) = target
        && source.has_target()
        && table.schema.classes.len() > CLASSES
    {
        let column = ColumnLabel { number: index + 1, name: columns[index].name.clone() };
        let (file, limit, target) = (name(files), CLASSES, true);
        return Err(DataError::TooManyValues { file, column, limit, target }.into());
    }
    Ok(())
}

/// What to say of files to train on or to test on that are copies of others.
pub fn copied(source: &Source, files: &[PathBuf]) -> Result<Option<DataWarning>> {
    let mut all = files.to_vec();
    all.extend(expand(&source.test)?);
    Ok(copies(&all))
}

fn with_recordings(source: &Source, files: &[PathBuf]) -> Result<Table> {
    let options = source.read_options();
    let told = |mut table: Table| {
        let mixed = are_mixed(source) && source.test.is_empty();
        table.schema.warnings.extend(mixed.then(|| ungrouped(files)));
        table
    };
    if !needs_groups(source, files) {
        return Ok(told(read_all(files, &options)?));
    }
    let by_file = ReadOptions { group: Some("file".into()), ..options.clone() };
    let table = read_all(files, &by_file)?;
    if groups_of_rarest(&table) >= FILES {
        return Ok(table);
    }
    Ok(told(read_all(files, &options)?))
}

/// The table, told what a row of it is where somebody says so; a map for each channel needs some.
pub fn shaped(mut table: Table, shape: Option<Shape>, map: Option<MapKind>) -> Result<Table> {
    if let Some(shape) = shape {
        anyhow::ensure!(
            shape.inputs() == table.inputs,
            "--shape {shape}: such rows have {}, the data have {}",
            counted(shape.inputs(), "input"),
            table.inputs
        );
        table.schema.image = Some(shape);
    }
    anyhow::ensure!(
        map != Some(MapKind::PerChannel) || table.schema.shape().is_some(),
        "--map per-channel is for rows that have channels: windows, images, or those of --shape"
    );
    Ok(table)
}

/// How many groups the class is in that is in the fewest, of those that have rows; of numbers,
/// all groups.
fn groups_of_rarest(table: &Table) -> usize {
    let Division::Groups(groups) = &table.division else { return 0 };
    let mut of_class = vec![BTreeSet::new(); table.schema.classes.len().max(1)];
    for (row, group) in groups.iter().enumerate() {
        let class = match &table.target {
            Target::Classes { labels } => labels[row] as usize,
            Target::Values(_) => 0,
        };
        of_class[class].insert(group);
    }
    of_class.iter().map(BTreeSet::len).filter(|&groups| groups > 0).min().unwrap_or(0)
}

/// Training and test table.
pub fn tables(
    source: &Source,
    files: &[PathBuf],
    shape: Option<Shape>,
    map: Option<MapKind>,
) -> Result<(Table, Table)> {
    let test = test_files(source)?;
    let mut table = shaped(table(source, files)?, shape, map)?;
    if !test.is_empty() {
        let told = table.schema.warnings.len();
        let paths = test;
        let test = read_test(&paths, &mut table, &source.test_options())?;
        // What was said of the training rows, then what is to be said of these.
        table.schema.warnings.extend(test.schema.warnings.iter().skip(told).cloned());
        table.schema.warnings.extend(twins(&table, &test, &name(&paths)));
        return Ok((table, test));
    }
    let (mut train, test) =
        divided(table, source.train_rows, source.test_fraction, source.seed, files)?;
    train.schema.warnings.extend(twins(&train, &test, &name(files)));
    Ok((train, test))
}

/// The rows to train on and those to test on, of the files: their own parts, if they have some and
/// no other split is asked for.
pub fn divided(
    mut table: Table,
    train_rows: Option<usize>,
    test_fraction: Option<f64>,
    seed: u64,
    files: &[PathBuf],
) -> Result<(Table, Table)> {
    let own = train_rows.is_none() && test_fraction.is_none();
    let (train_rows, test_rows) = match &table.division {
        Division::Parts(parts) if own => {
            (0..table.rows()).partition(|&row| parts[row] != Part::Test)
        }
        division => {
            // Another split than the file's own was asked for.
            if matches!(division, Division::Parts(_)) {
                table.division = Division::Free;
            }
            let size = match train_rows {
                Some(rows) => SplitSize::TrainRows(rows),
                None => SplitSize::TestFraction(test_fraction.unwrap_or(TEST_FRACTION)),
            };
            split_table(&table, size, seed).with_context(|| name(files))?
        }
    };
    anyhow::ensure!(
        !test_rows.is_empty() || table.rows() >= FEWEST_ROWS,
        "{}: {} are too few to train a model on and to test it: there have to be some {FEWEST_ROWS} at least",
        name(files),
        counted(table.rows(), "row")
    );
    anyhow::ensure!(
        !test_rows.is_empty(),
        "{}: no rows are left for the test ({} task, {} rows); `koan train --folds 5` \
         cross-validates and trains on all rows, `--test FILE` names test rows",
        name(files),
        task_name(table.schema.task()),
        table.rows()
    );
    Ok((table.select(&train_rows), table.select(&test_rows)))
}
