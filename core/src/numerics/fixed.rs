//! Fixed-point building blocks: scales, quotients, and values as fixed-point numbers.

/// A positive factor as a small mantissa and a shift: `mult / 2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scale {
    pub(crate) mult: u8,
    pub(crate) shift: u8,
}

impl Scale {
    /// The factor 1.
    pub const ONE: Self = Self { mult: 1, shift: 0 };

    /// `mult / 2^shift`; none for more than 31 binary places.
    #[must_use]
    pub const fn new(mult: u8, shift: u8) -> Option<Self> {
        if shift < 32 { Some(Self { mult, shift }) } else { None }
    }

    /// Mantissa.
    #[must_use]
    pub const fn mult(self) -> u8 {
        self.mult
    }

    /// Binary places to divide by.
    #[must_use]
    pub const fn shift(self) -> u8 {
        self.shift
    }

    /// The factor as a number.
    #[must_use]
    pub fn factor(self) -> f64 {
        libm::ldexp(f64::from(self.mult), -i32::from(self.shift))
    }

    /// `z·mult >> shift`, modulo 2^32: the low 16 bits are right modulo 2^16
    /// for every `z` modulo 2^32 while `shift <= 16`.
    #[inline]
    #[must_use]
    pub(crate) const fn apply_wrapping(self, z: i32) -> i32 {
        z.wrapping_mul(self.mult as i32) >> (self.shift & 31)
    }

    /// `z·mult / 2^shift` rounded half up, saturated to ±`most`.
    #[inline]
    #[must_use]
    pub(crate) const fn apply_saturating(self, z: i32, most: i32) -> i32 {
        // ⌊z·mult / 2^shift⌋ of a 40-bit product, half a unit added before the last bit goes.
        let product = z as i64 * self.mult as i64;
        let shift = self.shift & 31;
        let rounded = (product + ((1i64 << shift) >> 1)) >> shift;
        if rounded > most as i64 {
            most
        } else if rounded < -most as i64 {
            -most
        } else {
            rounded as i32
        }
    }
}

/// ⌊dividend / divisor⌋ by shifts: small cores do not divide, and the routine that
/// does it for them takes 400 bytes. As many steps as the quotient has bits. For a divisor
/// of 0 all bits are set. Browsers divide.
#[must_use]
pub(crate) const fn quotient(dividend: u32, divisor: u32) -> u32 {
    if cfg!(target_family = "wasm") {
        return match dividend.checked_div(divisor) {
            Some(quotient) => quotient,
            None => !0,
        };
    }
    let mut shift = 0;
    while shift < 31 && dividend >> 1 >> shift >= divisor {
        shift += 1;
    }
    let (mut rest, mut result) = (dividend, 0);
    loop {
        // What the shift drops is above every rest, but for a divisor of 0.
        let part = divisor << shift;
        result <<= 1;
        if rest >= part {
            rest = rest.wrapping_sub(part);
            result |= 1;
        }
        if shift == 0 {
            return result;
        }
        shift -= 1;
    }
}

/// `±magnitude·2^exponent`, rounded half away from zero, saturated to i32.
///
/// The common ground of the input map: an f32 is a 24-bit magnitude and an
/// exponent, an i16 or u8 is a magnitude with exponent 0, so the same number
/// gives the same bits whatever type it came in.
#[inline]
#[must_use]
pub const fn fixed_point(negative: bool, magnitude: u32, exponent: i32) -> i32 {
    let scaled = if magnitude == 0 {
        0
    } else if exponent >= 0 {
        // Shifted back, it is the same unless bits fell out.
        let scaled = magnitude << (exponent & 31);
        if exponent < 32 && scaled >> exponent == magnitude { scaled } else { i32::MAX as u32 }
    } else if exponent <= -33 {
        0
    } else {
        let down = (-exponent) as u32;
        // The half is added after shifting by one less, so nothing overflows.
        let half = magnitude >> (down - 1);
        (half >> 1) + (half & 1)
    };
    let scaled = if scaled > i32::MAX as u32 { i32::MAX } else { scaled as i32 };
    if negative { -scaled } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STRIDE;

    #[test]
    fn quotients_are_those_of_divisions() {
        let numbers = [1, 2, 3, 5, 127, 128, 255, 40_503, 65_535, 65_536, !0 - 1, !0];
        for dividend in numbers.into_iter().chain([0, 1 << 31, 2_147_223_551]) {
            for divisor in numbers {
                assert_eq!(quotient(dividend, divisor), dividend / divisor);
            }
        }
    }

    #[test]
    fn scales_saturate() {
        assert_eq!(Scale::ONE.apply_saturating(100_000, 32767), 32767);
        assert_eq!(Scale::ONE.apply_saturating(-100_000, 127), -127);
    }

    #[test]
    fn fixed_point_rounds_half_away_and_saturates() {
        for magnitude in [0u32, 1, 2, 3, 5, 255, 32768, (1 << 24) - 1, u32::MAX] {
            for exponent in (-60..60).step_by(STRIDE.min(7)) {
                let exact = f64::from(magnitude) * (f64::from(exponent)).exp2();
                let expected = exact.round().min(f64::from(i32::MAX)) as i32;
                assert_eq!(fixed_point(false, magnitude, exponent), expected);
                assert_eq!(fixed_point(true, magnitude, exponent), -expected);
            }
        }
    }
}
