//! What each step of training takes of the options.

use koan::Law;
use koan_data::{Schema, Task};

use super::TrainOptions;
use crate::Error;
use crate::normalise::Kind;
use crate::solve::Loss;

/// What choosing input map, projection and frequencies takes of [`TrainOptions`].
#[derive(Clone, Debug)]
pub struct ChoiceOptions {
    /// Kind of input map; chosen if not given.
    pub map: Option<Kind>,
    /// Whether every input has a frequency of its own; where it helps if not given.
    pub relevance: Option<bool>,
    /// Law of the draws; as its banks have it if not given.
    pub projection: Option<Law>,
    /// Frequency of each bank; searched if not given.
    pub frequency: Option<Vec<f64>>,
    /// λ, relative to a feature's variance times the rows; searched if not given.
    pub lambda: Option<f64>,
    /// Bits of a weight.
    pub bits: u8,
    /// Seed of the features and of every split.
    pub seed: u64,
}

/// What fitting and rounding a head takes of [`TrainOptions`].
#[derive(Clone, Debug)]
pub struct HeadOptions {
    /// What is minimised.
    pub loss: Loss,
    /// λ, relative to a feature's variance times the rows; searched if not given.
    pub lambda: Option<f64>,
    /// C of the constraint that no weight is beyond ±C/K.
    pub box_c: Option<f64>,
    /// Features of each bank that the best are chosen from.
    pub candidates: Option<u16>,
    /// Bits of a weight.
    pub bits: u8,
    /// Seed of the features and of every split.
    pub seed: u64,
    /// What the head is for.
    pub purpose: Purpose,
}

/// What a head is fitted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be kept. Where rows are few, several parts of them, each held out in turn, judge λ; class
    /// scores are calibrated; weights are rounded each by itself, too.
    Model,
    /// A point of a learning curve: the same, but one part of the rows judges λ.
    LearningCurve,
    /// To be compared with others on rows of its own: one part of the rows judges λ, and what does
    /// not change the scores of the compensated weights is left out.
    Comparison,
}

impl HeadOptions {
    /// Whether the fit is ridge regression: squared errors, and no bound on the weights.
    pub(crate) fn is_ridge(&self) -> bool {
        self.loss == Loss::Squared && self.box_c.is_none()
    }

    /// Whether the fit is to be a whole model, whatever that changes beside its scores.
    pub(crate) fn is_whole(&self) -> bool {
        self.purpose != Purpose::Comparison
    }
}

/// What writing a blob takes of [`TrainOptions`].
#[derive(Clone, Copy, Debug)]
pub struct BlobOptions {
    /// Training rows that the blob carries with their exact scores.
    pub golden_rows: usize,
    /// Whether the notes carry the names of columns.
    pub column_names: bool,
}

impl TrainOptions {
    /// Those of the first step: input map, projection and frequencies.
    #[must_use]
    pub fn choice(&self, task: Task) -> ChoiceOptions {
        ChoiceOptions {
            map: self.map,
            relevance: self.relevance,
            projection: self.projection,
            frequency: self.frequency.clone(),
            lambda: self.lambda,
            bits: self.bits_for(task),
            seed: self.seed,
        }
    }

    /// Those of the second step: the head.
    #[must_use]
    pub fn head(&self, task: Task) -> HeadOptions {
        HeadOptions {
            loss: self.loss(),
            lambda: self.lambda,
            box_c: self.box_c,
            candidates: self.candidates,
            bits: self.bits_for(task),
            seed: self.seed,
            purpose: Purpose::Model,
        }
    }

    /// Those of the last step: the blob.
    #[must_use]
    pub fn blob(&self) -> BlobOptions {
        BlobOptions { golden_rows: self.golden_rows, column_names: self.column_names }
    }
}

impl BlobOptions {
    /// The same without golden rows, for a blob that is only judged.
    #[must_use]
    pub fn without_rows(self) -> Self {
        Self { golden_rows: 0, ..self }
    }

    /// The notes of the blob: how raw columns become inputs. Names of columns for which a section
    /// has no room are left out.
    ///
    /// # Errors
    /// Notes that are too long without them.
    pub(crate) fn notes(&self, schema: &Schema) -> Result<String, Error> {
        if self.column_names {
            let notes = written(schema)?;
            if notes.len() <= MOST {
                return Ok(notes);
            }
        }
        let notes = written(&schema.clone().without_names())?;
        if notes.len() > MOST {
            return Err(Error::Impossible(format!(
                "what a model says of its {} columns, names aside, takes {} bytes, and it has room \
                 for {MOST}: texts with fewer values take less",
                schema.columns.len(),
                notes.len()
            )));
        }
        Ok(notes)
    }

    /// Whether a model has no room for the names of the columns that it is to carry.
    pub(crate) fn has_no_room_for_names(&self, schema: &Schema) -> bool {
        self.column_names && written(schema).is_ok_and(|notes| notes.len() > MOST)
    }
}

/// Bytes of a section at most.
const MOST: usize = u16::MAX as usize;

fn written(schema: &Schema) -> Result<String, Error> {
    serde_json::to_string(&schema.for_notes()).map_err(|error| Error::Impossible(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::{Column, ColumnKind, Format};

    fn schema(columns: usize, kind: &ColumnKind) -> Schema {
        let column = |i: usize| Column { name: format!("gene_{i:06}"), kind: kind.clone() };
        Schema { columns: (0..columns).map(column).collect(), ..Schema::new(Format::Csv) }
    }

    #[test]
    fn names_without_room_are_left_out() {
        let options = TrainOptions::default().blob();
        let number = ColumnKind::Numeric { missing: None };
        let few = schema(1000, &number);
        assert!(options.notes(&few).unwrap().len() > 3000 && !options.has_no_room_for_names(&few));
        let many = schema(6000, &number);
        assert!(options.notes(&many).unwrap().len() < 100 && options.has_no_room_for_names(&many));
        let without = BlobOptions { column_names: false, ..options };
        assert!(!without.has_no_room_for_names(&many));
        let values = (0..100).map(|i| format!("a long value {i}")).collect();
        let error = options.notes(&schema(500, &ColumnKind::Text { values })).unwrap_err();
        assert!(error.to_string().contains("500 columns, names aside"), "{error}");
    }
}
