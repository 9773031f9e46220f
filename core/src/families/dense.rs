//! Dense projections, whose weights are drawn one by one.

use core::marker::PhantomData;

use super::hadamard::Wrapping;
use crate::format::bank::Bank;
use crate::format::family::Law;
use crate::generator::{Draws, Purpose, Stream};
use crate::needs::{Needs, Profile, serves};
use crate::numerics::{cauchy, normal};

/// Dense projections of one quantised row: z_k = Σ_i w_ki·q_i, one at a time,
/// the weights drawn as they are used.
///
/// Weight i of projection k is byte i of the draws k·⌈d/8⌉… (8 to a draw), or,
/// under the sign law, bit 63 − i mod 64 of the draws k·⌈d/64⌉….
pub(super) struct Dense<'b, P> {
    stream: Stream,
    draws_each: u64,
    bank: &'b Bank<'b>,
    profile: PhantomData<P>,
}

impl<'b, P: Profile> Dense<'b, P> {
    pub(crate) fn new(bank: &'b Bank<'b>, inputs: usize) -> Self {
        let per_draw = if matches!(bank.law, Law::Sign) { 64 } else { 8 };
        Self {
            stream: Stream::of_bank(bank.seed, bank.index, Purpose::Weights),
            draws_each: inputs.div_ceil(per_draw) as u64,
            bank,
            profile: PhantomData,
        }
    }

    /// The phase of Fourier feature `k`.
    pub(crate) fn phase(&self, k: usize, q: &[i16]) -> i16 {
        if serves::<P>(Needs::GROUPS) && self.bank.is_grouped() {
            return self.project_groups(k, q) as i16;
        }
        self.bank.scale.apply_wrapping(self.project(k, q)) as i16
    }

    /// Projection `k`, modulo 2^32, before the bank's scale.
    #[inline(never)]
    pub(crate) fn project(&self, k: usize, q: &[i16]) -> i32 {
        let first = k as u64 * self.draws_each;
        match self.bank.law {
            Law::Sign => self.signed(first, q),
            Law::Cauchy => self.tabled(first, q, |byte| cauchy(byte, P::SMALL)),
            _ => self.tabled(first, q, |byte| normal(byte, P::SMALL)),
        }
    }

    /// See [`Drawn::weights`](super::Drawn::weights).
    pub(super) fn weights(&self, k: usize, first: usize, weights: &mut [i16; 32]) {
        let first_draw = (k as u64).wrapping_mul(self.draws_each);
        let at = |each| first_draw.wrapping_add((first / each) as u64);
        match self.bank.law {
            Law::Sign => {
                let signs = self.stream.draw(at(64)) << (first % 64);
                for (i, weight) in weights.iter_mut().enumerate() {
                    *weight = if signs << i >> 63 == 1 { -1 } else { 1 };
                }
            }
            Law::Cauchy => tabled(self.stream.draws(at(8)), weights, |byte| cauchy(byte, false)),
            _ => tabled(self.stream.draws(at(8)), weights, |byte| normal(byte, false)),
        }
    }

    #[inline]
    fn tabled(&self, first: u64, q: &[i16], weight: impl Fn(u8) -> i32) -> i32 {
        let mut z = 0i32;
        let mut draws = self.stream.draws(first);
        for eight in q.chunks(8) {
            let mut bytes = draws.next();
            for &value in eight {
                z = z.wrapping_add(weight(bytes as u8).wrapping_mul(i32::from(value)));
                bytes >>= 8;
            }
        }
        z
    }

    #[inline]
    fn signed(&self, first: u64, q: &[i16]) -> i32 {
        let mut z = 0i32;
        let mut draws = self.stream.draws(first);
        for word in q.chunks(64) {
            let mut signs = draws.next();
            for &value in word {
                z = z.wrapping_add(i32::from(value).signed((signs >> 32) as u32));
                signs <<= 1;
            }
        }
        z
    }

    /// Σ over groups of the group's projection times the group's scale: the
    /// argument of a product of kernels, modulo 2^16 in its low bits.
    #[inline(never)]
    fn project_groups(&self, k: usize, q: &[i16]) -> i32 {
        let mut draws = self.stream.draws(k as u64 * self.draws_each);
        let (mut total, mut input, mut bytes) = (0i32, 0u32, 0);
        let mut rest = q;
        for group in self.bank.groups() {
            let Some((mine, others)) = rest.split_at_checked(usize::from(group.inputs)) else {
                break;
            };
            rest = others;
            let mut z = 0i32;
            for &value in mine {
                if input % 8 == 0 {
                    bytes = draws.next();
                }
                let weight = match group.law {
                    Law::Gaussian => normal(bytes as u8, P::SMALL),
                    Law::Cauchy => cauchy(bytes as u8, P::SMALL),
                    _ => 0,
                };
                bytes >>= 8;
                z = z.wrapping_add(weight.wrapping_mul(i32::from(value)));
                input += 1;
            }
            total = total.wrapping_add(group.scale.apply_wrapping(z));
        }
        total
    }
}

/// Eight weights a draw, as a table has them at its bytes.
#[inline]
fn tabled(mut draws: Draws, weights: &mut [i16; 32], weight: impl Fn(u8) -> i32) {
    for eight in weights.as_chunks_mut::<8>().0 {
        *eight = draws.next().to_le_bytes().map(|byte| weight(byte) as i16);
    }
}
