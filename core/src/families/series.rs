//! Series: filters of signs slide over a series, or over its differences, at several
//! dilations; a feature is the proportion of positions whose sum is above a threshold.
//!
//! The filters of a block are the rows of a Hadamard transform of length 8, with the block's
//! signs. Blocks go through the dilations, then over samples and differences in turn, then
//! through the channels. Ends are padded with zeros, so that every filter has a position for
//! every sample (or difference). What samples are multiplied by at each dilation the trainer
//! has measured: then the thresholds of all filters are spread over the range of their sums.

use super::Offsets;
use super::hadamard::{Wrapping, of_block};
use crate::format::bank::Bank;
use crate::format::series::{ROWS, Series};
use crate::generator::{Purpose, Stream, bank_draw};
use crate::needs::Profile;
use crate::numerics::quotient;
use crate::sink::{FEATURE_ONE, Runs, Sink};

#[inline(never)]
pub(super) fn generate<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    series: Series,
    q: &[i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    let Some((words, counts)) = wide.split_at_mut_checked(ROWS) else { return };
    let Some(counts) = counts.get_mut(..ROWS) else { return };
    let signs = Stream::of_bank(bank.seed, bank.index, Purpose::Weights);
    let draw = bank_draw(bank.seed, bank.index, Purpose::Offsets, 0);
    let mut runs = Runs::<N>::new(sink);
    // No block has this number.
    let (mut counted, mut positions) = (usize::MAX, 1);
    for index in bank.indices_of::<P>() {
        let number = index / ROWS;
        if number != counted {
            let slide = Slide::of(series, number, signs.draw(number as u64), q);
            slide.count(Offsets::from(draw, number * ROWS), words, counts);
            (counted, positions) = (number, slide.positions as u32);
        }
        let count = counts.get(index % ROWS).copied().unwrap_or(0) as u32;
        // 2·254·65,535 fits.
        let rounded = (count * (4 * FEATURE_ONE as u32)).wrapping_add(positions);
        runs.push((quotient(rounded, 2 * positions) as i32 - i32::from(FEATURE_ONE)) as i8);
    }
    runs.flush();
}

/// The filters of a block over what they slide over.
struct Slide<'q> {
    /// From the first number of the channel on.
    q: &'q [i16],
    /// Inputs from a sample to the next.
    step: usize,
    /// Positions, and what filters see: samples or differences.
    positions: usize,
    /// Between taps, and between samples of a difference.
    dilation: usize,
    difference: bool,
    kernel: usize,
    signs: u64,
    mult: i32,
    shift: u32,
}

impl<'q> Slide<'q> {
    /// That of block `number`.
    fn of(series: Series, number: usize, signs: u64, q: &'q [i16]) -> Self {
        let dilations = u32::from(series.dilations);
        let turn = quotient(number as u32, dilations);
        // Below 16.
        let log = (number as u32).wrapping_sub(turn.wrapping_mul(dilations));
        let (difference, turn) = (turn & 1 == 1, turn >> 1);
        let channels = u32::from(series.channels);
        let channel = turn.wrapping_sub(quotient(turn, channels).wrapping_mul(channels));
        let gain = if difference { series.differences } else { series.samples };
        let level = gain.level(log as u8).unwrap_or(0);
        let dilation = 1 << (log & 15);
        let length = series.length(q.len() as u16);
        Self {
            q: q.get(channel as usize..).unwrap_or_default(),
            step: channels as usize,
            positions: if difference { length.saturating_sub(dilation) } else { length },
            dilation,
            difference,
            kernel: usize::from(series.kernel),
            signs,
            mult: i32::from(level & 15 | 16) << 6,
            shift: 15 - u32::from(level >> 4),
        }
    }

    /// Counts for each filter the positions at which its sum and its offset are not negative.
    fn count(&self, offsets: Offsets, words: &mut [i32], counts: &mut [i32]) {
        // Zeros that the compiler does not know: no routine that clears memory.
        let zero = core::hint::black_box(0);
        counts.iter_mut().for_each(|count| *count = zero);
        let before = (self.kernel.saturating_sub(1) * self.dilation) >> 1;
        for position in 0..self.positions {
            words.iter_mut().for_each(|word| *word = zero);
            let mut signs = self.signs;
            for tap in 0..self.kernel {
                // Before the start it wraps, and is no place either.
                let place = (position + tap * self.dilation).wrapping_sub(before);
                if place < self.positions
                    && let Some(word) = words.get_mut(tap % ROWS)
                {
                    let value = self.value(place).signed((signs >> 32) as u32);
                    *word = word.wrapping_add(value);
                }
                signs <<= 1;
            }
            of_block(words);
            let mut offsets = offsets;
            for (count, &word) in counts.iter_mut().zip(words.iter()) {
                let offset = offsets.add_next(0) as i32 >> 16;
                *count += i32::from(word.wrapping_add(offset) >= 0);
            }
        }
    }

    /// The sample or difference at a place, multiplied and saturated.
    #[inline]
    fn value(&self, place: usize) -> i32 {
        let sample =
            |place: usize| self.q.get(place * self.step).map_or(0, |&value| i32::from(value));
        let mut value = sample(place);
        if self.difference {
            value = sample(place + self.dilation) - value;
        }
        // 2^16 · 31 · 64 in magnitude at most.
        let value = value.wrapping_mul(self.mult) >> self.shift;
        value.clamp(-i32::from(i16::MAX), i32::from(i16::MAX))
    }
}
