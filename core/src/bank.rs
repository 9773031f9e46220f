//! A bank: a run of features of one family, one law and one scale.

use crate::conv::Conv;
use crate::error::{Feature, Field};
use crate::format::{Cursor, byte_at, field, fourier_block, hadamard_block, u16_at, u64_at};
#[cfg(any(feature = "small", target_family = "wasm"))]
use crate::kept::Indices;
#[cfg(not(any(feature = "small", target_family = "wasm")))]
use crate::kept::Spans;
use crate::kept::{Kept, Listed, MAX_INDEX};
use crate::numerics::{NORMAL_ONE, Scale, quotient};

/// The nonlinearity of a bank's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The inputs themselves: the linear term of a model.
    Linear,
    /// cos(w·x + b): shift-invariant kernels (*Random bases*, Section V.a).
    Fourier,
    /// sign(x_i − t): decision stumps (*Random bases*, Section V.b).
    Stump,
    /// Indicator of a hashed cell of a random grid (*Random bases*, Section V.c).
    Bin {
        /// Cells of each grid: 2^slot_bits, slot_bits in 1..=12.
        slot_bits: u8,
    },
    /// max over a pool of w_j·x (*Random Maxout Features*, Definition 1).
    Maxout {
        /// Projections a unit takes the maximum over, at least 1.
        pool: u8,
        /// Projections in the pool that all units share; 0 when each has its own.
        shared: u16,
    },
    /// σ(w·x + b): random ridge functions.
    Sigmoid,
    /// Filters of signs over an image or a series, pooled.
    Conv(Conv),
}

impl Family {
    /// How many families the format knows.
    pub(crate) const COUNT: u8 = 7;

    /// The family's name, as the command line and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Fourier => "fourier",
            Self::Stump => "stump",
            Self::Bin { .. } => "bin",
            Self::Maxout { .. } => "maxout",
            Self::Sigmoid => "sigmoid",
            Self::Conv(_) => "conv",
        }
    }

    /// Whether this build of the crate has the family: see its cargo features.
    #[must_use]
    pub const fn is_built(self) -> bool {
        match self {
            Self::Linear => true,
            Self::Fourier => cfg!(feature = "fourier"),
            Self::Stump => cfg!(feature = "stump"),
            Self::Bin { .. } => cfg!(feature = "bin"),
            Self::Maxout { .. } => cfg!(feature = "maxout"),
            Self::Sigmoid => cfg!(feature = "sigmoid"),
            Self::Conv(_) => cfg!(feature = "conv"),
        }
    }

    /// The nibble that stands for the family in a blob.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Linear => 0,
            Self::Fourier => 1,
            Self::Stump => 2,
            Self::Bin { .. } => 3,
            Self::Maxout { .. } => 4,
            Self::Sigmoid => 5,
            Self::Conv(_) => 6,
        }
    }
}

/// Where a bank's random numbers come from, for all inputs or for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// No draw: the linear family, or a group of inputs that is left out.
    None,
    /// Projection weights from the normal law: the Gaussian kernel.
    Gaussian,
    /// Projection weights from the Cauchy law: the Laplacian kernel.
    Cauchy,
    /// Projection weights ±1.
    Sign,
    /// Random signs, then a fast Walsh-Hadamard transform.
    Hadamard,
    /// Stump thresholds from the normal law.
    Normal,
    /// Stump thresholds from the uniform law.
    Uniform,
    /// Grid pitches from the Gamma(2) law: the Laplacian kernel.
    Gamma2,
}

impl Law {
    /// The law's name, as the command line and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gaussian => "gaussian",
            Self::Cauchy => "cauchy",
            Self::Sign => "sign",
            Self::Hadamard => "hadamard",
            Self::Normal => "normal",
            Self::Uniform => "uniform",
            Self::Gamma2 => "gamma2",
        }
    }

    /// The nibble that stands for the law in a blob.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Gaussian => 1,
            Self::Cauchy => 2,
            Self::Sign => 3,
            Self::Hadamard => 4,
            Self::Normal => 5,
            Self::Uniform => 6,
            Self::Gamma2 => 7,
        }
    }

    /// The law of the code's low three bits.
    const fn from_code(code: u8) -> Self {
        match code & 7 {
            1 => Self::Gaussian,
            2 => Self::Cauchy,
            3 => Self::Sign,
            4 => Self::Hadamard,
            5 => Self::Normal,
            6 => Self::Uniform,
            7 => Self::Gamma2,
            _ => Self::None,
        }
    }

    /// Whether a bank of `family` with this law needs the cargo feature `dense`.
    const fn is_dense(self, family: Family) -> bool {
        matches!(family, Family::Fourier | Family::Maxout { .. } | Family::Sigmoid)
            && !matches!(self, Self::Hadamard)
    }

    /// Whether a bank of `family` may use this law, alone or for a group.
    #[must_use]
    pub const fn suits(self, family: Family, grouped: bool) -> bool {
        // A bit for each law that a bank may have, and for each that a group may.
        let (alone, in_group) = match family {
            Family::Linear => (0b1, 0b1),
            Family::Fourier => (0b1_1110, 0b1111),
            Family::Stump => (0b110_0000, 0b110_0001),
            Family::Bin { .. } => (0b1000_0000, 0b1000_0001),
            Family::Maxout { .. } | Family::Sigmoid => (0b1_1010, 0),
            Family::Conv(_) => (0b1000, 0),
        };
        let laws = if grouped { in_group } else { alone };
        laws >> self.code() & 1 != 0
    }
}

/// How the weights of a bank are stored: an unsigned code u of `bits` bits
/// stands for 2·(u − 2^(bits−1)) + odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Bits of a weight: 2, 3, 4, 8 or 16.
    pub bits: u8,
    /// Whether the levels are the odd integers (−3, −1, 1, 3 for two bits)
    /// instead of the even ones (−4, −2, 0, 2).
    pub odd: bool,
}

impl Width {
    /// The widths of the format, in the order of their codes.
    pub const BITS: [u8; 5] = [2, 3, 4, 8, 16];

    /// Bits of a weight in a build without the cargo feature `widths`.
    pub(crate) const USUAL: u8 = 4;

    /// Bits of a weight by the width's code.
    const fn bits_of(code: u8) -> u8 {
        match code {
            _ if !cfg!(feature = "widths") => Self::USUAL,
            0 => 2,
            1 => 3,
            2 => 4,
            3 => 8,
            _ => 16,
        }
    }

    /// The same width, a constant for the compiler where only one width is built.
    #[inline]
    pub(crate) const fn built(self) -> Self {
        let bits = if cfg!(feature = "widths") { self.bits } else { Self::USUAL };
        Self { bits, odd: self.odd }
    }

    /// The three low bits of a bank's options byte, and bit 3 for `odd`.
    #[must_use]
    pub const fn code(self) -> u8 {
        let code = match self.bits {
            2 => 0,
            3 => 1,
            4 => 2,
            8 => 3,
            _ => 4,
        };
        code | (self.odd as u8) << 3
    }

    /// The value that code `u` stands for.
    #[inline]
    #[must_use]
    pub const fn value(self, u: u32) -> i32 {
        2 * (u as i32 - (1 << (self.bits - 1))) + self.odd as i32
    }

    /// Bytes of `count` weights: each output's row is padded to whole bytes.
    #[must_use]
    pub const fn row_bytes(self, count: usize) -> usize {
        (count * self.bits as usize).div_ceil(8)
    }
}

/// Bits of a bank's options byte besides the width code.
pub mod option {
    /// Groups of inputs, each with its own law and scale, follow the bank.
    pub const GROUPS: u8 = 1 << 4;
    /// Another bank follows.
    pub const MORE: u8 = 1 << 5;
    /// A list of the kept features follows the groups.
    pub const KEPT: u8 = 1 << 6;
}

/// A run of consecutive inputs with a law and a scale of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many inputs.
    pub inputs: u16,
    /// Their law; [`Law::None`] leaves them out of the bank.
    pub law: Law,
    /// Their scale, as the bank's.
    pub scale: Scale,
}

impl Group {
    /// Bytes of a group in a blob: inputs u16, law u8, mult u8, shift u8.
    pub const BYTES: usize = 5;
}

/// The groups of a bank; just one of all inputs when the bank declares none.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    bytes: &'a [u8],
    /// Inputs of the group that stands for a bank without groups; 0 where there is none.
    inputs: u16,
    law: Law,
    scale: Scale,
}

impl Iterator for Groups<'_> {
    type Item = Group;

    #[inline]
    fn next(&mut self) -> Option<Group> {
        if self.inputs > 0 {
            let inputs = core::mem::take(&mut self.inputs);
            return Some(Group { inputs, law: self.law, scale: self.scale });
        }
        let (group, rest) = self.bytes.split_at_checked(Group::BYTES)?;
        self.bytes = rest;
        Some(Group {
            inputs: u16_at(group, 0),
            law: Law::from_code(byte_at(group, 2)),
            scale: Scale { mult: byte_at(group, 3), shift: byte_at(group, 4) },
        })
    }
}

/// A bank, as it lies in the blob.
#[derive(Clone, Copy, Debug)]
pub struct Bank<'a> {
    /// Its number in the model: selects its streams of draws.
    pub index: usize,
    /// Its family.
    pub family: Family,
    /// Its law; [`Law::None`] when [`Bank::groups`] have laws of their own.
    pub law: Law,
    /// Features (grids, for the family `bin`); where there is a list, the kept ones.
    pub features: u16,
    /// What the bank's integers are multiplied by; see `docs/format.md` for its
    /// meaning in each family.
    pub scale: Scale,
    /// How its weights are stored.
    pub width: Width,
    /// Whether another bank follows.
    pub(crate) more: bool,
    grouped: bool,
    /// The model's seed.
    pub(crate) seed: u64,
    group_bytes: &'a [u8],
    kept: Kept<'a>,
    inputs: u16,
}

/// Whether some family of this build takes groups: under the Hadamard transform,
/// fourier features do not.
const GROUPS: bool = cfg!(any(feature = "dense", feature = "stump", feature = "bin"));

impl<'a> Bank<'a> {
    /// Bytes of a bank without its family's parameters and its groups.
    pub const BYTES: usize = 6;

    /// The bank number `index` of a blob that was checked, which is at `at`; the next one
    /// is at what becomes of it. A function of its own for its memory.
    #[inline(never)]
    pub(crate) const fn at(blob: &'a [u8], at: &mut u32, index: usize) -> Self {
        let mut cursor = Cursor::new(blob, *at as usize, blob.len());
        let bank = Self::read(&mut cursor, index);
        *at = cursor.at as u32;
        bank
    }

    /// Reads and checks the next bank of a blob, but not its groups.
    #[inline(never)]
    pub(crate) const fn read(cursor: &mut Cursor<'a>, index: usize) -> Self {
        let inputs = u16_at(cursor.blob, field::INPUTS);
        let at = cursor.at;
        let kind = cursor.byte(Field::Bank);
        let options = cursor.byte(Field::Bank);
        let features = cursor.half(Field::Bank);
        let scale = Scale { mult: cursor.byte(Field::Bank), shift: cursor.byte(Field::Bank) };
        let parameters = cursor.at;
        let mut most = 16;
        let family = match kind & 15 {
            0 => Family::Linear,
            1 if cfg!(feature = "fourier") => Family::Fourier,
            2 if cfg!(feature = "stump") => Family::Stump,
            3 if cfg!(feature = "bin") => {
                let slot_bits = cursor.byte(Field::BinSlotBits);
                let allowed = slot_bits >= 1 && slot_bits <= 12;
                cursor.expect(allowed, Field::BinSlotBits, parameters);
                Family::Bin { slot_bits: slot_bits & 15 }
            }
            4 if cfg!(feature = "maxout") => {
                most = 31;
                let pool = cursor.byte(Field::MaxoutPool);
                cursor.expect(pool > 0, Field::MaxoutPool, parameters);
                Family::Maxout { pool, shared: cursor.half(Field::MaxoutPool) }
            }
            5 if cfg!(feature = "sigmoid") => {
                most = 31;
                Family::Sigmoid
            }
            6 if cfg!(feature = "conv") => {
                let bytes = cursor.bytes(Conv::BYTES, Field::ConvShape);
                let conv = Conv::read(bytes, 0);
                let known = byte_at(bytes, 3) >> 6 == 0 && conv.fits(inputs);
                cursor.expect(known, Field::ConvShape, parameters);
                let whole = conv.filters(features) * conv.cells() as u32 == features as u32;
                let listed = options & option::KEPT != 0;
                cursor.expect(whole || listed, Field::BankFeatures, at + 2);
                Family::Conv(conv)
            }
            code => {
                cursor.expect(code < Family::COUNT, Field::BankFamily, at);
                cursor.not_built(Feature::from_number(code as usize));
                Family::Linear
            }
        };
        let linear = matches!(family, Family::Linear);
        let weighted = byte_at(cursor.blob, field::OUTPUTS) > 0 || options & 15 == 0;
        let known = options & 7 < Width::BITS.len() as u8 && options >> 7 == 0;
        cursor.expect(known && weighted, Field::BankOptions, at + 1);
        // Models without outputs have no weights.
        if !cfg!(feature = "widths") && options & 7 != 2 && byte_at(cursor.blob, field::OUTPUTS) > 0
        {
            cursor.not_built(Feature::Widths);
        }
        cursor.expect(features > 0, Field::BankFeatures, at + 2);
        let mut group_bytes: &[u8] = &[];
        let grouped = options & option::GROUPS != 0;
        let law = Law::from_code(kind >> 4);
        let allowed = if grouped { kind < 16 } else { kind < 0x80 && law.suits(family, false) };
        cursor.expect(allowed, Field::BankLaw, at);
        if law.is_dense(family) && !cfg!(feature = "dense") {
            cursor.not_built(Feature::Dense);
        }
        if grouped {
            let length = cursor.byte(Field::Groups) as usize * Group::BYTES;
            if GROUPS {
                group_bytes = cursor.bytes(length, Field::Groups);
            } else {
                // Those of the linear family say nothing.
                cursor.skip(length, Field::Groups);
            }
        }
        let listed = options & option::KEPT != 0;
        let kept = if listed { Kept::read(cursor) } else { Kept::NONE };
        cursor.expect(!linear || features == inputs || listed, Field::BankFeatures, at + 2);
        let fixed = grouped || linear;
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
            grouped: grouped && GROUPS,
            seed: u64_at(cursor.blob, field::SEED),
            group_bytes,
            kept,
            inputs,
        }
    }

    /// Checks the list of kept features, which ends where the cursor is.
    pub(crate) const fn check_kept(&self, cursor: &mut Cursor<'a>) {
        let linear = matches!(self.family, Family::Linear);
        let limit = if linear { self.inputs as u32 } else { MAX_INDEX };
        let whole = self.kept.check(self.features, limit);
        cursor.expect(whole, Field::KeptFeatures, cursor.at - self.kept_bytes());
    }

    /// Groups cover the inputs exactly, with laws that suit the family, and not
    /// all of them are left out. They end where the cursor is, or the list starts.
    pub(crate) const fn check_groups(&self, cursor: &mut Cursor<'a>) {
        if !self.grouped || !GROUPS {
            return;
        }
        let end = cursor.at - self.kept_bytes();
        let first = end - self.group_bytes.len();
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
            cursor.expect(code < 8 && law.suits(self.family, true), Field::GroupLaw, at + 2);
            used |= !matches!(law, Law::None);
            cursor.expect(byte_at(cursor.blob, at + 3) > 0, Field::GroupScale, at + 3);
            cursor.expect(byte_at(cursor.blob, at + 4) <= 16, Field::GroupScale, at + 4);
            at += Group::BYTES;
        }
        cursor.expect(covered == self.inputs as u32 && used, Field::GroupInputs, first);
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

    /// Whether the bank can only run in a build with the cargo feature `dense`.
    #[must_use]
    pub const fn needs_dense(&self) -> bool {
        self.law.is_dense(self.family)
    }

    /// Whether the bank declares groups of inputs.
    #[must_use]
    pub const fn is_grouped(&self) -> bool {
        !self.group_bytes.is_empty()
    }

    /// Whether the bank declares which of its features it keeps.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.kept.bytes() > 0
    }

    /// Bytes of the list of kept features; 0 when all are kept.
    #[must_use]
    pub const fn kept_bytes(&self) -> usize {
        self.kept.bytes()
    }

    /// The indices of the bank's features (grids, for `bin`), rising: those of its
    /// list, or all.
    pub fn indices(&self) -> impl Iterator<Item = usize> + use<'a> {
        #[cfg(any(feature = "small", target_family = "wasm"))]
        return Indices::new(self.kept, self.features);
        #[cfg(not(any(feature = "small", target_family = "wasm")))]
        self.spans().flatten()
    }

    /// The indices of its list, if it has one.
    pub(crate) const fn listed(&self) -> Option<Listed<'a>> {
        Listed::new(self.kept, self.features)
    }

    /// The indices of its features in runs.
    #[cfg(not(any(feature = "small", target_family = "wasm")))]
    pub(crate) const fn spans(&self) -> Spans<'a> {
        Spans::new(self.kept, self.features)
    }

    /// Features that the head has weights for: grids × slots for `bin`.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        match self.family {
            Family::Bin { slot_bits } if cfg!(feature = "bin") => {
                (self.features as u32) << slot_bits
            }
            _ => self.features as u32,
        }
    }

    /// Bytes of one output's weights.
    #[must_use]
    pub const fn row_bytes(&self) -> usize {
        self.width.built().row_bytes(self.columns() as usize)
    }

    /// Entries that the bank adds to [`Predictor::codes`](crate::Predictor::codes).
    #[must_use]
    pub const fn codes(&self) -> u16 {
        match self.family {
            Family::Maxout { .. } | Family::Bin { .. } => self.features,
            _ => 0,
        }
    }

    /// The largest |q| for which the bank's projections cannot overflow an i32.
    pub(crate) const fn input_limit(&self) -> i16 {
        match self.family {
            Family::Maxout { .. } if cfg!(feature = "maxout") => {}
            Family::Sigmoid if cfg!(feature = "sigmoid") => {}
            _ => return i16::MAX,
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

    /// Lengths of the buffers that the bank needs: i16 and i32.
    pub(crate) const fn buffers(&self) -> (u32, u32) {
        let hadamard = match self.law {
            Law::Hadamard => hadamard_block(self.inputs) as u32,
            _ => 0,
        };
        match self.family {
            Family::Fourier if hadamard > 0 => (fourier_block(self.inputs) as u32, 0),
            Family::Sigmoid if cfg!(feature = "sigmoid") => (0, hadamard),
            Family::Maxout { shared: 0, .. } if cfg!(feature = "maxout") => (0, hadamard),
            Family::Maxout { shared, .. } if cfg!(feature = "maxout") => {
                // Whole blocks, powers of two.
                let block = if hadamard == 0 { 1 } else { hadamard };
                (0, (shared as u32 + block - 1) & !(block - 1))
            }
            Family::Conv(conv) if cfg!(feature = "conv") => conv.buffers(self.inputs),
            _ => (0, 0),
        }
    }
}

/// A sigmoid's bias is a normal draw times this: the weight of an extra input
/// whose value is 2048. For ±1 weights it is divided by [`NORMAL_ONE`].
pub(crate) const SIGMOID_BIAS: i32 = 2048;

const _: () = assert!(SIGMOID_BIAS / NORMAL_ONE > 0);
