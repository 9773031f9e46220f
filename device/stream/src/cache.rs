//! What a stream keeps of the windows before: sums of convolutions' filters.
//!
//! A position of a filter in a window is a position of the next window too, a hop earlier, and
//! has the same value there. Cells do not move onto cells, as their borders lie where the
//! window's length puts them. But all borders, of this window and of those before and after,
//! cut the positions into segments that do: a hop brings as many new segments as it takes
//! away, and a cell is the sum of some segments that follow each other. Sums of integers: the
//! same bits as of the whole window.
//!
//! The memory is one record for each block of filters of which features are kept:
//!
//! | words | what |
//! | --- | --- |
//! | 4 | which filters of the block are kept, a bit each |
//! | 1 | the first position of the first segment |
//! | 1 | segments of a window; 0 where keeping them would save nothing |
//! | 1 | segments that a hop brings |
//! | each segment | positions |
//! | each segment, each kept filter | the sum of the filter's values |

use core::ops::Range;

use koan::steps::{Cell, Cells};
use koan::{Bank, Conv, Family, Model};

/// Words of a record before its segments.
const HEADER: usize = 7;

/// Positions that a hop brings, at most: the sum of so many values fits a word.
const MOST: usize = 256;

/// Positions that a hop of so many numbers brings, where windows share positions.
const fn positions_of(conv: Conv, hop: usize) -> Option<usize> {
    let step = conv.stride as usize * conv.channels as usize;
    if conv.height != 1 || step == 0 || !hop.is_multiple_of(step) {
        return None;
    }
    let positions = divided(hop, step).0;
    if positions >= 1 && positions <= MOST { Some(positions) } else { None }
}

/// Words of memory (`i16`) that a [`Stream`](crate::Stream) of the model keeps where a hop brings
/// so many numbers, samples times channels: 0 without convolutions. For a model that is built in
/// it makes a constant; if the compiler finds that it takes long,
/// `#[allow(long_running_const_eval)]` lets it.
#[must_use]
pub const fn cache_words(model: &Model<'_>, hop: usize) -> usize {
    plan(model, hop, &mut [])
}

/// Writes the records without sums, as far as there is room; how many words they need.
pub(crate) const fn plan(model: &Model<'_>, hop: usize, words: &mut [i16]) -> usize {
    let mut plan = Plan { words, at: 0 };
    let mut banks = model.banks();
    while let Some(bank) = banks.step() {
        if let Family::Conv(conv) = bank.family()
            && let Some(positions) = positions_of(conv, hop)
        {
            plan.bank(&bank, conv, model.inputs() as u16, positions);
        }
    }
    plan.at
}

/// Quotient and rest; a checked model has no divisor of 0.
const fn divided(dividend: usize, divisor: usize) -> (usize, usize) {
    let quotient = match dividend.checked_div(divisor) {
        Some(quotient) => quotient,
        None => 0,
    };
    (quotient, dividend - quotient * divisor)
}

struct Plan<'w> {
    words: &'w mut [i16],
    at: usize,
}

/// The kept features of a block.
struct Block {
    number: usize,
    filters: u64,
    /// The first and the last cell.
    cells: [usize; 2],
}

// Constants have no iterators and no closures.
impl Plan<'_> {
    const fn put(&mut self, word: usize) {
        if self.at < self.words.len() {
            self.words[self.at] = word as i16;
        }
        self.at += 1;
    }

    const fn bank(&mut self, bank: &Bank<'_>, conv: Conv, inputs: u16, hop: usize) {
        let (most, cells) = (conv.transform as usize, conv.cells() as usize);
        let filters =
            if bank.is_kept() { usize::MAX } else { conv.filters(bank.features()) as usize };
        let mut block: Option<Block> = None;
        let mut indices = bank.index_steps();
        while let Some(index) = indices.step() {
            // As core numbers features: by block, by cell, by filter.
            let (number, within) = divided(index, most * cells);
            let left = filters.saturating_sub(number * most);
            let (cell, filter) = divided(within, if most < left { most } else { left });
            match &mut block {
                Some(block) if block.number == number => {
                    block.filters |= 1 << filter;
                    block.cells[1] = cell;
                }
                _ => {
                    let next = Block { number, filters: 1 << filter, cells: [cell; 2] };
                    if let Some(block) = block.replace(next) {
                        self.block(&block, conv, inputs, hop);
                    }
                }
            }
        }
        if let Some(block) = block {
            self.block(&block, conv, inputs, hop);
        }
    }

    const fn block(&mut self, block: &Block, conv: Conv, inputs: u16, hop: usize) {
        let dilation = 1 << divided(block.number, conv.dilations(inputs)).1;
        let [first, last] = block.cells;
        let start = conv.start(inputs, dilation, first);
        let end = conv.start(inputs, dilation, last + 1);
        let mut part = 0;
        while part < 4 {
            self.put((block.filters >> (16 * part)) as u16 as usize);
            part += 1;
        }
        self.put(start);
        let counts = self.at;
        self.at += 2;
        let (mut segments, mut brought, mut position) = (0, 0, start);
        while end - start > hop && position < end {
            // The next position that is a border in this window or in another one.
            let (mut step, mut cell) = (hop, first);
            while cell <= last + 1 {
                let border = conv.start(inputs, dilation, cell);
                let distance = divided(border + (position + 1) * (hop - 1), hop).1 + 1;
                step = if distance < step { distance } else { step };
                cell += 1;
            }
            self.put(step);
            segments += 1;
            brought += if position + hop >= end { 1 } else { 0 };
            position += step;
        }
        let behind = core::mem::replace(&mut self.at, counts);
        self.put(segments);
        self.put(brought);
        self.at = behind + segments * block.filters.count_ones() as usize;
    }
}

/// Fills the cells of a window from records.
pub(crate) struct Pass<'w> {
    /// The records that are still to come, the one of the current block first.
    records: &'w mut [i16],
    hop: usize,
    /// Whether the records hold the sums of the window a hop before.
    warm: bool,
    current: Option<(u8, usize)>,
    record: Record,
    /// The segment up to which cells have come, and its first position.
    segment: usize,
    position: usize,
}

/// What a record says in front of its segments.
#[derive(Clone, Copy, Default)]
struct Record {
    filters: u64,
    start: usize,
    segments: usize,
    brought: usize,
}

impl Record {
    fn read(words: &[i16]) -> Self {
        let word = |at: usize| words.get(at).map_or(0, |&word| usize::from(word as u16));
        let filters = (0..4).fold(0, |all, part| all | (word(part) as u64) << (16 * part));
        Self { filters, start: word(4), segments: word(5), brought: word(6) }
    }

    /// Kept filters.
    fn kept(&self) -> usize {
        self.filters.count_ones() as usize
    }

    fn words(&self) -> usize {
        HEADER + self.segments * (1 + self.kept())
    }

    /// Where the sums of a segment are.
    fn sums(&self, segment: usize) -> Range<usize> {
        let at = HEADER + self.segments + segment * self.kept();
        at..at + self.kept()
    }

    /// Calls with each kept filter and its sum in a segment.
    fn each<'s>(
        mut filters: u64,
        words: &'s mut [i16],
        sums: &'s mut [i32],
        mut each: impl FnMut(&mut i16, &mut i32),
    ) {
        for word in words {
            if let Some(sum) = sums.get_mut(filters.trailing_zeros() as usize) {
                each(word, sum);
            }
            filters &= filters.wrapping_sub(1);
        }
    }
}

impl<'w> Pass<'w> {
    pub(crate) fn new(records: &'w mut [i16], hop: usize, warm: bool) -> Self {
        let record = Record::default();
        Self { records, hop, warm, current: None, record, segment: 0, position: 0 }
    }

    /// Positions of a segment of the current block.
    fn length(&self, segment: usize) -> usize {
        self.records.get(HEADER + segment).map_or(0, |&length| length as usize)
    }

    /// Goes on to the next block: takes its segments on by a hop, and makes those that are new.
    /// `sums` are zeros before and after.
    fn start(&mut self, sums: &mut [i32], mut add: impl FnMut(Range<usize>, &mut [i32])) {
        if self.current.is_some() {
            let records = core::mem::take(&mut self.records);
            self.records = records.get_mut(self.record.words()..).unwrap_or_default();
        }
        let record = Record::read(self.records);
        self.record = record;
        let known = if self.warm { record.segments.saturating_sub(record.brought) } else { 0 };
        let (first, ahead) = (record.sums(0).start, record.brought * record.kept());
        for at in first..first + known * record.kept() {
            let word = self.records.get(at + ahead).copied().unwrap_or(0);
            if let Some(place) = self.records.get_mut(at) {
                *place = word;
            }
        }
        let mut position = record.start;
        for segment in 0..record.segments {
            let end = position + self.length(segment);
            if segment >= known {
                add(position..end, sums);
                let words = self.records.get_mut(record.sums(segment)).unwrap_or_default();
                Record::each(record.filters, words, sums, |word, sum| *word = *sum as i16);
                sums.iter_mut().for_each(|sum| *sum = 0);
            }
            position = end;
        }
        (self.segment, self.position) = (0, record.start);
    }
}

impl Cells for Pass<'_> {
    fn fill(
        &mut self,
        cell: &Cell,
        all: Range<usize>,
        sums: &mut [i32],
        mut add: impl FnMut(Range<usize>, &mut [i32]),
    ) {
        if positions_of(cell.conv, self.hop).is_none() {
            return add(all, sums);
        }
        let current = Some((cell.bank, cell.block));
        if self.current != current {
            self.start(sums, &mut add);
            self.current = current;
        }
        if self.record.segments == 0 {
            return add(all, sums);
        }
        while self.position < all.end && self.segment < self.record.segments {
            if self.position >= all.start {
                let words = self.records.get_mut(self.record.sums(self.segment));
                let words = words.unwrap_or_default();
                Record::each(self.record.filters, words, sums, |word, sum| {
                    *sum += i32::from(*word);
                });
            }
            self.position += self.length(self.segment);
            self.segment += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use koan::steps::{draw_golden, score_among};
    use koan::{Any, OwnedBuffers};
    use std::vec;

    use super::*;

    koan::include_model!(mod exercises = "../../../tests/models/exercises-conv-160.koan");

    /// Counts positions that are made.
    struct Counted<'c>(Pass<'c>, usize);

    impl Cells for Counted<'_> {
        fn fill(
            &mut self,
            cell: &Cell,
            all: Range<usize>,
            sums: &mut [i32],
            mut add: impl FnMut(Range<usize>, &mut [i32]),
        ) {
            let Self(pass, made) = self;
            pass.fill(cell, all, sums, |range, sums| {
                *made += range.len();
                add(range, sums);
            });
        }
    }

    #[test]
    fn a_hop_makes_its_own_positions_only() {
        let model = &exercises::MODEL;
        let mut buffers = OwnedBuffers::<384, 64, 128, 4>::new();
        draw_golden(model, 0, koan::Buffers::workspace(&mut buffers).inputs);
        let mut made = |hop, records: &mut [i16], warm| {
            let mut counted = Counted(Pass::new(records, 3 * hop, warm), 0);
            score_among::<Any>(model, &mut buffers, &mut counted);
            counted.1
        };
        // Two blocks of filters for each of the dilations 1, 2, 4 and 8 of twelve taps.
        let all = 2 * (117 + 106 + 84 + 40);
        for (hop, expected) in [(1, 8), (32, 8 * 32), (48, 6 * 48 + 2 * 40), (117, all)] {
            let mut records = vec![0; cache_words(model, 3 * hop)];
            plan(model, 3 * hop, &mut records);
            assert_eq!(made(hop, &mut records, false), all);
            assert_eq!(made(hop, &mut records, true), expected, "hop {hop}");
        }
    }
}
