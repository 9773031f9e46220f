//! Fitting a head to the features that were chosen, and rounding it.

mod dense;
mod losses;
mod parts;
mod rounding;
mod sampled;
mod solver;
mod sparse;
mod wide;

use koan::Width;

use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use koan_data::Table;

pub(crate) use crate::folds::{hold_out, in_turn};
pub use dense::fit_dense;
pub(crate) use dense::{fit_both, fit_moments, rounded_error, scores as real_scores};
pub use losses::fit_loss;
pub(crate) use losses::{MAX_FEATURES, check_loss};
pub use parts::fit_parts;
pub(crate) use parts::parts_affordable;
pub(crate) use rounding::{Curvature, RoundedWeights};
pub(crate) use sampled::{Beginning, Sampled};
pub(crate) use solver::Rows;
pub use sparse::fit_sparse;
pub(crate) use wide::{WideFit, WideSide};

/// Real-valued scores of a table's rows: rows × outputs, row-major.
pub type FloatScores = Box<dyn Fn(&Table) -> Result<Vec<f64>, Error>>;

/// A fit, rounded both ways.
pub struct Fitted {
    /// Feature part of the model.
    pub spec: ModelSpec,
    /// The scores of the weights before rounding.
    pub float: FloatScores,
    /// The head with each weight rounded to the nearest level, of whole models.
    pub nearest: Option<HeadSpec>,
    /// The head with rounding compensated.
    pub compensated: HeadSpec,
    /// Calibration of class scores, from held-out rows, of whole models.
    pub calibration: Option<koan::Calibration>,
    /// The λ of the final fit.
    pub lambda: f64,
    /// What a user should know, such as a solver that did not converge.
    pub warnings: Vec<String>,
}

/// The widths to try for so many bits.
pub(crate) fn widths(bits: u8) -> Vec<Width> {
    // Odd levels (no zero) suit few bits, even levels have a zero: both are
    // tried where the choice matters.
    match bits {
        2..=4 => [false, true].map(|odd| width(bits, odd)).to_vec(),
        bits => vec![width(bits, false)],
    }
}

/// The one for so many bits where one has to do: few bits have odd levels.
pub(crate) fn usual_width(bits: u8) -> Width {
    width(bits, bits <= 4)
}

/// Weights of so many bits, as options that were checked have them.
pub(crate) fn width(bits: u8, odd: bool) -> Width {
    Width::new(bits, odd).expect("weights have 2, 3, 4, 8 or 16 bits")
}
