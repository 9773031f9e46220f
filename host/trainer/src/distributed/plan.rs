//! What is chosen once, before any sums.

use std::collections::BTreeMap;

use koan::{Family, Model};
use koan_data::{Schema, Table, Target};
use serde::{Deserialize, Serialize};

use super::roles::Roles;
use super::sample::{Sample, StoredRows, Tallies};
use super::schema::{StoredSchema, open};
use super::{Batch, from_bytes, to_bytes};
use crate::blob::ModelSpec;
use crate::check::{check, check_balanced, check_channels};
use crate::features::FeatureMap;
use crate::fit::check_loss;
use crate::folds::hold_out;
use crate::plan::BankPlan;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::report::Chosen;
use crate::select::{Choice, choose};
use crate::solve::Loss;
use crate::train::{bank_plans, dense_columns};
use crate::{ConvOptions, Error, Goal, TrainOptions};

/// First bytes of a plan; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANPLN\x03";
/// Bits of the sample's largest target.
const TARGET_BITS: i32 = 32;
/// Bits of the sample's largest weight.
const WEIGHT_BITS: i32 = 18;
/// Bits by which rows that the sample did not see may be larger.
const SPARE_BITS: i32 = 4;

/// Everything that is chosen before the rows are summed up: columns, input map, features, roles
/// of rows, scales of targets and weights; and the sample that it was chosen on.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) stored: Stored,
    /// None in a plan for workers.
    pub(super) sample: Option<Table>,
    pub(super) map: FeatureMap,
    pub(super) spec: ModelSpec,
    /// The schema under which rows are read: missing numbers stay NaN.
    schema: Schema,
    /// The schema with the stand-ins for missing numbers.
    pub(super) filled: Schema,
    id: u128,
}

/// What every worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    version: String,
    schema: StoredSchema,
    pub roles: Roles,
    /// The feature part of the model, as a blob.
    features: Vec<u8>,
    pub outputs: u64,
    /// Targets are multiplied by 2^target.
    target: i32,
    /// Weights are multiplied by 2^weight.
    weight: Option<i32>,
    /// Whether rows have weights of their own.
    weighted: bool,
    /// By what the weight of rows of each class is multiplied; none: 1.
    class_weights: Vec<f64>,
    /// Hashes of the rows that are held out, ascending, and how many rows have each.
    pub held: Vec<(u128, u64)>,
    pub options: Kept,
    pub chosen: Chosen,
    pub sample_rows: u64,
}

/// The options that the end of training needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    seed: u64,
    bits: Option<u8>,
    lambda: Option<f64>,
    loss: Option<Loss>,
    golden_rows: u64,
    column_names: bool,
    /// Whether a model of rare classes is judged by the mean error over the classes; their weights
    /// are in the sums.
    balanced: bool,
}

impl Kept {
    pub fn options(&self) -> TrainOptions {
        TrainOptions {
            seed: self.seed,
            bits: self.bits,
            lambda: self.lambda,
            loss: self.loss,
            golden_rows: self.golden_rows as usize,
            column_names: self.column_names,
            balanced: self.balanced,
            ..TrainOptions::default()
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Whole {
    stored: Stored,
    sample: Option<StoredRows>,
}

/// What a row is, where the options say it; a map for each channel needs some.
fn take_shape(table: &mut Table, options: &TrainOptions) -> Result<(), Error> {
    if let Some(shape) = options.conv.shape {
        ConvOptions::check_shape(shape, table.inputs)?;
        table.schema.image = Some(shape);
    }
    check_channels(table, options)
}

/// Refuses what sums over rows, in a few passes, are not enough for.
pub(crate) fn check_options(options: &TrainOptions) -> Result<(), Error> {
    let refused = |name, what: &str| {
        let problem = format!("{what} needs the rows in memory: streaming cannot fit it");
        Err(Error::parameter(name, problem))
    };
    match options.goal {
        Goal::Predict if options.box_c.is_some() => refused("box_c", "a box"),
        Goal::Predict if options.loss() == Loss::Hinge => refused("loss", "the loss hinge"),
        Goal::Predict if options.candidates.is_some() => {
            refused("candidates", "choosing the best of more features")
        }
        Goal::Predict if !options.categories.is_empty() => {
            let problem = "streaming reads columns as the data have them: make the columns of \
                           categories text";
            Err(Error::parameter("categories", problem))
        }
        Goal::Predict => Ok(()),
        Goal::Embed { .. } => refused("goal", "an embedding"),
        Goal::Features => refused("goal", "a model of features alone"),
        Goal::Detect { .. } => refused("goal", "anomaly detection"),
    }
}

/// Chooses everything that the options leave open on the sample.
///
/// # Errors
/// Options that do not go together or need the rows in memory, or a sample of fewer than two
/// rows.
pub fn plan(
    sample: Sample,
    options: &TrainOptions,
    progress: &Progress,
) -> Result<(Plan, Choice), Error> {
    check_options(options)?;
    let (roles, weighted) = (sample.roles(), sample.weighted);
    let (mut table, hashes, tallies) = sample.into_table();
    if table.rows() < 2 {
        return Err(Error::Impossible("training needs at least two rows".into()));
    }
    take_shape(&mut table, options)?;
    check_balanced(&table, options.balanced)?;
    let class_weights = class_weights(&table, &tallies, options.balanced);
    let weight = (weighted || !class_weights.is_empty()).then(|| {
        let of = |class: usize| class_weights.get(class).copied().unwrap_or(1.0);
        let weights = tallies.most_weight.iter().enumerate();
        exponent(
            weights.map(|(class, &w)| f64::from(w) * of(class)).fold(0.0, f64::max),
            WEIGHT_BITS,
        )
    });
    let mut stored = Stored {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema: StoredSchema::of(&table.schema)?,
        roles,
        features: Vec::new(),
        outputs: 0,
        target: exponent(f64::from(tallies.most_target), TARGET_BITS),
        weight,
        weighted,
        class_weights,
        held: Vec::new(),
        options: Kept {
            seed: options.seed,
            bits: options.bits,
            lambda: options.lambda,
            loss: options.loss,
            golden_rows: options.golden_rows as u64,
            column_names: options.column_names,
            balanced: options.balanced,
        },
        chosen: Chosen::default(),
        sample_rows: table.rows() as u64,
    };
    let problem = stored.problem(&table)?;
    check(&problem)?;
    stored.outputs = problem.outputs as u64;
    let banks = bank_plans(&table, options)?;
    dense_columns(&banks, options)?;
    if banks.iter().any(|bank| matches!(bank.family, Family::Fern { .. })) {
        let message = "ferns are chosen by rows in memory, not by those of a stream";
        return Err(Error::parameter("family", message));
    }
    if options.loss() != Loss::Squared {
        let columns = banks.iter().map(BankPlan::columns).sum();
        check_loss(problem.task(), options.loss(), columns)?;
    }
    let rows: Vec<usize> = (0..table.rows()).collect();
    let choice = choose(&problem, &rows, &banks, &options.choice(problem.task()), progress)?;
    let mut held = BTreeMap::new();
    for row in hold_out(&problem, options.seed).1 {
        *held.entry(hashes[row]).or_insert(0) += 1;
    }
    stored.held = held.into_iter().collect();
    stored.chosen = Chosen::of(&choice);
    stored.features = choice.spec.encode()?;
    Ok((Plan::of(stored, Some(table))?, choice))
}

impl Plan {
    fn of(stored: Stored, sample: Option<Table>) -> Result<Self, Error> {
        let spec = ModelSpec::features_of(&Model::parse(&stored.features)?);
        let map = FeatureMap::new(&spec)?;
        let filled = stored.schema.schema()?;
        let bytes =
            postcard::to_stdvec(&stored).map_err(|error| Error::Impossible(error.to_string()))?;
        let half = |seed: u64| u128::from(wyhash::wyhash(&bytes, seed));
        let id = half(1) << 64 | half(2);
        Ok(Self { stored, sample, map, spec, schema: open(&filled), filled, id })
    }

    /// The schema under which rows are read to be added; missing numbers stay NaN.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema with the stand-ins for missing numbers.
    pub(crate) fn filled(&self) -> &Schema {
        &self.filled
    }

    /// The rows of a batch that are for the test.
    pub(crate) fn test_rows(&self, batch: Batch<'_>) -> Table {
        let mut hasher = self.stored.roles.hasher();
        let mut tests = |row: &usize| {
            let hash = hasher.row(&batch, *row);
            hasher.tests(&batch, *row, hash)
        };
        let rows: Vec<usize> = (0..batch.table.rows()).filter(&mut tests).collect();
        batch.table.select(&rows)
    }

    /// The sample.
    ///
    /// # Errors
    /// A plan for workers.
    pub(super) fn own_sample(&self) -> Result<&Table, Error> {
        let problem = "a plan for workers has no sample: finish with the plan it was made of";
        self.sample.as_ref().ok_or_else(|| Error::Impossible(problem.into()))
    }

    /// Number of scores, T: 1 for two classes and for numbers, else one for each class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.stored.outputs as usize
    }

    /// What the weights are fitted to minimise.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.stored.options.options().loss()
    }

    /// Number of features, K.
    #[must_use]
    pub fn features(&self) -> usize {
        self.map.features()
    }

    /// Whether rows have weights of their own.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.stored.weighted
    }

    /// Tells plans apart; that for workers is the same plan.
    pub(super) fn id(&self) -> u128 {
        self.id
    }

    /// Whether rows count by integers other than 1.
    pub(super) fn has_weights(&self) -> bool {
        self.stored.weight.is_some()
    }

    /// The plan without its sample: enough to add rows, not to finish.
    #[must_use]
    pub fn for_workers(&self) -> Self {
        Self { sample: None, ..self.clone() }
    }

    /// Refuses rows that are not of the plan.
    pub(super) fn check(&self, batch: &Batch<'_>) -> Result<(), Error> {
        let grouped = self.schema.recordings.group.is_some();
        batch.check(self.schema.inputs, self.stored.weighted, grouped)
    }

    /// The plan as bytes.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let sample = self.sample.as_ref().map(StoredRows::of);
        to_bytes(MAGIC, &Whole { stored: self.stored.clone(), sample })
    }

    /// A plan from its bytes.
    ///
    /// # Errors
    /// Bytes of something else, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Whole { stored, sample } = from_bytes(MAGIC, bytes, "a plan")?;
        if stored.version != env!("CARGO_PKG_VERSION") {
            let (other, own) = (&stored.version, env!("CARGO_PKG_VERSION"));
            let problem = format!("a plan of koan {other}; this is {own}: use one version");
            return Err(Error::Impossible(problem));
        }
        let sample = match sample {
            Some(rows) => Some(rows.table(stored.schema.schema()?)?),
            None => None,
        };
        Self::of(stored, sample)
    }
}

impl Stored {
    /// The target of a regression's row as an integer.
    pub fn target(&self, value: f32) -> Result<i64, String> {
        let scaled = f64::from(value) * 2f64.powi(self.target);
        if scaled.abs() > 2f64.powi(TARGET_BITS + SPARE_BITS) {
            return Err(beyond("the target", value));
        }
        Ok(scaled.round() as i64)
    }

    /// The real value of a target of 1.
    pub fn target_unit(&self) -> f64 {
        2f64.powi(-self.target)
    }

    /// The weight of a row as an integer; 1 where no row has weights.
    pub fn weight(&self, table: &Table, row: usize) -> Result<i64, String> {
        let Some(exponent) = self.weight else { return Ok(1) };
        let weight = table.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let class = match &table.target {
            Target::Classes { labels } => self.class_weights.get(labels[row] as usize),
            Target::Values(_) => None,
        };
        let scaled = f64::from(weight) * class.copied().unwrap_or(1.0) * 2f64.powi(exponent);
        if scaled > 2f64.powi(WEIGHT_BITS + SPARE_BITS) - 1.0 {
            return Err(beyond("the weight", weight));
        }
        Ok(scaled.round() as i64)
    }

    /// The real value of a weight of 1.
    pub fn weight_unit(&self) -> f64 {
        self.weight.map_or(1.0, |exponent| 2f64.powi(-exponent))
    }

    /// The rows of the sample with the weights that the sums have.
    pub fn problem<'t>(&self, table: &'t Table) -> Result<Problem<'t>, Error> {
        let mut problem = Problem::new(table, false);
        if self.weight.is_some() {
            let weight = |row| Ok(self.weight(table, row)? as f64 * self.weight_unit());
            let weights: Result<Vec<f64>, String> = (0..table.rows()).map(weight).collect();
            problem.weights = Some(weights.map_err(Error::Impossible)?);
        }
        Ok(problem)
    }
}

fn beyond(what: &str, value: f32) -> String {
    format!(
        "{what} {value} is more than {} times the largest of the sample: plan with a sample that \
         has such rows",
        1 << SPARE_BITS
    )
}

/// The power of two by which numbers up to `largest` become integers of so many bits.
fn exponent(largest: f64, bits: i32) -> i32 {
    if largest <= 0.0 {
        return 0;
    }
    // Numbers from 2^n to below 2^(n + 1) have n here; f64 holds all of f32 without subnormals.
    let floor = ((largest.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    bits - 1 - floor
}

/// By what the weights of each class are multiplied, so that all have the same sum; none if that
/// is not asked for. Rows are counted in all data, their mean weight is that of the sample: sums
/// of real weights would depend on their order.
fn class_weights(table: &Table, tallies: &Tallies, balanced: bool) -> Vec<f64> {
    let Target::Classes { labels } = &table.target else { return Vec::new() };
    if !balanced {
        return Vec::new();
    }
    let classes = tallies.class_rows.len();
    let mut sums = vec![(0.0, 0.0); classes];
    for (row, &label) in labels.iter().enumerate() {
        let (weight, rows) = &mut sums[label as usize];
        *weight += table.weight(row);
        *rows += 1.0;
    }
    let mean = |(weight, rows): (f64, f64)| if rows > 0.0 { weight / rows } else { 1.0 };
    let counts = tallies.class_rows.iter().zip(sums);
    let shares: Vec<f64> = counts.map(|(&count, sum)| count as f64 * mean(sum)).collect();
    let share = shares.iter().sum::<f64>() / classes as f64;
    shares.into_iter().map(|own| if own > 0.0 { share / own } else { 0.0 }).collect()
}
