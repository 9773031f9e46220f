//! SSE2, AVX2, AVX-VNNI and AVX-512 VNNI.
//!
//! The units of VNNI multiply unsigned bytes and signed ones. So 128 is added to the right
//! factors, by a flip of their first bits, and Σ φφ' = Σ φ(φ' + 128) − 128·Σφ: the sums
//! start at −128·Σφ.
//!
//! Columns are written out by macros: a loop over arrays of sums is unrolled only after
//! the compiler has given the arrays a place in memory.

use std::arch::x86_64::*;

use super::{Kernel, Step, Tile};
use crate::LANES;

/// Features of the left panel that 256-bit units take at a time: with two vectors of
/// sums for each, two of the right factors and one of a left one, they have registers.
const COLUMNS: usize = 4;

/// See [`Kernel::tile`].
pub fn tile(kernel: Kernel, left: &[Step], right: &[Step], sums: &[i32; LANES]) -> Tile {
    assert!(kernel.is_supported(), "no {kernel:?} on this machine");
    // SAFETY: the machine has the instructions.
    #[allow(unsafe_code)]
    unsafe {
        match kernel {
            Kernel::Portable | Kernel::Neon | Kernel::Wasm => super::portable::tile(left, right),
            Kernel::Sse2 => sse2(left, right),
            Kernel::Avx2 => avx2(left, right),
            Kernel::AvxVnni => avx_vnni(left, right, sums),
            Kernel::Avx512Vnni => avx512_vnni(left, right, sums),
        }
    }
}

#[target_feature(enable = "sse2")]
fn sse2(left: &[Step], right: &[Step]) -> Tile {
    bytemuck::must_cast([
        sse2_columns::<0>(left, right),
        sse2_columns::<2>(left, right),
        sse2_columns::<4>(left, right),
        sse2_columns::<6>(left, right),
        sse2_columns::<8>(left, right),
        sse2_columns::<10>(left, right),
        sse2_columns::<12>(left, right),
        sse2_columns::<14>(left, right),
    ])
}

/// The products of two left features from `FIRST` on.
#[target_feature(enable = "sse2")]
fn sse2_columns<const FIRST: usize>(left: &[Step], right: &[Step]) -> [[__m128i; 4]; 2] {
    let mut sums = [[_mm_setzero_si128(); 4]; 2];
    for (left, right) in left.iter().zip(right) {
        let right: [__m128i; 4] = bytemuck::must_cast(right.0);
        let first = _mm_set1_epi32(left.0[FIRST].cast_signed());
        let second = _mm_set1_epi32(left.0[FIRST + 1].cast_signed());
        macro_rules! add_vectors {
            ($($vector:literal)*) => { $(
                let products = _mm_madd_epi16(first, right[$vector]);
                sums[0][$vector] = _mm_add_epi32(sums[0][$vector], products);
                let products = _mm_madd_epi16(second, right[$vector]);
                sums[1][$vector] = _mm_add_epi32(sums[1][$vector], products);
            )* };
        }
        add_vectors!(0 1 2 3);
    }
    sums
}

#[target_feature(enable = "avx2")]
fn avx2(left: &[Step], right: &[Step]) -> Tile {
    bytemuck::must_cast([
        avx2_columns::<0>(left, right),
        avx2_columns::<4>(left, right),
        avx2_columns::<8>(left, right),
        avx2_columns::<12>(left, right),
    ])
}

/// The products of four left features from `FIRST` on.
#[target_feature(enable = "avx2")]
fn avx2_columns<const FIRST: usize>(left: &[Step], right: &[Step]) -> [[__m256i; 2]; COLUMNS] {
    let mut sums = [[_mm256_setzero_si256(); 2]; COLUMNS];
    for (left, right) in left.iter().zip(right) {
        let [first, second]: [__m256i; 2] = bytemuck::must_cast(right.0);
        macro_rules! add_columns {
            ($($column:literal)*) => { $({
                let factor = _mm256_set1_epi32(left.0[FIRST + $column].cast_signed());
                let sums = &mut sums[$column];
                sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(factor, first));
                sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(factor, second));
            })* };
        }
        add_columns!(0 1 2 3);
    }
    sums
}

#[target_feature(enable = "avx2,avxvnni")]
fn avx_vnni(left: &[Step], right: &[Step], totals: &[i32; LANES]) -> Tile {
    bytemuck::must_cast([
        avx_vnni_columns::<0>(left, right, totals),
        avx_vnni_columns::<4>(left, right, totals),
        avx_vnni_columns::<8>(left, right, totals),
        avx_vnni_columns::<12>(left, right, totals),
    ])
}

/// The products of four left features from `FIRST` on.
#[target_feature(enable = "avx2,avxvnni")]
fn avx_vnni_columns<const FIRST: usize>(
    left: &[Step],
    right: &[Step],
    totals: &[i32; LANES],
) -> [[__m256i; 2]; COLUMNS] {
    let flip = _mm256_set1_epi8(i8::MIN);
    let mut sums = [[_mm256_setzero_si256(); 2]; COLUMNS];
    for (sums, total) in sums.iter_mut().zip(&totals[FIRST..]) {
        *sums = [_mm256_set1_epi32(-128 * total); 2];
    }
    for (left, right) in left.iter().zip(right) {
        let [first, second]: [__m256i; 2] = bytemuck::must_cast(right.0);
        let (first, second) = (_mm256_xor_si256(first, flip), _mm256_xor_si256(second, flip));
        macro_rules! add_columns {
            ($($column:literal)*) => { $({
                let factor = _mm256_set1_epi32(left.0[FIRST + $column].cast_signed());
                let sums = &mut sums[$column];
                sums[0] = dot_256(sums[0], first, factor);
                sums[1] = dot_256(sums[1], second, factor);
            })* };
        }
        add_columns!(0 1 2 3);
    }
    sums
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn avx512_vnni(left: &[Step], right: &[Step], totals: &[i32; LANES]) -> Tile {
    let flip = _mm512_set1_epi32(i32::from_ne_bytes([0x80; 4]));
    let mut sums = totals.map(|total| _mm512_set1_epi32(-128 * total));
    for (left, right) in left.iter().zip(right) {
        let flipped = _mm512_xor_si512(bytemuck::must_cast(right.0), flip);
        macro_rules! add_columns {
            ($($column:literal)*) => { $({
                let factor = _mm512_set1_epi32(left.0[$column].cast_signed());
                sums[$column] = dot_512(sums[$column], flipped, factor);
            })* };
        }
        add_columns!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    }
    bytemuck::must_cast(sums)
}

/// Adds to each lane of `sums` its four products of an unsigned and a signed byte.
#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn dot_256(sums: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
    #[cfg(not(miri))]
    return _mm256_dpbusd_avx_epi32(sums, unsigned, signed);
    // The interpreter does not know the instruction.
    #[cfg(miri)]
    {
        let mut sums: [i32; 8] = bytemuck::must_cast(sums);
        let unsigned: [u8; 32] = bytemuck::must_cast(unsigned);
        dot(&mut sums, &unsigned, &bytemuck::must_cast::<_, [i8; 32]>(signed));
        bytemuck::must_cast(sums)
    }
}

/// As [`dot_256`].
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dot_512(sums: __m512i, unsigned: __m512i, signed: __m512i) -> __m512i {
    #[cfg(not(miri))]
    return _mm512_dpbusd_epi32(sums, unsigned, signed);
    #[cfg(miri)]
    {
        let mut sums: [i32; 16] = bytemuck::must_cast(sums);
        let unsigned: [u8; 64] = bytemuck::must_cast(unsigned);
        dot(&mut sums, &unsigned, &bytemuck::must_cast::<_, [i8; 64]>(signed));
        bytemuck::must_cast(sums)
    }
}

/// The definition of the instruction.
#[cfg(miri)]
fn dot(sums: &mut [i32], unsigned: &[u8], signed: &[i8]) {
    for (i, (&unsigned, &signed)) in unsigned.iter().zip(signed).enumerate() {
        sums[i / 4] += i32::from(unsigned) * i32::from(signed);
    }
}
