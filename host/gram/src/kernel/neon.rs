//! NEON, which all of 64-bit ARM has.

use std::arch::aarch64::*;

use super::{Step, Tile};

/// See [`Kernel::tile`](super::Kernel::tile).
pub fn tile(left: &[Step], right: &[Step]) -> Tile {
    // SAFETY: the kernel is only taken where the machine has the instructions.
    #[allow(unsafe_code)]
    unsafe {
        bytemuck::must_cast([
            columns::<0>(left, right),
            columns::<4>(left, right),
            columns::<8>(left, right),
            columns::<12>(left, right),
        ])
    }
}

/// The products of four left features from `FIRST` on.
#[target_feature(enable = "neon")]
fn columns<const FIRST: usize>(left: &[Step], right: &[Step]) -> [[int32x4_t; 4]; 4] {
    let mut sums = [[vdupq_n_s32(0); 4]; 4];
    for (left, right) in left.iter().zip(right) {
        let left: [[i16; 16]; 2] = bytemuck::must_cast(left.0);
        let right: [[int16x4_t; 4]; 2] = bytemuck::must_cast(right.0);
        macro_rules! add_column {
            ($column:literal: $($vector:literal)*) => { $(
                let sum = &mut sums[$column][$vector];
                *sum = vmlal_n_s16(*sum, right[0][$vector], left[0][FIRST + $column]);
                *sum = vmlal_n_s16(*sum, right[1][$vector], left[1][FIRST + $column]);
            )* };
        }
        add_column!(0: 0 1 2 3);
        add_column!(1: 0 1 2 3);
        add_column!(2: 0 1 2 3);
        add_column!(3: 0 1 2 3);
    }
    sums
}
