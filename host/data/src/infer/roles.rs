//! What each column of a table is for, as far as options and its name say.

use super::file::Scanned;
use super::find;
use crate::error::DataError;
use crate::recordings::GroupBy;
use crate::scan::ColumnScan;
use crate::{Missing, ReadOptions};

/// What a column is for.
pub(super) enum Role {
    Target,
    Input,
    /// The index that other programs write first, under no name.
    RowNumbers,
    /// What delimiters at the end of each line make, or an input without a value where those that
    /// are missing are imputed.
    Nothing,
    /// Tells recordings apart.
    Group,
    /// Weights, other targets, and what is to be left out.
    Unused,
}

/// What the columns are for, by their numbers from 0.
pub(super) struct Roles {
    target: Option<usize>,
    dropped: Vec<usize>,
    /// To be taken as text, whatever the values are.
    texts: Vec<usize>,
    pub group: Option<GroupBy>,
    weights: Option<usize>,
    /// Columns that are not nothing.
    used: usize,
    /// Targets that the file itself tells: the last columns.
    targets: usize,
    unnamed_index: bool,
    /// Whether missing values are imputed.
    imputes: bool,
}

impl Roles {
    /// # Errors
    ///
    /// Options that name no column, or a column for two purposes.
    pub fn of(scanned: &Scanned, options: &ReadOptions) -> Result<Roles, DataError> {
        let Scanned { origin, names, scans, known, .. } = scanned;
        let find = |wanted: &String| find(origin, wanted, names);
        let targets = known.as_ref().map_or(0, |known| known.targets);
        let is_nothing = |&index: &usize| names[index].is_empty() && scans[index].is_empty();
        let trailing = (1..names.len()).rev().take_while(is_nothing).count();
        let used = names.len() - if known.is_none() { trailing } else { 0 };
        let target = match (&options.target, &options.label_from) {
            (Some(wanted), None) => Some(find(wanted)?),
            (None, None) if options.unlabelled && targets == 0 => None,
            (None, None) => Some(used - 1),
            (None, Some(_)) => None,
            (Some(_), Some(_)) => {
                let problem = "the target is a column or comes from the path, not both";
                let options = &["target", "label_from"];
                return Err(DataError::Contradiction { problem, options });
            }
        };
        let index = known.as_ref().map_or(&[][..], |known| &known.index);
        let is_index = |name: &String| index.iter().any(|column| column.name == *name);
        let dropped = options.drop.iter().filter(|name| !is_index(name));
        let dropped: Vec<usize> = dropped.map(find).collect::<Result<_, _>>()?;
        if target.is_some_and(|target| dropped.contains(&target)) {
            let problem =
                "the target, which is the last column if none is named, cannot be left out";
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
        let unnamed_index = known.is_none()
            && scanned.header
            && matches!(names.first().map(String::as_str), Some("" | "Unnamed: 0"))
            && names.len() > 2
            && names[1..used].iter().all(|name| !name.is_empty());
        let imputes = options.missing == Missing::Impute;
        Ok(Roles { target, dropped, texts, group, weights, used, targets, unnamed_index, imputes })
    }

    /// What column number `index` of so many is for.
    pub fn of_column(&self, index: usize, columns: usize, scan: &ColumnScan) -> Role {
        let named = self.dropped.contains(&index) || self.weights == Some(index);
        if self.target == Some(index) {
            Role::Target
        } else if self.group == Some(GroupBy::Column(index)) {
            Role::Group
        } else if index == 0
            && self.unnamed_index
            && !named
            && !scan.no_index
            && !self.texts.contains(&0)
        {
            Role::RowNumbers
        } else if index >= self.used {
            Role::Nothing
        } else if named || index + self.targets >= columns {
            Role::Unused
        } else if self.imputes && scan.is_empty() {
            Role::Nothing
        } else {
            Role::Input
        }
    }

    /// Whether an option says that a column is text.
    pub fn is_text(&self, index: usize) -> bool {
        self.texts.contains(&index)
    }
}
