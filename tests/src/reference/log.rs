//! The signed logarithm of the input map, sign(x)·ln(1 + |x|) in Q24, as specified.

use super::input::integer_and_exponent;

/// ln 2 in Q32.
const LN2: i128 = 2_977_044_472;

/// The polynomial for ln(1 + t), 0 <= t < 1, in Q30, the coefficient of t^0 first.
const COEFFICIENTS: [i128; 10] = [
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

/// From where on the 1 in 1 + |x| is left out.
const LARGE: f32 = (1u32 << 30) as f32;

/// L, the logarithm of `x` times 2^24; `x` is no NaN, an infinity counts as 2^128.
#[must_use]
pub fn signed_log(x: f32) -> i64 {
    signed_log_by(x, polynomial)
}

/// The same by another function for ln(1 + t), `t` and its value in Q30.
#[must_use]
pub fn signed_log_by(x: f32, of_fraction: impl Fn(i128) -> i128) -> i64 {
    let (power, t) = power_and_fraction(x);
    let log = shifted(power * LN2 + (1 << 7), -8) + shifted(of_fraction(t) + (1 << 5), -6);
    if x < 0.0 { -log as i64 } else { log as i64 }
}

/// e and t of 1 + |x| = 2^e·(1 + t), t in Q30.
pub(crate) fn power_and_fraction(x: f32) -> (i128, i128) {
    let (whole, exponent) = if x.is_infinite() { (1, 128) } else { integer_and_exponent(x.abs()) };
    // 1 + |x| is sum·2^places.
    let (sum, places) = if x.abs() < LARGE {
        ((1 << 32) + shifted(whole, exponent + 32), -32)
    } else {
        (whole, exponent)
    };
    let top = sum.ilog2() as i32;
    (i128::from(top + places), shifted(sum, 30 - top) - (1 << 30))
}

/// ln(1 + t) as specified, in and out in Q30.
pub(crate) fn polynomial(t: i128) -> i128 {
    let others = COEFFICIENTS[..9].iter().rev();
    others.fold(COEFFICIENTS[9], |sum, c| shifted(sum * t + (1 << 29), -30) + c)
}

/// ⌊value·2^places⌋.
fn shifted(value: i128, places: i32) -> i128 {
    if places >= 0 { value << places } else { value.div_euclid(1 << -places) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the core, of a number's magnitude and exponent.
    fn of_core(x: f32) -> i64 {
        let bits = x.to_bits();
        let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
        let whole = if exponent == 0 { fraction } else { fraction | 0x80_0000 };
        let log = koan::numerics::log_one_plus(whole, exponent.max(1) - 150);
        if x < 0.0 { -i64::from(log) } else { log.into() }
    }

    #[test]
    fn it_is_the_cores_and_near_the_logarithm() {
        let mut worst = 0.0f64;
        for bits in (0..0x7f80_0000u32).step_by(9973) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                let log = signed_log(x);
                assert_eq!(log, of_core(x), "{x:e}");
                let exact = f64::from(x).signum() * f64::from(x).abs().ln_1p();
                worst = worst.max((log as f64 / 2f64.powi(24) - exact).abs());
            }
        }
        assert!(worst <= 1.0e-7, "largest error {worst}");
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0, -0.0, 1e-45] {
            assert_eq!(signed_log(x), of_core(x), "{x:e}");
        }
    }
}
