//! Conv: filters of random signs over an image or a series, a cosine or a sign of
//! each sum, averaged over cells.
//!
//! Phases are sums modulo 2^16, as the transform's are. With B the sum of all taps,
//! which a dilation's filters share, a filter's sum is B − 2·Σ over its negative taps, or
//! 2·Σ over the positive ones − B: whichever are fewer, less than half of them.

use core::ops::Range;

use super::{Runs, offset_of, sum};
use crate::bank::Bank;
use crate::conv::{Axis, Conv, divided};
use crate::generator::{Purpose, Stream, bank_stream};
use crate::numerics::{Scale, cos};
use crate::sink::Sink;

/// Positions that are summed up together: what a vector holds, or the registers of a
/// small core.
const LANES: usize = if cfg!(target_pointer_width = "64") { 8 } else { 4 };

#[inline(never)]
pub(super) fn generate(
    bank: &Bank<'_>,
    conv: Conv,
    q: &[i16],
    block: &mut [i16],
    wide: &mut [i32],
    sink: &mut dyn Sink,
) {
    let inputs = q.len() as u16;
    let mut dilations = 1;
    while conv.dilated && conv.positions_fit(inputs, 1 << dilations) {
        dilations += 1;
    }
    let length = conv.plane(inputs) * conv.planes() + Conv::PADDING;
    let Some((planes, block)) = block.split_at_mut_checked(length) else { return };
    sort(conv, bank.scale, q, planes);
    let mut draws = Draws {
        signs: bank_stream(bank, Purpose::Weights),
        offsets: bank_stream(bank, Purpose::Offsets).draw(0),
    };
    let mut indices = bank.spans().flatten();
    let mut runs = Runs::new(sink);
    let mut wanted = Wanted { next: indices.next(), indices };
    while let Some(index) = wanted.next {
        // Which eight filters, of one dilation.
        let eight = divided(index, 8 * usize::from(conv.cells()));
        let dilation = 1 << (eight - divided(eight, dilations) * dilations);
        let slide = Slide::new(conv, inputs, dilation, planes, &mut *block, &mut *wide);
        let Some(mut slide) = slide else { return };
        for filter in 8 * eight..8 * (eight + 1) {
            slide.filter(filter, &mut draws, &mut wanted, &mut runs);
        }
    }
    runs.flush();
}

/// The indices of the features that are wanted, rising.
struct Wanted<I> {
    next: Option<usize>,
    indices: I,
}

impl<I: Iterator<Item = usize> + Clone> Wanted<I> {
    /// The next index if it is below `end`.
    fn below(&self, end: usize) -> Option<usize> {
        self.next.filter(|&index| index < end)
    }

    /// The last of the indices below `end`, from the next one on, which is one.
    fn last_below(&self, end: usize) -> Option<usize> {
        self.indices.clone().take_while(|&index| index < end).last().or(self.next)
    }

    fn advance(&mut self) {
        self.next = self.indices.next();
    }
}

/// Scales the inputs and sorts them into planes, in which neighbouring positions
/// follow each other.
fn sort(conv: Conv, scale: Scale, q: &[i16], planes: &mut [i16]) {
    let inputs = q.len() as u16;
    let (channels, stride) = (usize::from(conv.channels), usize::from(conv.stride));
    let (plane, columns) = (conv.plane(inputs), conv.columns(inputs));
    let mut lines = q.chunks((channels * conv.width(inputs)).max(1));
    for first in (0..plane).step_by(columns.max(1)) {
        let pixels = lines.next().unwrap_or(&[]).chunks(channels.max(1));
        let (mut column, mut remainder) = (first, 0);
        for pixel in pixels {
            let mut place = remainder * plane + column;
            for &value in pixel {
                if let Some(number) = planes.get_mut(place) {
                    *number = scale.apply_wrapping(i32::from(value)) as i16;
                }
                place += stride * plane;
            }
            remainder += 1;
            if remainder == stride {
                (column, remainder) = (column + 1, 0);
            }
        }
    }
}

/// What filters are made of.
struct Draws {
    signs: Stream,
    /// The draw of the sequence of offsets.
    offsets: u64,
}

/// Filters of one dilation over one row of inputs.
struct Slide<'s> {
    conv: Conv,
    grid: [Cells; 2],
    /// Positions of a row.
    length: usize,
    /// Numbers from a row of positions to the next in a plane.
    pitch: usize,
    /// 2^16 divided by the positions of the largest cell.
    reciprocal: i32,
    planes: &'s [i16],
    /// Σ of all taps at every position.
    sums: &'s [i16],
    /// Where each tap's number lies for the first position, u16.
    taps: &'s [i16],
    /// The same of a filter's negative taps, and from the end on of its positive ones.
    chosen: &'s mut [i16],
    row: &'s mut [i16],
    /// A row of cells.
    cells: &'s mut [i32],
}

impl<'s> Slide<'s> {
    fn new(
        conv: Conv,
        inputs: u16,
        dilation: usize,
        planes: &'s [i16],
        block: &'s mut [i16],
        wide: &'s mut [i32],
    ) -> Option<Self> {
        let [y, x] = conv.axes(inputs);
        let positions = |axis: Axis| axis.positions(usize::from(conv.stride), dilation);
        let (rows, length) = (positions(y), positions(x));
        let grid = [Cells::new(rows, y.cells), Cells::new(length, x.cells)];
        let (taps, rest) = block.split_at_mut_checked(conv.taps())?;
        let (chosen, rest) = rest.split_at_mut_checked(conv.taps())?;
        let (sums, row) = rest.split_at_mut_checked(rows * length)?;
        list_taps(conv, inputs, dilation, taps);
        let pitch = usize::from(conv.stride) * conv.columns(inputs);
        let row = row.get_mut(..length.next_multiple_of(LANES))?;
        let mut base = 0;
        for places in sums.chunks_exact_mut(length.max(1)) {
            add_taps(planes.get(base..)?, taps, row);
            // Not `copy_from_slice`: no panic is linked.
            places.iter_mut().zip(&*row).for_each(|(place, &sum)| *place = sum);
            base += pitch;
        }
        Some(Self {
            conv,
            grid,
            length,
            pitch,
            reciprocal: divided(65_536, grid[0].largest() * grid[1].largest()) as i32,
            planes,
            sums,
            taps,
            chosen,
            row,
            cells: wide.get_mut(..x.cells)?,
        })
    }

    /// The wanted features of a filter.
    fn filter<I: Iterator<Item = usize> + Clone>(
        &mut self,
        filter: usize,
        draws: &mut Draws,
        wanted: &mut Wanted<I>,
        runs: &mut Runs<'_>,
    ) {
        let [rows, columns] = self.grid;
        let mut first = filter * rows.count * columns.count;
        if wanted.below(first + rows.count * columns.count).is_none() {
            return;
        }
        let negative = self.choose(filter, &draws.signs);
        let offset = offset_of(draws.offsets, filter);
        for (start, end) in rows.bounds() {
            let last = first + columns.count;
            if let Some(index) = wanted.below(last) {
                let until = wanted.last_below(last).unwrap_or(index) + 1;
                self.row_of_cells(start..end, index - first..until - first, negative, offset);
                while let Some(index) = wanted.below(last) {
                    let sum = self.cells.get(index - first).copied().unwrap_or(0);
                    let rounded = sum.wrapping_mul(self.reciprocal).wrapping_add(1 << 15);
                    runs.push((rounded >> 16) as i16);
                    wanted.advance();
                }
            }
            first = last;
        }
    }

    /// Σ of the values in each of the wanted cells of a row of cells: `rows` of
    /// positions, of the filter whose taps are chosen, `negative` of them negative.
    fn row_of_cells(
        &mut self,
        rows: Range<usize>,
        wanted: Range<usize>,
        negative: usize,
        offset: i16,
    ) {
        let (negatives, positives) = self.chosen.split_at(negative.min(self.chosen.len()));
        // −1 where the positive ones are summed up, whose sum counts the other way.
        let (taps, flip) =
            if negatives.len() <= positives.len() { (negatives, 0) } else { (positives, -1) };
        let cells = || self.grid[1].bounds().skip(wanted.start).take(wanted.len());
        let from = cells().next().map_or(0, |(start, _)| start);
        let length = cells().last().map_or(0, |(_, end)| end) - from;
        let Some(row) = self.row.get_mut(..length.next_multiple_of(LANES)) else { return };
        let Some(sums) = self.cells.get_mut(wanted.clone()) else { return };
        sums.fill(0);
        for number in rows {
            let planes = self.planes.get(number * self.pitch + from..).unwrap_or(&[]);
            let all = self.sums.get(number * self.length + from..).unwrap_or(&[]);
            let Some(all) = all.get(..length) else { return };
            add_taps(planes, taps, row);
            if self.conv.proportion {
                values(row, all, offset, flip, |phase| !(phase >> 15) & i16::MAX);
            } else {
                values(row, all, offset, flip, cos);
            }
            for (cell, (start, end)) in sums.iter_mut().zip(cells()) {
                *cell += sum(row.get(start - from..end - from).unwrap_or(&[]));
            }
        }
    }

    /// Lists a filter's negative taps from the start on and its positive ones from the
    /// end on; gives the number of the negative ones.
    fn choose(&mut self, filter: usize, signs: &Stream) -> usize {
        let mut draws = signs.draws((filter * self.taps.len().div_ceil(64)) as u64);
        let (mut front, mut back) = (0, self.taps.len());
        for taps in self.taps.chunks(64) {
            let mut word = draws.next();
            for &tap in taps {
                let place = if word >> 63 == 1 {
                    front += 1;
                    front - 1
                } else {
                    back -= 1;
                    back
                };
                word <<= 1;
                if let Some(number) = self.chosen.get_mut(place) {
                    *number = tap;
                }
            }
        }
        front
    }
}

/// Where the number of each tap lies for the first position.
fn list_taps(conv: Conv, inputs: u16, dilation: usize, taps: &mut [i16]) {
    let [y, x] = conv.axes(inputs);
    let (plane, columns) = (conv.plane(inputs), conv.columns(inputs));
    let stride = usize::from(conv.stride);
    let mut taps = taps.iter_mut();
    for line in 0..y.kernel {
        for column in 0..x.kernel {
            let (down, along) = (line * dilation, column * dilation);
            let whole = divided(along, stride);
            let mut place = (along - whole * stride) * plane + down * columns + whole;
            for tap in taps.by_ref().take(usize::from(conv.channels)) {
                *tap = place as i16;
                place += stride * plane;
            }
        }
    }
}

/// The cells of an axis: cell c starts at position ⌈c·positions/count⌉.
#[derive(Clone, Copy)]
struct Cells {
    count: usize,
    quotient: usize,
    remainder: usize,
}

impl Cells {
    fn new(positions: usize, count: usize) -> Self {
        let quotient = divided(positions, count);
        Self { count, quotient, remainder: positions - quotient * count }
    }

    /// The positions of the largest cell.
    fn largest(self) -> usize {
        self.quotient + usize::from(self.remainder > 0)
    }

    /// Where the cells' positions start and end; no division.
    fn bounds(self) -> impl Iterator<Item = (usize, usize)> {
        // How far a start is rounded up, in parts of a position.
        let (mut start, mut excess) = (0, 0);
        (0..self.count).map(move |_| {
            let first = start;
            start += self.quotient;
            if excess < self.remainder {
                start += 1;
                excess += self.count;
            }
            excess -= self.remainder;
            (first, start)
        })
    }
}

/// Σ over taps at every position of a row, modulo 2^16.
#[inline(never)]
fn add_taps(planes: &[i16], taps: &[i16], row: &mut [i16]) {
    let mut done = 0;
    #[cfg(target_pointer_width = "64")]
    let (blocks, row) = row.as_chunks_mut::<{ Conv::PADDING }>();
    #[cfg(target_pointer_width = "64")]
    for places in blocks {
        *places = positions(planes.get(done..).unwrap_or(&[]), taps);
        done += Conv::PADDING;
    }
    for places in row.as_chunks_mut::<LANES>().0 {
        *places = positions(planes.get(done..).unwrap_or(&[]), taps);
        done += LANES;
    }
}

/// The same of the first positions.
#[inline]
fn positions<const N: usize>(planes: &[i16], taps: &[i16]) -> [i16; N] {
    let mut sums = [0i16; N];
    for &tap in taps {
        let at = usize::from(tap as u16);
        let Some(values) = planes.get(at..).and_then(|values| values.first_chunk::<N>()) else {
            break;
        };
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum = sum.wrapping_add(value);
        }
    }
    sums
}

/// Sums of the chosen taps to values, in place.
#[inline(never)]
fn values(row: &mut [i16], sums: &[i16], offset: i16, flip: i16, value: impl Fn(i16) -> i16) {
    for (place, &sum) in row.iter_mut().zip(sums) {
        let phase = sum.wrapping_sub(place.wrapping_add(*place));
        *place = value((phase ^ flip).wrapping_sub(flip).wrapping_add(offset));
    }
}
