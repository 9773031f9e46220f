//! Columns of texts that name recordings: each text comes with one class only.

use super::schema::{ColumnKind, Schema};
use super::table::{Division, Table, Target};
use super::warning::DataWarning;

/// Texts more than classes have, as a factor and in all, from which they are more than names of the
/// classes.
const TIMES: usize = 2;
const MORE: usize = 5;
/// Rows of each text on average, at least.
const ROWS: usize = 5;
/// Logarithm of the chance up to which it is none that all rows of each text are of one class.
const CHANCE: f64 = -20.0;

/// What to say of input columns of `table` whose texts each come with one class only.
pub(crate) fn recordings(table: &Table, file: &str) -> Vec<DataWarning> {
    let Target::Classes { labels } = &table.target else { return Vec::new() };
    if table.division != Division::Free || table.schema.recordings.window.is_some() {
        return Vec::new();
    }
    let Schema { columns, classes, .. } = &table.schema;
    let mut shares = vec![0.0; classes.len()];
    labels.iter().for_each(|&label| shares[label as usize] += 1.0 / labels.len() as f64);
    let mut warnings = Vec::new();
    let mut first = 0;
    for (index, column) in columns.iter().enumerate() {
        let (start, values) = (first, column.inputs());
        first += values;
        let many = values >= (TIMES * classes.len()).max(classes.len() + MORE)
            && table.rows() >= ROWS * values;
        if !matches!(column.kind, ColumnKind::Text { .. }) || !many {
            continue;
        }
        // Of each text its class and its rows.
        let mut found = vec![None; values];
        let pure = (0..table.rows()).all(|row| {
            let inputs = &table.row(row)[start..start + values];
            let Some(text) = inputs.iter().position(|&input| input == 1.0) else { return true };
            let (class, rows) = found[text].get_or_insert((labels[row], 0));
            *rows += 1;
            *class == labels[row]
        });
        // That each text is of some class by chance.
        let of_text = |&(_, rows): &(u32, i32)| {
            shares.iter().map(|share: &f64| share.powi(rows)).sum::<f64>().ln()
        };
        let chance: f64 = found.iter().flatten().map(of_text).sum();
        if pure && chance < CHANCE {
            let (file, column) = (file.to_owned(), table.schema.label(index));
            warnings.push(DataWarning::OneClassEach { file, column, values });
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use crate::{DataWarning, ReadOptions, TableBuilder, read_bytes};

    /// Warnings of a table whose rows have these texts and classes.
    fn told(
        row: impl Fn(usize) -> (usize, usize),
        rows: usize,
        group: Option<&str>,
    ) -> Vec<String> {
        let line = |at: usize| {
            let (text, class) = row(at);
            format!("r{text},{},c{class}\n", at * 7919 % 101)
        };
        let text = format!("file,x,y\n{}", (0..rows).map(line).collect::<String>());
        let options = ReadOptions { group: group.map(str::to_owned), ..ReadOptions::default() };
        let table = read_bytes("t.csv", text.into_bytes(), &options).unwrap();
        table.schema.warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn texts_that_name_recordings_are_told() {
        // Of 12 recordings of 20 rows each the class is that of the recording.
        let recording = |at: usize| (at / 20, at / 20 % 3);
        assert_eq!(
            told(recording, 240, None),
            ["t.csv: each of the 12 texts of column 1 (`file`) comes with one class only: if its \
              rows are of one recording, the error is too good: make the column the groups of the \
              rows, which are kept together, or leave it out"]
        );
        assert!(told(recording, 240, Some("file")).is_empty());
        // One row of another class, hardly more texts than classes, few rows of each text.
        assert!(told(|at| (at / 20, if at == 30 { 0 } else { at / 20 % 3 }), 240, None).is_empty());
        assert!(told(|at| (at / 20 % 4, at / 20 % 4 % 3), 240, None).is_empty());
        assert!(told(|at| (at / 4, at / 4 % 3), 240, None).is_empty());
        // Nearly all rows are of one class anyway.
        let rare = |at: usize| (at % 48, usize::from(at % 48 == 7));
        assert!(told(rare, 240, None).is_empty());
    }

    /// Python makes its tables in memory.
    #[test]
    fn texts_that_name_recordings_are_told_in_memory() {
        let files: Vec<String> = (0..240).map(|at| format!("r{}", at / 20)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let numbers: Vec<f64> = (0..240).map(|at| f64::from(at * 7919 % 101)).collect();
        let classes: Vec<i64> = (0..240).map(|at| at / 20 % 3).collect();
        let table = TableBuilder::new(240)
            .column("x", &numbers[..])
            .column("file", &files[..])
            .classes("y", &classes[..])
            .build()
            .unwrap();
        let told = |warning: &DataWarning| matches!(warning, DataWarning::OneClassEach { .. });
        assert!(table.schema.warnings.iter().any(told), "{:?}", table.schema.warnings);
    }
}
