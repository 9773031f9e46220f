//! Rounding all outputs of a fit, through one matrix or one for each.

use faer::{Mat, MatRef, Side};
use koan::Width;

use crate::blob::{HeadSpec, ModelSpec};
use crate::head::{RoundedOutput, assemble};
use crate::parallel;
use crate::quantise::{Rounded, Rounding, round};
use crate::ridge::{LinearFit, System};

/// All outputs' weights, rounded to one width.
pub(crate) struct RoundedWeights {
    /// Bits and kind of levels.
    pub width: Width,
    outputs: Vec<Rounded>,
    /// The weights that the codes stand for, K × T.
    pub weights: Mat<f64>,
    /// What the rounding adds to the objective, over all outputs.
    pub excess: f64,
}

impl RoundedWeights {
    /// Rounds `weights`, K × T; `factor` and `matrix` as in [`round`].
    pub fn new(
        weights: MatRef<'_, f64>,
        spec: &ModelSpec,
        width: Width,
        factor: MatRef<'_, f64>,
        matrix: MatRef<'_, f64>,
        rounding: Rounding,
    ) -> Self {
        Self::by(weights, spec, width, |weights, banks| {
            round(weights, banks, factor, matrix, rounding)
        })
    }

    /// Rounds `weights`, K × T, by a function of an output's weights and of the columns and width of
    /// each bank.
    pub fn by(
        weights: MatRef<'_, f64>,
        spec: &ModelSpec,
        width: Width,
        round: impl Fn(&[f64], &[(usize, Width)]) -> Rounded + Sync,
    ) -> Self {
        let banks = banks(spec, width);
        // Outputs are independent: in parallel they give the same codes.
        let outputs = parallel::map(weights.ncols(), |t| round(&column(weights, t), &banks));
        Self::of(spec, width, outputs)
    }

    /// Rounds `weights`, K × T, to the best of `widths`, each output through a `matrix` of its own;
    /// none where one has no factor.
    pub fn by_own(
        weights: MatRef<'_, f64>,
        spec: &ModelSpec,
        widths: &[Width],
        matrix: impl Fn(usize) -> Mat<f64> + Sync,
    ) -> Option<Self> {
        let rounded = parallel::map(weights.ncols(), |t| {
            let matrix = matrix(t);
            let factor = matrix.llt(Side::Lower).ok()?;
            let column = column(weights, t);
            let of_width = |&width: &Width| {
                let banks = banks(spec, width);
                round(&column, &banks, factor.L(), matrix.as_ref(), Rounding::Compensated)
            };
            Some(widths.iter().map(of_width).collect::<Vec<_>>())
        });
        let rounded: Vec<Vec<Rounded>> = rounded.into_iter().collect::<Option<_>>()?;
        let of_width = |(place, &width): (usize, &Width)| {
            Self::of(spec, width, rounded.iter().map(|widths| widths[place].clone()).collect())
        };
        Some(least(widths.iter().enumerate().map(of_width)))
    }

    fn of(spec: &ModelSpec, width: Width, outputs: Vec<Rounded>) -> Self {
        let columns = spec.banks.iter().map(|bank| bank.columns()).enumerate();
        let bank_of: Vec<usize> =
            columns.flat_map(|(bank, columns)| std::iter::repeat_n(bank, columns)).collect();
        let excess = outputs.iter().map(|rounded| rounded.excess).sum();
        let weights = Mat::from_fn(bank_of.len(), outputs.len(), |k, output| {
            outputs[output].levels[bank_of[k]].weight(outputs[output].codes[k])
        });
        Self { width, outputs, weights, excess }
    }

    /// The better one of the widths to try.
    pub fn best(widths: Vec<Width>, attempt: impl FnMut(Width) -> Self) -> Self {
        least(widths.into_iter().map(attempt))
    }

    /// The head with these weights and real-valued biases.
    pub fn head(self, spec: &ModelSpec, bias: &[f64]) -> HeadSpec {
        let outputs: Vec<RoundedOutput> = self
            .outputs
            .into_iter()
            .zip(bias)
            .map(|(rounded, &bias)| RoundedOutput {
                codes: rounded.codes,
                levels: rounded.levels,
                bias,
            })
            .collect();
        assemble(spec, self.width, &outputs)
    }
}

/// The columns of each bank, and their width.
fn banks(spec: &ModelSpec, width: Width) -> Vec<(usize, Width)> {
    spec.banks.iter().map(|bank| (bank.columns(), width)).collect()
}

fn column(weights: MatRef<'_, f64>, output: usize) -> Vec<f64> {
    weights.col(output).iter().copied().collect()
}

/// The one with the least excess, of one at least.
fn least(all: impl Iterator<Item = RoundedWeights>) -> RoundedWeights {
    all.reduce(|a, b| if b.excess < a.excess { b } else { a }).expect("there is at least one width")
}

/// The factored matrix of a quadratic objective, to round through.
pub(crate) struct Curvature {
    factor: faer::linalg::solvers::Llt<f64>,
    matrix: Mat<f64>,
}

impl Curvature {
    /// Centred Gram matrix + λ·unit·I.
    pub fn new(system: &System, lambda: f64) -> Self {
        let (factor, lambda) = system.factor(lambda);
        Self { factor, matrix: system.regularised(lambda) }
    }

    /// The same, and the fit for this λ.
    pub fn with_fit(system: &System, lambda: f64) -> (Self, LinearFit) {
        let (factor, lambda) = system.factor(lambda);
        let fit = system.solve_with(&factor, lambda);
        (Self { factor, matrix: system.regularised(lambda) }, fit)
    }

    /// Rounds `weights`, K × T, to the best of `widths`.
    pub fn round(
        &self,
        weights: MatRef<'_, f64>,
        spec: &ModelSpec,
        widths: Vec<Width>,
        rounding: Rounding,
    ) -> RoundedWeights {
        RoundedWeights::best(widths, |width| {
            let (factor, matrix) = (self.factor.L(), self.matrix.as_ref());
            RoundedWeights::new(weights, spec, width, factor, matrix, rounding)
        })
    }
}
