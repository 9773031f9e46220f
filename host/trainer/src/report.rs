//! What training did.

use koan::{Form, Model};
use serde::{Deserialize, Serialize};

use crate::anomaly::{Detection, normal_rows_of};
use crate::baseline::Baselines;
use crate::blob::BankSpec;
use crate::plan::{BankPlan, all_off};
use crate::select::Choice;
use crate::solve::Loss;
use crate::{Goal, TrainOptions, code_bytes, doubts};
use koan_data::Table;

/// What training did, in the terms of the command line's `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `classification`, `regression`, `embedding` or `anomaly`.
    pub task: String,
    /// Families of the banks, joined by commas.
    pub family: String,
    /// Laws of the banks, joined by commas.
    pub projection: String,
    /// Features of all banks (columns of the head).
    pub features: usize,
    /// Bits of a weight.
    pub bits: u8,
    /// Bytes of the blob.
    pub bytes: usize,
    /// About how many bytes its code takes on a Cortex-M0 ([`crate::code_bytes`]).
    pub code_bytes: usize,
    /// Of the blob on the test rows: fraction misclassified, relative RMS error,
    /// or for an embedding the share of the features' variance that is lost.
    pub error: f64,
    /// Root mean squared error on the test rows, in the target's units (regression).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// The error with each test row counted as much as its weight says, where
    /// rows have weights; all other errors count every row once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_error: Option<f64>,
    /// Test rows.
    pub rows: usize,
    /// Wall-clock seconds, from the table in memory to the checked blob.
    pub seconds: f64,
    /// Rows trained on.
    pub train_rows: usize,
    /// Inputs of a row.
    pub inputs: usize,
    /// Number columns that are taken as categories, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<usize>,
    /// Outputs.
    pub outputs: usize,
    /// Seed of the model.
    pub seed: u64,
    /// The kind of input map.
    pub map: String,
    /// Inputs that go through their logarithm.
    pub logged_inputs: usize,
    /// Whether a frequency was learned for every input.
    pub relevance: bool,
    /// Frequency of each bank, relative to the spread of the data.
    pub frequency: Vec<f64>,
    /// λ, relative to a feature's variance times the rows (for bins alone: in
    /// rows).
    pub lambda: f64,
    /// What the head minimises; none where no target is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// C of the constraint on the weights.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub box_c: Option<f64>,
    /// Error on the test rows with real-valued weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_float: Option<f64>,
    /// Error on the test rows with each weight rounded to the nearest level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_nearest: Option<f64>,
    /// Error on the test rows with compensated rounding: the blob's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_compensated: Option<f64>,
    /// Errors of the baselines on the test rows, in streaming fitted to the
    /// sample; none where no target is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baselines: Option<Baselines>,
    /// What a detector of anomalies does on the test rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<Detection>,
    /// Cross-validation: the error on each part; `error` and all other judgements
    /// are then means over the parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fold_errors: Vec<f64>,
    /// Whether the names of columns were left out, by a search to save bytes or because no model has
    /// room for them: the model takes columns in their order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nameless: bool,
    /// A much smaller model that was nearly as good, where a search found one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smaller: Option<Smaller>,
    /// A much faster model that was nearly as good, where a search found one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faster: Option<Faster>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// What the first warnings are made from.
    #[serde(skip)]
    pub(crate) doubted: Doubted,
}

/// What warnings that are of errors, and stand before all others, are made from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Doubted {
    /// How many there are.
    pub warnings: usize,
    /// The mean error over the classes of the test rows, where all count the same, and that of always
    /// predicting one of them.
    pub balanced: Option<[f64; 2]>,
    /// Share of rows far from all normal ones that a detector takes for normal.
    pub far: f64,
}

/// A smaller model than the one that a search chose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Smaller {
    /// Its bytes: a limit that is enough for it.
    pub bytes: usize,
    /// Its error on rows that the search held out.
    pub held_out: f64,
    /// That of the chosen one on the same rows.
    pub than: f64,
}

/// A faster model than the one that a search chose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Faster {
    /// Instructions that a prediction takes on the core of the search, as predicted: a limit that is
    /// enough for it.
    pub instructions: u64,
    /// Those of the chosen one.
    pub than_instructions: u64,
    /// Its error on rows that the search held out.
    pub held_out: f64,
    /// That of the chosen one on the same rows.
    pub than: f64,
}

/// What was chosen, as a report says it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    family: String,
    projection: String,
    features: usize,
    map: String,
    logged_inputs: usize,
    relevance: bool,
    frequency: Vec<f64>,
    /// Whether every input is constant.
    all_off: bool,
}

impl Chosen {
    pub(crate) fn of(choice: &Choice) -> Self {
        let join = |names: Vec<&str>| names.join(",");
        let laws =
            |bank: &BankPlan| if bank.groups.is_empty() { bank.law.name() } else { "groups" };
        Self {
            family: join(choice.banks.iter().map(|bank| bank.family.name()).collect()),
            projection: join(choice.banks.iter().map(laws).collect()),
            features: choice.spec.banks.iter().map(BankSpec::columns).sum(),
            map: choice.kind.name().into(),
            logged_inputs: choice.normaliser.logged_inputs(),
            relevance: choice.relevance,
            frequency: choice.banks.iter().map(|bank| bank.frequency).collect(),
            all_off: all_off(&choice.spec.maps),
        }
    }
}

impl Report {
    /// What holds for every task; errors are still to be filled in.
    pub(crate) fn of(
        train: &Table,
        test_rows: usize,
        chosen: &Chosen,
        blob: &[u8],
        options: &TrainOptions,
        seconds: f64,
    ) -> Self {
        let mut warnings: Vec<String> =
            train.schema.warnings.iter().map(ToString::to_string).collect();
        if chosen.all_off {
            let message = "every input is constant: the model predicts without looking";
            warnings.push(message.to_owned());
        }
        let model = Model::parse(blob).ok();
        let bits = model.iter().flat_map(Model::banks).map(|bank| bank.width().bits()).max();
        Self {
            task: String::new(),
            family: chosen.family.clone(),
            projection: chosen.projection.clone(),
            features: chosen.features,
            bits: bits.unwrap_or(0),
            bytes: blob.len(),
            code_bytes: model.as_ref().map_or(0, |model| code_bytes(model, Form::Fast)),
            error: f64::NAN,
            rmse: None,
            weighted_error: None,
            rows: test_rows,
            seconds,
            train_rows: train.rows(),
            inputs: train.inputs,
            categories: options.categories.iter().map(|column| column + 1).collect(),
            outputs: model.map_or(0, |model| model.outputs()),
            seed: options.seed,
            map: chosen.map.clone(),
            logged_inputs: chosen.logged_inputs,
            relevance: chosen.relevance,
            frequency: chosen.frequency.clone(),
            lambda: 0.0,
            loss: None,
            box_c: None,
            error_float: None,
            error_nearest: None,
            error_compensated: None,
            baselines: None,
            detection: None,
            fold_errors: Vec::new(),
            nameless: options.blob().has_no_room_for_names(&train.schema),
            smaller: None,
            faster: None,
            warnings,
            doubted: Doubted::default(),
        }
    }

    /// Of a model that was to make all classes count the same: its mean error over them on the test
    /// rows, and that of always predicting one class, which it must beat.
    #[must_use]
    pub fn balanced_errors(&self) -> Option<[f64; 2]> {
        self.doubted.balanced
    }

    /// The error that is compared with those of baselines: where rows have weights, each counts as
    /// its weight says.
    #[must_use]
    pub fn judged_error(&self) -> f64 {
        self.weighted_error.unwrap_or(self.error)
    }

    /// Whether always predicting one class, or the mean, is as good on the test rows; nobody knows
    /// where there are none.
    #[must_use]
    pub fn is_of_no_use(&self) -> bool {
        match (self.balanced_errors(), &self.baselines) {
            (Some([error, constant]), _) => error >= constant,
            (None, Some(baselines)) => self.judged_error() >= baselines.constant,
            (None, None) => false,
        }
    }

    /// Puts what is to be said of errors before the other warnings.
    pub(crate) fn doubt(&mut self, doubts: Vec<String>) {
        let count = doubts.len();
        self.warnings.splice(..self.doubted.warnings, doubts);
        self.doubted.warnings = count;
    }

    /// Makes this the report of a cross-validation: of a model of all rows of `table`, which is
    /// judged by models of all parts but one on that one. Errors, and what is said of them, are
    /// those of `parts`; errors of the model on its own rows say nothing.
    pub fn over_folds(&mut self, parts: &[Self], table: &Table, options: &TrainOptions) {
        let count = parts.len() as f64;
        let mean = |of: fn(&Self) -> Option<f64>| {
            parts.iter().map(of).sum::<Option<f64>>().map(|sum| sum / count)
        };
        self.error = mean(|part| Some(part.error)).unwrap_or(f64::NAN);
        self.rmse = mean(|part| part.rmse);
        self.weighted_error = mean(|part| part.weighted_error);
        self.error_float = mean(|part| part.error_float);
        self.error_nearest = mean(|part| part.error_nearest);
        self.error_compensated = mean(|part| part.error_compensated);
        let baselines: Option<Vec<_>> = parts.iter().map(|part| part.baselines).collect();
        self.baselines = baselines.map(|parts| Baselines::mean(&parts));
        let detections: Option<Vec<_>> = parts.iter().map(|part| part.detection).collect();
        self.detection = detections.map(|parts| Detection::mean(&parts));
        self.fold_errors = parts.iter().map(|part| part.error).collect();
        let balanced = mean(|part| part.doubted.balanced.map(|[error, _]| error));
        let constant = mean(|part| part.doubted.balanced.map(|[_, constant]| constant));
        self.doubted.balanced = balanced.zip(constant).map(<[f64; 2]>::from);
        let doubts = match (options.goal, &self.detection) {
            (Goal::Detect { normal, false_alarm }, Some(found)) => {
                let rows = normal_rows_of(table, normal).len();
                doubts::of_detector(found, rows, false_alarm, self.doubted.far)
            }
            (Goal::Predict, _) => doubts::of(self, table, self.doubted.balanced),
            _ => Vec::new(),
        };
        self.doubt(doubts);
    }
}
