//! Fitting a head to the features that were chosen, and rounding it.

mod dense;
mod losses;
mod parts;
mod rounding;
mod sparse;
mod wide;

use koan::Width;

use crate::Error;
use crate::blob::{HeadSpec, ModelSpec};
use crate::folds::{self, Folds};
use crate::problem::Problem;
use koan_data::{Division, Part, SplitSize, Table, split, split_table};

pub use dense::fit_dense;
pub(crate) use dense::{fit_both, fit_moments, scores as real_scores};
pub use losses::{Judging, fit_loss};
pub use parts::fit_parts;
pub(crate) use rounding::{Curvature, RoundedWeights};
pub use sparse::fit_sparse;
pub(crate) use wide::WideSide;

/// Real-valued scores of a table's rows: rows × outputs, row-major.
pub type FloatScores = Box<dyn Fn(&Table) -> Result<Vec<f64>, Error>>;

/// A fit, rounded both ways.
pub struct Fitted {
    /// Feature part of the model.
    pub spec: ModelSpec,
    /// The scores of the weights before rounding.
    pub float: FloatScores,
    /// The head with each weight rounded to the nearest level.
    pub nearest: HeadSpec,
    /// The head with rounding compensated.
    pub compensated: HeadSpec,
    /// Calibration of class scores, from held-out rows.
    pub calibration: Option<koan::Calibration>,
    /// The λ of the final fit.
    pub lambda: f64,
    /// What a user should know, such as a solver that did not converge.
    pub warnings: Vec<String>,
}

/// Rows to fit on and rows to hold out for λ and calibration: 15 %, at most
/// 10,000; whole groups, or the part that a data set has for it.
pub(crate) fn hold_out(problem: &Problem<'_>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let table = problem.table;
    let rows = table.rows();
    let held = ((rows as f64 * 0.15).ceil() as usize).clamp(1, 10_000).min(rows - 1);
    hold_out_of(table, SplitSize::TestRows(held), seed)
}

/// Rows to fit on and rows to hold out, where these are few in turn: each row is held out
/// once. Of many rows one part says enough.
pub(crate) fn in_turn(problem: &Problem<'_>, seed: u64) -> Vec<(Vec<usize>, Vec<usize>)> {
    let table = problem.table;
    let folds = match Folds::new(table, seed ^ 0x5eed) {
        Ok(folds) if table.rows() < folds::SMALL_ROWS => folds,
        _ => return vec![hold_out(problem, seed)],
    };
    folds.splits()
}

/// Rows to fit on and about so many to hold out; whole groups, or the part that
/// a data set has for it.
pub(crate) fn hold_out_of(table: &Table, size: SplitSize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let rows = table.rows();
    let seed = seed ^ 0x5eed;
    let free =
        || split(&table.target, size, seed).unwrap_or_else(|_| ((0..rows).collect(), Vec::new()));
    match &table.division {
        Division::Free => free(),
        // A single group is cut in two runs.
        Division::Groups(_) => split_table(table, size, seed).unwrap_or_else(|_| {
            let fit = free().0.len();
            ((0..fit).collect(), (fit..rows).collect())
        }),
        Division::Parts(parts) => {
            let (held, fit): (Vec<usize>, Vec<usize>) =
                (0..rows).partition(|&row| parts[row] == Part::Validation);
            if held.is_empty() || fit.is_empty() { free() } else { (fit, held) }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use koan_data::digits;

    #[test]
    fn few_rows_are_held_out_in_turn_many_once() {
        let mut table = digits::table();
        let sides = in_turn(&Problem::new(&table, false), 1);
        let mut held: Vec<usize> = sides.iter().flat_map(|(_, held)| held.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, (0..table.rows()).collect::<Vec<_>>());
        for (fit, held) in &sides {
            assert_eq!(fit.len() + held.len(), table.rows());
        }
        let twice: Vec<usize> = (0..2 * table.rows()).map(|row| row / 2).collect();
        table = table.select(&twice);
        assert_eq!(in_turn(&Problem::new(&table, false), 1).len(), 1);
    }
}
