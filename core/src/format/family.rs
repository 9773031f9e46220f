//! What a bank is of: its family, the law of its draws, groups of inputs, and the width of
//! its weights.

use crate::bytes::{byte_at, u16_at};
use crate::format::{Conv, Series};
use crate::numerics::Scale;

/// The nonlinearity of a bank's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
    /// Filters from a Hadamard transform of a window that slides over an image or a series,
    /// pooled.
    Conv(Conv),
    /// Comparisons of single inputs, whose bits together choose a weight.
    Fern {
        /// Comparisons, 1 to 4: a fern has 2^depth weights.
        depth: u8,
    },
    /// Filters of signs that slide over a series; the proportion above a threshold.
    Series(Series),
}

impl Family {
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
            Self::Fern { .. } => "fern",
            Self::Series(_) => "series",
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
            Self::Fern { .. } => 7,
            Self::Series(_) => 8,
        }
    }

    /// Where each feature is one of 2^n columns, which are 0 but for one: n.
    #[must_use]
    pub const fn slot_bits(self) -> Option<u8> {
        match self {
            Self::Bin { slot_bits: bits } | Self::Fern { depth: bits } => Some(bits),
            _ => None,
        }
    }
}

/// Where a bank's random numbers come from, for all inputs or for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Law {
    /// No draw: the linear family, or a group of inputs that is left out.
    None = 0,
    /// The normal distribution: of projection weights (the Gaussian kernel), or of the
    /// thresholds of stumps and ferns.
    Gaussian = 1,
    /// Projection weights from the Cauchy distribution: the Laplacian kernel.
    Cauchy = 2,
    /// Projection weights ±1.
    Sign = 3,
    /// Random signs, then a fast Walsh-Hadamard transform.
    Hadamard = 4,
    /// Thresholds of stumps and ferns from the uniform distribution.
    Uniform = 5,
    /// Grid pitches from the Gamma(2) distribution: the Laplacian kernel.
    Gamma2 = 6,
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
            Self::Uniform => "uniform",
            Self::Gamma2 => "gamma2",
        }
    }

    /// The nibble that stands for the law in a blob.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The law of a code, none for a code that no law has.
    pub(crate) const fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Gaussian,
            2 => Self::Cauchy,
            3 => Self::Sign,
            4 => Self::Hadamard,
            5 => Self::Uniform,
            6 => Self::Gamma2,
            _ => Self::None,
        }
    }

    /// Whether a bank of `family` may use this law, alone or for a group.
    #[must_use]
    pub const fn suits(self, family: Family, grouped: bool) -> bool {
        // A bit for each law that a bank may have, and for each that a group may.
        let (alone, in_group) = match family {
            Family::Linear => (0b1, 0b1),
            Family::Fourier => (0b1_1110, 0b111),
            Family::Stump => (0b10_0010, 0b10_0011),
            Family::Bin { .. } => (0b100_0000, 0b100_0001),
            Family::Maxout { .. } | Family::Sigmoid => (0b1_1010, 0),
            Family::Conv(_) | Family::Series(_) => (0b1_0000, 0),
            Family::Fern { .. } => (0b10_0010, 0),
        };
        let laws = if grouped { in_group } else { alone };
        laws >> self.code() & 1 != 0
    }
}

/// How the weights of a bank are stored: an unsigned code u of `bits` bits
/// stands for 2·(u − 2^(bits−1)) + odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Width {
    pub(crate) bits: u8,
    pub(crate) odd: bool,
}

impl Width {
    /// The widths of the format, in the order of their codes.
    pub const BITS: [u8; 5] = [2, 3, 4, 8, 16];

    /// Weights of so many bits, one of [`Width::BITS`]; none for others.
    #[must_use]
    pub const fn new(bits: u8, odd: bool) -> Option<Self> {
        if matches!(bits, 2 | 3 | 4 | 8 | 16) { Some(Self { bits, odd }) } else { None }
    }

    /// Bits of a weight.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// Whether the levels are the odd integers (−3, −1, 1, 3 for two bits)
    /// instead of the even ones (−4, −2, 0, 2).
    #[must_use]
    pub const fn odd(self) -> bool {
        self.odd
    }

    /// Bits of a weight by the width's code.
    pub(crate) const fn bits_of(code: u8) -> u8 {
        if code < 4 { Self::BITS[code as usize] } else { 16 }
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
        let middle = 1i32 << (self.bits.wrapping_sub(1) & 31);
        2i32.wrapping_mul((u as i32).wrapping_sub(middle)).wrapping_add(self.odd as i32)
    }

    /// Bytes of `count` weights: each output's row is padded to whole bytes.
    #[must_use]
    pub const fn row_bytes(self, count: usize) -> usize {
        count.saturating_mul(self.bits as usize).div_ceil(8)
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
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
    pub(crate) bytes: &'a [u8],
    /// Inputs of the group that stands for a bank without groups; 0 where there is none.
    pub(crate) inputs: u16,
    pub(crate) law: Law,
    pub(crate) scale: Scale,
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
