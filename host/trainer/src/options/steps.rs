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
}

impl HeadOptions {
    /// Whether the fit is ridge regression: squared errors, and no bound on the weights.
    pub(crate) fn is_ridge(&self) -> bool {
        self.loss == Loss::Squared && self.box_c.is_none()
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

    /// The notes of the blob: how raw columns become inputs.
    ///
    /// # Errors
    /// Never in practice: a schema always serialises.
    pub(crate) fn notes(&self, schema: &Schema) -> Result<String, Error> {
        let schema = schema.clone();
        let schema = if self.column_names { schema } else { schema.without_names() };
        serde_json::to_string(&schema.for_notes())
            .map_err(|error| Error::Impossible(error.to_string()))
    }
}
