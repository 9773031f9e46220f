//! The sample that everything is chosen on.

use koan_data::stream::{Groups, impute};
use koan_data::{DataWarning, Division, Schema, Table, Target};
use serde::{Deserialize, Serialize};

use super::roles::Roles;
use super::schema::{StoredSchema, open};
use super::{Batch, from_bytes, to_bytes};
use crate::Error;

/// First bytes of a sample; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANSMP\x01";
/// Inputs of a sample together, at most: 128 MB.
const MOST_VALUES: usize = 32 << 20;
/// Rows that a sample may have, however wide they are.
const LEAST_ROWS: usize = 2000;

/// The training rows with the smallest hashes, and what is to be known of the others.
#[derive(Clone, Debug)]
pub struct Sample {
    roles: Roles,
    most: usize,
    pub(super) schema: Schema,
    pub(super) weighted: bool,
    pub(super) tallies: Tallies,
    /// Of the rows that are kept, which are up to twice as many as wanted.
    hashes: Vec<u128>,
    kept: Table,
    groups: Vec<Vec<u8>>,
    /// Rows from this hash on are not wanted any more.
    limit: Option<u128>,
}

/// What is counted of all rows, and what is largest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tallies {
    /// Rows, to train on or not.
    pub rows: u64,
    pub train_rows: u64,
    /// Rows to train on of each class.
    pub class_rows: Vec<u64>,
    /// The largest weight of a row of each class, or of all.
    pub most_weight: Vec<f32>,
    /// The largest magnitude of a target.
    pub most_target: f32,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    roles: Roles,
    most: u64,
    schema: StoredSchema,
    weighted: bool,
    tallies: Tallies,
    hashes: Vec<u128>,
    rows: StoredRows,
    groups: Vec<Vec<u8>>,
}

/// The rows of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredRows {
    values: Vec<f32>,
    labels: Vec<u32>,
    targets: Vec<f32>,
    weights: Option<Vec<f32>>,
    groups: Option<Vec<u32>>,
}

impl StoredRows {
    pub fn of(table: &Table) -> Self {
        let (labels, targets) = match &table.target {
            Target::Classes { labels } => (labels.clone(), Vec::new()),
            Target::Values(values) => (Vec::new(), values.clone()),
        };
        let groups = match &table.division {
            Division::Groups(groups) => Some(groups.clone()),
            _ => None,
        };
        let (values, weights) = (table.values.clone(), table.weights.clone());
        Self { values, labels, targets, weights, groups }
    }

    pub fn table(self, schema: Schema) -> Result<Table, Error> {
        let target = match schema.classes.is_empty() {
            true => Target::Values(self.targets),
            false => Target::Classes { labels: self.labels },
        };
        let (inputs, rows) = (schema.inputs, target.len());
        let known = |label: &u32| (*label as usize) < schema.classes.len();
        let fits = self.values.len() == rows * inputs
            && self.weights.as_ref().is_none_or(|weights| weights.len() == rows)
            && self.groups.as_ref().is_none_or(|groups| groups.len() == rows)
            && match &target {
                Target::Classes { labels } => labels.iter().all(known),
                Target::Values(_) => true,
            };
        if !fits {
            return Err(Error::Impossible("the bytes are of rows that do not fit".into()));
        }
        let division = self.groups.map_or(Division::Free, Division::Groups);
        let (values, weights) = (self.values, self.weights);
        Ok(Table { inputs, values, target, schema, division, weights })
    }
}

impl Sample {
    /// No rows yet; at most `most` are kept, or fewer if they are wide.
    ///
    /// # Errors
    /// A sample of fewer than two rows.
    pub fn new(schema: &Schema, weighted: bool, roles: Roles, most: usize) -> Result<Self, Error> {
        if most < 2 {
            return Err(Error::parameter("sample_rows", "a sample has at least two rows"));
        }
        let schema = open(schema);
        let most = most.min((MOST_VALUES / schema.inputs.max(1)).max(LEAST_ROWS));
        let target = match schema.classes.len() {
            0 => Target::Values(Vec::new()),
            _ => Target::Classes { labels: Vec::new() },
        };
        let kinds = schema.classes.len();
        let tallies = Tallies {
            class_rows: vec![0; kinds],
            most_weight: vec![0.0; kinds.max(1)],
            ..Tallies::default()
        };
        let kept = Table {
            inputs: schema.inputs,
            values: Vec::new(),
            target,
            schema: schema.clone(),
            division: Division::Free,
            weights: weighted.then(Vec::new),
        };
        let (hashes, groups) = (Vec::new(), Vec::new());
        Ok(Self { roles, most, schema, weighted, tallies, hashes, kept, groups, limit: None })
    }

    /// The schema under which rows are read; missing numbers stay NaN.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Adds what is to be said of the rows when a model has been trained on them.
    pub(crate) fn warn(&mut self, warnings: Vec<DataWarning>) {
        self.schema.warnings.extend(warnings);
    }

    /// Rows so far, to train on or not, and those to train on.
    #[must_use]
    pub fn rows(&self) -> (u64, u64) {
        (self.tallies.rows, self.tallies.train_rows)
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Rows with other inputs, or with weights or groups where the others have none.
    pub fn add(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        let grouped = self.schema.recordings.group.is_some();
        batch.check(self.schema.inputs, self.weighted, grouped)?;
        let mut hasher = self.roles.hasher();
        let mut wanted = Vec::new();
        for row in 0..batch.table.rows() {
            let hash = hasher.row(&batch, row);
            self.tallies.rows += 1;
            if hasher.tests(&batch, row, hash) {
                continue;
            }
            self.tallies.add(batch.table, row);
            if self.limit.is_none_or(|limit| hash < limit) {
                wanted.push((hash, row));
            }
        }
        self.hashes.extend(wanted.iter().map(|&(hash, _)| hash));
        let rows: Vec<usize> = wanted.iter().map(|&(_, row)| row).collect();
        self.groups.extend(rows.iter().filter_map(|&row| batch.groups.get(row).cloned()));
        append(&mut self.kept, batch.table.select(&rows));
        if self.hashes.len() >= 2 * self.most {
            self.prune();
        }
        Ok(())
    }

    /// Adds the rows of another sample.
    ///
    /// # Errors
    /// A sample of other columns or options.
    pub fn merge(&mut self, other: Self) -> Result<(), Error> {
        let key = |sample: &Self| -> Result<_, Error> {
            let schema = StoredSchema::of(&sample.schema)?;
            Ok((sample.roles, sample.most, sample.weighted, schema))
        };
        if key(self)? != key(&other)? {
            return Err(Error::Impossible("samples of other columns or options".into()));
        }
        self.tallies.merge(&other.tallies);
        self.hashes.extend(other.hashes);
        self.groups.extend(other.groups);
        append(&mut self.kept, other.kept);
        if self.hashes.len() >= 2 * self.most {
            self.prune();
        }
        Ok(())
    }

    /// Keeps the rows with the smallest hashes, in their order. Rows of the same hash are
    /// the same, so it does not matter which of them are kept.
    fn prune(&mut self) {
        let mut order: Vec<usize> = (0..self.hashes.len()).collect();
        order.sort_by_key(|&row| self.hashes[row]);
        if order.len() >= self.most {
            order.truncate(self.most);
            self.limit = order.last().map(|&row| self.hashes[row]);
        }
        self.hashes = order.iter().map(|&row| self.hashes[row]).collect();
        if !self.groups.is_empty() {
            self.groups = order.iter().map(|&row| std::mem::take(&mut self.groups[row])).collect();
        }
        self.kept = self.kept.select(&order);
    }

    /// The sample as a table, in the order of the hashes, with medians for missing values;
    /// and the hashes.
    pub(super) fn into_table(mut self) -> (Table, Vec<u128>, Tallies) {
        self.prune();
        if self.schema.recordings.group.is_some() {
            let mut numbers = Groups::default();
            self.groups.iter().for_each(|group| numbers.push(group));
            self.kept.division = Division::Groups(numbers.numbers);
        }
        impute(&mut self.kept);
        (self.kept, self.hashes, self.tallies)
    }

    /// The roles of rows.
    #[must_use]
    pub fn roles(&self) -> Roles {
        self.roles
    }

    /// The sample as bytes: the same for the same rows.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut sample = self.clone();
        sample.prune();
        let stored = Stored {
            roles: sample.roles,
            most: sample.most as u64,
            schema: StoredSchema::of(&sample.schema)?,
            weighted: sample.weighted,
            tallies: sample.tallies,
            hashes: sample.hashes,
            rows: StoredRows::of(&sample.kept),
            groups: sample.groups,
        };
        to_bytes(MAGIC, &stored)
    }

    /// A sample from its bytes.
    ///
    /// # Errors
    /// Bytes of something else, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let stored: Stored = from_bytes(MAGIC, bytes, "a sample")?;
        let schema = stored.schema.schema()?;
        let empty = Self::new(&schema, stored.weighted, stored.roles, stored.most as usize)?;
        let kept = stored.rows.table(schema)?;
        let grouped = empty.schema.recordings.group.is_some();
        let fits = kept.rows() == stored.hashes.len()
            && stored.groups.len() == if grouped { kept.rows() } else { 0 }
            && kept.weights.is_some() == stored.weighted
            && stored.tallies.class_rows.len() == empty.tallies.class_rows.len()
            && stored.tallies.most_weight.len() == empty.tallies.most_weight.len();
        if !fits {
            return Err(Error::Impossible("the bytes of a sample do not fit together".into()));
        }
        let Stored { tallies, hashes, groups, .. } = stored;
        Ok(Self { most: stored.most as usize, tallies, hashes, kept, groups, ..empty })
    }
}

impl Tallies {
    fn add(&mut self, table: &Table, row: usize) {
        self.train_rows += 1;
        let class = match &table.target {
            Target::Classes { labels } => {
                let class = labels[row] as usize;
                self.class_rows[class] += 1;
                class
            }
            Target::Values(values) => {
                self.most_target = self.most_target.max(values[row].abs());
                0
            }
        };
        let weight = table.weights.as_ref().map_or(1.0, |weights| weights[row]);
        self.most_weight[class] = self.most_weight[class].max(weight);
    }

    fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.train_rows += other.train_rows;
        for (mine, theirs) in self.class_rows.iter_mut().zip(&other.class_rows) {
            *mine += theirs;
        }
        for (mine, theirs) in self.most_weight.iter_mut().zip(&other.most_weight) {
            *mine = mine.max(*theirs);
        }
        self.most_target = self.most_target.max(other.most_target);
    }
}

/// Adds rows of the same columns.
fn append(table: &mut Table, other: Table) {
    table.values.extend(other.values);
    match (&mut table.target, other.target) {
        (Target::Classes { labels }, Target::Classes { labels: more }) => labels.extend(more),
        (Target::Values(values), Target::Values(more)) => values.extend(more),
        // Both are of one schema.
        _ => {}
    }
    if let (Some(weights), Some(more)) = (&mut table.weights, other.weights) {
        weights.extend(more);
    }
}
