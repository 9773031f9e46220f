//! What becomes of a bank's features as they are made.

use bytemuck::cast_slice_mut;

use crate::crc::Crc32;

/// The value of a feature that is fully on: 1.0.
pub const FEATURE_ONE: i16 = 127;

/// The most features of a run.
pub(crate) const MAX_RUN: usize = if cfg!(target_feature = "simd128") { 128 } else { 64 };

/// Runs are filled up with zeros to a multiple of this.
pub(crate) const PADDED: usize = 16;

/// Where a family hands its features to. A trait object: the families' code is there
/// once, and of the sinks a program contains only those that it uses.
pub(crate) trait Sink {
    /// Features `first..first + length` of the bank, `first % 8 == 0`, at most [`MAX_RUN`],
    /// with zeros behind them up to a multiple of [`PADDED`].
    fn run(&mut self, first: usize, run: &[i8], length: usize);

    /// The same for features of 16 bits, those of the family linear.
    fn wide_run(&mut self, first: usize, run: &[i16]);

    /// Column `column` of the bank is [`FEATURE_ONE`], the other columns of its
    /// grid are 0. `slots` is the number of columns of a grid.
    fn one_hot(&mut self, column: usize, slots: usize);

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
    fn run(&mut self, first: usize, run: &[i8], length: usize) {
        self.write(first, run.iter().take(length).map(|&phi| phi.into()));
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
    fn run(&mut self, _: usize, _: &[i8], _: usize) {}

    fn wide_run(&mut self, _: usize, _: &[i16]) {}

    fn one_hot(&mut self, _: usize, _: usize) {}

    fn code(&mut self, index: usize, choice: u16) {
        if let Some(place) = self.0.get_mut(index) {
            *place = choice;
        }
    }
}

/// Digested: the values as 16-bit integers, or the column of a one-hot grid.
impl Sink for Crc32 {
    fn run(&mut self, _: usize, run: &[i8], length: usize) {
        for &phi in run.iter().take(length) {
            *self = self.bytes(&i16::from(phi).to_le_bytes());
        }
    }

    fn wide_run(&mut self, _: usize, run: &[i16]) {
        for &phi in run {
            *self = self.bytes(&phi.to_le_bytes());
        }
    }

    fn one_hot(&mut self, column: usize, _: usize) {
        *self = self.bytes(&(column as u32).to_le_bytes());
    }
}

/// Memory for a run of features, in words.
#[inline(always)]
pub(crate) fn run_memory<const WORDS: usize>() -> [u32; WORDS] {
    // Zeros that the compiler does not know: no routine that clears memory.
    [core::hint::black_box(0); WORDS]
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
        let run: &mut [i8] = cast_slice_mut(&mut self.run);
        if let Some(place) = run.get_mut(self.length) {
            *place = feature;
            self.length += 1;
        }
        if self.length == 4 * WORDS {
            self.flush();
        }
    }

    #[inline(never)]
    pub(crate) fn flush(&mut self) {
        hand_over(cast_slice_mut(&mut self.run), self.first, self.length, self.sink);
        self.first += self.length;
        self.length = 0;
    }
}

/// Hands over the first `length` features of a run, with zeros behind them.
#[inline(never)]
pub(crate) fn hand_over(run: &mut [i8], first: usize, length: usize, sink: &mut dyn Sink) {
    if length == 0 {
        return;
    }
    let padded = length.next_multiple_of(PADDED);
    for place in run.iter_mut().take(padded).skip(length) {
        *place = core::hint::black_box(0);
    }
    sink.run(first, run.get(..padded).unwrap_or_default(), length);
}

/// Words of a run in the fast form.
pub(crate) const RUN: usize = MAX_RUN / 4;
/// The same in the small form, unless it has vectors.
pub(crate) const SMALL_RUN: usize = if cfg!(target_feature = "simd128") { RUN } else { 4 };
