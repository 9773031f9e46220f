//! The 128-bit vectors of WebAssembly, where a build has them.

use std::arch::wasm32::*;

use super::{Step, Tile};

/// See [`Kernel::tile`](super::Kernel::tile).
pub fn tile(left: &[Step], right: &[Step]) -> Tile {
    bytemuck::must_cast([
        columns::<0>(left, right),
        columns::<2>(left, right),
        columns::<4>(left, right),
        columns::<6>(left, right),
        columns::<8>(left, right),
        columns::<10>(left, right),
        columns::<12>(left, right),
        columns::<14>(left, right),
    ])
}

/// The products of two left features from `FIRST` on.
fn columns<const FIRST: usize>(left: &[Step], right: &[Step]) -> [[v128; 4]; 2] {
    let mut sums = [[i32x4_splat(0); 4]; 2];
    for (left, right) in left.iter().zip(right) {
        let right: [v128; 4] = bytemuck::must_cast(right.0);
        let first = u32x4_splat(left.0[FIRST]);
        let second = u32x4_splat(left.0[FIRST + 1]);
        macro_rules! add_vectors {
            ($($vector:literal)*) => { $(
                sums[0][$vector] =
                    i32x4_add(sums[0][$vector], i32x4_dot_i16x8(first, right[$vector]));
                sums[1][$vector] =
                    i32x4_add(sums[1][$vector], i32x4_dot_i16x8(second, right[$vector]));
            )* };
        }
        add_vectors!(0 1 2 3);
    }
    sums
}
