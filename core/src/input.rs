//! The input map: from sensor values to the integers that features are made of.
//!
//! x → q = saturate(round((u − offset)·gain)), u = x or its signed logarithm,
//! all in integers: the value becomes fixed point with `shift` fractional bits
//! (an f32 by taking its bits apart), the offset is subtracted, and an 8-bit
//! mantissa multiplies. So a number gives the same q as f32, i16 or u8.

use crate::SMALL;
use crate::format::{byte_at, u32_at};
use crate::numerics::{LOG_BITS, fixed_point, log_one_plus};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i16 {}
    impl Sealed for u8 {}
}

/// A type that rows may have: `f32`, `i16` or `u8`.
///
/// The same number gives the same bits in every type. The integer types
/// execute no float operation. For `f32`: NaN counts as the input's offset
/// (q = 0: what the trainer takes for "unknown"), infinities saturate.
pub trait Input: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn quantise(self, map: &InputMap, limit: i32) -> i16;

    /// The same for the numbers on the map's line, which takes few steps.
    #[doc(hidden)]
    #[inline]
    fn on_line(self, _line: &Line) -> Option<i16> {
        None
    }
}

/// How one input becomes an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputMap {
    /// What maps to 0, in units of 2^−shift.
    pub offset: i32,
    /// Fractional bits of the value before the offset is taken off, −64..=63.
    pub shift: i8,
    /// Whether the value is replaced by sign(x)·ln(1 + |x|) first.
    pub log: bool,
    /// Gain: q = (u·2^shift − offset)·mult / 2^15. Zero switches the input off.
    pub mult: u8,
}

impl InputMap {
    /// Bytes of one map in a blob.
    pub const BYTES: usize = 6;

    /// The map nearest to `q = (u − offset)·gain`, u = x or its signed log.
    ///
    /// `offset` in units of u, `gain` in q per unit of u. The gain is within
    /// 1/256 of what was asked for while |offset|·gain is below 2^22; beyond, it
    /// is smaller, as precision goes to the offset. A gain that is not positive and finite
    /// switches the input off.
    #[must_use]
    pub fn nearest(offset: f64, gain: f64, log: bool) -> Self {
        let off = Self { offset: 0, shift: 0, log: false, mult: 0 };
        if !(gain > 0.0 && gain.is_finite() && offset.is_finite()) {
            return off;
        }
        let power = |shift: i8| libm::ldexp(1.0, i32::from(shift));
        let mut shift = 63i8;
        // The largest shift whose mantissa still fits a byte...
        while shift > -64 && gain * 32768.0 / power(shift) < 127.75 {
            shift -= 1;
        }
        // ...and whose offset fits an i32.
        while shift > -64 && libm::fabs(offset) * power(shift) > f64::from(1u32 << 30) {
            shift -= 1;
        }
        let mult = libm::round(gain * 32768.0 / power(shift)).min(255.0) as u8;
        let offset = libm::round(offset * power(shift)) as i32;
        if mult == 0 { off } else { Self { offset, shift, log, mult } }
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

    /// ±magnitude·2^exponent → q in −limit..=limit; magnitude < 2^24.
    #[inline(never)]
    const fn quantise(&self, negative: bool, magnitude: u32, exponent: i32, limit: i32) -> i16 {
        let shift = self.shift as i32;
        let value = if self.log && cfg!(feature = "log") {
            let log = log_one_plus(magnitude, exponent) as u32;
            fixed_point(negative, log, shift - LOG_BITS as i32)
        } else {
            fixed_point(negative, magnitude, exponent + shift)
        };
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
        // Small builds have no code for it: what follows finds no number on it.
        if SMALL
            || self.log
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
    fn at(self, x: i32) -> Option<i16> {
        let inside = (x.wrapping_sub(self.first) as u32) <= self.length;
        let q = x.wrapping_mul(self.slope).wrapping_add(self.constant) >> 15;
        inside.then_some(q as i16)
    }
}

impl Input for f32 {
    #[inline]
    fn quantise(self, map: &InputMap, limit: i32) -> i16 {
        let bits = self.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32;
        let fraction = bits & 0x7f_ffff;
        let (magnitude, exponent) = match (exponent, fraction) {
            (0, _) => (fraction, -149),
            (0xff, 1..) => return 0,
            // Infinity is 2^128.
            _ => (fraction | 0x80_0000, exponent - 150),
        };
        map.quantise(bits >> 31 != 0, magnitude, exponent, limit)
    }
}

impl Input for i16 {
    #[inline]
    fn quantise(self, map: &InputMap, limit: i32) -> i16 {
        map.quantise(self < 0, u32::from(self.unsigned_abs()), 0, limit)
    }

    #[inline]
    fn on_line(self, line: &Line) -> Option<i16> {
        line.at(self.into())
    }
}

impl Input for u8 {
    #[inline]
    fn quantise(self, map: &InputMap, limit: i32) -> i16 {
        i16::from(self).quantise(map, limit)
    }

    #[inline]
    fn on_line(self, line: &Line) -> Option<i16> {
        line.at(self.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nan_is_the_offset_and_infinities_saturate() {
        for log in [false, true] {
            let map = InputMap::nearest(3.0, 1000.0, log);
            assert_eq!(f32::NAN.quantise(&map, 32767), 0);
            assert_eq!(f32::INFINITY.quantise(&map, 32767), 32767);
            assert_eq!(f32::NEG_INFINITY.quantise(&map, 20000), -20000);
        }
    }

    #[test]
    fn an_input_without_gain_is_off() {
        for gain in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let map = InputMap::nearest(1.0, gain, false);
            assert_eq!(1e30f32.quantise(&map, 32767), 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn integers_and_floats_give_the_same_bits(
            bytes in any::<[u8; InputMap::BYTES]>(), x in any::<i16>(), limit in 1..=32767
        ) {
            let map = InputMap::read(&bytes, 0, 0);
            prop_assert_eq!(x.quantise(&map, limit), f32::from(x).quantise(&map, limit));
            let small = x as u8;
            prop_assert_eq!(small.quantise(&map, limit), f32::from(small).quantise(&map, limit));
        }

        #[test]
        fn rows_of_integers_are_their_numbers(
            bytes in any::<[u8; InputMap::BYTES]>(), shift in 50u8..100, limit in 1..=32767,
            row in any::<[i16; 8]>()
        ) {
            // All maps, and the ones on whose line some integers lie.
            for map in [InputMap::read(&bytes, 0, 0), InputMap::read(&[
                bytes[0], bytes[1], bytes[2], 0, shift, bytes[5],
            ], 0, 0)] {
                for row in [row, row.map(|x| x % 256), row.map(|x| x % 4)] {
                    let line = map.line(limit);
                    let q = row.map(|x| x.on_line(&line).unwrap_or(x.quantise(&map, limit)));
                    prop_assert_eq!(q, row.map(|x| x.quantise(&map, limit)));
                    prop_assert_eq!(q, row.map(|x| f32::from(x).quantise(&map, limit)));
                }
            }
        }

        #[test]
        fn any_bits_stay_within_the_limit(
            bytes in any::<[u8; InputMap::BYTES]>(), bits in any::<u32>(), limit in 1..=32767
        ) {
            let q = f32::from_bits(bits).quantise(&InputMap::read(&bytes, 0, 0), limit);
            prop_assert!(i32::from(q).abs() <= limit);
        }

        #[test]
        fn the_map_is_the_asked_for_line(
            offset in -2e3f64..2e3, gain in 1e-3f64..1e3, z in -100f64..100.0, log in any::<bool>()
        ) {
            let log = log && cfg!(feature = "log");
            let map = InputMap::nearest(offset, gain, log);
            let x = (offset + z) as f32;
            let u = f64::from(x);
            let u = if log { u.signum() * u.abs().ln_1p() } else { u };
            let exact = ((u - offset) * gain).clamp(-32767.0, 32767.0);
            let q = f64::from(x.quantise(&map, 32767));
            // Half a unit, the gain's eight bits, and the fixed point of the value.
            let slack = 1.0 + exact.abs() / 250.0 + gain * 1e-3;
            prop_assert!((q - exact).abs() <= slack, "{} for {}", q, exact);
        }

        #[test]
        fn maps_survive_the_blob(bytes in any::<[u8; InputMap::BYTES]>()) {
            prop_assert_eq!(InputMap::read(&bytes, 0, 0).to_bytes(), bytes);
        }
    }
}
