//! Quantile tables: sampling a law is one look-up by a generator byte.
//!
//! Entry `i` is the quantile at (i + ½)/256 of the law, so a uniform byte gives
//! a draw of the law rounded to 256 values of equal probability.

/// Quantiles of the standard normal law times [`NORMAL_ONE`], rounded to the
/// nearest integer: each within 0.5/44 = 0.0114 of the quantile. Standard
/// deviation of a draw: 43.93 (0.2 % below 44: the tails end at 2.89).
#[rustfmt::skip]
pub const NORMAL: [i8; 256] = [
    -127, -111, -103, -97, -93, -89, -86, -83, -81, -79, -77, -75, -73, -71, -70, -68, -67, -65, -64, -63, -62, -61, -60, -59, -57, -56, -56, -55, -54, -53, -52, -51, -50, -49, -49, -48, -47, -46, -46, -45, -44, -43, -43, -42, -41, -41, -40, -39, -39, -38, -37, -37, -36, -36, -35, -34, -34, -33, -33, -32, -32, -31, -30, -30, -29, -29, -28, -28, -27, -27, -26, -26, -25, -25, -24, -24, -23, -23, -22, -22, -21, -21, -20, -20, -19, -19, -18, -18, -17, -17, -17, -16, -16, -15, -15, -14, -14, -13, -13, -12, -12, -12, -11, -11, -10, -10, -9, -9, -8, -8, -8, -7, -7, -6, -6, -5, -5, -5, -4, -4, -3, -3, -2, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 7, 8, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25, 26, 26, 27, 27, 28, 28, 29, 29, 30, 30, 31, 32, 32, 33, 33, 34, 34, 35, 36, 36, 37, 37, 38, 39, 39, 40, 41, 41, 42, 43, 43, 44, 45, 46, 46, 47, 48, 49, 49, 50, 51, 52, 53, 54, 55, 56, 56, 57, 59, 60, 61, 62, 63, 64, 65, 67, 68, 70, 71, 73, 75, 77, 79, 81, 83, 86, 89, 93, 97, 103, 111, 127,
];

/// What stands for 1.0 in [`NORMAL`].
pub const NORMAL_ONE: i32 = 44;

/// Quantiles of the standard Cauchy law times [`CAUCHY_ONE`], rounded to the
/// nearest integer: each within 0.5/200 = 0.0025 of the quantile. The tails end
/// at 163.
#[rustfmt::skip]
pub const CAUCHY: [i16; 256] = [
    -32595, -10864, -6517, -4654, -3618, -2959, -2502, -2167, -1910, -1708, -1544, -1408, -1294, -1196, -1112, -1039, -974, -917, -866, -820, -778, -740, -706, -674, -645, -618, -593, -570, -548, -528, -509, -491, -475, -459, -444, -430, -416, -403, -391, -380, -369, -358, -348, -338, -329, -320, -312, -303, -295, -288, -280, -273, -266, -260, -253, -247, -241, -235, -229, -223, -218, -213, -208, -202, -198, -193, -188, -184, -179, -175, -170, -166, -162, -158, -154, -150, -146, -143, -139, -135, -132, -128, -125, -122, -118, -115, -112, -108, -105, -102, -99, -96, -93, -90, -87, -84, -81, -79, -76, -73, -70, -67, -65, -62, -59, -57, -54, -51, -49, -46, -44, -41, -39, -36, -33, -31, -28, -26, -23, -21, -18, -16, -14, -11, -9, -6, -4, -1, 1, 4, 6, 9, 11, 14, 16, 18, 21, 23, 26, 28, 31, 33, 36, 39, 41, 44, 46, 49, 51, 54, 57, 59, 62, 65, 67, 70, 73, 76, 79, 81, 84, 87, 90, 93, 96, 99, 102, 105, 108, 112, 115, 118, 122, 125, 128, 132, 135, 139, 143, 146, 150, 154, 158, 162, 166, 170, 175, 179, 184, 188, 193, 198, 202, 208, 213, 218, 223, 229, 235, 241, 247, 253, 260, 266, 273, 280, 288, 295, 303, 312, 320, 329, 338, 348, 358, 369, 380, 391, 403, 416, 430, 444, 459, 475, 491, 509, 528, 548, 570, 593, 618, 645, 674, 706, 740, 778, 820, 866, 917, 974, 1039, 1112, 1196, 1294, 1408, 1544, 1708, 1910, 2167, 2502, 2959, 3618, 4654, 6517, 10864, 32595,
];

/// What stands for 1.0 in [`CAUCHY`].
pub const CAUCHY_ONE: i32 = 200;

/// Reciprocals of the quantiles of the Gamma(2) law (density δ·e^−δ) times
/// [`RECIPROCAL_ONE`], rounded to the nearest integer: each within 0.11 % of
/// 1/δ. A grid pitch is only ever divided by, so the reciprocal is stored; a
/// larger byte is a larger pitch.
#[rustfmt::skip]
pub const RECIPROCAL_GAMMA2: [u16; 256] = [
    64160, 36453, 27918, 23375, 20446, 18356, 16769, 15511, 14481, 13618, 12881, 12242, 11682, 11184, 10739, 10337, 9972, 9639, 9333, 9051, 8789, 8546, 8319, 8107, 7908, 7720, 7543, 7376, 7217, 7067, 6924, 6787, 6657, 6533, 6414, 6300, 6191, 6086, 5985, 5888, 5794, 5704, 5617, 5533, 5452, 5373, 5297, 5223, 5151, 5082, 5015, 4949, 4885, 4823, 4763, 4705, 4647, 4592, 4537, 4484, 4433, 4382, 4333, 4285, 4238, 4192, 4146, 4102, 4059, 4017, 3975, 3935, 3895, 3856, 3818, 3780, 3744, 3707, 3672, 3637, 3603, 3569, 3536, 3504, 3472, 3440, 3409, 3379, 3349, 3319, 3290, 3262, 3234, 3206, 3179, 3152, 3125, 3099, 3073, 3048, 3023, 2998, 2973, 2949, 2925, 2902, 2879, 2856, 2833, 2811, 2789, 2767, 2746, 2724, 2703, 2682, 2662, 2641, 2621, 2601, 2582, 2562, 2543, 2524, 2505, 2486, 2468, 2450, 2431, 2414, 2396, 2378, 2361, 2343, 2326, 2309, 2292, 2276, 2259, 2243, 2227, 2211, 2195, 2179, 2163, 2147, 2132, 2117, 2101, 2086, 2071, 2056, 2042, 2027, 2012, 1998, 1983, 1969, 1955, 1941, 1927, 1913, 1899, 1885, 1872, 1858, 1845, 1831, 1818, 1805, 1791, 1778, 1765, 1752, 1739, 1726, 1714, 1701, 1688, 1675, 1663, 1650, 1638, 1625, 1613, 1601, 1588, 1576, 1564, 1552, 1539, 1527, 1515, 1503, 1491, 1479, 1467, 1455, 1443, 1431, 1419, 1407, 1395, 1383, 1371, 1360, 1348, 1336, 1324, 1312, 1300, 1288, 1276, 1264, 1252, 1240, 1228, 1216, 1204, 1191, 1179, 1167, 1154, 1142, 1129, 1117, 1104, 1091, 1078, 1065, 1052, 1038, 1025, 1011, 997, 983, 969, 954, 939, 924, 908, 892, 875, 858, 841, 822, 803, 782, 761, 738, 712, 684, 653, 614, 565, 483,
];

/// What stands for 1.0 in [`RECIPROCAL_GAMMA2`].
pub const RECIPROCAL_ONE: i32 = 4096;

/// Quantile of the uniform law on (−1, 1) times 256 at (byte + ½)/256: an odd
/// integer in −255..=255, exact.
#[inline]
#[must_use]
pub const fn uniform(byte: u8) -> i32 {
    2 * byte as i32 - 255
}

/// [`NORMAL`] at a byte. In the small form only half of the table
/// lies in the program, which is odd.
#[inline(always)]
pub(crate) fn normal(byte: u8, small: bool) -> i32 {
    const HALF: [u8; 128] = {
        let (mut half, mut i) = ([0; 128], 0);
        while i < 128 {
            half[i] = NORMAL[128 + i] as u8;
            i += 1;
        }
        half
    };
    if small {
        return odd(byte, HALF[folded(byte)].into());
    }
    NORMAL[usize::from(byte)].into()
}

/// [`CAUCHY`] at a byte, likewise.
#[inline(always)]
pub(crate) fn cauchy(byte: u8, small: bool) -> i32 {
    const HALF: [i16; 128] = {
        let (mut half, mut i) = ([0; 128], 0);
        while i < 128 {
            half[i] = CAUCHY[128 + i];
            i += 1;
        }
        half
    };
    if small {
        return odd(byte, HALF[folded(byte)].into());
    }
    CAUCHY[usize::from(byte)].into()
}

/// [`RECIPROCAL_GAMMA2`] at a byte. In the small form the table lies in
/// the program as every sixteenth entry and the steps between them, which fit a
/// byte from entry [`STEEP`] on.
#[inline(always)]
pub(crate) fn reciprocal_gamma2(byte: u8, small: bool) -> i32 {
    const FIRST: [u16; 16 + STEEP] = {
        let (mut first, mut i) = ([0; 16 + STEEP], 0);
        while i < STEEP {
            first[16 + i] = RECIPROCAL_GAMMA2[i];
            i += 1;
        }
        let mut i = STEEP / 16;
        while i < 16 {
            first[i] = RECIPROCAL_GAMMA2[16 * i];
            i += 1;
        }
        first
    };
    const STEPS: [u8; 256 - STEEP] = {
        let (mut steps, mut i) = ([0; 256 - STEEP], STEEP);
        while i < 256 {
            let step = RECIPROCAL_GAMMA2[i - 1] - RECIPROCAL_GAMMA2[i];
            assert!(step < 256);
            steps[i - STEEP] = step as u8;
            i += 1;
        }
        steps
    };
    if !small {
        return RECIPROCAL_GAMMA2[usize::from(byte)].into();
    }
    let i = usize::from(byte);
    if i < STEEP {
        return i32::from(FIRST[16 + i]);
    }
    let steps = STEPS.get((i & !15) + 1 - STEEP..=i - STEEP).unwrap_or(&[]);
    i32::from(FIRST[i >> 4]) - steps.iter().map(|&step| i32::from(step)).sum::<i32>()
}

/// See [`reciprocal_gamma2`].
const STEEP: usize = 32;

/// Where the quantile at `byte` lies in the upper half of an odd table.
#[inline]
fn folded(byte: u8) -> usize {
    usize::from((byte ^ lower(byte) as u8) & 127)
}

#[inline]
fn odd(byte: u8, magnitude: i32) -> i32 {
    (magnitude ^ lower(byte)) - lower(byte)
}

/// -1 for a byte in the lower half, else 0: no branch, which would go either way as
/// often as the other.
#[inline]
fn lower(byte: u8) -> i32 {
    !(i32::from(byte as i8) >> 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_forms_are_the_tables() {
        let normals = NORMAL.map(i16::from);
        for byte in 0..=255u8 {
            for (table, entry, small) in [
                (&normals, normal(byte, false), normal(byte, true)),
                (&CAUCHY, cauchy(byte, false), cauchy(byte, true)),
            ] {
                assert_eq!(entry, small);
                assert_eq!(entry, i32::from(table[usize::from(byte)]));
                let upper = i32::from(table[128 + folded(byte)]);
                assert_eq!(entry, odd(byte, upper));
            }
            let entry = i32::from(RECIPROCAL_GAMMA2[usize::from(byte)]);
            assert_eq!([reciprocal_gamma2(byte, true), reciprocal_gamma2(byte, false)], [entry; 2]);
        }
    }
}
