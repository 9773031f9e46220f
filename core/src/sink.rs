//! What becomes of a bank's features as they are made.

use bytemuck::{cast_slice, cast_slice_mut};

use crate::crc::Crc32;
use crate::weigh::{Pairs, laid_eight, laid_feature};

/// The value of a feature that is fully on: 1.0.
pub const FEATURE_ONE: i16 = 127;

/// The most features of a run.
pub(crate) const MAX_RUN: usize = 32;

/// Words of a run in the fast form: the head lays its features out there, in twice their
/// bytes.
pub(crate) const RUN: usize = MAX_RUN / 2;

/// The same in the small form, where they stay as they are; vectors are worth longer runs.
pub(crate) const SMALL_RUN: usize = if cfg!(target_feature = "simd128") { 32 } else { 4 };

/// Memory for a run of features, in words.
#[inline(always)]
pub(crate) fn run_memory<const WORDS: usize>() -> [u32; WORDS] {
    // Many zeros are some that the compiler does not know: no routine that clears memory.
    [if WORDS > 4 { core::hint::black_box(0) } else { 0 }; WORDS]
}

/// From which byte of its memory on the features of a run lie: in the fast form behind as
/// much room.
#[inline(always)]
fn start(run: &[u32]) -> usize {
    if run.len() == RUN { MAX_RUN } else { 0 }
}

/// The features of a run, in its memory.
#[inline(always)]
pub(crate) fn features(run: &[u32]) -> &[i8] {
    cast_slice(run).get(start(run)..).unwrap_or_default()
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn features_mut(run: &mut [u32]) -> &mut [i8] {
    let start = start(run);
    cast_slice_mut(run).get_mut(start..).unwrap_or_default()
}

/// Where a family hands its features to. A trait object: the families' code is there
/// once, and of the sinks a program contains only those that it uses.
pub(crate) trait Sink {
    /// Features `first..first + length` of the bank, `first % 8 == 0`, in the memory of a
    /// run; behind them zeros where the head reads on. The sink may change them.
    fn run(&mut self, _first: usize, _run: &mut [u32], _length: usize) {}

    /// The same for features that are laid out for the head, in whole runs.
    fn laid_out(&mut self, _first: usize, _runs: &[Pairs], _length: usize) {}

    /// The same for features of 16 bits, those of the family linear.
    fn wide_run(&mut self, _first: usize, _run: &[i16]) {}

    /// Column `column` of the bank is [`FEATURE_ONE`], the other columns of its
    /// grid are 0. `slots` is the number of columns of a grid.
    fn one_hot(&mut self, _column: usize, _slots: usize) {}

    /// Unit or grid `index` of the bank chose `choice`.
    fn code(&mut self, _index: usize, _choice: u16) {}
}

/// Features are written to a vector.
pub(crate) struct Features<'s>(pub(crate) &'s mut [i16]);

impl Features<'_> {
    fn write(&mut self, first: usize, run: impl ExactSizeIterator<Item = i16>) {
        if let Some(places) = self.0.get_mut(first..first.saturating_add(run.len())) {
            // Not `copy_from_slice`: no panic is linked.
            places.iter_mut().zip(run).for_each(|(place, phi)| *place = phi);
        }
    }
}

impl Sink for Features<'_> {
    fn run(&mut self, first: usize, run: &mut [u32], length: usize) {
        self.write(first, features(run).iter().take(length).map(|&phi| phi.into()));
    }

    fn laid_out(&mut self, first: usize, runs: &[Pairs], length: usize) {
        let Some(places) = self.0.get_mut(first..first.saturating_add(length)) else { return };
        let mut done = 0;
        // Hosts have vectors, for eight at a time; elsewhere it would only be more code.
        if cfg!(target_pointer_width = "64") {
            let (eights, _) = places.as_chunks_mut();
            for (places, eight) in eights.iter_mut().zip(runs.as_flattened()) {
                *places = laid_eight(eight);
            }
            done = 8 * eights.len();
        }
        for (index, place) in places.iter_mut().enumerate().skip(done) {
            *place = laid_feature(runs, index).into();
        }
    }

    fn wide_run(&mut self, first: usize, run: &[i16]) {
        self.write(first, run.iter().copied());
    }

    fn one_hot(&mut self, column: usize, slots: usize) {
        let first = column & !(slots.wrapping_sub(1));
        if let Some(grid) = self.0.get_mut(first..first.saturating_add(slots)) {
            grid.fill(0);
        }
        if let Some(place) = self.0.get_mut(column) {
            *place = FEATURE_ONE;
        }
    }
}

/// Which choice every unit or grid made is written to a vector.
pub(crate) struct Codes<'s>(pub(crate) &'s mut [u16]);

impl Sink for Codes<'_> {
    fn code(&mut self, index: usize, choice: u16) {
        if let Some(place) = self.0.get_mut(index) {
            *place = choice;
        }
    }
}

/// Digested: the values as 16-bit integers, or the column of a one-hot grid.
impl Sink for Crc32 {
    fn run(&mut self, _: usize, run: &mut [u32], length: usize) {
        features(run).iter().take(length).for_each(|&phi| self.wide_run(0, &[phi.into()]));
    }

    fn laid_out(&mut self, _: usize, runs: &[Pairs], length: usize) {
        (0..length).for_each(|index| self.wide_run(0, &[laid_feature(runs, index).into()]));
    }

    fn wide_run(&mut self, _: usize, run: &[i16]) {
        run.iter().for_each(|phi| *self = self.bytes(&phi.to_le_bytes()));
    }

    fn one_hot(&mut self, column: usize, _: usize) {
        *self = self.bytes(&(column as u32).to_le_bytes());
    }
}

/// Collects features to runs for a sink, in memory of so many words.
pub(crate) struct Runs<'r, const WORDS: usize> {
    pub(crate) sink: &'r mut dyn Sink,
    first: usize,
    length: usize,
    run: [u32; WORDS],
}

impl<'r, const WORDS: usize> Runs<'r, WORDS> {
    pub(crate) fn new(sink: &'r mut dyn Sink) -> Self {
        Self { sink, first: 0, length: 0, run: run_memory() }
    }

    #[inline]
    pub(crate) fn push(&mut self, feature: i8) {
        let run = features_mut(&mut self.run);
        let most = run.len();
        if let Some(place) = run.get_mut(self.length) {
            *place = feature;
            self.length += 1;
        }
        if self.length == most {
            self.flush();
        }
    }

    #[inline(never)]
    pub(crate) fn flush(&mut self) {
        hand_over(&mut self.run, self.first, self.length, self.sink);
        self.first += self.length;
        self.length = 0;
    }
}

/// Hands over the first `length` features of a run.
#[inline(always)]
pub(crate) fn hand_over<const WORDS: usize>(
    run: &mut [u32; WORDS],
    first: usize,
    length: usize,
    sink: &mut dyn Sink,
) {
    // Without vectors the small form weighs as many as there are.
    if WORDS == RUN || cfg!(target_feature = "simd128") {
        clear_behind(run, length);
    }
    if length > 0 {
        sink.run(first, run, length);
    }
}

/// Zeros behind the first `length` features of a run.
#[inline(never)]
fn clear_behind(run: &mut [u32], length: usize) {
    for place in features_mut(run).iter_mut().skip(length) {
        *place = core::hint::black_box(0);
    }
}
