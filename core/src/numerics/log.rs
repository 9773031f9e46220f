//! The signed logarithm of the input map, sign(x)·ln(1 + |x|), in integers.

/// Fractional bits of a signed log: Q24.
pub const LOG_BITS: u32 = 24;

/// ln 2 in Q32.
const LN2_Q32: u64 = 2_977_044_472;

/// Coefficients of ln(1 + t) on [0, 1) in Q30, lowest order first
/// (Chebyshev fit of degree 9, error 5.3e-9).
const LN1P: [i32; 10] = [
    6,
    1_073_740_654,
    -536_830_372,
    357_361_063,
    -264_523_392,
    198_307_750,
    -134_504_003,
    71_417_231,
    -24_737_165,
    4_029_350,
];

/// Signed logarithm of `x`: sign(x)·ln(1 + |x|) in Q24.
///
/// Largest absolute error: 1.0e-7. Infinities give the logarithm of 2^128
/// (88.7); NaN gives 0. No float operation is executed.
#[must_use]
pub const fn signed_log_f32(x: f32) -> i32 {
    let bits = x.to_bits();
    let exponent = ((bits >> 23) & 0xff) as i32;
    let fraction = bits & 0x7f_ffff;
    if exponent == 0xff && fraction != 0 {
        return 0;
    }
    let magnitude = if exponent == 0 || exponent == 0xff {
        // A subnormal is far below the resolution; infinity is 2^128.
        (exponent == 0xff) as u32 * 0x80_0000
    } else {
        fraction | 0x80_0000
    };
    let log = log_one_plus(magnitude, exponent - 150);
    if bits >> 31 != 0 { -log } else { log }
}

/// Signed logarithm of an integer: the same bits as [`signed_log_f32`] of the
/// same number.
#[must_use]
pub const fn signed_log_i16(x: i16) -> i32 {
    let log = log_one_plus((x as i32).unsigned_abs(), 0);
    if x < 0 { -log } else { log }
}

/// ln(1 + magnitude·2^exponent) in Q24, magnitude < 2^24.
#[inline(never)]
pub(crate) const fn log_one_plus(magnitude: u32, exponent: i32) -> i32 {
    if magnitude == 0 {
        return 0;
    }
    // 1 + x as a 32.32 fixed-point number while it fits; beyond 2^31 the one
    // is below the resolution of the result.
    let (sum, power) = if exponent < 7 {
        let places = exponent + 32;
        let x = if places >= 0 {
            (magnitude as u64) << places
        } else if places > -32 {
            (magnitude as u64) >> -places
        } else {
            0
        };
        ((1u64 << 32) + x, -32)
    } else {
        (magnitude as u64, exponent)
    };
    let top = 63 - sum.leading_zeros() as i32;
    // Normalise to [1, 2) in Q62, keep the fraction in Q30.
    let t = (((sum << (62 - top)) >> 32) as i32 & ((1 << 30) - 1)) as i64;
    let mut poly = LN1P[9] as i64;
    let mut i = 9;
    while i > 0 {
        i -= 1;
        poly = ((poly * t + (1 << 29)) >> 30) + LN1P[i] as i64;
    }
    let whole = ((top + power) as i64 * LN2_Q32 as i64 + (1 << 7)) >> 8;
    (whole + ((poly + (1 << 5)) >> 6)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STRIDE;

    fn exact(x: f64) -> f64 {
        x.signum() * x.abs().ln_1p()
    }

    #[test]
    fn every_i16_is_within_the_bound_and_equals_the_f32_path() {
        for x in (i16::MIN..=i16::MAX).step_by(STRIDE) {
            let log = signed_log_i16(x);
            let error = (f64::from(log) / f64::from(1 << LOG_BITS) - exact(f64::from(x))).abs();
            assert!(error <= 1.0e-7, "{x}: {error}");
            assert_eq!(log, signed_log_f32(f32::from(x)));
        }
    }

    #[test]
    fn floats_of_every_exponent_are_within_the_bound() {
        let mut worst = 0.0f64;
        for exponent in 0..255u32 {
            for fraction in (0..1 << 23).step_by(40_009 * STRIDE.min(100)) {
                for sign in [0, 1 << 31] {
                    let x = f32::from_bits(sign | exponent << 23 | fraction);
                    let log = f64::from(signed_log_f32(x)) / f64::from(1 << LOG_BITS);
                    worst = worst.max((log - exact(f64::from(x))).abs());
                }
            }
        }
        assert!(worst <= 1.0e-7, "largest error {worst}");
    }

    #[test]
    fn special_values() {
        assert_eq!(signed_log_f32(f32::NAN), 0);
        assert_eq!(signed_log_f32(0.0), 0);
        assert_eq!(signed_log_f32(-0.0), 0);
        let top = f64::from(signed_log_f32(f32::INFINITY)) / f64::from(1 << LOG_BITS);
        assert!((top - 128.0 * std::f64::consts::LN_2).abs() < 1e-6);
        assert_eq!(signed_log_f32(f32::NEG_INFINITY), -signed_log_f32(f32::INFINITY));
    }
}
