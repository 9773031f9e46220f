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

/// ln(1 + magnitude·2^exponent) in Q24, magnitude < 2^24: within 1.0e-7.
/// Of other numbers it is any number.
#[inline(never)]
#[must_use]
pub const fn log_one_plus(magnitude: u32, exponent: i32) -> i32 {
    if magnitude == 0 {
        return 0;
    }
    // 1 + x as a 32.32 fixed-point number while it fits; beyond 2^31 the one
    // is below the resolution of the result.
    let (sum, power) = if exponent < 7 {
        let places = exponent + 32;
        let x = if places >= 0 {
            (magnitude as u64).wrapping_shl(places as u32)
        } else if places > -32 {
            (magnitude as u64) >> -places
        } else {
            0
        };
        ((1u64 << 32).wrapping_add(x), -32)
    } else {
        (magnitude as u64, exponent)
    };
    let top = 63 - sum.leading_zeros() as i32;
    // Normalise to [1, 2) in Q62, keep the fraction in Q30.
    let t = ((sum.wrapping_shl((62 - top) as u32) >> 32) as i32 & ((1 << 30) - 1)) as i64;
    let mut poly = LN1P[9] as i64;
    let mut i = 9;
    while i > 0 {
        i -= 1;
        poly = ((poly * t + (1 << 29)) >> 30) + LN1P[i] as i64;
    }
    let whole = (top.wrapping_add(power) as i64 * LN2_Q32 as i64 + (1 << 7)) >> 8;
    (whole + ((poly + (1 << 5)) >> 6)) as i32
}
