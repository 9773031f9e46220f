//! The input map, exactly: a float is an integer times a power of two.

use super::log::signed_log;
use super::parse::Map;

/// What the value of a map saturates at.
const VALUE_MAX: i128 = (1 << 31) - 1;

impl Map {
    /// v: the value that is taken the offset off; `x` is no NaN.
    #[must_use]
    pub fn value(&self, x: f32) -> i64 {
        let value = if self.log {
            round_shifted(i128::from(signed_log(x)), self.shift - 24)
        } else if x.is_infinite() {
            if x > 0.0 { VALUE_MAX } else { -VALUE_MAX }
        } else {
            let (whole, exponent) = integer_and_exponent(x);
            round_shifted(whole, exponent + self.shift)
        };
        value as i64
    }

    /// c: the value without the offset, saturated.
    #[must_use]
    pub fn centred(&self, x: f32) -> i64 {
        let centred = self.value(x) - i64::from(self.offset);
        let far = (1 << 23) - 1;
        centred.clamp(i64::from(i32::MIN), i64::from(i32::MAX)).clamp(-far, far)
    }

    /// The integer that `x` becomes, in −limit..=limit.
    #[must_use]
    pub fn quantise(&self, x: f32, limit: i64) -> i64 {
        if x.is_nan() {
            return 0;
        }
        let q = (self.centred(x) * i64::from(self.mult) + (1 << 14)).div_euclid(1 << 15);
        q.clamp(-limit, limit)
    }
}

/// A finite `x` as `whole · 2^exponent`.
pub(super) fn integer_and_exponent(x: f32) -> (i128, i32) {
    let bits = x.to_bits();
    let biased = (bits >> 23 & 0xff) as i32;
    let fraction = i128::from(bits & 0x7f_ffff);
    let (magnitude, exponent) =
        if biased == 0 { (fraction, -149) } else { (fraction + (1 << 23), biased - 150) };
    (if bits >> 31 == 1 { -magnitude } else { magnitude }, exponent)
}

/// `whole · 2^exponent`, rounded half away from zero, saturated.
fn round_shifted(whole: i128, exponent: i32) -> i128 {
    let magnitude = whole.abs();
    let rounded = if exponent >= 0 {
        // Beyond 64 places every magnitude but 0 is saturated anyway.
        magnitude << exponent.min(64)
    } else {
        // Below 2^-64 nothing is left of any magnitude here (less than 2^32).
        let down = (-exponent).min(64);
        (magnitude + (1 << (down - 1))) >> down
    };
    whole.signum() * rounded.min(VALUE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_f64_where_f64_is_exact() {
        for whole in [-7i128, -5, -3, -1, 0, 1, 2, 3, 5, 6, 1000, (1 << 24) - 1] {
            for exponent in -40..40 {
                let exact = whole as f64 * f64::from(exponent).exp2();
                let expected = exact.round().clamp(-(VALUE_MAX as f64), VALUE_MAX as f64);
                assert_eq!(round_shifted(whole, exponent) as f64, expected);
            }
        }
        for x in [1.5f32, -0.0, 1e-45, 3e38, -1e-3] {
            let (whole, exponent) = integer_and_exponent(x);
            assert_eq!(whole as f64 * f64::from(exponent).exp2(), f64::from(x));
        }
    }
}
