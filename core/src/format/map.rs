//! Input maps: from values to the integers that features are made of.
//!
//! x → q = saturate(round((u − offset)·gain)), u = x or its signed logarithm,
//! all in integers: the value becomes fixed point with `shift` fractional bits
//! (an f32 by taking its bits apart), the offset is subtracted, and an 8-bit
//! mantissa multiplies. So a number gives the same q as f32, i16 or u8.

use crate::bytes::{byte_at, u32_at};
use crate::numerics::{LOG_BITS, fixed_point, log_one_plus};

/// How one input becomes an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputMap {
    pub(crate) offset: i32,
    pub(crate) shift: i8,
    pub(crate) log: bool,
    pub(crate) mult: u8,
}

impl InputMap {
    /// Bytes of one map in a blob.
    pub const BYTES: usize = 6;

    /// What switches an input off: 0 for every number.
    pub const OFF: Self = Self { offset: 0, shift: 0, log: false, mult: 0 };

    /// The map with these parts; none for a `shift` that is not in −64..=63.
    #[must_use]
    pub const fn new(offset: i32, shift: i8, log: bool, mult: u8) -> Option<Self> {
        if shift >= -64 && shift < 64 { Some(Self { offset, shift, log, mult }) } else { None }
    }

    /// What maps to 0, in units of 2^−shift.
    #[must_use]
    pub const fn offset(self) -> i32 {
        self.offset
    }

    /// Fractional bits of the value before the offset is taken off, −64..=63.
    #[must_use]
    pub const fn shift(self) -> i8 {
        self.shift
    }

    /// Whether the value is replaced by sign(x)·ln(1 + |x|) first.
    #[must_use]
    pub const fn log(self) -> bool {
        self.log
    }

    /// Gain: q = (u·2^shift − offset)·mult / 2^15. Zero switches the input off.
    #[must_use]
    pub const fn mult(self) -> u8 {
        self.mult
    }

    /// The six bytes of the blob: offset (i32), kind (shift + 64, bit 7 = log), mult.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let o = self.offset.to_le_bytes();
        let kind = (self.shift as i16 + 64) as u8 & 0x7f | (self.log as u8) << 7;
        [o[0], o[1], o[2], o[3], kind, self.mult]
    }

    /// Reads the map at `at`, with the gain that is so many bytes behind its own; every
    /// bit pattern is a valid map.
    pub(crate) const fn read(blob: &[u8], at: usize, gain: usize) -> Self {
        let kind = byte_at(blob, at + 4);
        Self {
            offset: u32_at(blob, at) as i32,
            shift: (kind & 0x7f) as i8 - 64,
            log: kind & 0x80 != 0,
            mult: byte_at(blob, at + 5 + gain),
        }
    }

    /// ±magnitude·2^exponent → q in −limit..=limit; magnitude < 2^24. `logs`: whether there
    /// may be logarithms; where the compiler knows that there are none they are left out.
    #[inline(always)]
    pub(crate) const fn quantise(
        &self,
        negative: bool,
        magnitude: u32,
        exponent: i32,
        limit: i32,
        logs: bool,
    ) -> i16 {
        if logs && self.log {
            let log = log_one_plus(magnitude, exponent) as u32;
            return self.scaled(negative, log, -(LOG_BITS as i32), limit);
        }
        self.scaled(negative, magnitude, exponent, limit)
    }

    #[inline(never)]
    const fn scaled(&self, negative: bool, magnitude: u32, exponent: i32, limit: i32) -> i16 {
        let value = fixed_point(negative, magnitude, exponent + self.shift as i32);
        let centred = bounded(value.saturating_sub(self.offset), (1 << 23) - 1);
        bounded((centred * self.mult as i32 + (1 << 14)) >> 15, limit) as i16
    }

    /// The line on which the map is for integers that nothing saturates.
    pub(crate) const fn line(&self, limit: i32) -> Line {
        let mult = self.mult as i32;
        // (x·2^shift − offset)·mult must stay within ±limit·2^15 and the difference
        // within ±(2^23 − 1). At most 2^16/mult and 512, by a step of Newton's from
        // below: small cores do not divide.
        let guess = 512 - mult;
        let inverse = if mult > 128 { (guess * ((2 << 16) - mult * guess)) >> 16 } else { 512 };
        let room = (limit * inverse) >> 1;
        if self.log
            || self.shift < 0
            || self.shift > 30
            || bounded(self.offset, room) != self.offset
        {
            return Line { first: i32::MAX, length: 0, slope: 0, constant: 0 };
        }
        let first = -((room - self.offset) >> self.shift);
        let last = (room + self.offset) >> self.shift;
        Line {
            first,
            length: (last - first) as u32,
            slope: mult.wrapping_shl(self.shift as u32),
            constant: (1 << 14) - self.offset * mult,
        }
    }
}

/// `value`, saturated at ±`limit`.
const fn bounded(value: i32, limit: i32) -> i32 {
    if value > limit {
        limit
    } else if value < -limit {
        -limit
    } else {
        value
    }
}

/// q = (slope·x + constant) / 2^15 for `first <= x <= first + length`, computed
/// modulo 2^32: the result fits.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Line {
    first: i32,
    length: u32,
    slope: i32,
    constant: i32,
}

impl Line {
    #[inline]
    pub(crate) fn at(self, x: i32) -> Option<i16> {
        let inside = (x.wrapping_sub(self.first) as u32) <= self.length;
        let q = x.wrapping_mul(self.slope).wrapping_add(self.constant) >> 15;
        inside.then_some(q as i16)
    }
}
