//! `koan train`.

use std::path::PathBuf;

use clap::Args;
use koan::{Form, Law};
use koan_data::Shape;
use koan_trainer::{
    ConvOptions, Core, FamilyName, Goal, GroupPlan, Limits, Loss, MapKind, Pooling, TrainOptions,
    tune,
};

use super::Threads;
use super::choices::{
    CoreArgument, FamilyArgument, FormArgument, LawArgument, LossArgument, MapArgument,
    PoolingArgument, choice,
};
use super::source::{Source, TaskName};
use super::values::{bits, bytes, count, group, yes_no};

/// Coordinates of an embedding.
const OUTPUTS: u8 = 2;
/// Share of normal rows that a detector may call anomalies.
const FALSE_ALARM: f64 = 0.01;
/// Options that do not go with a search within limits.
const UNSEARCHED: [&str; 7] =
    ["features", "box_c", "groups", "pool", "shared_pool", "slot_bits", "depth"];

#[derive(Debug, Args)]
pub struct Train {
    #[command(flatten)]
    pub source: Source,
    /// Where to write the model [default: here, named as the data: sensors.csv makes
    /// sensors.koan]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Cross-validate in so many parts; the model is then trained on all rows
    #[arg(long, value_name = "PARTS", conflicts_with_all = ["test", "train_rows", "test_fraction"])]
    pub folds: Option<usize>,

    /// Whether to read the files block by block instead of into memory
    /// [default: files of 1 GB and more together]
    #[arg(long, value_name = "yes|no", value_parser = yes_no, help_heading = "Streaming")]
    pub stream: Option<bool>,
    /// Rows of the random sample that everything but the weights is chosen on
    /// [default: 60000]
    #[arg(long, value_name = "ROWS", help_heading = "Streaming")]
    pub sample_rows: Option<usize>,
    /// Where a killed training finds what it had done [default: the output with
    /// `.checkpoint` after its name]
    #[arg(long, value_name = "FILE", help_heading = "Streaming")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds from one checkpoint to the next [default: 30]
    #[arg(long, value_name = "SECONDS", help_heading = "Streaming")]
    pub checkpoint_every: Option<u64>,

    /// Families, one bank for each (several: a sum of kernels) [default: searched if
    /// nothing below is given, else fourier]
    #[arg(long, value_delimiter = ',', help_heading = "Model",
          value_parser = choice::<FamilyArgument, FamilyName>())]
    pub family: Vec<FamilyName>,
    /// Bytes of the model, at most; k is 1024. The code comes on top. Options of the model that are
    /// not given are searched [default: 2k where no option of the model is given; else no search]
    #[arg(allow_negative_numbers = true, long, value_name = "BYTES", value_parser = bytes,
          conflicts_with_all = UNSEARCHED, help_heading = "Model")]
    pub flash: Option<usize>,
    /// Include the estimated code size of the runtime (Cortex-M0, fast form by default) in --flash
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true,
          default_missing_value = "fast", requires = "flash", help_heading = "Model",
          value_parser = choice::<FormArgument, Form>())]
    pub with_code: Option<Form>,
    /// Bytes of the predictor's buffers, at most; k is 1024. The stack comes on top. Searches as
    /// --flash does, within 2k of flash if that is not given
    #[arg(allow_negative_numbers = true, long, value_name = "BYTES", value_parser = bytes,
          conflicts_with_all = UNSEARCHED, help_heading = "Model")]
    pub ram: Option<usize>,
    /// Instructions of a prediction, at most, as predicted for the core; k is 1000, m a million.
    /// Searches as --flash does, within 2k of flash if that is not given
    #[arg(allow_negative_numbers = true, long, value_name = "COUNT", value_parser = count,
          conflicts_with_all = UNSEARCHED, help_heading = "Model")]
    pub instructions: Option<u64>,
    /// The core that --instructions are predicted for [default: cortex-m0]
    #[arg(long, requires = "instructions", help_heading = "Model",
          value_parser = choice::<CoreArgument, Core>())]
    pub core: Option<Core>,
    /// Law of the random draws [default: by family and number of inputs]
    #[arg(long, help_heading = "Model",
          value_parser = choice::<LawArgument, Law>())]
    pub projection: Option<Law>,
    /// Features of each bank; grids for bins, ferns [default: 512, 1024 for anomalies; 50 grids; 64 filters or ferns]
    #[arg(short = 'k', long, value_name = "K", value_delimiter = ',', help_heading = "Model")]
    pub features: Vec<u16>,
    /// Features of each bank to choose the best K from; the model lists which
    /// [default: the first K, without a list; of ferns the best of 65535]
    #[arg(long, value_name = "N", help_heading = "Model",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub candidates: Option<u16>,
    /// Bits of a weight [default: 4 for classes, 8 for numbers]
    #[arg(short, long, value_parser = bits, value_name = "2|3|4|8|16", help_heading = "Model")]
    pub bits: Option<u8>,
    /// Frequencies relative to the spread of the data [default: searched]
    #[arg(
        allow_negative_numbers = true,
        long,
        alias = "bandwidth",
        value_delimiter = ',',
        help_heading = "Model"
    )]
    pub frequency: Vec<f64>,
    /// What the head minimises [default: squared, of linear models of classes logistic, or searched]
    #[arg(long, help_heading = "Model",
          value_parser = choice::<LossArgument, Loss>())]
    pub loss: Option<Loss>,
    /// Keep every weight within ±C/K, features being at most 1
    #[arg(allow_negative_numbers = true, long = "box", value_name = "C", help_heading = "Model")]
    pub box_c: Option<f64>,
    /// Penalty on squared weights, relative to a feature's variance; in rows for bins
    /// [default: searched]
    #[arg(allow_negative_numbers = true, long, help_heading = "Model")]
    pub lambda: Option<f64>,
    /// Input map [default: chosen on held-out rows]
    #[arg(long, help_heading = "Model",
          value_parser = choice::<MapArgument, MapKind>())]
    pub map: Option<MapKind>,
    /// Learn a frequency for every input [default: where it helps]
    #[arg(long, value_name = "yes|no", value_parser = yes_no, help_heading = "Model")]
    pub relevance: Option<bool>,
    /// Maxout: projections of a unit [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..), help_heading = "Model")]
    pub pool: Option<u8>,
    /// Maxout: projections that all units share [default: each has its own]
    #[arg(long, help_heading = "Model")]
    pub shared_pool: Option<u16>,
    /// Bin: slots of a grid are 2 to this power [default: 8]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=12), help_heading = "Model")]
    pub slot_bits: Option<u8>,
    /// Fern: comparisons; a fern has 2 to this power weights [default: 3]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=4), help_heading = "Model")]
    pub depth: Option<u8>,
    /// Conv, series: what a row is, HEIGHTxWIDTHxCHANNELS or LENGTHxCHANNELS [default: as idx
    /// images and windows have it; a search guesses it where neighbours are alike]
    #[arg(long, value_name = "SIZES", help_heading = "Convolution")]
    pub shape: Option<Shape>,
    /// Conv: taps of a filter in each direction [default: 3 to 7 by the image; 9 for
    /// series]
    #[arg(long, value_name = "TAPS", value_parser = clap::value_parser!(u8).range(1..),
          help_heading = "Convolution")]
    pub kernel: Option<u8>,
    /// Conv: pixels or samples from a position of a filter to the next [default: 1]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u8).range(1..=15),
          help_heading = "Convolution")]
    pub filter_stride: Option<u8>,
    /// Conv: cells in each direction that a filter's values are pooled in [default: 4 for
    /// images, 1 for series]
    #[arg(long, value_name = "CELLS", value_parser = clap::value_parser!(u8).range(1..),
          help_heading = "Convolution")]
    pub grid: Option<u8>,
    /// Conv: what becomes of a filter's values in a cell
    /// [default: average]
    #[arg(long, help_heading = "Convolution", value_parser = choice::<PoolingArgument, Pooling>())]
    pub pooling: Option<Pooling>,
    /// Conv: dilate filters by powers of two
    #[arg(long, help_heading = "Convolution")]
    pub dilated: bool,
    /// Groups of inputs for a product of kernels, INPUTS:LAW[:FREQUENCY],...: how many inputs, in
    /// their order, their projection (`none` leaves them out), their frequency relative to the
    /// bank's [default: 1]
    #[arg(long = "input-groups", alias = "groups", value_name = "GROUPS", value_delimiter = ',',
          value_parser = group, help_heading = "Model")]
    pub groups: Vec<GroupPlan>,
    /// Add the inputs themselves, a linear term
    #[arg(long, help_heading = "Model")]
    pub linear: bool,
    /// Embedding: coordinates, principal components of the features [default: 2]
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..), help_heading = "Model")]
    pub outputs: Option<u8>,
    /// Anomaly: share of normal rows that may be called anomalies [default: 0.01]
    #[arg(allow_negative_numbers = true, long, value_name = "RATE", help_heading = "Model")]
    pub false_alarm: Option<f64>,
    /// Rows to put into the model with their exact scores, for self tests
    #[arg(long, default_value_t = 0, help_heading = "Output")]
    pub golden_rows: usize,
    /// Leave the names of columns out of the model; match them by position
    #[arg(long, help_heading = "Output")]
    pub no_column_names: bool,
    /// Also write a page with plots: errors, reliability, curves over features,
    /// bits and rows, the data's facts, and how to repeat it
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print the report as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
}

impl Train {
    /// The limits within which family, features and bits are to be searched; none
    /// where they are given, or where nothing could be searched.
    pub fn searched(&self) -> Option<Limits> {
        let open = self.family.is_empty() && self.train_options().is_open();
        let limited = self.ram.is_some() || self.instructions.is_some();
        let flash = self.flash.or((open || limited).then_some(tune::USUAL_FLASH))?;
        let usual = Limits::of_flash(flash);
        Some(Limits {
            code: self.with_code,
            ram: self.ram,
            instructions: self.instructions,
            core: self.core.unwrap_or(usual.core),
            ..usual
        })
    }

    /// Whether nothing is searched, but would be if `--flash` was given as well.
    pub fn could_be_searched(&self) -> bool {
        // Options of [`UNSEARCHED`].
        let only_without = self.features.is_empty()
            && self.box_c.is_none()
            && self.groups.is_empty()
            && self.pool.is_none()
            && self.shared_pool.is_none()
            && self.slot_bits.is_none()
            && self.depth.is_none();
        let predicts = self.train_options().goal == Goal::Predict;
        self.searched().is_none() && predicts && only_without
    }

    /// Families to search.
    pub fn families(&self) -> Vec<FamilyName> {
        match self.family.as_slice() {
            [] => tune::FAMILIES.to_vec(),
            given => given.to_vec(),
        }
    }

    /// Families that the model has, or may have if they are searched.
    pub fn possible_families(&self) -> Vec<FamilyName> {
        if self.searched().is_some() { self.families() } else { self.train_options().families }
    }

    pub fn train_options(&self) -> TrainOptions {
        let usual = TrainOptions::default();
        TrainOptions {
            goal: match self.source.task {
                Some(TaskName::Embedding) => {
                    Goal::Embed { outputs: self.outputs.unwrap_or(OUTPUTS) }
                }
                Some(TaskName::Anomaly) => Goal::Detect {
                    // The class that is told from the others is the second one.
                    normal: self.source.normal.as_ref().map(|_| 1),
                    false_alarm: self.false_alarm.unwrap_or(FALSE_ALARM),
                },
                _ => Goal::Predict,
            },
            loss: self.loss,
            box_c: self.box_c,
            families: match self.family.as_slice() {
                [] => vec![FamilyName::Fourier],
                given => given.to_vec(),
            },
            projection: self.projection,
            features: self.features.clone(),
            candidates: self.candidates,
            bits: self.bits,
            frequency: if self.frequency.is_empty() { None } else { Some(self.frequency.clone()) },
            lambda: self.lambda,
            map: self.map,
            relevance: self.relevance,
            pool: self.pool.unwrap_or(usual.pool),
            shared: self.shared_pool.unwrap_or(usual.shared),
            slot_bits: self.slot_bits.unwrap_or(usual.slot_bits),
            depth: self.depth.unwrap_or(usual.depth),
            conv: ConvOptions {
                shape: self.shape,
                kernel: self.kernel,
                stride: self.filter_stride,
                grid: self.grid,
                pooling: self.pooling.unwrap_or_default(),
                dilated: self.dilated,
            },
            groups: self.groups.clone(),
            linear: self.linear,
            golden_rows: self.golden_rows,
            column_names: !self.no_column_names,
            ..self.source.base_options()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use koan_trainer::{Core, Limits};

    use crate::arguments::{Arguments, Command};

    #[test]
    fn limits_of_ram_and_instructions_are_searched_within() {
        let limits = |options: &str| {
            let words = format!("koan train rows.csv -o m.koan {options}");
            let parsed = Arguments::try_parse_from(words.split_whitespace()).ok()?;
            let Command::Train(train) = parsed.command else { panic!("{words}") };
            train.searched()
        };
        let usual = Limits::of_flash(2048);
        let found = limits("--instructions 50k --bits 4").unwrap();
        assert_eq!(found, Limits { instructions: Some(50_000), ..usual });
        let found = limits("--flash 1k --ram 300 --instructions 1m --core cortex-m4f").unwrap();
        assert_eq!((found.flash, found.ram, found.core), (1024, Some(300), Core::CortexM4F));
        for refused in
            ["--instructions 50k --features 10", "--ram 1k --pool 9", "--core cortex-m4f"]
        {
            assert!(limits(refused).is_none(), "{refused}");
        }
    }

    #[test]
    fn without_options_of_the_model_one_of_two_kilobytes_is_searched() {
        let parsed = |options: &str| {
            let words = format!("koan train rows.csv -o m.koan {options}");
            let parsed = Arguments::try_parse_from(words.split_whitespace()).unwrap();
            let Command::Train(train) = parsed.command else { panic!("{words}") };
            train
        };
        let searched = |options: &str| parsed(options).searched().map(|limits| limits.flash);
        assert_eq!(searched(""), Some(2048));
        assert_eq!(searched("--seed 3 --target y --threads 1"), Some(2048));
        assert_eq!(searched("--flash 300 --family stump,fourier"), Some(300));
        for given in ["--family stump", "--features 16", "--bits 2", "--loss logistic", "--linear"]
        {
            assert_eq!(searched(given), None, "{given}");
            // That of so many features cannot be searched by bytes.
            assert_eq!(parsed(given).could_be_searched(), !given.contains("features"), "{given}");
        }
        assert!(!parsed("").could_be_searched());
        assert!(!parsed("--task anomaly --linear").could_be_searched());
    }
}
