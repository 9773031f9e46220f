//! The experiments of the papers that Koan comes from, run again.
//!
//! Each experiment reads its data set from a folder, skips it by name where it
//! is not there, and gives a [`Section`]: the paper's figures beside Koan's.

pub mod adaboost;
mod attacks;
mod indicators;
pub mod kernel;
mod locality;
mod maxout;
mod networks;
pub mod prune;
mod section;
mod sinks;
mod uniform;

use std::path::{Path, PathBuf};

pub use section::{Grid, Plot, Section, Series};

use koan_report::page::Page;
use koan_report::page::plot::PlotError;
use koan_trainer::Error;
use koan_trainer::Progress;

/// An experiment by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Experiment {
    /// Uniform Approximation, Table I: Fourier features and bins
    Uniform,
    /// Weighted Sums of Random Kitchen Sinks, Figures 1 and 2: against AdaBoost
    Sinks,
    /// Random Maxout Features, Table 1: MNIST
    Maxout,
    /// Pruning algorithms, Table 8.1: kernel networks on PROBEN1
    Networks,
    /// Random Maxout Features, Figures 1 and 2: locality and an embedding
    Locality,
}

impl Experiment {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 5] =
        [Self::Uniform, Self::Sinks, Self::Maxout, Self::Networks, Self::Locality];

    /// Runs it.
    ///
    /// # Errors
    /// Data that are there but cannot be read.
    pub fn run(self, settings: &Settings) -> Result<Section, Error> {
        match self {
            Self::Uniform => uniform::run(settings),
            Self::Sinks => sinks::run(settings),
            Self::Maxout => maxout::run(settings),
            Self::Networks => networks::run(settings),
            Self::Locality => locality::run(settings),
        }
    }
}

/// What all experiments are told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder with a folder for each data set.
    pub data: PathBuf,
    /// Whether to run what takes long too.
    pub full: bool,
    /// Seed of splits and models; experiments with several draws count on
    /// from it.
    pub seed: u64,
    /// Where progress is shown.
    pub progress: Progress,
}

impl Settings {
    /// The given files of a data set; none if one of them is not there.
    fn files(&self, names: &[&str]) -> Option<Vec<PathBuf>> {
        let paths: Vec<_> = names.iter().map(|name| self.data.join(name)).collect();
        paths.iter().all(|path| path.is_file()).then_some(paths)
    }
}

/// All sections as one HTML page.
///
/// # Errors
/// A plot without a finite point.
pub fn page(sections: &[Section]) -> Result<Page, PlotError> {
    let mut page = Page::new("The papers' experiments, run again");
    for section in sections {
        section.add_to(&mut page)?;
    }
    Ok(page)
}

/// A file that is no data of the kind that was expected.
fn unreadable(path: &Path, problem: &str) -> Error {
    Error::Impossible(format!("{}: {problem}", path.display()))
}
