//! The shape of the family series: what slides over a series, and how fine its steps are.

use crate::bytes::byte_at;
use crate::format::conv::divided;

/// Filters of signs that slide over a series at several dilations, half of them over the
/// series and half over its differences; of each the proportion of positions whose sum is
/// above a threshold: Dempster, Schmidt and Webb, *MiniRocket* (2021), with filters from a
/// Hadamard transform, and thresholds that are spread evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Series {
    /// Numbers of a sample; they lie together in a row of the data.
    pub channels: u8,
    /// Taps of a filter, 2 to 64.
    pub kernel: u8,
    /// Dilations, which are powers of two from 1 on.
    pub dilations: u8,
    /// What samples are multiplied by.
    pub samples: Gain,
    /// What differences of samples are multiplied by.
    pub differences: Gain,
}

/// A factor for each dilation: a straight line through logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gain {
    /// That of the dilation 1: (16 + level mod 16)·2^⌊level / 16⌋ / 512.
    pub level: u8,
    /// What the level of a dilation is greater by than that of half of it.
    pub slope: i8,
}

impl Gain {
    /// Level of dilation 2^`log`; none that is not from 0 to 255.
    #[must_use]
    pub const fn level(self, log: u8) -> Option<u8> {
        // Below 2^16 for any bytes.
        let level = self.level as i32 + self.slope as i32 * log as i32;
        if level >= 0 && level < 256 { Some(level as u8) } else { None }
    }
}

/// Filters of a block: the length of the transform that they come from.
pub(crate) const ROWS: usize = 8;

impl Series {
    /// Bytes of its parameters in a blob.
    pub const BYTES: usize = 7;

    /// The parameters in a blob.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let Self { channels, kernel, dilations, samples, differences } = self;
        [
            channels,
            kernel,
            dilations,
            samples.level,
            samples.slope as u8,
            differences.level,
            differences.slope as u8,
        ]
    }

    /// The parameters at the start of `bytes`, without a look at their values.
    pub(crate) const fn read(bytes: &[u8]) -> Self {
        Self {
            channels: byte_at(bytes, 0),
            kernel: byte_at(bytes, 1),
            dilations: byte_at(bytes, 2),
            samples: Gain { level: byte_at(bytes, 3), slope: byte_at(bytes, 4) as i8 },
            differences: Gain { level: byte_at(bytes, 5), slope: byte_at(bytes, 6) as i8 },
        }
    }

    /// Whether rows of so many inputs can have this shape, and all levels are.
    #[must_use]
    pub const fn fits(&self, inputs: u16) -> bool {
        let shaped = self.kernel >= 2
            && self.kernel <= 64
            && self.dilations >= 1
            && self.dilations <= 16
            && self.length(inputs) * self.channels as usize == inputs as usize;
        if !shaped {
            return false;
        }
        // The first level is any byte: a straight line leaves the range at its end.
        let last = self.dilations - 1;
        (self.kernel as usize - 1) << last < self.length(inputs)
            && self.samples.level(last).is_some()
            && self.differences.level(last).is_some()
    }

    /// Samples of a row.
    #[must_use]
    pub const fn length(&self, inputs: u16) -> usize {
        divided(inputs as usize, self.channels as usize)
    }
}
