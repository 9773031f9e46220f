//! How a bank mixes inputs: dense projections and the Hadamard transform.

use crate::bank::{Bank, Law};
use crate::generator::{Purpose, Stream, bank_stream};
use crate::numerics::{CAUCHY, NORMAL, NORMAL_ONE, Scale};

/// Dense projections of one quantised row: z_k = Σ_i w_ki·q_i, one at a time,
/// the weights drawn as they are used.
///
/// Weight i of projection k is byte i of the draws k·⌈d/8⌉… (8 to a draw), or,
/// under the sign law, bit i of the draws k·⌈d/64⌉….
pub(super) struct Dense<'b> {
    stream: Stream,
    draws_each: u64,
    bank: &'b Bank<'b>,
}

impl<'b> Dense<'b> {
    pub(super) fn new(bank: &'b Bank<'b>, seed: u64, inputs: usize) -> Self {
        let per_draw = if matches!(bank.law, Law::Sign) { 64 } else { 8 };
        Self {
            stream: bank_stream(seed, bank.index, Purpose::Weights),
            draws_each: inputs.div_ceil(per_draw) as u64,
            bank,
        }
    }

    /// Projection `k`, modulo 2^32, before the bank's scale.
    #[inline]
    pub(super) fn project(&self, k: usize, q: &[i16]) -> i32 {
        let first = k as u64 * self.draws_each;
        match self.bank.law {
            Law::Sign => self.signed(first, q),
            Law::Cauchy => self.tabled(first, q, |byte| i32::from(CAUCHY[usize::from(byte)])),
            _ => self.tabled(first, q, |byte| i32::from(NORMAL[usize::from(byte)])),
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
                // 0 keeps the value, -1 negates it (one's complement plus one).
                let flip = -((signs & 1) as i32);
                z = z.wrapping_add((i32::from(value) ^ flip).wrapping_sub(flip));
                signs >>= 1;
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
                    Law::Gaussian => i32::from(NORMAL[usize::from(byte)]),
                    Law::Cauchy => i32::from(CAUCHY[usize::from(byte)]),
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

/// What a bias drawn from [`NORMAL`] is divided by under a law: the table's
/// one for weights of ±1, nothing for weights from the table itself.
pub(super) const fn bias_divisor(law: Law) -> i32 {
    match law {
        Law::Gaussian => 1,
        _ => NORMAL_ONE,
    }
}

/// Integers that wrap: i16 for phases, i32 for exact projections.
pub(super) trait Wrapping: Copy {
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn neg(self) -> Self;
}

macro_rules! wrapping {
    ($($integer:ty),*) => {$(
        impl Wrapping for $integer {
            const ZERO: Self = 0;
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}

wrapping!(i16, i32);

/// Hadamard projections: block `b` holds projections b·P..(b+1)·P of the row,
/// z = H·D·q, D the signs of the draws b·⌈d/64⌉….
pub(super) struct Hadamard {
    stream: Stream,
    draws_each: u64,
}

impl Hadamard {
    pub(super) fn new(bank: &Bank<'_>, seed: u64, inputs: usize) -> Self {
        Self {
            stream: bank_stream(seed, bank.index, Purpose::Weights),
            draws_each: inputs.div_ceil(64) as u64,
        }
    }

    /// Fills `block` (a power of two, at least as long as `q`) with the
    /// projections of block number `number`; `load` converts an input.
    pub(super) fn transform<T: Wrapping>(
        &self,
        number: usize,
        q: &[i16],
        block: &mut [T],
        load: impl Fn(i16) -> T,
    ) {
        let first = number as u64 * self.draws_each;
        for ((index, places), word) in (first..).zip(block.chunks_mut(64)).zip(q.chunks(64)) {
            let mut signs = self.stream.draw(index);
            for (place, &value) in places.iter_mut().zip(word) {
                let loaded = load(value);
                *place = if signs & 1 == 0 { loaded } else { loaded.neg() };
                signs >>= 1;
            }
        }
        if let Some(padding) = block.get_mut(q.len()..) {
            padding.fill(T::ZERO);
        }
        walsh_hadamard(block);
    }
}

/// The order in which a unit's projections are taken from block `number`: row
/// (C + A·i + 2E·i²) modulo P, A odd, which takes every row once.
///
/// Rows r and s of a transform are related by r XOR s, so neighbours are related
/// in the same way everywhere. In this order the relation differs from unit to
/// unit and averages out.
pub(super) struct RowOrder {
    linear: u32,
    square: u32,
    offset: u32,
}

impl RowOrder {
    pub(super) fn new(bank: &Bank<'_>, seed: u64, number: usize) -> Self {
        let draw = bank_stream(seed, bank.index, Purpose::Choices).draw(number as u64);
        Self {
            linear: u32::from(draw as u16) | 1,
            offset: u32::from((draw >> 16) as u16),
            square: 2 * u32::from((draw >> 32) as u16),
        }
    }

    /// Row number `i` of a block of `length` rows, a power of two.
    #[inline]
    pub(super) fn row(&self, i: usize, length: usize) -> usize {
        let i = i as u32;
        let slope = self.linear.wrapping_add(self.square.wrapping_mul(i));
        slope.wrapping_mul(i).wrapping_add(self.offset) as usize & (length - 1)
    }
}

/// The Walsh-Hadamard transform in place, natural order: additions only.
fn walsh_hadamard<T: Wrapping>(block: &mut [T]) {
    let mut half = 1;
    while half < block.len() {
        for pair in block.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (a.add(*b), a.sub(*b));
            }
        }
        half *= 2;
    }
}

/// The input of a phase transform: scaled before the transform, so that the
/// block itself is i16 and its low bits are the phase.
#[inline]
pub(super) fn phase_input(scale: Scale, value: i16) -> i16 {
    if scale.shift == 0 {
        return (i32::from(value) * i32::from(scale.mult)) as i16;
    }
    let product = i32::from(value) * i32::from(scale.mult);
    ((product + (1 << (scale.shift - 1))) >> (scale.shift & 31)) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_the_matrix_of_hadamard() {
        for power in 0..if cfg!(miri) { 5 } else { 8 } {
            let n = 1usize << power;
            for input in 0..n {
                let mut block = std::vec![0i32; n];
                block[input] = 1;
                walsh_hadamard(&mut block);
                for (row, &value) in block.iter().enumerate() {
                    let sign = if (row & input).count_ones() % 2 == 0 { 1 } else { -1 };
                    assert_eq!(value, sign);
                }
            }
        }
    }
}
