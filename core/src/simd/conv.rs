//! Convolutions: the values of filters at positions, summed up.

use core::arch::wasm32::{
    i8x16_gt, i8x16_splat, i16x8, i16x8_add, i16x8_extend_high_i8x16, i16x8_extend_low_i8x16,
    i16x8_lt, i16x8_mul, i16x8_splat, v128_and,
};

use bytemuck::{cast, cast_slice_mut};

use super::cosine::{Eight, angles, cosines_of};
use super::eight;
use super::transform::{between, scaled, signed, within_eight};
use crate::families::Offsets;
use crate::format::Conv;
use crate::numerics::Scale;
use crate::sink::FEATURE_ONE;

/// Numbers that go through transforms side by side: one window or several.
const ALL: usize = 64;

/// How often values are added to sums of 16 bits.
const MOST: usize = 256;

/// A vector of what belongs to eight numbers of a window.
type Eights = [[i16; 8]; ALL / 8];

/// The values of a block's filters, summed up over the positions of a cell.
pub(crate) struct Pool {
    /// Its number.
    block: usize,
    /// Filters of the block: 8, 16, 32 or 64.
    filters: usize,
    proportion: bool,
    scale: Scale,
    /// ±1 for every number of a window, 0 behind the last.
    signs: Eights,
    offsets: Eights,
    /// Windows, and what is copied too far.
    words: [i16; ALL + 8],
    /// How many of them are filled.
    filled: usize,
    /// Sums of values.
    parts: Eights,
    /// How often values were added to them.
    added: usize,
}

impl Pool {
    /// Of no block yet.
    pub(crate) fn new() -> Self {
        let zeros = [[0; 8]; ALL / 8];
        Self {
            block: usize::MAX,
            filters: 0,
            proportion: false,
            scale: Scale::ONE,
            signs: zeros,
            offsets: zeros,
            words: [0; ALL + 8],
            filled: 0,
            parts: zeros,
            added: 0,
        }
    }

    /// Starts with block number `block`. `signs`: those of a window's numbers, the highest bit
    /// first; `offsets` from the block's first filter on.
    pub(crate) fn start(
        &mut self,
        block: usize,
        conv: &Conv,
        scale: Scale,
        signs: u64,
        offsets: Offsets,
    ) {
        if self.block == block {
            return;
        }
        self.block = block;
        self.filters = usize::from(conv.transform);
        self.proportion = conv.proportion;
        // Windows that are folded have their signs, and are scaled.
        let is_folded = conv.taps() > self.filters;
        self.scale = if is_folded { Scale::ONE } else { scale };
        let mut next = Eight::new(offsets);
        for (number, (signs_of, offsets_of)) in
            self.signs.iter_mut().zip(&mut self.offsets).enumerate()
        {
            let place = (8 * number) & self.filters.wrapping_sub(1);
            if place == 0 {
                next = Eight::new(offsets);
            }
            *offsets_of = cast(next.next());
            let left = i16x8_splat(conv.taps().wrapping_sub(place) as i16);
            let there = i16x8_lt(i16x8(0, 1, 2, 3, 4, 5, 6, 7), left);
            let byte = (signs << place >> 56) as i16;
            let ones = signed(i16x8_splat(1), byte);
            *signs_of = if is_folded { [1; 8] } else { cast(v128_and(ones, there)) };
        }
    }

    /// Adds the position whose window are runs of so many inputs, which start where `starts`
    /// says.
    pub(crate) fn add(&mut self, q: &[i16], starts: &[i16], length: usize, sums: &mut [i32]) {
        let mut place = self.filled;
        for &start in starts {
            let (mut from, end) = (usize::from(start as u16), place + length);
            while place < end {
                let numbers: [i16; 8] = cast(eight(q.get(from..).unwrap_or_default()));
                // What is copied too far is written again, or gets no sign.
                if let Some(places) =
                    self.words.get_mut(place..).and_then(|to| to.first_chunk_mut())
                {
                    *places = numbers;
                }
                (place, from) = (place + 8, from + 8);
            }
            place = end;
        }
        self.next(sums);
    }

    /// Adds the position whose window was folded to these words.
    pub(crate) fn add_folded(&mut self, words: &[i32], sums: &mut [i32]) {
        let places = self.words.get_mut(self.filled..).unwrap_or_default();
        places.iter_mut().zip(words).for_each(|(place, &word)| *place = (word << 4) as i16);
        self.next(sums);
    }

    #[inline(always)]
    fn next(&mut self, sums: &mut [i32]) {
        self.filled += self.filters;
        if self.filled >= ALL {
            self.sum_up(sums);
        }
    }

    /// Adds the values of the windows that are there.
    #[inline(never)]
    fn sum_up(&mut self, sums: &mut [i32]) {
        let count = self.filled / 8;
        let windows = self.words.as_chunks_mut::<8>().0;
        let Some(windows) = windows.get_mut(..count) else { return };
        for (window, &signs) in windows.iter_mut().zip(&self.signs) {
            let inputs = v128_and(scaled(cast(*window), self.scale), i16x8_splat(!0xf));
            *window = cast(within_eight(i16x8_mul(inputs, cast(signs))));
        }
        between(cast_slice_mut(windows), self.filters / 8, false);
        let offsets = self.offsets.as_chunks::<2>().0;
        let windows = self.words.as_chunks::<8>().0.as_chunks::<2>().0;
        let parts = self.parts.get_mut(..count).unwrap_or_default();
        for ((parts, windows), offsets) in parts.chunks_mut(2).zip(windows).zip(offsets) {
            let ([a, b], [c, d]) = (windows.map(cast), offsets.map(cast));
            let angles = angles(i16x8_add(a, c), i16x8_add(b, d));
            let values = if self.proportion {
                v128_and(i8x16_gt(angles, i8x16_splat(-1)), i8x16_splat(FEATURE_ONE as i8))
            } else {
                cosines_of(angles)
            };
            let values = [i16x8_extend_low_i8x16(values), i16x8_extend_high_i8x16(values)];
            for (part, value) in parts.iter_mut().zip(values) {
                *part = cast(i16x8_add(cast(*part), value));
            }
        }
        self.filled = 0;
        self.added += 1;
        if self.added == MOST {
            self.collect(sums);
        }
    }

    #[inline(never)]
    fn collect(&mut self, sums: &mut [i32]) {
        self.added = 0;
        for parts in self.parts.as_flattened_mut().chunks_mut(self.filters.max(1)) {
            for (part, sum) in parts.iter_mut().zip(&mut *sums) {
                *sum = sum.wrapping_add(core::mem::take(part).into());
            }
        }
    }

    /// Ends the cell.
    pub(crate) fn finish(&mut self, sums: &mut [i32]) {
        self.sum_up(sums);
        self.collect(sums);
    }
}
