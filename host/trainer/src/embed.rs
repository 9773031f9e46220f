//! Embeddings: principal components in feature space as the head of a model,
//! and distances of locality-sensitive codes.
//!
//! Components of maxout features are the locally linear embedding of *Random
//! Maxout Features*: within a cell of the units' winners the map is linear.

use faer::{Mat, Side};

use crate::Error;
use crate::ridge::{LinearFit, System};

/// Features up to which components are computed.
pub const MAX_FEATURES: usize = 4096;

/// Principal components of features.
#[derive(Clone, Debug)]
pub struct Components {
    /// Coordinates wᵀφ + b: unit vectors as weights, the mean at 0.
    pub fit: LinearFit,
    /// Variance of each coordinate over the rows, descending.
    pub variances: Vec<f64>,
    /// Variance of all features together.
    pub total: f64,
}

impl Components {
    /// The share of the features' variance that the coordinates keep.
    #[must_use]
    pub fn kept(&self) -> f64 {
        if self.total > 0.0 { self.variances.iter().sum::<f64>() / self.total } else { 1.0 }
    }
}

/// The `outputs` leading eigenvectors of the features' covariance, from the
/// centred sums over `rows` rows. The largest entry of each is positive.
///
/// # Errors
/// More outputs than features, or more features than `MAX_FEATURES`.
pub fn components(system: &System, rows: f64, outputs: usize) -> Result<Components, Error> {
    let features = system.means().len();
    if features > MAX_FEATURES {
        let most = MAX_FEATURES;
        return Err(Error::TooMany { what: "features of an embedding", found: features, most });
    }
    if outputs == 0 || outputs > features {
        return Err(Error::parameter(
            "outputs",
            format!("{outputs} coordinates of {features} features: from 1 to as many as features"),
        ));
    }
    let gram = system.regularised(0.0);
    let eigen = gram
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::Impossible("the features' covariance has no eigenvalues".into()))?;
    let values = eigen.S().column_vector();
    let vectors = eigen.U();
    let mut weights = Mat::<f64>::zeros(features, outputs);
    for t in 0..outputs {
        let column = vectors.col(features - 1 - t);
        let largest =
            (0..features).fold(0, |m, k| if column[k].abs() > column[m].abs() { k } else { m });
        let sign = column[largest].signum();
        for k in 0..features {
            weights[(k, t)] = sign * column[k];
        }
    }
    let bias = (0..outputs)
        .map(|t| -system.means().iter().enumerate().map(|(k, m)| m * weights[(k, t)]).sum::<f64>())
        .collect();
    let variances = (0..outputs).map(|t| values[features - 1 - t].max(0.0) / rows).collect();
    let total = (0..features).map(|k| gram[(k, k)]).sum::<f64>() / rows;
    Ok(Components { fit: LinearFit { weights, bias, lambda: 0.0 }, variances, total })
}

/// The number of entries in which two codes of the same length differ.
#[must_use]
pub fn hamming(a: &[u16], b: &[u16]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// The `count` codes nearest to `code`, and how far they are: (distance,
/// index), nearest first, the first one of equals first. `codes`: one after the
/// other, each as long as `code`.
#[must_use]
pub fn nearest(code: &[u16], codes: &[u16], count: usize) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = codes
        .chunks_exact(code.len().max(1))
        .enumerate()
        .map(|(index, other)| (hamming(code, other), index))
        .collect();
    if count < all.len() && count > 0 {
        all.select_nth_unstable(count - 1);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}
