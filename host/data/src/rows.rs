//! Rows under a known schema, one at a time: the second pass over training
//! data, and the stream of rows to predict.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::csv::CsvRows;
use super::error::{ColumnLabel, DataError, Place};
use super::files::check_distinct;
use super::idx::{IdxRows, read_labels};
use super::infer::leaves_out;
use super::label_from::LabelFrom;
use super::open::{Container, DataFile, Input, Origin, check_options};
use super::recordings::Windower;
use super::scan::{Field, parse};
use super::schema::{Format, Schema};
use super::svmlight::SvmlightRows;
use super::warning::DataWarning;
use super::{ReadOptions, Task};

/// Reads the rows of a file to be predicted; see [`RowReader`].
///
/// # Errors
///
/// If the file cannot be opened, is empty, is of another format than the
/// schema's, or its columns do not match the schema's.
pub fn rows(
    path: impl AsRef<Path>,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<RowReader<'static>, DataError> {
    rows_of(&[path.as_ref().to_owned()], schema, options)
}

/// Reads the rows of several files, one file after the other, as [`rows`].
///
/// # Errors
///
/// As [`rows`].
pub fn rows_of(
    files: &[PathBuf],
    schema: &Schema,
    options: &ReadOptions,
) -> Result<RowReader<'static>, DataError> {
    check_distinct(files)?;
    RowReader::of_files(DataFile::on_disk(files), schema, options, false)
}

/// Reads rows to be predicted from a stream, which messages call `name`; see
/// [`RowReader`].
///
/// # Errors
///
/// As [`rows`].
pub fn rows_from<'r>(
    stream: impl Read + 'r,
    name: &str,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<RowReader<'r>, DataError> {
    let mut reader = RowReader::empty(name.to_owned(), schema, options, false);
    reader.begin(Input::new(stream, name)?, None)?;
    Ok(reader)
}

/// Rows of inputs under a schema, one at a time and in bounded memory.
///
/// The target may be present or absent; it is not looked at. Columns are matched
/// by name if both the schema and the file have names, otherwise by position,
/// where the target, the dropped columns or both may be absent. Of the options
/// only `header`, `delimiter`, `comment`, `arrays` and `label_from` matter.
///
/// Under a schema with windows each row is a window of consecutive samples of a
/// recording.
///
/// Yields the line of each row (the row's number in files without lines; the
/// line of a window's last sample) and its inputs. After a row that is in error
/// the next can be read; after a failed read there are no more.
pub struct RowReader<'r> {
    rows: Option<Rows<'r>>,
    /// What messages call all files together.
    source: String,
    /// The current file.
    origin: Origin,
    schema: Schema,
    options: ReadOptions,
    want_target: bool,
    /// Files still to come.
    files: VecDeque<DataFile>,
    windower: Option<Windower>,
    sample: Vec<f32>,
    /// The label of the current file, where labels come from there.
    label: Option<String>,
    target: String,
    group: Vec<u8>,
    /// Samples of the current file so far.
    given: u64,
    /// Names of the fields that are kept, and these fields of the last samples that a row may
    /// begin with, oldest first.
    kept_names: Vec<String>,
    kept: VecDeque<Vec<String>>,
    /// All samples, and for each column how many of them hold none of its values, with the first.
    seen: u64,
    /// By column, those that are missing apart.
    unlisted: BTreeMap<(usize, bool), (u64, String)>,
    /// How many rows were left out since they had no target, and where the first one stands.
    without_target: Option<(Place, u64)>,
    ended: bool,
}

enum Rows<'r> {
    Csv(Box<CsvRows<'r>>),
    Svmlight(SvmlightRows<'r>),
    Idx(IdxRows<'r>),
}

impl RowReader<'static> {
    /// The rows of some files, with their targets if they are wanted.
    pub(crate) fn of_files(
        files: Vec<DataFile>,
        schema: &Schema,
        options: &ReadOptions,
        want_target: bool,
    ) -> Result<RowReader<'static>, DataError> {
        let names = files.iter().map(|file| (0, file.path.display().to_string())).collect();
        let source = Origin::several(names).file;
        let mut reader = RowReader::empty(source, schema, options, want_target);
        if let (Format::Idx, [_, second, ..]) = (schema.format, &files[..]) {
            let file = second.path.display().to_string();
            let problem = "idx files are read one at a time".into();
            return Err(DataError::Malformed { file, problem });
        }
        if options.label_from.is_some() && want_target && schema.recordings.label.is_none() {
            let problem =
                "the labels that the model learned are in the data, not in the paths of files";
            return Err(DataError::Contradiction { problem, options: &["label_from"] });
        }
        reader.files.extend(files);
        reader.next_file()?;
        Ok(reader)
    }
}

impl<'r> RowReader<'r> {
    fn empty(
        source: String,
        schema: &Schema,
        options: &ReadOptions,
        want_target: bool,
    ) -> RowReader<'r> {
        RowReader {
            rows: None,
            source,
            origin: Origin::several(Vec::new()),
            windower: schema.recordings.window.map(Windower::new),
            schema: schema.clone(),
            options: options.clone(),
            want_target,
            files: VecDeque::new(),
            sample: Vec::new(),
            label: None,
            target: String::new(),
            group: Vec::new(),
            given: 0,
            kept_names: Vec::new(),
            kept: VecDeque::new(),
            seen: 0,
            unlisted: BTreeMap::new(),
            without_target: None,
            ended: false,
        }
    }

    /// Opens the next file; whether there is one.
    fn next_file(&mut self) -> Result<bool, DataError> {
        let Some(file) = self.files.pop_front() else {
            return Ok(false);
        };
        self.begin(file.open()?, Some(&file.path))?;
        Ok(true)
    }

    fn begin(&mut self, input: Input<'r>, path: Option<&Path>) -> Result<(), DataError> {
        let schema = &self.schema;
        self.origin = input.origin.clone();
        let container = input.container(self.options.comment);
        check_options(&self.origin.file, container, &self.options)?;
        let found = container.format();
        // Svmlight rows without values could be either.
        let either = schema.format == Format::Svmlight
            && container == Container::Text
            && input.text(self.options.comment).is_none();
        if found != schema.format && !either {
            return Err(DataError::Format {
                file: self.origin.file.clone(),
                expected: schema.format.described(),
                found: found.described(),
            });
        }
        let of_columns =
            [("keep", !self.options.keep.is_empty()), ("weights", self.options.weights.is_some())];
        if let (Some(&(option, _)), false) =
            (of_columns.iter().find(|(_, given)| *given), schema.format == Format::Csv)
        {
            let (file, format) = (self.origin.file.clone(), schema.format.described());
            return Err(DataError::OptionNeedsCsv { file, option, format });
        }
        self.rows = Some(match schema.format {
            Format::Csv => {
                let rows = CsvRows::new(input, schema, &self.options, self.want_target)?;
                // Of several files the first one's, which all have.
                if self.kept_names.is_empty() {
                    self.kept_names = rows.kept_names().map(str::to_owned).collect();
                }
                Rows::Csv(Box::new(rows))
            }
            Format::Svmlight => Rows::Svmlight(SvmlightRows::new(input, schema)),
            Format::Idx => {
                let mut rows = IdxRows::new(input)?;
                if rows.inputs() != schema.inputs {
                    return Err(DataError::Inputs {
                        file: self.origin.file.clone(),
                        expected: schema.inputs,
                        found: rows.inputs(),
                    });
                }
                if let Some(path) = path.filter(|_| self.want_target) {
                    rows.set_labels(read_labels(path, &self.options)?)?;
                }
                Rows::Idx(rows)
            }
        });
        let from: Option<&LabelFrom> = schema
            .recordings
            .label
            .as_ref()
            .map(|own| self.options.label_from.as_ref().unwrap_or(own));
        self.label = match (from, path) {
            (Some(from), Some(path)) if self.want_target => Some(from.label(path)?),
            _ => None,
        };
        if let Some(windower) = &mut self.windower {
            windower.restart(&self.group);
        }
        self.given = 0;
        self.group.clear();
        self.group.extend_from_slice(self.origin.file.as_bytes());
        Ok(())
    }

    /// The file that the last row is of, as it was named.
    pub fn file(&self) -> &str {
        &self.origin.file
    }

    /// The number of the last row in its file, from 1; of a window that of its first sample.
    pub fn number(&self) -> u64 {
        (self.given + 1).saturating_sub(self.schema.recordings.samples() as u64)
    }

    /// Names of the columns that [`Self::kept`] has the fields of: those of the file, or else
    /// `column 3`.
    pub fn kept_names(&self) -> &[String] {
        &self.kept_names
    }

    /// The fields that [`ReadOptions::keep`] asks for, of the last row; of a window those of its
    /// first sample.
    pub fn kept(&self) -> &[String] {
        self.kept.front().map_or(&[], Vec::as_slice)
    }

    /// Inputs per row.
    pub fn inputs(&self) -> usize {
        self.schema.inputs
    }

    /// Replaces `row` by the next row's inputs; its line, or `None` at the end.
    /// As the iterator, without a new vector for each row.
    pub fn next_into(&mut self, row: &mut Vec<f32>) -> Option<Result<u64, DataError>> {
        row.clear();
        self.append(row).transpose()
    }

    /// Appends the next row's inputs, all or none.
    pub(crate) fn append(&mut self, out: &mut Vec<f32>) -> Result<Option<u64>, DataError> {
        if self.windower.is_none() {
            return self.next_sample(out);
        }
        let mut sample = std::mem::take(&mut self.sample);
        let line = loop {
            sample.clear();
            match self.next_sample(&mut sample) {
                Ok(Some(line)) => {
                    let target = self.label.as_deref().unwrap_or(&self.target);
                    let filled = matches!(&self.rows, Some(Rows::Csv(rows)) if rows.filled());
                    let Some(windower) = &mut self.windower else { continue };
                    if windower.push(&sample, target, filled) {
                        windower.append_to(out);
                        if self.label.is_none() {
                            let mean = self.schema.task() == Task::Regression;
                            self.target = windower.target(mean);
                        }
                        break Ok(Some(line));
                    }
                }
                Ok(None) => {
                    if let Some(windower) = &mut self.windower {
                        windower.restart(&self.group);
                    }
                    break Ok(None);
                }
                Err(error) => {
                    // Samples around the one that is missing are no window.
                    if let Some(windower) = &mut self.windower {
                        windower.restart(&self.group);
                    }
                    break Err(error);
                }
            }
        };
        self.sample = sample;
        line
    }

    /// Passes over the next row without its inputs and its target.
    pub(crate) fn pass_over(&mut self) -> Result<Option<u64>, DataError> {
        if let (None, false, Some(Rows::Csv(rows))) =
            (&self.windower, self.needs_target(), &mut self.rows)
        {
            let skipped = rows.skip()?;
            if skipped.is_some() {
                self.read_group();
                return Ok(skipped);
            }
        }
        let mut row = Vec::new();
        self.append(&mut row)
    }

    /// Appends the next sample's values, of this file or the next.
    fn next_sample(&mut self, out: &mut Vec<f32>) -> Result<Option<u64>, DataError> {
        loop {
            if self.ended {
                return Ok(None);
            }
            self.target.clear();
            let start = out.len();
            let row = match &mut self.rows {
                Some(Rows::Csv(rows)) => rows.read_row(out, &mut self.target),
                Some(Rows::Svmlight(rows)) => rows.read_row(out, &mut self.target),
                Some(Rows::Idx(rows)) => rows.read_row(out, &mut self.target),
                None => Ok(None),
            };
            match row {
                Ok(Some(line)) if self.needs_target() && self.lacks_target() => {
                    out.truncate(start);
                    self.target.clear();
                    let place = self.target_place(line);
                    self.without_target.get_or_insert((place, 0)).1 += 1;
                }
                Ok(Some(line)) => {
                    self.read_group();
                    self.given += 1;
                    self.seen += 1;
                    self.keep();
                    self.count_unlisted();
                    return Ok(Some(line));
                }
                Ok(None) => match self.next_file() {
                    Ok(true) => {}
                    Ok(false) => {
                        self.ended = true;
                        return Ok(None);
                    }
                    Err(error) => {
                        self.ended = true;
                        return Err(error);
                    }
                },
                Err(error) => {
                    out.truncate(start);
                    self.ended = matches!(
                        error,
                        DataError::Unreadable { .. }
                            | DataError::CorruptGzip { .. }
                            | DataError::LineTooLong { .. }
                            | DataError::Idx { .. }
                            | DataError::Malformed { .. }
                    );
                    return Err(error);
                }
            }
        }
    }

    /// Whether rows without a target are left out.
    fn needs_target(&self) -> bool {
        self.want_target && leaves_out(&self.options, self.schema.recordings.window)
    }

    /// Whether the last sample should have a target and has none.
    fn lacks_target(&self) -> bool {
        !self.schema.unlabelled() && parse(self.target().as_bytes()) == Field::Missing
    }

    /// Notes the fields of the last sample that are kept.
    fn keep(&mut self) {
        if let Some(Rows::Csv(rows)) = &self.rows
            && !self.kept_names.is_empty()
        {
            let text = |field| String::from_utf8_lossy(field).into_owned();
            self.kept.push_back(rows.kept().map(text).collect());
            if self.kept.len() > self.schema.recordings.samples() {
                self.kept.pop_front();
            }
        }
    }

    /// Notes what the last sample has that is none of its column's values.
    fn count_unlisted(&mut self) {
        if let Some(Rows::Csv(rows)) = &self.rows {
            for (column, text) in rows.unlisted() {
                let missing = parse(text) == Field::Missing;
                let text = if missing { &[] } else { text };
                let first = || (0, String::from_utf8_lossy(text).into_owned());
                self.unlisted.entry((column, missing)).or_insert_with(first).0 += 1;
            }
        }
    }

    /// Notes which recording the last sample is of.
    fn read_group(&mut self) {
        if let Some(Rows::Csv(rows)) = &self.rows
            && let Some(group) = rows.group()
            && group != self.group
        {
            if let Some(windower) = &mut self.windower {
                windower.restart(&self.group);
            }
            self.group.clear();
            self.group.extend_from_slice(group);
        }
    }

    /// When all rows are read: what to say of samples that are in no window, of windows in which
    /// most values are missing, of rows without a target, and of texts that the columns do not list.
    ///
    /// # Errors
    ///
    /// If there were samples, and no window of them was complete.
    pub fn left_out(&self) -> Result<Vec<DataWarning>, DataError> {
        let windows = |windower: &Windower| windower.left_out(&self.source);
        let mut warnings = self.windower.as_ref().map_or(Ok(Vec::new()), windows)?;
        if matches!(&self.rows, Some(Rows::Csv(rows)) if rows.by_position()) {
            warnings.push(DataWarning::ByPosition { file: self.source.clone() });
        }
        if let Some(Rows::Csv(rows)) = &self.rows
            && let Some(column) = rows.lacking_group()
        {
            let (file, column) = (self.source.clone(), self.schema.label(column));
            warnings.push(DataWarning::NoGroup { file, column });
        }
        let without_target = self.without_target.clone();
        warnings.extend(without_target.map(|(place, rows)| DataWarning::NoTarget { place, rows }));
        warnings.extend(self.unlisted.iter().map(|(&(column, _), (unlisted, text))| {
            let column = match &self.rows {
                Some(Rows::Csv(rows)) => rows.label(column),
                _ => self.schema.label(column),
            };
            let (file, text) = (self.source.clone(), text.clone());
            DataWarning::Unlisted { file, column, rows: self.seen, unlisted: *unlisted, text }
        }));
        Ok(warnings)
    }

    /// What messages call all files together.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The raw target of the last row, empty where it is missing.
    pub(crate) fn target(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.target)
    }

    /// How much the last row counts, if rows have weights.
    pub(crate) fn weight(&self) -> Option<f32> {
        match &self.rows {
            Some(Rows::Csv(rows)) => rows.weight(),
            _ => None,
        }
    }

    /// What tells the recording of the last row from others: its file, or the
    /// value of a column.
    pub(crate) fn group(&self) -> &[u8] {
        &self.group
    }

    /// The place of the target in the last row.
    pub(crate) fn target_place(&self, line: u64) -> Place {
        match &self.rows {
            Some(Rows::Csv(rows)) if self.label.is_none() => {
                let (field, column) = rows.target().unwrap_or_default();
                let ColumnLabel { name, .. } = rows.label(column);
                let number = field + 1;
                self.origin.at_column(line, ColumnLabel { number, name })
            }
            _ => self.origin.at(line),
        }
    }
}

impl Iterator for RowReader<'_> {
    type Item = Result<(u64, Vec<f32>), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut row = Vec::with_capacity(self.schema.inputs);
        let line = self.next_into(&mut row)?;
        Some(line.map(|line| (line, row)))
    }
}
