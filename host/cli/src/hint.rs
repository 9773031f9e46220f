//! What an option could do about an error. The library knows no options.

use std::collections::BTreeSet;

use koan_data::{DataError, Place};

/// Parameters of the library that an option is called by.
const OWN: [&str; 12] = [
    "candidates",
    "class_weights",
    "false_alarm",
    "features",
    "flash",
    "frequency",
    "instructions",
    "lambda",
    "map",
    "projection",
    "ram",
    "shape",
];

/// What helps where a target is of too many classes.
const OTHER_TARGET: &str = "--target names another column, --task regression takes numbers";

/// What is read as a value that is missing.
const UNKNOWN: &str = "unknown values are empty, ?, NA, NaN or null";

/// The lines of a message with what helps: one, or of several columns one for each.
pub fn lines(message: String, error: &anyhow::Error) -> Vec<String> {
    let Some(DataError::Columns { first, others }) = data(error) else {
        let hint = of(error).map(|hint| format!(" ({hint})")).unwrap_or_default();
        return vec![format!("{message}{hint}")];
    };
    let mut known = BTreeSet::new();
    // Columns often need the same.
    let mut told = |error: &DataError| match of_data(error) {
        Some(hint) if known.insert(hint.clone()) => format!("{error} ({hint})"),
        _ => error.to_string(),
    };
    let mut lines = vec![told(first)];
    lines
        .extend(others.iter().take(DataError::TOLD).map(|other| format!("  also {}", told(other))));
    lines.extend(DataError::untold(others).map(|line| format!("  {line}")));
    lines
}

/// The error of the data that is at the root, if one is.
fn data(error: &anyhow::Error) -> Option<&DataError> {
    error.chain().find_map(|cause| {
        let own = cause.downcast_ref::<koan_trainer::Error>().and_then(|error| match error {
            koan_trainer::Error::Data(data) => Some(data),
            _ => None,
        });
        cause.downcast_ref::<DataError>().or(own)
    })
}

/// The option that helps, with what it does, or that is at fault.
fn of(error: &anyhow::Error) -> Option<String> {
    let parameter = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(koan_trainer::Error::Parameter { name, .. }) if OWN.contains(name) => {
            Some(format!("--{}", name.replace('_', "-")))
        }
        Some(koan_trainer::Error::Parameter { name: "test_fraction", .. }) => {
            Some("--test-fraction, --test".to_owned())
        }
        Some(koan_trainer::Error::Parameter { name: "box_c", .. }) => Some("--box".to_owned()),
        Some(koan_trainer::Error::Parameter { name: "family", problem })
            if problem.ends_with("of a stream") =>
        {
            Some("--stream no reads all rows".to_owned())
        }
        Some(koan_trainer::Error::Impossible(problem)) if problem.ends_with("cannot be shrunk") => {
            Some("`koan train --flash BYTES` looks for the best model of a size".to_owned())
        }
        Some(koan_trainer::Error::TooMany { what: "classes", .. }) => Some(OTHER_TARGET.to_owned()),
        Some(koan_trainer::Error::Impossible(problem)) if problem.contains("its notes") => {
            Some("`koan train --no-column-names` leaves the names out".to_owned())
        }
        _ => None,
    };
    if let Some(option) = error.chain().find_map(parameter) {
        return Some(option);
    }
    of_data(data(error)?)
}

/// What programs for sheets write in place of a value.
const NO_VALUE: [&str; 7] = ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"];

/// What helps where a text at that place stands among numbers.
fn of_text(place: &Place, text: &str) -> String {
    let line = place.line;
    if NO_VALUE.contains(&text) {
        return format!("{UNKNOWN}, which --missing impute takes: replace {text} by one of them");
    }
    let first = place.column.as_ref().is_none_or(|column| column.number == 1);
    if text.starts_with('#') && first {
        return "--comment '#' passes over lines that begin with it".to_owned();
    }
    format!(
        "delete line {line} if it is no row, as units and totals are, or those up to it if they are \
         a title; {UNKNOWN}, which --missing impute takes; --text reads the column as text, --drop \
         leaves it out"
    )
}

fn of_data(error: &DataError) -> Option<String> {
    let fixed = match error {
        DataError::MissingValue { training: true, .. } => {
            "--missing impute takes the column's median instead, and a missing text is none of the \
             values; --drop leaves the column out"
        }
        DataError::MissingValue { training: false, .. } => {
            "fill it in, or leave the row out; a model that `koan train --missing impute` made takes \
             missing values in the columns that had some in its training or test rows"
        }
        DataError::NotANumber { place, .. } => {
            let line = place.line;
            return Some(format!(
                "mend the value, or delete line {line} if it is no row, as units and totals are; \
                 {UNKNOWN}; `koan train --text` takes a column as categories"
            ));
        }
        DataError::HeaderUnclear { .. } | DataError::HeaderOfNumbers { .. } => "--header yes|no",
        DataError::MostlyNumbers { place, text, .. } => return Some(of_text(place, text)),
        DataError::PartlyNumbers { target: false, .. } => {
            return Some(format!(
                "{UNKNOWN}, which --missing impute takes; --text reads a column of at most {} \
                 different values as text, --drop leaves it out",
                koan_data::MAX_VALUES
            ));
        }
        DataError::PartlyNumbers { target: true, .. } => {
            "no option passes over such rows: mend the value, or leave them out of the data; \
             --target names another column, --text takes each text as a class"
        }
        DataError::NotUtf8 { .. } => {
            "save it as \"CSV UTF-8\" (Excel), or convert it: iconv -f WINDOWS-1252 -t UTF-8"
        }
        DataError::NotRead { what, .. } if what.starts_with("UTF-16") => {
            "save it as \"CSV UTF-8\" (Excel), or convert it: iconv -f UTF-16 -t UTF-8"
        }
        DataError::LastMissing { .. } => {
            "--target names another column; where it names this one, --missing impute leaves such \
             rows out"
        }
        DataError::NoTargets { .. } => "--target names another column",
        DataError::TargetNotANumber { .. } => {
            "leave --task regression out where the target is classes; mend the value, or delete the \
             line if it is no row"
        }
        DataError::SameName { .. } => "rename one of them in the header",
        DataError::NoClasses { .. } => {
            "--target names another column, --task regression takes numbers, --text takes each text \
             as a class all the same"
        }
        DataError::Title { .. } => {
            "delete a title; --delimiter names the byte between fields, if it was mistaken"
        }
        DataError::DelimiterAtEnd { .. } => {
            "remove it; where all lines but the first end in one, end that in one, too: the column \
             is then left out"
        }
        // A name was taken apart at its comma.
        DataError::NoColumn { wanted, columns, .. }
            if !wanted.is_empty() && columns.contains(&format!("`{wanted},")) =>
        {
            "names are separated by commas: give the number of a column with a comma in its name"
        }
        DataError::DecimalComma { text, .. }
            if text.split_once(',').is_some_and(|(_, rest)| rest.len() == 3) =>
        {
            "write numbers without a comma, or with a point; --text reads the column as text"
        }
        DataError::DecimalComma { .. } => {
            "write numbers with points, or have semicolons between fields; --text reads the column \
             as text"
        }
        DataError::Unreadable { file, .. } if file == "-" => {
            "only `predict` reads standard input: write the rows to a file"
        }
        DataError::NoValues { .. } => "--drop leaves the column out",
        DataError::TooManyValues { target: false, .. } => "--drop leaves the column out",
        DataError::Identifier { .. } | DataError::Times { .. } | DataError::Units { .. } => {
            "--drop leaves the column out, --text takes each text as a category all the same"
        }
        DataError::TooManyValues { target: true, .. } => OTHER_TARGET,
        DataError::OneClassIn { .. } | DataError::OneClass { .. } => {
            "--target names another column, --task anomaly learns what is normal from one class"
        }
        DataError::TargetMostlyNumbers { .. } => {
            "no option passes over such rows: mend the value, or leave them out of the data"
        }
        DataError::OutOfRange { .. } => {
            "mend the number; a value that is unknown is an empty field, which --missing impute takes"
        }
        DataError::UnknownClass { .. } => {
            "mend the label; a class that no training row has is never predicted: leave its rows \
             out, or train on some of them"
        }
        DataError::TargetMissing { .. } => {
            "leave the row out of the data; `koan train --target COLUMN --missing impute` does so, \
             but for windows"
        }
        DataError::NoLabels { .. } => "--labels FILE",
        // The name that labels beside an npy array have.
        DataError::NoTarget { target, .. } if target.ends_with("(`labels`)") => {
            "--labels FILE, of the files of --test --test-labels FILE"
        }
        DataError::NoLabel { .. } => "--label-from",
        DataError::Overlap { .. } => {
            "--group file where each file is a recording, --group COLUMN where a column tells them \
             apart; of a single recording leave --stride out: its windows do not overlap then"
        }
        DataError::UnevenArrays { .. } => "--arrays NAME,NAME",
        DataError::Comment { .. } | DataError::CommentLine { .. } => {
            "--comment '#' passes over lines that begin with it"
        }
        DataError::Ragged { .. } => {
            "mend a damaged line, or delete it; --delimiter names the byte between fields, if it was \
             mistaken"
        }
        DataError::NoInputs { .. } => {
            "--drop leaves columns out; --delimiter names the byte between fields, if lines have \
             more than were told apart"
        }
        DataError::Split { problem, .. } if problem.contains("fraction") => {
            "--test-fraction, --test"
        }
        DataError::Split { problem, .. } if problem.contains(" part") => "--folds",
        DataError::OptionNeedsCsv { option, .. } | DataError::OptionNeeds { option, .. } => {
            return Some(format!("--{}", option.replace('_', "-")));
        }
        DataError::Contradiction { options, .. } => {
            let names: Vec<String> =
                options.iter().map(|name| format!("--{}", name.replace('_', "-"))).collect();
            return Some(names.join(", "));
        }
        _ => return None,
    };
    Some(fixed.to_owned())
}
