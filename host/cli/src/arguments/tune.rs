//! `koan tune`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use koan::{Form, Law};
use koan_data::Shape;
use koan_trainer::tune::{self, Core, Limits, Metric, Space, TuneOptions};
use koan_trainer::{ConvOptions, FamilyName, Loss, MapKind, TrainOptions};

use super::Threads;
use super::choices::{
    CoreArgument, FamilyArgument, FormArgument, LawArgument, LossArgument, MapArgument,
    MetricArgument, choice,
};
use super::source::Source;
use super::values::{bits, bytes, count, minutes, yes_no};

#[derive(Debug, Args)]
pub struct Tune {
    #[command(flatten)]
    pub source: Source,
    /// Folder for the models of the front, one file for each
    #[arg(short, long, value_name = "FOLDER", default_value = "tuned")]
    pub output: PathBuf,

    /// Bytes of the model, at most; k is 1024. The code comes on top [default: 4k]
    #[arg(allow_negative_numbers = true, long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    pub flash: Option<usize>,
    /// Include the estimated code size of the runtime (Cortex-M0, fast form by default) in --flash
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true,
          default_missing_value = "fast", requires = "flash", help_heading = "Limits",
          value_parser = choice::<FormArgument, Form>())]
    pub with_code: Option<Form>,
    /// Bytes of the predictor's buffers, at most, as `koan inspect` prints them;
    /// k is 1024. The stack comes on top
    #[arg(allow_negative_numbers = true, long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    pub ram: Option<usize>,
    /// Instructions of a prediction, at most, as predicted for the core; k is
    /// 1000, m a million
    #[arg(allow_negative_numbers = true, long, value_name = "COUNT", value_parser = count, help_heading = "Limits")]
    pub instructions: Option<u64>,
    /// The core that instructions are predicted for
    #[arg(long, default_value = "cortex-m0", help_heading = "Limits",
          value_parser = choice::<CoreArgument, Core>())]
    pub core: Core,

    /// What is made best
    #[arg(long, default_value = "error", help_heading = "Search",
          value_parser = choice::<MetricArgument, Metric>())]
    pub metric: Metric,
    /// Minutes that the search plans for, and at which it ends
    #[arg(allow_negative_numbers = true, long, default_value_t = 5.0, value_parser = minutes, help_heading = "Search")]
    pub minutes: f64,
    /// Carry out all that is planned for the minutes, however long it takes: the same
    /// result on every machine
    #[arg(long, help_heading = "Search")]
    pub no_clock: bool,
    /// Families to choose from [default: all; conv where rows have a shape, or
    /// neighbouring columns are alike]
    #[arg(long, value_delimiter = ',', help_heading = "Search",
          value_parser = choice::<FamilyArgument, FamilyName>())]
    pub family: Vec<FamilyName>,
    /// What a row is, HEIGHTxWIDTHxCHANNELS or LENGTHxCHANNELS, for the families conv and series
    /// [default: as idx images and windows have it; else guessed where neighbours are alike]
    #[arg(long, value_name = "SIZES", help_heading = "Search")]
    pub shape: Option<Shape>,
    /// Law of the random draws [default: searched]
    #[arg(long, help_heading = "Search",
          value_parser = choice::<LawArgument, Law>())]
    pub projection: Option<Law>,
    /// What the head minimises [default: searched]
    #[arg(long, help_heading = "Search",
          value_parser = choice::<LossArgument, Loss>())]
    pub loss: Option<Loss>,
    /// Bits of a weight [default: searched]
    #[arg(short, long, value_parser = bits, value_name = "2|3|4|8|16", help_heading = "Search")]
    pub bits: Option<u8>,
    /// Input map [default: searched]
    #[arg(long, help_heading = "Search",
          value_parser = choice::<MapArgument, MapKind>())]
    pub map: Option<MapKind>,
    /// Learn a frequency for every input [default: searched]
    #[arg(long, value_name = "yes|no", value_parser = yes_no, help_heading = "Search")]
    pub relevance: Option<bool>,

    /// Rows to put into the models with their exact scores, for self tests
    #[arg(long, default_value_t = 0, help_heading = "Output")]
    pub golden_rows: usize,
    /// Leave the names of columns out of the models [default: if they take more
    /// than a tenth of the flash]
    #[arg(long, help_heading = "Output")]
    pub no_column_names: bool,
    /// Write a page with the front as a plot
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
}

impl Tune {
    /// What is to be searched, and within what.
    pub fn tune_options(&self) -> TuneOptions {
        let given = self.family.clone();
        TuneOptions {
            space: Space {
                base: TrainOptions {
                    projection: self.projection,
                    loss: self.loss,
                    bits: self.bits,
                    map: self.map,
                    relevance: self.relevance,
                    conv: ConvOptions { shape: self.shape, ..ConvOptions::default() },
                    golden_rows: self.golden_rows,
                    column_names: !self.no_column_names,
                    ..self.source.base_options()
                },
                families: if given.is_empty() { tune::FAMILIES.to_vec() } else { given },
            },
            limits: Limits {
                flash: self.flash.unwrap_or(tune::FLASH),
                code: self.with_code,
                ram: self.ram,
                instructions: self.instructions,
                core: self.core,
            },
            metric: self.metric,
            time: Duration::from_secs_f64(60.0 * self.minutes),
            clock: !self.no_clock,
        }
    }
}
