//! The numbers of a row.

use crate::format::map::{InputMap, Line};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i16 {}
    impl Sealed for u8 {}
}

/// A type that rows may have: `f32`, `i16` or `u8`.
///
/// The same number gives the same bits in every type. The integer types
/// execute no float operation. For `f32`: infinities saturate, and NaN is q = 0, the offset of
/// the input's map. That is hardly what the model learned of missing numbers: where they were
/// filled in for training (`--missing impute`), fill in the same number.
pub trait Input: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn quantise(self, map: &InputMap, limit: i32, logs: bool) -> i16;

    /// A row of floats; nothing of integers.
    #[doc(hidden)]
    #[cfg(target_feature = "simd128")]
    fn floats(_row: &[Self]) -> &[f32] {
        &[]
    }

    /// The same for the numbers on the map's line, which takes few steps.
    #[doc(hidden)]
    #[inline]
    fn on_line(self, _line: &Line) -> Option<i16> {
        None
    }
}

impl Input for f32 {
    #[inline(always)]
    fn quantise(self, map: &InputMap, limit: i32, logs: bool) -> i16 {
        let bits = self.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32;
        let fraction = bits & 0x7f_ffff;
        let (magnitude, exponent) = match (exponent, fraction) {
            (0, _) => (fraction, -149),
            (0xff, 1..) => return 0,
            // Infinity is 2^128.
            _ => (fraction | 0x80_0000, exponent - 150),
        };
        map.quantise(bits >> 31 != 0, magnitude, exponent, limit, logs)
    }

    #[cfg(target_feature = "simd128")]
    #[inline]
    fn floats(row: &[Self]) -> &[f32] {
        row
    }
}

impl Input for i16 {
    #[inline(always)]
    fn quantise(self, map: &InputMap, limit: i32, logs: bool) -> i16 {
        map.quantise(self < 0, u32::from(self.unsigned_abs()), 0, limit, logs)
    }

    #[inline]
    fn on_line(self, line: &Line) -> Option<i16> {
        line.at(self.into())
    }
}

impl Input for u8 {
    #[inline(always)]
    fn quantise(self, map: &InputMap, limit: i32, logs: bool) -> i16 {
        i16::from(self).quantise(map, limit, logs)
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
            let map = InputMap { offset: 3 << 16, shift: 16, log, mult: 255 };
            assert_eq!(f32::NAN.quantise(&map, 32767, true), 0);
            assert_eq!(f32::INFINITY.quantise(&map, 32767, true), 32767);
            assert_eq!(f32::NEG_INFINITY.quantise(&map, 20000, true), -20000);
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
            prop_assert_eq!(x.quantise(&map, limit, true), f32::from(x).quantise(&map, limit, true));
            let small = x as u8;
            prop_assert_eq!(small.quantise(&map, limit, true), f32::from(small).quantise(&map, limit, true));
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
                    let q = row.map(|x| x.on_line(&line).unwrap_or(x.quantise(&map, limit, true)));
                    prop_assert_eq!(q, row.map(|x| x.quantise(&map, limit, true)));
                    prop_assert_eq!(q, row.map(|x| f32::from(x).quantise(&map, limit, true)));
                }
            }
        }

        #[test]
        fn any_bits_stay_within_the_limit(
            bytes in any::<[u8; InputMap::BYTES]>(), bits in any::<u32>(), limit in 1..=32767
        ) {
            let q = f32::from_bits(bits).quantise(&InputMap::read(&bytes, 0, 0), limit, true);
            prop_assert!(i32::from(q).abs() <= limit);
        }

        #[test]
        fn maps_survive_the_blob(bytes in any::<[u8; InputMap::BYTES]>()) {
            prop_assert_eq!(InputMap::read(&bytes, 0, 0).to_bytes(), bytes);
        }
    }
}
