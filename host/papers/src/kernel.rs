//! Regularisation networks, that is kernel ridge regression (*Pruning algorithms
//! for one-hidden-layer feedforward neural networks*, Theorem 6.1): the function
//! Σ_i c_i·k(x, x_i), c = (K + γN·I)⁻¹y, minimises
//! (1/N)Σ (f(x_i) − y_i)² + γ‖f‖².
//!
//! Exact, with one unit for each row: a baseline for random features and a
//! network to prune. Sections 8.1 and 8.2 there: Gaussian and Laplacian kernels,
//! their sums and products, over all inputs or groups of them.

use std::ops::Range;

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use rayon::prelude::*;

use koan_data::Table;
use koan_trainer::Error;
use koan_trainer::internal::normalise::Normaliser;

/// Rows up to which a kernel matrix is formed (1.2 GB).
pub const MAX_ROWS: usize = 12_000;

/// A kernel of two points.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernel {
    /// exp(−‖x − y‖²/width²) over some inputs.
    Gaussian {
        /// The inputs that it sees.
        inputs: Range<usize>,
        /// Distance at which it has fallen to 1/e.
        width: f64,
    },
    /// exp(−‖x − y‖₁/width) over some inputs.
    Laplacian {
        /// The inputs that it sees.
        inputs: Range<usize>,
        /// Distance at which it has fallen to 1/e.
        width: f64,
    },
    /// The sum of kernels: functions that are sums, one from each space.
    Sum(Vec<Self>),
    /// The product of kernels.
    Product(Vec<Self>),
}

impl Kernel {
    /// k(x, y).
    ///
    /// # Panics
    /// If the points have fewer inputs than the kernel sees.
    #[must_use]
    pub fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let differences = |inputs: &Range<usize>| {
            x[inputs.clone()].iter().zip(&y[inputs.clone()]).map(|(x, y)| x - y)
        };
        match self {
            Self::Gaussian { inputs, width } => {
                let square: f64 = differences(inputs).map(|d| d * d).sum();
                (-square / (width * width)).exp()
            }
            Self::Laplacian { inputs, width } => {
                let distance: f64 = differences(inputs).map(f64::abs).sum();
                (-distance / width).exp()
            }
            Self::Sum(parts) => parts.iter().map(|part| part.value(x, y)).sum(),
            Self::Product(parts) => parts.iter().map(|part| part.value(x, y)).product(),
        }
    }

    /// What makes no sense: no parts, an empty range or one beyond `inputs`, a
    /// width that is not positive.
    fn check(&self, all: usize) -> Result<(), Error> {
        match self {
            Self::Gaussian { inputs, width } | Self::Laplacian { inputs, width } => {
                if inputs.is_empty() || inputs.end > all {
                    return Err(Error::Impossible(format!(
                        "a kernel over inputs {}..{} of {all}",
                        inputs.start, inputs.end
                    )));
                }
                if !(width.is_finite() && *width > 0.0) {
                    return Err(Error::Impossible(format!("a kernel of width {width}")));
                }
                Ok(())
            }
            Self::Sum(parts) | Self::Product(parts) => {
                if parts.is_empty() {
                    return Err(Error::Impossible("a kernel of no parts".into()));
                }
                parts.iter().try_for_each(|part| part.check(all))
            }
        }
    }
}

/// Points in normalised units, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    values: Vec<f64>,
    inputs: usize,
}

impl Points {
    /// From `values`, point after point, `inputs` each.
    ///
    /// # Panics
    /// If `inputs` is 0 or does not divide the number of values.
    #[must_use]
    pub fn new(values: Vec<f64>, inputs: usize) -> Self {
        assert!(inputs > 0 && values.len().is_multiple_of(inputs), "whole points");
        Self { values, inputs }
    }

    /// The given rows of a table, normalised.
    #[must_use]
    pub fn of(table: &Table, rows: &[usize], normaliser: &Normaliser) -> Self {
        let row = |&row: &usize| {
            table.row(row).iter().zip(&normaliser.axes).map(|(&x, axis)| axis.apply(x))
        };
        Self::new(rows.iter().flat_map(row).collect(), table.inputs)
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() / self.inputs
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Numbers of a point.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Point number `i`.
    #[must_use]
    pub fn point(&self, i: usize) -> &[f64] {
        &self.values[i * self.inputs..][..self.inputs]
    }
}

/// The kernel matrix k(x_i, y_j).
///
/// # Errors
/// A kernel that does not suit the points, or more than [`MAX_ROWS`] of them.
pub fn matrix(kernel: &Kernel, x: &Points, y: &Points) -> Result<Mat<f64>, Error> {
    kernel.check(x.inputs.min(y.inputs))?;
    let found = x.len();
    if found > MAX_ROWS {
        return Err(Error::TooMany { what: "rows of a kernel matrix", found, most: MAX_ROWS });
    }
    let mut matrix = Mat::<f64>::zeros(x.len(), y.len());
    let panels = koan_trainer::internal::panels::columns(matrix.as_mut(), 16);
    panels.into_par_iter().enumerate().for_each(|(chunk, mut columns)| {
        for j in 0..columns.ncols() {
            for i in 0..x.len() {
                columns[(i, j)] = kernel.value(x.point(i), y.point(chunk * 16 + j));
            }
        }
    });
    Ok(matrix)
}

/// A regularisation network.
#[derive(Clone, Debug)]
pub struct Network {
    /// Its kernel.
    pub kernel: Kernel,
    /// γ.
    pub gamma: f64,
    /// The x_i.
    pub centres: Points,
    /// The c_i, N × outputs.
    pub coefficients: Mat<f64>,
}

impl Network {
    /// The network for `targets` (N × outputs) at `points`.
    ///
    /// # Errors
    /// As [`matrix`]; a γ for which K + γN·I is not positive definite to working
    /// precision.
    pub fn fit(
        kernel: Kernel,
        gamma: f64,
        points: &Points,
        targets: MatRef<'_, f64>,
    ) -> Result<Self, Error> {
        let gram = matrix(&kernel, points, points)?;
        let coefficients = solve(&gram, gamma, targets)?;
        Ok(Self { kernel, gamma, centres: points.clone(), coefficients })
    }

    /// f at other points: rows × outputs.
    ///
    /// # Errors
    /// Points of other dimensions.
    pub fn predict(&self, points: &Points) -> Result<Mat<f64>, Error> {
        let mut values = Mat::zeros(points.len(), self.coefficients.ncols());
        // In parts, so that memory does not grow with the number of points.
        let step = 1024;
        for start in (0..points.len()).step_by(step) {
            let end = (start + step).min(points.len());
            let part = Points::new(
                points.values[start * points.inputs..end * points.inputs].to_vec(),
                points.inputs,
            );
            let product = matrix(&self.kernel, &part, &self.centres)? * &self.coefficients;
            values.as_mut().subrows_mut(start, end - start).copy_from(&product);
        }
        Ok(values)
    }

    /// The network, of all kernels and γ, with the least squared error on
    /// validation points, and that mean squared error for each pair, kernel by
    /// kernel; infinite where the matrix is singular.
    ///
    /// # Errors
    /// As [`matrix`]; no kernel or no γ that can be solved for.
    pub fn choose(
        kernels: &[Kernel],
        gammas: &[f64],
        fit: (&Points, MatRef<'_, f64>),
        validation: (&Points, MatRef<'_, f64>),
    ) -> Result<(Self, Vec<f64>), Error> {
        let mut best: Option<(f64, Self)> = None;
        let mut errors = Vec::new();
        for kernel in kernels {
            let gram = matrix(kernel, fit.0, fit.0)?;
            let across = matrix(kernel, validation.0, fit.0)?;
            for &gamma in gammas {
                let Ok(coefficients) = solve(&gram, gamma, fit.1) else {
                    errors.push(f64::INFINITY);
                    continue;
                };
                let difference = &across * &coefficients - validation.1;
                let error = difference.squared_norm_l2()
                    / (difference.nrows() * difference.ncols()).max(1) as f64;
                errors.push(error);
                if best.as_ref().is_none_or(|(least, _)| error < *least) {
                    let (kernel, centres) = (kernel.clone(), fit.0.clone());
                    best = Some((error, Self { kernel, gamma, centres, coefficients }));
                }
            }
        }
        match best {
            Some((_, network)) => Ok((network, errors)),
            None => Err(Error::Impossible("no kernel and gamma to choose from".into())),
        }
    }
}

/// A fit to all rows, judged by leaving each row out in turn.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The ridge γN.
    pub ridge: f64,
    /// c, N × outputs.
    pub coefficients: Mat<f64>,
    /// Mean over rows and outputs of the squared error on the row left out.
    pub error: f64,
    /// Standard error of that mean, rows taken as independent.
    pub deviation: f64,
    /// Mean squared error on the rows themselves.
    pub train_error: f64,
}

/// The fits to a kernel matrix for several ridges γN, all from one
/// eigendecomposition. The error on row i of the network fitted to the others
/// is c_i / ((K + γN·I)⁻¹)_ii: exact, without fitting it.
///
/// # Errors
/// A matrix that has no eigenvalues (values that are not finite).
pub fn leave_one_out(
    gram: MatRef<'_, f64>,
    targets: MatRef<'_, f64>,
    ridges: &[f64],
) -> Result<Vec<LeftOut>, Error> {
    let eigen = gram
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::Impossible("the kernel matrix has no eigenvalues".into()))?;
    let (vectors, values) = (eigen.U(), eigen.S().column_vector());
    let rows = gram.nrows();
    let squares = Mat::from_fn(rows, rows, |i, k| vectors[(i, k)] * vectors[(i, k)]);
    let projected = vectors.transpose() * targets;
    let fit = |&ridge: &f64| {
        // Below zero an eigenvalue is rounding error.
        let inverse = Mat::from_fn(rows, 1, |k, _| 1.0 / (values[k].max(0.0) + ridge));
        let shrunk =
            Mat::from_fn(rows, targets.ncols(), |k, t| inverse[(k, 0)] * projected[(k, t)]);
        let coefficients = vectors * shrunk;
        let diagonal = &squares * &inverse;
        let of_row = |i: usize, divisor: f64| -> f64 {
            let row = coefficients.row(i).iter();
            row.map(|c| (c / divisor).powi(2)).sum::<f64>() / targets.ncols() as f64
        };
        let errors: Vec<f64> = (0..rows).map(|i| of_row(i, diagonal[(i, 0)])).collect();
        let error = errors.iter().sum::<f64>() / rows as f64;
        let spread: f64 = errors.iter().map(|e| (e - error).powi(2)).sum();
        // The residual of a row that is kept is γN·c.
        let kept: f64 = (0..rows).map(|i| of_row(i, 1.0 / ridge)).sum();
        LeftOut {
            ridge,
            coefficients,
            error,
            deviation: spread.sqrt() / rows as f64,
            train_error: kept / rows as f64,
        }
    };
    Ok(ridges.iter().map(fit).collect())
}

/// (K + γN·I)⁻¹·targets.
fn solve(gram: &Mat<f64>, gamma: f64, targets: MatRef<'_, f64>) -> Result<Mat<f64>, Error> {
    let mut raised = gram.clone();
    for i in 0..raised.nrows() {
        raised[(i, i)] += gamma * gram.nrows() as f64;
    }
    let singular = |_| {
        Error::Impossible(format!(
            "the kernel matrix with gamma {gamma:e} is not positive definite"
        ))
    };
    Ok(raised.llt(Side::Lower).map_err(singular)?.solve(targets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_one_out_is_fitting_to_the_others() {
        let draw = koan::generator::Stream::new(3, 0);
        let value = |i: usize| f64::from(draw.draw(i as u64) as i16) / 32768.0;
        let rows = 12;
        let points = Points::new((0..rows * 2).map(value).collect(), 2);
        let targets = Mat::from_fn(rows, 2, |i, t| value(1000 + 2 * i + t));
        let kernel = Kernel::Gaussian { inputs: 0..2, width: 0.7 };
        let gram = matrix(&kernel, &points, &points).unwrap();
        let ridge = 0.05;
        let fit = &leave_one_out(gram.as_ref(), targets.as_ref(), &[1.0, ridge]).unwrap()[1];
        let (mut error, mut train) = (0.0, 0.0);
        for left in 0..rows {
            let others: Vec<usize> = (0..rows).filter(|&i| i != left).collect();
            let part =
                Points::new(others.iter().flat_map(|&i| points.point(i).to_vec()).collect(), 2);
            let theirs = Mat::from_fn(rows - 1, 2, |i, t| targets[(others[i], t)]);
            let gamma = ridge / (rows - 1) as f64;
            let network = Network::fit(kernel.clone(), gamma, &part, theirs.as_ref()).unwrap();
            let point = Points::new(points.point(left).to_vec(), 2);
            let predicted = network.predict(&point).unwrap();
            let kept = gram.row(left) * &fit.coefficients;
            for t in 0..2 {
                error += (predicted[(0, t)] - targets[(left, t)]).powi(2) / 24.0;
                train += (kept[t] - targets[(left, t)]).powi(2) / 24.0;
            }
        }
        assert!((fit.error - error).abs() < 1e-9 * error, "{} {error}", fit.error);
        assert!((fit.train_error - train).abs() < 1e-9 * train, "{} {train}", fit.train_error);
        assert!(fit.deviation > 0.0);
    }
}
