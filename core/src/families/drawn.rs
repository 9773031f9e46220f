//! What is drawn of dense projections, apart from rows.

use super::Offsets;
use super::dense::Dense;
use super::units::{bias_of, scaled};
use crate::format::bank::Bank;
use crate::format::family::{Family, Law};
use crate::generator::{Purpose, bank_draw};
use crate::needs::Any;
use crate::numerics::{cosine, sigmoid};

/// What is drawn of a bank whose features have dense projections of their own: fourier, maxout
/// and sigmoid without groups. For hosts, which draw it once for many rows.
pub struct Drawn<'b> {
    bank: &'b Bank<'b>,
    dense: Dense<'b, Any>,
}

impl<'b> Drawn<'b> {
    /// Of a bank over so many inputs; none where features are made of anything else.
    #[must_use]
    pub fn of(bank: &'b Bank<'b>, inputs: usize) -> Option<Self> {
        let family = match bank.family {
            Family::Fourier | Family::Sigmoid => true,
            Family::Maxout { shared, .. } => shared == 0,
            _ => false,
        };
        let suits = family && !matches!(bank.law, Law::Hadamard) && !bank.is_grouped();
        suits.then(|| Self { bank, dense: Dense::new(bank, inputs) })
    }

    /// Projections of a feature, of which it is the largest: those of feature k have the numbers
    /// k·pool to k·pool + pool − 1.
    #[must_use]
    pub fn pool(&self) -> usize {
        if let Family::Maxout { pool, .. } = self.bank.family {
            usize::from(pool).max(1)
        } else {
            1
        }
    }

    /// Weights of projection `number` for the 32 inputs from `first` on, a multiple of 32; what
    /// is behind the last input is of no projection.
    pub fn weights(&self, number: usize, first: usize, weights: &mut [i16; 32]) {
        self.dense.weights(number, first, weights);
    }

    /// Feature `index` of rows, from Σ w·q, modulo 2^32, of each.
    #[must_use]
    pub fn features<const ROWS: usize>(&self, index: usize, z: &[i32; ROWS]) -> [i8; ROWS] {
        let bank = self.bank;
        match bank.family {
            Family::Maxout { .. } => z.map(|z| scaled(bank, z)),
            Family::Sigmoid => {
                let bias = bias_of::<Any>(bank, index);
                z.map(|z| sigmoid(scaled(bank, z.wrapping_add(bias))))
            }
            _ => {
                let draw = bank_draw(bank.seed, bank.index, Purpose::Offsets, 0);
                let offset = Offsets::from(draw, index).add_next(0);
                let angle = |z| ((bank.scale.apply_wrapping(z) as u32) << 16).wrapping_add(offset);
                z.map(|z| cosine(angle(z), false))
            }
        }
    }
}
