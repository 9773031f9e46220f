//! What a user may ask of training; everything has a default.

mod effect;
mod loss;
mod steps;

use koan::{Conv, Family, Law, Series, Width};

use crate::Error;
use crate::normalise::Kind;
use crate::plan::{BankPlan, GroupPlan};
use crate::series;
use crate::solve::Loss;
use koan_data::{Schema, Shape, Task};

pub use steps::{BlobOptions, ChoiceOptions, HeadOptions, Purpose};

/// A family by name, before its parameters are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyName {
    /// cos(w·x + b): smooth kernels; the usual choice
    Fourier,
    /// sign(x − t): thresholds on single inputs
    Stump,
    /// cells of random grids: rough, local functions
    Bin,
    /// maxima of projections: piecewise linear functions
    Maxout,
    /// σ(w·x + b): random ridge functions
    Sigmoid,
    /// filters of signs over an image or a series, pooled
    Conv,
    /// small trees from a few comparisons of inputs, chosen from a large pool
    Fern,
    /// filters of signs over a series and its differences: proportions above thresholds
    Series,
    /// the inputs themselves
    Linear,
}

impl FamilyName {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Fourier,
        Self::Stump,
        Self::Bin,
        Self::Maxout,
        Self::Sigmoid,
        Self::Conv,
        Self::Fern,
        Self::Series,
        Self::Linear,
    ];

    /// The name, as the command line and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fourier => "fourier",
            Self::Stump => "stump",
            Self::Bin => "bin",
            Self::Maxout => "maxout",
            Self::Sigmoid => "sigmoid",
            Self::Conv => "conv",
            Self::Fern => "fern",
            Self::Series => "series",
            Self::Linear => "linear",
        }
    }
}

/// What becomes of a filter's values in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pooling {
    /// the average of their cosines
    #[default]
    Average,
    /// the proportion that is positive
    Proportion,
}

/// What is asked of a convolution; what is not given follows from the shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConvOptions {
    /// What a row is; known of idx images and of windows.
    pub shape: Option<Shape>,
    /// Taps of a filter in each direction: a quarter of an image's side, 2 to 7; 9 for
    /// series.
    pub kernel: Option<u8>,
    /// Pixels from a position to the next, 1 to 15; 1 if not given.
    pub stride: Option<u8>,
    /// Cells in each direction: up to 4 for images, 1 for series.
    pub grid: Option<u8>,
    /// What becomes of the values in a cell.
    pub pooling: Pooling,
    /// Whether filters are dilated by powers of two.
    pub dilated: bool,
}

impl ConvOptions {
    /// Refuses a shape that is not that of rows of so many inputs.
    pub(crate) fn check_shape(shape: Shape, inputs: usize) -> Result<(), Error> {
        let found = shape.inputs();
        if found == inputs {
            return Ok(());
        }
        let problem = format!("a shape of {shape} has {found} inputs, the data have {inputs}");
        Err(Error::parameter("shape", problem))
    }

    /// The family over rows of a schema.
    pub(crate) fn family(&self, schema: &Schema) -> Result<Conv, Error> {
        let Some(shape) = self.shape.or_else(|| schema.shape()) else {
            return Err(Error::parameter(
                "shape",
                "the family conv needs the shape of a row: HEIGHTxWIDTHxCHANNELS of images, or \
                 LENGTHxCHANNELS of series",
            ));
        };
        Self::check_shape(shape, schema.inputs)?;
        let series = shape.height == 1;
        let side = if series { shape.width } else { shape.height.min(shape.width) };
        let usual = if series { side.min(9) } else { (side / 4).clamp(3, 7).min(side) };
        let kernel = self.kernel.unwrap_or(usual as u8);
        let stride = self.stride.unwrap_or(1);
        let positions = side.saturating_sub(usize::from(kernel)) / usize::from(stride.max(1)) + 1;
        let usual = if series { 1 } else { positions.min(4) };
        let mut conv = Conv {
            height: size("rows", shape.height)?,
            channels: size("channels", shape.channels)?,
            kernel,
            stride,
            grid: self.grid.unwrap_or(usual as u8),
            proportion: self.pooling == Pooling::Proportion,
            dilated: self.dilated,
            transform: 64,
        };
        // The shortest that holds a window: a longer one only makes more filters of it.
        conv.transform = conv.taps().next_power_of_two().clamp(8, 64) as u8;
        if u16::try_from(schema.inputs).is_ok_and(|inputs| conv.fits(inputs)) {
            return Ok(conv);
        }
        Err(Error::parameter(
            "kernel",
            format!(
                "filters of {kernel} taps{} and stride {stride} have no place, or fewer positions than \
             a grid of {}, in rows of {shape}",
                if conv.dilated { ", dilated," } else { "" },
                conv.grid
            ),
        ))
    }
}

/// A size that the format holds in a byte.
fn size(what: &'static str, found: usize) -> Result<u8, Error> {
    u8::try_from(found).map_err(|_| Error::TooMany { what, found, most: 255 })
}

/// What the outputs are to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The target: a class or a value.
    Predict,
    /// Coordinates: so many principal components of the features.
    Embed {
        /// From 2 to 255.
        outputs: u8,
    },
    /// The features themselves: a model without a head.
    Features,
    /// Whether a row is normal.
    Detect {
        /// The class of normal rows; none if all are.
        normal: Option<u32>,
        /// The share of normal rows that may be called anomalies.
        false_alarm: f64,
    },
}

/// What training is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainOptions {
    /// What the outputs are to be.
    pub goal: Goal,
    /// One bank for each: a sum of kernels.
    pub families: Vec<FamilyName>,
    /// Law of the draws; chosen by family and number of inputs if not given.
    pub projection: Option<Law>,
    /// Features of each bank (grids for bins, ferns); the last one stands for the
    /// banks that follow. Chosen by family if empty.
    pub features: Vec<u16>,
    /// Features of each bank that the best K are chosen from: by backward
    /// elimination, ferns by boosting. If not given, the first K are taken, of ferns the
    /// best of 65,535.
    pub candidates: Option<u16>,
    /// Bits of a weight: 2, 3, 4, 8 or 16. If not given, 4 for classes, which
    /// only need the right score to be highest, and 8 for numbers.
    pub bits: Option<u8>,
    /// Seed of the model and of every split.
    pub seed: u64,
    /// Frequency of each bank, relative to the spread of the data, above 0, at most 1e6; searched
    /// if not given.
    pub frequency: Option<Vec<f64>>,
    /// λ, relative to a feature's variance times the rows, 0 to 1e6; searched if not given.
    pub lambda: Option<f64>,
    /// What the head minimises; if not given, squared error, of linear models of classes the logistic
    /// loss, or what a search chooses.
    pub loss: Option<Loss>,
    /// C of the constraint that no weight is beyond ±C/K, for features of
    /// magnitude 1 (Algorithm 1 of *Weighted Sums of Random Kitchen Sinks*).
    pub box_c: Option<f64>,
    /// Kind of input map; chosen if not given.
    pub map: Option<Kind>,
    /// Whether to learn a frequency for every input; where it helps if not
    /// given.
    pub relevance: Option<bool>,
    /// Maxout: projections of a unit, at least 1.
    pub pool: u8,
    /// Maxout: projections in the pool that all units share; 0 for own ones.
    pub shared: u16,
    /// Bin: slots of a grid are 2^slot_bits; 1 to 12.
    pub slot_bits: u8,
    /// Fern: comparisons of a fern, 1 to 4.
    pub depth: u8,
    /// Conv: shape, kernel and pooling; series: shape and kernel.
    pub conv: ConvOptions,
    /// Number columns that are taken as categories, by their place in the schema, from 0: one
    /// input for each of a column's values. A search finds out whether that helps where all are
    /// numbers, if none is given.
    pub categories: Vec<usize>,
    /// Series: the family with its gains, in place of what `conv` asks for; measured on the
    /// training rows if not given.
    pub series: Option<Series>,
    /// Groups of inputs with laws and frequencies of their own (a product of
    /// kernels), for all banks that can have them.
    pub groups: Vec<GroupPlan>,
    /// Adds the inputs themselves as a bank.
    pub linear: bool,
    /// Gives every class the same weight.
    pub balanced: bool,
    /// Training rows that the blob carries with their exact scores.
    pub golden_rows: usize,
    /// Whether the blob's notes carry the names of columns; without them columns
    /// are matched by position.
    pub column_names: bool,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            goal: Goal::Predict,
            families: vec![FamilyName::Fourier],
            projection: None,
            features: Vec::new(),
            candidates: None,
            bits: None,
            seed: 1,
            frequency: None,
            lambda: None,
            loss: None,
            box_c: None,
            map: None,
            relevance: None,
            pool: 4,
            shared: 0,
            slot_bits: 8,
            depth: 3,
            conv: ConvOptions::default(),
            categories: Vec::new(),
            series: None,
            groups: Vec::new(),
            linear: false,
            balanced: false,
            golden_rows: 0,
            column_names: true,
        }
    }
}

/// Inputs from which the transform pays and its dependent rows do no harm.
const HADAMARD_INPUTS: usize = 16;
/// Slots of a grid, at most, as a power of two: as the format has it.
const MOST_SLOT_BITS: u8 = 12;

impl TrainOptions {
    /// Whether all of the model is left open, but for its families: `koan train` then searches.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.goal == Goal::Predict
            && self.projection.is_none()
            && self.features.is_empty()
            && self.bits.is_none()
            && self.frequency.is_none()
            && self.lambda.is_none()
            && self.loss.is_none()
            && self.box_c.is_none()
            && self.map.is_none()
            && self.relevance.is_none()
            && self.groups.is_empty()
            && !self.linear
    }

    /// Bits of a weight for a task.
    #[must_use]
    pub fn bits_for(&self, task: Task) -> u8 {
        self.bits.unwrap_or(match task {
            Task::Classification => 4,
            Task::Regression => 8,
        })
    }

    /// The banks that are asked for, over rows of a schema.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn banks(&self, schema: &Schema) -> Result<Vec<BankPlan>, Error> {
        self.check()?;
        let inputs = schema.inputs;
        let covered: usize = self.groups.iter().map(|group| usize::from(group.inputs)).sum();
        if !self.groups.is_empty() && covered != inputs {
            return Err(Error::parameter(
                "groups",
                format!("the groups cover {covered} inputs, the data have {inputs}"),
            ));
        }
        self.families
            .iter()
            .enumerate()
            .map(|(index, &family)| self.bank(index, family, schema))
            .collect()
    }

    /// Numbers that make no sense are refused before any work is done.
    fn check(&self) -> Result<(), Error> {
        let sensible = |value: f64| value.is_finite() && value > 0.0 && value <= 1e6;
        if self.features.contains(&0) {
            return Err(Error::parameter("features", "a bank needs at least one feature"));
        }
        let frequencies = self.frequency.iter().flatten().copied();
        if let Some(bad) = frequencies
            .chain(self.groups.iter().map(|group| group.frequency))
            .find(|b| !sensible(*b))
        {
            return Err(Error::parameter(
                "frequency",
                format!("a frequency of {bad} is not in (0, 1e6]"),
            ));
        }
        if !(1..=MOST_SLOT_BITS).contains(&self.slot_bits) {
            let message =
                format!("bins have 1 to {MOST_SLOT_BITS} slot bits, not {}", self.slot_bits);
            return Err(Error::parameter("slot_bits", message));
        }
        if self.pool == 0 {
            return Err(Error::parameter("pool", "a maximum is of at least one value"));
        }
        if !(1..=crate::ferns::MOST_DEPTH).contains(&self.depth) {
            let message = format!("ferns have 1 to 4 comparisons, not {}", self.depth);
            return Err(Error::parameter("depth", message));
        }
        if let Some(bad) = self.bits.filter(|&bits| Width::new(bits, false).is_none()) {
            return Err(Error::parameter("bits", format!("{bad} is not one of 2, 3, 4, 8 and 16")));
        }
        if let Some(bad) = self.lambda.filter(|&lambda| lambda != 0.0 && !sensible(lambda)) {
            return Err(Error::parameter(
                "lambda",
                format!("a lambda of {bad} is not in [0, 1e6]"),
            ));
        }
        if let Some(bad) = self.box_c.filter(|c| !sensible(*c)) {
            return Err(Error::parameter("box_c", format!("a box of {bad} is not in (0, 1e6]")));
        }
        if self.box_c.is_some() && self.loss() == Loss::Logistic {
            let message = "a box goes with the losses squared and hinge, not with logistic";
            return Err(Error::parameter("box_c", message));
        }
        if !self.groups.is_empty() && self.groups.iter().all(|group| group.law == Law::None) {
            return Err(Error::parameter("groups", "the groups leave all inputs out"));
        }
        Ok(())
    }

    fn bank(&self, index: usize, name: FamilyName, schema: &Schema) -> Result<BankPlan, Error> {
        let inputs = schema.inputs;
        let mixing = if inputs >= HADAMARD_INPUTS { Law::Hadamard } else { Law::Gaussian };
        let (family, usual, features) = match name {
            FamilyName::Fourier if matches!(self.goal, Goal::Detect { .. }) => {
                (Family::Fourier, mixing, 1024)
            }
            FamilyName::Fourier => (Family::Fourier, mixing, 512),
            FamilyName::Stump => (Family::Stump, Law::Gaussian, 512),
            FamilyName::Bin => (Family::Bin { slot_bits: self.slot_bits }, Law::Gamma2, 50),
            FamilyName::Maxout => {
                (Family::Maxout { pool: self.pool, shared: self.shared }, mixing, 512)
            }
            FamilyName::Sigmoid => (Family::Sigmoid, mixing, 512),
            FamilyName::Conv => {
                let conv = self.conv.family(schema)?;
                // Whole filters.
                let cells = conv.cells().max(1);
                (Family::Conv(conv), Law::Hadamard, cells * (u16::MAX / cells).min(64))
            }
            FamilyName::Series => {
                let series = match self.series {
                    Some(series) => series,
                    None => series::family(&self.conv, schema)?,
                };
                (Family::Series(series), Law::Hadamard, 512)
            }
            FamilyName::Fern => (Family::Fern { depth: self.depth }, Law::Gaussian, 64),
            FamilyName::Linear => (Family::Linear, Law::None, inputs as u16),
        };
        let law = self.projection.unwrap_or(usual);
        let law = if family == Family::Linear { Law::None } else { law };
        let groups = match family {
            Family::Fourier | Family::Stump | Family::Bin { .. } => self.groups.clone(),
            _ => Vec::new(),
        };
        if groups.is_empty() && !law.suits(family, false) {
            return Err(Error::parameter(
                "projection",
                format!("the family {} has no projection {}", family.name(), law.name()),
            ));
        }
        if let Some(group) = groups.iter().find(|group| !group.law.suits(family, true)) {
            return Err(Error::parameter(
                "groups",
                format!("the family {} has no groups of law {}", family.name(), group.law.name()),
            ));
        }
        let given = self.features.get(index).or(self.features.last()).copied();
        let features = if family == Family::Linear { features } else { given.unwrap_or(features) };
        // Kept features need not make up whole filters.
        if let Family::Conv(conv) = family
            && self.candidates.is_none()
            && !features.is_multiple_of(conv.cells())
        {
            let cells = conv.cells();
            return Err(Error::parameter(
                "features",
                format!(
                    "{features} features are no whole number of filters, which have {cells} each"
                ),
            ));
        }
        let frequencies = self.frequency.as_deref().unwrap_or(&[]);
        let frequency = frequencies.get(index).or(frequencies.last()).copied().unwrap_or(1.0);
        Ok(BankPlan { family, law, features, frequency, groups, kept: None })
    }
}
