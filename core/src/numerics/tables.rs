//! Cosine and logistic function as tables of signed bytes.

/// cos(2π(i + ½)/256)·127, rounded to the nearest integer, for a quarter of a turn.
#[rustfmt::skip]
pub(crate) const QUARTER: [i8; 64] = [
    127, 127, 127, 127, 126, 126, 125, 125, 124, 124, 123, 122, 121, 120, 119, 118, 117, 115, 114, 113, 111, 110, 108, 106, 105, 103, 101, 99, 97, 95, 93, 91, 89, 86, 84, 82, 79, 77, 74, 72, 69, 67, 64, 61, 58, 56, 53, 50, 47, 44, 41, 38, 35, 32, 29, 26, 23, 20, 17, 14, 11, 8, 5, 2,
];

/// The sigmoid of v ≥ 0: see [`sigmoid`].
#[rustfmt::skip]
const SIGMOID: [i8; 128] = [
    0, 4, 8, 12, 16, 20, 24, 27, 31, 35, 38, 42, 46, 49, 52, 56, 59, 62, 65, 68, 70, 73, 76, 78, 81, 83, 85, 87, 89, 91, 93, 95, 97, 98, 100, 101, 103, 104, 105, 107, 108, 109, 110, 111, 112, 113, 113, 114, 115, 116, 116, 117, 118, 118, 119, 119, 120, 120, 120, 121, 121, 122, 122, 122, 122, 123, 123, 123, 123, 124, 124, 124, 124, 124, 125, 125, 125, 125, 125, 125, 125, 125, 125, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127,
];

/// Cosines of the middles of 256 parts of a turn: entry i is cos(2π(i + ½)/256)·127,
/// rounded to the nearest integer.
///
/// A phase p of 16 bits (a full turn is 2^16) has the cosine `COSINE[p >> 8]`: within
/// 0.0162 of cos(2πp/2^16) for every phase, 0.0058 in the mean of squares.
pub const COSINE: [i8; 256] = {
    let (mut table, mut i) = ([0; 256], 0);
    while i < 64 {
        (table[i], table[255 - i]) = (QUARTER[i], QUARTER[i]);
        (table[127 - i], table[128 + i]) = (-QUARTER[i], -QUARTER[i]);
        i += 1;
    }
    table
};

/// The cosine of an angle of which a full turn is 2^32, times 127: see [`COSINE`]. Where
/// bytes count, only a quarter of the table lies in the program.
#[inline(always)]
pub(crate) fn cosine(angle: u32, small: bool) -> i8 {
    let part = (angle >> 24) as u8;
    if !small {
        return COSINE[usize::from(part)];
    }
    // The second half turn mirrors the first, the second quarter is the first's negative.
    let half = if part & 0x80 != 0 { !part } else { part };
    let (quarter, sign) = if half & 0x40 != 0 { (half ^ 0x7f, -1) } else { (half, 0) };
    (QUARTER[usize::from(quarter & 63)] ^ sign) - sign
}

/// The logistic function, centred: 254·(1/(1 + e^(−v/16)) − ½), rounded to the nearest
/// integer. An odd function, −127 to 127; v = −128 counts as −127.
#[inline]
#[must_use]
pub const fn sigmoid(v: i8) -> i8 {
    let magnitude = if v == i8::MIN { 127 } else { v.unsigned_abs() };
    let value = SIGMOID[(magnitude & 127) as usize];
    if v < 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_the_table() {
        for i in 0..=255u8 {
            let (angle, entry) = (u32::from(i) << 24 | 77, COSINE[usize::from(i)]);
            assert_eq!([cosine(angle, true), cosine(angle, false)], [entry; 2], "{i}");
        }
    }
}
