//! First pass over tables: infers the schema.

mod file;

use std::collections::HashMap;

use self::file::{Scanned, scan};
use super::error::{ColumnLabel, DataError, Place, describe_columns};
use super::no_categories::check_classes;
use super::open::{DataFile, Origin};
use super::recordings::{GroupBy, Recordings, Window};
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
    let Some(Scanned { names, scans, known, rows, header, delimiter, blank, last, .. }) = whole
    else {
        return Err(DataError::NoRows { file: String::new() });
    };
    let origin = Origin::several(parts);
    let file = || origin.file.clone();

    let find = |wanted: &String| find(&origin, wanted, &names);
    let targets = known.as_ref().map_or(0, |known| known.targets);
    // What delimiters at the end of each line make.
    let is_nothing = |&index: &usize| names[index].is_empty() && scans[index].is_empty();
    let trailing = (1..names.len()).rev().take_while(is_nothing).count();
    let used = names.len() - if known.is_none() { trailing } else { 0 };
    // A value that is missing in a line without any.
    let blank = blank.map(|line| origin.at(line));
    let is_blank = |place: &Place| Some(Place { column: None, ..place.clone() }) == blank;
    let missing = |error| match error {
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
    };
    let target = match (&options.target, &options.label_from) {
        (Some(wanted), None) => Some(find(wanted)?),
        (None, None) if options.unlabelled && targets == 0 => None,
        (None, None) => Some(used - 1),
        (None, Some(_)) => None,
        (Some(_), Some(_)) => {
            let problem = "the target is a column or comes from the path, not both";
            return Err(DataError::Contradiction { problem, options: &["target", "label_from"] });
        }
    };
    let index = known.as_ref().map_or(&[][..], |known| &known.index);
    let is_index = |name: &String| index.iter().any(|column| column.name == *name);
    let dropped = options.drop.iter().filter(|name| !is_index(name));
    let dropped: Vec<usize> = dropped.map(find).collect::<Result<_, _>>()?;
    if target.is_some_and(|target| dropped.contains(&target)) {
        let problem = "the target, which is the last column if none is named, cannot be left out";
        return Err(DataError::Contradiction { problem, options: &["target", "drop"] });
    }
    let texts: Vec<usize> = options.text.iter().map(find).collect::<Result<_, _>>()?;
    let group = match &options.group {
        None => None,
        Some(wanted) => Some(match find(wanted) {
            Ok(column) => GroupBy::Column(column),
            Err(_) if wanted == "file" => GroupBy::File,
            Err(error) => return Err(error),
        }),
    };
    if target.is_some_and(|target| group == Some(GroupBy::Column(target))) {
        let problem = "the target cannot be what tells recordings apart as well";
        return Err(DataError::Contradiction { problem, options: &["target", "group"] });
    }
    let weights = options.weights.as_ref().map(find).transpose()?;
    if weights.is_some() && weights == target {
        let problem = "the target cannot be the rows' weights as well";
        return Err(DataError::Contradiction { problem, options: &["target", "weights"] });
    }
    // Other programs write the numbers of rows first, under no name.
    let unnamed_index = known.is_none()
        && header
        && matches!(names.first().map(String::as_str), Some("" | "Unnamed: 0"))
        && !dropped.contains(&0)
        && group != Some(GroupBy::Column(0))
        && weights != Some(0)
        && names.len() > 2
        && names[1..used].iter().all(|name| !name.is_empty());
    let mut columns = Vec::with_capacity(names.len());
    let told = index.iter().filter(|column| !options.drop.contains(&column.name)).cloned();
    let mut warnings: Vec<DataWarning> =
        told.map(|column| DataWarning::Index { file: file(), column }).collect();
    let mut classes = Vec::new();
    let mut may_be_categories = Vec::new();
    warnings.extend(totals(&scans, |line| origin.at(line), last));
    let mut of_column = |index: usize, scan: ColumnScan| -> Result<ColumnKind, DataError> {
        let name = &names[index];
        let label = ColumnLabel { number: index + 1, name: name.clone() };
        let stated = known.as_ref().is_some_and(|known| known.text[index]);
        let as_text = stated || texts.contains(&index);
        let other_target = index + targets >= names.len();
        if let (true, Some(line)) = (group == Some(GroupBy::Column(index)), scan.first_missing) {
            let place = origin.at_column(line, label);
            return Err(missing(DataError::MissingGroup { place }));
        }
        Ok(if target == Some(index) {
            if !as_text && options.task != Some(Task::Regression) {
                scan.check_commas(&origin, &label)?;
            }
            warnings.extend(scan.warning(&origin, &label).filter(|_| !as_text));
            let far = scan.far_away(&origin, &label);
            let first_text = scan.first_text.clone();
            let numbers = scan.numbers;
            classes = scan.into_classes(&origin, &label, options.task, as_text).map_err(missing)?;
            if !as_text && options.positive.is_none() && options.task.is_none() {
                let text =
                    first_text.map(|(line, text)| (origin.at_column(line, label.clone()), text));
                check_classes(&classes, rows, numbers, text, &origin.file, &label)?;
            }
            let far = far.filter(|_| classes.is_empty());
            warnings.extend(far.map(DataWarning::of_target));
            warnings.extend(DataWarning::of_classes(&origin.file, &label, &classes));
            ColumnKind::Target
        } else if index == 0 && unnamed_index && !scan.no_index && !as_text {
            warnings.push(DataWarning::Index { file: file(), column: label });
            ColumnKind::Dropped
        } else if index >= used {
            warnings.push(DataWarning::Nothing { file: file(), column: label });
            ColumnKind::Dropped
        } else if dropped.contains(&index)
            || other_target
            || weights == Some(index)
            || group == Some(GroupBy::Column(index))
        {
            ColumnKind::Dropped
        } else {
            let warning = scan.warning(&origin, &label).filter(|_| !as_text);
            let far = scan.far_away(&origin, &label).filter(|_| !as_text);
            let unit = scan.unit(&origin, &label).filter(|_| !as_text);
            warnings.extend(scan.ordered(&origin, &label).filter(|_| !as_text));
            if !as_text && options.window.is_none() && scan.may_be_categories() {
                may_be_categories.push(index);
            }
            let written = if as_text { None } else { scan.check_written(&origin, &label)? };
            let warning = written.or(warning);
            let kind =
                input_kind(&origin, &label, scan, options.missing, as_text).map_err(missing)?;
            warnings.extend(warning.into_iter().chain(far).chain(unit));
            kind
        })
    };
    let mut refused = Vec::new();
    for (index, (name, scan)) in names.iter().zip(scans).enumerate() {
        match of_column(index, scan) {
            Ok(kind) => columns.push(Column { name: name.clone(), kind }),
            Err(line @ DataError::EmptyLine { .. }) => return Err(line),
            Err(error) => refused.push(error),
        }
    }
    DataError::of_columns(refused)?;
    // A single input may have been gone through in order.
    if width(&columns) == 1 {
        warnings.retain(|warning| !matches!(warning, DataWarning::Rising { .. }));
    }
    if options.label_from.is_some() {
        let label = ColumnLabel { number: 0, name: "label".to_string() };
        let task = options.task.or(Some(Task::Classification));
        classes = labels.into_classes(&origin, &label, task, false)?;
    }
    check(&columns).map_err(|problem| DataError::Schema(format!("{}: {problem}", file())))?;
    let samples = options.window.map_or(1, |window| window.samples);
    let inputs = width(&columns).saturating_mul(samples);
    if inputs == 0 {
        return Err(DataError::NoInputs { file: file() });
    }
    if inputs > MAX_INPUTS {
        let problem = format!("windows of {inputs} inputs; at most {MAX_INPUTS} can be read");
        return Err(DataError::Schema(format!("{}: {problem}", file())));
    }
    let recordings =
        Recordings { window: options.window, group, label: options.label_from.clone() };
    let table = Schema::new(Format::Csv);
    let schema =
        Schema { columns, inputs, classes, recordings, warnings, may_be_categories, ..table };
    let delimiter = delimiter.filter(|_| files.len() == 1);
    Ok(Inferred { schema, rows, header, delimiter })
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
