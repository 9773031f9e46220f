//! The parsed model: a checked view over a blob, and what it says of itself.

use crate::bytes::{byte_at, f32_at, slice_at, u16_at, u32_at, u64_at};
use crate::format::bank::{Bank, Banks};
use crate::format::map::{InputMap, Line};
use crate::format::{TRAILER, field, flag};
use crate::needs::{Form, Needs};
use crate::numerics::quotient;

/// What a model's outputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Task {
    /// No outputs: the model is a feature map (or a locality-sensitive code).
    Features,
    /// Real values.
    Regression,
    /// Class scores; a single output is the score of the second of two classes.
    Classification,
}

impl Task {
    /// The task's name, as reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Features => "features",
            Self::Regression => "regression",
            Self::Classification => "classification",
        }
    }
}

/// Lengths of the buffers that a model needs; constants for a `const` model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BufferSizes {
    /// Quantised inputs, i16: one for each input.
    pub inputs: usize,
    /// Transform block of fourier features (in the fast form, of 256 inputs and more), taps of
    /// conv features, i16.
    pub block: usize,
    /// Transform block of all other transforms, shared pool of maxout features, sums of conv
    /// and series features, i32.
    pub wide: usize,
    /// Accumulators, two i32 each, the scores in their place: one for each output.
    pub outputs: usize,
}

impl BufferSizes {
    /// Bytes of all buffers together.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        let words = self.wide.saturating_add(self.outputs.saturating_mul(2));
        let halves = self.inputs.saturating_add(self.block);
        words.saturating_mul(2).saturating_add(halves).saturating_mul(2)
    }
}

/// How many words [`Model::to_words`] gives.
pub const WORDS: usize = 8;

/// A checked model, reading its blob where it lies.
///
/// Made by [`Model::parse`]; run by a [`Predictor`](crate::Predictor).
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    pub(crate) blob: &'a [u8],
    // Offsets, in 32 bits for the sake of 64-bit hosts.
    pub(crate) head_at: u32,
    pub(crate) sections_at: u32,
    /// Lengths of the buffers `block` and `wide` in the form fast, and in the form small.
    pub(crate) fast: [u32; 2],
    pub(crate) small: [u32; 2],
    pub(crate) work: u32,
    pub(crate) limit: i16,
    pub(crate) inputs: u16,
    pub(crate) outputs: u8,
    pub(crate) flags: u8,
    pub(crate) banks: u8,
}

impl<'a> Model<'a> {
    /// The blob that the model lies in.
    #[must_use]
    pub const fn blob(&self) -> &'a [u8] {
        self.blob
    }

    /// Words before anything was read.
    pub(crate) const UNREAD: [u32; WORDS] = [0, 0, 0, 0, 0, 0, 0, i16::MAX as u32];

    /// What parsing has found, as words, for [`Model::from_words`].
    #[must_use]
    pub const fn to_words(&self) -> [u32; WORDS] {
        let rest = self.limit as u16 as u32 | (self.banks as u32) << 16;
        let ([block, wide], [small_block, small_wide]) = (self.fast, self.small);
        let Self { head_at, sections_at, work, .. } = *self;
        [head_at, sections_at, block, small_block, wide, small_wide, work, rest]
    }

    /// The model in `blob` that gave these words, without another look at it: a model may
    /// so be kept beside bytes that it cannot borrow. With other bytes or words its
    /// answers mean nothing.
    #[must_use]
    #[inline]
    pub const fn from_words(blob: &'a [u8], words: [u32; WORDS]) -> Self {
        let [head_at, sections_at, block, small_block, wide, small_wide, work, rest] = words;
        Self {
            blob,
            head_at,
            sections_at,
            fast: [block, wide],
            small: [small_block, small_wide],
            work,
            limit: rest as i16,
            inputs: u16_at(blob, field::INPUTS),
            outputs: byte_at(blob, field::OUTPUTS),
            flags: byte_at(blob, field::FLAGS),
            banks: (rest >> 16) as u8,
        }
    }

    /// A bound on the work of a prediction: additions, products and look-ups, as
    /// `docs/format.md` counts them. At most [`MAX_WORK`](crate::format::MAX_WORK).
    #[must_use]
    pub const fn work(&self) -> u32 {
        self.work
    }

    /// The parts of the runtime that the model needs.
    #[must_use]
    pub const fn needs(&self) -> Needs {
        let mut needs = Needs::NONE;
        let mut banks = self.banks();
        while let Some(bank) = banks.step() {
            needs = needs.and(bank.needs());
            if self.outputs > 0 {
                needs = needs.and(Needs::bits(bank.width.bits));
            }
        }
        if self.outputs == 0 {
            needs = needs.and(Needs::FEATURES);
        }
        if !self.map_is_shared() {
            needs = needs.and(Needs::MAPS);
        }
        if self.golden_rows() > 0 {
            needs = needs.and(Needs::GOLDEN_ROWS);
        }
        let mut input = 0;
        while input < if self.gain_per_input() { 1 } else { self.map_period() } {
            if self.input_map(input).log {
                return needs.and(Needs::LOGARITHM);
            }
            input += 1;
        }
        needs
    }

    /// Numbers in a row.
    #[must_use]
    pub const fn inputs(&self) -> usize {
        self.inputs as usize
    }

    /// Scores for a row.
    #[must_use]
    pub const fn outputs(&self) -> usize {
        self.outputs as usize
    }

    /// Columns of the head, and numbers that [`Predictor::features`](crate::Predictor::features)
    /// writes: one for each feature, each slot of each grid of bins, and each leaf of each fern.
    #[must_use]
    pub const fn features(&self) -> usize {
        let mut columns = 0usize;
        let mut banks = self.banks();
        while let Some(bank) = banks.step() {
            columns = columns.saturating_add(bank.columns() as usize);
        }
        columns
    }

    /// Entries that [`Predictor::codes`](crate::Predictor::codes) writes: one
    /// for each maxout unit, grid of bins and fern.
    #[must_use]
    pub const fn codes(&self) -> usize {
        let mut codes = 0usize;
        let mut banks = self.banks();
        while let Some(bank) = banks.step() {
            codes = codes.saturating_add(bank.codes() as usize);
        }
        codes
    }

    /// What the outputs are.
    #[must_use]
    pub const fn task(&self) -> Task {
        match (self.outputs, self.flags & flag::CLASSIFICATION != 0) {
            (0, _) => Task::Features,
            (_, true) => Task::Classification,
            (_, false) => Task::Regression,
        }
    }

    /// Classes that a classification distinguishes (two for one output), else 0.
    #[must_use]
    #[inline(never)]
    pub const fn classes(&self) -> usize {
        match (self.task(), self.outputs) {
            (Task::Classification, 1) => 2,
            (Task::Classification, outputs) => outputs as usize,
            _ => 0,
        }
    }

    /// The seed of every random draw.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        u64_at(self.blob, field::SEED)
    }

    /// The check word of the generator that the model was trained with.
    #[must_use]
    pub const fn check_word(&self) -> u16 {
        u16_at(self.blob, field::CHECK_WORD)
    }

    /// The banks, in order.
    #[must_use]
    pub const fn banks(&self) -> Banks<'a> {
        Banks::of(self)
    }

    /// How many banks there are.
    #[must_use]
    pub const fn bank_count(&self) -> usize {
        self.banks as usize
    }

    /// The banks; `N` is how many there are.
    #[doc(hidden)]
    #[must_use]
    pub const fn bank_array<const N: usize>(&self) -> [Bank<'a>; N] {
        let mut banks = self.banks();
        let mut array = [banks.read(); N];
        let mut place = 1;
        while place < N {
            array[place] = banks.read();
            place += 1;
        }
        array
    }

    /// The bits of the flags that tell of input maps.
    const fn map_flags(&self) -> u8 {
        self.flags & flag::MAP_PER_CHANNEL
    }

    /// Whether each input has a map of its own.
    #[must_use]
    pub const fn map_per_input(&self) -> bool {
        self.map_flags() == flag::MAP_PER_INPUT
    }

    /// Whether all inputs have one map, but for a gain of each.
    #[must_use]
    pub const fn gain_per_input(&self) -> bool {
        self.map_flags() == flag::GAIN_PER_INPUT
    }

    /// Whether each channel of a row has a map of its own: the inputs go through
    /// [`Self::map_period`] maps in turn.
    #[must_use]
    pub const fn map_per_channel(&self) -> bool {
        self.map_flags() == flag::MAP_PER_CHANNEL
    }

    /// Whether all inputs have one map and one gain.
    pub(crate) const fn map_is_shared(&self) -> bool {
        self.map_flags() == 0
    }

    /// After how many inputs their maps come again: 1 where all inputs have the same one, the
    /// number of channels where each of them has one, else the number of inputs.
    #[must_use]
    pub const fn map_period(&self) -> usize {
        match self.map_flags() {
            0 => 1,
            flag::MAP_PER_CHANNEL => byte_at(self.blob, field::INPUT_MAP) as usize,
            _ => self.inputs as usize,
        }
    }

    /// Where the first of several maps is: those of channels are behind a byte that counts them.
    const fn first_map_at(&self) -> usize {
        (self.flags & flag::GAIN_PER_INPUT != 0) as usize
    }

    /// Bytes of the input maps.
    #[must_use]
    pub const fn map_bytes(&self) -> usize {
        let maps = self.map_period();
        if self.flags & flag::MAP_PER_INPUT != 0 {
            return self.first_map_at() + maps * InputMap::BYTES;
        }
        // The first input's gain is that of the map.
        (InputMap::BYTES + maps).saturating_sub(1)
    }

    /// Where the banks start.
    pub(crate) const fn banks_at(&self) -> usize {
        field::INPUT_MAP + self.map_bytes()
    }

    /// The map of input `index`; one that is off beyond the last input.
    #[must_use]
    #[inline(never)]
    pub const fn input_map(&self, index: usize) -> InputMap {
        if index >= self.inputs as usize {
            return InputMap::OFF;
        }
        let (index, period) = (index as u32, self.map_period() as u32);
        self.map_at((index - quotient(index, period) * period) as usize)
    }

    /// The map at a place of a period.
    #[inline(never)]
    pub(crate) const fn map_at(&self, place: usize) -> InputMap {
        let (at, gain) = if self.flags & flag::MAP_PER_INPUT != 0 {
            (self.first_map_at() + place * InputMap::BYTES, 0)
        } else {
            (0, place)
        };
        InputMap::read(self.blob, field::INPUT_MAP + at, gain)
    }

    /// The line on which the map of all inputs is.
    pub(crate) const fn line(&self) -> Line {
        let mut map = self.map_at(0);
        // No number is on that of a map with logarithm.
        map.log |= !self.map_is_shared();
        map.line(self.limit as i32)
    }

    /// Quantised inputs saturate at this magnitude.
    #[must_use]
    pub const fn input_limit(&self) -> i16 {
        self.limit
    }

    /// Lengths of the buffers that prediction needs in a form.
    #[must_use]
    pub const fn buffer_sizes(&self, form: Form) -> BufferSizes {
        let [block, wide] = match form {
            Form::Fast => self.fast,
            Form::Small => self.small,
        };
        let (inputs, outputs) = (self.inputs as usize, self.outputs as usize);
        BufferSizes { inputs, block: block as usize, wide: wide as usize, outputs }
    }

    /// Real value of a score of 1: regression values are score × scale.
    #[must_use]
    pub const fn score_scale(&self) -> f32 {
        if self.outputs == 0 { 1.0 } else { f32_at(self.blob, self.head_at as usize) }
    }

    /// Binary places by which accumulators are divided.
    pub(crate) const fn score_shift(&self) -> u32 {
        byte_at(self.blob, (self.head_at as usize).saturating_add(4)) as u32
    }

    /// Bias of `output`, in units of the score; 0 beyond the last output.
    #[must_use]
    pub const fn bias(&self, output: usize) -> i32 {
        if output >= self.outputs as usize {
            return 0;
        }
        u32_at(self.blob, (self.head_at as usize).saturating_add(5 + 4 * output)) as i32
    }

    /// The multiplier of a bank and an output: the step of its weights; 0 where
    /// there is no such bank or output.
    #[must_use]
    pub const fn multiplier(&self, bank: usize, output: usize) -> u16 {
        let outputs = self.outputs as usize;
        if bank >= self.banks as usize || output >= outputs {
            return 0;
        }
        if self.multiplier_count() == 0 {
            return 1;
        }
        u16_at(self.blob, self.multipliers_at().saturating_add(2 * (bank * outputs + output)))
    }

    /// Multipliers that the blob has.
    pub(crate) const fn multiplier_count(&self) -> usize {
        let count = self.banks as usize * self.outputs as usize;
        if count == 1 { 0 } else { count }
    }

    /// Where the multipliers are.
    pub(crate) const fn multipliers_at(&self) -> usize {
        (self.head_at as usize).saturating_add(5 + 4 * self.outputs as usize)
    }

    /// Where the weights are.
    pub(crate) const fn weights_at(&self) -> usize {
        self.multipliers_at().saturating_add(2 * self.multiplier_count())
    }

    /// The packed weights of all banks: bank by bank, output by output.
    #[must_use]
    pub const fn weight_bytes(&self) -> &'a [u8] {
        let at = self.weights_at();
        slice_at(self.blob, at, (self.sections_at as usize).saturating_sub(at))
    }

    /// The golden digest: what [`Predictor::self_test`](crate::Predictor::self_test)
    /// must find.
    #[must_use]
    pub const fn golden_digest(&self) -> u32 {
        u32_at(self.blob, self.blob.len().saturating_sub(TRAILER))
    }
}
