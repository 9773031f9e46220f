//! The loop over the rows, for AVX-512 with VNNI.

use std::arch::x86_64::*;

use crate::{LANES, Quad, TILE};

/// Whether this machine has the instructions that [`tile`] is made of.
pub fn is_supported() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
}

/// [`Block::products`](crate::Block::products) of the first half of the features of
/// `left` or the `second`.
pub fn products(left: &[Quad], second: bool, right: &[Quad]) -> [[f64; LANES]; TILE] {
    assert!(is_supported(), "blocks are only made where the instructions are");
    // SAFETY: the machine has the instructions.
    #[allow(unsafe_code)]
    unsafe {
        if second { tile::<TILE>(left, right) } else { tile::<0>(left, right) }
    }
}

/// Products of the features from lane `FIRST` of `left` on and all of `right`.
///
/// The columns are written out by macros: a loop over arrays of sums is unrolled
/// only after the compiler has given the arrays a place in memory.
#[target_feature(enable = "avx512f,avx512vnni")]
fn tile<const FIRST: usize>(left: &[Quad], right: &[Quad]) -> [[f64; LANES]; TILE] {
    let zero = _mm512_setzero_si512();
    let (mut high, mut middle, mut low) = ([zero; TILE], [zero; TILE], [zero; TILE]);
    // Turns l to l − 128 and h + 128 to h.
    let flip = _mm512_set1_epi32(i32::from_ne_bytes([0x80; 4]));
    for (left, right) in left.iter().zip(right) {
        let right_high = _mm512_xor_si512(bytemuck::must_cast(right.high), flip);
        let right_low = _mm512_xor_si512(bytemuck::must_cast(right.low), flip);
        macro_rules! add_columns {
            ($($column:literal)*) => { $(
                let left_high = _mm512_set1_epi32(left.high[FIRST + $column] as i32);
                let left_low = _mm512_set1_epi32(left.low[FIRST + $column] as i32);
                high[$column] = dot(high[$column], left_high, right_high);
                middle[$column] = dot(middle[$column], left_high, right_low);
                low[$column] = dot(low[$column], left_low, right_low);
                middle[$column] = dot(middle[$column], left_low, right_high);
            )* };
        }
        add_columns!(0 1 2 3 4 5 6 7);
    }
    macro_rules! columns {
        ($($column:literal)*) => { [$({
            let high: [i32; LANES] = bytemuck::must_cast(high[$column]);
            let middle: [i32; LANES] = bytemuck::must_cast(middle[$column]);
            let low: [i32; LANES] = bytemuck::must_cast(low[$column]);
            std::array::from_fn(|lane| {
                65_536.0 * f64::from(high[lane])
                    + 256.0 * f64::from(middle[lane])
                    + f64::from(low[lane])
            })
        }),*] };
    }
    columns!(0 1 2 3 4 5 6 7)
}

/// Adds to each lane of `sums` its four products of an unsigned and a signed byte.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dot(sums: __m512i, unsigned: __m512i, signed: __m512i) -> __m512i {
    #[cfg(not(miri))]
    return _mm512_dpbusd_epi32(sums, unsigned, signed);
    // The interpreter does not know the instruction.
    #[cfg(miri)]
    {
        let (unsigned, signed): ([u8; 64], [i8; 64]) =
            (bytemuck::must_cast(unsigned), bytemuck::must_cast(signed));
        let mut sums: [i32; LANES] = bytemuck::must_cast(sums);
        for (i, (&unsigned, &signed)) in unsigned.iter().zip(&signed).enumerate() {
            sums[i / 4] += i32::from(unsigned) * i32::from(signed);
        }
        bytemuck::must_cast(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small enough for an interpreter: `cargo xtask test` runs it in Miri.
    #[test]
    fn products_are_those_of_the_factors() {
        if !is_supported() {
            eprintln!("this machine has no units for sums of products of bytes: nothing to test");
            return;
        }
        let quad = |number: u32| Quad {
            high: std::array::from_fn(|lane| (7 * lane as u32 + number).wrapping_mul(0x9e37_79b9)),
            low: std::array::from_fn(|lane| (5 * lane as u32 + number).wrapping_mul(0x85eb_ca6b)),
        };
        let factor = |quad: &Quad, lane: usize, t: usize| {
            256 * i64::from(quad.high[lane].to_le_bytes()[t])
                + i64::from(quad.low[lane].to_le_bytes()[t])
        };
        let (left, right) = ([quad(1), quad(2), quad(3)], [quad(4), quad(5), quad(6)]);
        for second in [false, true] {
            for (column, products) in products(&left, second, &right).iter().enumerate() {
                for (lane, &product) in products.iter().enumerate() {
                    let sum: i64 = left
                        .iter()
                        .zip(&right)
                        .flat_map(|pair| (0..4).map(move |t| (pair, t)))
                        .map(|((left, right), t)| {
                            factor(left, TILE * usize::from(second) + column, t)
                                * (factor(right, lane, t) - 32_768 - 128)
                        })
                        .sum();
                    assert_eq!(product, sum as f64);
                }
            }
        }
    }
}
