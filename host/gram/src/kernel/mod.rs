//! The loops over the rows: one for each kind of vector unit, and one for any machine.

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::LANES;

/// The rows of a panel that are multiplied at once. For VNNI a word holds the four bytes of
/// a feature in four rows, for SSE2, AVX2 and WebAssembly two numbers of 16 bits, in two; for NEON and
/// the plain loops there are the 16-bit numbers of a row, and then those of the next.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Step([u32; LANES]);

/// Σ φφ' for each feature φ of a panel, and each φ' of another.
pub type Tile = [[i32; LANES]; LANES];

/// The code that sums the products. All give the same sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Plain loops, for any machine.
    Portable,
    /// NEON, which 64-bit ARM has: 4 products of 16-bit numbers at once.
    Neon,
    /// The vectors of WebAssembly, in builds with them: 8 products of 16-bit numbers at once.
    Wasm,
    /// SSE2, which every x86-64 machine has: 8 products of 16-bit numbers at once.
    Sse2,
    /// AVX2: 16 products of 16-bit numbers at once.
    Avx2,
    /// AVX-VNNI: 32 products of bytes at once.
    AvxVnni,
    /// AVX-512 VNNI: 64 products of bytes at once.
    Avx512Vnni,
}

impl Kernel {
    /// Every kernel, the fastest last.
    pub const ALL: [Self; 7] = [
        Self::Portable,
        Self::Neon,
        Self::Wasm,
        Self::Sse2,
        Self::Avx2,
        Self::AvxVnni,
        Self::Avx512Vnni,
    ];

    /// The fastest that this machine has the instructions for.
    #[must_use]
    pub fn best() -> Self {
        let supported = Self::ALL.into_iter().rev().find(|kernel| kernel.is_supported());
        supported.unwrap_or(Self::Portable)
    }

    /// Whether this machine has the instructions.
    #[must_use]
    pub fn is_supported(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Self::Portable | Self::Sse2 => true,
            Self::Neon | Self::Wasm => false,
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            Self::AvxVnni => is_x86_feature_detected!("avxvnni"),
            Self::Avx512Vnni => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
            }
        };
        #[cfg(target_arch = "aarch64")]
        return match self {
            Self::Portable => true,
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Self::Wasm | Self::Sse2 | Self::Avx2 | Self::AvxVnni | Self::Avx512Vnni => false,
        };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return self == Self::Portable
            || self == Self::Wasm && cfg!(all(target_arch = "wasm32", target_feature = "simd128"));
    }

    /// The steps of rows of numbers that fit a signed byte.
    pub(crate) fn steps(self, rows: &[[i16; LANES]]) -> Vec<Step> {
        match self {
            Self::Portable | Self::Neon => steps(rows, |rows: &[_; 2]| bytemuck::must_cast(*rows)),
            Self::Wasm | Self::Sse2 | Self::Avx2 => steps(rows, |[a, b]| {
                std::array::from_fn(|lane| u32::from(a[lane] as u16) | (b[lane] as u32) << 16)
            }),
            Self::AvxVnni | Self::Avx512Vnni => steps(rows, |[a, b, c, d]| {
                let pair = |low: i16, high: i16| (low & 255 | high << 8) as u16;
                std::array::from_fn(|lane| {
                    let (low, high) = (pair(a[lane], b[lane]), pair(c[lane], d[lane]));
                    u32::from(low) | u32::from(high) << 16
                })
            }),
        }
    }

    /// The sums of products of the features of two panels, over the same rows.
    /// `sums` are those of the features of `left`.
    ///
    /// # Panics
    /// If the machine has not the instructions.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "only products of bytes need the sums")
    )]
    pub(crate) fn tile(self, left: &[Step], right: &[Step], sums: &[i32; LANES]) -> Tile {
        match self {
            Self::Portable => portable::tile(left, right),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => neon::tile(left, right),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Wasm => wasm::tile(left, right),
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 | Self::Avx2 | Self::AvxVnni | Self::Avx512Vnni => {
                x86::tile(self, left, right, sums)
            }
            _ => unreachable!("{self:?} is not for this machine"),
        }
    }
}

/// Steps of `ROWS` rows each, by their words; what is missing in the last is zeros.
fn steps<const ROWS: usize>(
    rows: &[[i16; LANES]],
    words: impl Fn(&[[i16; LANES]; ROWS]) -> [u32; LANES],
) -> Vec<Step> {
    let (whole, rest) = rows.as_chunks();
    let mut steps = Vec::with_capacity(whole.len() + 1);
    steps.extend(whole.iter().map(|rows| Step(words(rows))));
    if !rest.is_empty() {
        let mut padded = [[0; LANES]; ROWS];
        padded[..rest.len()].copy_from_slice(rest);
        steps.push(Step(words(&padded)));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small enough for an interpreter: `cargo xtask test` runs it in Miri.
    #[test]
    fn tiles_are_sums_of_products() {
        let byte = |factor: u32, row: usize, lane: usize| {
            let mixed = (16 * row + lane + 1) as u32;
            i16::from(mixed.wrapping_mul(factor).to_le_bytes()[3].cast_signed())
        };
        let panel = |factor: u32| -> Vec<[i16; LANES]> {
            let edge = [[-128; LANES], [127; LANES], [-128; LANES]];
            let rest = (0..8).map(|row| std::array::from_fn(|lane| byte(factor, row, lane)));
            edge.into_iter().chain(rest).collect()
        };
        let (left, right) = (panel(0x9e37_79b9), panel(0x85eb_ca6b));
        let sum = |value: &dyn Fn(usize) -> i32| (0..left.len()).map(value).sum::<i32>();
        let wanted: Tile = std::array::from_fn(|i| {
            std::array::from_fn(|j| sum(&|row| i32::from(left[row][i]) * i32::from(right[row][j])))
        });
        let sums = std::array::from_fn(|i| sum(&|row| i32::from(left[row][i])));
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
            let tile = kernel.tile(&kernel.steps(&left), &kernel.steps(&right), &sums);
            assert_eq!(tile, wanted, "{kernel:?}");
        }
    }

    #[test]
    fn there_is_always_a_kernel() {
        assert!(Kernel::Portable.is_supported());
        assert!(Kernel::best().is_supported());
    }
}
