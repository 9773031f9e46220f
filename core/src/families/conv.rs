//! Conv: filters from a Hadamard transform of a window, a cosine or a sign of each at
//! every position, averaged over cells.
//!
//! All filters of a block share the signs of the window's numbers: the numbers, folded to
//! the length R of the transform, are added to R sums once, and R·log2(R) additions make
//! R filters of them. Features are numbered by block, then by cell, then by filter, so that
//! the filters of a cell are summed up side by side and nothing but their sums is kept.
//!
//! Two positions go through a transform together, in the two parts of a word (see
//! [`UPPER`]).

use core::ops::Range;

use super::Offsets;
use super::hadamard::{UPPER, Wrapping, first_pass, lower_angle, of_block, signed, walsh_hadamard};
use crate::format::bank::Bank;
use crate::format::conv::{Axis, Conv, divided};
use crate::generator::{Purpose, Stream, bank_draw};
use crate::needs::{Needs, Profile, SMALLEST, rolled, serves};
use crate::numerics::{Scale, cosine};
#[cfg(target_feature = "simd128")]
use crate::simd::Pool;
use crate::sink::{FEATURE_ONE, Runs, Sink};

/// A cell of a convolution's grid, and the filters of a block in it.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The number of the bank.
    pub bank: u8,
    /// The convolution.
    pub conv: Conv,
    /// The number of the block.
    pub block: usize,
}

/// Who sums the values of filters up over cells: what windows of a stream have in common need
/// not be made again.
pub trait Cells {
    /// Fills `sums`, zeros so far, for a cell with the positions `all` along the width. `add`
    /// adds the values at the positions that it is called with. The cells of a block come one
    /// after the other, and the blocks in order; those without features are left out.
    #[inline(always)]
    fn fill(
        &mut self,
        _cell: &Cell,
        all: Range<usize>,
        sums: &mut [i32],
        mut add: impl FnMut(Range<usize>, &mut [i32]),
    ) {
        add(all, sums);
    }
}

/// Makes every cell anew.
pub(crate) struct Anew;

impl Cells for Anew {}

#[inline(never)]
pub(super) fn generate<P: Profile, const N: usize>(
    bank: &Bank<'_>,
    conv: Conv,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
    cells: &mut impl Cells,
) {
    let length = usize::from(conv.transform);
    let Some((words, sums)) = wide.split_at_mut_checked(length) else { return };
    let (Some(taps), Some(sums)) = (block.get_mut(..length), sums.get_mut(..length)) else {
        return;
    };
    let inputs = q.len() as u16;
    let dilations = conv.dilations(inputs);
    let listed = serves::<P>(Needs::LISTS) && bank.is_kept();
    // Filters that there are: as many as indices reach where there is a list.
    let filters = if listed { usize::MAX } else { conv.filters(bank.features) as usize };
    let all_cells = usize::from(conv.cells());
    let signs = Stream::of_bank(bank.seed, bank.index, Purpose::Weights);
    let draw = bank_draw(bank.seed, bank.index, Purpose::Offsets, 0);
    let [y, x] = conv.axes(inputs);
    let mut runs = Runs::<N>::new(sink);
    let mut indices = bank.indices_of::<P>();
    let mut next = indices.next();
    // The block of which the taps are listed, and whether they could be.
    let (mut listed_number, mut in_pairs) = (usize::MAX, false);
    #[cfg(target_feature = "simd128")]
    let mut pool = Pool::new();
    while let Some(index) = next {
        let number = divided(index, length * all_cells);
        let before = number * length;
        let rows = length.min(filters.saturating_sub(before)).max(1);
        let cell = divided(index - before * all_cells, rows);
        let first = before * all_cells + cell * rows;
        let dilation = 1 << (number - divided(number, dilations) * dilations);
        let window = Window {
            conv,
            scale: bank.scale,
            dilation,
            kernel: [y.kernel, x.kernel],
            line: x.length * usize::from(conv.channels),
            signs: Signs::new(&signs, number, conv.taps()),
            q,
        };
        let cell_row = divided(cell, x.cells);
        let stride = usize::from(conv.stride);
        let down = Places::of(y, cell_row, stride, dilation);
        let along = Places::of(x, cell - cell_row * x.cells, stride, dilation);
        clear(sums);
        let offsets = Offsets::from(draw, before);
        let step = stride * usize::from(conv.channels);
        #[cfg(target_feature = "simd128")]
        let (count, length) = if P::SMALL { window.runs(taps) } else { (0, 0) };
        #[cfg(target_feature = "simd128")]
        pool.start(number, &conv, bank.scale, window.signs.words[0], offsets);
        let offsets = offsets.rounded();
        // With vectors the small form lists runs of taps.
        if number != listed_number && !(cfg!(target_feature = "simd128") && P::SMALL) {
            (listed_number, in_pairs) = (number, window.list(taps));
        }
        let add_positions = |range: Range<usize>, sums: &mut [i32]| {
            for row in down.range.clone() {
                let mut at = row * stride * window.line + range.start * step;
                let mut left = range.len();
                #[cfg(target_feature = "simd128")]
                if P::SMALL {
                    while left > 0 {
                        if length > 0 {
                            let starts = taps.get(..count).unwrap_or_default();
                            pool.add(q.get(at..).unwrap_or_default(), starts, length, sums);
                        } else {
                            window.fold(at, words);
                            pool.add_folded(words, sums);
                        }
                        left -= 1;
                        at += step;
                    }
                    continue;
                }
                while left > 0 {
                    let two = in_pairs && left > 1;
                    if in_pairs {
                        window.pair(at, if two { step } else { 0 }, taps, words);
                    } else {
                        window.fold(at, words);
                        of_block(words);
                    }
                    if conv.proportion {
                        add(words, two, offsets, sums, |angle| {
                            !(angle as i32 >> 31) & i32::from(FEATURE_ONE)
                        });
                    } else {
                        add(words, two, offsets, sums, |angle| cosine(angle, P::SMALL).into());
                    }
                    let done = 1 + usize::from(two);
                    left -= done;
                    at += done * step;
                }
            }
            #[cfg(target_feature = "simd128")]
            pool.finish(sums);
        };
        let cell = Cell { bank: bank.index, conv, block: number };
        cells.fill(&cell, along.range, sums, add_positions);
        let reciprocal = divided(65_536, down.most * along.most) as i32;
        while let Some(index) = next
            && index.wrapping_sub(first) < rows
        {
            let sum = sums.get(index - first).copied().unwrap_or(0);
            let rounded = sum.wrapping_mul(reciprocal).wrapping_add(1 << 15);
            runs.push((rounded >> 16) as i8);
            next = indices.next();
        }
        // In a bank that was not checked indices need not rise.
        if next.is_some_and(|index| index < first) {
            break;
        }
    }
    runs.flush();
}

/// Fills a buffer with a zero that the compiler does not know: no routine that clears memory.
fn clear(buffer: &mut [i32]) {
    let zero = core::hint::black_box(0);
    // In twos: fewer instructions of the loop's own.
    let (twos, rest) = buffer.as_chunks_mut();
    for [first, second] in twos {
        *first = zero;
        *second = zero;
    }
    rest.iter_mut().for_each(|place| *place = zero);
}

/// Adds what the filters' angles stand for at a position, or at two, to their sums. A
/// function of its own for the registers.
#[inline(never)]
fn add(
    words: &[i32],
    two: bool,
    mut offsets: Offsets,
    sums: &mut [i32],
    value: impl Fn(u32) -> i32,
) {
    if two {
        let mut add = |sum: &mut i32, word: i32| {
            let offset = offsets.add_next(0);
            let low = value(lower_angle(word).wrapping_add(offset));
            *sum = sum.wrapping_add(low + value((word as u32).wrapping_add(offset)));
        };
        // In twos: fewer instructions of the loop's own.
        let (sums, words) = (sums.as_chunks_mut::<2>().0, words.as_chunks::<2>().0);
        for (two, &[first, second]) in sums.iter_mut().zip(words) {
            add(&mut two[0], first);
            add(&mut two[1], second);
        }
    } else {
        for (sum, &word) in sums.iter_mut().zip(words) {
            let offset = offsets.add_next(0);
            *sum = sum.wrapping_add(value(lower_angle(word).wrapping_add(offset)));
        }
    }
}

/// The positions of a cell along an axis, and how many the largest cell has.
struct Places {
    range: Range<usize>,
    most: usize,
}

impl Places {
    fn of(axis: Axis, cell: usize, stride: usize, dilation: usize) -> Self {
        let start = |cell: usize| axis.start(stride, dilation, cell);
        Self { range: start(cell)..start(cell + 1), most: start(1) }
    }
}

/// Words of signs that are kept: of windows of more numbers they are drawn at every
/// position.
const WORDS: usize = 4;

/// The signs of a window's numbers in a block of filters.
struct Signs<'s> {
    stream: &'s Stream,
    first: u64,
    words: [u64; WORDS],
}

impl<'s> Signs<'s> {
    fn new(stream: &'s Stream, block: usize, taps: usize) -> Self {
        let draws = taps.div_ceil(64);
        let first = block as u64 * draws as u64;
        let mut words = [0; WORDS];
        let mut drawn = stream.draws(first);
        for word in words.iter_mut().take(draws) {
            *word = drawn.next();
        }
        Self { stream, first, words }
    }

    /// The signs of 64 numbers, the highest bit first.
    #[inline]
    fn word(&self, number: usize) -> u64 {
        match self.words.get(number) {
            Some(&word) => word,
            None => self.stream.draw(self.first.wrapping_add(number as u64)),
        }
    }
}

/// What slides.
struct Window<'w> {
    conv: Conv,
    scale: Scale,
    dilation: usize,
    /// Taps in both directions.
    kernel: [usize; 2],
    /// Numbers of a line of the image.
    line: usize,
    signs: Signs<'w>,
    q: &'w [i16],
}

impl Window<'_> {
    /// Lists where the runs of a window's numbers start that lie together, and how many they
    /// are; 0 where windows are folded.
    #[cfg(target_feature = "simd128")]
    fn runs(&self, places: &mut [i16]) -> (usize, usize) {
        if self.conv.taps() > places.len() {
            return (0, 0);
        }
        let channels = usize::from(self.conv.channels);
        let [lines, taps] = self.kernel;
        let (each, length) =
            if self.dilation == 1 { (1, taps * channels) } else { (taps, channels) };
        let mut count = 0;
        for line in 0..lines {
            for pixel in 0..each {
                if let Some(place) = places.get_mut(count) {
                    *place = ((line * self.line + pixel * channels) * self.dilation) as i16;
                    count += 1;
                }
            }
        }
        (count, length)
    }

    /// Calls with each tap's distance from the position's first.
    #[inline(always)]
    fn taps(&self, mut each: impl FnMut(usize)) {
        let channels = usize::from(self.conv.channels);
        let [lines, taps] = self.kernel;
        for line in 0..lines {
            let mut at = line * self.dilation * self.line;
            for _ in 0..taps {
                (at..at + channels).for_each(&mut each);
                at += self.dilation * channels;
            }
        }
    }

    /// Lists the taps where two positions can go through a transform together: where they
    /// are not folded, and nothing is left to scale.
    #[inline(never)]
    fn list(&self, taps: &mut [i16]) -> bool {
        let count = self.conv.taps();
        if count > taps.len() || self.scale != Scale::ONE {
            return false;
        }
        let mut places = taps.iter_mut();
        self.taps(|tap| {
            if let Some(place) = places.next() {
                *place = tap as i16;
            }
        });
        true
    }

    /// The transform of the numbers of the position at `at`, with their signs, and in the upper
    /// parts of those of the one `step` further.
    fn pair(&self, at: usize, step: usize, taps: &[i16], words: &mut [i32]) {
        let (first, second) = (self.q.get(at..), self.q.get(at + step..));
        let (Some(first), Some(second)) = (first, second) else { return };
        let Some(taps) = taps.get(..self.conv.taps()) else { return };
        let (now, later) = taps.split_at_checked(32).unwrap_or((taps, &[]));
        let signs = self.signs.words[0];
        load(first, second, now, (signs >> 32) as u32, words);
        load(first, second, later, signs as u32, words.get_mut(32..).unwrap_or_default());
        clear(words.get_mut(taps.len()..).unwrap_or_default());
        // Four zeros stay zeros.
        first_pass(words.get_mut(..taps.len().next_multiple_of(4)).unwrap_or_default());
        walsh_hadamard(words);
    }

    /// The numbers of the position at `at`, scaled and with their signs, folded to the
    /// words.
    #[inline(never)]
    fn fold(&self, at: usize, words: &mut [i32]) {
        clear(words);
        let mask = words.len().wrapping_sub(1);
        let (mut number, mut signs) = (0usize, 0u64);
        self.taps(|tap| {
            if number % 64 == 0 {
                signs = self.signs.word(number / 64);
            }
            let value = self.q.get(at + tap).copied().unwrap_or(0);
            let value = i32::from(self.scale.apply_wrapping(value.into()) as i16 >> (UPPER - 16));
            if let Some(place) = words.get_mut(number & mask) {
                let signed = if signs >> 63 == 1 { -value } else { value };
                *place = place.wrapping_add(signed);
            }
            signs <<= 1;
            number += 1;
        });
    }
}

/// The numbers of up to 32 taps, with their signs, the highest bit first. A function of its own
/// for the registers.
#[inline(never)]
fn load(first: &[i16], second: &[i16], taps: &[i16], mut signs: u32, words: &mut [i32]) {
    // One comparison serves both.
    let Some(first) = first.get(..second.len()) else { return };
    for (place, &tap) in words.iter_mut().zip(taps) {
        let tap = usize::from(tap as u16);
        let (Some(&low), Some(&high)) = (first.get(tap), second.get(tap)) else { return };
        let low = i32::from(low >> (UPPER - 16));
        let both = (i32::from(high >> (UPPER - 16)) << UPPER).wrapping_add(low);
        *place = if SMALLEST { signed(both, signs) } else { both.signed(signs) };
        signs <<= 1;
        rolled();
    }
}
