//! How a bank mixes inputs: dense projections and the Hadamard transform.

use crate::bank::{Bank, Law};
use crate::format::hadamard_block;
use crate::generator::{Draws, Purpose, Stream, bank_stream};
use crate::numerics::{Scale, cauchy, normal};

/// Dense projections of one quantised row: z_k = Σ_i w_ki·q_i, one at a time,
/// the weights drawn as they are used.
///
/// Weight i of projection k is byte i of the draws k·⌈d/8⌉… (8 to a draw), or,
/// under the sign law, bit 63 − i mod 64 of the draws k·⌈d/64⌉….
pub(super) struct Dense<'b> {
    stream: Stream,
    draws_each: u64,
    bank: &'b Bank<'b>,
}

impl<'b> Dense<'b> {
    pub(super) fn new(bank: &'b Bank<'b>, inputs: usize) -> Self {
        let per_draw = if matches!(bank.law, Law::Sign) { 64 } else { 8 };
        Self {
            stream: bank_stream(bank, Purpose::Weights),
            draws_each: inputs.div_ceil(per_draw) as u64,
            bank,
        }
    }

    /// The phase of Fourier feature `k`.
    pub(super) fn phase(&self, k: usize, q: &[i16]) -> i16 {
        let phase = if self.bank.is_grouped() {
            self.project_groups(k, q)
        } else {
            self.bank.scale.apply_wrapping(self.project(k, q))
        };
        phase as i16
    }

    /// Projection `k`, modulo 2^32, before the bank's scale.
    #[inline]
    pub(super) fn project(&self, k: usize, q: &[i16]) -> i32 {
        let first = k as u64 * self.draws_each;
        match self.bank.law {
            Law::Sign => self.signed(first, q),
            Law::Cauchy => self.tabled(first, q, cauchy),
            _ => self.tabled(first, q, normal),
        }
    }

    /// Weights of projection `k` for the 32 inputs from `first` on, a multiple of 32; what
    /// is behind the last input is of no projection.
    pub(super) fn weights(&self, k: usize, first: usize, weights: &mut [i16; 32]) {
        let at = |each| k as u64 * self.draws_each + (first / each) as u64;
        match self.bank.law {
            Law::Sign => {
                let signs = self.stream.draw(at(64)) << (first % 64);
                for (i, weight) in weights.iter_mut().enumerate() {
                    *weight = if signs << i >> 63 == 1 { -1 } else { 1 };
                }
            }
            Law::Cauchy => tabled(self.stream.draws(at(8)), weights, cauchy),
            _ => tabled(self.stream.draws(at(8)), weights, normal),
        }
    }

    #[inline]
    fn tabled(&self, first: u64, q: &[i16], weight: impl Fn(u8) -> i32) -> i32 {
        let mut z = 0i32;
        for (index, eight) in (first..).zip(q.chunks(8)) {
            let mut bytes = self.stream.draw(index);
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
        for (index, word) in (first..).zip(q.chunks(64)) {
            let mut signs = self.stream.draw(index);
            for &value in word {
                z = z.wrapping_add(i32::from(value).signed((signs >> 32) as u32));
                signs <<= 1;
            }
        }
        z
    }

    /// Σ over groups of the group's projection times the group's scale: the
    /// argument of a product of kernels, modulo 2^16 in its low bits.
    pub(super) fn project_groups(&self, k: usize, q: &[i16]) -> i32 {
        let first = k as u64 * self.draws_each;
        let mut total = 0i32;
        let mut input = 0usize;
        let mut rest = q;
        for group in self.bank.groups() {
            let Some((mine, others)) = rest.split_at_checked(usize::from(group.inputs)) else {
                break;
            };
            rest = others;
            let mut z = 0i32;
            for &value in mine {
                let byte = (self.stream.draw(first + input as u64 / 8) >> (8 * (input % 8))) as u8;
                let weight = match group.law {
                    Law::Gaussian => normal(byte),
                    Law::Cauchy => cauchy(byte),
                    Law::Sign => 1 - 2 * i32::from(byte >> 7),
                    _ => 0,
                };
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

/// Integers that wrap: i16 for phases, i32 for exact projections.
pub(super) trait Wrapping: Copy {
    const ZERO: Self;
    /// Whether [`Scale`]s apply to inputs.
    const SCALED: bool;
    /// An input, modulo the type's range.
    fn from_input(value: i32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// −self when bit 31 of `signs` is set, else self, without a branch.
    fn signed(self, signs: u32) -> Self;
}

macro_rules! wrapping {
    ($($integer:ty, $scaled:literal;)*) => {$(
        impl Wrapping for $integer {
            const ZERO: Self = 0;
            const SCALED: bool = $scaled;
            #[inline]
            fn from_input(value: i32) -> Self {
                value as Self
            }
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn signed(self, signs: u32) -> Self {
                // 0 keeps the value, -1 negates it (one's complement plus one).
                let flip = (signs as i32 >> 31) as Self;
                (self ^ flip).wrapping_sub(flip)
            }
        }
    )*};
}

wrapping!(i16, true; i32, false;);

/// Hadamard projections, block after block: block `b` holds projections
/// b·P..(b+1)·P of the row, z = H·D·q, D the signs of the draws b·⌈d/64⌉….
pub(super) struct Hadamard {
    draws: Draws,
    /// Of the inputs of phases.
    scale: Scale,
}

impl Hadamard {
    pub(super) fn new(bank: &Bank<'_>) -> Self {
        Self { draws: bank_stream(bank, Purpose::Weights).draws(0), scale: bank.scale }
    }

    /// The same from the block on that projection `first` of a row of `inputs` is in.
    #[inline]
    pub(super) fn from(bank: &Bank<'_>, first: usize, inputs: usize) -> Self {
        let log = hadamard_block(inputs as u16).trailing_zeros() & 31;
        let first = ((first >> log) * inputs.div_ceil(64)) as u64;
        Self { draws: bank_stream(bank, Purpose::Weights).draws(first), scale: bank.scale }
    }

    /// Fills `block` (a power of two, at least 8 and as long as `q`) with the
    /// next projections as phases: scaled before the transform, so that the block
    /// itself is i16 and its low bits are the phase.
    #[inline]
    pub(super) fn phases(&mut self, q: &[i16], block: &mut [i16]) {
        self.transform(q, block);
    }

    /// Fills `block` (a power of two, at least 8 and as long as `q`) with the
    /// next projections; the scale applies to the inputs of phases.
    #[inline(never)]
    pub(super) fn transform<T: Wrapping>(&mut self, q: &[i16], block: &mut [T]) {
        let scale = if T::SCALED { self.scale } else { Scale::ONE };
        let (fours, _) = block.as_chunks_mut::<4>();
        let (mut at, mut left, mut draw) = (0, q, 0);
        while let Some(places) = fours.get_mut(at..)
            && !left.is_empty()
        {
            draw = if at % 16 == 0 { self.draws.next() } else { draw << 32 };
            let signs = (draw >> 32) as u32;
            let (now, later) = left.split_at_checked(32).unwrap_or((left, &[]));
            match now.as_chunks::<4>() {
                (whole, []) if scale == Scale::ONE => load_fours(places, whole, signs),
                _ => load_copy(places, now, signs, scale),
            }
            (at, left) = (at + 8, later);
        }
        if let Some(padding) = fours.get_mut(q.len().div_ceil(4)..) {
            // A zero that the compiler does not know: no routine that clears memory.
            let zero = core::hint::black_box(T::ZERO);
            padding.fill([zero, zero, zero, zero]);
        }
        walsh_hadamard(block);
    }
}

/// Up to 32 inputs with their signs, and the first two stages of the transform;
/// a function of its own for the registers.
#[inline(never)]
fn load_fours<T: Wrapping>(places: &mut [[T; 4]], values: &[[i16; 4]], mut signs: u32) {
    for (place, &[a, b, c, d]) in places.iter_mut().zip(values) {
        *place = butterfly([
            T::from_input(a.into()).signed(signs),
            T::from_input(b.into()).signed(signs << 1),
            T::from_input(c.into()).signed(signs << 2),
            T::from_input(d.into()).signed(signs << 3),
        ]);
        signs <<= 4;
    }
}

/// The same of a copy, in which a number of inputs that is not whole is filled up with
/// zeros, and with a scale, which is rare: the trainer puts it into the input map.
#[inline(never)]
fn load_copy<T: Wrapping>(places: &mut [[T; 4]], values: &[i16], signs: u32, scale: Scale) {
    // A zero that the compiler does not know: no routine that clears memory.
    let zero = core::hint::black_box(0);
    let mut copy = [[zero, zero, zero, zero]; 8];
    for (place, &value) in copy.as_flattened_mut().iter_mut().zip(values) {
        *place = scale.apply_wrapping(value.into()) as i16;
    }
    let fours = copy.get(..values.len().div_ceil(4)).unwrap_or(&[]);
    load_fours(places, fours, signs);
}

/// The Walsh-Hadamard transform in place, natural order, of a block that has its
/// first two stages behind it: additions only. Two stages a pass, so that a
/// number is loaded and stored half as often.
fn walsh_hadamard<T: Wrapping>(block: &mut [T]) {
    let length = block.len();
    let mut log = 2;
    while 4 << log <= length {
        if log == 2 {
            pass_of_four(block);
        } else {
            pass(block, log);
        }
        log += 2;
    }
    if length > 1 << log {
        let (low, high) = block.split_at_mut(length / 2);
        last_stage(low, high);
    }
}

/// The transforms of four numbers become those of sixteen. The distances are
/// constants: one pointer serves all.
#[inline(never)]
fn pass_of_four<T: Wrapping>(block: &mut [T]) {
    for sixteen in block.as_chunks_mut::<16>().0 {
        for i in 0..4 {
            let [a, b, c, d] = [i, i + 4, i + 8, i + 12];
            [sixteen[a], sixteen[b], sixteen[c], sixteen[d]] =
                butterfly([sixteen[a], sixteen[b], sixteen[c], sixteen[d]]);
        }
    }
}

/// The same for transforms of 2^log numbers.
#[inline(never)]
fn pass<T: Wrapping>(block: &mut [T], log: u32) {
    // A block has at most 2^16 numbers. Said here so that no panic is linked.
    for four in block.chunks_exact_mut(4 << (log & 15)) {
        let (low, high) = four.split_at_mut(four.len() / 2);
        let (a, b) = low.split_at_mut(low.len() / 2);
        let (c, d) = high.split_at_mut(high.len() / 2);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            [*a, *b, *c, *d] = butterfly([*a, *b, *c, *d]);
        }
    }
}

/// The transform of four numbers.
#[inline]
fn butterfly<T: Wrapping>([a, b, c, d]: [T; 4]) -> [T; 4] {
    let (ab, a_b) = (a.add(b), a.sub(b));
    let (cd, c_d) = (c.add(d), c.sub(d));
    [ab.add(cd), a_b.add(c_d), ab.sub(cd), a_b.sub(c_d)]
}

/// The last stage of a transform with an odd number of them.
#[inline(never)]
fn last_stage<T: Wrapping>(low: &mut [T], high: &mut [T]) {
    let (low, high) = (low.as_chunks_mut::<2>().0, high.as_chunks_mut::<2>().0);
    for (a, b) in low.iter_mut().zip(high) {
        (a[0], b[0]) = (a[0].add(b[0]), a[0].sub(b[0]));
        (a[1], b[1]) = (a[1].add(b[1]), a[1].sub(b[1]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_the_matrix_of_hadamard() {
        for power in 2..if cfg!(miri) { 6 } else { 10 } {
            let n = 1usize << power;
            for input in 0..n {
                let mut block = std::vec![0i32; n];
                block[input] = 1;
                for four in block.as_chunks_mut().0 {
                    *four = butterfly(*four);
                }
                walsh_hadamard(&mut block);
                for (row, &value) in block.iter().enumerate() {
                    let sign = if (row & input).count_ones() % 2 == 0 { 1 } else { -1 };
                    assert_eq!(value, sign);
                }
            }
        }
    }
}
