//! Labels that stand in the paths of files.

use std::path::Path;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};

use super::error::DataError;
use super::warning::DataWarning;

/// What takes the number of a recording from the end of a file's name, the most readable first.
const WITHOUT_NUMBER: [&str; 3] = [r"(\w+)_\d+\.", r"([a-zA-Z]+)\d+\.", r"([^/]+?)[-_ ]*\d+\."];
/// How many files there are for each label without its number, at least.
const TIMES: usize = 2;

/// The part of a file's path that is the label of everything in it: `file` (the
/// name up to its first dot), `folder`, or a regular expression whose first
/// group is the label.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(transparent)]
pub struct LabelFrom(String);

impl LabelFrom {
    /// The label of `file`.
    ///
    /// # Errors
    ///
    /// If the path has no such part.
    pub fn label(&self, file: &Path) -> Result<String, DataError> {
        let name = file.display().to_string();
        let part = match self.0.as_str() {
            "file" => file.file_name().map(|f| f.to_string_lossy()).map(|f| {
                let stem = f.split('.').next().unwrap_or_default();
                stem.to_owned()
            }),
            "folder" => {
                let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
                let folder = whole.parent().and_then(Path::file_name);
                folder.map(|f| f.to_string_lossy().into_owned())
            }
            pattern => Regex::new(pattern).ok().and_then(|regex| {
                let found = regex.captures(&name)?.get(1)?;
                Some(found.as_str().to_owned())
            }),
        };
        match part.filter(|label| !label.is_empty()) {
            Some(label) => Ok(label),
            None => Err(DataError::NoLabel { file: name, from: self.0.clone() }),
        }
    }
}

impl std::str::FromStr for LabelFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<LabelFrom, String> {
        if !matches!(text, "file" | "folder") {
            let regex = Regex::new(text).map_err(|e| e.to_string())?;
            if regex.captures_len() < 2 {
                return Err("`file`, `folder`, or a regular expression with a (group)".into());
            }
        }
        Ok(LabelFrom(text.to_owned()))
    }
}

/// What to say where each of several files is a class of its own, though their names are others'
/// with another number: `walk_01` and `walk_02`.
pub(crate) fn class_each(paths: &[&Path], from: &LabelFrom) -> Option<DataWarning> {
    if from.0 != "file" {
        return None;
    }
    let labels: Vec<String> = paths.iter().map_while(|path| from.label(path).ok()).collect();
    let without = |label: &str| {
        label.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_', ' ']).len()
    };
    let different = |labels: &mut Vec<&str>| {
        labels.sort_unstable();
        labels.dedup();
    };
    let mut kinds: Vec<&str> = labels.iter().map(|label| &label[..without(label)]).collect();
    different(&mut kinds);
    let mut whole: Vec<&str> = labels.iter().map(String::as_str).collect();
    different(&mut whole);
    let each = whole.len() == paths.len();
    // A name that is a number only, and one kind of recordings, are no classes.
    if !each || kinds.len() < 2 || TIMES * kinds.len() > paths.len() || kinds.contains(&"") {
        return None;
    }
    let finds = |pattern: &&&str| {
        let other = LabelFrom((**pattern).to_owned());
        let mut files = paths.iter().zip(&labels);
        files.all(|(path, label)| other.label(path).is_ok_and(|it| it == label[..without(label)]))
    };
    let pattern = WITHOUT_NUMBER.iter().find(finds)?;
    let label = labels.first()?;
    Some(DataWarning::Numbered {
        files: paths.len(),
        label: label.clone(),
        pattern: (*pattern).to_owned(),
        found: label[..without(label)].to_owned(),
        labels: kinds.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names: &[&str]) -> Option<String> {
        let paths: Vec<&Path> = names.iter().map(Path::new).collect();
        class_each(&paths, &"file".parse().unwrap()).map(|warning| warning.to_string())
    }

    #[test]
    fn names_with_numbers_of_recordings_are_told() {
        assert_eq!(
            told(&["d/run_1.csv", "d/run_2.csv", "d/walk_1.csv", "d/walk_2.csv"]).unwrap(),
            "each of the 4 files is a class of its own, such as `run_1`: if the numbers are of \
             recordings, `--label-from '(\\w+)_\\d+\\.'` takes the names without them for the 2 \
             classes, such as `run`"
        );
        let taken = |names: &[&str]| {
            let words = told(names)?;
            Some(words.split('\'').nth(1).unwrap().to_owned())
        };
        let close = taken(&["a/run1.csv", "a/run2.csv", "b/sit1.csv.gz", "b/sit12.csv.gz"]);
        assert_eq!(close.as_deref(), Some(r"([a-zA-Z]+)\d+\."));
        let spaced = taken(&["up-hill 1.csv", "up-hill 2.csv", "x-y-3.csv", "x-y-4.csv"]);
        assert_eq!(spaced.as_deref(), Some(r"([^/]+?)[-_ ]*\d+\."));
    }

    #[test]
    fn other_names_are_classes() {
        // One file of each class, digits, one kind of recordings, files of one label.
        assert_eq!(told(&["Revelio.csv", "Lumos.csv", "Nox_2.csv"]), None);
        assert_eq!(told(&["0.csv", "1.csv", "2.csv", "3.csv"]), None);
        assert_eq!(told(&["run_1.csv", "run_2.csv", "run_3.csv", "run_4.csv"]), None);
        assert_eq!(told(&["a/run_1.csv", "b/run_1.csv", "a/sit_1.csv", "b/sit_1.csv"]), None);
    }
}
