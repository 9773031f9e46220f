//! First pass over tables: infers the schema.

mod file;
mod roles;

use std::collections::HashMap;
use std::path::Path;

use self::file::{Scanned, scan};
use self::roles::{Role, Roles};
use super::error::{ColumnLabel, DataError, Place, describe_columns};
use super::label_from::class_each;
use super::no_categories::check_classes;
use super::open::{DataFile, Origin};
use super::recordings::{Recordings, Window};
use super::scan::ColumnScan;
use super::schema::{Column, ColumnKind, Format, Schema, check, width};
use super::warning::DataWarning;
use super::{MAX_INPUTS, Missing, ReadOptions, Task};

/// What the first pass finds.
pub(crate) struct Inferred {
    pub schema: Schema,
    /// Records of all files; windows of them are fewer.
    pub rows: usize,
    /// Whether the first line is a header.
    pub header: bool,
    /// The delimiter of a single file, if it has one; several may have their own.
    pub delimiter: Option<u8>,
}

/// Reads the files once. Numeric columns with missing values have NaN as their
/// stand-in, to be replaced by the median once the values are known.
pub(crate) fn infer(files: &[DataFile], options: &ReadOptions) -> Result<Inferred, DataError> {
    let (mut scanned, labels) = scan_all(files, options)?;
    let roles = Roles::of(&scanned, options)?;
    let scans = std::mem::take(&mut scanned.scans);
    let found = columns_of(&scanned, scans, &roles, options)?;
    let Scanned { origin, rows, header, delimiter, .. } = scanned;
    let Found { columns, mut classes, mut warnings, may_be_categories } = found;
    // A single input may have been gone through in order.
    if width(&columns) == 1 {
        warnings.retain(|warning| !matches!(warning, DataWarning::Rising { .. }));
    }
    if let Some(from) = &options.label_from {
        let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
        warnings.extend(class_each(&paths, from));
        let label = ColumnLabel { number: 0, name: "label".to_string() };
        let task = options.task.or(Some(Task::Classification));
        classes = labels.into_classes(&origin, &label, task, false)?;
    }
    let file = origin.file;
    check(&columns).map_err(|problem| DataError::Schema(format!("{file}: {problem}")))?;
    let samples = options.window.map_or(1, |window| window.samples);
    let inputs = width(&columns).saturating_mul(samples);
    if inputs == 0 {
        return Err(DataError::NoInputs { file });
    }
    if inputs > MAX_INPUTS {
        let problem = format!("windows of {inputs} inputs; at most {MAX_INPUTS} can be read");
        return Err(DataError::Schema(format!("{file}: {problem}")));
    }
    let recordings = Recordings {
        window: options.window,
        group: roles.group,
        label: options.label_from.clone(),
    };
    let table = Schema::new(Format::Csv);
    let schema =
        Schema { columns, inputs, classes, recordings, warnings, may_be_categories, ..table };
    let delimiter = delimiter.filter(|_| files.len() == 1);
    Ok(Inferred { schema, rows, header, delimiter })
}

/// All files as one after the first pass over them, and the labels that their paths give.
fn scan_all(files: &[DataFile], options: &ReadOptions) -> Result<(Scanned, ColumnScan), DataError> {
    let mut whole: Option<Scanned> = None;
    let mut parts = Vec::new();
    let mut labels = ColumnScan::default();
    for file in files {
        let before = whole.as_ref().map_or(0, |whole| whole.last);
        let mut next = scan(file, options, before)?;
        parts.push((before, next.origin.file.clone()));
        if let Some(from) = &options.label_from {
            let label = from.label(&file.path)?;
            (0..next.rows).for_each(|_| labels.add(before + 1, label.as_bytes()));
        }
        if let Some(whole) = &whole {
            next.check_like(whole)?;
            for (scan, earlier) in next.scans.iter_mut().zip(&whole.scans) {
                scan.merge(earlier);
            }
            next.rows += whole.rows;
            next.blank = whole.blank.or(next.blank);
        }
        whole = Some(next);
    }
    let whole = whole.ok_or_else(|| DataError::NoRows { file: String::new() })?;
    Ok((Scanned { origin: Origin::several(parts), ..whole }, labels))
}

/// What becomes of the columns of a table.
#[derive(Default)]
struct Found {
    columns: Vec<Column>,
    /// Of the target; none of numbers.
    classes: Vec<String>,
    warnings: Vec<DataWarning>,
    /// Numbers of columns, from 0.
    may_be_categories: Vec<usize>,
}

/// What becomes of each column; what is wrong with several is told together.
fn columns_of(
    scanned: &Scanned,
    scans: Vec<ColumnScan>,
    roles: &Roles,
    options: &ReadOptions,
) -> Result<Found, DataError> {
    let Scanned { origin, names, known, .. } = scanned;
    let index = known.as_ref().map_or(&[][..], |known| &known.index);
    let told = index.iter().filter(|column| !options.drop.contains(&column.name)).cloned();
    let file = || origin.file.clone();
    let mut found = Found::default();
    found.warnings.extend(told.map(|column| DataWarning::Index { file: file(), column }));
    found.warnings.extend(totals(&scans, |line| origin.at(line), scanned.last));
    let (mut refused, mut nothing) = (Vec::new(), Vec::new());
    for (index, (name, scan)) in names.iter().zip(scans).enumerate() {
        let label = ColumnLabel { number: index + 1, name: name.clone() };
        let stated = known.as_ref().is_some_and(|known| known.text[index]);
        let as_text = stated || roles.is_text(index);
        let kind = match roles.of_column(index, names.len(), &scan) {
            Role::Target => found.target(scan, as_text, scanned, &label, options),
            Role::Input => found.input(scan, as_text, origin, &label, options),
            Role::RowNumbers => {
                found.warnings.push(DataWarning::Index { file: file(), column: label });
                Ok(ColumnKind::Dropped)
            }
            Role::Nothing => {
                nothing.push(label);
                Ok(ColumnKind::Dropped)
            }
            Role::Group => match scan.first_missing {
                Some(line) => Err(DataError::MissingGroup { place: origin.at_column(line, label) }),
                None => Ok(ColumnKind::Dropped),
            },
            Role::Unused => Ok(ColumnKind::Dropped),
        };
        match kind.map_err(|error| missing(error, scanned, options)) {
            Ok(kind) => found.columns.push(Column { name: name.clone(), kind }),
            Err(line @ DataError::EmptyLine { .. }) => return Err(line),
            Err(error) => refused.push(error),
        }
    }
    DataError::of_columns(refused)?;
    found.warnings.extend(DataWarning::of_nothing(&origin.file, nothing));
    Ok(found)
}

impl Found {
    /// What becomes of the target, and its classes.
    fn target(
        &mut self,
        scan: ColumnScan,
        as_text: bool,
        scanned: &Scanned,
        label: &ColumnLabel,
        options: &ReadOptions,
    ) -> Result<ColumnKind, DataError> {
        let origin = &scanned.origin;
        if !as_text && options.task != Some(Task::Regression) {
            scan.check_commas(origin, label)?;
        }
        self.warnings.extend(scan.warning(origin, label).filter(|_| !as_text));
        let far = scan.far_away(origin, label);
        let first_text = scan.first_text.clone();
        let numbers = scan.numbers;
        self.classes = scan.into_classes(origin, label, options.task, as_text)?;
        if !as_text && options.positive.is_none() && options.task.is_none() {
            let text = first_text.map(|(line, text)| (origin.at_column(line, label.clone()), text));
            check_classes(&self.classes, scanned.rows, numbers, text, &origin.file, label)?;
        }
        let far = far.filter(|_| self.classes.is_empty());
        self.warnings.extend(far.map(DataWarning::of_target));
        self.warnings.extend(DataWarning::of_classes(&origin.file, label, &self.classes));
        Ok(ColumnKind::Target)
    }

    /// What becomes of an input.
    fn input(
        &mut self,
        scan: ColumnScan,
        as_text: bool,
        origin: &Origin,
        label: &ColumnLabel,
        options: &ReadOptions,
    ) -> Result<ColumnKind, DataError> {
        let warning = scan.warning(origin, label).filter(|_| !as_text);
        let far = scan.far_away(origin, label).filter(|_| !as_text);
        let unit = scan.unit(origin, label).filter(|_| !as_text);
        self.warnings.extend(scan.ordered(origin, label).filter(|_| !as_text));
        if !as_text && options.window.is_none() && scan.may_be_categories() {
            self.may_be_categories.push(label.number - 1);
        }
        let written = if as_text { None } else { scan.check_written(origin, label)? };
        let warning = written.or(warning);
        let kind = input_kind(origin, label, scan, options.missing, as_text)?;
        self.warnings.extend(warning.into_iter().chain(far).chain(unit));
        Ok(kind)
    }
}

/// A missing value, of a line without any or of a target that nobody named.
fn missing(error: DataError, scanned: &Scanned, options: &ReadOptions) -> DataError {
    let blank = scanned.blank.map(|line| scanned.origin.at(line));
    let is_blank = |place: &Place| Some(Place { column: None, ..place.clone() }) == blank;
    let targets = scanned.known.as_ref().map_or(0, |known| known.targets);
    match error {
        DataError::MissingValue { place, .. }
        | DataError::TargetMissing { place }
        | DataError::MissingGroup { place }
            if is_blank(&place) =>
        {
            DataError::EmptyLine { place: Place { column: None, ..place } }
        }
        DataError::TargetMissing { place } if options.target.is_none() && targets == 0 => {
            DataError::LastMissing { place }
        }
        other => other,
    }
}

/// The names of a file's columns.
pub(crate) fn names(file: &DataFile, options: &ReadOptions) -> Result<Vec<String>, DataError> {
    Ok(scan(file, options, 0)?.names)
}

/// What to say of a last line that is far larger than the others in most columns of numbers, two at
/// least.
fn totals(scans: &[ColumnScan], at: impl Fn(u64) -> Place, last: u64) -> Option<DataWarning> {
    let numbers = scans.iter().filter(|scan| scan.is_numeric()).count();
    let columns = scans.iter().filter(|scan| scan.towering() == Some(last)).count();
    let most = columns >= 2 && 2 * columns > numbers;
    most.then(|| DataWarning::Totals { place: at(last), columns })
}

fn input_kind(
    origin: &Origin,
    label: &ColumnLabel,
    scan: ColumnScan,
    missing: Missing,
    as_text: bool,
) -> Result<ColumnKind, DataError> {
    scan.check_utf8(origin, label)?;
    if scan.is_empty() {
        return Err(DataError::NoValues { file: origin.file.clone(), column: label.clone() });
    }
    if scan.is_numeric() && !as_text {
        scan.check_range(origin, label)?;
    } else if !as_text {
        scan.check_commas(origin, label)?;
        scan.check_slips(origin, label)?;
        scan.check_texts(origin, label)?;
    }
    if let (Some(line), Missing::Refuse) = (scan.first_missing, missing) {
        return Err(DataError::MissingValue {
            place: origin.at_column(line, label.clone()),
            training: true,
        });
    }
    if scan.is_numeric() && !as_text {
        let missing = scan.first_missing.map(|_| f32::NAN);
        return Ok(ColumnKind::Numeric { missing });
    }
    let values = match scan.is_numeric() {
        true => scan.into_names(origin, label)?,
        false => scan.into_values(origin, label, false)?,
    };
    Ok(ColumnKind::Text { values })
}

/// Refuses names that more than one column has.
pub(crate) fn check_names(origin: &Origin, names: &[String]) -> Result<(), DataError> {
    let mut known = HashMap::new();
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = known.insert(name, index + 1) {
            let (file, name) = (origin.file.clone(), name.clone());
            return Err(DataError::SameName { file, name, first, second: index + 1 });
        }
    }
    Ok(())
}

/// Whether rows without a target, which are no windows, are left out.
pub(crate) fn leaves_out(options: &ReadOptions, window: Option<Window>) -> bool {
    options.missing == Missing::Impute && window.is_none()
}

/// The column of that number, from 1, or from -1 for the last.
pub(super) fn numbered(wanted: &str, columns: usize) -> Option<usize> {
    let index = match wanted.parse::<isize>().ok()? {
        0 => None,
        number @ 1.. => usize::try_from(number - 1).ok(),
        number => columns.checked_sub(number.unsigned_abs()),
    };
    index.filter(|&index| index < columns)
}

/// The column of that name, or of that number; fails where these are two columns.
pub(super) fn find(origin: &Origin, wanted: &str, names: &[String]) -> Result<usize, DataError> {
    let named = names.iter().position(|name| name == wanted);
    match (numbered(wanted, names.len()), named) {
        (Some(index), Some(named)) if index != named => Err(DataError::NumberOrName {
            file: origin.file.clone(),
            wanted: wanted.to_owned(),
            numbered: index + 1,
            named: named + 1,
            columns: names.len(),
        }),
        (Some(index), _) | (None, Some(index)) => Ok(index),
        (None, None) => Err(DataError::NoColumn {
            file: origin.file.clone(),
            wanted: wanted.to_string(),
            columns: describe_columns(wanted, names),
        }),
    }
}
