//! Fixed-point building blocks: rounding multiply, cosine, logistic, scales.

/// `(a·b + 2^14) >> 15`: the product of two Q15 numbers, rounded half up.
///
/// One instruction on x86 (`pmulhrsw`), WebAssembly (`i16x8.q15mulr_sat_s`)
/// and NEON (`sqrdmulh`) when done on vectors of i16. Exact in i32 for all i16
/// arguments; the result fits i16 except for `a = b = -32768`.
#[inline]
#[must_use]
pub const fn mul_round(a: i32, b: i32) -> i32 {
    (a * b + (1 << 14)) >> 15
}

/// Cosine of a phase, in Q15.
///
/// `phase`: an angle, a full turn = 2^16 (so i16 arithmetic wraps by whole
/// turns). Returns cos(2π·phase/2^16)·32767 in [−32768, 32767].
///
/// Largest error over all 65,536 phases: 2.1e-4 (of an amplitude of 1). Three
/// multiplications after the square: an odd polynomial of degree 5 for the sine of a
/// quarter turn, fitted to the smallest largest error in this arithmetic.
#[inline]
#[must_use]
pub const fn cos(phase: i16) -> i16 {
    cos_turn((phase as i32) << 16)
}

/// [`cos`] of an angle of which a full turn is 2^32; the low half is not used.
#[inline]
pub(crate) const fn cos_turn(angle: i32) -> i16 {
    // The angle's one's-complement magnitude doubled, t in 0..=65535 for half a
    // turn, taken off 32767: the sine's argument, -32768..=32767 for ∓π/2.
    let magnitude = angle ^ (angle >> 31);
    let s = 32767 - (magnitude >> 15);
    let s2 = (s * s) >> 15;
    let series = mul_round_add(s2, mul_round_add(s2, 1164, -10506), 25725);
    ((s * series) >> 14) as i16
}

/// `mul_round(a, b) + c` with one addition; `c` a constant.
#[inline]
const fn mul_round_add(a: i32, b: i32, c: i32) -> i32 {
    (a * b + ((c << 15) + (1 << 14))) >> 15
}

/// Logistic function 1/(1+e^−z) at multiples of 1/8 in [0, 12], times 32768.
const LOGISTIC: [u16; 97] = [
    16384, 17407, 18421, 19420, 20397, 21344, 22255, 23127, 23955, 24737, 25471, 26155, 26790,
    27377, 27917, 28411, 28862, 29272, 29644, 29979, 30282, 30555, 30799, 31018, 31214, 31389,
    31545, 31684, 31807, 31917, 32015, 32102, 32179, 32247, 32307, 32361, 32408, 32450, 32487,
    32520, 32549, 32574, 32597, 32617, 32635, 32650, 32664, 32676, 32687, 32696, 32705, 32712,
    32719, 32725, 32730, 32734, 32738, 32742, 32745, 32747, 32750, 32752, 32754, 32756, 32757,
    32758, 32759, 32760, 32761, 32762, 32763, 32763, 32764, 32764, 32765, 32765, 32766, 32766,
    32766, 32766, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32768, 32768,
    32768, 32768, 32768, 32768, 32768, 32768,
];

/// Logistic function, in Q15.
///
/// `z`: argument in Q11 (2048 = 1.0), so [−16, 16). Returns
/// 32768/(1 + e^(−z/2048)), at most 32767, at least 0.
///
/// Largest error over all 65,536 arguments: 2.3e-4 (of an output of 1): linear
/// interpolation in a table of steps of 1/8.
#[inline]
#[must_use]
pub const fn logistic(z: i16) -> i16 {
    let magnitude = (z as i32).unsigned_abs();
    let cell = (magnitude >> 8) as usize;
    let value = if cell < 96 {
        let low = LOGISTIC[cell] as i32;
        let high = LOGISTIC[cell + 1] as i32;
        low + (((high - low) * (magnitude & 255) as i32 + 128) >> 8)
    } else {
        32768
    };
    let value = if z < 0 { 32768 - value } else { value };
    if value > 32767 { 32767 } else { value as i16 }
}

/// A positive factor as a small mantissa and a shift: `mult / 2^shift`.
///
/// `mult` in 0..=255, `shift` in 0..=31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Mantissa.
    pub mult: u8,
    /// Binary places to divide by.
    pub shift: u8,
}

impl Scale {
    /// The factor 1.
    pub const ONE: Self = Self { mult: 1, shift: 0 };

    /// The scale nearest to `factor`, with the most mantissa bits that fit.
    ///
    /// Relative error at most 1/256 for factors in [2^−24, 255]; larger ones
    /// saturate at 255. Negative, zero and NaN factors give 0. For building
    /// blobs on a host; prediction never calls it.
    #[must_use]
    pub fn nearest(factor: f64, max_shift: u8) -> Self {
        if factor.is_nan() || factor <= 0.0 {
            return Self { mult: 0, shift: 0 };
        }
        let mut scaled = factor;
        let mut shift = 0;
        while scaled < 127.75 && shift < max_shift {
            scaled *= 2.0;
            shift += 1;
        }
        let mut mult = (scaled + 0.5).min(255.0) as u8;
        while mult.is_multiple_of(2) && mult > 0 && shift > 0 {
            mult /= 2;
            shift -= 1;
        }
        Self { mult, shift }
    }

    /// The factor as a number.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.mult) / (1u64 << self.shift) as f64
    }

    /// `z·mult >> shift`, modulo 2^32: the low 16 bits are right modulo 2^16
    /// for every `z` modulo 2^32 while `shift <= 16`.
    #[inline]
    #[must_use]
    pub(crate) const fn apply_wrapping(self, z: i32) -> i32 {
        z.wrapping_mul(self.mult as i32) >> (self.shift & 31)
    }

    /// `z·mult / 2^shift` rounded half up, saturated to i16.
    #[inline]
    #[must_use]
    pub(crate) const fn apply_saturating(self, z: i32) -> i16 {
        let product = z as i64 * self.mult as i64;
        let shift = self.shift & 31;
        let rounded = (product + ((1i64 << shift) >> 1)) >> shift;
        if rounded > 32767 {
            32767
        } else if rounded < -32767 {
            -32767
        } else {
            rounded as i16
        }
    }
}

/// ⌊dividend / divisor⌋ by shifts: small cores do not divide, and the routine that
/// does it for them takes 400 bytes. For a divisor of 0 all bits are set.
#[must_use]
pub(crate) const fn quotient(dividend: u32, divisor: u32) -> u32 {
    let (mut rest, mut result) = (0u32, dividend);
    let mut bit = 0;
    while bit < 32 {
        // What falls out of a rest of 2^31 and more is carried.
        let carry = rest >> 31;
        rest = rest << 1 | result >> 31;
        result <<= 1;
        if carry != 0 || rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            result |= 1;
        }
        bit += 1;
    }
    result
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
    fn cosine_is_within_its_bound_everywhere() {
        let mut worst = 0.0f64;
        for phase in (i16::MIN..=i16::MAX).step_by(STRIDE) {
            let exact = (f64::from(phase) * std::f64::consts::TAU / 65536.0).cos();
            worst = worst.max((f64::from(cos(phase)) / 32767.0 - exact).abs());
        }
        assert!(worst <= 2.1e-4, "largest error {worst}");
    }

    #[test]
    fn logistic_is_within_its_bound_everywhere_and_monotone() {
        let mut worst = 0.0f64;
        let mut before = 0;
        for z in (i16::MIN..=i16::MAX).step_by(STRIDE) {
            let exact = 1.0 / (1.0 + (-f64::from(z) / 2048.0).exp());
            worst = worst.max((f64::from(logistic(z)) / 32768.0 - exact).abs());
            assert!(logistic(z) >= before);
            before = logistic(z);
        }
        assert!(worst <= 2.3e-4, "largest error {worst}");
    }

    #[test]
    fn rounding_multiply_equals_its_definition() {
        for a in (-32768..=32767).step_by(97 * STRIDE.min(50)) {
            for b in (-32768..=32767).step_by(89 * STRIDE.min(50)) {
                let exact = (f64::from(a) * f64::from(b) / 32768.0 + 0.5).floor();
                assert_eq!(f64::from(mul_round(a, b)), exact);
            }
        }
    }

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
    fn scales_are_near_and_saturate() {
        for factor in [1.0, 0.5, 2.0, 0.0371, 255.0, 3.3e-5, 77.7] {
            let scale = Scale::nearest(factor, 24);
            assert!((scale.factor() / factor - 1.0).abs() <= 1.0 / 256.0);
        }
        assert_eq!(Scale::nearest(1.0, 16), Scale::ONE);
        assert_eq!(Scale::nearest(1e9, 16).mult, 255);
        assert_eq!(Scale::nearest(f64::NAN, 16).mult, 0);
        assert_eq!(Scale::ONE.apply_saturating(100_000), 32767);
        assert_eq!(Scale::ONE.apply_saturating(-100_000), -32767);
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
