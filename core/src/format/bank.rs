//! A bank: a run of features of one family, one law and one scale.

use crate::bytes::{Cursor, byte_at, u16_at, u64_at};
use crate::error::Field;
use crate::format::family::{Family, Group, Groups, Law, Width, option};
use crate::format::list::{Indices, List, MAX_INDEX};
use crate::format::model::Model;
use crate::format::series;
use crate::format::{Conv, Series, field};
use crate::needs::{Any, Form, Needs, Profile};
use crate::numerics::{NORMAL_ONE, Scale, quotient};
use crate::sink::MAX_RUN;

/// Whether blobs may have convolutions and series. A build for tables in the browser leaves the
/// two out where everything else is parsed, too: of few bytes theirs are many.
const SHAPED: bool = !cfg!(koan_tables);

/// A bank, as it lies in the blob.
#[derive(Clone, Copy, Debug)]
pub struct Bank<'a> {
    pub(crate) index: u8,
    pub(crate) family: Family,
    pub(crate) law: Law,
    pub(crate) features: u16,
    pub(crate) scale: Scale,
    pub(crate) width: Width,
    /// Whether another bank follows.
    pub(crate) more: bool,
    grouped: bool,
    /// The model's seed.
    pub(crate) seed: u64,
    group_bytes: &'a [u8],
    list: List<'a>,
    inputs: u16,
}

impl<'a> Bank<'a> {
    /// Bytes of a bank without its family's parameters and its groups.
    pub const BYTES: usize = 6;

    /// The bank number `index` of a blob that was checked, which is at `at`; the next one
    /// is at what becomes of it. A function of its own for its memory.
    #[inline(never)]
    pub(crate) const fn at(blob: &'a [u8], at: &mut u32, index: u8) -> Self {
        let mut cursor = Cursor::new(blob, *at as usize, blob.len());
        let bank = Self::read(&mut cursor, index);
        *at = cursor.at as u32;
        bank
    }

    /// Reads and checks the next bank of a blob, but not its groups.
    #[inline(never)]
    pub(crate) const fn read(cursor: &mut Cursor<'a>, index: u8) -> Self {
        let inputs = u16_at(cursor.blob, field::INPUTS);
        let at = cursor.at;
        let kind = cursor.byte(Field::Bank);
        let options = cursor.byte(Field::Bank);
        let features = cursor.half(Field::Bank);
        let scale = Scale { mult: cursor.byte(Field::Bank), shift: cursor.byte(Field::Bank) };
        let parameters = cursor.at;
        let listed = options & option::KEPT != 0;
        let mut most = 16;
        let family = match kind & 15 {
            1 => Family::Fourier,
            2 => Family::Stump,
            3 => {
                let slot_bits = cursor.byte(Field::BinSlotBits);
                let allowed = slot_bits >= 1 && slot_bits <= 12;
                cursor.expect(allowed, Field::BinSlotBits, parameters);
                Family::Bin { slot_bits: if allowed { slot_bits } else { 1 } }
            }
            4 => {
                most = 31;
                let pool = cursor.byte(Field::MaxoutPool);
                cursor.expect(pool > 0, Field::MaxoutPool, parameters);
                Family::Maxout { pool, shared: cursor.half(Field::MaxoutPool) }
            }
            5 => {
                most = 31;
                Family::Sigmoid
            }
            6 if SHAPED => {
                let conv = Conv::read(cursor.bytes(Conv::BYTES, Field::ConvShape), 0);
                cursor.expect(conv.fits(inputs), Field::ConvShape, parameters);
                let whole = conv.filters(features) * conv.cells() as u32 == features as u32;
                cursor.expect(whole || listed, Field::BankFeatures, at + 2);
                Family::Conv(conv)
            }
            7 => {
                let depth = cursor.byte(Field::FernDepth);
                let allowed = depth >= 1 && depth <= 4;
                cursor.expect(allowed, Field::FernDepth, parameters);
                Family::Fern { depth: if allowed { depth } else { 1 } }
            }
            8 if SHAPED => {
                let series = Series::read(cursor.bytes(Series::BYTES, Field::SeriesShape));
                cursor.expect(series.fits(inputs), Field::SeriesShape, parameters);
                Family::Series(series)
            }
            code => {
                cursor.expect(code == 0, Field::BankFamily, at);
                Family::Linear
            }
        };
        let linear = matches!(family, Family::Linear);
        let weighted = byte_at(cursor.blob, field::OUTPUTS) > 0 || options & 15 == 0;
        let known = options & 7 < Width::BITS.len() as u8 && options >> 7 == 0;
        cursor.expect(known && weighted, Field::BankOptions, at + 1);
        cursor.expect(features > 0, Field::BankFeatures, at + 2);
        let mut group_bytes: &[u8] = &[];
        let grouped = options & option::GROUPS != 0;
        let law = Law::from_code(kind >> 4);
        let allowed =
            if grouped { kind < 16 } else { law.code() == kind >> 4 && law.suits(family, false) };
        cursor.expect(allowed, Field::BankLaw, at);
        if grouped {
            let length = cursor.byte(Field::Groups) as usize * Group::BYTES;
            group_bytes = cursor.bytes(length, Field::Groups);
        }
        let list = if listed { List::read(cursor) } else { List::NONE };
        cursor.expect(!linear || features == inputs || listed, Field::BankFeatures, at + 2);
        let fixed = grouped || linear || matches!(family, Family::Series(_));
        let one = scale.mult == 1 && scale.shift == 0;
        let allowed = one || !fixed && scale.mult > 0 && scale.shift <= most;
        cursor.expect(allowed, Field::BankScale, at + 4);
        Self {
            index,
            family,
            law,
            features,
            scale,
            width: Width { bits: Width::bits_of(options & 7), odd: options & 8 != 0 },
            more: options & option::MORE != 0,
            grouped,
            seed: u64_at(cursor.blob, field::SEED),
            group_bytes,
            list,
            inputs,
        }
    }

    /// Checks the list of kept features, which ends where the cursor is; gives the last
    /// index of the bank's features.
    pub(crate) const fn check_list(&self, cursor: &mut Cursor<'a>) -> u32 {
        if self.list.bytes() == 0 {
            return self.features.saturating_sub(1) as u32;
        }
        let linear = matches!(self.family, Family::Linear);
        let limit = if linear { self.inputs as u32 } else { MAX_INDEX };
        if let Some(last) = self.list.check(self.features, limit) {
            return last;
        }
        let at = cursor.at.saturating_sub(self.list.bytes());
        cursor.expect(false, Field::KeptFeatures, at);
        0
    }

    /// Groups cover the inputs exactly, with laws that suit the family, and not
    /// all of them are left out. They end where the cursor is, or the list starts.
    pub(crate) const fn check_groups(&self, cursor: &mut Cursor<'a>) {
        if !self.grouped {
            return;
        }
        let end = cursor.at.saturating_sub(self.list.bytes());
        let first = end.saturating_sub(self.group_bytes.len());
        let mut at = first;
        let mut covered = 0;
        let mut used = false;
        while at < end {
            let inputs = u16_at(cursor.blob, at);
            covered += inputs as u32;
            let within = inputs > 0 && covered <= self.inputs as u32;
            cursor.expect(within, Field::GroupInputs, at);
            let code = byte_at(cursor.blob, at + 2);
            let law = Law::from_code(code);
            let suits = law.code() == code && law.suits(self.family, true);
            cursor.expect(suits, Field::GroupLaw, at + 2);
            used |= !matches!(law, Law::None);
            cursor.expect(byte_at(cursor.blob, at + 3) > 0, Field::GroupScale, at + 3);
            cursor.expect(byte_at(cursor.blob, at + 4) <= 16, Field::GroupScale, at + 4);
            at += Group::BYTES;
        }
        cursor.expect(covered == self.inputs as u32 && used, Field::GroupInputs, first);
    }

    /// Its number in the model: selects its streams of draws.
    #[must_use]
    pub const fn index(&self) -> u8 {
        self.index
    }

    /// Its family.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.family
    }

    /// Its law; [`Law::None`] when [`Bank::groups`] have laws of their own.
    #[must_use]
    pub const fn law(&self) -> Law {
        self.law
    }

    /// Features (grids or ferns, for `bin` and `fern`); where there is a list, the kept ones.
    #[must_use]
    pub const fn features(&self) -> u16 {
        self.features
    }

    /// What the bank's integers are multiplied by; see `docs/format.md` for its
    /// meaning in each family.
    #[must_use]
    pub const fn scale(&self) -> Scale {
        self.scale
    }

    /// How its weights are stored.
    #[must_use]
    pub const fn width(&self) -> Width {
        self.width
    }

    /// The groups of inputs, in order; they cover all inputs.
    #[must_use]
    pub const fn groups(&self) -> Groups<'a> {
        Groups {
            bytes: self.group_bytes,
            inputs: if self.grouped { 0 } else { self.inputs },
            law: self.law,
            scale: self.scale,
        }
    }

    /// Whether the bank declares groups of inputs.
    #[must_use]
    pub const fn is_grouped(&self) -> bool {
        !self.group_bytes.is_empty()
    }

    /// How many groups the bank declares.
    pub(crate) const fn group_count(&self) -> u32 {
        quotient(self.group_bytes.len() as u32, Group::BYTES as u32)
    }

    /// Whether the bank declares which of its features it keeps.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.list.bytes() > 0
    }

    /// Bytes of the list of kept features; 0 when all are kept.
    #[must_use]
    pub const fn kept_bytes(&self) -> usize {
        self.list.bytes()
    }

    /// The indices of the bank's features (grids for `bin`, ferns for `fern`), rising: those
    /// of its list, or all.
    pub fn indices(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.indices_of::<Any>()
    }

    /// The same for constants, which have no iterators.
    #[doc(hidden)]
    #[must_use]
    pub const fn index_steps(&self) -> IndexSteps<'a> {
        IndexSteps(Indices::new(self.list, self.features))
    }

    /// The same where a profile says whether there are lists.
    #[inline]
    pub(crate) fn indices_of<P: Profile>(&self) -> Indices<'a, P> {
        Indices::new(self.list, self.features)
    }

    /// Features that the head has weights for: grids × slots for `bin`, ferns × leaves for
    /// `fern`.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        match self.family.slot_bits() {
            Some(slot_bits) => (self.features as u32) << (slot_bits & 15),
            None => self.features as u32,
        }
    }

    /// Bytes of one output's weights.
    #[must_use]
    pub const fn row_bytes(&self) -> usize {
        self.width.row_bytes(self.columns() as usize)
    }

    /// Entries that the bank adds to [`Predictor::codes`](crate::Predictor::codes).
    #[must_use]
    pub const fn codes(&self) -> u16 {
        match self.family {
            Family::Maxout { .. } | Family::Bin { .. } | Family::Fern { .. } => self.features,
            _ => 0,
        }
    }

    /// Whether its features come laid out for the head: those of transforms in pairs.
    pub(crate) const fn is_laid_out(&self, form: Form) -> bool {
        matches!((form, self.family, self.law), (Form::Fast, Family::Fourier, Law::Hadamard))
            && in_pairs(self.inputs as usize)
            && !self.is_kept()
    }

    /// The parts of the runtime that the bank needs, but for its weights.
    pub(crate) const fn needs(&self) -> Needs {
        let mut needs = Needs::family(self.family.code());
        let projects = matches!(
            self.family,
            Family::Fourier
                | Family::Maxout { .. }
                | Family::Sigmoid
                | Family::Conv(_)
                | Family::Series(_)
        );
        if projects {
            let hadamard = matches!(self.law, Law::Hadamard);
            needs = needs.and(if hadamard { Needs::HADAMARD } else { Needs::DENSE });
        }
        if self.grouped {
            needs = needs.and(Needs::GROUPS);
        }
        if self.is_kept() {
            needs = needs.and(Needs::LISTS);
        }
        needs
    }

    /// The largest |q| for which the bank's projections cannot overflow an i32.
    pub(crate) const fn input_limit(&self) -> i16 {
        if !matches!(self.family, Family::Maxout { .. } | Family::Sigmoid) {
            return i16::MAX;
        }
        let largest = match self.law {
            Law::Gaussian => 127,
            _ => 1,
        };
        // A sigmoid's bias counts as one more weight of at most 127 × 2048.
        let room = (i32::MAX - 127 * SIGMOID_BIAS) as u32;
        let limit = quotient(room, self.inputs as u32 * largest);
        if limit > i16::MAX as u32 { i16::MAX } else { limit as i16 }
    }

    /// Lengths of the buffers that the bank needs: i16 (of conv a window's taps) and
    /// i32 (the transform, and the sums of its filters).
    pub(crate) const fn buffers(&self, form: Form) -> [u32; 2] {
        let hadamard = match self.law {
            Law::Hadamard => hadamard_block(self.inputs) as u32,
            _ => 0,
        };
        match self.family {
            Family::Fourier if hadamard > 0 => match form {
                Form::Fast if in_pairs(self.inputs as usize) => {
                    [0, paired_words(self.inputs) as u32]
                }
                _ => [fourier_block(self.inputs, form) as u32, 0],
            },
            Family::Sigmoid | Family::Maxout { shared: 0, .. } => [0, hadamard],
            Family::Maxout { shared, .. } => {
                // Whole blocks, powers of two.
                let block = if hadamard == 0 { 1 } else { hadamard };
                [0, (shared as u32 + block - 1) & !(block - 1)]
            }
            Family::Conv(conv) => [conv.transform as u32, 2 * conv.transform as u32],
            Family::Series(_) => [0, 2 * series::ROWS as u32],
            _ => [0; 2],
        }
    }
}

/// [`Bank::indices`] for constants.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct IndexSteps<'a>(Indices<'a, Any>);

impl IndexSteps<'_> {
    /// The next index.
    pub const fn step(&mut self) -> Option<usize> {
        self.0.step()
    }
}

/// The banks of a model, in order.
#[derive(Clone, Copy, Debug)]
pub struct Banks<'a> {
    blob: &'a [u8],
    /// Where the next one is.
    at: u32,
    /// How many there are.
    count: u8,
    /// The number of the next one.
    index: u8,
}

impl<'a> Banks<'a> {
    pub(crate) const fn of(model: &Model<'a>) -> Self {
        Self { blob: model.blob, at: model.banks_at() as u32, count: model.banks, index: 0 }
    }

    /// Whether there are no more.
    pub(crate) const fn is_done(&self) -> bool {
        self.index >= self.count
    }

    /// The next bank, of which there must be one.
    pub(crate) const fn read(&mut self) -> Bank<'a> {
        // The chain was checked by `parse`.
        self.index = self.index.wrapping_add(1);
        Bank::at(self.blob, &mut self.at, self.index.wrapping_sub(1))
    }

    /// The next bank; for constants, which have no iterators.
    #[doc(hidden)]
    pub const fn step(&mut self) -> Option<Bank<'a>> {
        if self.is_done() { None } else { Some(self.read()) }
    }
}

impl<'a> Iterator for Banks<'a> {
    type Item = Bank<'a>;

    fn next(&mut self) -> Option<Bank<'a>> {
        self.step()
    }
}

/// A sigmoid's bias is a normal draw times this: the weight of an extra input
/// whose value is 2048. For ±1 weights it is divided by [`NORMAL_ONE`].
pub(crate) const SIGMOID_BIAS: i32 = 2048;

const _: () = assert!(SIGMOID_BIAS / NORMAL_ONE > 0);

/// The power of two that a Hadamard block of `inputs` inputs has; at least 8,
/// so that a block's phases start on a whole draw.
pub(crate) const fn hadamard_block(inputs: u16) -> usize {
    let mut block = 8;
    while block < inputs as usize {
        block *= 2;
    }
    block
}

/// Whether phases of so many inputs have twelve bits, and go through a transform in pairs.
pub(crate) const fn in_pairs(inputs: usize) -> bool {
    inputs < 256
}

/// Words of whole transforms of phases in pairs, as many as a run of features needs at least.
pub(crate) const fn paired_words(inputs: u16) -> usize {
    let block = hadamard_block(inputs);
    if block < MAX_RUN { MAX_RUN / 2 } else { block / 2 }
}

/// Numbers of a transform that fourier features are made of at a time: all of them, or,
/// in the small form, an eighth, at least 16. Every part takes all inputs: parts of less would
/// take more steps than the work of the bank is.
pub(crate) const fn fourier_block(inputs: u16, form: Form) -> usize {
    let block = hadamard_block(inputs);
    match (form, block) {
        (Form::Fast, _) | (_, ..16) => block,
        (_, ..128) => 16,
        _ => block / 8,
    }
}
