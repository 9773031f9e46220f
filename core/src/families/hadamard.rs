//! Projections by the Hadamard transform.

use bytemuck::{Pod, cast_slice, cast_slice_mut, try_cast_slice};

use crate::format::bank::{Bank, hadamard_block, in_pairs};
use crate::format::family::Law;
use crate::generator::{Draws, Purpose, Stream};
use crate::needs::{Needs, Profile, SMALLEST, known_inputs, rolled, serves};
use crate::numerics::Scale;

/// Whether the bank's projections are rows of a Hadamard transform.
#[inline]
pub(crate) fn is_hadamard<P: Profile>(bank: &Bank<'_>) -> bool {
    match (serves::<P>(Needs::HADAMARD), serves::<P>(Needs::DENSE)) {
        (true, true) => matches!(bank.law, Law::Hadamard),
        (hadamard, _) => hadamard,
    }
}

/// Integers that wrap: i16 for phases, i32 for exact projections.
pub(crate) trait Wrapping: Pod + Default {
    /// Whether a bank's scale applies to inputs.
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

/// Projections of a row by Hadamard transforms.
pub(crate) struct Transforms<'q> {
    bank: &'q Bank<'q>,
    q: &'q [i16],
    /// Of the signs of inputs, in the small form.
    draws: Draws,
}

impl<'q> Transforms<'q> {
    #[inline]
    pub(crate) fn new<P: Profile>(bank: &'q Bank<'q>, q: &'q [i16]) -> Self {
        let draws = if P::SMALL { all_sign_draws(bank) } else { Draws::default() };
        Self { bank, q, draws }
    }

    /// Fills `block` with the projections from number `first` on, of scaled inputs where
    /// they are phases.
    ///
    /// `block` is a whole transform, `first` a multiple of its length; or, in the small form,
    /// a smaller power of two of at least 8.
    #[inline]
    pub(crate) fn fill<P: Profile, T: Wrapping>(&self, first: usize, block: &mut [T]) {
        if P::SMALL {
            self.fill_part::<P, T>(first, block);
        } else {
            transform::<P, T>(self.bank, first, self.q, block);
        }
    }

    #[inline(never)]
    fn fill_part<P: Profile, T: Wrapping>(&self, first: usize, block: &mut [T]) {
        let (inputs, log) = inputs_and_log::<P>(self.q);
        let draws = self.draws.after((first >> log) * inputs.div_ceil(64));
        #[cfg(target_feature = "simd128")]
        {
            let (scale, kept) = (scale_of::<T>(self.bank), self.kept::<P, T>());
            crate::simd::transform(draws, first, scale, kept, self.q, block);
        }
        #[cfg(not(target_feature = "simd128"))]
        {
            // A zero that the compiler does not know: no routine that clears memory.
            block.fill(core::hint::black_box(T::default()));
            let (mut draws, mut at) = (draws, 0);
            while at < inputs {
                let mut draw = draws.next();
                let end = inputs.min(at + 64);
                while at < end {
                    self.fold::<P, T>((draw >> 32) as u32, first, at, block);
                    draw <<= 8;
                    at += 8;
                }
            }
            stages(block);
        }
    }

    /// The bits of a scaled input that go in: phases of few inputs have twelve.
    #[inline]
    fn kept<P: Profile, T: Wrapping>(&self) -> i32 {
        let (inputs, _) = inputs_and_log::<P>(self.q);
        if T::SCALED && in_pairs(inputs) { !0xf } else { !0 }
    }

    /// Up to eight inputs with their signs, from number `at` on, folded to the length of
    /// `block`, a part of a transform.
    ///
    /// Row r + s of H, r a multiple of the block's length and s less, is row s of the small
    /// matrix, again and again, each time with the sign of r and the column. So the inputs
    /// of a part are folded up with these signs, and go through a small transform.
    #[inline(never)]
    #[cfg(not(target_feature = "simd128"))]
    fn fold<P: Profile, T: Wrapping>(&self, signs: u32, first: usize, at: usize, block: &mut [T]) {
        let mut signs = signs ^ ones(first & at);
        let Some(places) = block.get_mut(at & block.len().wrapping_sub(1)..) else { return };
        let values = self.q.get(at..).unwrap_or_default();
        // An 8 that the compiler does not know: no copies of the loop.
        let values = values.get(..core::hint::black_box(8)).unwrap_or(values);
        let (scale, kept) = (scale_of::<T>(self.bank), self.kept::<P, T>());
        for (place, &value) in places.iter_mut().zip(values) {
            let value = T::from_input(scale.apply_wrapping(value.into()) & kept);
            *place = place.add(value.signed(signs));
            signs <<= 1;
            rolled();
        }
    }
}

/// The whole transform that projection `first` starts, in the fast form.
#[inline(never)]
fn transform<P: Profile, T: Wrapping>(bank: &Bank<'_>, first: usize, q: &[i16], block: &mut [T]) {
    let (_, log) = inputs_and_log::<P>(q);
    load(sign_draws(bank, first >> log, q), scale_of::<T>(bank), q, block);
    walsh_hadamard(block);
}

/// The number of inputs, and the logarithm of the length of their transform.
#[inline]
fn inputs_and_log<P: Profile>(q: &[i16]) -> (usize, u32) {
    let inputs = const { known_inputs::<P>() }.unwrap_or(q.len() as u16);
    (inputs.into(), hadamard_block(inputs).trailing_zeros() & 31)
}

/// What inputs are scaled by.
#[inline]
fn scale_of<T: Wrapping>(bank: &Bank<'_>) -> Scale {
    if T::SCALED { bank.scale } else { Scale::ONE }
}

/// All draws of the signs of inputs. A function of its own for the memory of its callers.
#[inline(never)]
fn all_sign_draws(bank: &Bank<'_>) -> Draws {
    Stream::of_bank(bank.seed, bank.index, Purpose::Weights).draws(0)
}

/// Where the upper of two phases starts that go through a transform in one word.
///
/// Phases are numbers modulo a turn, of 12 bits: the upper one loses its turns beyond the
/// word by itself. Below it 20 bits hold any sum of 255 of the lower ones with its sign:
/// what that takes from the upper one [`ROUNDED`] gives back, as a part of the angle's
/// offset. Bits below the upper one's remain, which offsets of 12 bits leave alone.
pub(crate) const UPPER: u32 = 20;

/// What the offsets of angles with an upper phase in them are greater by.
pub(crate) const ROUNDED: u32 = 1 << (UPPER - 1);

/// The angle of the lower phase of a word; a full turn is 2^32.
#[inline(always)]
pub(crate) fn lower_angle(word: i32) -> u32 {
    (word as u32) << UPPER
}

/// Draws of the signs of inputs for transform `number`, and the next ones.
#[inline(always)]
fn sign_draws(bank: &Bank<'_>, number: usize, q: &[i16]) -> Draws {
    let first = number * q.len().div_ceil(64);
    Stream::of_bank(bank.seed, bank.index, Purpose::Weights).draws(first as u64)
}

/// Transforms of phases in order, two phases in a word.
pub(crate) struct InPairs<'q> {
    draws: Draws,
    scale: Scale,
    q: &'q [i16],
}

impl<'q> InPairs<'q> {
    /// Those from number `first` on.
    pub(crate) fn from(bank: &Bank<'_>, first: usize, q: &'q [i16]) -> Self {
        Self { draws: sign_draws(bank, first, q), scale: bank.scale, q }
    }

    /// Fills `words` with the next transform but for one of its stages: of two inputs the first
    /// goes through it in the lower part of a word, the second in the upper part. Word i stands
    /// for phase 2i, the sum of its parts, and phase 2i + 1, the lower one minus the upper.
    #[inline(always)]
    pub(crate) fn next(&mut self, words: &mut [i32]) {
        let mut at = 0;
        while 2 * at < self.q.len() {
            let draw = self.draws.next();
            self.load(at, draw, words);
            at += 32;
        }
        let padding = words.get_mut(self.q.len().div_ceil(2)..).unwrap_or_default();
        // A zero that the compiler does not know: no routine that clears memory.
        padding.fill(core::hint::black_box(0));
        of_block(words);
    }

    /// The words from number `at` on of up to 64 inputs, whose signs are drawn.
    #[inline(never)]
    fn load(&self, at: usize, draw: u64, words: &mut [i32]) {
        let words = words.get_mut(at..).unwrap_or_default();
        let left = self.q.get(2 * at..).unwrap_or_default();
        let (first, left) = left.split_at_checked(32).unwrap_or((left, &[]));
        self.load_half(words, first, (draw >> 32) as u32);
        let (second, _) = left.split_at_checked(32).unwrap_or((left, &[]));
        self.load_half(words.get_mut(16..).unwrap_or_default(), second, draw as u32);
    }

    #[inline(always)]
    fn load_half(&self, words: &mut [i32], now: &[i16], signs: u32) {
        match try_cast_slice(now) {
            Ok(pairs) if self.scale == Scale::ONE => load_pairs(words, pairs, signs),
            _ => with_copy(now, self.scale, |copy| load_pairs(words, copy, signs)),
        }
    }
}

/// Up to 32 inputs, two in a word as they lie in memory, with their signs, the highest bit
/// first; a function of its own for the registers.
#[inline(never)]
fn load_pairs(places: &mut [i32], pairs: &[u32], mut signs: u32) {
    for (place, &pair) in places.iter_mut().zip(pairs) {
        let pair = if cfg!(target_endian = "big") { pair.rotate_left(16) } else { pair };
        let lower = signed((pair << 16) as i32 >> UPPER, signs);
        let upper = signed((pair >> UPPER << UPPER) as i32, signs << 1);
        *place = lower.wrapping_add(upper);
        signs <<= 2;
        rolled();
    }
}

/// −value when bit 31 of `signs` is set, else the value. On the smallest cores a branch is
/// shorter than anything else, on others a product.
#[inline(always)]
pub(crate) fn signed(value: i32, signs: u32) -> i32 {
    if SMALLEST {
        return if (signs as i32) < 0 { value.wrapping_neg() } else { value };
    }
    value.wrapping_mul(signs as i32 >> 31 | 1)
}

/// The transform of `block` in place.
#[inline]
pub(crate) fn of_block(block: &mut [i32]) {
    first_pass(block);
    walsh_hadamard(block);
}

/// The transforms of four numbers.
#[inline(never)]
pub(crate) fn first_pass(block: &mut [i32]) {
    for four in block.as_chunks_mut::<4>().0 {
        *four = butterfly(*four);
        rolled();
    }
}

/// The inputs with their signs, zeros behind them, and the first two stages.
fn load<T: Wrapping>(mut draws: Draws, scale: Scale, q: &[i16], block: &mut [T]) {
    let (fours, _) = block.as_chunks_mut::<4>();
    let (mut at, mut left, mut draw) = (0, q, 0);
    while let Some(places) = fours.get_mut(at..)
        && !left.is_empty()
    {
        draw = if at % 16 == 0 { draws.next() } else { draw << 32 };
        let signs = (draw >> 32) as u32;
        let (now, later) = left.split_at_checked(32).unwrap_or((left, &[]));
        match now.as_chunks::<4>() {
            (whole, []) if scale == Scale::ONE => load_fours(places, whole, signs),
            _ => with_copy(now, scale, |copy| {
                load_fours(places, cast_slice(copy).as_chunks().0, signs);
            }),
        }
        (at, left) = (at + 8, later);
    }
    if let Some(padding) = fours.get_mut(q.len().div_ceil(4)..) {
        // A zero that the compiler does not know: no routine that clears memory.
        let zero = core::hint::black_box(T::default());
        padding.fill([zero, zero, zero, zero]);
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

/// Loads from a copy of up to 32 inputs, two in a word, with zeros behind them: where they are
/// no whole number of what is loaded, or with a scale, which is rare: the trainer puts it into
/// the input map.
#[inline(never)]
fn with_copy(values: &[i16], scale: Scale, load: impl FnOnce(&[u32])) {
    // Zeros that the compiler does not know: no routine that clears memory.
    let mut copy = [core::hint::black_box(0); 16];
    for (place, &value) in cast_slice_mut::<u32, i16>(&mut copy).iter_mut().zip(values) {
        *place = scale.apply_wrapping(value.into()) as i16;
    }
    load(&copy);
}

/// The Walsh-Hadamard transform in place, natural order, of a block that has its
/// first two stages behind it: additions only. Two stages a pass, so that a
/// number is loaded and stored half as often.
pub(crate) fn walsh_hadamard<T: Wrapping>(block: &mut [T]) {
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
            rolled();
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
            rolled();
        }
    }
}

/// The transform of four numbers.
#[inline]
pub(crate) fn butterfly<T: Wrapping>([a, b, c, d]: [T; 4]) -> [T; 4] {
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
        rolled();
    }
}

/// All bits set where the number of ones in the low 16 bits is odd, else none.
#[inline]
pub(crate) fn ones(bits: usize) -> u32 {
    let byte = bits ^ (bits >> 8);
    // Bit n: whether the four bits of n have an odd number.
    let odd = 0x6996u32 >> ((byte ^ (byte >> 4)) & 15) & 1;
    odd.wrapping_neg()
}

/// The transform, natural order, a stage a pass.
#[inline(never)]
#[cfg(any(test, not(target_feature = "simd128")))]
fn stages<T: Wrapping>(block: &mut [T]) {
    let mut half = 1;
    while half < block.len() {
        let mut rest = &mut *block;
        while let Some((low, others)) = rest.split_at_mut_checked(half)
            && let Some((high, others)) = others.split_at_mut_checked(half)
        {
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (a.add(*b), a.sub(*b));
                rolled();
            }
            rest = others;
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_transform_are_the_matrix_of_hadamard() {
        for power in 3..if cfg!(miri) { 6 } else { 10 } {
            let n = 1usize << power;
            for input in 0..n {
                let mut fast = std::vec![0i32; n];
                fast[input] = 1;
                let mut small = fast.clone();
                for four in fast.as_chunks_mut().0 {
                    *four = butterfly(*four);
                }
                walsh_hadamard(&mut fast);
                stages(&mut small);
                for (row, &value) in fast.iter().enumerate() {
                    let sign = if (row & input).count_ones() % 2 == 0 { 1 } else { -1 };
                    assert_eq!([value, small[row]], [sign; 2]);
                }
            }
        }
    }
}
