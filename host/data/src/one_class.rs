//! Columns and files that name recordings: each text, number or file comes with one class only.

use super::schema::{ColumnKind, Schema};
use super::table::{Division, Table, Target};
use super::warning::DataWarning;

/// Values more than classes have, as a factor and in all, from which they are more than names of
/// the classes.
const TIMES: usize = 2;
const MORE: usize = 5;
/// Rows of each value on average, at least.
const ROWS: usize = 5;
/// Logarithm of the chance up to which it is none that all rows of each value are of one class.
const CHANCE: f64 = -20.0;
/// Rows that are looked at first.
const FIRST: usize = 4096;
/// How often the class is another one at the next number, at least, as a share of how often it
/// would be if numbers had classes by chance: of numbers that measure something it seldom is.
const CHANGES: f64 = 0.5;

/// The rows of a recording: their class, and in how many runs they come.
#[derive(Clone, Copy)]
struct Recording {
    class: u32,
    rows: i32,
    runs: usize,
}

/// Finds what comes with one class only.
struct OneClass<'t> {
    table: &'t Table,
    labels: &'t [u32],
    /// Part of the rows that each class has.
    shares: Vec<f64>,
}

/// What to say of input columns of `table` and of its files, which begin at the rows `starts`,
/// whose values each come with one class only.
pub(crate) fn recordings(table: &Table, file: &str, starts: &[usize]) -> Vec<DataWarning> {
    let Target::Classes { labels } = &table.target else { return Vec::new() };
    // Of a window its first sample is looked at, whose values come first.
    let Schema { columns, classes, .. } = &table.schema;
    if table.division != Division::Free {
        return Vec::new();
    }
    let mut shares = vec![0.0; classes.len()];
    labels.iter().for_each(|&label| shares[label as usize] += 1.0 / labels.len() as f64);
    let of = OneClass { table, labels, shares };
    let mut warnings = Vec::new();
    let mut first = 0;
    for (index, column) in columns.iter().enumerate() {
        let (start, values) = (first, column.inputs());
        first += values;
        let label = || (file.to_owned(), table.schema.label(index));
        match column.kind {
            ColumnKind::Text { .. } if of.texts(start, values) => {
                let (file, column) = label();
                warnings.push(DataWarning::OneClassEach { file, column, values });
            }
            ColumnKind::Numeric { .. } => {
                if let Some(values) = of.numbers(start) {
                    let (file, column) = label();
                    warnings.push(DataWarning::OneClassEach { file, column, values });
                }
            }
            _ => {}
        }
    }
    if of.files(starts) {
        let (file, files) = (file.to_owned(), starts.len());
        warnings.push(DataWarning::OneClassEachFile { file, files });
    }
    warnings
}

impl OneClass<'_> {
    /// Whether so many values are more than names of the classes, and have rows enough.
    fn are_many(&self, values: usize) -> bool {
        let classes = self.shares.len();
        values >= (TIMES * classes).max(classes + MORE) && self.table.rows() >= ROWS * values
    }

    /// The rows of each value, in the order of the values, which are none where a row counts for
    /// nothing; none if any value has rows of several classes, or if there are more than `most`.
    fn found(&self, most: usize, value: &dyn Fn(usize) -> Option<u32>) -> Option<Vec<Recording>> {
        let mut found = Vec::new();
        // Most columns are measured, as a few rows tell.
        for rows in [self.labels.len().min(FIRST), self.labels.len()] {
            let place = |row: usize| Some((u64::from(value(row)?) << 32) | row as u64);
            let mut places: Vec<u64> = (0..rows).filter_map(place).collect();
            places.sort_unstable();
            found.clear();
            for part in places.chunk_by(|a, b| a >> 32 == b >> 32) {
                let class_of = |place: &u64| self.labels[*place as u32 as usize];
                let class = class_of(&part[0]);
                if found.len() == most || part.iter().any(|place| class_of(place) != class) {
                    return None;
                }
                let runs = 1 + part.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
                found.push(Recording { class, rows: part.len() as i32, runs });
            }
        }
        Some(found)
    }

    /// Whether it is no chance that all rows of each are of one class.
    fn is_no_chance(&self, recordings: &[Recording]) -> bool {
        let of_one =
            |its: &Recording| self.shares.iter().map(|share| share.powi(its.rows)).sum::<f64>();
        recordings.iter().map(|its| of_one(its).ln()).sum::<f64>() < CHANCE
    }

    /// A column of texts, which has an input for each.
    fn texts(&self, start: usize, values: usize) -> bool {
        let text = |row: usize| {
            let inputs = &self.table.row(row)[start..start + values];
            inputs.iter().position(|&input| input == 1.0).map(|text| text as u32)
        };
        let found = self.are_many(values).then(|| self.found(values, &text)).flatten();
        found.is_some_and(|found| self.is_no_chance(&found))
    }

    /// How many numbers a column has that name recordings: whole ones, each of which comes in one
    /// run of rows, or which have their classes in no order.
    fn numbers(&self, start: usize) -> Option<usize> {
        let most = self.table.rows() / ROWS;
        let number = |row: usize| self.table.row(row)[start];
        // Of a table with fewer rows nothing is said.
        if !self.are_many(1 + self.shares.len() * TIMES + MORE)
            || !(0..self.table.rows()).all(|row| number(row).fract() == 0.0)
        {
            return None;
        }
        // Bits in the order of the numbers, the negative ones first.
        let order = |number: f32| match (number + 0.0).to_bits() {
            bits if bits >> 31 == 1 => !bits,
            bits => bits | 1 << 31,
        };
        let all = self.found(most, &|row| Some(order(number(row))))?;
        let changes = all.windows(2).filter(|pair| pair[0].class != pair[1].class).count() as f64;
        let by_chance = 1.0 - self.shares.iter().map(|share| share * share).sum::<f64>();
        let in_runs = all.iter().all(|its| its.runs == 1);
        let names = in_runs || changes >= CHANGES * by_chance * (all.len() as f64 - 1.0);
        (names && self.are_many(all.len()) && self.is_no_chance(&all)).then_some(all.len())
    }

    /// Whether files that begin at these rows are recordings: two or more of each class.
    fn files(&self, starts: &[usize]) -> bool {
        let files = starts.len();
        if files < TIMES * self.shares.len() || self.table.rows() < ROWS * files {
            return false;
        }
        let file = |row: usize| Some(starts.partition_point(|&start| start <= row) as u32);
        self.found(files, &file).is_some_and(|found| self.is_no_chance(&found))
    }
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
        of_text(&text, &options)
    }

    fn of_text(text: &str, options: &ReadOptions) -> Vec<String> {
        let table = read_bytes("t.csv", text.as_bytes(), options).unwrap();
        table.schema.warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn texts_that_name_recordings_are_told() {
        // Of 12 recordings of 20 rows each the class is that of the recording.
        let recording = |at: usize| (at / 20, at / 20 % 3);
        assert_eq!(
            told(recording, 240, None),
            [
                "t.csv: each of the 12 values of column 1 (`file`) comes with one class only: if its \
              rows are of one recording, the error is too good: make the column the groups of the \
              rows (`--group`, or `groups` in Python), which are kept together, or leave it out"
            ]
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

    #[test]
    fn numbers_that_name_recordings_are_told() {
        let told = |number: fn(usize) -> (f64, usize), rows: usize, mixed: bool| {
            let line = |at: usize| {
                let at = if mixed { at * 7919 % rows } else { at };
                let (number, class) = number(at);
                format!("{number},{},c{class}\n", at * 31 % 101)
            };
            let text = format!("machine,x,y\n{}", (0..rows).map(line).collect::<String>());
            of_text(&text, &ReadOptions::default())
        };
        let recording = |at: usize| ((at / 20) as f64, at / 20 % 3);
        let words = [
            "t.csv: each of the 12 values of column 1 (`machine`) comes with one class only: if its \
             rows are of one recording, the error is too good: make the column the groups of the \
             rows (`--group`, or `groups` in Python), which are kept together, or leave it out",
        ];
        assert_eq!(told(recording, 240, false), words);
        assert_eq!(told(recording, 240, true), words);
        // In the order of their classes they may be measured, but for rows in runs.
        let ordered = |at: usize| ((at / 20) as f64, at / 80);
        assert_eq!(told(ordered, 240, false), words);
        assert!(told(ordered, 240, true).is_empty());
        // Fractions, one row of another class, few rows of each number.
        assert!(told(|at| ((at / 20) as f64 + 0.5, at / 20 % 3), 240, false).is_empty());
        assert!(told(|at| ((at / 20) as f64, (at + 1) / 20 % 3), 240, false).is_empty());
        assert!(told(|at| ((at / 4) as f64, at / 4 % 3), 240, false).is_empty());
    }

    #[test]
    fn files_that_are_recordings_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let told = |classes: &[&str], group: Option<&str>| {
            let paths: Vec<_> = (0..classes.len())
                .map(|file| {
                    let row = |at: usize| format!("{},{}\n", at * 31 % 101, classes[file]);
                    let text = format!("x,y\n{}", (0..20).map(row).collect::<String>());
                    let path = folder.path().join(format!("{file}.csv"));
                    std::fs::write(&path, text).unwrap();
                    path
                })
                .collect();
            let group = group.map(str::to_owned);
            let table = crate::read_all(&paths, &ReadOptions { group, ..Default::default() });
            table.unwrap().schema.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let [words] = &told(&["on", "off", "on", "off"], None)[..] else { panic!("one warning") };
        assert!(words.contains("each of the 4 files has rows of one class only"), "{words}");
        assert!(told(&["on", "off", "on", "off"], Some("file")).is_empty());
        assert!(told(&["on", "off", "on"], None).is_empty(), "nothing to leave out");
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
