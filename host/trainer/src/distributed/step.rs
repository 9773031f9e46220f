//! Weights that all rows are asked about.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::{from_bytes, to_bytes};
use crate::Error;
use crate::products::Weights;

/// First bytes of a step; the last one is the version of its form.
const MAGIC: &[u8; 8] = b"KOANSTP\x01";
/// Bits of a score before it is scaled, at most: f64 holds it, and every sum on the way to it,
/// exactly.
const SCORE_BITS: i32 = 51;
/// Magnitude of a feature, at most, in bits.
const FEATURE_BITS: i32 = 15;
/// Scores are multiples of 2^−1000 to 2^1000: whatever the weights are, that is a number.
const LARGEST_EXPONENT: i32 = 1000;

/// The weights at which the next pass over the rows takes the gradient: integers on the scale of
/// a power of two, so that scores are exact, whoever computes them.
pub struct Step {
    stored: StoredStep,
    id: u128,
    /// The integers for products with features, K × T.
    weights: Weights<f64>,
}

/// A step as bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredStep {
    plan: u128,
    /// Which pass it is, from 1 on.
    pub number: u32,
    /// Scores are the integers' times 2^−exponent.
    exponent: i32,
    /// Output after output, K each.
    weights: Vec<i64>,
    bias: Vec<i64>,
}

impl Step {
    /// The step at these weights (K × T, of features in their units) and biases, as near as
    /// integers come.
    pub(super) fn at(
        plan: &Plan,
        number: u32,
        weights: &Mat<f64>,
        bias: &[f64],
    ) -> Result<Self, Error> {
        let units = plan.map.units();
        let features = units.len();
        let of = |k: usize, t: usize| weights[(k, t)] * units[k];
        // The largest score that features could give, for each output.
        let most = |t: usize| {
            let weights: f64 = (0..features).map(|k| of(k, t).abs()).sum();
            weights * 2f64.powi(FEATURE_BITS) + bias[t].abs()
        };
        let most: Vec<f64> = (0..bias.len()).map(most).collect();
        if !most.iter().all(|&most| most < 2f64.powi(LARGEST_EXPONENT)) {
            return Err(Error::Impossible("weights that are too large, or no numbers".into()));
        }
        let largest = most.into_iter().fold(0.0, f64::max);
        let bits = if largest > 0.0 { largest.log2().floor() as i32 + 1 } else { 0 };
        let exponent = (SCORE_BITS - bits).min(LARGEST_EXPONENT);
        let scale = 2f64.powi(exponent);
        let integer = |value: f64| (value * scale).round() as i64;
        let stored = StoredStep {
            plan: plan.id(),
            number,
            exponent,
            weights: (0..bias.len())
                .flat_map(|t| (0..features).map(move |k| (k, t)))
                .map(|(k, t)| integer(of(k, t)))
                .collect(),
            bias: bias.iter().map(|&bias| integer(bias)).collect(),
        };
        Self::of(plan, stored)
    }

    pub(super) fn of(plan: &Plan, stored: StoredStep) -> Result<Self, Error> {
        let (features, outputs) = (plan.features(), plan.stored.outputs as usize);
        if stored.plan != plan.id() {
            return Err(Error::Impossible("the step is of another plan".into()));
        }
        // Whoever made the bytes: scores stay exact.
        let exact = |t: usize| {
            let weights = &stored.weights[t * features..][..features];
            let sum: u128 = weights.iter().map(|weight| u128::from(weight.unsigned_abs())).sum();
            let most = (sum << FEATURE_BITS) + u128::from(stored.bias[t].unsigned_abs());
            most <= 1 << (SCORE_BITS + 1)
        };
        let fits = stored.weights.len() == features * outputs
            && stored.bias.len() == outputs
            && stored.exponent.abs() <= LARGEST_EXPONENT
            && (0..outputs).all(exact);
        if !fits {
            return Err(Error::Impossible("the bytes are of a step that does not fit".into()));
        }
        let bytes =
            postcard::to_stdvec(&stored).map_err(|error| Error::Impossible(error.to_string()))?;
        let half = |seed: u64| u128::from(wyhash::wyhash(&bytes, seed));
        let id = half(1) << 64 | half(2);
        let entry = |k: usize, t: usize| stored.weights[t * features + k] as f64;
        let integers = Mat::from_fn(features, outputs, entry);
        let weights = Weights::new(integers.as_ref(), |weight| weight);
        Ok(Self { stored, id, weights })
    }

    /// Which pass over the rows it is for, from 1 on.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.stored.number
    }

    /// Tells steps apart.
    pub(super) fn id(&self) -> u128 {
        self.id
    }

    pub(super) fn stored(&self) -> &StoredStep {
        &self.stored
    }

    /// The weights (K × T, of features in their units) and the biases that the integers are.
    pub(super) fn real(&self, plan: &Plan) -> (Mat<f64>, Vec<f64>) {
        let (units, unit) = (plan.map.units(), self.unit());
        let (features, outputs) = (units.len(), self.stored.bias.len());
        let weights = Mat::from_fn(features, outputs, |k, t| {
            self.stored.weights[t * features + k] as f64 * unit / units[k]
        });
        (weights, self.stored.bias.iter().map(|&bias| bias as f64 * unit).collect())
    }

    /// What the integer scores are multiplied by.
    pub(super) fn unit(&self) -> f64 {
        2f64.powi(-self.stored.exponent)
    }

    /// The integers of the weights, for products.
    pub(super) fn weights(&self) -> &Weights<f64> {
        &self.weights
    }

    /// The integers of the biases.
    pub(super) fn bias(&self) -> &[i64] {
        &self.stored.bias
    }

    /// The step as bytes: K·T integers, about 5 bytes each.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        to_bytes(MAGIC, &self.stored)
    }

    /// A step of the plan from its bytes.
    ///
    /// # Errors
    /// Bytes of something else, of another plan, or damaged.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, Error> {
        Self::of(plan, from_bytes(MAGIC, bytes, "a step")?)
    }
}
