//! A bank: a run of features of one family, one law and one scale.

use crate::conv::Conv;
use crate::error::Error;
use crate::format::{attempt, byte_at, hadamard_block, need, require, slice_at, u16_at};
use crate::numerics::{NORMAL_ONE, Scale};

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

    const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::None,
            1 => Self::Gaussian,
            2 => Self::Cauchy,
            3 => Self::Sign,
            4 => Self::Hadamard,
            5 => Self::Normal,
            6 => Self::Uniform,
            7 => Self::Gamma2,
            _ => return None,
        })
    }

    /// Whether a bank of `family` with this law needs the cargo feature `dense`.
    const fn is_dense(self, family: Family) -> bool {
        matches!(family, Family::Fourier | Family::Maxout { .. } | Family::Sigmoid)
            && !matches!(self, Self::Hadamard)
    }

    /// Whether a bank of `family` may use this law, alone or for a group.
    #[must_use]
    pub const fn suits(self, family: Family, grouped: bool) -> bool {
        match (family, self) {
            (Family::Linear, Self::None)
            | (Family::Fourier, Self::Gaussian | Self::Cauchy | Self::Sign)
            | (Family::Stump, Self::Normal | Self::Uniform)
            | (Family::Bin { .. }, Self::Gamma2) => true,
            (Family::Conv(_), Self::Sign) => !grouped,
            (Family::Fourier | Family::Stump | Family::Bin { .. }, Self::None) => grouped,
            (Family::Fourier, Self::Hadamard)
            | (
                Family::Maxout { .. } | Family::Sigmoid,
                Self::Gaussian | Self::Sign | Self::Hadamard,
            ) => !grouped,
            _ => false,
        }
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
    whole: Option<Group>,
}

impl Iterator for Groups<'_> {
    type Item = Group;

    #[inline]
    fn next(&mut self) -> Option<Group> {
        if let Some(whole) = self.whole.take() {
            return Some(whole);
        }
        let (group, rest) = self.bytes.split_at_checked(Group::BYTES)?;
        self.bytes = rest;
        Some(Group {
            inputs: u16_at(group, 0),
            law: Law::from_code(byte_at(group, 2)).unwrap_or(Law::None),
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
    /// Features (grids, for the family `bin`).
    pub features: u16,
    /// What the bank's integers are multiplied by; see `docs/format.md` for its
    /// meaning in each family.
    pub scale: Scale,
    /// How its weights are stored.
    pub width: Width,
    group_bytes: &'a [u8],
    inputs: u16,
}

impl<'a> Bank<'a> {
    /// Bytes of a bank without its family's parameters and its groups.
    pub const BYTES: usize = 6;

    /// Reads the bank at `at`: itself, where the next one starts, and whether
    /// there is one.
    pub(crate) const fn parse(
        blob: &'a [u8],
        at: usize,
        end: usize,
        index: usize,
        inputs: u16,
        outputs: u8,
    ) -> Result<(Self, usize, bool), Error> {
        attempt!(need(end, "bank", at, Self::BYTES));
        let kind = byte_at(blob, at);
        let options = byte_at(blob, at + 1);
        let features = u16_at(blob, at + 2);
        let scale = Scale { mult: byte_at(blob, at + 4), shift: byte_at(blob, at + 5) };
        let mut next = at + Self::BYTES;

        require!(options & 7 <= 4 && options >> 6 == 0, "bank options", at + 1);
        let width = Width { bits: Width::BITS[(options & 7) as usize], odd: options & 8 != 0 };
        require!(outputs > 0 || options & 15 == 0, "bank options", at + 1);
        require!(features > 0, "bank features", at + 2);

        let family = match kind & 15 {
            0 => Family::Linear,
            1 => Family::Fourier,
            2 => Family::Stump,
            3 => {
                attempt!(need(end, "bin slot bits", next, 1));
                let slot_bits = byte_at(blob, next);
                require!(slot_bits >= 1 && slot_bits <= 12, "bin slot bits", next);
                next += 1;
                Family::Bin { slot_bits }
            }
            4 => {
                attempt!(need(end, "maxout pool", next, 3));
                let pool = byte_at(blob, next);
                require!(pool > 0, "maxout pool", next);
                next += 3;
                Family::Maxout { pool, shared: u16_at(blob, next - 2) }
            }
            5 => Family::Sigmoid,
            6 => {
                attempt!(need(end, "conv shape", next, Conv::BYTES));
                let Some(conv) = Conv::read(blob, next, inputs) else {
                    return Err(Error::Field { field: "conv shape", offset: next });
                };
                require!(features.is_multiple_of(conv.cells()), "bank features", at + 2);
                next += Conv::BYTES;
                Family::Conv(conv)
            }
            _ => return Err(Error::Field { field: "bank family", offset: at }),
        };
        let grouped = options & option::GROUPS != 0;
        let law = match Law::from_code(kind >> 4) {
            Some(law) if grouped && matches!(law, Law::None) => law,
            Some(law) if !grouped && law.suits(family, false) => law,
            _ => return Err(Error::Field { field: "bank law", offset: at }),
        };
        if !family.is_built() {
            return Err(Error::NotBuilt { feature: family.name() });
        }
        if law.is_dense(family) && !cfg!(feature = "dense") {
            return Err(Error::NotBuilt { feature: "dense" });
        }
        let max_shift = match family {
            Family::Linear => 0,
            Family::Fourier | Family::Stump | Family::Bin { .. } | Family::Conv(_) => 16,
            Family::Maxout { .. } | Family::Sigmoid => 31,
        };
        require!(scale.mult > 0 && scale.shift <= max_shift, "bank scale", at + 4);
        if grouped || matches!(family, Family::Linear) {
            require!(scale.mult == 1 && scale.shift == 0, "bank scale", at + 4);
        }
        if matches!(family, Family::Linear) {
            require!(features == inputs, "bank features", at + 2);
        }

        let mut group_bytes: &[u8] = &[];
        if grouped {
            attempt!(need(end, "groups", next, 1));
            let count = byte_at(blob, next) as usize;
            let first = next + 1;
            attempt!(need(end, "groups", first, count * Group::BYTES));
            next = first + count * Group::BYTES;
            group_bytes = slice_at(blob, first, count * Group::BYTES);
            attempt!(check_groups(blob, first, next, family, inputs));
        }
        let bank = Self { index, family, law, features, scale, width, group_bytes, inputs };
        Ok((bank, next, options & option::MORE != 0))
    }

    /// The groups of inputs, in order; they cover all inputs.
    #[must_use]
    pub const fn groups(&self) -> Groups<'a> {
        Groups {
            bytes: self.group_bytes,
            whole: if self.group_bytes.is_empty() {
                Some(Group { inputs: self.inputs, law: self.law, scale: self.scale })
            } else {
                None
            },
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

    /// Features that the head has weights for: grids × slots for `bin`.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        match self.family {
            Family::Bin { slot_bits } => (self.features as u32) << slot_bits,
            _ => self.features as u32,
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
            Family::Maxout { .. } | Family::Bin { .. } => self.features,
            _ => 0,
        }
    }

    /// The largest |q| for which the bank's projections cannot overflow an i32.
    pub(crate) const fn input_limit(&self, inputs: u16) -> i32 {
        if !matches!(self.family, Family::Maxout { .. } | Family::Sigmoid) {
            return i16::MAX as i32;
        }
        let largest = match self.law {
            Law::Gaussian => 127,
            _ => 1,
        };
        // A sigmoid's bias counts as one more weight of at most 127 × 2048.
        let room = i32::MAX - 127 * SIGMOID_BIAS;
        let limit = room / (inputs as i32 * largest);
        if limit > i16::MAX as i32 { i16::MAX as i32 } else { limit }
    }

    /// Lengths of the buffers that the bank needs: i16 and i32.
    pub(crate) const fn buffers(&self, inputs: u16) -> (usize, usize) {
        let hadamard = match self.law {
            Law::Hadamard => hadamard_block(inputs),
            _ => 0,
        };
        match self.family {
            Family::Fourier => (hadamard, 0),
            Family::Sigmoid => (0, hadamard),
            Family::Maxout { shared: 0, .. } => (0, hadamard),
            Family::Maxout { shared, .. } => {
                let unit = if hadamard == 0 { 1 } else { hadamard };
                (0, (shared as usize).div_ceil(unit) * unit)
            }
            Family::Conv(conv) => conv.buffers(inputs),
            _ => (0, 0),
        }
    }
}

/// A sigmoid's bias is a normal draw times this: the weight of an extra input
/// whose value is 2048. For ±1 weights it is divided by [`NORMAL_ONE`].
pub(crate) const SIGMOID_BIAS: i32 = 2048;

const _: () = assert!(SIGMOID_BIAS / NORMAL_ONE > 0);

/// Groups cover the inputs exactly, with laws that suit the family, and not
/// all of them are left out.
const fn check_groups(
    blob: &[u8],
    first: usize,
    end: usize,
    family: Family,
    inputs: u16,
) -> Result<(), Error> {
    let mut at = first;
    let mut covered = 0usize;
    let mut used = false;
    while at < end {
        let count = u16_at(blob, at) as usize;
        covered += count;
        require!(count > 0 && covered <= inputs as usize, "group inputs", at);
        let law = match Law::from_code(byte_at(blob, at + 2)) {
            Some(law) if law.suits(family, true) => law,
            _ => return Err(Error::Field { field: "group law", offset: at + 2 }),
        };
        used |= !matches!(law, Law::None);
        require!(byte_at(blob, at + 3) > 0, "group scale", at + 3);
        require!(byte_at(blob, at + 4) <= 16, "group scale", at + 4);
        at += Group::BYTES;
    }
    require!(covered == inputs as usize && used, "group inputs", first);
    Ok(())
}
